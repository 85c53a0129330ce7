"""The sections of the Agreement tab. For each section, one module turns statistics into tiles, charts and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coeval.domain import Person
from coeval.errors import NotFoundError
from coeval.stats.basis import Basis, Choices, OnBasis, list_choices
from coeval.stats.frames import StudyFrames, count_submissions
from coeval.stats.report.document import list_notes
from coeval.stats.report.pairwise_strengths import list_compared
from coeval.ui.app.agreement import alignment, assistance, changes, rater_agreement, systems
from coeval.ui.app.agreement.figures import (
    NO_PLANTED,
    UNDEFINED,
    Figure,
    Get,
    Page,
    banner,
    message,
    show_table,
)
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, el
from coeval.usecases.access import Context
from coeval.usecases.reports.report_process import HelperEndedError
from coeval.usecases.reports.statistics import Reading, get_reading, list_versions

__all__ = ["SECTIONS", "Figure", "Page", "get_pages"]


WHOLE = Basis()
"""All scores for the newest version of the criteria."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the tab. ``build`` yields its page in stages; each contains the earlier ones."""

    title: str
    build: Callable[[Get], Iterator[Page]]
    basis: str = ""
    """The scores behind the section, if they differ from the selection."""
    whole: bool = False
    """True if it uses the scores of all arms, regardless of the selection."""
    unaided: bool = False
    """True if it opens with the scores that no draft influenced, if there are enough of them."""


SECTIONS = {
    "agreement": Section("Agreement", rater_agreement.build, unaided=True),
    "changes": Section("What people changed", changes.build_changes, NO_PLANTED),
    "model": Section("Model and people", alignment.build, NO_PLANTED),
    "systems": Section("Systems", systems.build, unaided=True),
    "time": Section("Time", changes.build_times),
    "draft": Section("Effect of the draft", assistance.build, whole=True),
}


def get_pages(
    context: Context, person: Person, slug: str, section: str, basis: Basis = WHOLE
) -> Iterator[Page]:
    """Yield a section of a task in stages; the last stage is complete.

    Args:
        basis: the scores to use; a section that compares arms uses those of all arms.

    Raises:
        NotAllowedError: the person is not on the team.
        NotFoundError: there is no such task or section.
    """
    if section not in SECTIONS:
        raise NotFoundError(f"There is no section “{section[:80]}”; there are: {', '.join(SECTIONS)}.")
    reading = get_reading(context, person, slug, version=basis.version)
    versions = list_versions(context, person, slug)
    words = describe_basis(basis, versions, reading.get(list_choices))
    try:
        yield from _build_pages(section, reading, basis, words)
    except HelperEndedError:  # the helper ended before it had computed this section
        newest = get_reading(context, person, slug, newest=True, version=basis.version)
        yield from _build_pages(section, newest, basis, words)


def describe_basis(basis: Basis, versions: Sequence[int], choices: Choices) -> tuple[str, str, str]:
    """Return version, arms and planted errors in words; the last is empty if none were planted.

    >>> describe_basis(Basis(unaided=True), [1, 2], Choices(planted=True))
    ('criteria version 2', 'blind and first scores', 'planted errors counted')
    """
    version = basis.version if basis.version in versions else max(versions, default=0)
    arms = "blind and first scores" if basis.unaided else "all arms"
    version_words = f"criteria version {version}"
    if basis.asked_again:
        version_words += " · scores from asking again counted"
    return version_words, arms, "planted errors counted" if choices.planted else ""


def _name_basis(words: tuple[str, str, str], usual: str) -> str:
    """Return the scores behind a figure; ``usual`` describes them if they differ from the page's."""
    version, arms, planted = words
    if usual == NO_PLANTED:
        parts = [version, arms, usual if planted else ""]
    else:
        parts = [version, usual] if usual else [version, arms, planted]
    return " · ".join(part for part in parts if part)


def _labelled(page: Page, words: tuple[str, str, str], usual: str) -> Page:
    """Return the page with its scope; each tile, chart and table shows its own scope only if it differs."""
    scope = _name_basis(words, page.scope or usual)

    def name(node: Node | None) -> Node | None:
        if node is None or isinstance(node, str):
            return node
        attributes = dict(node["attributes"])
        basis = _name_basis(words, attributes.pop("data-basis", "") or page.scope or usual)
        told = el("p.note.basis.same" if basis == scope else "p.note.basis", basis)
        return node | {"attributes": attributes, "children": [*node["children"], told]}

    return replace(
        page,
        scope=scope,
        tiles=[tile for tile in map(name, page.tiles) if tile is not None],
        tables=[*map(name, page.tables)],
        figures=[
            replace(figure, basis=basis, scoped=basis != scope)
            for figure in page.figures
            for basis in [_name_basis(words, figure.basis or page.scope or usual)]
        ],
    )


def _build_pages(section: str, reading: Reading, basis: Basis, words: tuple[str, str, str]) -> Iterator[Page]:
    every_arm = SECTIONS[section].whole

    def get(
        statistic: Callable[[StudyFrames], Any], tables: Sequence[str] = (), *, whole: bool = False
    ) -> Any:
        all_scores = whole or every_arm or not basis.cuts
        return reading.get(statistic if all_scores else OnBasis(statistic, basis), tuple(tables))

    if not get(count_submissions):
        slug = reading.task.slug
        again = el("a", "Check again", href=f"?task={slug}&tab=agreement")
        begin = el("a", "scrutinise", href=f"?task={slug}&tab=scrutiny")
        compared = get(list_compared, tables=("comparisons",)) if section == "systems" else []
        yield Page(
            banner=message("Nobody has scored anything yet", "Next: ", begin, ". ", again, "."),
            tables=[*map(show_table, compared)],
        )
        return
    for page in SECTIONS[section].build(get):
        since = reading.count_saves_since()
        page, undefined = _split_tiles(page)
        yield replace(
            _labelled(page, words, SECTIONS[section].basis),
            notes=[
                *get(list_notes),
                *undefined,
                *(figure.words for figure in page.figures if figure.data.empty),
            ],
            as_of=_as_of(reading.taken_at, since) if since else None,
        )


def _split_tiles(page: Page) -> tuple[Page, list[str]]:
    """Return the page without tiles of undefined values, and a sentence for each of these."""
    tiles = [tile for tile in page.tiles if isinstance(tile, dict)]
    undefined = [tile for tile in tiles if tile["class"] == UNDEFINED]
    sentences = [str(tile["children"][0]) for tile in undefined]
    return replace(page, tiles=[tile for tile in tiles if tile not in undefined]), sentences


def _as_of(taken_at: str, since: int) -> Node:
    """Return the time of the numbers.

    >>> _as_of("2026-01-31T14:02:10.000Z", 312)["children"][0][:38]
    'As of 14:02 UTC; 312 saves since then.'
    """
    return banner(
        f"As of {taken_at[11:16]} UTC; {plural(since, 'save')} since then. A large report is recomputed "
        "only occasionally: check again later."
    )
