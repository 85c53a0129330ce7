"""The tone of a draft: the score that its conclusion suggests, as other drafts of the same run use words.

A planted score must not be told from the words beside it: "excellent" beside a 2 is conspicuous in any language. Which
words go with which score is learned from the run itself, so no list of words is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from coeval.domain import Draft, EvaluationRow, RowKind

WORD = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]+)?")
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
        for word in WORD.findall(unquote(row))
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
