"""Choose worked examples for the judge's prompt from corrections.

A correction is a person's score of a line that a judge scored. Informative corrections differ much from the judge's
score and give a reason. The choice is balanced over people's scores, so that examples do not teach a single answer, and
takes at most one line per document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coeval.llm.prompting.questions import Example, mark_document

MAX_SHOWN = 1500
"""Maximum length of an input or output in an example. The middle of longer texts is left out."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One person's score of a line that a judge scored, with input, output and the person's reason, if any."""

    instance: str
    document: str
    criterion: str
    input: str
    output: str
    drafted: float
    score: float
    reason: str = ""


def choose_corrections(
    corrections: Sequence[Correction], criterion: str, number: int, salt: str
) -> tuple[Correction, ...]:
    """Return at most ``number`` corrections on one criterion as examples, the most informative first within each score.

    Scores take turns, beginning with the score on which people and the judge disagree most. A line on which people
    differ by more than a step is no example. The salted hash of the document breaks ties, so the choice is
    reproducible.
    """
    lines = _agreed([c for c in corrections if c.criterion == criterion])
    by_score: dict[float, list[Correction]] = {}
    for line in sorted(
        lines, key=lambda c: (-abs(c.score - c.drafted), not c.reason, mark_document(c.document, salt))
    ):
        by_score.setdefault(line.score, []).append(line)
    chosen: list[Correction] = []
    while by_score and len(chosen) < number:
        for score in list(by_score):
            seen = {c.document for c in chosen}
            fresh = [c for c in by_score[score] if c.document not in seen]
            if not fresh:
                del by_score[score]
            elif len(chosen) < number:
                chosen.append(fresh[0])
    return tuple(chosen)


def _agreed(corrections: Sequence[Correction]) -> list[Correction]:
    """Return one correction per line: the median score, with the longest reason from people who gave it."""
    by_line: dict[str, list[Correction]] = {}
    for correction in corrections:
        by_line.setdefault(correction.instance, []).append(correction)
    agreed = []
    for line in by_line.values():
        scores = sorted(c.score for c in line)
        if scores[-1] - scores[0] > 1:
            continue
        middle = [c for c in line if c.score == scores[(len(scores) - 1) // 2]]
        agreed.append(max(middle, key=lambda c: len(c.reason)))
    return agreed


def make_example(correction: Correction, salt: str) -> Example:
    """Return a correction as an example for a question, with shortened texts."""
    return Example(
        input=shorten_middle(correction.input),
        output=shorten_middle(correction.output),
        criterion=correction.criterion,
        score=correction.score,
        reason=correction.reason[:MAX_SHOWN],
        document=mark_document(correction.document, salt),
    )


def shorten_middle(text: str, most: int = MAX_SHOWN) -> str:
    """Return a text without its middle if it is longer than ``most`` characters.

    >>> shorten_middle("abcdefghij", 8)
    'abc … ij'
    """
    if len(text) <= most:
        return text
    head = (most - 3 + 1) // 2
    return f"{text[:head]} … {text[len(text) - (most - 3 - head) :]}"
