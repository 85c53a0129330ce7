"""Planted errors: deliberately wrong scores in drafts, to measure whether people notice them.

A score is shifted by one. The shift is drawn at random, so regressing people's scores on the shown score within an
item gives the true influence of the draft, undiluted by people who would have given that score anyway.

Only the score itself may distinguish a planted draft from another, on one screen or over many. So each exchange is
equally likely in both directions. Scores are exchanged between drafts of one form whose words suggest the same score:
as many 4s are shown as 3 as 3s are shown as 4 (a Metropolis step on the run's scores; Hastings 1970). Scores that
would be inconsistent are not planted: one that another line states, or a mean that the answers could not have.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from coeval.domain import Draft, EvaluationRow, RowKind, Scale
from coeval.rules.arms import draw_share

LIST_NUMBER = re.compile(r"\s*\d{1,2}[.)]\s+(?=\S)")
NUMBER = re.compile(r"(?<![\w.,])\d{1,9}(?:[.,]\d{1,17})?(?![\d\w]|[.,]\d|-[^\W\d])")
SCALE_END = re.compile(r"\d\s*(?:/|\bout of|\bof|[-–—]|\bto)\s*$", re.IGNORECASE)
SCALE_START = re.compile(r"\s*(?:[-–—]|to\b)\s*\d", re.IGNORECASE)
"""Text around the numbers of a scale ("4 out of 5", "on 1-5"), which are not scores."""

MEAN_OF = re.compile(r"\bmean of (\d{1,4}) answers, standard deviation (\d+(?:\.\d+)?)")
"""The phrase in CoEval's own drafts for a score that is the mean of several answers."""

NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMERAL = re.compile(rf"\b(?:{'|'.join(NUMERALS)})\b(?!-\w)", re.IGNORECASE)
EXTREMES = re.compile(
    r"\b(?:perfect|full|top|highest|maximum|lowest|minimum|worst|best)(?: possible)?"
    r" (?:scores?|marks?|ratings?|points)\b",
    re.IGNORECASE,
)

STEP = math.log(1.3)
"""Two lengths in one class differ by less than thirty percent."""

DOUBTS = re.compile(r"\b(?:but|however|although|though|while|could|may|might|some\w*)\b", re.IGNORECASE)
DENIALS = re.compile(r"\b(?:not|no|lack\w*|fail\w*|without|never)\b|n[’']t\b", re.IGNORECASE)

SALT = "sown"
"""The part of the hash for drawing planted errors.

It never changes, because running studies would change too.
"""

SAMPLE = 200
"""The number of drafts to read. It is large enough to find scores and forms, and small enough while a person waits."""


NEAR = 0.2
"""Drafts may exchange their scores if their words suggest scores within this many standard deviations."""
LEAST = 16
"""The smallest number of other drafts from which the tone of words is learned."""


@dataclass(frozen=True, slots=True)
class PlantedError:
    """The score that one person sees in ``draft`` instead of its own."""

    draft: int
    score: float


def is_drawn(seed: str, annotator: int, instance: int, criterion: int, planted_share: float) -> bool:
    """Return whether an error is to be planted in this person's draft.

    >>> is_drawn("s", 1, 1, 1, 0.0), is_drawn("s", 1, 1, 1, 1.0)
    (False, True)
    """
    return draw_share(seed, SALT, annotator, instance, criterion) < planted_share


def draw_place(seed: str, annotator: int, instance: int, criterion: int, size: int) -> int:
    """Return the position, from 1 to ``size``, at which the search for neighbours begins."""
    return 1 + int(draw_share(seed, "source", annotator, instance, criterion) * size)


def plant_score(
    seed: str, annotator: int, draft: Draft, scale: Scale, run: Sequence[Draft]
) -> PlantedError | None:
    """Return the draft's score shifted up or down by one, as drawn.

    Returns None if the draft could not plausibly have that score, or by chance if fewer drafts of its form
    and tone have it.
    """
    if draft.score is None:
        return None
    key = (annotator, draft.instance, draft.criterion)
    step = 1 if draw_share(seed, "shift", *key) < 0.5 else -1
    shifted = _shift(draft.score, step)
    if not _could_have(draft, shifted, scale):
        return None
    form, common = _read_verdict(draft).form, Counter([_bin(4 * draft.score)])
    for other in _list_alike(
        draft, [neighbour for neighbour in run if neighbour.id != draft.id and neighbour.score is not None]
    ):
        assert other.score is not None
        for at, away in ((draft.score, step), (shifted, -step)):
            alike = _bin(4 * other.score) == _bin(4 * at) and _read_verdict(other).form == form
            if alike and _could_have(other, _shift(other.score, away), scale):
                common[_bin(4 * at)] += 1
    if draw_share(seed, "exchange", *key) >= common[_bin(4 * shifted)] / common[_bin(4 * draft.score)]:
        return None
    return PlantedError(draft.id, shifted)


def _list_alike(draft: Draft, others: Sequence[Draft]) -> list[Draft]:
    """Return the drafts whose words suggest the same score as the words of this draft.

    What words suggest is learned from one half of the others, and the drafts are from the other half, so that no
    draft's own score decides. Too few teach nothing: then only drafts with the same words are alike.
    """
    if len(others) < LEAST:
        return [other for other in others if list_words(other) == list_words(draft)]
    near = NEAR * float(np.std([other.score for other in others if other.score is not None]))
    estimate, *suggested = suggest_scores(others[::2], [draft, *others[1::2]])
    return [
        other
        for other, suggestion in zip(others[1::2], suggested, strict=True)
        if abs(suggestion - estimate) <= near
    ]


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The statements of a draft's lines about its score."""

    form: Hashable
    """The properties that drafts must share to exchange scores: the spread of the answers, and the shape."""
    named: tuple[float, ...]
    """Numbers in other lines, as digits or words, outside their quotes."""
    moves: bool
    """True if the score can be restated, and no other number could be mistaken for the score."""


@lru_cache(maxsize=4_000)
def _read_verdict(draft: Draft) -> _Verdict:
    assert draft.score is not None
    spread, named, moves = [], [], True
    for row in draft.rows:
        if row.kind is not RowKind.SCORE:
            text = unquote(row)
            head = LIST_NUMBER.match(text)
            digits = NUMBER.finditer(text, head.end() if head else 0)
            named += [float(digit[0].replace(",", ".")) for digit in digits]
            named += [NUMERALS.index(numeral[0].casefold()) for numeral in NUMERAL.finditer(text)]
            moves = moves and not EXTREMES.search(text)
            continue
        mean = MEAN_OF.search(row.text)
        spread += [mean[2]] if mean else []
        beside = (
            _numbers_beside(row.text, draft.score) or NUMERAL.search(row.text) or EXTREMES.search(row.text)
        )
        counted = mean is None or int(mean[1]) == len(draft.samples)
        moves = moves and counted and not beside and restate(row.text, draft.score, draft.score) is not None
    form = (*spread, _count_doubts(draft))
    return _Verdict(form, tuple(named), moves)


def _count_doubts(draft: Draft) -> Hashable:
    """Return the number of doubts and negations in each kind of line, and the length of the score line.

    A 5 that "could be simpler" is as conspicuous as a 2 without a "not", even where a run has too few of them
    for its tone to be learned.
    """
    score, conclusion = (
        " ".join(row.text for row in draft.rows if row.kind is kind)
        for kind in (RowKind.SCORE, RowKind.CONCLUSION)
    )
    comments = " ".join(unquote(row) for row in draft.rows if row.kind is RowKind.EVIDENCE)
    return (
        min(2, len(DOUBTS.findall(score))),
        min(1, len(DOUBTS.findall(conclusion))),
        min(1, len(DENIALS.findall(score))),
        min(2, len(DENIALS.findall(conclusion))),
        min(1, len(DENIALS.findall(comments))),
        bool(LETTERS.search(comments)),
        measure(score) // 3,
    )


def _could_have(draft: Draft, score: float, scale: Scale) -> bool:
    """Return whether a draft could have this score without contradicting its other lines or arithmetic."""
    assert draft.score is not None
    moved = [sample + score - draft.score for sample in draft.samples]
    if not all(scale.low - 1e-9 <= number <= scale.high + 1e-9 for number in (score, *moved)):
        return False
    verdict = _read_verdict(draft)
    # a line from one answer may contain that answer's score, while the mean differs
    clashes = any(abs(number - value) < 1 for number in verdict.named for value in (score, draft.score))
    return verdict.moves and not clashes


def _bin(score: float) -> int:
    """Return the score rounded half up, so that one more always gives the next integer.

    >>> _bin(3.5), _bin(4.5), _bin(2.49)
    (4, 5, 2)
    """
    return math.floor(score + 0.5)


def _shift(score: float, step: int) -> float:
    """Return the score plus ``step``, with no more digits than the score has.

    >>> _shift(4.1, -1), _shift(3.0, 1)
    (3.1, 4.0)
    """
    digits = len(repr(score).partition(".")[2])
    return round(score + step, digits)


def apply_planted_error(draft: Draft, planted: PlantedError | None) -> Draft:
    """Return the draft as shown: unchanged if nothing is planted, or if the draft was replaced."""
    if planted is None or planted.draft != draft.id:
        return draft
    assert draft.score is not None
    rows = tuple(
        replace(row, text=restate(row.text, draft.score, planted.score) or f"{planted.score:g}")
        if row.kind is RowKind.SCORE
        else row
        for row in draft.rows
    )
    # the origin of the score would reveal the draft's own score
    return replace(draft, score=planted.score, rows=rows, reason="", raw="", samples=())


def restate(text: str, was: float, now: float) -> str | None:
    """Return the line that states the score, with the other score in its place and all other words unchanged.

    Returns None if the line does not state the score. The new number has as many decimals as the old one.

    >>> restate("2. I would assign a score of 2 to this answer: 2/5.", 2, 3)
    '2. I would assign a score of 3 to this answer: 3/5.'
    >>> restate("Score: 3.67 (of 5)", 11 / 3, 14 / 3), restate("rather good", 4, 3)
    ('Score: 4.67 (of 5)', None)
    """
    parts, end = [], 0
    for number, is_score in _read_numbers(text, was):
        if is_score:
            parts += [text[end : number.start()], _written(number[0], now)]
            end = number.end()
    return "".join([*parts, text[end:]]) if end else None


def _numbers_beside(text: str, score: float) -> list[str]:
    """Return the numbers in a score line other than its list number, the scale's numbers and the score."""
    return [number[0] for number, is_score in _read_numbers(text, score) if not is_score]


def _read_numbers(text: str, score: float) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield the numbers in a score line except its list number and the scale's; True marks the score."""
    head, mean = LIST_NUMBER.match(text), MEAN_OF.search(text)
    start = head.end() if head else 0
    for number in NUMBER.finditer(text, start):
        before, after = (
            text[max(start, number.start() - 16) : number.start()],
            text[number.end() : number.end() + 6],
        )
        if SCALE_END.search(before) or SCALE_START.match(after):
            continue
        if mean is None or not mean.start() <= number.start() < mean.end():
            yield number, _states(number[0], score)


def _states(number: str, score: float) -> bool:
    return math.isclose(
        float(number.replace(",", ".")), score, abs_tol=0.5 * 10.0 ** -_decimals(number) + 1e-9
    ) and (_decimals(number) > 0 or score == int(score))


def _decimals(number: str) -> int:
    return len(re.split("[.,]", number)[1]) if re.search("[.,]", number) else 0


def _written(like: str, score: float) -> str:
    """Return a score with the decimals and the decimal mark of ``like``."""
    text = f"{score:.{_decimals(like)}f}"
    return text.replace(".", ",") if "," in like else text


def measure(text: str) -> int:
    """Return the length class of a text.

    >>> measure(""), measure("a" * 100) == measure("a" * 101), measure("a" * 100) < measure("a" * 150)
    (-1, True, True)
    """
    return int(math.log(len(text)) / STEP) if text else -1


# The tone of a draft: the score that its conclusion suggests, as other drafts of the same run use words.

LETTERS = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]+)?")
STEM = 7
"""The letters of a word that count, so that its forms count as one word."""
PENALTIES = (1.0, 4.0, 16.0, 64.0, 256.0)
"""The penalties of the regression. The one with the smallest error on drafts that it has not seen is used."""


def unquote(row: EvaluationRow) -> str:
    """Return a line without the spans that it quotes."""
    text = row.text
    for quote in row.quotes:
        text = text.replace(quote.text, " ", 1) if quote.text else text
    return text


@lru_cache(maxsize=4_000)
def list_words(draft: Draft) -> frozenset[str]:
    """Return the words of a draft's conclusion and score line, without quotes and numbers.

    The lines of evidence speak of the text more than of its score.
    """
    return frozenset(
        f"{row.kind} {word.casefold()[:STEM]}"
        for row in draft.rows
        if row.kind is not RowKind.EVIDENCE
        for word in LETTERS.findall(unquote(row))
    )


def suggest_scores(learned: Sequence[Draft], drafts: Sequence[Draft]) -> npt.NDArray[np.float64]:
    """Return the score that the words of each draft suggest, by a ridge regression on the learned drafts."""
    scores = np.array([draft.score for draft in learned], dtype=float)
    times = Counter(word for draft in learned for word in list_words(draft))
    common = [word for word, n in times.items() if n > 1]
    columns = {word: at for at, word in enumerate(common)}
    if not columns:
        return np.zeros(len(drafts))
    known, asked = _count(learned, columns), _count(drafts, columns)
    middle, mean = known.mean(axis=0), scores.mean()
    values, vectors = np.linalg.eigh((known - middle) @ (known - middle).T)
    turned = vectors.T @ (scores - mean)
    best: tuple[float, npt.NDArray[np.float64]] | None = None
    for penalty in PENALTIES:
        kept = 1 / (np.maximum(values, 0) + penalty)
        weights = vectors @ (kept * turned)
        # the mean squared error on each draft for the regression on all the others
        error = float(np.mean((weights / (vectors**2 @ kept)) ** 2))
        if best is None or error < best[0]:
            best = error, weights
    assert best is not None
    suggested: npt.NDArray[np.float64] = mean + (asked - middle) @ ((known - middle).T @ best[1])
    return suggested


def _count(drafts: Sequence[Draft], columns: Mapping[str, int]) -> npt.NDArray[np.float64]:
    table = np.zeros((len(drafts), len(columns)))
    for line, draft in zip(table, drafts, strict=True):
        line[[columns[word] for word in list_words(draft) if word in columns]] = 1
    return table
