"""What is doubtful about a list of criteria, with suggestions that its owner may take or leave.

The rules are patterns over the wording: they point at places to look, and do not decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from coeval.rules.similarity import likeness

OVERLAPS = 73.0
"""From this likeness on two criteria are said to overlap."""


class FindingKind(StrEnum):
    """What may be wrong with a criterion."""

    DOUBLE = "double-barrelled"
    UNJUDGEABLE = "not judgeable from the text"
    OVERLAP = "overlap"


@dataclass(frozen=True, slots=True)
class Finding:
    """One doubt about the criterion at ``index``; ``other`` is the criterion it overlaps with, if any.

    ``suggestion`` holds the wordings to put in its place: two for a split, one for a merge, none where only a
    person can tell.
    """

    kind: FindingKind
    index: int
    message: str
    suggestion: tuple[str, ...] = ()
    other: int | None = None


def lint_criteria(texts: Sequence[str]) -> list[Finding]:
    """Doubts about each criterion in order: asks for two things, cannot be seen in a text, overlaps with another."""
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
    """The two statements that a criterion joins with "and" or the like, or nothing.

    What stands in brackets, short pairs of nouns ("clear grammar and spelling") and lists of three are left
    alone: only two things said of the same subject are told apart.

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
    """What a verb of the second statement shares with the first: "should " of "should be" and of "should"."""
    helper = re.match(r"(?:should|must|can|cannot|does|do)\b", modal, re.I)
    return f"{helper[0]} " if helper else ""


_HELPER = re.compile(r"(?:should|must|is|are|be|can|cannot|can't|does|do|has|have|not|never)$", re.I)
"""Verbs that begin a statement of their own: "must cite", "is short"."""

_SENTENCE = re.compile(
    r"(?:it|they|this|these|the\s+\w+)\s+(?:should|must|is|are|can|cannot|does|do|has|have)\b", re.I
)
_NOUNS = re.compile(r"\b(?:of|in|on|with|for|from|about|by)\s+(?:\S+\s+){0,2}\S+$", re.I)
