"""What an owner sees of a running study: its people, how far it is, what it costs, and whom to approve."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from coeval.domain import Attempt, Participant, Person, Plan, Standing
from coeval.rules.habits import Habits, find_habits
from coeval.safe_csv import safe
from coeval.store.queries.crowd import answer_keys, reservations
from coeval.store.queries.people import participants
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.computing.draft_saves import read_saves
from coeval.study.crowd.advice import Advice, Usual, advise, find_usual
from coeval.study.crowd.arriving import require_plan

COLUMNS = [
    "person", "study", "session", "proof", "state", "joined_at", "last_save", "minutes", "active_minutes", "finished",
    "held", "timed_out", "checks", "checks_failed", "planted", "planted_caught", "longest_streak", "kept_all", "code",
    "suggestion", "evidence", "pay", "currency",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One submission with how its person works and what to do about it."""

    participant: Participant
    habits: Habits | None
    advice: Advice

    @property
    def name(self) -> str:
        return self.participant.name

    @property
    def state(self) -> Standing:
        return self.participant.state


@dataclass(frozen=True, slots=True)
class Overview:
    """A study at a glance; ``places`` are (finished people, finished or at work, instances)."""

    plan: Plan
    people: tuple[Row, ...]
    places: tuple[tuple[int, int, int], ...]
    arms: dict[str, int]

    @property
    def cost(self) -> float:
        return sum(row.advice.pay for row in self.people)


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
        habits = {one.person: one for one in find_habits(read_saves(db, task))}
    usual: Usual = find_usual(people)
    free = any(taken < plan.per_instance for _, taken, _ in places)
    rows = (
        Row(one, habits.get(one.name), advise(plan, one, habits.get(one.name), usual, free=free))
        for one in people
    )
    return Overview(plan, tuple(rows), places, arms)


@use_case(OWNERS)
def export_participants(context: Context, person: Person, slug: str, *, with_ids: bool = False) -> str:
    """Take a study's submissions out as CSV, under pseudonyms unless the services' ids are asked for."""
    overview = get_overview(context, person, slug)
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow([*COLUMNS, "service", "service_id"] if with_ids else COLUMNS)
    for row in overview.people:
        participant, advice = row.participant, row.advice
        cells = [
            participant.name, participant.study, participant.session, participant.proof, participant.state,
            participant.joined_at, participant.last_save, round(participant.wall_minutes, 2),
            round(participant.active_minutes, 2), participant.finished, participant.held, participant.timed_out,
            participant.checks, participant.failed, *_habit_cells(row.habits), advice.code, advice.suggestion,
            advice.evidence, advice.pay, overview.plan.terms.currency,
        ]  # fmt: skip
        writer.writerow(
            [
                safe(value)
                for value in ([*cells, participant.kind, participant.service_id] if with_ids else cells)
            ]
        )
    return target.getvalue()


def _habit_cells(habits: Habits | None) -> list[object]:
    """Planted errors met and caught, the longest streak of evaluations kept whole, and the share kept whole."""
    if habits is None:
        return [0, "", "", ""]
    caught = "" if habits.caught is None else round(habits.caught * habits.n_planted)
    return [habits.n_planted, caught, habits.longest_streak, round(habits.kept_all, 3)]


@use_case(OWNERS)
def list_reviews(context: Context, person: Person, slug: str) -> list[tuple[Participant, Attempt | None]]:
    """Read the exams that wait for an owner, oldest first, each with its items as they were answered."""
    with context.store.read() as db:
        task, _ = require_plan(db, slug)
        waiting = [
            participant
            for participant in participants.list_participants(db, task.id)
            if participant.state is Standing.REVIEW
        ]
        attempts = [answer_keys.list_attempts(db, task.id, participant.id) for participant in waiting]
    return [
        (participant, tried[-1] if tried else None)
        for participant, tried in zip(waiting, attempts, strict=True)
    ]
