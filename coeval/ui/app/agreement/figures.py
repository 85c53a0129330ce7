"""The pieces of a section: tiles, charts with their data, tables, banners, and notes on undefined values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from coeval.stats.estimates import Estimate, listed
from coeval.stats.report.answer import Answer
from coeval.stats.report.tables import MISSING, Table
from coeval.ui.components.number_words import brief, facts, interval, left_out, number, shown
from coeval.ui.components.view import Node, el, table

MOST_NAMES = 6
_UNDEFINED = re.compile(r"undefined(?:: (.*))?", re.S)
_FIGURE = re.compile(r"(?:[<>] )?[−-]?\d*\.\d|.*%|[−-]?[\d,.]+ (?:s|min)\b")
"""The beginning of a cell with a computed number; counts are whole numbers and do not match."""


def undefined_words(named: Iterable[tuple[str, str]]) -> str:
    """Return the names of undefined values by reason.

    >>> undefined_words([("a", "needs two people"), ("b", "needs two people"), ("c", "")])
    'Not computed for a and b: needs two people. Not computed for c.'
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in named:
        by_reason.setdefault(reason.strip().rstrip("."), []).append(name)
    return " ".join(
        f"Not computed for {_listed(names)}{f': {reason}' if reason else ''}."
        for reason, names in by_reason.items()
    )


def split_estimates(frame: pd.DataFrame, name: str) -> tuple[pd.DataFrame, str]:
    """Return the rows with a ``value``, and a sentence on the others; the column ``name`` has their names."""
    defined = frame["value"].notna()
    left_out = frame[~defined]
    named = zip(left_out[name].astype(str), left_out["reason"].astype(str), strict=True)
    return frame[defined], undefined_words(named)


def split_rows(rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], str]:
    """Return the rows of a table of texts with at least one figure, and a sentence on rows without any.

    >>> split_rows([["a", "undefined: nobody", "0"], ["b", ".50 [.40, .60]", "9"], ["c", "< .001", "undefined"]])
    ([['b', '.50 [.40, .60]', '9'], ['c', '< .001', 'undefined']], 'Not computed for a: nobody.')
    """
    kept, named = [], []
    for row in rows:
        undefined = [
            (place, match) for place, cell in enumerate(row) if (match := _UNDEFINED.fullmatch(cell))
        ]
        if not undefined or any(_FIGURE.match(cell) for cell in row):
            kept.append(list(row))
            continue
        reason = next((match[1] for _, match in undefined if match[1]), "")
        named.append((" ".join(cell for cell in row[: undefined[0][0]] if cell), reason))
    return kept, undefined_words(named)


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    more = len(names) - MOST_NAMES
    return listed([*names[:MOST_NAMES], *([f"{more} more"] if more > 0 else [])])


# The pieces of a section: tiles with big numbers, charts with their data, tables, and omissions.

Get = Callable[..., Any]
"""Compute a statistic of the current task: ``get(function)``, or ``get(function, tables=("actions",))`` if it
needs more tables. See ``usecases.reports.statistics``.
"""


NO_PLANTED = "planted errors left out"
"""The note on a figure that never counts scores of drafts with a planted error."""

UNDEFINED = "undefined"
"""The class of a tile of an undefined value. The page moves it to the notes on omissions."""

UNIT_AXIS = (0.0, 1.0)
"""The range of the bar of a share or a coefficient; it extends if the interval does."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart, and the numbers it shows; without any, a text replaces it.

    ``draw`` makes the chart of ``data``, and ``words`` describes it for screen readers. ``rows`` is the file with the
    rows behind the numbers. ``width`` is wide (three fifths) or full.
    """

    name: str
    title: str
    data: pd.DataFrame
    draw: Callable[[], Any]
    words: str
    rows: str = "scores.csv"
    width: str = "full"
    note: str = ""
    basis: str = ""
    """The scores behind it, if they differ from the page's."""
    scoped: bool = False
    """True if these differ from the page's."""


@dataclass(frozen=True, eq=False)
class Page:
    """A section for the screen.

    ``answer`` is the conclusion in one sentence and comes first. ``scope`` names the scores in use, if the section
    computes them itself. ``as_of`` is the time of the numbers, if anything was saved since then. ``banner`` is a notice
    to read before the numbers. ``notes`` are sentences about omissions and undefined values. ``whole`` is false while
    more stages follow.
    """

    tiles: Sequence[Node | None] = ()
    as_of: Node | None = None
    banner: Node | None = None
    figures: Sequence[Figure] = ()
    tables: Sequence[Node | None] = ()
    notes: Sequence[str] = ()
    whole: bool = True
    answer: Node | None = None
    scope: str = ""


def tile(
    title: str,
    value: Any,
    about: str = "",
    *,
    show: Callable[[Any], str] = number,
    rows: str = "scores.csv",
    more: Sequence[str] = (),
    basis: str = "",
    axis: tuple[float, float] = UNIT_AXIS,
    lines: Sequence[float] = (),
) -> Node | None:
    """Return a big number with its interval, as text and as a bar; if it is undefined, a note with the reason.

    Args:
        about: one phrase that a reader needs beside the number.
        rows: the file with the rows behind the number.
        more: further details, shown on hover after those of the estimate.
        basis: the scores behind it, if they differ from the page's.
        axis: the range of the bar, which extends if the interval does.
        lines: thresholds that are marked on the bar.
    """
    if isinstance(value, Estimate) and not value.defined:
        return el(f"p.{UNDEFINED}", undefined_words([(title, value.reason or "")]))
    spread = interval(value, show)
    told = [text for text in (f"95% {spread}" if spread else "", about) if text]
    bare = value.details.get("no_interval", "") if isinstance(value, Estimate) and not spread else ""
    facts_shown = [*facts(value), *left_out(value), f"no interval: {bare}" if bare else "", *more]
    details = " · ".join(text for text in facts_shown if text)
    return el(
        "div.card.tile",
        el("h4", title),
        el("div.big", show(value), **_exactly(value)),
        interval_bar(value, axis, lines),
        el("p.note", " · ".join(told), title=details or None) if told else None,
        el("p.note.rows", rows_link(rows)),
        **({"data_basis": basis} if basis else {}),
    )


def interval_bar(value: Any, axis: tuple[float, float], lines: Sequence[float] = ()) -> Node | None:
    """Return a bar with the interval and the value; the text beside it says the same.

    >>> bar = interval_bar(Estimate(0.5, ci_low=0.25, ci_high=0.75), (0.0, 1.0))
    >>> [part["attributes"]["width"] for part in bar["children"][:2]]
    [0.25, 0.5]
    """
    low, high = value.ci if isinstance(value, Estimate) else (math.nan, math.nan)
    if math.isnan(low) or math.isnan(high):
        return None
    start, end = min(axis[0], low), max(axis[1], high)
    width = max(end - start, 1e-9)
    inside = (float(value) - low) / (high - low) if high > low else 1.0
    marks = [el("i.mark", width=(line - start) / width) for line in lines if start < line < end]
    band = el("i.band", el("i.at", width=inside), width=(high - low) / width)
    return el("div.interval-bar", el("i.gap", width=(low - start) / width), band, *marks, aria_hidden="true")


def answer_view(answer: Answer) -> Node:
    """Return the first part of the page on agreement, with the effect of the draft."""
    note = f"Levels: {answer.source}."
    return verdict_view(answer.sentence, answer.level, answer.draft, note=note, cautions=answer.cautions)


def verdict_view(
    sentence: str, level: str, more: str = "", *, note: str = "", cautions: Sequence[str] = ()
) -> Node:
    """Return the first part of a page: the answer to its question, a second sentence, cautions, and its source."""
    return el(
        "div.answer",
        el("p.verdict", sentence),
        el("p", more) if more else None,
        *(el("p.caution", caution) for caution in cautions),
        el("p.note", note) if note else None,
        data_level=level.replace(" ", "-"),
    )


def _exactly(value: Any) -> dict[str, str]:
    """Return the full number, for hovering and for scripts."""
    return {"title": repr(float(value)), "data_value": repr(float(value))} if isinstance(value, float) else {}


def rows_link(name: str) -> Node:
    """Return a link to one of the task's files; ``with_links`` adds the task."""
    return el("a", "Rows (CSV)", href=name, download="", title=f"Rows behind this number: {name}")


def show_table(shown: Table) -> Node | None:
    """Return a card with a table of the report, with readable column names; None if it has no row."""
    frame = _as_texts(shown.frame)
    if frame.empty:
        return None
    kept, undefined = split_rows([[str(cell) for cell in row] for row in frame.itertuples(index=False)])
    return el(
        "div.card.numbers",
        el("h4", shown.title),
        el("div.scroll", table([str(name) for name in frame.columns], [[*row] for row in kept]))
        if kept
        else None,
        el("p.note", undefined) if undefined else None,
        el("p.note", f"{shown.note} · " if shown.note else "", rows_link("scores.csv")),
    )


def _as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return numbers in the page's format: intervals in the column of their value, and headings as words.

    If columns are named after rows, their names do not change, and each row has a dash in its own column.

    >>> _as_texts(pd.DataFrame({"share": [0.5], "ci_low": [0.4], "ci_high": [0.6], "n_pairs": ["9"]}))
          Share [95%] N pairs
    0  .50 [.40, .60]       9
    >>> _as_texts(pd.DataFrame({"system": ["bart"], "bart": [math.nan], "llm_mean": [0.5], "ac2": [pd.NA]}))
      System bart Model mean AC2
    0   bart    –        .50   –
    """
    words = frame.map(_cell)
    names = list(map(str, frame.iloc[:, 0]))
    for name in set(names) & set(words.columns):
        words.loc[[other == name for other in names], name] = MISSING
    for place, name in enumerate(frame.columns):
        level = re.fullmatch(r"(?:\w+_)?ci(90)?_low", str(name))
        if level is None or not place:
            continue
        high, before = f"{str(name).removesuffix('low')}high", frame.columns[place - 1]
        ends = zip(frame[name], frame[high], strict=True)
        spans = ["" if pd.isna(low) else f" [{shown(low)}, {shown(up)}]" for low, up in ends]
        words[before] = [value + span for value, span in zip(words[before], spans, strict=True)]
        words = words.drop(columns=[name, high]).rename(columns={before: f"{before} [{level[1] or 95}%]"})
    return words.rename(columns=lambda name: name if name in names else _heading(str(name)))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return brief(value)
    return MISSING if value is None or value is pd.NA else str(value)


SPELLED = {
    "ac1": "AC1",
    "ac2": "AC2",
    "llm": "model",
    "holm": "Holm",
    "pearson": "Pearson",
    "spearman": "Spearman",
}
"""The words of headings that are names, and the word for the model."""


def _heading(column: str) -> str:
    words = " ".join(SPELLED.get(word, word) for word in column.split("_"))
    return words[:1].upper() + words[1:]


def crossed(frame: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Return the frame with two of its score columns as texts ``x`` and ``y``, for ``charts.confusion``."""
    return frame.assign(x=[f"{value:g}" for value in frame[x]], y=[f"{value:g}" for value in frame[y]])


def banner(text: str, *, warn: bool = False) -> Node:
    """Return a notice that must be read before the numbers of a section."""
    return el("p.banner.warn" if warn else "p.banner", text)


def message(title: str, *text: Node) -> Node:
    """Return the message of a section without numbers, and how to get some."""
    return el("div.card.empty", el("h3", title), el("p", *text))


def notes_view(notes: Sequence[str]) -> Node | None:
    """Return the omissions, and the reasons for undefined numbers."""
    if not notes:
        return None
    return el(
        "div.card.notes",
        el("h4", "Notes and omissions"),
        el("ul", *(el("li", note) for note in notes)),
    )
