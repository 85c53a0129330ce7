"""How alike two criteria are, and groups of criteria that say the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from coeval.domain import Origin, Proposal

SAME = 76.5
"""From this likeness on two wordings count as one criterion: near-duplicates are merged."""

_EMPTY_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the be is are was should must can could would to of in on for with and or that this it its as "
        "by any all at from answer response output text story summary use contain provide address addresses respond "
        "reply replies",
    )
)
_ENDING = re.compile(r"(ational|ically|ability|ible|able|ness|ment|ing|ies|ity|ly|al|ed|es|s|y|e)$")


@lru_cache(maxsize=4096)
def _stems(text: str) -> tuple[str, ...]:
    """The words that carry the meaning, without endings, in order; every word where none does."""
    words = re.findall(r"[^\W_]+", text.casefold())
    stems = [_ENDING.sub("", word) if len(word) > 4 else word for word in words]
    kept = [
        stem for word, stem in zip(words, stems, strict=True) if not {word, word.rstrip("s")} & _EMPTY_WORDS
    ]
    return tuple(kept or stems)


def likeness(left: str, right: str) -> float:
    """How alike two criteria are, from 0 to 100: half rapidfuzz's token ratios, half the share of common words.

    >>> likeness("Be easy to follow and logically coherent.", "Logically coherent and easy to follow")
    100.0
    """
    left_words, right_words = _stems(left), _stems(right)
    if not left_words or not right_words:
        return 0.0
    joined = " ".join(left_words), " ".join(right_words)
    ratios = (fuzz.token_sort_ratio(*joined) + fuzz.token_set_ratio(*joined)) / 2
    sizes = len(set(left_words)), len(set(right_words))
    common = len(set(left_words) & set(right_words))
    shares = (common / min(sizes) + 2 * common / sum(sizes)) * 50
    return round((ratios + shares) / 2, 6)


def merge_proposals(samples: Sequence[Sequence[str]]) -> list[Proposal]:
    """The criteria of several samples, near-duplicates merged, the most often named first.

    A wording joins the group to whose every member it is alike (complete linkage, `SAME`), so that chains of
    small differences do not grow together. ``support`` counts the samples that name the group, the wording
    shown is the one most like the others, and ``members`` are all the wordings, most frequent first.
    """
    wordings: dict[str, set[int]] = {}
    for number, sample in enumerate(samples):
        for text in sample:
            wordings.setdefault(text, set()).add(number)
    groups: list[dict[str, set[int]]] = []
    for text, numbers in wordings.items():
        _group_for(text, groups)[text] = numbers
    proposals = [_proposal(group, len(samples)) for group in groups]
    return sorted(proposals, key=lambda proposal: -proposal.support)


def _group_for(text: str, groups: list[dict[str, set[int]]]) -> dict[str, set[int]]:
    """The group the wording is most like throughout, or a new one."""
    scored = [(min(likeness(text, member) for member in group), index) for index, group in enumerate(groups)]
    best, index = max(scored, default=(0.0, 0), key=lambda pair: (pair[0], -pair[1]))
    if best >= SAME:
        return groups[index]
    groups.append({})
    return groups[-1]


def _proposal(group: dict[str, set[int]], samples: int) -> Proposal:
    wordings = sorted(group, key=lambda text: -len(group[text]))
    central = max(
        wordings, key=lambda text: sum(likeness(text, other) * len(group[other]) for other in wordings)
    )
    support = len(set().union(*group.values()))
    members = tuple(wordings) if len(wordings) > 1 else ()
    return Proposal(central, Origin.LLM, support=support, samples=samples, members=members)
