"""The form and the tone of a drafted line: what a reader notices without reading the content.

A planted error may differ from a draft only in content, so lines and drafts are exchanged only within one
form. Two lines of one form have similar quotes, the same link between quotes and comment, and comments with
the same first words, length class and final punctuation.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from coeval.domain import Draft, EvaluationRow, RowKind

LIST_MARK = re.compile(r"\s*(?:(?:[-*•–—]|\(?(?:\d{1,2}|[A-Za-z])[.)])\s+)?")
LEAD_IN = re.compile(r"[^:：.!?]{0,80}[:：]\s*")
CLOSING = re.compile(r"[\"”“’'»」』]*")
QUOTE_SIGNS = re.compile(r"[\"“”„«»「」『』‘’]|(?<!\w)'|'(?!\w)")
WORD = re.compile(r"\w+")
STEP = math.log(1.3)
"""Two lengths in one class differ by less than thirty percent."""

DOUBTS = re.compile(r"\b(?:but|however|although|though|while|could|may|might|some\w*)\b", re.IGNORECASE)
DENIALS = re.compile(r"\b(?:not|no|lack\w*|fail\w*|without|never)\b|n[’']t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Comment:
    """A line of evidence, split where its comment begins."""

    line: EvaluationRow
    head: str
    """The list mark, lead-in and quotes, which are kept when another comment replaces this one."""
    text: str
    form: Hashable


@lru_cache(maxsize=8_000)
def take_apart(line: EvaluationRow) -> Comment | None:
    """Return the comment of a line, and the form that another comment needs to replace it.

    Returns None for a line that only quotes, or whose quotes are not found in it.

    >>> from coeval.domain import RowKind
    >>> found = take_apart(EvaluationRow(RowKind.EVIDENCE, "- Mind: this is too long."))
    >>> found.head, found.text
    ('- Mind: ', 'this is too long.')
    """
    mark = LIST_MARK.match(line.text)
    end = mark.end() if mark else 0
    for quote in line.quotes:
        at = line.text.find(quote.text, end)
        if at < 0 or not quote.text:
            return None
        end = at + len(quote.text)
    ends = (CLOSING if line.quotes else LEAD_IN).match(line.text, end)
    end = ends.end() if ends else end
    comment = line.text[end:]
    words = WORD.findall(comment)
    if not words:
        return None
    link, last = re.match(r"\W*", comment), re.search(r"\W*$", comment)
    form = (
        bool(line.quotes),
        link and link[0],
        last and last[0],
        tuple(word.casefold() for word in words[:2]),
        measure(comment),
        frozenset(QUOTE_SIGNS.findall(comment)),
    )
    return Comment(line, line.text[:end], comment, form)


def measure(text: str) -> int:
    """Return the length class of a text.

    >>> measure(""), measure("a" * 100) == measure("a" * 101), measure("a" * 100) < measure("a" * 150)
    (-1, True, True)
    """
    return int(math.log(len(text)) / STEP) if text else -1


def find_subjects(text: str) -> set[str]:
    """Return the stems of the words that may name the subject of a text.

    >>> sorted(find_subjects("It explains explanations of dogs."))
    ['dogs', 'explai', 'explan']
    """
    return {word.casefold()[:6] for word in WORD.findall(text) if len(word) > 3}


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
