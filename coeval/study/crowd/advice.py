"""What to do about a submission at the crowd service, with the grounds: it advises, people decide. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coeval.domain import Participant, Plan
from coeval.rules.habits import ENOUGH_PLANTED, FEW_CAUGHT, LONG_STREAK, Habits
from coeval.study.crowd.situations import ENDED, Part, Situation, find_code, find_situation

FAST = 0.3
"""Below this share of the median time an instance takes, somebody's work is to be looked at."""
MANY_KEPT = 10
"""Evaluations from which on keeping every line of every one is to be looked at."""
FEWEST = 3
"""People from whom on a median is taken."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about somebody's submission at the crowd service, and on what grounds."""

    suggestion: str
    evidence: str
    code: str = ""
    pay: float = 0.0


@dataclass(frozen=True, slots=True)
class Usual:
    """The median minutes that an instance takes people, active and by the clock; None with fewer than three."""

    active: float | None = None
    wall: float | None = None


def find_usual(people: Iterable[Participant]) -> Usual:
    """What an instance takes people usually."""
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


def advise(
    plan: Plan, participant: Participant, habits: Habits | None, usual: Usual, *, free: bool = True
) -> Advice:
    """What speaks for and against somebody's submission. A suggestion: an owner decides.

    Pay is for the time from consent to the end, the exam included, whatever is suggested.
    """
    part = Part(
        participant.state,
        participant.finished,
        participant.held,
        participant.timed_out if not participant.held else 0,
        participant.saves,
        free,
    )
    situation = find_situation(plan, part)
    pay = round(participant.wall_minutes / 60 * plan.terms.hourly_rate, 2)
    evidence = list(_facts(participant, habits))
    code = (
        "" if participant.left and participant.state not in ENDED else find_code(plan.terms, situation, part)
    )
    if situation in (Situation.REJECTED, Situation.BLOCKED):
        return Advice("reject", "; ".join([*evidence, participant.note]), code, pay)
    if situation is Situation.SCREENED_OUT:
        return Advice("screen out", participant.note, code, pay)
    if participant.left and not participant.finished:
        return Advice("return", "; ".join([*evidence, "came again by another session"]), "", pay)
    if situation is Situation.FINISHED or (
        situation in (Situation.CLOSED, Situation.FULL) and participant.saves
    ):
        doubts = list(_doubts(plan, participant, habits, usual))
        return Advice("look" if doubts else "approve", "; ".join([*evidence, *doubts]), code, pay)
    if situation in (Situation.CLOSED, Situation.FULL):
        return Advice("screen out", "; ".join([*evidence, f"the study was {situation}"]), code, pay)
    if situation is Situation.TIMED_OUT:
        return Advice("return", "; ".join(evidence), "", pay)
    return Advice("wait", "; ".join(evidence), "", pay)


def _facts(participant: Participant, habits: Habits | None) -> Iterator[str]:
    """What there is to know of the work, whatever it speaks for."""
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
    """What to look at before approving."""
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
