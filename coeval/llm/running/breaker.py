"""Stops a run that cannot read its answers, before all of it is paid for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")

AT_FIRST = 6
"""So many results end a run where nothing at all could be read from any so far."""

RECENT, SHARE = 40, 0.9
"""Later on a run ends where so large a share of so many results in a row could not be read."""


class Breaker(Generic[Result]):
    """Looks at each result; ``unread`` says why nothing could be read from it, and is empty where something was."""

    def __init__(self, unread: Callable[[Result], str]) -> None:
        self._unread = unread
        self._recent: deque[bool] = deque(maxlen=RECENT)
        self._any_read = False

    def look_at(self, result: Result) -> str:
        """Why the run is to stop after this result; empty where it may go on."""
        reason = self._unread(result)
        self._recent.append(bool(reason))
        self._any_read = self._any_read or not reason
        failed = sum(self._recent)
        hopeless = not self._any_read and failed >= AT_FIRST
        if reason and (hopeless or len(self._recent) == RECENT and failed >= SHARE * RECENT):
            return (
                f"{failed} of the latest {len(self._recent)} judgments could not be read, so the run was stopped; "
                f"the last one: {reason}"
            )
        return ""
