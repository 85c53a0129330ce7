"""What the card and the Croissant description tell of a study, in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coeval.study.exporting.hub.content import Content

SHOWN = {
    "assisted": "with the model's draft in view",
    "blind": "without the draft",
    "first": "with the draft in view only after a first score without it",
    "undrafted": "where there was no draft to show yet",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """A study as it is told of at the Hub."""

    repo: str
    licence: str
    content: Content
    methods: str
    """The methods paragraph; empty where nobody scored anything."""
    agreement: Mapping[str, Any]
    """The section on agreement of the report; empty where nobody scored anything."""

    @property
    def title(self) -> str:
        return " ".join(self.content.study.task.name.split()) or self.repo

    @property
    def shown(self) -> str:
        """How drafts were shown, in a sentence or two."""
        parts = [f"{n:,} {SHOWN[arm]}" for arm, n in sorted(self.content.arms.items())]
        if not parts:
            return "Nobody has scrutinised the instances yet."
        planted = (
            f" {self.content.planted:,} of them were on a draft that was wrong on purpose, to see whether people let "
            "it stand."
            if self.content.planted
            else ""
        )
        return f"Of {sum(self.content.arms.values()):,} submissions, {', '.join(parts)}.{planted}"

    @property
    def people(self) -> str:
        """Who judged, by group."""
        groups = [f"{len(names):,} of the group {group}" for group, names in self.content.groups.items()]
        if not groups:
            return "Nobody has judged yet."
        return f"{sum(map(len, self.content.groups.values())):,} people: {', '.join(groups)}. They go under pseudonyms."

    @property
    def biases(self) -> str:
        """What pulls the scores one way, as far as the study's design tells."""
        told = []
        if self.content.arms.get("assisted") or self.content.arms.get("first"):
            told.append(
                "Scores given with a draft in view lean towards the draft, and agree with each other more than "
                "scores given without it: compare the arms before you use them."
            )
        if self.content.study.runs:
            models = ", ".join(sorted({run.run.model for run in self.content.study.runs if run.run.model}))
            told.append(f"Drafts come from models ({models or 'not named'}) with preferences of their own.")
        told.append(
            "Who judged was not drawn from any population: their scores speak for people like them, on these texts."
        )
        return " ".join(told)

    @property
    def sensitive(self) -> str:
        return (
            "Names, e-mail addresses and ids at crowd services were left out, and people go under pseudonyms. "
            "Reasons and further texts that people wrote are as they wrote them, and were not searched for what "
            "identifies somebody; nor were the inputs and outputs."
        )
