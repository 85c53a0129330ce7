"""Runs of a judge over a task, and the jobs that carry them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    id: int = 0
