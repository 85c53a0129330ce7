"""Wordings of criteria: near-duplicates, possible problems, and scoring guides.

Problems are suggestions that the owner may accept or ignore: the rules are patterns over the wording, which
point to places to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
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


# Possible problems of a list of criteria, with suggestions for its owner.

OVERLAPS = 73.0
"""The similarity from which two criteria are reported as overlapping."""


class FindingKind(StrEnum):
    """A type of problem in a criterion."""

    DOUBLE = "double-barrelled"
    UNJUDGEABLE = "not judgeable from the text"
    OVERLAP = "overlap"


@dataclass(frozen=True, slots=True)
class Finding:
    """A possible problem of the criterion at ``index``; ``other`` is a criterion that it overlaps with.

    ``suggestion`` has the wordings to replace it: two for a split, one for a merge, none if a person must
    decide.
    """

    kind: FindingKind
    index: int
    message: str
    suggestion: tuple[str, ...] = ()
    other: int | None = None


def lint_criteria(texts: Sequence[str]) -> list[Finding]:
    """Return possible problems of each criterion in order: double questions, invisible properties, overlaps."""
    findings = [finding for index, text in enumerate(texts) for finding in _lint_one(index, text)]
    findings += _overlaps(texts)
    return sorted(findings, key=lambda finding: finding.index)


def _lint_one(index: int, text: str) -> Iterator[Finding]:
    parts = split_criterion(text)
    if parts:
        yield Finding(
            FindingKind.DOUBLE,
            index,
            f"“{text}” seems to ask for two things: a text that does one and not the other has no clear score. "
            "Split it, or keep it if both are one thing.",
            parts,
        )
    unseen = _UNSEEN.search(text)
    if unseen:
        yield Finding(
            FindingKind.UNJUDGEABLE,
            index,
            f"“{text}” speaks of “{unseen[0]}”, which cannot be seen in the input and the output: reword it as "
            "something the text itself shows.",
        )


def _overlaps(texts: Sequence[str]) -> Iterator[Finding]:
    for index, text in enumerate(texts):
        for other, earlier in enumerate(texts[:index]):
            if likeness(text, earlier) >= OVERLAPS:
                longer = max(earlier, text, key=len)
                yield Finding(
                    FindingKind.OVERLAP,
                    index,
                    f"“{text}” overlaps with “{earlier}”: one fault would be counted twice. Merge them, or say "
                    "what sets them apart.",
                    (longer,),
                    other,
                )


_UNSEEN = re.compile(
    r"\b(?:response time|latency|(?:loads?|loading|processing) (?:time|speed)|real[- ]time|generated quickly|"
    r"cost[- ]effective\w*|computational(?:ly)?|popular(?:ity)?|click[- ]?through|conversion rates?|sales|"
    r"page views|market share|user (?:satisfaction|retention|engagement)|long[- ]term (?:impact|effect)s?|"
    r"in practice over time|author'?s? (?:intent(?:ion)?s?|effort|sincerity|mood|training)|sincer(?:e|ity)|"
    r"tone of voice|pronunciation|intonation|audio|visual (?:design|appeal)|font|colou?r scheme|animations?|"
    r"(?:readers?|users?|people|customers?) (?:will|would) (?:remember|buy|return|share|like|love)|"
    r"(?:time|effort) (?:spent|taken|needed) (?:to|in|on) writ\w+|plagiari[sz]\w*|"
    r"written by (?:a )?(?:human|AI|machine))\b",
    re.I,
)
_JOINT = re.compile(r"\s*(?:,\s*(?:and|but)|;|\band\b|\bas well as\b|\bwhile also\b|\bbut also\b)\s+", re.I)
_MODAL = re.compile(
    r"\b(?:should be|must be|should|must|is|are|be|can be|can|cannot|does|do|has|have|avoids?|uses?)\b", re.I
)
_WITH_VERB = re.compile(
    r"(?:should|must|is|are|be|can|cannot|can't|does|do|has|have|avoid|use|provide|include|contain|follow|address|"
    r"answer|explain|give|make|keep|show|cite|not|never)(?:e?s)?\b",
    re.I,
)


def split_criterion(text: str) -> tuple[str, ...]:
    """Return the two statements that a criterion joins with "and" or a similar word; empty if there are none.

    Text in brackets, short pairs of nouns ("clear grammar and spelling") and lists of three are not split;
    only two statements about the same subject are.

    >>> split_criterion("The answer should be easy to follow and logically coherent.")
    ('The answer should be easy to follow.', 'The answer should be logically coherent.')
    """
    statement = re.sub(r"\([^()]*\)", "", text).strip().rstrip(".")
    parts = [part for part in _JOINT.split(statement) if part.strip()]
    if len(parts) != 2 or "," in parts[0]:
        return ()
    left, right = parts
    modal = _MODAL.search(left) or (_WITH_VERB.search(left) if _WITH_VERB.match(right) else None)
    if modal is None or not left[modal.end() :].strip():
        return ()
    if _SENTENCE.match(right):
        second = right.strip()
    elif verb := _WITH_VERB.match(right):
        helper = "" if _HELPER.match(verb[0]) else _helper(modal[0])
        second = (left[: modal.start()] + helper + right).strip()
    elif modal[0].lower().endswith(("be", "is", "are")) and not _NOUNS.search(left[modal.end() :]):
        second = f"{left[: modal.end()]} {right}".strip()
    else:
        return ()
    return f"{left.strip()}.", f"{second[:1].upper()}{second[1:]}."


def _helper(modal: str) -> str:
    """Return the verb that the second statement shares with the first, such as "should " in "should be"."""
    helper = re.match(r"(?:should|must|can|cannot|does|do)\b", modal, re.I)
    return f"{helper[0]} " if helper else ""


_HELPER = re.compile(r"(?:should|must|is|are|be|can|cannot|can't|does|do|has|have|not|never)$", re.I)
"""Verbs that begin a separate statement: "must cite", "is short"."""

_SENTENCE = re.compile(
    r"(?:it|they|this|these|the\s+\w+)\s+(?:should|must|is|are|can|cannot|does|do|has|have)\b", re.I
)
_NOUNS = re.compile(r"\b(?:of|in|on|with|for|from|about|by)\s+(?:\S+\s+){0,2}\S+$", re.I)


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
