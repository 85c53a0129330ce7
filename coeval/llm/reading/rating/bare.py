"""Answers that state a rating without a cue: "4", "2. Somewhat", "Yes (1)", "3 out of 5"."""

from __future__ import annotations

import re

from coeval.llm.reading.echoes import is_echo
from coeval.llm.reading.rating.anchors import echoes_criterion, names_criterion
from coeval.llm.reading.rating.rating_shapes import ENDS, NUMBER, TARGET, Query, Stated, number_of

_WHOLE = re.compile(rf"\W*?{TARGET}\W*")
_NUMBERED = re.compile(r"^[^\w\n]{0,4}(\d{1,4})[ \t]*(?:[.):=-]|$)", re.M)
_LEGEND = re.compile(r"(?<![\d.])(\d{1,4})[ \t]*(?:\([^\W\d]|[=:-][ \t]*[^\W\d])")
_AFTER_MARKER = re.compile(rf"(?:[^\W\d][^\d\n:：]{{0,40}}[:：][ \t]*)?{TARGET}\W*")
_MARKER = re.compile(r"[^\w\n]{0,4}\d{1,3}[.)][ \t]+")
_LEADING = re.compile(rf"(?:[-•][ \t]+)?[^\w\n-]{{0,4}}{TARGET}")
_SEPARATED = re.compile(r"[ \t]*(?:[.:：)\]\-–—,(=;]|$)|[ \t]+(?=[A-Z])|[ \t]+(?:because|since|as)\b")
_BRACKETED = re.compile(rf"\([ \t]*{TARGET}[ \t]*\)")
_LABELLED_LINE = re.compile(rf"^\W{{0,4}}[^\W\d][^\d\n:：=]{{0,60}}[:：=][ \t]*{TARGET}{ENDS}", re.M)
_OUT_OF = re.compile(rf"{NUMBER}(?P<w>(?!))?(?![ \t]+of\b)")
_CLOSING = re.compile(rf"(?:^(?:[^\W\d]+[ \t]+){{0,2}}|[.,:;!?–—-][ \t]+|\bis[ \t]+){TARGET}\W*$")
_PRAISE = re.compile(r"(?:very |highly )?(?:yes|good|great|excellent|perfect|high|interesting)", re.I)


def bare(text: str, query: Query) -> Stated | None:
    """The number of an answer without a cue, or None; two that differ are no rating."""
    whole = _WHOLE.fullmatch(text)
    if whole:
        return Stated(number_of(whole, query.high), text)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(set(_NUMBERED.findall(text))) > 1 or len(set(_LEGEND.findall(text))) > 1:
        return _agreed(_LABELLED_LINE, text, query) or Stated(None, "a list of several items")
    return (
        _leading(lines, query)
        or _agreed(_BRACKETED, text, query)
        or _agreed(_LABELLED_LINE, text, query)
        or _agreed(_OUT_OF, text, query, fraction=True)
        or _closing(lines, query)
    )


def _leading(lines: list[str], query: Query) -> Stated | None:
    """The number that opens the answer, unless it only numbers a label, a question or the criterion's name."""
    if not lines:
        return None
    marker = _MARKER.match(lines[0])
    second = _AFTER_MARKER.fullmatch(lines[0], marker.end()) if marker else None
    match = second or _LEADING.match(lines[0])
    score = number_of(match, query.high) if match else None
    if match is None or score is None:
        return None
    rest = lines[0][match.end() :]
    words = rest.strip(" \t.:)-–—,(")
    if words.endswith("?") or (rest and not _SEPARATED.match(rest) and len(words.split()) > 3):
        return None
    numbered = rest.lstrip()[:1] in (".", ")") and _only_numbers(words, score, query)
    return Stated(None if numbered else score, lines[0])


def _only_numbers(words: str, score: float, query: Query) -> bool:
    """Whether the number before these words numbers an item: a label, or praise that it belies."""
    if names_criterion(re.split(r"[:(]", words)[0], query.names) and not re.search(r"\d", words):
        return True
    praised = echoes_criterion(words, query.names) or _PRAISE.fullmatch(words)
    return bool(praised) and score != query.high


def _agreed(pattern: re.Pattern[str], text: str, query: Query, *, fraction: bool = False) -> Stated | None:
    matches = [
        match
        for match in pattern.finditer(text)
        if (match["k"] or not fraction) and not is_echo(match[0], query.sample)
    ]
    scores = {score for match in matches if (score := number_of(match, query.high)) is not None}
    if len(scores) > 1:
        return Stated(None, "several numbers that differ")
    return Stated(scores.pop(), text[:80]) if scores else None


def _closing(lines: list[str], query: Query) -> Stated | None:
    match = _CLOSING.search(lines[-1][-200:]) if lines else None
    return Stated(number_of(match, query.high), match[0]) if match else None
