"""Runs of a judge over a task, comparisons that it makes, the jobs that carry runs out, and leases on what they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of one judge over a task: protocol, model and parameters; one run is shown to annotators."""

    protocol: str
    model: str
    label: str
    prompt_hash: str = ""
    params: Mapping[str, object] = field(default_factory=dict)
    shown: bool = False
    created_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which of two outputs a judge prefers by a criterion, in the order in which it saw them.

    ``preference`` is 1 for the first, 0 for the second and 0.5 for a tie, or the mean of several answers (then
    ``samples`` has each); None where none could be read, and ``reason`` says why. Instances and criterion by their ids.
    """

    first: int
    second: int
    criterion: int
    preference: float | None
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    attempt: int = 1


class JobState(StrEnum):
    """Where a long piece of work stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """A long piece of work that outlives the page that started it."""

    kind: str
    task: int
    state: JobState
    params: Mapping[str, object] = field(default_factory=dict)
    total: int = 0
    done: int = 0
    failed: int = 0
    message: str = ""
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""
    takeovers: int = 0
    """How often another server went on with it, because the one that was at it had ended."""
    id: int = 0


LEASE = timedelta(seconds=15)
"""How long a lease holds that is not renewed: its worker was killed, or its machine sleeps."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to be the only worker at ``name``: who has it, and the job that it does it for, if any."""

    name: str
    holder: str
    job: int | None
    renewed_at: str
