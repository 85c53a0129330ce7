"""What a column of an imported file is for, and who may see it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ColumnRole(StrEnum):
    """The part that a column plays in a task; nothing is shown to anybody unless its role says so."""

    INPUT = "input"
    OUTPUT = "output"
    REFERENCE = "reference"
    SYSTEM = "system"
    DOCUMENT = "document"
    GROUP = "group"
    SHOWN = "shown to judge and people"
    PEOPLE = "shown to people only"
    IMAGE = "image"
    HIDDEN = "hidden"
    ASSISTANT_SCORE = "assistant score"
    HUMAN_SCORE = "human score"

    @property
    def judge_sees(self) -> bool:
        """Whether a column of this role, beside the input and the output, is part of a judge's question."""
        return self in (ColumnRole.SHOWN, ColumnRole.IMAGE)

    @property
    def people_see(self) -> bool:
        """Whether a column of this role, beside the input and the output, is shown to annotators."""
        return self in (ColumnRole.SHOWN, ColumnRole.PEOPLE, ColumnRole.IMAGE)


CONTEXT_ROLES = (
    ColumnRole.SHOWN,
    ColumnRole.PEOPLE,
    ColumnRole.IMAGE,
    ColumnRole.HIDDEN,
    ColumnRole.ASSISTANT_SCORE,
    ColumnRole.HUMAN_SCORE,
)
"""The roles that a column of a stored instance's context can have; the others say where a field comes from."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a task's instances beyond the fields that every instance has.

    ``set_by`` is who chose the role; it is empty where the rule did, and ``question`` then says what to ask.
    """

    name: str
    role: ColumnRole
    set_by: str = ""
    question: str = ""
