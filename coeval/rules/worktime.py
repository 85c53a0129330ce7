"""How long somebody worked, from the times of what they did."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from coeval.clock import read_time

PAUSE_MINUTES = 15.0
"""A longer time without a sign of life counts as this long: somebody reads, or has gone away."""

Event = tuple[str, bool]
"""A time, and whether the person had to wait from then on."""


def count_minutes(events: Iterable[Event]) -> float:
    """Minutes from the first event to the last; waiting is left out, and a long pause counts as a short one.

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
