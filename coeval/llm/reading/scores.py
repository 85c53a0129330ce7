"""Read a score or a preference that an answer states in the requested form: JSON, a labelled line, or the
value alone.

Nothing here interprets sentences. An answer with several numbers, or one under another label, is not in the form.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from coeval.folded_text import fold
from coeval.llm.reading.answer_text import find_json, strip_markup, strip_thoughts

MAX_READ = 60_000
"""Longest answer that is read, in characters. A longer one has run away and is not in the form."""

EMPTY = "it contains no answer"
NO_FORM = "it is not in the requested form"
DIFFERENT = "it states different scores"
CUT = "it ends before its score is complete"

_LABELS = r"score|rating|الدرجة|التقييم|درجة|تقييم"
REASONS = r"(?:rationale|explanation|analysis|conclusion|evidence|reason(?:ing)?|التفسير|التحليل)"
_OF = r"[ \t]{0,3}(?:/|out of|of|من)[ \t]{0,3}(?P<of>\d{1,6})(?!\d|\.\d)"
_DIGITS = r"\d{1,6}(?:[.٫]\d{1,4})?"
_VALUE = rf"(?P<number>[-−]?{_DIGITS})(?:{_OF})?"
_WHOLE_VALUE = re.compile(rf"[\s\"'“(\[]{{0,5}}{_VALUE}[\s.\"'”)\]]{{0,5}}")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile("[\u00a0\u202f\u3000]")
_RANGE = r"(?![.٫]?\d|[ \t]{0,3}(?:[-–—]>?|→|to|or|إلى|أو)[ \t]{0,3}\d|[^\w\n]{0,3}[:：=])"
"""Rejects a number if more digits, a range, a change, or the colon of a label follows it."""

_TOTALS = "overall|total|average|mean|sum"
SUMMARY = re.compile(
    rf"\n[^\w\n]{{0,9}}({_TOTALS})(?:[ \t]{{1,3}}(?:{_TOTALS}|{_LABELS})){{0,2}}"
    rf"(?:[ \t]?\({_DIGITS}[ \t]?(?:-|–|to)[ \t]?{_DIGITS}\))?[^\w\n]{{1,9}}?{_VALUE}[^\w\n]{{0,9}}$",
    re.I | re.M,
)
"""A line with a score of all criteria together."""

ANY_SCALE = (-math.inf, math.inf)


def plain(text: str) -> str:
    """Return the text with the digits 0 to 9 and the space for those of any script, and no marks of direction.

    >>> plain("الدرجة: ٤")
    'الدرجة: 4'
    """
    text = _SPACE.sub(" ", _BIDI.sub("", text))
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


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
    """Patterns of scores: ``line`` matches a line in the requested form.

    ``mention`` matches any number after a word for a score, or alone on its line, and ``further`` a line with a number
    after any label. After a score, such a line may correct it.
    """

    line: re.Pattern[str]
    mention: re.Pattern[str]
    further: re.Pattern[str]


@lru_cache(maxsize=256)
def labels_for(name: str, low: float, high: float) -> Labels:
    """Return the labels of one criterion: the words for a score, and the criterion's name."""
    words = f"{_LABELS}|{re.escape(name)}" if name else _LABELS
    sign = "[-−]?" if low < 0 else ""  # elsewhere, a dash before the number is punctuation
    value = rf"[^\w\n]{{0,8}}?(?P<number>{sign}{_DIGITS})(?:{_OF})?"
    line = (
        rf"^[ \t]{{0,9}}(?:[-•+–][ \t]+|\d{{1,2}}[.)][ \t]+)?(?:{words})[ \t]{{0,3}}"
        rf"(?:\({low:g}[ \t]?(?:-|–|to)[ \t]?{high:g}\))?[ \t]{{0,3}}[:：=][ \t]{{0,9}}(?P<value>{_VALUE})[ \t]{{0,9}}"
        rf"(?:[.,;|]?[ \t]{{0,200}}$|[-–|.;,(]?[ \t]{{0,9}}(?P<tail>{REASONS}[ \t]{{0,3}}[:：][^\n]*)$)"
    )
    mention = (
        rf"(?<!\w)(?:(?:{words}|scores|ratings)\b|(?:grade|mark|verdict|answer)\b(?=[^\w\n]{{0,4}}[:：=]))[^\w\n]{{0,8}}?"
        rf"(?:(?:is|of|was|be|to|as|a|an|should|would|it|now|becomes|remains|from me)\b[^\w\n]{{1,5}}?){{0,4}}"
        rf"{value}{_RANGE}|^[^\w\n]{{0,5}}?(?P<alone>{sign}{_DIGITS})(?:[ \t]?/[ \t]?\d{{1,6}})?[^\w\n]{{0,5}}$"
    )
    further = rf"^[^\n:：=]{{1,60}}[:：=]{value}[^\w\n]{{0,5}}$"
    return Labels(*(re.compile(pattern, re.I | re.M) for pattern in (line, mention, further)))


@dataclass(frozen=True, slots=True)
class ParsedEvaluation:
    """An evaluation. ``reason`` explains a missing ``score``; ``form`` names the form in which it was stated.

    ``stated`` is the only number that the answer gives as its score, also off the scale. A second answer with another
    number contradicts it.
    """

    conclusion: str = ""
    score: float | None = None
    evidence: tuple[str, ...] = ()
    reason: str = ""
    form: str = ""
    stated: float | None = None


def read_words(
    text: str, scale: Sequence[float], name: str, *, given: frozenset[str] = frozenset(), whole: bool = True
) -> ParsedEvaluation:
    """Return the score alone, in labelled lines or in a number that is the whole answer.

    Lines that are also in ``given`` are copies. If the answer is not ``whole``, its last line counts only if it ends
    with a line break.
    """
    words = plain(strip_markup(text))
    if whole and _WHOLE_VALUE.fullmatch(words):
        score, why = read_value(words, scale)
        stated, _ = read_value(words, ANY_SCALE)
        return ParsedEvaluation("", score, (), why, "bare number" if score is not None else "", stated)
    labels = labels_for(name, float(scale[0]), float(scale[1]))
    ended = words if whole else plain(strip_markup(text[: text.rfind("\n") + 1]))
    lines = [match for match in labels.line.finditer(ended) if fold(_line_of(ended, match)) not in given]
    mentioned = mentions(words, labels.mention, given)
    stated = next(iter(mentioned)) if len(mentioned) == 1 else None
    if not lines:
        lost = not whole and re.search(r"\d\W*\Z", words)  # a number at the cut may have lost digits
        return ParsedEvaluation(reason=NO_FORM if whole else CUT, stated=None if lost else stated)
    readings = {read_value(match["value"], scale) for match in lines}
    score, why = readings.pop()
    if readings or (not whole and _BEGUN.search(words)):
        return ParsedEvaluation(reason=DIFFERENT)
    further = mentions(words, labels.further, given, start=lines[-1].end())
    if score is not None and (mentioned | further) - {score}:
        labelled = mentions(words, labels.mention, given, alone=False)
        return ParsedEvaluation(reason=DIFFERENT, stated=score if labelled <= {score} else None)
    form = "label" if score is not None else ""
    return ParsedEvaluation("", score, (), why, form, None if lines[0]["of"] else stated)


_BEGUN = re.compile(rf"(?:{_LABELS})[^\w\n]{{0,8}}\Z", re.I)
"""A label at the end of an answer that was cut off: another score was about to follow."""


def mentions(
    words: str, pattern: re.Pattern[str], given: frozenset[str], *, start: int = 0, alone: bool = True
) -> set[float]:
    """Return every number that may be a score, without those in copied lines, and without those alone if not wanted."""
    return {
        float((match["number"] or match["alone"]).replace("−", "-").replace("٫", "."))
        for match in pattern.finditer(words, start)
        if fold(_line_of(words, match)) not in given and (alone or match["number"])
    }


def _line_of(text: str, match: re.Match[str]) -> str:
    """Return the line of a match, or 200 characters on both sides of it if the line is longer."""
    first, last = max(0, match.start() - 200), min(len(text), match.end() + 200)
    start, end = text.rfind("\n", first, match.start() + 1) + 1, text.find("\n", match.end(), last)
    return text[start or first : end if end >= 0 else last]


@lru_cache(maxsize=4)
def folded_lines(given: str) -> frozenset[str]:
    """Return the folded lines of the prompt and the sample. A line that an answer copies from them is ignored."""
    return frozenset(filter(None, map(fold, given[:1_000_000].splitlines())))


CHOICES = {"a": 1.0, "b": 0.0, "tie": 0.5}

NO_CHOICE = "it names neither A nor B nor a tie in the requested form"
SEVERAL_CHOICES = "it names several preferences"

_LINE = re.compile(
    r"^[^\w\n]{0,9}(?:preference|التفضيل)[ \t]{0,3}[:：=][ \t]{0,9}(?P<said>[^\n]{0,200})$", re.I | re.M
)
_OTHER = re.compile(
    r"\b(?:preference|verdict|winner|better|best|preferred|choice|answer)\b[\"']?[^\w\n]{0,4}(?:is\b|[:：=])\W{0,6}"
    r"(?:output |answer |response )?(?P<said>A|B|tie)\b",
    re.I,
)


def read_preference(text: str, *, given: str = "", whole: bool = True) -> tuple[float | None, str]:
    """Return the preference (1 for A, 0 for B, .5 for a tie), and "" or the reason why there is none. Never raise.

    The answer is JSON with the key "preference", a line "Preference: A", or the choice alone. Different choices are no
    preference. Copies from ``given`` do not count. If the answer is not ``whole``, its last line does not count.

    >>> read_preference("Analysis: A is longer.\\nPreference: B")
    (0.0, '')
    """
    text = strip_thoughts(text)
    if not re.search(r"\w", text) or len(text) > MAX_READ:
        return None, EMPTY
    copies = folded_lines(given)
    said = [
        str(part.value["preference"])
        for part in find_json(text)
        if isinstance(part.value, dict) and "preference" in part.value and not part.inside
        if not given or text[part.start : part.end] not in given
    ]
    words = strip_markup(text)
    if not said:
        lines = words if whole else words[: words.rfind("\n") + 1]
        said = [match["said"] for match in _LINE.finditer(lines) if fold(match[0]) not in copies]
        said += [match["said"] for match in _OTHER.finditer(lines) if said and fold(match[0]) not in copies]
    if not said and whole:
        said = [words]
    choices = {CHOICES.get(fold(choice).strip(" .'\"()[]")) for choice in said}
    if len(choices) > 1:
        return None, SEVERAL_CHOICES
    choice = choices.pop() if choices else None
    return (choice, "") if choice is not None else (None, NO_CHOICE)
