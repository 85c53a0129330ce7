"""Charts: small tidy frames to Altair charts that take their colours from the page, light or dark.

Every colour is a CSS variable of ``static/coeval.css``: drawn as SVG, a chart follows the page's theme by
itself. A chart holds what it shows and no more, so that 100,000 scores make a chart of a few kilobytes.
Each takes the sentence that describes it to whoever does not see it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

FONT = 'Inter, "Source Sans 3", system-ui, sans-serif'
BRAND, INK, SOFT, FAINT, LINE = (f"var(--{name})" for name in ("brand", "ink", "soft", "faint", "line"))
ACTIONS = ["approve", "revise", "delete", "add"]
SERIES = [f"var(--series-{n})" for n in range(1, 9)]
TENTATIVE, ACCEPTABLE = 0.667, 0.800
"""Krippendorff's lines: below the first draw no conclusion, from the second rely on the scores."""

ROW = 40
"""Height, in pixels, of one line of a chart that lists things."""


def wrapped(text: str, width: int = 34) -> str:
    """A label of at most two lines; a longer one ends in an ellipsis.

    >>> wrapped("Simple language: the answer uses words that every child knows and no others")
    'Simple language: the answer uses\\nwords that every child knows and…'
    """
    return "\n".join(textwrap.wrap(text, width, max_lines=2, placeholder="…")) or "–"


def themed(chart: Any, description: str, *, height: int, right: int = 0) -> Any:
    """The chart at the width of its card, without ground or frame, readable on both grounds.

    ``right`` leaves room, in pixels, for texts beside the drawing.
    """
    return (
        chart.properties(
            width="container",
            height=height,
            description=description,
            background="transparent",
            padding={"left": 4, "top": 6, "right": 4 + right, "bottom": 4},
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
            usermeta={"embedOptions": {"renderer": "svg", "actions": False}},
        )
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=SOFT, titleColor=FAINT, labelFontSize=12.5, titleFontSize=12, titleFontWeight=500,
            gridColor=LINE, domainColor=LINE, tickColor=LINE, labelPadding=8, titlePadding=10,
        )
        .configure_legend(
            labelColor=SOFT, titleColor=FAINT, labelFontSize=12.5, titleFontSize=12, titleFontWeight=500,
            orient="top", symbolType="circle", labelLimit=320, columns=4, offset=12,
        )
    )  # fmt: skip


def _names(field: str, names: Sequence[str]) -> alt.Y:
    """The vertical axis of a list of things, in the order given, in up to two lines each."""
    axis = alt.Axis(
        title=None, domain=False, ticks=False, labelLimit=250, labelExpr="split(datum.value, '\\n')",
        labelAlign="left", labelPadding=250 if any(len(name) > 18 for name in names) else 110,
        labelBaseline="middle", labelLineHeight=15, labelColor=INK,
    )  # fmt: skip
    return alt.Y(f"{field}:N", sort=list(names), axis=axis, scale=alt.Scale(domain=list(names)))


def forest(
    frame: pd.DataFrame,
    description: str,
    *,
    lines: Sequence[float] = (),
    domain: tuple[float, float] = (0.0, 1.0),
    title: str | None = None,
) -> Any:
    """Estimates with their intervals, one a line, and the same in figures at the right.

    Args:
        frame: ``label, value, low, high, text, about``; an estimate without a value or interval shows its text.
        lines: values to mark with a dashed line, each named on the axis.
        domain: the axis reaches from here to here, and further where the data does.
    """
    found = frame[["value", "low", "high"]].stack()
    low, high = min([domain[0], *found]), max([domain[1], *found])
    names = _names("label", list(frame["label"]))
    axis = alt.Axis(
        title=title, grid=False, ticks=False, domain=False, format="~g",
        values=list(lines) if lines else alt.Undefined, tickCount=5,
    )  # fmt: skip
    x = alt.X("value:Q", scale=alt.Scale(domain=[low, high], nice=not lines), axis=axis)
    tips = ["about:N", alt.Tooltip("text:N", title="estimate")]
    base = alt.Chart(frame)
    marks = [
        alt.Chart(pd.DataFrame({"value": list(lines)})).mark_rule(strokeDash=[3, 4], color=FAINT).encode(x=x),
        alt.Chart(frame.dropna(subset=["low", "high"]))
        .mark_rule(strokeWidth=3, strokeCap="round", color=BRAND)
        .encode(y=names, x=alt.X("low:Q"), x2="high:Q", tooltip=tips),
        alt.Chart(frame.dropna(subset=["value"]))
        .mark_circle(size=130, opacity=1, color=BRAND)
        .encode(y=names, x=x, tooltip=tips),
        base.mark_text(align="left", dx=18, fontSize=12.5, color=SOFT).encode(
            y=names, x=alt.value("width"), text="text:N"
        ),
    ]
    room = 30 + 7 * max((len(str(text)) for text in frame["text"]), default=0)
    return themed(alt.layer(*marks), description, height=max(1, len(frame)) * ROW, right=min(room, 260))


def alpha_forest(frame: pd.DataFrame, description: str) -> Any:
    """Alpha of each criterion with its interval, and the lines at .667 and .800."""
    return forest(frame, description, lines=(TENTATIVE, ACCEPTABLE))


def heatmap(frame: pd.DataFrame, description: str, names: Sequence[str]) -> Any:
    """A value for every two of ``names``, the darker the higher; intervals show on hover.

    Args:
        frame: ``a, b, value, text, about``; give both (a, b) and (b, a).
    """
    side, small = max(22, min(44, 420 // max(1, len(names)))), len(names) > 12
    axis = alt.Axis(title=None, domain=False, ticks=False, labelLimit=90, grid=False)
    scale = alt.Scale(domain=list(names), paddingInner=0.05, paddingOuter=0)
    base = alt.Chart(frame).encode(
        x=alt.X("a:N", sort=list(names), scale=scale, axis=alt.Axis(**_top(axis, small))),
        y=alt.Y("b:N", sort=list(names), scale=scale, axis=axis),
        tooltip=["about:N"],
    )
    shade = alt.Opacity(
        "value:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.68], clamp=True), legend=None
    )
    cells = base.mark_rect(cornerRadius=4, color=BRAND).encode(opacity=shade)
    texts = base.mark_text(fontSize=9 if small else 12.5, color=INK).encode(text="text:N")
    marks = [cells] if len(names) > 24 else [cells, texts]
    return themed(alt.layer(*marks), description, height=side * max(1, len(names)))


def _top(axis: alt.Axis, small: bool) -> dict[str, Any]:
    return axis.to_dict() | {"orient": "top", "labelAngle": -45 if small else 0}


def action_bars(frame: pd.DataFrame, description: str) -> Any:
    """Shares of the four actions by kind of line, stacked, each with its sign's colour.

    Args:
        frame: ``label, action, share, n, text``; ``text`` is what stands at the right, the same for a label.
    """
    labels = list(dict.fromkeys(frame["label"]))
    names = _names("label", labels)
    colours = alt.Color(
        "action:N", legend=None, scale=alt.Scale(domain=ACTIONS, range=[f"var(--{name})" for name in ACTIONS])
    )
    bars = (
        alt.Chart(frame.assign(order=frame["action"].map(ACTIONS.index)))
        .mark_bar(height=11)
        .encode(
            y=names,
            x=alt.X("share:Q", axis=None, scale=alt.Scale(domain=[0, 1])),
            color=colours,
            order="order:Q",
            tooltip=["action:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("n:Q", format=",")],
        )
    )
    texts = (
        alt.Chart(frame.drop_duplicates("label"))
        .mark_text(align="left", dx=18, fontSize=12.5, color=SOFT)
        .encode(y=names, x=alt.value("width"), text="text:N")
    )
    return themed(alt.layer(bars, texts), description, height=len(labels) * ROW, right=330)


def confusion(frame: pd.DataFrame, description: str, *, x: str, y: str) -> Any:
    """How often one score (across) meets another (down); shades are shares of the row.

    Args:
        frame: ``x, y, n, share``, scores as texts in the order of the scale; the top score comes first down.
        x, y: what the two are called.
    """
    down = sorted(frame["y"].unique(), key=float, reverse=True)
    base = alt.Chart(frame).encode(
        x=alt.X("x:O", title=x, axis=alt.Axis(labelAngle=0, domain=False, ticks=False)),
        y=alt.Y("y:O", sort=down, title=y, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=[alt.Tooltip("x:O", title=x), alt.Tooltip("y:O", title=y), alt.Tooltip("n:Q", format=","),
                 alt.Tooltip("share:Q", format=".1%", title="share of the row")],
    )  # fmt: skip
    shade = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 0.7]), legend=None)
    cells = base.mark_rect(cornerRadius=4, color=BRAND, stroke="var(--card)", strokeWidth=2).encode(
        opacity=shade
    )
    texts = base.mark_text(fontSize=12.5, color=INK).encode(text=alt.Text("n:Q", format=","))
    return themed(alt.layer(cells, texts), description, height=44 * len(down))


def _series(names: Sequence[str]) -> alt.Color:
    return alt.Color(
        "series:N",
        title=None,
        sort=list(names),
        scale=alt.Scale(domain=list(names), range=SERIES[: len(names)]),
    )


def distribution(frame: pd.DataFrame, description: str) -> Any:
    """What share of its scores each source gave to each score.

    Args:
        frame: ``series, score, share, n``.
    """
    names = list(dict.fromkeys(frame["series"]))
    bars = (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=3)
        .encode(
            x=alt.X("score:O", title="score", axis=alt.Axis(labelAngle=0, ticks=False)),
            xOffset=alt.XOffset("series:N", sort=names),
            y=alt.Y("share:Q", title=None, axis=alt.Axis(format="%", tickCount=4, domain=False, ticks=False)),
            color=_series(names),
            tooltip=[alt.Tooltip("series:N", title="source"), "score:O", alt.Tooltip("share:Q", format=".1%"),
                     alt.Tooltip("n:Q", format=",")],
        )
    )  # fmt: skip
    return themed(bars, description, height=240)


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
    grey = {"detail": "series:N", "color": alt.value(FAINT)}
    ink: dict[str, Any] = {"color": _series(names)} if len(names) <= len(SERIES) else grey
    tips = [
        "series:N",
        alt.Tooltip("x:Q", title=x, format=".3~s"),
        alt.Tooltip("y:Q", title=y, format=".0%" if share else ".2f"),
    ]
    steps = "step-after" if share else "monotone"
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(nice=False, zero=False)
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2.2, interpolate=steps, point=_points(frame, share))
        .encode(
            x=alt.X("x:Q", title=x, scale=scale, axis=alt.Axis(grid=False, tickCount=6, format="~s")),
            y=alt.Y(
                "y:Q",
                title=y,
                scale=alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=False),
                axis=alt.Axis(format="%" if share else "~g", tickCount=4, domain=False, ticks=False),
            ),
            tooltip=tips,
            **ink,
        )
    )
    ground = alt.Chart(pd.DataFrame({"y": [0.0]})).mark_rule(strokeDash=[3, 4], color=FAINT).encode(y="y:Q")
    return themed(alt.layer(ground, lines) if zero else lines, description, height=260)


def _points(frame: pd.DataFrame, share: bool) -> Any:
    return False if share or len(frame) > 200 else alt.OverlayMarkDef(size=36, filled=True)


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
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=False, padding=24)
    axis = alt.Axis(
        title=title, grid=True, ticks=False, domain=False, tickCount=6, format="%" if percent else "~g"
    )
    shared: dict[str, Any] = {
        "y": _names("label", labels),
        "yOffset": alt.YOffset("series:N", sort=names),
        "color": _series(names),
        "tooltip": [
            alt.Tooltip("label:N", title=" "),
            alt.Tooltip("series:N", title="  "),
            alt.Tooltip("about:N", title="   "),
        ],
    }
    whiskers = (
        alt.Chart(frame.dropna(subset=["low", "high"]))
        .mark_rule(strokeWidth=2.5, strokeCap="round")
        .encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", **shared)
    )
    shapes = alt.Shape("series:N", sort=names, title=None, legend=None)
    points = (
        alt.Chart(frame)
        .mark_point(size=90, filled=True, opacity=1)
        .encode(x=alt.X("value:Q", scale=scale, axis=axis), shape=shapes, **shared)
    )
    height = max(1, len(labels)) * max(ROW, 18 * len(names))
    return themed(alt.layer(whiskers, points), description, height=height)
