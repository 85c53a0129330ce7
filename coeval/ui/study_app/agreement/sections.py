"""What the Agreement tab shows: a module a section, each from statistics to tiles, charts and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pandas as pd

from coeval.domain import Person
from coeval.errors import NotFoundError
from coeval.stats.frames import StudyFrames
from coeval.stats.report.judges.pairwise import pairwise_section, pairwise_tables
from coeval.stats.report.notes import study_notes
from coeval.stats.report.registry import list_tables
from coeval.stats.report.tables import Table
from coeval.study.access import Context
from coeval.study.computing.helper import HelperEndedError
from coeval.study.computing.readings import Reading
from coeval.study.statistics import get_reading
from coeval.ui.components.estimate_words import plural, shown
from coeval.ui.components.view import Node
from coeval.ui.study_app.agreement import agreement, alignment, assistance, changes, systems, times
from coeval.ui.study_app.agreement.figures import Figure, Get, Page, banner, data_table, message

__all__ = ["SECTIONS", "Figure", "Page", "get_figure", "get_pages"]


@dataclass(frozen=True, slots=True)
class Section:
    """One of the tab's sections. ``build`` gives its page in stages, each with everything there is so far."""

    title: str
    build: Callable[[Get], Iterator[Page]]


SECTIONS = {
    "agreement": Section("Agreement", agreement.build),
    "changes": Section("What people changed", changes.build),
    "model": Section("Model and people", alignment.build),
    "systems": Section("Systems", systems.build),
    "time": Section("Time", times.build),
    "draft": Section("Effect of the draft", assistance.build),
}


def get_pages(context: Context, person: Person, slug: str, section: str) -> Iterator[Page]:
    """A section of a task in stages, the last one whole.

    Raises:
        NotAllowedError: the person is not of the team.
        NotFoundError: there is no such task or section.
    """
    if section not in SECTIONS:
        raise NotFoundError(f"There is no section “{section[:80]}”; there are: {', '.join(SECTIONS)}.")
    reading = get_reading(context, person, slug)
    try:
        yield from _build_pages(section, reading)
    except HelperEndedError:  # what this section needs was not computed while that state was at hand
        yield from _build_pages(section, get_reading(context, person, slug, newest=True))


def _build_pages(section: str, reading: Reading) -> Iterator[Page]:
    get = reading.get
    if not get(count_submissions):
        text = "As soon as the first submission is saved, it counts here."
        compared = get(list_compared, tables=("comparisons",)) if section == "systems" else []
        tables: list[Node | None] = [_show_table(table) for table in compared]
        yield Page(banner=message("Nobody has scored anything yet", text), tables=tables)
        return
    for page in SECTIONS[section].build(get):
        further = _further_tables(get, section) if page.whole else []
        since = reading.count_saves_since()
        yield replace(
            page,
            tables=[*page.tables, *further],
            notes=[*get(list_notes), *page.notes],
            as_of=_as_of(reading.taken_at, since) if since else None,
        )


def _as_of(taken_at: str, since: int) -> Node:
    """Of which time the numbers are.

    >>> _as_of("2026-01-31T14:02:10.000Z", 312)["children"]
    ['As of 14:02 UTC, 312 saves since. So large a report is computed anew every now and then: look again later.']
    """
    return banner(
        f"As of {taken_at[11:16]} UTC, {plural(since, 'save')} since. So large a report is computed anew every now and "
        "then: look again later."
    )


def _further_tables(get: Get, section: str) -> list[Node | None]:
    """The tables of the report's sections that have no page of their own (see ``stats.report.registry``)."""
    return [_show_table(table) for tab, table in get(list_tables, tables=("comparisons",)) if tab == section]


def _show_table(table: Table) -> Node | None:
    return data_table(table.title, _as_texts(table.frame), table.note)


def list_compared(study: StudyFrames) -> list[Table]:
    """The comparisons of outputs, which need nobody's scores."""
    return pairwise_tables(pairwise_section(study))


def _as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers as the page writes them, headings as words."""
    words = frame.map(lambda value: shown(value).split(":")[0] if isinstance(value, float) else str(value))
    return words.rename(columns=lambda name: str(name).replace("_", " ").capitalize())


def get_figure(context: Context, person: Person, slug: str, section: str, name: str) -> Figure:
    """A chart of a section, by name.

    Raises:
        NotAllowedError: the person is not of the team.
        NotFoundError: there is no such task, section or chart.
    """
    page = Page()
    for page in get_pages(context, person, slug, section):
        figure_named = next((figure for figure in page.figures if figure.name == name), None)
        if figure_named is not None:
            return figure_named
    known = ", ".join(figure.name for figure in page.figures) or "none yet"
    raise NotFoundError(f"There is no chart “{name[:80]}”; this section has: {known}.")


def count_submissions(study: StudyFrames) -> int:
    return len(study.scores)


def list_notes(study: StudyFrames) -> list[str]:
    """What was left out of every section."""
    return list(study_notes(study))
