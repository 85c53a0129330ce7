"""What a preset is: the settings of a published judge, where they come from, and what is different here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coeval.domain import Criterion


@dataclass(frozen=True, slots=True)
class Preset:
    """A published way to judge.

    ``settings`` are of a run and ``ideation`` of drafting criteria, both under the names of the command's options;
    what is not named keeps its default. ``facts`` say what is taken from where, and ``differences`` what is
    deliberately not as it was published.
    """

    name: str
    title: str
    source: str
    settings: Mapping[str, object]
    facts: tuple[str, ...]
    differences: tuple[str, ...]
    ideation: Mapping[str, object] = field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
