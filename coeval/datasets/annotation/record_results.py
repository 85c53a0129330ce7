"""What one person, or one model, left at one record of an annotation tool, and the judgments that it makes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from coeval.datasets.gathering import Gathering
from coeval.datasets.judgments import Judgment

MAX_LABEL = 60
"""Longest label, in characters; what is longer, or on several lines, was written rather than chosen."""


def is_label(text: str) -> bool:
    """Whether a text may be one of the options of a choice.

    >>> is_label("too long"), is_label("It is\\ntoo long")
    (True, False)
    """
    return len(text) <= MAX_LABEL and "\n" not in text


@dataclass(slots=True)
class Results:
    """Scores, choices, texts and marked passages (label and words), by the controls or questions of the project."""

    scores: dict[str, float] = field(default_factory=dict)
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)
    marks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not (self.scores or self.choices or self.texts or self.marks)

    def add_to(self, gathering: Gathering, shared: Judgment, rated: Collection[str], place: str) -> None:
        """Add a judgment for each score and choice; ``shared`` says whose they are and of what.

        A text is a comment on the first of them. A passage is evidence for the criterion of its label, else for the
        only criterion of the project (``rated`` names them all); else the labels of passages are a choice of their own.
        """
        judgments = {
            name: replace(shared, criterion=name, score=score) for name, score in self.scores.items()
        } | {name: replace(shared, criterion=name, labels=chosen) for name, chosen in self.choices.items()}
        for name, marks in self.marks.items():
            self._add_marks(name, marks, judgments, shared, rated)
        for name, text in self.texts:
            target = name if name in judgments else next(iter(judgments), name)
            known = judgments.get(target) or replace(shared, criterion=target, reason="a text is no score")
            told = text if target == name or len(self.texts) == 1 else f"{name}: {text}"
            judgments[target] = replace(known, comment="\n".join(filter(None, (known.comment, told))))
        for judgment in judgments.values():
            gathering.add(judgment, place)

    def _add_marks(
        self,
        control: str,
        marks: list[tuple[str, str]],
        judgments: dict[str, Judgment],
        shared: Judgment,
        rated: Collection[str],
    ) -> None:
        names = {name.casefold(): name for name in judgments}
        only = next(iter(judgments)) if len(judgments) == len(rated) == 1 else ""
        own: list[tuple[str, str]] = []
        for label, words in marks:
            target = names.get(label.casefold(), only)
            if target:
                kept = "" if label.casefold() in names else label
                judgments[target] = replace(
                    judgments[target], marks=(*judgments[target].marks, (kept, words))
                )
            else:
                own.append((label or control, words))
        if own:
            labels = tuple(dict.fromkeys(label for label, _ in own))
            judgments[control] = replace(shared, criterion=control, labels=labels, marks=tuple(own))
