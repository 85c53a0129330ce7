"""What a criterion's wording says about its scores: its name, and words that stand for scores."""

from __future__ import annotations

import re

from coeval.llm.reading.folding import fold
from coeval.llm.reading.markup import strip_bullet

MAX_CRITERION = 5000
"""Characters of a criterion that are looked at."""

MAX_NAME = 300
"""Longest text that an answer would repeat as the criterion's name."""

_HEAD = re.compile(r"[^:：(\n–—]{1,80}?(?=\s*[:：(–—]|\s+-\s|\s*$)")
_LEGEND = re.compile(
    r"(?<![\d.])(?P<n>-?\d{1,4})\s*(?:=|:|\(|means|is|[-–—])\s*[\"'“]?(?P<word>[^\d,;.()=\"”\n]{1,60}?)\s*"
    r"(?=[\"'”]?\s*(?:[,;.)\n]|$))"
)
_REVERSED = re.compile(
    r"(?P<word>[^\W\d_][^\d,;.()=:：\n]{0,40}?)\s*(?:=\s*|\(\s*)(?P<n>-?\d{1,4})(?![\d.%])"
)


def criterion_names(criterion: str) -> tuple[str, ...]:
    """The names under which an answer may state the criterion's rating, longest first.

    >>> criterion_names("Coherence (1-5): the collective quality of all sentences")
    ('Coherence (1-5): the collective quality of all sentences', 'Coherence')
    """
    text = strip_bullet(criterion[:MAX_CRITERION].strip())
    head = _HEAD.match(text)
    names = {head[0].strip()} if head else set()
    names |= {text.rstrip(".")} if len(text) <= MAX_NAME and len(text.split()) <= 20 else set()
    return tuple(sorted((name for name in names if re.search(r"[^\W\d_]", name)), key=lambda n: (-len(n), n)))


def names_criterion(words: str, names: tuple[str, ...]) -> bool:
    """Whether the words are a criterion's name and nothing more."""
    return fold(words).strip(" .:") in {fold(name) for name in names}


def echoes_criterion(words: str, names: tuple[str, ...]) -> bool:
    """Whether the words are the adjective of a criterion's name: "natural" of "naturalness"."""
    word = fold(words).strip(" .:")
    return len(word) > 3 and any(fold(name)[: len(word) - 1] == word[:-1] for name in names)


def anchors_of(criterion: str, low: float, high: float) -> dict[str, float]:
    """The words that the criterion's own text gives to its scores, folded; empty unless it names two or more.

    >>> anchors_of("Naturalness: 1 = bad, 2 = OK, 3 = good", 1, 3)
    {'bad': 1.0, 'ok': 2.0, 'good': 3.0}
    """
    for pattern in (_LEGEND, _REVERSED):
        legend = {
            fold(match["word"]).strip(" '"): float(match["n"])
            for match in pattern.finditer(criterion[:MAX_CRITERION])
        }
        anchors = {word: score for word, score in legend.items() if word and low <= score <= high}
        if len(set(anchors.values())) > 1:
            return anchors
    return {}


def anchor_score(words: str, criterion: str, low: float, high: float) -> float | None:
    """The score of an answer that is an anchor word and nothing more; None where the rubric does not define it."""
    anchors = anchors_of(criterion, low, high)
    if not anchors:
        return None
    answer = re.sub(r"^(?:rating|score|answer|response|[\w ]{1,30})\s*:\s*", "", fold(words)).strip(" .!'")
    return anchors.get(fold(words).strip(" .!'"), anchors.get(answer))
