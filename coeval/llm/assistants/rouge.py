"""ROUGE (Lin 2004): F1 of the words, word pairs or longest common subsequence of two texts, words stemmed.

Words are runs of Latin letters and digits in lower case, and those of more than three letters are stemmed, as in
Google's rouge-score. The stemmer is Snowball's for English (Porter 2) in place of NLTK's variant of Porter's: of
399 pairs of real texts one ROUGE-1 differs from that package's, by .004, and no ROUGE-2 or ROUGE-L.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import snowballstemmer
from rapidfuzz.distance import LCSseq

_WORD = re.compile(r"[a-z0-9]+")
_stemmer = snowballstemmer.stemmer("english")
STEMMED_FROM = 4
"""Letters of the shortest word that is stemmed."""


def rouge_n(output: str, other: str, n: int) -> float:
    """F1 of the sequences of ``n`` words, from 0 to 1.

    >>> round(rouge_n("the cats sat", "the cat sat down", 1), 4)
    0.8571
    """
    left, right = (Counter(_sequences(_words(text), n)) for text in (output, other))
    return _f1((left & right).total(), left.total(), right.total())


def rouge_l(output: str, other: str) -> float:
    """F1 of the longest common subsequence of words, from 0 to 1.

    >>> rouge_l("a b c d", "a c b d")
    0.75
    """
    left, right = _words(output), _words(other)
    return _f1(LCSseq.similarity(left, right), len(left), len(right))


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower())]


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word)) if len(word) >= STEMMED_FROM else word


def _sequences(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + n]) for at in range(len(words) - n + 1)]


def _f1(common: int, in_output: int, in_other: int) -> float:
    """Harmonic mean of precision and recall: twice what is common over what there is in both."""
    return 2 * common / (in_output + in_other) if common else 0.0
