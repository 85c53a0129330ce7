"""The shapes in which an answer states its rating: with a label, in a sentence, or bare.

Each function takes words without markup and gives what it found, or None to let the next one look. Patterns
are bounded, so that time stays linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coeval.llm.reading.echoes import is_echo
from coeval.llm.reading.folding import fold

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_OF_TOP = r"(?:[ \t]*(?:/|out[ \t]+of\b|of\b)[ \t]*(?P<k>\d{1,9}(?:\.\d{1,9})?))?"
_NOT_MORE = (
    r"(?!\d|%|[$€£]|[a-z]|[A-Z](?![a-z])|[.,:/]\d|['’]s\b|[ \t]+%|"
    r"[ \t]*[-–—~][ \t]*\d|[ \t]+(?:to|or|and)[ \t]+(?:an?[ \t]+)?\d)"
)
NUMBER = rf"(?<![\d.,/$€£#])(?P<n>[-−]?(?:\d{{1,9}}(?:\.\d{{1,9}})?|\.\d{{1,9}})){_OF_TOP}{_NOT_MORE}"
TARGET = rf"(?:{NUMBER}|(?P<w>(?i:{'|'.join(_WORDS)})\b(?!-)))"
ENDS = r"(?=[ \t]*(?:$|[\n.,;:!?)\]}\"'’”|(]|[-–—=][ \t]))"
_GOES_ON = r"(?:out|on|for|because|since|as|in|due|based|points?|stars?|to|would|and|if|given|with|but|here)"
_FOLLOWED = rf"(?:{ENDS}|(?=[ \t]+{_GOES_ON}\b))"


@dataclass(frozen=True, slots=True)
class Sought:
    """What a reading looks for: the criterion's names, the top of the scale, and the folded sample."""

    names: tuple[str, ...]
    high: float
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A number, None where what stands there is not one number, with the words that led to it."""

    score: float | None
    words: str


def number_of(match: re.Match[str], high: float) -> float | None:
    """The number matched; None where it is a part of something other than the top of the scale."""
    if match["w"]:
        return float(_WORDS.index(match["w"].lower()))
    if match["k"] and float(match["k"]) != high:
        return None
    return float(match["n"].replace("−", "-"))


_TARGET = re.compile(TARGET)
_ENDS = re.compile(ENDS)
_STRONG = r"(?:ratings?|scores?|grade|verdict)"
_WEAK = r"(?:answer|response|evaluation|result|judge?ment)"
_ITEM_NUMBER = r"(?:[ \t]*#?\d{1,4}(?=[ \t]*[:：][ \t]*\d))?"
_JOIN = r"(?:[^\d\n:：=|>.!?]{0,60}?(?P<mark>[:：=|→>])|[ \t]*[-–—](?=[ \t])|[ \t]*(?=[\d(])|[ \t]*(?=\n\W{0,20}\d))"
_GAP = re.compile(r"(?:[\s|\"'“‘(\[{:：=>•]|[-–—](?!\d))*")
_PHRASE = re.compile(rf"[^\d\n:.]{{1,60}}?[(\[,=–-][ \t]*{TARGET}{ENDS}")
_EMPTY_LABEL = r"(?:rationale|analysis|answer|score|rating|reason|explanation|evaluation)"


def _alternatives(names: tuple[str, ...]) -> str:
    return "|".join(r"\s+".join(map(re.escape, name.split())) for name in names) or r"(?!)"


def labelled(text: str, sought: Sought) -> Found | None:
    """The number after "Rating:", "Score:" or the criterion's name; failing these, after "Answer:"."""
    names = _alternatives(sought.names)
    skip = re.compile(rf"(?:{_EMPTY_LABEL}|{names})[ \t]*[:：]", re.I)
    strong = re.compile(rf"(?<!\w)({_STRONG}|{names})(?!\w){_ITEM_NUMBER}{_JOIN}", re.I)
    found = _verdict(list(_after_cues(strong, skip, text, sought)), sought)
    if found is not None:
        return found
    weak = re.compile(rf"\b({_WEAK})\b{_ITEM_NUMBER}[ \t]*(?P<mark>[:：=])", re.I)
    candidates = _after_cues(weak, skip, text, sought, alone=True)
    alone = [candidate.found for candidate in candidates if candidate.found.score is not None]
    if len({found.score for found in alone}) > 1:
        return Found(None, "several ratings that differ")
    return alone[0] if alone else None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A number after a cue; the sample's own words count only where the form puts a verdict."""

    found: Found
    cue: str
    echo: bool
    line_start: bool


def _after_cues(
    cue: re.Pattern[str], skip: re.Pattern[str], text: str, sought: Sought, *, alone: bool = False
) -> Iterator[_Candidate]:
    for match in cue.finditer(text):
        at = _skip_gap(text, match.end(), skip)
        target = _TARGET.match(text, at) or _PHRASE.match(text, at)
        if target is None:
            end, score = at + 1, None
            if not text[at:end].isdecimal():
                continue
        else:
            end, score = target.end(), number_of(target, sought.high)
            if (
                (alone or not match["mark"])
                and not _ENDS.match(text, end)
                or _begins_list(text, target.start(), end)
            ):
                continue
        words = text[match.start() : end]
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        at_start = not before.strip(" \t-•\"'([{1234567890.")
        yield _Candidate(Found(score, words), fold(match[1]), is_echo(words, sought.sample), at_start)


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


def _verdict(candidates: list[_Candidate], sought: Sought) -> Found | None:
    """The first clean number that is not the sample's own; none where the criterion itself has several."""
    clean = [candidate for candidate in candidates if candidate.found.score is not None]
    ours = [one for one in clean if not one.echo] or [one for one in clean if one.line_start]
    names = {fold(name) for name in sought.names}
    named = {one.found.score for one in ours if one.line_start and one.cue in names}
    if len(named) > 1:
        return Found(None, "several ratings of the criterion that differ")
    if ours:
        return ours[0].found
    return Found(None, candidates[0].found.words) if candidates else None


_VERBS = (
    r"(?:rated?|gives?|given|assign(?:ed|s)?|award(?:ed)?|deserves?|receives?|gets?|earn(?:s|ing)?|say|"
    r"scor(?:es|ed|ing))"
)
_IS = r"(?:of|is|was|be|as|at|to|a|an|about|around|only)"
_SIDE = r"[^\d.\n!?;:]{0,80}?"


def said(text: str, sought: Sought) -> Found | None:
    """The number in "a score of 4", "I would rate it a 4", "its coherence is a 4", "so it is a 4."."""
    names = _alternatives(sought.names)
    patterns = (
        rf"\b(?:scores?|rating|rate|grade|mark|{names})\b{_SIDE}\b{_IS}\b[ \t\"'“(]{{1,3}}{TARGET}{_FOLLOWED}",
        rf"\b{_VERBS}\b{_SIDE}[ \t\"'“(]{{1,3}}{TARGET}{_FOLLOWED}",
        rf"(?<!or )(?<!and )(?<!to )(?<!not )\ban?[ \t]+{TARGET}{ENDS}",
    )
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.I):
            score = number_of(match, sought.high)
            if score is not None and not is_echo(match[0], sought.sample):
                return Found(score, match[0])
    return None
