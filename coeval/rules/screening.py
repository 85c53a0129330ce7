"""Screening of annotators: their working time, their attention to drafts, and the resulting questions.

A fast person who keeps everything may be careless, or the drafts may be good. The figures cannot decide, so
they lead to questions. Only planted errors that a person left in place are a clear sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from coeval.clock import read_time

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
