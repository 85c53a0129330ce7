"""Quotations that are nearly in a text: a word changed, left out or added, found by alignment."""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz import fuzz

from coeval.llm.reading.folding import Folded, fold_offsets

LIKENESS = 88.0
"""Percent of likeness from which a passage counts as nearly the same."""

MIN_LENGTH, MAX_LENGTH = 20, 1000
"""Folded characters of a quotation that is aligned: a shorter one is like too much, a longer one costs too much."""

MAX_TEXT = 50_000
"""Characters of the text that are searched."""

_DIGITS = re.compile(r"\d+")
_NOT = re.compile(r"\b(?:not|no|never|none|cannot|without)\b|n't\b")


def locate_nearly(span: str, text: str) -> tuple[int, int] | None:
    """The offsets of the passage most like ``span``, in whole words; None where none is nearly the same.

    A passage with other numbers, or with a "not" more or less, says something else however alike it looks.
    """
    quote = fold_offsets(span).text.strip()
    if not MIN_LENGTH <= len(quote) <= MAX_LENGTH:
        return None
    folded = _fold(text[:MAX_TEXT])
    alignment = fuzz.partial_ratio_alignment(quote, folded.text, score_cutoff=LIKENESS)
    if alignment is None or alignment.dest_end <= alignment.dest_start or len(folded.text) < len(quote):
        return None
    start, end = _whole_words(folded.text, alignment.dest_start, alignment.dest_end)
    passage = folded.text[start:end]
    if fuzz.ratio(quote, passage) < LIKENESS or _facts(quote) != _facts(passage):
        return None
    return folded.slice_of(start, end)


@lru_cache(maxsize=4)
def _fold(text: str) -> Folded:
    return fold_offsets(text)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The span moved outwards to where words begin and end."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    while start < end and text[start] == " ":
        start += 1
    while end > start and text[end - 1] == " ":
        end -= 1
    return start, end


def _facts(text: str) -> tuple[list[str], int]:
    return sorted(_DIGITS.findall(text)), len(_NOT.findall(text))
