"""Reading which of two outputs an answer prefers: A, B or a tie."""

from __future__ import annotations

import re

from coeval.llm.reading.folding import fold
from coeval.llm.reading.markup import strip_markup
from coeval.llm.reading.rating.reader import cut_middle
from coeval.llm.reading.thoughts import strip_thoughts

FIRST, SECOND, TIE = 1.0, 0.0, 0.5
CONTEXT = 20
"""Characters before a choice that tell whether it was copied."""

_CHOICE = r"(?:(?:the[ \t]{1,3})?(?!not\b|neither\b|only\b)[a-z]{3,20}[ \t]{1,3})?"
_LETTER = (
    r"(?-i:[AB])(?=[ \t]*(?:$|\n)|[\"'\])*.,;:]|[ \t]+(?:is|was|because|since|as|wins|over|by)\b|[ \t]*[—–-])"
)
_NAMED = rf"(?P<choice>{_LETTER}|(?:tied?|draw|equal(?:ly good)?|neither|both)\b)"
_BRACKET = re.compile(r"\[\[[ \t]{0,3}([AB]|C|tie)[ \t]{0,3}\]\]", re.I)
_LABELLED = re.compile(
    r"\b(?:preference|preferred|verdict|winner|better|choice|final answer|answer)[\"']?[ \t]{0,3}"
    rf"(?:[:：=]|is\b)[ \t\"'(\[]{{0,5}}{_CHOICE}{_NAMED}",
    re.I,
)
_BARE = re.compile(
    rf"\W{{0,9}}{_CHOICE}{_NAMED}(?:[ \t]+(?:is[ \t]+)?(?:better|preferred|wins))?\W{{0,9}}", re.I
)


def parse_preference(text: str, *, samples: tuple[str, ...] = ()) -> tuple[float | None, str]:
    """The preference, 1 for A, 0 for B, .5 for a tie, and "" or why there is none. Never raises.

    The last labelled choice counts; without any, an answer that is nothing but a choice. What is copied from the
    texts that were compared (``samples``) is no verdict.

    >>> parse_preference("Analysis: A is longer.\\nPreference: B")
    (0.0, '')
    """
    own = cut_middle(strip_thoughts(text))
    known = [fold(sample) for sample in samples]
    brackets = [match[1] for match in _BRACKET.finditer(own) if not _is_copied(match, known)]
    if brackets:
        return _value(brackets[-1]), ""
    words = strip_markup(own)
    labelled = [match["choice"] for match in _LABELLED.finditer(words) if not _is_copied(match, known)]
    lines = [line for line in words.split("\n") if line.strip()]
    bare = _BARE.fullmatch(lines[-1][:200]) if lines else None
    choice = labelled[-1] if labelled else bare["choice"] if bare else ""
    if not choice:
        return None, "it names neither A nor B nor a tie as its preference"
    return _value(choice), ""


def _is_copied(match: re.Match[str], samples: list[str]) -> bool:
    """Whether a choice stands, with the words before it, in one of the texts that were compared."""
    before = fold(match.string[max(0, match.start() - CONTEXT) : match.start()])
    if len(before) < CONTEXT // 2:
        return False
    passage = fold(match.string[max(0, match.start() - CONTEXT) : match.end()])
    return any(passage in sample for sample in samples)


def _value(choice: str) -> float:
    return {"a": FIRST, "b": SECOND}.get(choice.lower(), TIE)
