"""Planted errors: something wrong on purpose, so that it shows whether people let it stand.

A score is shifted by one, or one line of evidence is swapped with a line about another instance. The shift of
the shown score is drawn, so a person's score regressed on it within an item gives the true pull of the draft,
undiluted by those who would have given that score anyway.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from coeval.domain import Draft, EvaluationRow, Quote, RowKind, Scale
from coeval.rules.arms import draw_share

LIST_NUMBER = re.compile(r"\s*\d{1,2}[.)]\s+(?=\S)")
SALT = "sown"
"""Part of the hash that draws planted errors; it never changes, or running studies would be drawn anew."""


class ErrorKind(StrEnum):
    """What is wrong in a draft with a planted error."""

    SCORE = "score"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class PlantedError:
    """What one person sees in place of what ``draft`` says: another score, or another line of evidence."""

    draft: int
    kind: ErrorKind
    score: float | None = None
    draft_row: int | None = None
    source: EvaluationRow | None = None
    """The line of another instance that stands in the place of ``draft_row``."""


def draw_kind(
    seed: str, annotator: int, instance: int, criterion: int, planted_share: float
) -> ErrorKind | None:
    """Whether this person's draft has a planted error, and how; half of the planted errors are wrong scores.

    >>> draw_kind("s", 1, 1, 1, 0.0) is None, draw_kind("s", 1, 1, 1, 1.0) in ErrorKind
    (True, True)
    """
    drawn = draw_share(seed, SALT, annotator, instance, criterion)
    if drawn >= planted_share:
        return None
    return ErrorKind.SCORE if drawn < planted_share / 2 else ErrorKind.EVIDENCE


def draw_place(seed: str, annotator: int, instance: int, criterion: int, size: int) -> int:
    """A position from 1 to ``size``: where the search for another instance's line begins."""
    return 1 + int(draw_share(seed, "source", annotator, instance, criterion) * size)


def plant_score(seed: str, annotator: int, draft: Draft, scale: Scale) -> PlantedError | None:
    """The draft's score one higher or one lower, whichever is drawn and on the scale; None where neither is."""
    if draft.score is None:
        return None
    up = draw_share(seed, "shift", annotator, draft.instance, draft.criterion) < 0.5
    shifted = [draft.score + step for step in ((1, -1) if up else (-1, 1))]
    fitting = [score for score in shifted if scale.low <= score <= scale.high]
    return PlantedError(draft.id, ErrorKind.SCORE, score=fitting[0]) if fitting else None


def plant_evidence(seed: str, annotator: int, draft: Draft, source: EvaluationRow) -> PlantedError | None:
    """One of the draft's lines of evidence, drawn, taken by ``source``; None where the draft has none."""
    lines = [row for row in draft.rows if row.kind is RowKind.EVIDENCE and row.text != source.text]
    if not lines:
        return None
    drawn = draw_share(seed, "line", annotator, draft.instance, draft.criterion)
    return PlantedError(
        draft.id, ErrorKind.EVIDENCE, draft_row=lines[int(drawn * len(lines))].id, source=source
    )


def apply_planted_error(draft: Draft, planted: PlantedError | None, output: str) -> Draft:
    """The draft as it is shown; untouched where nothing is planted, or where it is another draft by now."""
    if planted is None or planted.draft != draft.id:
        return draft
    if planted.kind is ErrorKind.EVIDENCE:
        return replace(draft, rows=tuple(_swapped(row, planted, output) for row in draft.rows))
    assert draft.score is not None and planted.score is not None
    rows = tuple(
        replace(row, text=_restated(row.text, draft.score, planted.score))
        if row.kind is RowKind.SCORE
        else row
        for row in draft.rows
    )
    # how the score came about would give the draft's own away
    return replace(draft, score=planted.score, rows=rows, reason="", raw="", samples=())


def _swapped(row: EvaluationRow, planted: PlantedError, output: str) -> EvaluationRow:
    if row.id != planted.draft_row or planted.source is None:
        return row
    quotes = tuple(_find_quote(quote.text, output) for quote in planted.source.quotes)
    return replace(row, text=planted.source.text, quotes=quotes)


def _find_quote(text: str, output: str) -> Quote:
    at = output.find(text)
    return Quote(text, at, at + len(text)) if text and at >= 0 else Quote(text)


def _restated(text: str, was: float, now: float) -> str:
    """The line that states the score, with the other score in its place and every other word as it was.

    >>> _restated("2. I would assign a score of 2 to this answer.", 2, 3)
    '2. I would assign a score of 3 to this answer.'
    >>> _restated("4", 4, 5), _restated("rather good", 4, 3)
    ('5', '3')
    """
    head = LIST_NUMBER.match(text)
    start = head.end() if head else 0
    number = re.compile(rf"(?<![\d.]){re.escape(f'{was:g}')}(?!\d|\.\d)")
    rest, replaced = number.subn(f"{now:g}", text[start:], count=1)
    return text[:start] + rest if replaced else f"{now:g}"
