"""Show an owner the progress of a running study, and advise on each submission."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coeval.domain import Arm, Attempt, Participant, Person, Plan, Proof, Standing, StudyState
from coeval.rules.screening import ENOUGH_PLANTED, FEW_CAUGHT, LONG_STREAK, Habits, find_habits
from coeval.safe_csv import rows_to_csv
from coeval.store.queries import crowd_studies, reservations
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.crowd.entry import require_plan
from coeval.usecases.crowd.onboarding import read_submissions
from coeval.usecases.crowd.participant_state import ENDED, Participation, Situation, find_due
from coeval.usecases.reports.task_frames import read_saves

# Advice on a submission to the crowd service, with its reasons; people decide. Pure.

FAST = 0.3
"""Work that takes less than this share of the median time per instance is flagged."""
MANY_KEPT = 10
"""Work that keeps every drafted line is flagged from this number of evaluations on."""
FEWEST = 3
"""The smallest number of people for a median."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The suggested decision on a submission to the crowd service, with its reasons."""

    suggestion: str
    evidence: str
    code: str = ""
    pay: float = 0.0


@dataclass(frozen=True, slots=True)
class Usual:
    """The median minutes per instance, active and by the clock; None with fewer than three people."""

    active: float | None = None
    wall: float | None = None


def find_usual(people: Iterable[Participant]) -> Usual:
    """Return the median active minutes and the median elapsed minutes per instance."""
    done = [participant for participant in people if participant.finished]
    return Usual(
        _median(
            [
                participant.active_minutes / participant.finished
                for participant in done
                if participant.active_minutes
            ]
        ),
        _median(
            [
                participant.wall_minutes / participant.finished
                for participant in done
                if participant.wall_minutes
            ]
        ),
    )


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if len(values) >= FEWEST else None


def find_lone(people: Iterable[Participant]) -> set[int]:
    """Return later submissions of known people, from a study at the service that brought nobody else.

    Anybody who edits an unsigned link can invent a study, to get a second portion of the work.
    """
    people = list(people)
    n_from = Counter(participant.study for participant in people)
    first = {participant.id: participant.arrival for participant in reversed(people)}
    return {
        participant.arrival
        for participant in people
        if participant.arrival != first[participant.id]
        and n_from[participant.study] == 1
        and participant.proof != Proof.TOKEN
    }


def advise(
    plan: Plan,
    participant: Participant,
    part: Participation,
    habits: Habits | None,
    usual: Usual,
    *,
    lone: bool = False,
) -> Advice:
    """Return the suggested decision on a submission, with its reasons. An owner decides.

    ``lone`` is True if ``find_lone`` lists it. Pay covers the time from consent to the end, including the
    exam, whatever is suggested.
    """
    due = find_due(plan, part)
    pay = round(participant.wall_minutes / 60 * plan.terms.hourly_rate, 2)
    evidence = list(_facts(participant, habits))
    if participant.state in ENDED and participant.note and due.suggestion in ("reject", "return"):
        evidence.append(participant.note)
    if due.situation is Situation.SCREENED_OUT:
        evidence = [participant.note]
    if participant.left:
        evidence.append("came again for another study")
    if due.suggestion == "screen out" and due.situation in (Situation.CLOSED, Situation.FULL):
        evidence.append(f"the study was {due.situation}")
    suggestion = due.suggestion
    if suggestion in ("approve", "look"):
        doubts = [*_shortfalls(part, due.situation), *_doubts(plan, participant, habits, usual)]
        if lone:
            doubts.append(f"look: came again from a study that nobody else came from ({participant.study})")
        suggestion = "look" if doubts else suggestion
        evidence += doubts
    return Advice(suggestion, "; ".join(evidence), due.code, pay)


def _shortfalls(part: Participation, situation: Situation) -> Iterator[str]:
    """Return the reasons for paying less than the full reward."""
    if situation in (Situation.WITHDRAWN, Situation.REMOVED):
        yield f"look: withdrew after {part.finished} instances"
    elif not part.is_enough:
        yield f"look: {part.finished} of the {part.needed} instances that the full code is for, {part.saved} saves"


def _facts(participant: Participant, habits: Habits | None) -> Iterator[str]:
    """Return all facts about the work, favourable or not."""
    yield (
        f"{participant.finished} instances finished in {participant.wall_minutes:.1f} minutes from consent to the end, "
        f"{participant.active_minutes:.1f} of them active"
    )
    yield (
        f"{participant.failed} of {participant.checks} attention checks failed"
        if participant.checks
        else "no attention checks"
    )
    if habits is None:
        return
    if habits.caught is not None:
        yield f"{round(habits.caught * habits.n_planted)} of {habits.n_planted} planted errors caught"
    yield f"every line kept in {habits.kept_all:.0%} of {habits.n} evaluations, {habits.longest_streak} in a row"
    if participant.timed_out:
        yield f"{participant.timed_out} timed out"


def _doubts(plan: Plan, participant: Participant, habits: Habits | None, usual: Usual) -> Iterator[str]:
    """Return the points to check before approving."""
    if participant.repeats:
        yield f"look: came by a second session of the same study too ({', '.join(participant.repeats)})"
    if participant.failed >= plan.terms.warn_after:
        yield "look: attention checks failed"
    if habits is not None:
        if habits.caught is not None and habits.n_planted >= ENOUGH_PLANTED and habits.caught < FEW_CAUGHT:
            yield "look: under half of the planted errors were caught"
        if habits.longest_streak >= LONG_STREAK or (habits.kept_all == 1 and habits.n >= MANY_KEPT):
            yield "look: long runs with every line kept"
    each = max(participant.finished, 1)
    for name, minutes, median in (
        ("active", participant.active_minutes, usual.active), ("whole", participant.wall_minutes, usual.wall)
    ):  # fmt: skip
        if median and minutes and minutes / each < FAST * median:
            yield f"look: under {FAST:.0%} of the median {name} time an instance takes"


# An owner's overview of a running study: its people, progress, costs, and payments.

COLUMNS = [
    "person", "study", "session", "proof", "state", "joined_at", "last_save", "minutes", "active_minutes", "finished",
    "held", "timed_out", "checks", "checks_failed", "planted", "planted_caught", "longest_streak", "kept_all", "code",
    "suggestion", "evidence", "pay", "currency",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One submission, with the person's work and the suggested decision."""

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
    """A summary of a study; ``places`` are (finished people, finished or working people, instances)."""

    plan: Plan
    people: tuple[Row, ...]
    places: tuple[tuple[int, int, int], ...]
    arms: dict[Arm, int]

    @property
    def cost(self) -> float:
        return sum(row.advice.pay for row in self.people)


@use_case(OWNERS)
def get_overview(context: Context, person: Person, slug: str) -> Overview:
    """Return a study's people, its progress by instance and arm, its times and its cost."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        reservations.note_finished(db, task.id)
    with context.store.read() as db:
        people = read_submissions(db, plan, task)
        places = tuple(crowd_studies.count_places(db, task.id, planned=plan.state is StudyState.PLANNED))
        arms, _ = reservations.count_all_arms(db, task.id)
        habits = {row.person: row for row in find_habits(read_saves(db, task, by_arrival=True))}
    usual: Usual = find_usual(participant for participant, _ in people)
    lone = find_lone(participant for participant, _ in people)

    def add_advice(participant: Participant, part: Participation) -> Row:
        work, again = habits.get(str(participant.arrival)), participant.arrival in lone
        return Row(participant, work, advise(plan, participant, part, work, usual, lone=again))

    rows = (add_advice(participant, part) for participant, part in people)
    return Overview(plan, tuple(rows), places, arms)


@use_case(OWNERS)
def export_participants(context: Context, person: Person, slug: str, *, with_ids: bool = False) -> str:
    """Return a study's submissions as CSV, with pseudonyms or, on request, with the services' ids."""
    overview = get_overview(context, person, slug)
    rows: list[list[object]] = [[*COLUMNS, "service", "service_id"] if with_ids else [*COLUMNS]]
    for row in overview.people:
        participant, advice = row.participant, row.advice
        cells = [
            participant.name, participant.study, participant.session, participant.proof, participant.state,
            participant.joined_at, participant.last_save, round(participant.wall_minutes, 2),
            round(participant.active_minutes, 2), participant.finished, participant.held, participant.timed_out,
            participant.checks, participant.failed, *_habit_cells(row.habits), advice.code, advice.suggestion,
            advice.evidence, advice.pay, overview.plan.terms.currency,
        ]  # fmt: skip
        rows.append([*cells, participant.kind, participant.service_id] if with_ids else cells)
    return rows_to_csv(rows)


def _habit_cells(habits: Habits | None) -> list[object]:
    """Return planted errors shown and caught, the longest streak of unchanged evaluations, and their share."""
    if habits is None:
        return [0, "", "", ""]
    caught = "" if habits.caught is None else round(habits.caught * habits.n_planted)
    return [habits.n_planted, caught, habits.longest_streak, round(habits.kept_all, 3)]


@use_case(OWNERS)
def list_reviews(context: Context, person: Person, slug: str) -> list[tuple[Participant, Attempt | None]]:
    """Return the exams that wait for an owner, oldest first, with the person's answers."""
    with context.store.read() as db:
        task, _ = require_plan(db, slug)
        waiting = [
            participant
            for participant in crowd_studies.list_participants(db, task.id)
            if participant.state is Standing.REVIEW and not participant.left
        ]
        attempts = [crowd_studies.list_attempts(db, task.id, participant.id) for participant in waiting]
    return [
        (participant, tried[-1] if tried else None)
        for participant, tried in zip(waiting, attempts, strict=True)
    ]
