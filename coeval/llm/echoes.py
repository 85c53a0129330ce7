"""The sample's own words inside a model's answer: evidence of what was judged, never the verdict."""

from __future__ import annotations

import re

from coeval.llm.folding import fold

MIN_ECHO = 25
"""Folded characters from which a sentence that also stands in the sample counts as copied from it."""

_QUOTED = re.compile(r'"[^"]{1,1000}"|“[^”]{1,1000}”|«[^»]{1,1000}»|「[^」]{1,1000}」|`[^`]{1,1000}`')
_SINGLE = re.compile(r"(?<!\w)['‘][^'’\n]{1,400}['’](?!\w)")
_SENTENCE = re.compile(r"[^\n.!?]+[.!?]*")
_GAP = " … "


def cut_echoes(text: str, sample: str) -> str:
    """The answer without what it quotes or copies from the sample; time is linear in both.

    Quotations go when their words stand in the sample, and hold a number; so do whole lines and sentences
    of some length. A bare "Rating: 5" stays: whether it is a copy depends on where it stands (`is_echo`).
    """
    folded = fold(sample)
    if not folded:
        return text

    def cut_quote(match: re.Match[str]) -> str:
        inner = fold(match[0][1:-1])
        return (
            _GAP
            if inner in folded and re.search(r"\d", inner) and re.search(r"[^\W\d_]", inner)
            else match[0]
        )

    def cut_sentence(match: re.Match[str]) -> str:
        words = fold(match[0])
        return _GAP if len(words) >= MIN_ECHO and words in folded else match[0]

    text = _SINGLE.sub(cut_quote, _QUOTED.sub(cut_quote, text))
    lines = (
        _GAP if len(fold(line)) >= MIN_ECHO and fold(line) in folded else line for line in text.split("\n")
    )
    return _SENTENCE.sub(cut_sentence, "\n".join(lines))


def is_echo(words: str, folded_sample: str) -> bool:
    """Whether these very words, a cue with its number, stand in the sample (folded by `fold`)."""
    return bool(folded_sample) and fold(words) in folded_sample
