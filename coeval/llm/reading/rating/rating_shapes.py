"""The shapes in which an answer states its rating: with a label, in a sentence, or bare.

Each function takes words without markup and gives what it stated, or None to let the next one look. Patterns
are bounded, so that time stays linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coeval.llm.reading.echoes import is_echo

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
class Query:
    """What a reading looks for: the criterion's names, the top of the scale, and the folded sample."""

    names: tuple[str, ...]
    high: float
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
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


def alternatives(names: tuple[str, ...]) -> str:
    """A pattern of these names, with any white space between their words."""
    return "|".join(r"\s+".join(map(re.escape, name.split())) for name in names) or r"(?!)"


_VERBS = (
    r"(?:rated?|gives?|given|assign(?:ed|s)?|award(?:ed)?|deserves?|receives?|gets?|earn(?:s|ing)?|"
    r"say(?![ \t]+(?:to[ \t]+)?(?:rate|give|score|grade|mark|award|assign)\b)|"
    r"scor(?:es|ed|ing)|go(?:es)? with|settled? on|choose|pick|select)"
)
_IS = r"(?:of|is|was|be|as|at|to|a|an|about|around|only)"
_SIDE = r"[^\d.\n!?;:]{0,80}?"


def said(text: str, query: Query) -> Stated | None:
    """The number in "a score of 4", "I would rate it a 4", "its coherence is a 4", "so it is a 4."."""
    names = alternatives(query.names)
    patterns = (
        rf"\b(?:scores?|rating|rate|grade|mark|{names})\b{_SIDE}\b{_IS}\b[ \t\"'“(]{{1,3}}{TARGET}{_FOLLOWED}",
        rf"\b{_VERBS}\b{_SIDE}[ \t\"'“(]{{1,3}}{TARGET}{_FOLLOWED}",
        rf"\ban?[ \t]+(?:solid|strong|clear|firm|high|low|weak)[ \t]+{TARGET}{_FOLLOWED}",
        rf"(?<!or )(?<!and )(?<!to )(?<!not )\ban?[ \t]+{TARGET}{ENDS}",
    )
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.I):
            score = number_of(match, query.high)
            if score is not None and not is_echo(match[0], query.sample):
                return Stated(score, match[0])
    return None
