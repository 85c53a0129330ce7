"""Figures for a paper as SVG, with their numbers: estimates with intervals, one per line."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import pandas as pd

from coeval.stats.agreement.alpha import ACCEPTABLE, TENTATIVE
from coeval.stats.report.answer import short

Document = Mapping[str, Any]

WIDTH, LEFT, RIGHT = 640, 230, 130
"""Widths in pixels of a figure, of the names on its left, and of the numbers on its right."""

ROW, TOP, BOTTOM = 38, 34, 34
"""Heights in pixels of a line, and of the space above and below all lines."""

NAME = 36
"""The number of characters in each of the two lines of a name."""

COLUMNS = ["name", "value", "ci_low", "ci_high"]

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, eq=False)
class PaperFigure:
    """A figure with its file ``name``, ``title``, numbers (``COLUMNS``), and names of lines."""

    name: str
    title: str
    frame: pd.DataFrame
    lines: Mapping[str, float]
    reach: tuple[float, float]

    def svg(self) -> str:
        """Return the figure as an SVG file. Names from the study are escaped."""
        drawn = self.frame.dropna(subset=["value"])
        rows = [(str(row.name_), row.value, row.ci_low, row.ci_high) for row in _tuples(drawn)]
        height = TOP + ROW * len(rows) + BOTTOM
        start, end, ticks = _axis(self.reach, rows)

        def x(value: float) -> float:
            return round(LEFT + (value - start) / (end - start) * (WIDTH - LEFT - RIGHT), 2)

        foot = height - BOTTOM
        parts = [f'<line x1="{x(start)}" x2="{x(end)}" y1="{foot}" y2="{foot}" stroke="#888"/>']
        parts += [_text(x(tick), foot + 18, _tick(tick), "middle") for tick in ticks]
        for place, (name, line) in enumerate(self.lines.items()):
            side = "middle" if len(self.lines) == 1 else ("end", "start")[place % 2]
            parts.append(
                f'<line x1="{x(line)}" x2="{x(line)}" y1="{TOP - 6}" y2="{foot}" stroke="#888" stroke-dasharray="3 4"/>'
            )
            parts.append(_text(x(line), TOP - 12, f"{name} {_tick(line)}", side))
        for place, (name, value, low, high) in enumerate(rows):
            y = TOP + ROW * place + ROW / 2
            parts += _name(name, y)
            if not math.isnan(low):
                parts.append(
                    f'<line x1="{x(low)}" x2="{x(high)}" y1="{y}" y2="{y}" stroke="#222" stroke-width="2"/>'
                )
            parts.append(f'<circle cx="{x(value)}" cy="{y}" r="4.5" fill="#222"/>')
            parts.append(_text(WIDTH - RIGHT + 16, y + 4, _numbers(value, low, high), "start"))
        body = "\n".join(parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222" role="img">\n'
            f"<title>{_safe(self.title)}</title>\n{body}\n</svg>\n"
        )


def paper_figures(report: Document) -> list[PaperFigure]:
    """Return the figures of a report (``build_report``) that have a number to draw."""
    figures = (_alphas(report), _systems(report), _effects(report))
    return [figure for figure in figures if figure.frame["value"].notna().any()]


def _alphas(report: Document) -> PaperFigure:
    agreement = report["agreement"]
    rows = [
        (row["criterion"], row["humans"]["ordinal"], row["ci_low"], row["ci_high"])
        for row in agreement["per_criterion"]
    ]
    return PaperFigure(
        "alpha_by_criterion",
        "Krippendorff's ordinal alpha of all scores by criterion, with 95% intervals",
        _frame(rows),
        {"tentative": TENTATIVE, "reliable": ACCEPTABLE},
        (0.0, 1.0),
    )


def _systems(report: Document) -> PaperFigure:
    rows = [
        (row["system"], row["human_mean"], row.get("ci_low"), row.get("ci_high")) for row in report["systems"]
    ]
    frame = _frame(rows)
    ends = frame[["value", "ci_low", "ci_high"]].to_numpy(dtype=float)
    known = [value for value in ends.ravel() if value == value]
    reach = (min(known), max(known)) if known else (0.0, 1.0)
    return PaperFigure("system_means", "People's mean score by system, with 95% intervals", frame, {}, reach)


def _effects(report: Document) -> PaperFigure:
    section = report["drafts"]
    nothing: Document = {"measures": []}
    main = next((one for one in section["arms"] if one["arm"] == "assisted"), nothing)
    values = {one["name"]: one["difference"] for one in main["measures"]} | {"pull": section["pull"]}
    names = {
        "adoption": "Share of scores equal to the draft's, assisted minus blind",
        "distance": "Points from the draft's score, assisted minus blind",
        "pull": "Pull of the draft, share of the way to a shifted score",
    }
    rows = [
        (text, values[name]["value"], values[name].get("ci_low"), values[name].get("ci_high"))
        for name, text in names.items()
        if name in values
    ]
    title = "Effect of the draft, with 95% intervals"
    return PaperFigure("draft_effects", title, _frame(rows), {"no effect": 0.0}, (-0.2, 0.4))


def _frame(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.assign(**{name: frame[name].astype(float) for name in COLUMNS[1:]})


def _tuples(frame: pd.DataFrame) -> Any:
    return frame.rename(columns={"name": "name_"}).itertuples(index=False)


def _axis(reach: tuple[float, float], rows: Sequence[tuple[Any, ...]]) -> tuple[float, float, list[float]]:
    """Return the range of the axis, which includes every interval, and its ticks.

    >>> _axis((0.0, 1.0), [("a", 0.5, -0.13, 0.8)])
    (-0.2, 1.0, [-0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    found = [*reach, *(value for row in rows for value in row[1:] if value == value)]
    low, high = min(found), max(found)
    step = next(size for size in (0.1, 0.2, 0.5, 1, 2, 5, 10, 1e9) if (high - low) / size <= 7)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(k * step, 10) for k in range(first, max(last, first + 1) + 1)]
    return ticks[0], ticks[-1], ticks


def _tick(value: float) -> str:
    return f"{value:g}".replace("0.", ".", 1).replace("-", "−") if abs(value) < 1 and value else f"{value:g}"


def _numbers(value: float, low: float, high: float) -> str:
    return short(value) + ("" if math.isnan(low) else f" [{short(low)}, {short(high)}]")


def _name(name: str, y: float) -> list[str]:
    lines = textwrap.wrap(name, NAME, max_lines=2, placeholder="…") or ["–"]
    return [
        _text(4, y + 4 + 14 * (place - (len(lines) - 1) / 2), line, "start")
        for place, line in enumerate(lines)
    ]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{_safe(text)}</text>'


def _safe(text: str) -> str:
    return escape(_NOT_XML.sub("�", text))
