"""The sample's own words inside a model's answer: evidence of what was judged, never the verdict."""

from __future__ import annotations

import re
from functools import lru_cache

from coeval.llm.reading.folding import fold, fold_offsets
from coeval.llm.reading.markup import find_json

MIN_ECHO = 25
"""Folded characters from which a passage that also stands in the sample counts as copied from it."""

_QUOTED = re.compile(
    r'"[^"]{1,1000}"|“[^”]{1,1000}”|«[^»]{1,1000}»|「[^」]{1,1000}」|`[^`]{1,1000}`|'
    r"(?<!\w)['‘][^'’\n]{1,400}['’](?!\w)"
)
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w-]*|(?:```|~~~)\s*$")
_NUMBER = re.compile(
    r"\d+|\b(?:rating|score|grade|verdict|answer)\W{1,9}"
    r"(?:(?:is|of)\W)?(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b"
)
_NEAR = 100
_GAP = " … "


def cut_echoes(text: str, sample: str) -> str:
    """The answer without what it quotes or copies from the sample; time is linear in both.

    Passages of `MIN_ECHO` characters go wherever they stand, whatever their spaces and case; shorter
    quotations go where they hold a number. A bare "Rating: 5" stays: see `is_echo`.
    """
    folded = fold(sample)
    if not folded:
        return text

    def cut_quote(match: re.Match[str]) -> str:
        inner = fold(match[0][1:-1])
        stated = re.search(r"\d", inner) and re.search(r"[^\W\d_]", inner)
        return _GAP if stated and inner in folded else match[0]

    return _QUOTED.sub(cut_quote, _cut_copies(text, folded))


def _cut_copies(text: str, folded_sample: str) -> str:
    """The text without its passages of `MIN_ECHO` characters and more that the sample has around a number."""
    known = _passages(folded_sample)
    if not known:
        return text
    answer = fold_offsets(text)
    pieces: list[str] = []
    kept = at = 0
    while at <= len(answer.text) - MIN_ECHO:
        if answer.text[at : at + MIN_ECHO] not in known:
            at += 1
            continue
        first = at
        while answer.text[at : at + MIN_ECHO] in known:
            at += 1
        at += MIN_ECHO - 1
        start, end = answer.slice_of(first, at)
        end -= _chance_tail(text[start:end])
        pieces += [text[kept:start], _GAP]
        kept = end
    return "".join(pieces) + text[kept:]


def _chance_tail(copied: str) -> int:
    """How many characters to give back: the start of a next line that only happens to begin alike."""
    _, newline, tail = copied.rpartition("\n")
    return len(tail) + 1 if newline and not re.search(r"\d", tail) else 0


@lru_cache(maxsize=2)
def _passages(folded_sample: str) -> frozenset[str]:
    """Every passage of `MIN_ECHO` characters near a number: no other can be mistaken for a verdict."""
    passages: set[str] = set()
    done = 0
    for number in _NUMBER.finditer(folded_sample):
        first = max(done, number.start() - _NEAR)
        done = min(len(folded_sample) - MIN_ECHO + 1, number.end() + _NEAR)
        passages.update(folded_sample[at : at + MIN_ECHO] for at in range(first, done))
    return frozenset(passages)


def is_echo(words: str, folded_sample: str) -> bool:
    """Whether these very words, a cue with its number, stand in the sample (folded by `fold`)."""
    return bool(folded_sample) and fold(words) in folded_sample


def own_objects(text: str, folded_sample: str) -> list[dict[str, object]]:
    """The JSON objects of an answer that are the model's own.

    One that stands word for word in the sample is not, unless it is short and all there is to the answer.
    """
    whole = _FENCE.sub("", text).strip()
    return [
        value
        for value, source in find_json(text)
        if isinstance(value, dict)
        and (not is_echo(source, folded_sample) or (source == whole and len(source) < MIN_ECHO))
    ]
