"""Screening of work: annotators' working time and attention to drafts, and how a judge's scores were obtained.

A fast person who keeps everything may be careless, or the drafts may be good. The figures cannot decide, so
they lead to questions. Only planted errors that a person left in place are a clear sign. A judge whose scores hardly
differ, or whose answers are in no form, needs an owner's look before its scores are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from coeval.clock import read_time
from coeval.domain import Rung

PAUSE_MINUTES = 15.0
"""A pause longer than this counts as this number of minutes: the person is reading, or has left."""

Event = tuple[str, bool]
"""A time, and whether the person had to wait after it."""


def count_minutes(events: Iterable[Event]) -> float:
    """Return the minutes from the first event to the last, without waiting; a long pause counts as a short one.

    >>> at = "2026-01-31T09:{}:00.000Z".format
    >>> count_minutes([(at("00"), False), (at("10"), False), (at("55"), False)])  # 10 + 15
    25.0
    >>> count_minutes([(at("00"), True), (at("55"), False), (at("58"), False)])
    3.0
    """
    ordered = sorted((read_time(at), waits) for at, waits in events)
    gaps = (
        (later - earlier).total_seconds() / 60
        for (earlier, waits), (later, _) in pairwise(ordered)
        if not waits
    )
    return sum(min(gap, PAUSE_MINUTES) for gap in gaps)


# Signs of whether people still read the drafts: figures on each person's work, and the questions that they
# raise.

LONG_STREAK = 20
"""The number of consecutive evaluations with every line kept that raises the question."""
QUICK = 1 / 3
"""The share of the median time below which the question is raised."""
FEW_CAUGHT, ENOUGH_PLANTED = 0.5, 4
MOSTLY_BULK, ENOUGH = 0.5, 20


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Saves:
    """Current evaluations in the order of saving. Each array has one value per evaluation."""

    names: Mapping[int, str]
    """The names by the numbers in ``person``."""
    person: npt.NDArray[np.int64]
    """The number of the person, or of the person's submission to a crowd service."""
    kept_all: Flags
    bulk: Flags
    seconds: npt.NDArray[np.float64]
    """Active time in seconds; nan if it was not measured."""
    planted: Flags
    caught: Flags
    """False if no error was planted."""


@dataclass(frozen=True, slots=True)
class Habits:
    """One person's figures. Shares are fractions of 1, and None if there is nothing to count."""

    person: str
    n: int
    n_timed: int
    median_seconds: float | None
    kept_all: float
    longest_streak: int
    bulk: float
    n_planted: int
    caught: float | None
    questions: tuple[str, ...] = ()


def find_habits(saves: Saves) -> list[Habits]:
    """Return everybody's figures with the questions that they raise, in the order of the names."""
    usual = _median(saves.seconds)
    # stable: keeps each person's saves in the order of saving
    order = np.argsort(saves.person, kind="stable")
    people, first = np.unique(saves.person[order], return_index=True)
    rows = zip(people.tolist(), np.split(order, first[1:]), strict=False)
    return sorted(
        (_read_habits(saves.names[person], saves, saved, usual) for person, saved in rows),
        key=lambda habits: habits.person,
    )


def _read_habits(person: str, saves: Saves, saved: npt.NDArray[np.int64], usual: float | None) -> Habits:
    """Return the figures of a person; ``saved`` are the rows of their saves."""
    kept, seconds, planted = saves.kept_all[saved], saves.seconds[saved], int(saves.planted[saved].sum())
    plain = Habits(
        person=person,
        n=len(saved),
        n_timed=int((~np.isnan(seconds)).sum()),
        median_seconds=_median(seconds),
        kept_all=float(kept.mean()),
        longest_streak=longest_streak(kept),
        bulk=float(saves.bulk[saved].mean()),
        n_planted=planted,
        caught=int(saves.caught[saved].sum()) / planted if planted else None,
    )
    return replace(plain, questions=tuple(_ask(plain, usual)))


def longest_streak(kept: Flags) -> int:
    """Return the length of the longest run of true values.

    >>> longest_streak(np.array([True, False, True, True, False]))
    2
    """
    ends = np.flatnonzero(np.concatenate([[True], ~kept, [True]]))
    return int(np.diff(ends).max()) - 1


def _median(seconds: npt.NDArray[np.float64]) -> float | None:
    measured = seconds[~np.isnan(seconds)]
    return float(np.median(measured)) if len(measured) else None


def _ask(habits: Habits, usual: float | None) -> Iterator[str]:
    if habits.longest_streak >= LONG_STREAK:
        yield (
            f"{habits.person} kept every line of {habits.longest_streak} evaluations in a row. Were all of "
            "these drafts correct?"
        )
    if (
        habits.median_seconds is not None
        and usual
        and habits.n_timed >= ENOUGH
        and habits.median_seconds < QUICK * usual
    ):
        yield (
            f"{habits.person} takes {habits.median_seconds:.0f} s for a criterion; everybody's median is "
            f"{usual:.0f} s. Is that enough time to read the texts?"
        )
    if habits.bulk > MOSTLY_BULK and habits.n >= ENOUGH:
        yield (
            f"{habits.person} approved the rest at once in {habits.bulk:.0%} of {habits.n} evaluations. Were the lines "
            "read one by one before?"
        )
    if habits.caught is not None and habits.n_planted >= ENOUGH_PLANTED and habits.caught < FEW_CAUGHT:
        yield (
            f"{habits.person} noticed {habits.caught:.0%} of {habits.n_planted} drafts that were wrong on purpose. Is "
            "the task clear, and is there enough time for it?"
        )


# How a run's scores were obtained, and whether they differ.

FEW_SCORES = 8
"""Number of scores below which nothing is said about how much they differ."""

ALIKE = 0.9
"""Share of the most frequent score of each criterion from which a run's scores hardly differ."""

NEAR = 0.05
"""Largest distance from the median of a criterion's scores at which a score counts as the same."""

OFTEN = 0.1
"""Share of answers in no form from which a remedy is named."""


def tell_forms(rungs: Mapping[str, int], unscored: int) -> Iterator[str]:
    """Yield the share of answers in no form before and after asking again, and the number of scores by each rung.

    >>> list(tell_forms({"schema": 88, "asked again": 9}, 3))[0]
    '12% in no form; 3% after asking again; answers by schema: on.'
    """
    counts = {rung: rungs[rung] for rung in Rung if rungs.get(rung)}
    total = sum(counts.values()) + unscored
    if not total or not (counts or unscored):
        return
    first = counts.get(Rung.AGAIN, 0) + unscored
    schema = Rung.SCHEMA in counts or Rung.DECISION in counts
    said = f"{first / total:.0%} in no form; {unscored / total:.0%} after asking again"
    yield f"{said}; answers by schema: {'on' if schema else 'off'}."
    if len(counts) > 1:
        listed = ", ".join(f"{n:,} by {rung}" for rung, n in counts.items())
        yield f"The scores were obtained in different ways: {listed}."
    if first / total >= OFTEN and not schema:
        yield (
            "A form helps: use the protocol coeval or pairwise on an endpoint that answers by a JSON schema, or the "
            "protocol decision."
        )


def tell_sameness(scores: Mapping[tuple[int, float], int]) -> Iterator[str]:
    """Yield a warning if a run's scores hardly differ; ``scores`` counts each score by each criterion.

    Expected scores are never equal, so a score counts as alike within ``NEAR`` of its criterion's median.

    >>> list(tell_sameness({(1, 5.0): 17, (1, 4.0): 1}))
    ['17 of 18 scores are 5: this model does not distinguish.']
    >>> list(tell_sameness({(1, 2.04 + n / 600): 1 for n in range(18)}))
    ['18 of 18 scores are about 2.06: this model does not distinguish.']
    """
    medians: list[float] = []
    most, same = 0, True
    for criterion in {criterion for criterion, _ in scores}:
        counts = sorted((score, n) for (by, score), n in scores.items() if by == criterion)
        values = [score for score, n in counts for _ in range(n)]
        median = values[len(values) // 2]
        near = [score for score in values if abs(score - median) <= NEAR]
        medians.append(median)
        most, same = most + len(near), same and len(set(near)) == 1
    total = sum(scores.values())
    if total < FEW_SCORES or most < ALIKE * total:
        return
    if len({f"{median:.2f}" for median in medians}) > 1:
        which = "the most frequent one of their criterion" if same else "about the same on each criterion"
    else:
        which = f"{medians[0]:g}" if same else f"about {medians[0]:.2f}"
    yield f"{most:,} of {total:,} scores are {which}: this model does not distinguish."
