"""The right to be the only worker at something."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

LEASE = timedelta(seconds=15)
"""How long a lease holds that is not renewed: its worker was killed, or its machine sleeps."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who works at ``name``; ``job`` is the job that it does it for, if any."""

    name: str
    holder: str
    job: int | None
    renewed_at: str
