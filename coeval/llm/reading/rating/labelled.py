"""Ratings after a label: "Rating: 4", "Final score - 3", "Clarity: 2"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coeval.llm.reading.echoes import is_echo
from coeval.llm.reading.folding import fold
from coeval.llm.reading.rating.last_word import Candidate, choose
from coeval.llm.reading.rating.rating_shapes import ENDS, TARGET, Query, Stated, alternatives, number_of

_TARGET = re.compile(TARGET)
_ENDS = re.compile(ENDS)
_STRONG = r"(?:ratings?|scores?|grade|verdict)"
_WEAK = r"(?:answer|response|evaluation|result|judge?ment)"
_ITEM_NUMBER = r"(?:[ \t]*#?\d{1,4}(?=[ \t]*[:：][ \t]*\d))?"
_JOIN = r"(?:[^\d\n:：=|>.!?]{0,60}?(?P<mark>[:：=|→>])|[ \t]*[-–—](?=[ \t])|[ \t]*(?=[\d(])|[ \t]*(?=\n\W{0,20}\d))"
_GAP = re.compile(r"(?:[\s|\"'“‘(\[{:：=>•]|[-–—](?!\d))*")
_PHRASE = re.compile(rf"[^\d\n:.]{{1,60}}?[(\[,=–-][ \t]*{TARGET}{ENDS}")
_EMPTY_LABEL = r"(?:rationale|analysis|answer|score|rating|reason|explanation|evaluation)"
_QUALIFIER = re.compile(r"[^\W\d_][\w -]{0,38}[:：]?[ \t]$")
_STRONG_WORDS = frozenset({"rating", "ratings", "score", "scores", "grade", "verdict"})
_COUNTED = re.compile(
    r"[ \t]+(?!(?:out|of|on|for|because|since|as|in|points?|stars?|to|and|if|with|but|here)\b)[a-z]"
)


def labelled(text: str, query: Query) -> Stated | None:
    """The number after "Rating:", "Score:" or the criterion's name; failing these, after "Answer:"."""
    names = alternatives(query.names)
    skip = re.compile(rf"(?:{_EMPTY_LABEL}|{names})[ \t]*[:：]", re.I)
    strong = re.compile(rf"(?<!\w)({_STRONG}|{names})(?!\w){_ITEM_NUMBER}{_JOIN}", re.I)
    stated = choose(list(_after_cues(strong, skip, text, query)), text, query)
    if stated is not None:
        return stated
    weak = re.compile(rf"\b({_WEAK})\b{_ITEM_NUMBER}[ \t]*(?P<mark>[:：=])", re.I)
    candidates = _after_cues(weak, skip, text, query, alone=True)
    alone = [candidate.stated for candidate in candidates if candidate.stated.score is not None]
    if len({stated.score for stated in alone}) > 1:
        return Stated(None, "several ratings that differ")
    return alone[0] if alone else None


def _after_cues(
    cue: re.Pattern[str], skip: re.Pattern[str], text: str, query: Query, *, alone: bool = False
) -> Iterator[Candidate]:
    for match in cue.finditer(text):
        at = _skip_gap(text, match.end(), skip)
        target = _TARGET.match(text, at) or _PHRASE.match(text, at)
        if target is None:
            end, score = at + 1, None
            if not text[at:end].isdecimal():
                continue
        else:
            end, score = target.end(), number_of(target, query.high)
            counts = not match["mark"] or fold(match[1]) not in _STRONG_WORDS
            if counts and _COUNTED.match(text, end) and not target["k"]:
                continue  # "Clarity: 2 sentences are long" counts sentences
            if (
                (alone or not match["mark"])
                and not _ENDS.match(text, end)
                or _begins_list(text, target.start(), end)
            ):
                continue
        words = text[match.start() : end]
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        at_start = not before.strip(" \t-•\"'([{1234567890.")
        qualifier = _QUALIFIER.search(before[-60:])
        yield Candidate(
            Stated(score, words),
            fold(match[1]),
            fold(qualifier[0]) if qualifier else "",
            match.start(),
            end,
            is_echo(words, query.sample),
            at_start,
        )


def _skip_gap(text: str, position: int, skip: re.Pattern[str]) -> int:
    """Past line breaks, bullets, brackets and one empty label, to where the number would stand."""
    for _ in range(2):
        gap = _GAP.match(text, position)
        position = gap.end() if gap else position
        label = skip.match(text, position)
        if label is None:
            break
        position = label.end()
    return position


def _begins_list(text: str, start: int, end: int) -> bool:
    """Whether the number opens a numbered list, as anchors and items do, rather than stating a score."""
    line = text.rfind("\n", 0, start)
    if line < 0 or text[line + 1 : start].strip(" \t-•("):
        return False
    return bool(re.match(r"[^\n]{0,200}\n\s*[-•(]?\s*\d+\s*[.):=-]\s", text[end : end + 300]))
