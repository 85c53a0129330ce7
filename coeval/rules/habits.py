"""Whether drafts are still read: figures of how each person works, and the questions they raise.

A fast hand that keeps everything may be careless, or the drafts may be good. The figures cannot tell, so they
are put as questions; a draft with a planted error that was let stand is the only sign that speaks by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

LONG_STREAK = 20
"""Evaluations in a row with every line kept, from which on the question is put."""
QUICK = 1 / 3
"""Share of everybody's median time under which the question is put."""
FEW_CAUGHT, ENOUGH_PLANTED = 0.5, 4
MOSTLY_BULK, ENOUGH = 0.5, 20


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Saves:
    """Evaluations as they stand now, in the order of saving: each array has one value for each evaluation."""

    names: Mapping[int, str]
    """The people's names by their numbers in ``person``."""
    person: npt.NDArray[np.int64]
    kept_all: Flags
    bulk: Flags
    seconds: npt.NDArray[np.float64]
    """Active time; nan where it was not measured."""
    planted: Flags
    caught: Flags
    """False where nothing was planted."""


@dataclass(frozen=True, slots=True)
class Habits:
    """One person's figures; shares are of 1, and None where there is nothing to take a share of."""

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
    """Everybody's figures with the questions they raise, in the order of the names."""
    usual = _median(saves.seconds)
    # stable: each person's saves stay in the order of saving
    order = np.argsort(saves.person, kind="stable")
    people, first = np.unique(saves.person[order], return_index=True)
    rows = zip(people.tolist(), np.split(order, first[1:]), strict=False)
    return sorted(
        (_read_habits(saves.names[person], saves, own, usual) for person, own in rows),
        key=lambda habits: habits.person,
    )


def _read_habits(person: str, saves: Saves, own: npt.NDArray[np.int64], usual: float | None) -> Habits:
    """The figures of the person whose saves stand in the rows ``own``."""
    kept, seconds, planted = saves.kept_all[own], saves.seconds[own], int(saves.planted[own].sum())
    plain = Habits(
        person=person,
        n=len(own),
        n_timed=int((~np.isnan(seconds)).sum()),
        median_seconds=_median(seconds),
        kept_all=float(kept.mean()),
        longest_streak=longest_streak(kept),
        bulk=float(saves.bulk[own].mean()),
        n_planted=planted,
        caught=int(saves.caught[own].sum()) / planted if planted else None,
    )
    return replace(plain, questions=tuple(_ask(plain, usual)))


def longest_streak(kept: Flags) -> int:
    """The most that are true in a row.

    >>> longest_streak(np.array([True, False, True, True, False]))
    2
    """
    ends = np.flatnonzero(np.concatenate([[True], ~kept, [True]]))
    return int(np.diff(ends).max()) - 1


def _median(seconds: npt.NDArray[np.float64]) -> float | None:
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else None


def _ask(own: Habits, usual: float | None) -> Iterator[str]:
    if own.longest_streak >= LONG_STREAK:
        yield (
            f"{own.person} kept every line of {own.longest_streak} evaluations in a row. Were these drafts all "
            "as they should be?"
        )
    if (
        own.median_seconds is not None
        and usual
        and own.n_timed >= ENOUGH
        and own.median_seconds < QUICK * usual
    ):
        yield (
            f"{own.person} takes {own.median_seconds:.0f} s for a criterion; everybody's median is {usual:.0f} s. "
            "Is that time enough to read the texts?"
        )
    if own.bulk > MOSTLY_BULK and own.n >= ENOUGH:
        yield (
            f"{own.person} approved the rest at once in {own.bulk:.0%} of {own.n} evaluations. Were the lines read "
            "one by one before?"
        )
    if own.caught is not None and own.n_planted >= ENOUGH_PLANTED and own.caught < FEW_CAUGHT:
        yield (
            f"{own.person} noticed {own.caught:.0%} of {own.n_planted} drafts that were wrong on purpose. Is the task "
            "clear, and is there time enough for it?"
        )
