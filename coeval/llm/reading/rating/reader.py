"""Reading a rating out of a model's words.

The rule was made on 200,000 real answers, of which "first number" gets 2.9 % wrong and "last number" 3.2 %.
Thoughts and markup go first; then comes the number that follows a cue, with no more than a line break, a bullet
or the criterion's name between, and of several the one that the model calls its last; then the few shapes in
which an answer without a cue states its number. A number off the scale, several items or none give no rating at
all: never zero, never a guess.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from coeval.llm.reading.echoes import cut_echoes
from coeval.llm.reading.folding import fold
from coeval.llm.reading.markup import strip_markup
from coeval.llm.reading.rating.anchors import anchor_score, criterion_names
from coeval.llm.reading.rating.bare import bare
from coeval.llm.reading.rating.in_json import json_rating
from coeval.llm.reading.rating.labelled import labelled
from coeval.llm.reading.rating.rating_shapes import Query, Stated, said
from coeval.llm.reading.thoughts import strip_thoughts

MAX_READ = 24_000
"""Characters of an answer in words that are read: of a longer one its beginning, and twice as much of its end."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: a score, or None with ``why`` in a few words that fit after a colon."""

    score: float | None
    why: str = ""


def parse_rating(text: str, scale: Sequence[float], criterion: str | None = None) -> float | None:
    """The rating a model's answer states; None where it states none, several, or one off the scale.

    ``scale`` is the pair (lowest, highest); decimals between them are kept. ``criterion`` is the criterion's
    name or its whole text: its name is a cue, and anchor words that it defines ("1 = dull, 2 = fair") are
    read as their scores. Never raises.

    >>> parse_rating("**Rating:** 4.5/5", (1, 5))
    4.5
    >>> parse_rating("Rating: 7", (1, 5)) is None
    True
    """
    return read_rating(text, scale, criterion).score


def read_rating(
    text: str, scale: Sequence[float], criterion: str | None = None, *, sample: str = ""
) -> Reading:
    """As `parse_rating`, saying why where there is none.

    ``sample`` is the text that was judged: what the answer copies from it is not taken for the verdict.
    """
    low, high = float(scale[0]), float(scale[1])
    text = strip_thoughts(text)
    if not re.search(r"\w", text):
        return Reading(None, "the answer is empty")
    query = Query(criterion_names(criterion or ""), high, fold(sample))
    stated = json_rating(text, query) or _from_words(
        cut_echoes(cut_middle(text), sample), low, query, criterion or ""
    )
    if stated is None:
        return Reading(None, "no number stands where a score would")
    return _on_scale(stated, low, high)


def cut_middle(text: str) -> str:
    """The text, or where it is longer than `MAX_READ` its beginning and its end, where verdicts stand."""
    return text if len(text) <= MAX_READ else f"{text[: MAX_READ // 3]}\n…\n{text[-2 * MAX_READ // 3 :]}"


def _on_scale(stated: Stated, low: float, high: float) -> Reading:
    if stated.score is None:
        return Reading(None, f"“{stated.words[:80].strip()}” is not one score from {low:g} to {high:g}")
    if not math.isfinite(stated.score) or not low <= stated.score <= high:
        return Reading(None, f"{stated.score:g} is outside the scale {low:g}-{high:g}")
    return Reading(stated.score)


def _from_words(text: str, low: float, query: Query, criterion: str) -> Stated | None:
    words = _forget_scale(strip_markup(text), low, query.high)
    if len(words) > 2 and words[0] in "\"'“" and words[-1] in "\"'”" and words[0] not in words[1:-1]:
        words = words[1:-1].strip()
    words = _mask_quotes(words)
    if len(set(_ITEM.findall(words))) > 1:
        return Stated(None, "a list of several items")
    for look in (labelled, said, bare):
        stated = look(words, query)
        if stated is not None:
            return stated
    score = anchor_score(words, criterion, low, query.high)
    return None if score is None else Stated(score, words)


_ITEM = re.compile(
    r"^\W{0,4}(?:potential\s+|possible\s+)?"
    r"(?:response|conversation|dialogue|example|item|summary|output|answer|sample|candidate|text|system)"
    r"[ \t]*#?(\d{1,4})[ \t]*[:.)-]",
    re.I | re.M,
)


def _forget_scale(text: str, low: float, high: float) -> str:
    """The text without mentions of the scale itself: "(1-5)", "1 to 5", "(1 = bad, 3 = good)", "(out of 5)"."""

    def keep(match: re.Match[str]) -> str:
        fraction = re.fullmatch(r"[^\d]*[\d.]+\s*(?:/|out of|of)\s*[\d.]+\s*[)\]]", match[0])
        return match[0] if fraction or len(set(re.findall(r"\d+(?:\.\d+)?", match[0]))) < 2 else " "

    text = re.sub(r"[(\[][^()\[\]\n]{0,200}[)\]]", keep, text)
    text = re.sub(r"[(\[]\s*(?:out\s+of|max\.?|maximum|/|of)\s*\d+\s*[)\]]", " ", text, flags=re.I)
    return re.sub(rf"(?<![\d.]){low:g}\s*(?:-|–|—|~|to|and|through)\s*{high:g}(?!\.?\d)", " ", text)


def _mask_quotes(text: str) -> str:
    """The text with longer quotations blanked: they are somebody else's words."""

    def mask(match: re.Match[str]) -> str:
        return match[0] if len(re.findall(r"[^\W\d_]{2,}", match[0])) < 3 else "“…”"

    return re.sub(
        r'(?<!\d)"[^"\n]{1,1000}"|“[^”\n]{1,1000}”|«[^»\n]{1,1000}»|「[^」\n]{1,1000}」', mask, text
    )
