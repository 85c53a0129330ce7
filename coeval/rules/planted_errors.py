"""Planted errors: something wrong on purpose, so that it shows whether people let it stand.

A score is shifted by one, or one line of evidence is swapped with a line about another instance. The shift of
the shown score is drawn, so a person's score regressed on it within an item gives the true pull of the draft,
undiluted by those who would have given that score anyway.

Nothing but the error itself may tell a planted draft from another. So a wrong score is written just as the draft's
own was, with as many digits; a foreign line quotes what the own line quoted; and scores are exchanged: as many 4s
are shown as 3 as 3s are shown as 4 (a Metropolis step on the run's scores; Hastings 1970), so that how common a
score is says nothing either. Where a run gives one score to nearly everything, few scores can be planted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from coeval.domain import Draft, EvaluationRow, Quote, RowKind, Scale
from coeval.rules.arms import draw_share

LIST_NUMBER = re.compile(r"\s*\d{1,2}[.)]\s+(?=\S)")
NUMBER = re.compile(r"(?<![\w.,])\d{1,9}(?:[.,]\d{1,17})?(?![\d\w]|[.,]\d)")
SCALE_END = re.compile(r"\d\s*(?:/|\bout of|\bof|[-–—]|\bto)\s*$", re.IGNORECASE)
SCALE_START = re.compile(r"\s*(?:[-–—]|to\b)\s*\d", re.IGNORECASE)
"""What stands before and after the numbers of a scale ("4 out of 5", "on 1-5"): these are no score."""

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
    text: str = ""
    """What is shown of it; empty in what was planted before lines kept the quotes of the draft."""


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


def plant_score(
    seed: str, annotator: int, draft: Draft, scale: Scale, common: Mapping[int, int]
) -> PlantedError | None:
    """The draft's score one higher or one lower, as drawn; ``common`` counts the run's scores, rounded.

    None where that is not on the scale, where the draft does not write its score as a number, or where the drawn
    score is the rarer and the draw says no.
    """
    if draft.score is None or not _is_restated(draft, draft.score):
        return None
    key = (annotator, draft.instance, draft.criterion)
    shifted = _shift(draft.score, 1 if draw_share(seed, "shift", *key) < 0.5 else -1)
    if not scale.low <= shifted <= scale.high:
        return None
    ratio = common.get(_bin(shifted), 0) / max(common.get(_bin(draft.score), 0), 1)
    return (
        None
        if draw_share(seed, "exchange", *key) >= ratio
        else PlantedError(draft.id, ErrorKind.SCORE, score=shifted)
    )


def _bin(score: float) -> int:
    """The whole score that a score counts as; one more is always the next.

    >>> _bin(3.5), _bin(4.5), _bin(2.49)
    (4, 5, 2)
    """
    return math.floor(score + 0.5)


def count_scores(scores: Iterable[float]) -> Counter[int]:
    """How often each score is given, rounded to a whole one."""
    return Counter(_bin(score) for score in scores)


def _shift(score: float, step: int) -> float:
    """One more or less, with no more digits than the score has.

    >>> _shift(4.1, -1), _shift(3.0, 1)
    (3.1, 4.0)
    """
    digits = len(repr(score).partition(".")[2])
    return round(score + step, digits)


def _is_restated(draft: Draft, score: float) -> bool:
    rows = [row for row in draft.rows if row.kind is RowKind.SCORE]
    return all(restate(row.text, score, score) is not None for row in rows)


def draw_line(seed: str, annotator: int, draft: Draft) -> int | None:
    """Which of the draft's lines of evidence is to be swapped, counted from 0; None where it has none."""
    lines = [row for row in draft.rows if row.kind is RowKind.EVIDENCE]
    drawn = draw_share(seed, "line", annotator, draft.instance, draft.criterion)
    return int(drawn * len(lines)) if lines else None


def plant_evidence(draft: Draft, at: int, source: Draft) -> PlantedError | None:
    """A line of evidence taken by the line of that number in ``source``, which quotes what the own line quoted.

    None where there is no such line, or the two do not quote as many spans.
    """
    own, foreign = ([row for row in each.rows if row.kind is RowKind.EVIDENCE] for each in (draft, source))
    if at >= min(len(own), len(foreign)):
        return None
    text = _requote(foreign[at], own[at])
    if text is None or text == own[at].text:
        return None
    return PlantedError(draft.id, ErrorKind.EVIDENCE, draft_row=own[at].id, source=foreign[at], text=text)


def _requote(foreign: EvaluationRow, own: EvaluationRow) -> str | None:
    """The foreign line with the own line's quotes in the place of its own; None where they do not fit."""
    if len(foreign.quotes) != len(own.quotes):
        return None
    parts, end = [], 0
    for theirs, ours in zip(foreign.quotes, own.quotes, strict=True):
        start = foreign.text.find(theirs.text, end)
        if start < 0 or not theirs.text:
            return None
        parts += [foreign.text[end:start], ours.text]
        end = start + len(theirs.text)
    return "".join([*parts, foreign.text[end:]])


def apply_planted_error(draft: Draft, planted: PlantedError | None, output: str) -> Draft:
    """The draft as it is shown; untouched where nothing is planted, or where it is another draft by now."""
    if planted is None or planted.draft != draft.id:
        return draft
    if planted.kind is ErrorKind.EVIDENCE:
        return replace(draft, rows=tuple(_swapped(row, planted, output) for row in draft.rows))
    assert draft.score is not None and planted.score is not None
    rows = tuple(
        replace(row, text=restate(row.text, draft.score, planted.score) or f"{planted.score:g}")
        if row.kind is RowKind.SCORE
        else row
        for row in draft.rows
    )
    # how the score came about would give the draft's own away
    return replace(draft, score=planted.score, rows=rows, reason="", raw="", samples=())


def _swapped(row: EvaluationRow, planted: PlantedError, output: str) -> EvaluationRow:
    if row.id != planted.draft_row or planted.source is None:
        return row
    if planted.text:
        return replace(row, text=planted.text)
    quotes = tuple(_find_quote(quote.text, output) for quote in planted.source.quotes)
    return replace(row, text=planted.source.text, quotes=quotes)


def _find_quote(text: str, output: str) -> Quote:
    at = output.find(text)
    return Quote(text, at, at + len(text)) if text and at >= 0 else Quote(text)


def restate(text: str, was: float, now: float) -> str | None:
    """The line that states the score, with the other score in its place and every other word as it was.

    None where it states none. The new number has as many decimals as the old one had.

    >>> restate("2. I would assign a score of 2 to this answer: 2/5.", 2, 3)
    '2. I would assign a score of 3 to this answer: 3/5.'
    >>> restate("Score: 3.67 (of 5)", 11 / 3, 14 / 3), restate("rather good", 4, 3)
    ('Score: 4.67 (of 5)', None)
    """
    head = LIST_NUMBER.match(text)
    start = head.end() if head else 0
    parts, end = [text[:start]], start
    for number in NUMBER.finditer(text, start):
        before, after = (
            text[max(start, number.start() - 16) : number.start()],
            text[number.end() : number.end() + 6],
        )
        if SCALE_END.search(before) or SCALE_START.match(after) or not _states(number[0], was):
            continue
        parts += [text[end : number.start()], _written(number[0], now)]
        end = number.end()
    return "".join([*parts, text[end:]]) if end > start else None


def _states(number: str, score: float) -> bool:
    return math.isclose(
        float(number.replace(",", ".")), score, abs_tol=0.5 * 10.0 ** -_decimals(number) + 1e-9
    ) and (_decimals(number) > 0 or score == int(score))


def _decimals(number: str) -> int:
    return len(re.split("[.,]", number)[1]) if re.search("[.,]", number) else 0


def _written(like: str, score: float) -> str:
    """A score with the decimals and the decimal mark of another number."""
    text = f"{score:.{_decimals(like)}f}"
    return text.replace(".", ",") if "," in like else text
