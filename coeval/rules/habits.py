"""Whether drafts are still read: figures of how each person works, and the questions they raise.

A fast hand that keeps everything may be careless, or the drafts may be good. The figures cannot tell, so they
are put as questions; a draft with a planted error that was let stand is the only sign that speaks by itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

LONG_STREAK = 20
"""Evaluations in a row with every line kept, from which on the question is put."""
QUICK = 1 / 3
"""Share of everybody's median time under which the question is put."""
FEW_CAUGHT, ENOUGH_PLANTED = 0.5, 4
MOSTLY_BULK, ENOUGH = 0.5, 20


class Save(NamedTuple):
    """One evaluation as it stands, in the order of saving; ``caught`` is None where nothing was planted."""

    person: str
    kept_all: bool
    bulk: bool
    seconds: float | None
    caught: bool | None = None


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


def find_habits(saves: Iterable[Save]) -> list[Habits]:
    """Everybody's figures with the questions they raise, in the order of the names.

    One pass that keeps no save, only its time: millions of them take no more memory than their times.

    >>> find_habits([Save("Ana", True, False, 5.0), Save("Ana", False, False, 7.0)])[0].median_seconds
    6.0
    """
    counts: dict[str, _Count] = {}
    for save in saves:
        count = counts.get(save.person)
        if count is None:
            count = counts[save.person] = _Count()
        count.add(save)
    times = array("d")
    for count in counts.values():
        times.extend(count.seconds)
    usual = _median(times)
    return [_read_habits(person, counts[person], usual) for person in sorted(counts)]


class _Count:
    """What is kept of one person's saves."""

    __slots__ = ("bulk", "caught", "kept", "longest", "n", "planted", "seconds", "streak")

    def __init__(self) -> None:
        self.n = self.kept = self.streak = self.longest = self.bulk = self.planted = self.caught = 0
        self.seconds = array("d")

    def add(self, save: Save) -> None:
        self.n += 1
        if save.kept_all:
            self.kept += 1
            self.streak += 1
            self.longest = max(self.longest, self.streak)
        else:
            self.streak = 0
        self.bulk += save.bulk
        if save.seconds is not None:
            self.seconds.append(save.seconds)
        if save.caught is not None:
            self.planted += 1
            self.caught += save.caught


def _read_habits(person: str, count: _Count, usual: float | None) -> Habits:
    plain = Habits(
        person=person,
        n=count.n,
        n_timed=len(count.seconds),
        median_seconds=_median(count.seconds),
        kept_all=count.kept / count.n,
        longest_streak=count.longest,
        bulk=count.bulk / count.n,
        n_planted=count.planted,
        caught=count.caught / count.planted if count.planted else None,
    )
    return replace(plain, questions=tuple(_ask(plain, usual)))


def _median(seconds: array[float]) -> float | None:
    return float(np.median(seconds)) if seconds else None


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
