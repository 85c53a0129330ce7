"""Whether drafts are still read: figures of how each person works, and the questions they raise.

A fast hand that keeps everything may be careless, or the drafts may be good. The figures cannot tell, so they
are put as questions; a draft with a planted error that was let stand is the only sign that speaks by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

LONG_STREAK = 20
"""Evaluations in a row with every line kept, from which on the question is put."""
QUICK = 1 / 3
"""Share of everybody's median time under which the question is put."""
FEW_CAUGHT, ENOUGH_PLANTED = 0.5, 4
MOSTLY_BULK, ENOUGH = 0.5, 20


@dataclass(frozen=True, slots=True)
class Save:
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

    >>> find_habits([Save("Ana", True, False, 5.0), Save("Ana", False, False, 7.0)])[0].median_seconds
    6.0
    """
    saves = sorted(saves, key=lambda save: save.person)  # stable: each person's order stays
    usual = _median([save.seconds for save in saves])
    return [_habits(person, list(own), usual) for person, own in groupby(saves, lambda save: save.person)]


def _habits(person: str, own: Sequence[Save], usual: float | None) -> Habits:
    planted = [save.caught for save in own if save.caught is not None]
    plain = Habits(
        person=person,
        n=len(own),
        n_timed=sum(save.seconds is not None for save in own),
        median_seconds=_median([save.seconds for save in own]),
        kept_all=sum(save.kept_all for save in own) / len(own),
        longest_streak=max(
            (len(list(run)) for kept, run in groupby(own, lambda save: save.kept_all) if kept), default=0
        ),
        bulk=sum(save.bulk for save in own) / len(own),
        n_planted=len(planted),
        caught=sum(planted) / len(planted) if planted else None,
    )
    names = {name: getattr(plain, name) for name in plain.__slots__ if name != "questions"}
    return Habits(**names, questions=tuple(_ask(plain, usual)))


def _median(seconds: Iterable[float | None]) -> float | None:
    known = [value for value in seconds if value is not None]
    return median(known) if known else None


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
