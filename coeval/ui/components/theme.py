"""Colours, type and styles of pages and charts.

Every colour is a CSS variable of ``static/css/coeval.css``. Charts are SVG, so they follow the page's theme and colours
that readers enforce.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd
from gradio.components.plot import PlotData

THEME = gr.themes.Base(
    primary_hue=gr.themes.Color(
        "#eef1ff", "#e8ecff", "#c9d2ff", "#a9b6ff", "#8c9eff", "#3d5afe", "#3550e6", "#2c43c4", "#25389f",
        "#1f2f80", "#18245f",
    ),
    neutral_hue="slate",
    font=["Inter", "Source Sans 3", "system-ui", "sans-serif"],
    font_mono=["ui-monospace", "monospace"],
    radius_size="md",
).set(
    body_background_fill="var(--bg)", body_background_fill_dark="var(--bg)",
    body_text_color="var(--ink)", body_text_color_dark="var(--ink)",
    body_text_color_subdued="var(--soft)", body_text_color_subdued_dark="var(--soft)",
    block_background_fill="transparent", block_background_fill_dark="transparent",
    block_border_width="0px", block_border_width_dark="0px", block_padding="0px",
    block_label_text_color="var(--soft)", block_title_text_color="var(--soft)",
    block_title_text_color_dark="var(--soft)", block_title_text_size="13px", block_title_text_weight="600",
    block_info_text_color="var(--soft)", block_info_text_color_dark="var(--soft)", block_info_text_size="12.5px",
    input_background_fill="var(--bg)", input_background_fill_dark="var(--bg)",
    input_border_color="var(--line)", input_border_color_dark="var(--line)", input_border_width="1px",
    border_color_primary="var(--line)", border_color_primary_dark="var(--line)",
    panel_background_fill="transparent", panel_border_width="0px",
    button_primary_background_fill="var(--brand)", button_primary_background_fill_dark="var(--brand)",
    button_primary_background_fill_hover="var(--brand-ink)",
    button_primary_background_fill_hover_dark="var(--brand-ink)",
    button_primary_text_color="var(--on-brand)", button_primary_text_color_dark="var(--on-brand)",
    button_secondary_background_fill="var(--card)", button_secondary_background_fill_dark="var(--card)",
    button_secondary_background_fill_hover="var(--brand-soft)",
    button_secondary_background_fill_hover_dark="var(--brand-soft)",
    button_secondary_text_color="var(--ink)", button_secondary_text_color_dark="var(--ink)",
    button_secondary_border_color="var(--edge)", button_secondary_border_color_dark="var(--edge)",
    button_border_width="1px", button_border_width_dark="1px",
    button_large_padding="9px 16px", button_large_text_size="15px", button_large_text_weight="600",
    button_large_radius="9px",
)  # fmt: skip

# The appearance of charts: colours, type, the axes of lists, legends.

Spec = dict[str, Any]
"""A chart or a part of one, in the language of Vega-Lite, which the page draws."""

KINDS = {"N": "nominal", "Q": "quantitative"}
FONT = 'Inter, "Source Sans 3", system-ui, sans-serif'
BRAND, INK, SOFT, FAINT, LINE = (f"var(--{name})" for name in ("brand", "ink", "soft", "faint", "line"))
SERIES = [f"var(--series-{n})" for n in range(1, 9)]
EMBED = {"embedOptions": {"renderer": "svg", "actions": False}}
"""SVG, so that colours can be CSS variables; no menu, because it links to another site."""

HELP_LINE: dict[str, Any] = {"strokeDash": [3, 4], "color": FAINT, "aria": False}
"""A line that only guides the eye; a screen reader gets the figures in words."""

NO_ZERO = "datum.value == 0 ? '0' : replace(format(datum.value, '.3f'), '0.', '.')"
"""A label as Vega computes it: .667 rather than 0.667."""

LEGEND = 640
"""Width of a legend in pixels; further entries start a new line."""

ROW = 40
"""Height, in pixels, of one line of a chart that lists things."""


def round_reach(values: Any) -> tuple[float, float, list[float]]:
    """Return the limits of an axis that ends at ticks, and the ticks: the data with some room, in round steps.

    >>> round_reach([2.4, 3.1, float("nan"), 4.2])
    (2.0, 4.5, [2.0, 2.5, 3.0, 3.5, 4.0, 4.5])
    """
    numbers = np.asarray(values, dtype=float).ravel()
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return 0.0, 1.0, [0.0, 1.0]
    low, high = float(numbers.min()), float(numbers.max())
    step = _round_step((high - low) / 4 if high > low else max(abs(high), 1.0) / 4)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = [round(k * step, 10) for k in range(first, max(last, first + 1) + 1)]
    return ticks[0], ticks[-1], ticks


def _round_step(rough: float) -> float:
    """Return the round number nearest above: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def blank() -> PlotData:
    """Return an empty chart that makes a page load the drawing library in advance."""
    spec = {"width": 1, "height": 1, "data": {"values": [{}]}, "mark": {"type": "point", "opacity": 0}}
    return _drawn(spec | {"config": {"view": {"stroke": None}}})


def _drawn(spec: Spec) -> PlotData:
    return PlotData(type="altair", plot=json.dumps(spec | {"usermeta": EMBED}))


LABEL_WIDTH = 34
"""The most characters in a line of a label."""


def wrapped(text: str) -> str:
    """Return a label of at most two lines; a longer label ends in an ellipsis.

    >>> wrapped("Simple language: the answer uses words that every child knows and no others")
    'Simple language: the answer uses\\nwords that every child knows and…'
    """
    return "\n".join(textwrap.wrap(text, LABEL_WIDTH, max_lines=2, placeholder="…")) or "–"


def themed(chart: Spec, description: str, *, height: int, right: int = 0, top: int = 0) -> PlotData:
    """Return the chart at its card's width, without background or frame, readable in both colour schemes.

    Args:
        description: what a screen reader says in place of the drawing.
        height: of the drawing, in pixels, without axes and legend.
        right: room, in pixels, for texts beside the drawing.
        top: room, in pixels, for texts above it.
    """
    text: Spec = {"labelFontSize": 12.5, "titleFontSize": 12, "titleFontWeight": 500}
    text |= {"labelColor": SOFT, "titleColor": FAINT}
    line: Spec = {"gridColor": LINE, "domainColor": LINE, "tickColor": LINE}
    config = {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {**text, **line, "labelPadding": 8, "titlePadding": 10},
        "legend": {**text, "orient": "top", "labelLimit": 320, "offset": 12},
    }
    frame = {
        "width": "container",
        "height": height,
        "description": description,
        "background": "transparent",
        "padding": {"left": 4, "top": 6 + top, "right": 4 + right, "bottom": 4},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": config,
    }
    return _drawn(chart | frame)


def column(shorthand: str, **options: Any) -> Spec:
    """Return an encoding by a column of the data, which is nominal (N) or quantitative (Q).

    >>> column("share:Q", format=".1%")
    {'field': 'share', 'type': 'quantitative', 'format': '.1%'}
    """
    name, kind = shorthand.split(":")
    return {"field": name, "type": KINDS[kind], **options}


def marks(frame: pd.DataFrame, kind: str, encoding: Spec, **look: Any) -> Spec:
    """Return marks of one kind (rule, point, text, ...), one for each row; missing numbers become null."""
    rows = [
        {
            name: None if isinstance(cell, float) and not math.isfinite(cell) else cell
            for name, cell in row.items()
        }
        for row in frame.to_dict("records")
    ]
    return {"data": {"values": rows}, "mark": {"type": kind, **look}, "encoding": encoding}


def names_axis(field: str, names: Sequence[str]) -> Spec:
    """Return a vertical axis with a list of names in the given order. Each name takes up to two lines."""
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    axis = {
        "title": None,
        "domain": False,
        "ticks": False,
        "labelExpr": "split(datum.value, '\\n')",
        "labelAlign": "left",
        "labelPadding": min(250, 24 + round(6.6 * longest)),
        "labelLimit": 250,
        "labelBaseline": "middle",
        "labelLineHeight": 15,
        "labelColor": INK,
    }
    return column(f"{field}:N", sort=list(names), axis=axis, scale={"domain": list(names)})


def texts_beside(frame: pd.DataFrame, names: Spec) -> Spec:
    """Return the texts of a list, at the right of the drawing."""
    encoding = {"y": names, "x": {"value": "width"}, "text": column("text:N")}
    return marks(frame, "text", encoding, align="left", dx=18, fontSize=12.5, color=SOFT)


def tips(*fields: str) -> list[Spec]:
    """Return the tooltips of a chart as readable texts."""
    return [column(f"{field}:N", title=" " * place) for place, field in enumerate(fields, 1)]


def series_colour(names: Sequence[str]) -> Spec:
    """Return a colour for each name, in order, with their legend."""
    colours = (SERIES * (len(names) // len(SERIES) + 1))[: len(names)]
    scale = {"domain": list(names), "range": colours}
    return column("series:N", sort=list(names), scale=scale, legend=series_legend(names))


def series_legend(names: Sequence[str]) -> Spec:
    """Return the legend of colours and, if marks have shapes too, of shapes."""
    longest = max((len(name) for name in names), default=0)
    return {"title": None, "columns": max(1, LEGEND // (40 + 7 * longest))}
