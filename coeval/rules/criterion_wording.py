"""Scoring guides of criteria."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from coeval.domain import MAX_REMARK, Guide, Scale
from coeval.errors import InputError

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
