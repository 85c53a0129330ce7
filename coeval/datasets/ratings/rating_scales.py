"""The scale of each criterion in a table of ratings: as stated, else from the ratings themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from coeval.datasets.ratings.rating_rows import Rating
from coeval.datasets.text import shorten
from coeval.domain import Scale
from coeval.errors import InputError

MAX_STEPS = 101
"""Longest scale, in steps: 0-100."""


@dataclass(slots=True)
class Scales:
    """What the ratings met so far say of the scales: those stated, and how many scores there are at each step."""

    stated: dict[str, Scale | None] = field(default_factory=dict)
    """The scale of every criterion, in order of appearance; None where no row states it."""
    scores: Counter[tuple[str, bool, int, bool]] = field(default_factory=Counter)
    """(criterion, by a person, step at or below the score, on that step) -> how many."""

    def add(self, rating: Rating) -> None:
        """Count a rating; raises InputError for a criterion with two scales, or one that cannot be used."""
        self._note_scale(rating)
        if rating.score is not None:
            step = math.floor(rating.score)
            self.scores[rating.criterion, bool(rating.person), step, step == rating.score] += 1

    def _note_scale(self, rating: Rating) -> None:
        low, high = rating.scale
        known = self.stated.setdefault(rating.criterion, None)
        if low is None or high is None or known == Scale(low, high):
            return
        scale = _check(Scale(low, high), rating.place)
        if known is not None:
            raise InputError(
                f"{rating.place}: gives '{shorten(rating.criterion)}' the scale {scale}, and an earlier row "
                f"{known}; a criterion has one scale."
            )
        self.stated[rating.criterion] = scale

    def choose(self) -> tuple[dict[str, Scale], tuple[str, ...]]:
        """The scale of every criterion, in order of appearance, with notes on what had to be inferred.

        Where no row states it, the scale is the range of people's ratings over all criteria (so that a step
        one criterion never got is not lost), else of the models'.

        Raises InputError for a range longer than ``MAX_STEPS``.
        """
        unstated = [name for name, scale in self.stated.items() if scale is None]
        inferred = self._observe() if unstated else Scale()
        scales = {name: scale or inferred for name, scale in self.stated.items()}
        if not unstated:
            return scales, ()
        whose = "people's" if self._people else "the models'"
        listed = shorten(", ".join(unstated), 200)
        return scales, (f"The file states no scale for {listed}; {inferred} was taken from {whose} ratings.",)

    def count_off(self, scales: dict[str, Scale]) -> int:
        """Scores off their scale, and people's between its steps."""
        return sum(
            n
            for (criterion, by_person, step, whole), n in self.scores.items()
            if not _fits(scales[criterion], by_person, step, whole)
        )

    @property
    def _people(self) -> list[tuple[int, bool]]:
        return [(step, whole) for _, by_person, step, whole in self.scores if by_person]

    def _observe(self) -> Scale:
        scores = self._people or [(step, whole) for _, _, step, whole in self.scores]
        if not scores:
            return Scale()
        low, high = min(step for step, _ in scores), max(_ceil(scores))
        if low == high:
            return Scale() if Scale().admits(low) else _check(Scale(low, low + 1), "the ratings")
        return _check(Scale(low, high), "the ratings")


def _ceil(scores: Iterable[tuple[int, bool]]) -> Iterable[int]:
    return (step if whole else step + 1 for step, whole in scores)


def _fits(scale: Scale, by_person: bool, step: int, whole: bool) -> bool:
    on = scale.low <= step <= (scale.high if whole else scale.high - 1)
    return on and (whole or not by_person)


def _check(scale: Scale, place: str) -> Scale:
    if not 0 < scale.high - scale.low < MAX_STEPS:
        raise InputError(
            f"{place}: the scale {scale} must rise, and have at most {MAX_STEPS} steps; "
            "state it in a column 'scale', as in 1-5."
        )
    return scale
