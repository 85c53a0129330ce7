"""The scale of each criterion in a table of ratings: as stated, else from the ratings themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from coeval.datasets.rating_rows import Rating
from coeval.datasets.text import shorten
from coeval.domain import Scale
from coeval.errors import InputError

MAX_STEPS = 101
"""Longest scale, in steps: 0-100."""


def choose_scales(ratings: Sequence[Rating]) -> tuple[dict[str, Scale], tuple[str, ...]]:
    """The scale of every criterion, in order of appearance, with notes on what had to be inferred.

    Where no row states it, the scale is the range of people's ratings over all criteria (so that a step
    one criterion never got is not lost), else of the models'.

    Raises InputError for a criterion with two scales, a scale upside down or longer than ``MAX_STEPS``.
    """
    stated = _stated_scales(ratings)
    unstated = [name for name in dict.fromkeys(rating.criterion for rating in ratings) if name not in stated]
    if not unstated:
        return stated, ()
    people = [rating for rating in ratings if rating.person]
    scale = _observed_scale(people or ratings)
    whose = "people's" if people else "the models'"
    note = f"The file states no scale for {shorten(', '.join(unstated), 200)}; {scale} was taken from {whose} ratings."
    scales = {rating.criterion: stated.get(rating.criterion, scale) for rating in ratings}
    return scales, (note,)


def _stated_scales(ratings: Iterable[Rating]) -> dict[str, Scale]:
    scales: dict[str, Scale] = {}
    for rating in ratings:
        low, high = rating.scale
        if low is None or high is None:
            continue
        scale = _check(Scale(low, high), rating.place)
        first = scales.setdefault(rating.criterion, scale)
        if first != scale:
            raise InputError(
                f"{rating.place}: gives '{shorten(rating.criterion)}' the scale {scale}, and an earlier row {first}; "
                "a criterion has one scale."
            )
    return scales


def _observed_scale(ratings: Iterable[Rating]) -> Scale:
    scores = [rating.score for rating in ratings if rating.score is not None]
    if not scores:
        return Scale()
    low, high = math.floor(min(scores)), math.ceil(max(scores))
    if low == high:
        return Scale() if Scale().admits(low) else _check(Scale(low, low + 1), "the ratings")
    return _check(Scale(low, high), "the ratings")


def _check(scale: Scale, place: str) -> Scale:
    if not 0 < scale.high - scale.low < MAX_STEPS:
        raise InputError(
            f"{place}: the scale {scale} must rise, and have at most {MAX_STEPS} steps; "
            "state it in a column 'scale', as in 1-5."
        )
    return scale
