"""The pieces of a section: tiles with big numbers, charts with their data, tables, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from coeval.stats.estimates.results import Estimate
from coeval.ui.components.estimate_words import facts, left_out, number
from coeval.ui.components.view import Node, el, table
from coeval.ui.study_app.agreement.undefined import split_rows

Get = Callable[..., Any]
"""A statistic of the task at hand: ``get(function)``, or with the tables it looks at besides, as
``get(function, tables=("actions",))``; see study.computing.readings."""


NO_PLANTED = "planted errors left out"
"""What is said of a figure that never counts scores given to a draft with a planted error."""

EVERY_ARM = "all arms, planted errors counted"
"""What is said of a figure that compares the arms, and the drafts with and without a planted error."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart, and the numbers it shows.

    ``name`` is the file's name without ``.csv``; ``data`` what that file holds; ``draw`` makes the chart;
    ``words`` says the same to whoever does not see it; ``rows`` is the file with the rows under the numbers;
    ``width`` is narrow (two fifths), wide (three) or full.
    """

    name: str
    title: str
    data: pd.DataFrame
    draw: Callable[[], Any]
    words: str
    rows: str = "scores.csv"
    width: str = "full"
    note: str = ""
    nothing: bool = False
    basis: str = ""
    """Which scores it rests on, where these are others than the page's."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw: the words then stand in the chart's place."""
        return self.nothing or self.data.empty


@dataclass(frozen=True, eq=False)
class Page:
    """A section as shown. ``notes`` are sentences on what was left out, or is undefined, and why.

    ``as_of`` tells of which time the numbers are, where something was saved since; ``banner`` is what to know before
    they are read. ``whole`` is false while there is more to come.
    """

    tiles: Sequence[Node] = ()
    as_of: Node | None = None
    banner: Node | None = None
    figures: Sequence[Figure] = ()
    tables: Sequence[Node | None] = ()
    notes: Sequence[str] = ()
    whole: bool = True


def tile(
    title: str,
    value: Any,
    *about: str,
    show: Callable[[Any], str] = number,
    rows: str = "scores.csv",
    more: Sequence[str] = (),
    basis: str = "",
) -> Node:
    """A big number with everything beside it that a reader needs: n, level, interval, what was left out.

    Args:
        about: what to say besides what the estimate says of itself.
        rows: the file with the rows under the number.
        more: what else was left out.
        basis: which scores it rests on, where these are others than the page's.
    """
    undefined = isinstance(value, Estimate) and not value.defined
    head = (
        el("div.big.undefined", "undefined") if undefined else el("div.big", show(value), **_exactly(value))
    )
    said = [text for text in (*facts(value), *about) if text]
    if undefined:
        said = [value.reason or "there is nothing to compute it from", *said]
    omitted = [*left_out(value), *more]
    return el(
        "div.card.tile",
        el("h4", title),
        head,
        el("p.note", " · ".join(said)) if said else None,
        el("p.note.omitted", " · ".join(omitted)) if omitted else None,
        el("p.note.rows", rows_link(rows)),
        **({"data_basis": basis} if basis else {}),
    )


def _exactly(value: Any) -> dict[str, str]:
    """The number in full: on hover, and for whoever reads the page with a script."""
    return {"title": repr(float(value)), "data_value": repr(float(value))} if isinstance(value, float) else {}


def rows_link(name: str, text: str = "Rows") -> Node:
    """A link to one of the task's files; the page fills in which task (see ``with_links``)."""
    return el("a", text, href=name, download="", title=f"The rows under this number: {name}")


def data_table(
    title: str, frame: pd.DataFrame, note: str = "", *, rows: str = "scores.csv", half: bool = False
) -> Node | None:
    """A card with a table of texts; its columns are named as they are to be read. None where it has no row.

    Args:
        half: it takes half the width, beside another.
    """
    if frame.empty:
        return None
    kept, undefined = split_rows([[str(cell) for cell in row] for row in frame.itertuples(index=False)])
    body = [[*row] for row in kept]
    return el(
        "div.card.numbers.half" if half else "div.card.numbers",
        el("h4", title),
        el("div.scroll", table([str(name) for name in frame.columns], body)) if body else None,
        el("p.note", undefined) if undefined else None,
        el("p.note", f"{note} · " if note else "", rows_link(rows)),
    )


def crossed(frame: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """The frame with two of its columns of scores as texts ``x`` and ``y``, as ``charts.confusion`` takes them."""
    return frame.assign(x=[f"{value:g}" for value in frame[x]], y=[f"{value:g}" for value in frame[y]])


def banner(text: str, *, warn: bool = False) -> Node:
    """What must be known before the numbers of a section are read."""
    return el("p.banner.warn" if warn else "p.banner", text)


def message(title: str, *text: Node) -> Node:
    """What a section shows instead of numbers where there are none, and how to get some."""
    return el("div.card.empty", el("h3", title), el("p", *text))


def notes_view(notes: Sequence[str]) -> Node | None:
    """What was left out, and why a number is undefined: folded away, but there."""
    if not notes:
        return None
    return el(
        "details.card.notes",
        el("summary", f"What was left out, and what is undefined ({len(notes)})"),
        el("ul", *(el("li", note) for note in notes)),
    )
