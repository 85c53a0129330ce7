"""Wordings of criteria: near-duplicates, and scoring guides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from rapidfuzz import fuzz

from coeval.domain import MAX_REMARK, Guide, Origin, Proposal, Scale
from coeval.errors import InputError

# The similarity of two criteria, and groups of criteria with the same meaning.

SAME = 76.5
"""The similarity from which two wordings count as one criterion, so that near-duplicates are merged."""

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
    """Return the stems of the content words, in order; of all words if there are no content words."""
    words = re.findall(r"[^\W_]+", text.casefold())
    stems = [_ENDING.sub("", word) if len(word) > 4 else word for word in words]
    kept = [
        stem for word, stem in zip(words, stems, strict=True) if not {word, word.rstrip("s")} & _EMPTY_WORDS
    ]
    return tuple(kept or stems)


def likeness(left: str, right: str) -> float:
    """Return the similarity of two criteria, 0 to 100: half rapidfuzz's token ratios, half the share of common words.

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
    """Return the criteria of several samples, with near-duplicates merged, the most frequent first.

    A wording joins a group only if it is similar to every member (complete linkage, `SAME`), so that chains
    of small differences do not merge. ``support`` counts the samples that contain the group, the wording
    shown is the one most similar to the others, and ``members`` are all wordings, most frequent first.
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
    """Return the group whose wordings are all similar to this text, or a new group."""
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


# Scoring guides.

_LINE = re.compile(r"\s*(-?\d{1,3})\s*[:=.)–-]\s*(.*\S)\s*")


def build_guide(definition: str, anchors: str, examples: str, scale: Scale) -> Guide:
    """Return the guide with these texts; ``anchors`` has a line for each score that is described.

    >>> build_guide("", "1: wrong\\n5: right", "", Scale()).anchors
    ((1, 'wrong'), (5, 'right'))

    Raises:
        InputError: a text is too long, or a line names a score that is not on the scale, or one twice.
    """
    texts = {"definition": definition, "scores": anchors, "examples": examples}
    for name, text in texts.items():
        if len(text) > MAX_REMARK:
            raise InputError(
                f"The {name} of the criterion have {len(text):,} characters; shorten them to {MAX_REMARK:,}."
            )
    meanings: dict[int, str] = {}
    for line in filter(str.strip, anchors.splitlines()):
        match = _LINE.fullmatch(line)
        if match is None or int(match[1]) not in scale.steps:
            raise InputError(
                f"“{line[:60]}” describes no score from {scale.low} to {scale.high}: write it as “{scale.low}: "
                "what it means”, one score per line."
            )
        if int(match[1]) in meanings:
            raise InputError(f"The score {match[1]} is described twice: keep one line for it.")
        meanings[int(match[1])] = match[2]
    return Guide(definition.strip(), tuple(sorted(meanings.items())), examples.strip())


def anchors_text(guide: Guide) -> str:
    """Return the meanings of scores as text, one per line."""
    return "\n".join(f"{score}: {meaning}" for score, meaning in guide.anchors)


def guide_text(guide: Guide) -> str:
    """Return the whole guide as a text that follows the criterion's text; empty if there is none."""
    anchors = anchors_text(guide)
    parts = (
        f"Definition: {guide.definition}" if guide.definition else "",
        f"What the scores mean:\n{anchors}" if anchors else "",
        f"Examples:\n{guide.examples}" if guide.examples else "",
    )
    return "\n".join(filter(None, parts))


def sharpen_guide(guide: Guide, anchors: Iterable[tuple[int, str]]) -> Guide:
    """Return the guide with new meanings of scores in place of the old ones.

    >>> sharpen_guide(Guide(anchors=((1, "bad"), (2, "poor"))), [(1, "wrong")]).anchors
    ((1, 'wrong'), (2, 'poor'))
    """
    return replace(guide, anchors=tuple(sorted({**dict(guide.anchors), **dict(anchors)}.items())))
