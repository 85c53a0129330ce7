"""The last headline figures that were shown, and one-time news about method changes in a new version."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coeval.domain import Person, Task
from coeval.errors import StorageError
from coeval.rules.method_changes import CHANGES, METHODS, MethodChange
from coeval.stats.basis import UNAIDED, Basis, OnBasis
from coeval.stats.estimates import plain
from coeval.stats.report.agreement import ALL_SCORES, agreement_section
from coeval.stats.report.alignment import alignment_section
from coeval.stats.report.systems import systems_section
from coeval.store import Storage
from coeval.store.engines import met_changes
from coeval.usecases.access import TEAM, Context, require_task, use_case

log = logging.getLogger(__name__)

ALPHA, WINNING_RATE, SYSTEM_MEAN = "alpha", "winning_rate", "system_mean"

SECTIONS: Mapping[Callable[..., Any], str] = {
    agreement_section: "agreement",
    alignment_section: "alignment",
    systems_section: "systems",
    OnBasis(agreement_section, Basis(arm=UNAIDED)): "agreement",
}
"""Statistics with a headline figure, when requested for all scores."""


def keep_shown(store: Storage, task: Task, statistic: Callable[..., Any], result: Any) -> None:
    """Store the headline figures of a result, unless the database accepts no writes."""
    if store.read_only:
        return
    if statistic in SECTIONS:
        document = plain({SECTIONS[statistic]: result})
    elif isinstance(result, dict) and "agreement" in result and not isinstance(statistic, OnBasis):
        document = result
    else:
        return
    try:
        with store.read() as db:
            known = [row for row in met_changes.list_figures(db, task.id) if row["methods"] == METHODS]
        before = [{name: row[name] for name in met_changes.KEPT_FIGURES} for row in known]
        figures = list_figures(document, unaided=isinstance(statistic, OnBasis))
        changed = [figure for figure in figures if figure not in before]
        if changed:
            with store.write() as db:
                met_changes.keep_figures(db, task.id, changed)
    except StorageError as error:
        log.warning("The figures of “%s” were not kept for the next upgrade: %s", task.slug, error)


def list_figures(document: Mapping[str, Any], *, unaided: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the headline figures in the report's document, or in its available sections.

    Args:
        unaided: the document is based only on scores without the draft, although it calls them all scores.
    """
    if section := document.get("agreement"):
        mean, scores = section["headline"], section["headline"]["drafts_in_view"]["of"]
        basis = "scores without the draft" if unaided or mean["scores"] != ALL_SCORES else ALL_SCORES
        yield _figure(ALPHA, basis, mean["value"], mean.get("ci_low"), mean.get("ci_high"), scores)
    runs = document.get("alignment", {}).get("runs", [])
    run = next((run for run in runs if run["shown"]), runs[0] if runs else None)
    for part in run["per_criterion"] if run else []:
        rate = part["alt_test"]["winning_rate"]
        yield _figure(WINNING_RATE, part["criterion"], rate, None, None, document["alignment"]["n_labels"])
    for row in document.get("systems", []):
        yield _figure(
            SYSTEM_MEAN, row["system"], row["human_mean"], row.get("ci_low"), row.get("ci_high"), row["n"]
        )


def _figure(
    kind: str, part: str, value: float | None, low: float | None, high: float | None, scores: int
) -> dict[str, Any]:
    return dict(zip(met_changes.KEPT_FIGURES, (kind, part, value, low, high, scores), strict=True))


# News about the numbers of a study that was used with an earlier version of CoEval. Each person sees it once.


@dataclass(frozen=True, slots=True)
class FigureShown:
    """A headline figure; ``value`` and the interval are None if undefined."""

    value: float | None
    low: float | None
    high: float | None
    scores: int


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure before the upgrade and now; None until this version has computed it."""

    kind: str
    part: str
    before: FigureShown
    now: FigureShown | None

    @property
    def was_defined(self) -> bool:
        return self.before.value is not None


@dataclass(frozen=True, slots=True)
class MethodNews:
    """The changes of methods, the figures with a known earlier value, and the database copy with the others."""

    changes: tuple[MethodChange, ...]
    figures: tuple[FigureChange, ...]
    met_at: str
    earlier_copy: str


@use_case(TEAM)
def get_method_news(context: Context, person: Person, slug: str) -> MethodNews | None:
    """Return the methods that changed since a task's numbers were last shown; None once marked read."""
    with context.store.read() as db:
        task = require_task(db, slug)
        unread = {row["id"]: row for row in met_changes.list_unread(db, task.id, person.id)}
        changes = tuple(change for change in CHANGES if change.id in unread)
        if not changes:
            return None
        rows = met_changes.list_figures(db, task.id)
    newest: dict[tuple[str, str], FigureShown] = {}
    before: dict[tuple[str, str], FigureShown] = {}
    for row in rows:
        figure = FigureShown(row["value"], row["low"], row["high"], row["scores"])
        known = newest if row["methods"] == METHODS else before
        known.setdefault((row["kind"], row["part"]), figure)
    latest = unread[changes[-1].id]
    figures = [FigureChange(*name, figure, newest.get(name)) for name, figure in sorted(before.items())]
    return MethodNews(
        changes,
        tuple(one for one in figures if one.was_defined or (one.now and one.now.value is not None)),
        latest["met_at"],
        latest["earlier_copy"],
    )


@use_case(TEAM)
def mark_method_news_read(context: Context, person: Person, slug: str) -> None:
    """Mark the news about changed methods as read; this person does not see it again."""
    with context.store.write() as db:
        task = require_task(db, slug)
        unread = [row["id"] for row in met_changes.list_unread(db, task.id, person.id)]
        met_changes.record_read(db, person.id, unread)
