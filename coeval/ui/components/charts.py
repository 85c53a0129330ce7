"""Charts: Altair charts from small tidy frames.

A chart contains only what it shows, so a chart of 100,000 scores takes a few kilobytes. Each chart takes sentences that
describe it for screen readers. ``theme`` sets the appearance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.actions import ACTIONS
from coeval.stats.agreement.alpha import ACCEPTABLE, TENTATIVE
from coeval.ui.components.theme import (
    BRAND,
    FAINT,
    HELP_LINE,
    INK,
    NO_ZERO,
    PLAIN,
    ROW,
    SERIES,
    SOFT,
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


ALPHA_BANDS = ("below .667", ".667 to .8", ".8 or more", "undefined")
"""The shades of a heat map of alphas: the levels of Krippendorff (2004)."""


def forest(
    frame: pd.DataFrame,
    description: str,
    *,
    lines: Mapping[str, float] | None = None,
    domain: tuple[float, float] = (0.0, 1.0),
) -> Any:
    """Return a forest plot: one estimate with its interval per line, and the figures on the right.

    Args:
        frame: ``label, value, low, high, text, about``; an estimate without a value shows its text alone.
        lines: values to mark with dashed lines, by the names above the lines.
        domain: limits of the axis, which extend if the data does.
    """
    import altair as alt

    limits = frame[["value", "low", "high"]].to_numpy(dtype=float)
    reach = [*domain, *limits[~np.isnan(limits)]]
    names = names_axis("label", list(frame["label"]))
    marked: dict[str, Any] = {"tickCount": 5}
    marks = pd.DataFrame({"value": list((lines or {}).values()), "name": list(lines or {})})
    if lines:  # the names of two close lines are aligned away from each other
        sides = list(zip(marks["value"], ("right", "left"), strict=False)) if len(lines) > 1 else []
        lean = {"condition": [{"test": f"datum.value == {x}", "value": side} for x, side in sides]}
        values = [*marks["value"], *_ticks(*_fifths(reach), list(marks["value"]))]
        marked = {"values": values, "labelExpr": NO_ZERO}
        marked |= {"labelAlign": {**lean, "value": "center"}} if sides else {}
        marks["align"] = [side for _, side in sides] or ["center"]
    axis = alt.Axis(title=None, grid=False, ticks=True, domain=True, **marked)
    x = alt.X("value:Q", scale=alt.Scale(domain=list(_fifths(reach)), nice=False), axis=axis)
    rules = alt.Chart(marks).mark_rule(**HELP_LINE).encode(x=x)
    named = [
        alt.Chart(marks[marks["align"] == side])
        .mark_text(align=side, baseline="bottom", fontSize=12, color=SOFT, aria=False)
        .encode(x=x, y=alt.value(-4), text="name:N")
        for side in (marks["align"].unique() if lines else ())
    ]
    whiskers = alt.Chart(frame.dropna(subset=["low", "high"])).mark_rule(
        strokeWidth=3, strokeCap="round", color=BRAND, aria=False
    )
    points = alt.Chart(frame.dropna(subset=["value"])).mark_circle(size=130, opacity=1, color=BRAND)
    chart = alt.layer(
        rules,
        *named,
        whiskers.encode(y=names, x="low:Q", x2="high:Q", tooltip=tips("about")),
        points.encode(y=names, x=x, tooltip=tips("about")),
        texts_beside(frame, names),
    )
    room = 30 + 7 * max((len(str(text)) for text in frame["text"]), default=0)
    top = 18 if lines else 0
    return themed(chart, description, height=max(1, len(frame)) * (ROW + 8), right=min(room, 260), top=top)


def _fifths(values: Sequence[float]) -> tuple[float, float]:
    """Return the limits of an axis that ends at fifths, so that its ends have labels.

    >>> _fifths([0.0, 1.0, -0.37])
    (-0.4, 1.0)
    """
    return float(np.floor(min(values) * 5 + 1e-9) / 5), float(np.ceil(max(values) * 5 - 1e-9) / 5)


def _ticks(low: float, high: float, lines: Sequence[float]) -> list[float]:
    """Return every fifth between two values, except those too close to a line for their labels.

    >>> _ticks(0, 1, (0.667, 0.8))
    [0.0, 0.2, 0.4, 1.0]
    """
    fifths = [k / 5 for k in range(int(np.ceil(low * 5 - 1e-9)), int(np.floor(high * 5 + 1e-9)) + 1)]
    return [tick for tick in fifths if all(abs(tick - line) > 0.1 for line in lines)]


def alpha_forest(frame: pd.DataFrame, description: str) -> Any:
    """Return alphas with their intervals, and lines at .667 and .800."""
    return forest(frame, description, lines={"tentative": TENTATIVE, "reliable": ACCEPTABLE})


def heatmap(frame: pd.DataFrame, description: str, names: Sequence[str]) -> Any:
    """Return a heat map of alpha for each pair of ``names``, in three
    shades (below .667, up to .8, above); intervals on hover.

    Args:
        frame: ``a, b, value, text, about``; give both (a, b) and (b, a).
    """
    import altair as alt

    side, small = max(22, min(44, 420 // max(1, len(names)))), len(names) > 12
    longest = max((len(name) for name in names), default=0)
    slanted = 7 * sum(len(name) + 2 for name in names) > 300
    scale = alt.Scale(domain=list(names), paddingInner=0.05, paddingOuter=0)
    plain: dict[str, Any] = {"title": None, "domain": False, "ticks": False, "labelLimit": 320, "grid": False}
    top = alt.Axis(**plain, orient="top", labelAngle=-40 if slanted else 0)
    base = alt.Chart(frame.assign(band=[_alpha_band(value) for value in frame["value"]])).encode(
        x=alt.X("a:N", sort=list(names), scale=scale, axis=top),
        y=alt.Y("b:N", sort=list(names), scale=scale, axis=alt.Axis(**plain)),
        tooltip=tips("about"),
    )
    shades = alt.Scale(type="ordinal", domain=list(ALPHA_BANDS), range=[0.08, 0.32, 0.62, 0.0])
    key = alt.Legend(
        title=None,
        orient="bottom",
        direction="horizontal",
        values=list(ALPHA_BANDS[:3]),
        symbolType="square",
        symbolFillColor=BRAND,
        symbolStrokeWidth=0,
        symbolSize=180,
    )
    cells = base.mark_rect(cornerRadius=4, color=BRAND).encode(
        opacity=alt.Opacity("band:N", sort=list(ALPHA_BANDS), scale=shades, legend=key)
    )
    texts = base.mark_text(fontSize=9 if small else 12.5, color=INK).encode(text="text:N")
    marks = [cells] if len(names) > 24 else [cells, texts]
    reach = 4 * len(names[-1]) if slanted and names else 0  # room for the slanted last name
    return themed(
        alt.layer(*marks), description, height=side * max(1, len(names)), right=min(reach, 8 * longest, 120)
    )


def _alpha_band(value: float) -> str:
    """Return the name of the shade for an alpha.

    >>> [_alpha_band(value) for value in (0.5, 0.667, 0.8, float("nan"))]
    ['below .667', '.667 to .8', '.8 or more', 'undefined']
    """
    if value != value:
        return ALPHA_BANDS[3]
    return ALPHA_BANDS[sum(value >= line for line in (TENTATIVE, ACCEPTABLE))]


def action_bars(frame: pd.DataFrame, description: str) -> Any:
    """Return stacked bars of the four actions' shares by kind of line.

    Args:
        frame: ``label, action, share, n, text``; ``text``, the same for all rows of a label, is on the right.
    """
    import altair as alt

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
    """Return a heat map of how often two scores occur together; shades are shares of the row.

    Args:
        frame: ``x, y, n, share``, with scores as texts; the highest score is at the top.
        x, y: titles of the axes.
    """
    import altair as alt

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
    """Return a chart of the share of each score, by source.

    Args:
        frame: ``series, score, share, n``, scores as texts.
    """
    import altair as alt

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
) -> Any:
    """Return a line chart: a time ECDF (steps, shares up to 1), or values over a number.

    If there are more lines than colours, all lines are grey and named on hover.

    Args:
        frame: ``series, x, y``.
        x, y: titles of the axes.
        share: ``y`` counts shares from 0 to 1, drawn as steps.
        log: use a logarithmic ``x`` axis, which needs every x above 0.
    """
    import altair as alt

    names = list(dict.fromkeys(frame["series"]))
    grey: dict[str, Any] = {"detail": "series:N", "color": alt.value(FAINT)}
    ink: dict[str, Any] = {"color": series_colour(names)} if len(names) <= len(SERIES) else grey
    hover = [
        alt.Tooltip("series:N", title=" "),
        alt.Tooltip("x:Q", title=x, format=",.2~f"),
        alt.Tooltip("y:Q", title=y, format=".0%" if share else ".2f"),
    ]
    along = alt.Axis(grid=False, values=axis_ticks(frame["x"], log=log), labelExpr=PLAIN)
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
    return themed(lines, description, height=260)


def pairs(
    frame: pd.DataFrame,
    description: str,
    *,
    title: str,
    domain: tuple[float, float] | None = None,
    percent: bool = False,
) -> Any:
    """Return a chart of several sources side by side with intervals: systems, levels, arms.

    Args:
        frame: ``label, series, value, low, high, about``.
        title: title of the horizontal axis.
        domain: limits of the axis; by default, those of the data.
        percent: the values are shares.
    """
    import altair as alt

    labels, names = list(dict.fromkeys(frame["label"])), list(dict.fromkeys(frame["series"]))
    low, high, steps = round_reach(frame[["value", "low", "high"]])
    scale = alt.Scale(domain=list(domain or (low, high)), nice=False)
    marked: dict[str, Any] = {"tickCount": 6} if domain else {"values": steps}
    # an axis' own format would round its labels to the digits of its steps, and write 10 as 1e+1
    labelled: dict[str, Any] = {"format": "%"} if percent else {"labelExpr": "format(datum.value, '~g')"}
    axis = alt.Axis(title=title, ticks=False, domain=False, **labelled, **marked)
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
