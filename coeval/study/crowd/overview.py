"""What an owner sees of a running study: its people, how far it is, what it costs, and whom to approve."""

from __future__ import annotations

import csv
import io
import statistics
from dataclasses import dataclass, replace

from coeval.domain import Attempt, Participant, Person, Plan, Standing
from coeval.safe_csv import safe
from coeval.store.queries.crowd import answer_keys, reservations
from coeval.store.queries.people import participants
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.crowd.onboarding import require_plan

FAST = 0.3
"""Below this share of the median time an instance takes, somebody's work is to be looked at."""

COLUMNS = [
    "person", "study", "session", "state", "joined_at", "last_save", "active_minutes", "finished", "held",
    "timed_out", "checks", "checks_failed", "code", "suggestion", "evidence", "pay", "currency",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about somebody's submission at the crowd service, and on what grounds."""

    suggestion: str
    evidence: str
    code: str = ""
    pay: float = 0.0


@dataclass(frozen=True, slots=True)
class Overview:
    """A study at a glance; ``places`` are (finished people, finished or at work, instances)."""

    plan: Plan
    people: tuple[tuple[Participant, Advice], ...]
    places: tuple[tuple[int, int, int], ...]
    arms: dict[str, int]

    @property
    def cost(self) -> float:
        return sum(advice.pay for _, advice in self.people)


@use_case(OWNERS)
def get_overview(context: Context, person: Person, slug: str) -> Overview:
    """See a study's people, its progress by instance and arm, its times and its cost."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        reservations.note_finished(db, task.id)
    with context.store.read() as db:
        people = participants.list_participants(db, task.id)
        places = tuple(participants.count_places(db, task.id))
        arms = participants.count_opened_arms(db, task.id)
    typical = _typical_minutes(people)
    return Overview(plan, tuple((one, advise(plan, one, typical)) for one in people), places, arms)


def _typical_minutes(people: list[Participant]) -> float | None:
    """The median over people of the active minutes an instance took them; None with fewer than three."""
    each = [one.active_minutes / one.finished for one in people if one.finished and one.active_minutes]
    return statistics.median(each) if len(each) >= 3 else None


def advise(plan: Plan, one: Participant, typical: float | None) -> Advice:
    """What speaks for and against somebody's submission. A suggestion: an owner decides."""
    terms = plan.terms
    checks = f"{one.failed} of {one.checks} attention checks failed" if one.checks else "no attention checks"
    evidence = f"{one.finished} instances finished in {one.active_minutes:.1f} active minutes; {checks}"
    pay = round(one.active_minutes / 60 * terms.hourly_rate, 2)
    base = Advice("wait", evidence, "", pay)
    if one.state in (Standing.REJECTED, Standing.BLOCKED):
        return replace(base, suggestion="reject", evidence=f"{evidence}; {one.note}")
    if one.state is Standing.SCREENED_OUT:
        return replace(base, suggestion="screen out", evidence=one.note, code=terms.code_screened)
    if one.state is Standing.FINISHED:
        quick = bool(typical and one.active_minutes / max(one.finished, 1) < FAST * typical)
        note = f"; under {FAST:.0%} of the median time an instance takes" if quick else ""
        return Advice("look" if quick else "approve", evidence + note, terms.code_done, pay)
    if one.timed_out and not one.held:
        return replace(base, suggestion="return", evidence=f"{evidence}; {one.timed_out} timed out")
    return base


@use_case(OWNERS)
def export_participants(context: Context, person: Person, slug: str, *, with_ids: bool = False) -> str:
    """Take a study's submissions out as CSV, under pseudonyms unless the services' ids are asked for."""
    overview = get_overview(context, person, slug)
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow([*COLUMNS, "service", "service_id"] if with_ids else COLUMNS)
    for one, advice in overview.people:
        row = [
            one.name, one.study, one.session, one.state, one.joined_at, one.last_save,
            round(one.active_minutes, 2), one.finished, one.held, one.timed_out, one.checks, one.failed,
            advice.code, advice.suggestion, advice.evidence, advice.pay, overview.plan.terms.currency,
        ]  # fmt: skip
        writer.writerow([safe(value) for value in ([*row, one.kind, one.service_id] if with_ids else row)])
    return target.getvalue()


@use_case(OWNERS)
def list_reviews(context: Context, person: Person, slug: str) -> list[tuple[Participant, Attempt | None]]:
    """Read the exams that wait for an owner, oldest first, each with its items as they were answered."""
    with context.store.read() as db:
        task, _ = require_plan(db, slug)
        waiting = [one for one in participants.list_participants(db, task.id) if one.state is Standing.REVIEW]
        attempts = [answer_keys.list_attempts(db, task.id, one.id) for one in waiting]
    return [(one, tried[-1] if tried else None) for one, tried in zip(waiting, attempts, strict=True)]
