"""Automatic measures of an output against its reference or its input: none needs a download.

Each function makes a scorer of instances that gives one number each, nan where there is nothing to compare
with. The libraries are imported when the first score is asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from coeval.domain import Instance

Scorer = Callable[[Sequence[Instance]], list[float]]


def rouge(kind: str, against: str) -> Scorer:
    """ROUGE-1, -2 or -L ("1", "2", "L"): F1 over stemmed words, from 0 to 1."""

    def measure(output: str, other: str) -> float:
        from coeval.llm.assistants.rouge import rouge_l, rouge_n

        return rouge_l(output, other) if kind == "L" else rouge_n(output, other, int(kind))

    return lambda instances: [_compare(instance, against, measure) for instance in instances]


def bleu(against: str) -> Scorer:
    """Sentence BLEU (Papineni et al. 2002) with sacrebleu's smoothing and effective order, from 0 to 100."""
    return lambda instances: [_compare(instance, against, _sentence_bleu) for instance in instances]


def chrf(against: str) -> Scorer:
    """chrF (Popović 2015) as sacrebleu computes it, from 0 to 100."""
    return lambda instances: [_compare(instance, against, _sentence_chrf) for instance in instances]


def tfidf_cosine(against: str) -> Scorer:
    """Cosine of TF-IDF vectors of words, from 0 to 1.

    Term frequency times ln((1 + n) / (1 + df)) + 1 over the n texts compared (the smooth form of scikit-learn),
    so a word that stands in every text still counts a little.
    """

    def score(instances: Sequence[Instance]) -> list[float]:
        pairs = [(_words(instance.output), _words(_other(instance, against))) for instance in instances]
        texts = [words for pair in pairs for words in pair if words]
        seen = Counter(word for words in texts for word in words)
        weights = {word: math.log((1 + len(texts)) / (1 + count)) + 1 for word, count in seen.items()}
        return [_cosine(output, other, weights) for output, other in pairs]

    return score


def _other(instance: Instance, against: str) -> str:
    return instance.reference if against == "reference" else instance.input


def _compare(instance: Instance, against: str, measure: Callable[[str, str], float]) -> float:
    other = _other(instance, against)
    return measure(instance.output, other) if other.strip() and instance.output.strip() else math.nan


def _sentence_bleu(output: str, other: str) -> float:
    import sacrebleu

    return float(sacrebleu.sentence_bleu(output, [other]).score)


def _sentence_chrf(output: str, other: str) -> float:
    import sacrebleu

    return float(sacrebleu.sentence_chrf(output, [other]).score)


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def _cosine(left: Counter[str], right: Counter[str], weights: dict[str, float]) -> float:
    if not left or not right:
        return math.nan
    left_weights = {word: count * weights[word] for word, count in left.items()}
    right_weights = {word: count * weights[word] for word, count in right.items()}
    product = math.fsum(
        value * right_weights[word] for word, value in left_weights.items() if word in right_weights
    )
    norm = math.sqrt(math.fsum(v * v for v in left_weights.values())) * math.sqrt(
        math.fsum(v * v for v in right_weights.values())
    )
    return min(1.0, product / norm)
