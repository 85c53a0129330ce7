"""Charts: small tidy frames to Altair charts.

A chart holds what it shows and no more, so that 100,000 scores make a chart of a few kilobytes. Each takes the
sentences that describe it to whoever does not see it; how it looks is in ``chart_style``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coeval.stats.estimates.later import Later

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Later("altair")
import numpy as np
import pandas as pd

from coeval.stats.agreement.clustered import ACCEPTABLE, TENTATIVE
from coeval.stats.behaviour.actions import ACTIONS
from coeval.ui.components.chart_style import (
    BRAND,
    FAINT,
    HELP_LINE,
    INK,
    NO_ZERO,
    PLAIN,
    ROW,
    SERIES,
    TIME,
    axis_ticks,
    names_axis,
    round_reach,
    series_colour,
    series_legend,
    texts_beside,
    themed,
    tips,
    wrapped,
)

__all__ = [
    "action_bars",
    "alpha_forest",
    "confusion",
    "curves",
    "distribution",
    "forest",
    "heatmap",
    "pairs",
    "wrapped",
]


SHORT = 11
"""Characters of a name for which there is room beside a heat map."""


def forest(
    frame: pd.DataFrame,
    description: str,
    *,
    lines: Sequence[float] = (),
    domain: tuple[float, float] = (0.0, 1.0),
) -> Any:
    """Estimates with their intervals, one a line, and the same in figures at the right.

    Args:
        frame: ``label, value, low, high, text, about``; an estimate without a value shows its text alone.
        lines: values to mark with a dashed line, each named on the axis.
        domain: the axis reaches from here to here, and further where the data does.
    """
    found = frame[["value", "low", "high"]].to_numpy(dtype=float)
    reach = [*domain, *found[~np.isnan(found)]]
    names = names_axis("label", list(frame["label"]))
    marked: dict[str, Any] = {"tickCount": 5}
    if lines:  # the names of two lines that stand close lean away from each other
        sides = zip(lines, ("right", "left"), strict=False)
        lean = {"condition": [{"test": f"datum.value == {x}", "value": side} for x, side in sides]}
        values = [*lines, *_ticks(*_fifths(reach), lines)]
        marked = {"values": values, "labelExpr": NO_ZERO, "labelAlign": {**lean, "value": "center"}}
    axis = alt.Axis(title=None, grid=False, ticks=True, domain=True, **marked)
    x = alt.X("value:Q", scale=alt.Scale(domain=list(_fifths(reach)), nice=False), axis=axis)
    rules = alt.Chart(pd.DataFrame({"value": list(lines)})).mark_rule(**HELP_LINE).encode(x=x)
    whiskers = alt.Chart(frame.dropna(subset=["low", "high"])).mark_rule(
        strokeWidth=3, strokeCap="round", color=BRAND, aria=False
    )
    points = alt.Chart(frame.dropna(subset=["value"])).mark_circle(size=130, opacity=1, color=BRAND)
    chart = alt.layer(
        rules,
        whiskers.encode(y=names, x="low:Q", x2="high:Q", tooltip=tips("about")),
        points.encode(y=names, x=x, tooltip=tips("about")),
        texts_beside(frame, names),
    )
    room = 30 + 7 * max((len(str(text)) for text in frame["text"]), default=0)
    return themed(chart, description, height=max(1, len(frame)) * (ROW + 8), right=min(room, 260))


def _fifths(values: Sequence[float]) -> tuple[float, float]:
    """From where to where an axis reaches that ends at fifths: then its ends have labels.

    >>> _fifths([0.0, 1.0, -0.37])
    (-0.4, 1.0)
    """
    return float(np.floor(min(values) * 5 + 1e-9) / 5), float(np.ceil(max(values) * 5 - 1e-9) / 5)


def _ticks(low: float, high: float, lines: Sequence[float]) -> list[float]:
    """Every fifth between two values, those away that stand so close to a line that their names would touch.

    >>> _ticks(0, 1, (0.667, 0.8))
    [0.0, 0.2, 0.4, 1.0]
    """
    fifths = [k / 5 for k in range(int(np.ceil(low * 5 - 1e-9)), int(np.floor(high * 5 + 1e-9)) + 1)]
    return [tick for tick in fifths if all(abs(tick - line) > 0.1 for line in lines)]


def alpha_forest(frame: pd.DataFrame, description: str) -> Any:
    """Alphas with their intervals, and the lines at .667 and .800."""
    return forest(frame, description, lines=(TENTATIVE, ACCEPTABLE))


def heatmap(frame: pd.DataFrame, description: str, names: Sequence[str]) -> Any:
    """A value for every two of ``names``, the darker the higher; intervals show on hover.

    Args:
        frame: ``a, b, value, text, about``; give both (a, b) and (b, a).
    """
    side, small = max(22, min(44, 420 // max(1, len(names)))), len(names) > 12
    slanted = 7 * sum(len(name) + 2 for name in names) > 420
    scale = alt.Scale(domain=list(names), paddingInner=0.05, paddingOuter=0)
    plain: dict[str, Any] = {"title": None, "domain": False, "ticks": False, "labelLimit": 90, "grid": False}
    if len({name[:SHORT] for name in names}) < len(names):
        # names that begin alike are told apart by how they end
        plain["labelExpr"] = (
            f"length(datum.label) > {SHORT} ? '…' + slice(datum.label, -{SHORT}) : datum.label"
        )
    top = alt.Axis(**plain, orient="top", labelAngle=-40 if slanted else 0)
    base = alt.Chart(frame).encode(
        x=alt.X("a:N", sort=list(names), scale=scale, axis=top),
        y=alt.Y("b:N", sort=list(names), scale=scale, axis=alt.Axis(**plain)),
        tooltip=tips("about"),
    )
    depth = alt.Scale(domain=[0, 1], range=[0.06, 0.68], clamp=True)
    cells = base.mark_rect(cornerRadius=4, color=BRAND).encode(
        opacity=alt.Opacity("value:Q", scale=depth, legend=None)
    )
    texts = base.mark_text(fontSize=9 if small else 12.5, color=INK).encode(text="text:N")
    marks = [cells] if len(names) > 24 else [cells, texts]
    reach = 4 * len(names[-1]) if slanted and names else 0  # how far the last name slants out of the drawing
    return themed(alt.layer(*marks), description, height=side * max(1, len(names)), right=min(reach, 60))


def action_bars(frame: pd.DataFrame, description: str) -> Any:
    """Shares of the four actions by kind of line, stacked, each in its own colour.

    Args:
        frame: ``label, action, share, n, text``; ``text`` stands at the right, the same for a label.
    """
    labels = list(dict.fromkeys(frame["label"]))
    names = names_axis("label", labels)
    colours = alt.Scale(domain=list(ACTIONS), range=[f"var(--{action})" for action in ACTIONS])
    bars = (
        alt.Chart(frame.assign(order=frame["action"].map(ACTIONS.index)))
        .mark_bar(height=11)
        .encode(
            y=names,
            x=alt.X("share:Q", axis=None, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("action:N", legend=None, scale=colours),
            order="order:Q",
            tooltip=["action:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("n:Q", format=",")],
        )
    )
    chart = alt.layer(bars, texts_beside(frame.drop_duplicates("label"), names))
    return themed(chart, description, height=max(1, len(labels)) * ROW, right=330)


def confusion(frame: pd.DataFrame, description: str, *, x: str, y: str) -> Any:
    """How often one score (across) meets another (down); shades are shares of the row.

    Args:
        frame: ``x, y, n, share``, scores as texts; the top score comes first down.
        x, y: what the two are called.
    """
    down = sorted(frame["y"].unique(), key=float, reverse=True)
    across = sorted(frame["x"].unique(), key=float)
    hover = [
        alt.Tooltip("y:N", title=y),
        alt.Tooltip("x:N", title=x),
        alt.Tooltip("n:Q", format=","),
        alt.Tooltip("share:Q", format=".1%", title="share of the row"),
    ]
    base = alt.Chart(frame).encode(
        x=alt.X("x:N", sort=across, title=x, axis=alt.Axis(labelAngle=0, domain=False, ticks=False)),
        y=alt.Y("y:N", sort=down, title=y, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=hover,
    )
    shade = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 0.7]), legend=None)
    ground = base.mark_rect(cornerRadius=4, color=BRAND, stroke="var(--card)", strokeWidth=2)
    texts = base.mark_text(fontSize=12.5, color=INK).encode(text=alt.Text("n:Q", format=","))
    return themed(alt.layer(ground.encode(opacity=shade), texts), description, height=44 * max(1, len(down)))


def distribution(frame: pd.DataFrame, description: str) -> Any:
    """What share of its scores each source gave to each score.

    Args:
        frame: ``series, score, share, n``, scores as texts.
    """
    names = list(dict.fromkeys(frame["series"]))
    scores = sorted(frame["score"].unique(), key=float)
    axis = alt.Axis(labelAngle=0, ticks=False)
    across = alt.X(
        "score:N", sort=scores, title="score", axis=axis, scale=alt.Scale(paddingInner=0.4, paddingOuter=0.2)
    )
    up = alt.Axis(format="%", tickCount=4, domain=False, ticks=False)
    hover = [alt.Tooltip("series:N", title="source"), "score:N", alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("n:Q", format=",")]  # fmt: skip
    bars = (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=3)
        .encode(
            x=across,
            xOffset=alt.XOffset("series:N", sort=names),
            y=alt.Y("share:Q", title=None, axis=up),
            color=series_colour(names),
            tooltip=hover,
        )
    )
    return themed(bars, description, height=210)


def curves(
    frame: pd.DataFrame,
    description: str,
    *,
    x: str,
    y: str,
    share: bool = False,
    log: bool = False,
    zero: bool = False,
) -> Any:
    """Lines over a quantity: a time ECDF (steps, shares up to 1), or drift over the order of work.

    More lines than there are colours are all drawn grey, and named on hover.

    Args:
        frame: ``series, x, y``.
        x, y: titles of the axes.
        share: ``y`` counts shares from 0 to 1, drawn as steps.
        log: ``x`` is drawn on a logarithmic axis; every x is then above 0.
        zero: mark 0 with a line.
    """
    names = list(dict.fromkeys(frame["series"]))
    grey: dict[str, Any] = {"detail": "series:N", "color": alt.value(FAINT)}
    ink: dict[str, Any] = {"color": series_colour(names)} if len(names) <= len(SERIES) else grey
    hover = [
        alt.Tooltip("series:N", title=" "),
        alt.Tooltip("x:Q", title=x, format=",.2~f"),
        alt.Tooltip("y:Q", title=y, format=".0%" if share else ".2f"),
    ]
    along = alt.Axis(grid=False, values=axis_ticks(frame["x"], log=log), labelExpr=TIME if log else PLAIN)
    across = alt.Scale(type="log", nice=False) if log else alt.Scale(nice=False, zero=False)
    up = alt.Axis(format="%" if share else "~g", tickCount=4, domain=False, ticks=False)
    points = False if share or len(frame) > 200 else alt.OverlayMarkDef(size=36, filled=True)
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.2, interpolate="step-after" if share else "linear", point=points)
        .encode(
            x=alt.X(
                "x:Q",
                title=x,
                scale=across,
                axis=along,
            ),
            y=alt.Y(
                "y:Q", title=y, scale=alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=False), axis=up
            ),
            tooltip=hover,
            **ink,
        )
    )
    ground = alt.Chart(pd.DataFrame({"y": [0.0]})).mark_rule(**HELP_LINE).encode(y="y:Q")
    return themed(alt.layer(ground, lines) if zero else lines, description, height=260)


def pairs(
    frame: pd.DataFrame,
    description: str,
    *,
    title: str,
    domain: tuple[float, float] | None = None,
    percent: bool = False,
) -> Any:
    """Two or more sources beside each other on one line a thing, with intervals: systems, levels, arms.

    Args:
        frame: ``label, series, value, low, high, about``.
        title: what the horizontal axis is.
        domain: the axis reaches from here to here; without it, as far as the data.
        percent: the values are shares.
    """
    labels, names = list(dict.fromkeys(frame["label"])), list(dict.fromkeys(frame["series"]))
    low, high, steps = round_reach(frame[["value", "low", "high"]])
    scale = alt.Scale(domain=list(domain or (low, high)), nice=False)
    marked: dict[str, Any] = {"tickCount": 6} if domain else {"values": steps}
    axis = alt.Axis(title=title, ticks=False, domain=False, format="%" if percent else "~g", **marked)
    shared: dict[str, Any] = {
        "y": names_axis("label", labels),
        "yOffset": alt.YOffset("series:N", sort=names),
        "color": series_colour(names),
        "tooltip": tips("label", "series", "about"),
    }
    whiskers = (
        alt.Chart(frame.dropna(subset=["low", "high"]))
        .mark_rule(strokeWidth=2.5, strokeCap="round", aria=False)
        .encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", **shared)
    )
    shapes = alt.Shape("series:N", sort=names, scale=alt.Scale(domain=names), legend=series_legend(names))
    points = (
        alt.Chart(frame)
        .mark_point(size=90, filled=True, opacity=1)
        .encode(x=alt.X("value:Q", scale=scale, axis=axis), shape=shapes, **shared)
    )
    height = max(1, len(labels)) * max(ROW, 18 * len(names))
    return themed(alt.layer(whiskers, points), description, height=height)
