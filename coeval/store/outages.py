"""Waiting until the database's server is back, or free: what was paid for must not be lost to its restart."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from coeval.errors import BusyError, UnreachableError

T = TypeVar("T")

OUTAGE_SECONDS = 60.0
"""How long a server may be away before what waits for it gives up; PostgreSQL restarts in a few seconds."""
PAUSE_SECONDS = 0.5


def outlast(work: Callable[[], T], seconds: float | None = None) -> T:
    """What ``work`` gives, tried again while the server is away or busy; it must be safe to do twice.

    Raises:
        UnreachableError, BusyError: that lasts for longer than ``seconds``, ``OUTAGE_SECONDS`` where none are named.
    """
    until = time.monotonic() + (OUTAGE_SECONDS if seconds is None else seconds)
    while True:
        try:
            return work()
        except (UnreachableError, BusyError):
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_SECONDS)
