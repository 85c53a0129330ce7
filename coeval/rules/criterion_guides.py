"""What stands beside a criterion to score by it alike: its definition, what each score means, examples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from coeval.domain import MAX_REMARK, Guide, Scale
from coeval.errors import InputError

_LINE = re.compile(r"\s*(-?\d{1,3})\s*[:=.)–-]\s*(.*\S)\s*")


def build_guide(definition: str, anchors: str, examples: str, scale: Scale) -> Guide:
    """The guide that these texts are; ``anchors`` has a line for each score that is described.

    >>> build_guide("", "1: wrong\\n5: right", "", Scale()).anchors
    ((1, 'wrong'), (5, 'right'))

    Raises:
        InputError: a text is too long, or a line names no score of the scale or one twice.
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
                f"“{line[:60]}” describes no score from {scale.low} to {scale.high}: write it as "
                f"“{scale.low}: what it means”, one score a line."
            )
        if int(match[1]) in meanings:
            raise InputError(f"The score {match[1]} is described twice: keep one line for it.")
        meanings[int(match[1])] = match[2]
    return Guide(definition.strip(), tuple(sorted(meanings.items())), examples.strip())


def anchors_text(guide: Guide) -> str:
    """The meanings of scores as they are written: one a line."""
    return "\n".join(f"{score}: {meaning}" for score, meaning in guide.anchors)


def guide_text(guide: Guide) -> str:
    """All of a guide as a text that follows the criterion's; empty where there is none."""
    anchors = anchors_text(guide)
    parts = (
        f"Definition: {guide.definition}" if guide.definition else "",
        f"What the scores mean:\n{anchors}" if anchors else "",
        f"Examples:\n{guide.examples}" if guide.examples else "",
    )
    return "\n".join(filter(None, parts))


def sharpen_guide(guide: Guide, anchors: Iterable[tuple[int, str]]) -> Guide:
    """A guide with new meanings of scores in the place of those that it has of the same scores.

    >>> sharpen_guide(Guide(anchors=((1, "bad"), (2, "poor"))), [(1, "wrong")]).anchors
    ((1, 'wrong'), (2, 'poor'))
    """
    return replace(guide, anchors=tuple(sorted({**dict(guide.anchors), **dict(anchors)}.items())))
