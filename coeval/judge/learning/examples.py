"""Worked examples for the judge's prompt, chosen from what people corrected.

A correction is a line that people scored after a judge. Informative ones are far from what the judge said, and say why;
the choice is balanced over people's scores, so that examples do not teach one answer, and takes one line a document.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.judge.labels import JUDGES, PROBABILITIES, Labels
from coeval.judge.learning.lines import FOLDS, fold_documents
from coeval.judge.parts import Example, mark_document

MAX_SHOWN = 1500
"""Characters of an input or output that an example shows; the middle of longer texts is left out."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One person's score of a line that a judge had scored, with both texts and the person's reason, if any."""

    instance: str
    document: str
    criterion: str
    input: str
    output: str
    drafted: float
    score: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A line to be judged with examples in the prompt, none of them from the line's document."""

    instance: str
    criterion: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer to a question: as a row of ``Labels.judges``; ``score`` is NaN where it could not be read."""

    score: float
    spread: float = np.nan
    probabilities: tuple[float, ...] | None = None


JudgeAgain = Callable[[Sequence[Question]], Awaitable[Sequence[Verdict]]]
"""Asks the model: one verdict a question, in their order. The ledger, limits and progress are the caller's."""


def choose_examples(
    corrections: Sequence[Correction], criterion: str, number: int, salt: str
) -> tuple[Example, ...]:
    """Up to ``number`` examples by one criterion; see ``choose_corrections``."""
    return tuple(make_example(c, salt) for c in choose_corrections(corrections, criterion, number, salt))


def choose_corrections(
    corrections: Sequence[Correction], criterion: str, number: int, salt: str
) -> tuple[Correction, ...]:
    """Up to ``number`` corrections by one criterion to make examples of, the most informative first within each score.

    Scores take turns, from the one with the most disagreement. Where people disagree about a line by more than a step
    it is no example. Equal choices are settled by the salted hash of the document, so the choice is the same every
    time.
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
    """One correction a line: the median score, with the longest reason of who gave it."""
    by_line: dict[str, list[Correction]] = {}
    for correction in corrections:
        by_line.setdefault(correction.instance, []).append(correction)
    agreed = []
    for given in by_line.values():
        scores = sorted(c.score for c in given)
        if scores[-1] - scores[0] > 1:
            continue
        middle = [c for c in given if c.score == scores[(len(scores) - 1) // 2]]
        agreed.append(max(middle, key=lambda c: len(c.reason)))
    return agreed


def make_example(correction: Correction, salt: str) -> Example:
    """A correction as the example that a question shows, its texts shortened."""
    return Example(
        input=shorten_middle(correction.input),
        output=shorten_middle(correction.output),
        criterion=correction.criterion,
        score=correction.score,
        reason=correction.reason[:MAX_SHOWN],
        document=mark_document(correction.document, salt),
    )


def shorten_middle(text: str, most: int = MAX_SHOWN) -> str:
    """A text with its middle left out where it is longer than ``most`` characters.

    >>> shorten_middle("abcdefghij", 8)
    'abc … ij'
    """
    if len(text) <= most:
        return text
    head = (most - 3 + 1) // 2
    return f"{text[:head]} … {text[len(text) - (most - 3 - head) :]}"


async def judge_with_examples(
    labels: Labels,
    corrections: Sequence[Correction],
    number: int,
    ask: JudgeAgain,
    judge: str,
    *,
    salt: str,
    folds: int = FOLDS,
    seed: int = 0,
) -> Labels:
    """``labels`` with the scores that the judge gives with examples from the other parts of the documents.

    Only lines that people scored are asked. Corrections of documents that ``labels`` does not hold are not used: the
    sealed part stays out even where a caller hands it over.
    """
    rows: list[Question] = []
    for own in fold_documents(labels, folds, seed):
        here, allowed = set(own), set(labels.documents) - set(own)
        rest = [c for c in corrections if c.document in allowed]
        chosen = {c: choose_examples(rest, c, number, salt) for c in labels.criteria}
        lines = labels.people[labels.people["document"].isin(here)][
            ["instance", "criterion"]
        ].drop_duplicates()
        rows += [
            Question(instance, criterion, chosen[criterion])
            for instance, criterion in lines.itertuples(index=False, name=None)
        ]
    verdicts = await ask(rows)
    if len(verdicts) != len(rows):
        raise ValueError(
            f"{len(rows)} questions were asked and {len(verdicts)} answered; answer each, in order."
        )
    table = pd.DataFrame(
        [
            (q.instance, q.criterion, judge, v.score, v.spread, v.probabilities)
            for q, v in zip(rows, verdicts, strict=True)
        ],
        columns=[*JUDGES, PROBABILITIES],
    ).astype({"score": float, "spread": float})
    return Labels(labels.people, table, labels.scales)
