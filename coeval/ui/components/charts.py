"""Charts in the language of Vega-Lite from small tidy frames.

A chart contains only what it shows, so a chart of 100,000 scores takes a few kilobytes. Each chart takes sentences that
describe it for screen readers. ``theme`` sets the appearance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from gradio.components.plot import PlotData

from coeval.stats.actions import ACTIONS
from coeval.stats.agreement.alpha import ACCEPTABLE, TENTATIVE
from coeval.ui.components.theme import (
    BRAND,
    HELP_LINE,
    INK,
    NO_ZERO,
    ROW,
    SOFT,
    Spec,
    column,
    marks,
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
    "heatmap",
    "pairs",
    "wrapped",
]


ALPHA_BANDS = ("below .667", ".667 to .8", ".8 or more", "undefined")
"""The shades of a heat map of alphas: the levels of Krippendorff (2004)."""


LINES = pd.DataFrame(
    {"value": [TENTATIVE, ACCEPTABLE], "name": ["tentative", "reliable"], "align": ["right", "left"]}
)
"""The dashed lines of a forest plot of alphas; the names of two close lines are aligned away from each other."""


def alpha_forest(frame: pd.DataFrame, description: str) -> PlotData:
    """Return a forest plot of alphas: one with its interval per line, the figures on the right, and two lines.

    Args:
        frame: ``label, value, low, high, text, about``; an estimate without a value shows its text alone.
    """
    limits = frame[["value", "low", "high"]].to_numpy(dtype=float)
    low, high = _fifths([0.0, 1.0, *limits[~np.isnan(limits)]])
    names = names_axis("label", list(frame["label"]))
    sides = zip(LINES["value"], LINES["align"], strict=True)
    lean = {"condition": [{"test": f"datum.value == {x}", "value": side} for x, side in sides]}
    marked: Spec = {
        "values": [*LINES["value"], *_ticks(low, high, list(LINES["value"]))],
        "labelExpr": NO_ZERO,
        "labelAlign": {**lean, "value": "center"},
    }
    axis = {"title": None, "grid": False, "ticks": True, "domain": True, **marked}
    x = column("value:Q", scale={"domain": [low, high], "nice": False}, axis=axis)
    place = {"x": x, "y": {"value": -4}, "text": column("name:N")}
    look: Spec = {"baseline": "bottom", "fontSize": 12, "color": SOFT, "aria": False}
    named = [
        marks(LINES[LINES["align"] == side], "text", place, align=side, **look) for side in LINES["align"]
    ]
    told: Spec = {"y": names, "tooltip": tips("about")}
    reached = {"x": column("low:Q"), "x2": {"field": "high"}, **told}
    whole: Spec = {"strokeWidth": 3, "strokeCap": "round", "color": BRAND, "aria": False}
    layers = [
        marks(LINES, "rule", {"x": x}, **HELP_LINE),
        *named,
        marks(frame.dropna(subset=["low", "high"]), "rule", reached, **whole),
        marks(frame.dropna(subset=["value"]), "circle", {"x": x, **told}, size=130, opacity=1, color=BRAND),
        texts_beside(frame, names),
    ]
    room = 30 + 7 * max((len(str(text)) for text in frame["text"]), default=0)
    height = max(1, len(frame)) * (ROW + 8)
    return themed({"layer": layers}, description, height=height, right=min(room, 260), top=18)


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


def heatmap(frame: pd.DataFrame, description: str, names: Sequence[str]) -> PlotData:
    """Return a heat map of alpha for each pair of ``names``, in three
    shades (below .667, up to .8, above); intervals on hover.

    Args:
        frame: ``a, b, value, text, about``; give both (a, b) and (b, a).
    """
    side, small = max(22, min(44, 420 // max(1, len(names)))), len(names) > 12
    longest = max((len(name) for name in names), default=0)
    slanted = 7 * sum(len(name) + 2 for name in names) > 300
    plain: Spec = {"title": None, "domain": False, "ticks": False, "labelLimit": 320, "grid": False}
    top = {**plain, "orient": "top", "labelAngle": -40 if slanted else 0}
    order: Spec = {"domain": list(names), "paddingInner": 0.05, "paddingOuter": 0}
    base = {
        "x": column("a:N", sort=list(names), scale=order, axis=top),
        "y": column("b:N", sort=list(names), scale=order, axis=plain),
        "tooltip": tips("about"),
    }
    shades = {"type": "ordinal", "domain": list(ALPHA_BANDS), "range": [0.08, 0.32, 0.62, 0.0]}
    key = {
        "title": None,
        "orient": "bottom",
        "direction": "horizontal",
        "values": list(ALPHA_BANDS[:3]),
        "symbolType": "square",
        "symbolFillColor": BRAND,
        "symbolStrokeWidth": 0,
        "symbolSize": 180,
    }
    opacity = column("band:N", sort=list(ALPHA_BANDS), scale=shades, legend=key)
    frame = frame.assign(band=[_alpha_band(value) for value in frame["value"]])
    layers = [marks(frame, "rect", {**base, "opacity": opacity}, cornerRadius=4, color=BRAND)]
    if len(names) <= 24:
        text = {**base, "text": column("text:N")}
        layers.append(marks(frame, "text", text, fontSize=9 if small else 12.5, color=INK))
    reach = 4 * len(names[-1]) if slanted and names else 0  # room for the slanted last name
    height, right = side * max(1, len(names)), min(reach, 8 * longest, 120)
    return themed({"layer": layers}, description, height=height, right=right)


def _alpha_band(value: float) -> str:
    """Return the name of the shade for an alpha.

    >>> [_alpha_band(value) for value in (0.5, 0.667, 0.8, float("nan"))]
    ['below .667', '.667 to .8', '.8 or more', 'undefined']
    """
    if value != value:
        return ALPHA_BANDS[3]
    return ALPHA_BANDS[sum(value >= line for line in (TENTATIVE, ACCEPTABLE))]


def action_bars(frame: pd.DataFrame, description: str) -> PlotData:
    """Return stacked bars of the four actions' shares by kind of line.

    Args:
        frame: ``label, action, share, n, text``; ``text``, the same for all rows of a label, is on the right.
    """
    labels = list(dict.fromkeys(frame["label"]))
    names = names_axis("label", labels)
    colours = {"domain": list(ACTIONS), "range": [f"var(--{action})" for action in ACTIONS]}
    bars = {
        "y": names,
        "x": column("share:Q", axis=None, scale={"domain": [0, 1]}),
        "color": column("action:N", legend=None, scale=colours),
        "order": column("order:Q"),
        "tooltip": [column("action:N"), column("share:Q", format=".1%"), column("n:Q", format=",")],
    }
    ordered = frame.assign(order=frame["action"].map(ACTIONS.index))
    beside = texts_beside(frame.drop_duplicates("label"), names)
    layers = [marks(ordered, "bar", bars, height=11), beside]
    return themed({"layer": layers}, description, height=max(1, len(labels)) * ROW, right=330)


def confusion(frame: pd.DataFrame, description: str, *, x: str, y: str) -> PlotData:
    """Return a heat map of how often two scores occur together; shades are shares of the row.

    Args:
        frame: ``x, y, n, share``, with scores as texts; the highest score is at the top.
        x, y: titles of the axes.
    """
    down = sorted(frame["y"].unique(), key=float, reverse=True)
    across = sorted(frame["x"].unique(), key=float)
    plain = {"domain": False, "ticks": False}
    base = {
        "x": column("x:N", sort=across, title=x, axis={"labelAngle": 0, **plain}),
        "y": column("y:N", sort=down, title=y, axis=plain),
        "tooltip": [
            column("y:N", title=y),
            column("x:N", title=x),
            column("n:Q", format=","),
            column("share:Q", format=".1%", title="share of the row"),
        ],
    }
    shade = column("share:Q", scale={"domain": [0, 1], "range": [0.05, 0.7]}, legend=None)
    look: Spec = {"cornerRadius": 4, "color": BRAND, "stroke": "var(--card)", "strokeWidth": 2}
    layers = [
        marks(frame, "rect", {**base, "opacity": shade}, **look),
        marks(frame, "text", {**base, "text": column("n:Q", format=",")}, fontSize=12.5, color=INK),
    ]
    return themed({"layer": layers}, description, height=44 * max(1, len(down)))


def pairs(
    frame: pd.DataFrame,
    description: str,
    *,
    title: str,
    domain: tuple[float, float] | None = None,
) -> PlotData:
    """Return a chart of several sources side by side with intervals: systems, levels, arms.

    Args:
        frame: ``label, series, value, low, high, about``.
        title: title of the horizontal axis.
        domain: limits of the axis; by default, those of the data.
    """
    labels, names = list(dict.fromkeys(frame["label"])), list(dict.fromkeys(frame["series"]))
    low, high, steps = round_reach(frame[["value", "low", "high"]])
    scale = {"domain": list(domain or (low, high)), "nice": False}
    axis: Spec = {"title": title, "ticks": False, "domain": False}
    axis |= {"tickCount": 6} if domain else {"values": steps}
    # an axis' own format would round its labels to the digits of its steps, and write 10 as 1e+1
    axis |= {"labelExpr": "format(datum.value, '~g')"}
    shared: Spec = {
        "y": names_axis("label", labels),
        "yOffset": column("series:N", sort=names),
        "color": series_colour(names),
        "tooltip": tips("label", "series", "about"),
    }
    reached = {"x": column("low:Q", scale=scale, axis=axis), "x2": {"field": "high"}, **shared}
    shapes = column("series:N", sort=names, scale={"domain": names}, legend=series_legend(names))
    points = {"x": column("value:Q", scale=scale, axis=axis), "shape": shapes, **shared}
    look: Spec = {"strokeWidth": 2.5, "strokeCap": "round", "aria": False}
    layers = [
        marks(frame.dropna(subset=["low", "high"]), "rule", reached, **look),
        marks(frame, "point", points, size=90, filled=True, opacity=1),
    ]
    height = max(1, len(labels)) * max(ROW, 18 * len(names))
    return themed({"layer": layers}, description, height=height)
