"""Tasks and their instances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from coeval.domain.columns import ColumnRole

MAX_TEXT = 200_000
"""Longest text, in characters, that one field of a task, instance or draft may hold."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scores a criterion admits: every whole step from ``low`` to ``high``.

    >>> Scale(1, 3).steps
    (1, 2, 3)
    """

    low: int = 1
    high: int = 5

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(range(self.low, self.high + 1))

    def admits(self, score: float) -> bool:
        """Whether a person may give this score: on the scale and whole."""
        return math.isfinite(score) and self.low <= score <= self.high and float(score).is_integer()

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"


@dataclass(frozen=True, slots=True)
class Task:
    """A text-generation task: the paper's T_desc, T_ipt, T_opt with its scale and guidelines."""

    slug: str
    name: str
    description: str = ""
    input_field: str = "Input"
    output_field: str = "Output"
    guidelines: str = ""
    scale: Scale = Scale()
    origin: str = ""
    """Where the task comes from, shown to everyone; "demo" marks the texts written for this project."""
    columns: Mapping[str, ColumnRole] = field(default_factory=dict, hash=False)
    """The role of each column of the instances' context; one that is missing is shown to nobody."""
    language: str = "en"
    """The language of the annotators' screens, by the code of its catalogue (see ``coeval.language``)."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Instance:
    """One (X, Y) pair: ``document`` groups those that share X, ``system`` says who wrote Y."""

    external_id: str
    input: str
    output: str
    document: str = ""
    system: str = ""
    reference: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    id: int = 0


@dataclass(frozen=True, slots=True)
class TaskSource:
    """A data set that instances of a task were read from, at one commit (``revision``)."""

    address: str
    revision: str
    imported_by: str
    imported_at: str
