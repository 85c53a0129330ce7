"""Criteria of one instance, and the instance's score as HealthBench defines it.

A criterion has points, which are negative if it describes a fault. The score of an instance is the sum of the points
of the met criteria, divided by the sum of the positive points. It can be below 0. The score of several instances is
the mean of their scores, clipped to 0..1 (Arora et al. 2025, "HealthBench", section 2; the same in its code).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from coeval.datasets.text import check_text, shorten
from coeval.domain import MAX_REMARK
from coeval.errors import InputError

MAX_POINTS = 1000
MAX_CRITERIA = 200
"""The largest number of criteria of one instance."""

MAX_AXIS = 100
AXIS = "axis:"
"""The prefix of the tag with a criterion's axis in HealthBench."""

TEXTS = ("criterion", "text", "rubric", "description", "statement")
POINTS = ("points", "weight", "score")


@dataclass(frozen=True, slots=True)
class Rubric:
    """One criterion of one instance. ``tags`` are the tags in the file without the tag of the axis."""

    text: str
    points: float = 1.0
    axis: str = ""
    tags: tuple[str, ...] = ()

    def to_healthbench(self) -> dict[str, Any]:
        """Return the criterion in HealthBench's form."""
        points = int(self.points) if self.points == int(self.points) else self.points
        axis = [f"{AXIS}{self.axis}"] if self.axis else []
        return {"criterion": self.text, "points": points, "tags": [*self.tags, *axis]}


def read_rubrics(cell: str, place: str) -> tuple[Rubric, ...]:
    """Parse the criteria in a cell: a JSON list of texts, or of objects with text, points, axis and tags.

    >>> read_rubrics('["Names the dose.", {"criterion": "Guesses.", "points": -3, "tags": ["axis:accuracy"]}]', "row 1")
    (Rubric(text='Names the dose.', points=1.0, axis='', tags=()), \
Rubric(text='Guesses.', points=-3.0, axis='accuracy', tags=()))

    Raises:
        InputError: the cell is not such a list.
    """
    try:
        listed = json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{place}: is not JSON ({str(error)[:80]}); write a list of criteria, each with its text and points."
        ) from None
    if not isinstance(listed, list):
        raise InputError(f"{place}: is not a list; write a list of criteria, each with its text and points.")
    if len(listed) > MAX_CRITERIA:
        raise InputError(f"{place}: has {len(listed):,} criteria, and the limit is {MAX_CRITERIA}.")
    return tuple(read_rubric(entry, f"{place}, criterion {n}") for n, entry in enumerate(listed, 1))


def read_rubric(value: object, place: str) -> Rubric:
    """Parse one criterion of such a list; raise InputError if it cannot be stored."""
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, Mapping):
        raise InputError(f'{place}: is neither a text nor an object; write {{"text": "...", "points": 1}}.')
    tags = value.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InputError(f"{place}: the tags are not a list of texts.")
    named = next((tag.removeprefix(AXIS) for tag in tags if tag.startswith(AXIS)), "")
    text = next((value[name] for name in TEXTS if value.get(name) is not None), "")
    points = next((value[name] for name in POINTS if value.get(name) is not None), 1)
    axis = value.get("axis") or named
    if not isinstance(text, str) or not isinstance(axis, str):
        raise InputError(f"{place}: the text or the axis is not a text.")
    others = tuple(check_name(tag, place) for tag in tags if tag != f"{AXIS}{axis}")
    return Rubric(check_wording(text, place), check_points(points, place), check_name(axis, place), others)


def check_wording(text: str, place: str) -> str:
    """Return the stripped text of a criterion; raise InputError if it is empty or too long."""
    text = text.strip()
    check_text(text, place)
    if not text:
        raise InputError(f"{place}: has no text; write the criterion.")
    if len(text) > MAX_REMARK:
        raise InputError(f"{place}: has {len(text):,} characters; shorten it to {MAX_REMARK:,}.")
    return text


def check_name(text: str, place: str) -> str:
    """Return a stripped axis or tag; raise InputError if it is too long."""
    text = text.strip()
    check_text(text, place)
    if len(text) > MAX_AXIS:
        raise InputError(f"{place}: “{shorten(text)}” is longer than {MAX_AXIS} characters; shorten it.")
    return text


def check_points(value: object, place: str) -> float:
    """Return points as a number; raise InputError if the value is not a number or exceeds ``MAX_POINTS``.

    >>> check_points("-2.5", "row 1")
    -2.5
    """
    try:
        points = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        points = math.nan
    if not abs(points) <= MAX_POINTS:
        raise InputError(
            f"{place}: has “{shorten(str(value))}” as its points; write a number from {-MAX_POINTS:,} to "
            f"{MAX_POINTS:,}."
        )
    return points


def instance_score(judged: Iterable[tuple[float, float | None]]) -> float | None:
    """Return the score of an instance from (points, value) of its criteria; None if it has no score.

    A value is 1 if the criterion is met, else 0. There is no score if a value is missing or no points are positive,
    because a score from a part of the criteria would mean something else.

    >>> instance_score([(7, 1), (5, 0), (-6, 1), (-4, 0)])  # (7 - 6) / (7 + 5)
    0.08333333333333333
    >>> instance_score([(2, 0), (-3, 1)]), instance_score([(-3, 1)]), instance_score([(2, None)])
    (-1.5, None, None)
    """
    gained = possible = 0.0
    for points, value in judged:
        if value is None:
            return None
        gained += points * value
        possible += max(points, 0.0)
    return gained / possible if possible else None


def overall_score(scores: Sequence[float]) -> float | None:
    """Return the score of several instances: the mean, clipped to 0..1; None for no instances.

    >>> overall_score([0.5, -1.5, 0.4]), overall_score([1.0, 0.5]), overall_score([])
    (0.0, 0.75, None)
    """
    return min(1.0, max(0.0, fmean(scores))) if scores else None


def told_points(points: float) -> str:
    """Format points with their sign.

    >>> told_points(5.0), told_points(-2.5)
    ('+5', '−2.5')
    """
    return f"{points:+g}".replace("-", "−")
