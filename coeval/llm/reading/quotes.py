"""Find an evaluation's quotations in the output, even if a word differs."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from rapidfuzz import fuzz

from coeval.domain import Quote, QuotePlace
from coeval.folded_text import Folded, fold_offsets
from coeval.llm.reading.answer_text import strip_bullet, strip_markup

LIKENESS = 88.0
"""Minimum similarity, in percent, of a passage that counts as nearly the same."""

MIN_LENGTH, MAX_LENGTH = 20, 1000
"""Length range of an aligned quotation, in folded characters. Shorter quotations match too much; longer ones take
too long.
"""

MAX_SEARCHED = 50_000
"""Number of characters of the text that are searched."""

_DIGITS = re.compile(r"\d+")
_NOT = re.compile(r"\b(?:not|no|never|none|cannot|without)\b|n't\b")


def locate_nearly(span: str, text: str) -> tuple[int, int] | None:
    """Return the offsets of the passage most like ``span``, in whole words, or None if none is nearly the same.

    A passage with different numbers, or with an extra or a missing "not", does not match, however similar it is.
    """
    quote = fold_offsets(span).text.strip()
    if not MIN_LENGTH <= len(quote) <= MAX_LENGTH:
        return None
    folded = _fold(text[:MAX_SEARCHED])
    alignment = fuzz.partial_ratio_alignment(quote, folded.text, score_cutoff=LIKENESS)
    if alignment is None or alignment.dest_end <= alignment.dest_start or len(folded.text) < len(quote):
        return None
    start, end = _whole_words(folded.text, alignment.dest_start, alignment.dest_end)
    passage = folded.text[start:end]
    if fuzz.ratio(quote, passage) < LIKENESS or _facts(quote) != _facts(passage):
        return None
    return folded.slice_of(start, end)


_fold = lru_cache(maxsize=4)(fold_offsets)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span extended to whole words."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    blank = len(text[start:end]) - len(text[start:end].lstrip(" "))
    return start + blank, start + len(text[start:end].rstrip(" "))


def _facts(text: str) -> tuple[list[str], int]:
    return sorted(_DIGITS.findall(text)), len(_NOT.findall(text))


MAX_QUOTES = 40
"""Largest number of quotations per line; others are ignored."""

MAX_LINE = 8000
"""Number of characters of a line that are searched for quotations."""

_MAX_LOOKS = 200
_CLOSERS = dict(zip("“‟«‹「『《〈", "””»›」』》〉", strict=True)) | {"„": "“”"}
_OPENER = re.compile(r"[\"`“„‟«‹「『《〈＂]|(?<!\w)['‘](?=\S)")
_SINGLE_END = re.compile(r"(?<=\S)['’](?!\w)")
_ELISION = re.compile(r"\s*(?:\[\s*(?:\.\.\.|…)\s*\]|\(\s*(?:\.\.\.|…)\s*\)|\.\.\.|…)\s*")
_TRAILING = " \t\n.,;:!?…'\"”’"
_MIN_WORDS, _MIN_DENSE = 3, 8


def find_quotes(line: str, output: str, source: str = "") -> tuple[Quote, ...]:
    """Return a line's quotations in order, with their offsets in ``output`` or else in its input ``source``.

    Quotation marks are straight, curly or angled marks, CJK brackets and backticks, but not apostrophes inside a word.
    A line without marks is itself a quotation if the output contains it word for word. Each quotation is matched
    verbatim, then without regard to white space, case and the kind of mark or dash, then without the comma or full
    stop before a closing mark. A quotation with an ellipsis is matched part by part. Matches that cut a word do not
    count. A quotation that is not in the output is looked for in the input, then by alignment in the output. A
    quotation that is nowhere has no offsets. Time is linear in both texts for each of at most `MAX_QUOTES` spans.

    >>> find_quotes("It says “HELLO  world”.", "Well, hello world!")
    (Quote(text='HELLO  world', start=6, end=17, place=<QuotePlace.OUTPUT: 'output'>),)
    """
    line = line[:MAX_LINE]
    spans = _quoted_spans(line)
    if not spans:
        whole = _whole_line(line, output)
        return (whole,) if whole else ()
    quotes = [quote for span in spans for quote in _locate_parts(span, output, source)]
    return tuple(quotes[:MAX_QUOTES])


def _quoted_spans(line: str) -> list[str]:
    """Return the texts between matching marks, outermost first. Marks that are never closed are skipped."""
    spans: list[str] = []
    exhausted: set[str] = set()
    opening = _OPENER.search(line)
    while opening and len(spans) < MAX_QUOTES:
        mark, start = opening[0], opening.end()
        end = -1 if mark in exhausted else _closing(line, mark, start)
        if end < 0:
            exhausted.add(mark)
            opening = _OPENER.search(line, start)
            continue
        if re.search(r"\w", line[start:end]):
            spans.append(line[start:end].strip())
        opening = _OPENER.search(line, end + 1)
    return spans


def _closing(line: str, mark: str, start: int) -> int:
    """Return the end of the quotation that ``mark`` opened, or -1."""
    if mark in "'‘":
        match = _SINGLE_END.search(line, start)
        return match.start() if match else -1
    ends = [line.find(closer, start) for closer in _CLOSERS.get(mark, mark)]
    return min((end for end in ends if end >= 0), default=-1)


def _whole_line(line: str, output: str) -> Quote | None:
    text = strip_bullet(strip_markup(line))
    if len(text.split()) < _MIN_WORDS and not (len(text) >= _MIN_DENSE and not text.isascii()):
        return None
    quote = _locate(text, output)
    return quote if quote.found else None


def _locate_parts(span: str, output: str, source: str) -> list[Quote]:
    """Locate the span, or its parts around an ellipsis."""
    return [
        quote if quote.located else _look_further(quote, output, source) for quote in _parts(span, output)
    ]


def _look_further(quote: Quote, output: str, source: str) -> Quote:
    """Search the input, and then similar passages, for a quotation that is not literally in the output."""
    elsewhere = _locate(quote.text, source) if source else quote
    if elsewhere.located:
        return replace(elsewhere, place=QuotePlace.INPUT)
    nearly = locate_nearly(quote.text, output)
    return Quote(quote.text, *nearly, QuotePlace.NEAR) if nearly else quote


def _parts(span: str, output: str) -> list[Quote]:
    whole = _locate(span, output)
    parts = [part for part in _ELISION.split(span) if re.search(r"\w", part)]
    if whole.found or not parts or parts == [span]:
        return [whole]
    return [_locate(part, output) for part in parts]


def _locate(span: str, output: str) -> Quote:
    """Return the first occurrence of the span in the output, by the strictest comparison that finds one."""
    exact = Folded(output, range(len(output)))
    for words, text in ((span, exact), (fold_offsets(span).text.strip(), _fold(output))):
        for part in dict.fromkeys((words, words.rstrip(_TRAILING))):
            place = _find_words(part, text, output) if part else None
            if place:
                return Quote(span, *place)
    return Quote(span)


def _find_words(words: str, text: Folded, output: str) -> tuple[int, int] | None:
    """Return the offsets in the output of the first occurrence that does not cut a word in two."""
    at = text.text.find(words)
    for _ in range(_MAX_LOOKS):
        if at < 0:
            return None
        start, end = text.slice_of(at, at + len(words))
        if not _cuts_word(output, start, end):
            return start, end
        at = text.text.find(words, at + 1)
    return None


def _cuts_word(text: str, start: int, end: int) -> bool:
    """Return whether either end of a span cuts a number, or a word in a script with letter case."""
    edges = [at for at in (start, end) if 0 < at < len(text)]
    return any(_in_word(text[at - 1]) and _in_word(text[at]) for at in edges)


def _in_word(char: str) -> bool:
    return char.isdecimal() or char.lower() != char.upper()
