"""Pure rules for a study on Prolific: its reward, its places, and permitted rejections.

Sources: docs.prolific.com/api-reference/submissions (a category, a message of 100 characters, only submissions that
wait for review) and Prolific's attention check policy (from five minutes on, two failed checks; below, one).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum

from coeval.domain import Participant
from coeval.errors import InputError
from coeval.usecases.crowd.overview import FEWEST

MESSAGE_LEAST = 100
LONG_STUDY = 5
"""The length of a study, in minutes, from which one failed check is not enough for a rejection."""
FAST_SPREADS = 3
"""The number of standard deviations below the mean at which a time counts as exceptionally short."""
LEAST_PER_HOUR = {"GBP": 6.0, "USD": 8.0}
"""Prolific's minimum pay per hour, by currency."""


class Category(StrEnum):
    """Prolific's reason for a rejection."""

    TOO_QUICKLY = "TOO_QUICKLY"
    TOO_SLOWLY = "TOO_SLOWLY"
    FAILED_INSTRUCTIONS = "FAILED_INSTRUCTIONS"
    INCOMP_LONGITUDINAL = "INCOMP_LONGITUDINAL"
    FAILED_CHECK = "FAILED_CHECK"
    LOW_EFFORT = "LOW_EFFORT"
    MALINGERING = "MALINGERING"
    NO_CODE = "NO_CODE"
    BAD_CODE = "BAD_CODE"
    NO_DATA = "NO_DATA"
    UNSUPP_DEVICE = "UNSUPP_DEVICE"
    OTHER = "OTHER"


def compute_reward(minutes: float, hourly_rate: float) -> int:
    """Return the reward for these minutes at an hourly rate, in hundredths, rounded up.

    >>> compute_reward(20, 9), compute_reward(7, 9.99)
    (300, 117)
    """
    cents = Decimal(str(minutes)) * Decimal(str(hourly_rate)) * 100 / 60
    return int(cents.to_integral_value(ROUND_CEILING))


def measure_minutes(people: Iterable[Participant], quota: int) -> float | None:
    """Return the estimated minutes of a whole submission: the people's median per instance, times ``quota``.

    Return None if fewer than three people have finished an instance.
    """
    times = [one.wall_minutes / one.finished for one in people if one.finished and one.wall_minutes]
    return statistics.median(times) * quota if len(times) >= FEWEST else None


def count_people(missing: int, each: float) -> int:
    """Return the number of people needed for the missing evaluations, if each person does ``each``.

    >>> count_people(11, 5), count_people(0, 5)
    (3, 0)
    """
    return math.ceil(missing / max(each, 1))


def check_rejection(category: str, message: str) -> None:
    """Check the details that Prolific requires for a rejection.

    Raises:
        InputError: the category is not one of Prolific's, or the message is too short.
    """
    if category not in list(Category):
        raise InputError(
            f"“{category[:40]}” is not one of Prolific's categories: choose one of {', '.join(Category)}."
        )
    if len(message.strip()) < MESSAGE_LEAST:
        raise InputError(
            f"The message has {len(message.strip())} characters: Prolific requires at least "
            f"{MESSAGE_LEAST}, so explain what was wrong."
        )


def find_obstacle(
    category: str,
    participant: Participant | None,
    seconds: float | None,
    times: Sequence[float],
    minutes: float,
) -> str:
    """Return why Prolific's rules forbid this rejection; "" if they allow it.

    ``seconds`` is the time of this submission, ``times`` are those of all submissions, ``minutes`` is the study's
    length.
    """
    if category == Category.FAILED_CHECK:
        failed, least = participant.failed if participant else 0, 2 if minutes >= LONG_STUDY else 1
        if failed < least:
            return (
                f"{failed} attention checks failed, but a rejection in a study of {minutes:.0f} minutes needs {least}:"
                " approve, or ask to return"
            )
    if category == Category.TOO_QUICKLY:
        if seconds is None or len(times) < FEWEST:
            return "there are too few times for a comparison: approve, or ask to return"
        limit = statistics.mean(times) - FAST_SPREADS * statistics.stdev(times)
        if seconds >= limit:
            return (
                f"it took {seconds / 60:.1f} minutes, but only a time {FAST_SPREADS} standard deviations below the "
                f"mean ({max(limit, 0) / 60:.1f} minutes) counts as too quick: approve, or ask to return"
            )
    return ""
