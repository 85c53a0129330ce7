"""Read a score that an answer states in the form that was asked for: a labelled line, or a number alone.

Nothing here interprets sentences. An answer with several numbers, or one under another label, is not in the form.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from coeval.domain import Scale, TokenProb
from coeval.llm.reading.cleanup import fold
from coeval.llm.reading.markup import strip_markup

MAX_READ = 60_000
"""Longest answer that is read, in characters. A longer one has run away and is not in the form."""

EMPTY = "it contains no answer"
NO_FORM = "it is not in the form that was asked for"
DIFFERENT = "it states different scores"
CUT = "it ends before its score is complete"

_LABELS = r"score|rating|الدرجة|التقييم|درجة|تقييم"
_REASONS = r"(?:rationale|explanation|analysis|conclusion|evidence|reason(?:ing)?|التفسير|التحليل)"
_OF = r"[ \t]{0,3}(?:/|out of|of|من)[ \t]{0,3}(?P<of>\d{1,6})(?!\d|\.\d)"
_VALUE = rf"(?P<number>[-−]?\d{{1,6}}(?:[.٫]\d{{1,4}})?)(?:{_OF})?"
_WHOLE_VALUE = re.compile(rf"[\s\"'“(\[]{{0,5}}{_VALUE}[\s.\"'”)\]]{{0,5}}")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RANGE = r"(?![ \t]{0,3}(?:-|–|—|to|or|إلى|أو)[ \t]{0,3}\d)"


def plain(text: str) -> str:
    """Return the text with the digits 0 to 9 for those of any script, and without marks of direction.

    >>> plain("الدرجة: ٤")
    'الدرجة: 4'
    """
    text = _BIDI.sub("", text)
    if text.isascii():
        return text
    return "".join(_digit(char) if ord(char) > 127 and char.isdecimal() else char for char in text)


@lru_cache(maxsize=512)
def _digit(char: str) -> str:
    return str(unicodedata.decimal(char))


def read_value(value: object, scale: Sequence[float]) -> tuple[float | None, str]:
    """Return the score that a JSON value or the words after a label state, or None and the reason.

    >>> read_value("4/5", (1, 5)), read_value(9, (1, 5))
    ((4.0, ''), (None, '9 is outside the scale 1-5'))
    """
    low, high = float(scale[0]), float(scale[1])
    number: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) < 1e9 else math.inf
    elif isinstance(value, str):
        match = _WHOLE_VALUE.fullmatch(plain(value[:100]))
        if match and (match["of"] is None or float(match["of"]) == high):
            number = float(match["number"].replace("−", "-").replace("٫", "."))
    if number is None or not math.isfinite(number):
        shown = "null" if value is None else str(value)[:80]
        return None, f"“{shown}” is not a score from {low:g} to {high:g}"
    if not low <= number <= high:
        return None, f"{number:g} is outside the scale {low:g}-{high:g}"
    return number, ""


def name_of(criterion: str) -> str:
    """Return the name before a criterion's text ("Clarity: the text is …"), or the whole text if it is short."""
    return fold(criterion.partition(":")[0])[:60].strip(" .")


@dataclass(frozen=True, slots=True)
class Labels:
    """Where a score may be: ``line`` matches a line in the form.

    ``mention`` matches any number after a word for a score, or alone on its line.
    """

    line: re.Pattern[str]
    mention: re.Pattern[str]


@lru_cache(maxsize=256)
def labels_for(name: str, low: float, high: float) -> Labels:
    """Return the labels of one criterion: the words for a score, and the criterion's name."""
    words = f"{_LABELS}|{re.escape(name)}" if name else _LABELS
    line = (
        rf"^[ \t]{{0,9}}(?:[-•+–][ \t]+|\d{{1,2}}[.)][ \t]+)?(?:{words})[ \t]{{0,3}}"
        rf"(?:\({low:g}[ \t]?(?:-|–|to)[ \t]?{high:g}\))?[ \t]{{0,3}}[:：=][ \t]{{0,9}}(?P<value>{_VALUE})[ \t]{{0,9}}"
        rf"(?:[.,;|]?[ \t]{{0,200}}$|[-–|.;,(]?[ \t]{{0,9}}(?P<tail>{_REASONS}[ \t]{{0,3}}[:：][^\n]*)$)"
    )
    mention = (
        rf"(?<!\w)(?:(?:{words}|scores|ratings)\b|(?:grade|mark|verdict|answer)\b(?=[^\w\n]{{0,4}}[:：=]))[^\w\n]{{0,8}}"
        rf"(?:(?:is|of|was|be|to|as|a|an|should|would|it|now|becomes|remains|from me)\b[^\w\n]{{1,5}}){{0,4}}"
        rf"{_VALUE}{_RANGE}|^[^\w\n]{{0,5}}(?P<alone>\d{{1,6}})[^\w\n]{{0,5}}$"
    )
    return Labels(re.compile(line, re.I | re.M), re.compile(mention, re.I | re.M))


@dataclass(frozen=True, slots=True)
class Reading:
    """A score and the form in which it was stated, or None and ``why``.

    ``stated`` is the only number after a label in an answer that is not in the form. A second answer with another
    number contradicts it.
    """

    score: float | None
    why: str = ""
    form: str = ""
    stated: float | None = None


def read_words(
    text: str, scale: Sequence[float], name: str, *, given: frozenset[str] = frozenset(), whole: bool = True
) -> Reading:
    """Return the score in labelled lines, or in a number that is the whole answer.

    Lines that are also in ``given`` are copies. If the answer is not ``whole``, its last line counts only if it ends
    with a line break.
    """
    words = plain(strip_markup(text))
    if whole and _WHOLE_VALUE.fullmatch(words):
        score, why = read_value(words, scale)
        return Reading(score, why, "bare number" if score is not None else "")
    labels = labels_for(name, float(scale[0]), float(scale[1]))
    ended = words if whole else plain(strip_markup(text[: text.rfind("\n") + 1]))
    lines = [match for match in labels.line.finditer(ended) if fold(_line_of(ended, match)) not in given]
    mentioned = mentions(words, labels, given)
    if not lines:
        lost = not whole and re.search(r"\d\W*\Z", words)  # a number at the cut may have lost digits
        stated = next(iter(mentioned)) if len(mentioned) == 1 and not lost else None
        return Reading(None, CUT if not whole else NO_FORM, stated=stated)
    readings = {read_value(match["value"], scale) for match in lines}
    score, why = readings.pop()
    begun = not whole and _BEGUN.search(words)
    if readings or begun or (score is not None and mentioned - {score}):
        return Reading(None, DIFFERENT)
    return Reading(score, why, "label" if score is not None else "")


_BEGUN = re.compile(rf"(?:{_LABELS})[^\w\n]{{0,8}}\Z", re.I)
"""A label at the end of an answer that was cut off: another score was about to follow."""


def mentions(words: str, labels: Labels, given: frozenset[str]) -> set[float]:
    """Return every number that may be a score, without those in copied lines."""
    return {
        float((match["number"] or match["alone"]).replace("−", "-").replace("٫", "."))
        for match in labels.mention.finditer(words)
        if fold(_line_of(words, match)) not in given
    }


def _line_of(text: str, match: re.Match[str]) -> str:
    end = text.find("\n", match.end())
    return text[text.rfind("\n", 0, match.start() + 1) + 1 : end if end >= 0 else len(text)]


@lru_cache(maxsize=4)
def folded_lines(given: str) -> frozenset[str]:
    """Return the folded lines of the prompt and the sample. An answer that repeats one of them does not state it."""
    return frozenset(filter(None, map(fold, given[:1_000_000].splitlines())))


# The expected score under the model's token probabilities.

MAX_PLACES = 50
"""Number of tokens that are tried as the score's token."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The mean score under the model's token probabilities.

    ``probabilities`` are those of the scale's steps, normalised to a sum of 1; ``mass`` is their original sum.
    """

    score: float
    mass: float
    probabilities: tuple[float, ...] = ()


def expected_score(
    tokens: tuple[TokenProb, ...], scale: Scale, read: Callable[[str], float | None]
) -> Expected | None:
    """Return the expected score at the score's token, or None if the score is not a single token.

    ``read`` reads a score from a whole answer. The score's token is the one that, replaced with another step of the
    scale, changes the score that is read to that step, whatever the form of the answer. Tokens off the scale are left
    out, and the remaining probabilities are normalised.
    """
    place = _score_place([token.token for token in tokens], scale, read)
    if place is None:
        return None
    token = tokens[place]
    chances = dict(token.top) | {token.token: token.logprob}
    weights = dict.fromkeys(scale.steps, 0.0)
    for text, logprob in chances.items():
        step = _step(text, scale)
        if step is not None:
            weights[step] += math.exp(logprob)
    mass = math.fsum(weights.values())
    if mass <= 0:
        return None
    score = math.fsum(step * weight for step, weight in weights.items()) / mass
    return Expected(score, min(1.0, mass), tuple(weight / mass for weight in weights.values()))


def _score_place(texts: list[str], scale: Scale, read: Callable[[str], float | None]) -> int | None:
    score = read("".join(texts))
    if score is None:
        return None
    places = [index for index, text in enumerate(texts) if _step(text, scale) == score]
    other = next((step for step in reversed(scale.steps) if step != score), None)
    if other is None:
        return None
    for index in places[-MAX_PLACES:]:
        exchanged = texts[index].replace(str(int(score)), str(other))
        if read("".join([*texts[:index], exchanged, *texts[index + 1 :]])) == other:
            return index
    return None


def _step(text: str, scale: Scale) -> int | None:
    """Return the step of the scale that a token states, ignoring spaces."""
    digits = text.strip()
    return int(digits) if digits in {str(step) for step in scale.steps} else None
