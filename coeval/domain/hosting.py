"""What became of a hosted file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Restoration:
    """A coming back: from where, from which snapshot, of when, and what it cost."""

    source: str
    name: str
    taken_at: str
    restored_at: str
    passed_over: str = ""
    """Newer snapshots that were damaged, one a line."""
    newest_at: str = ""
    """When the newest of those was taken."""
    put_aside: str = ""
    """The file that was there before, and is kept under this name."""
