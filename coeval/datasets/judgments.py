"""What one person or judge said of one instance, as other tools write it, in the terms of a study."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coeval.datasets.ratings.rating_scales import MAX_STEPS
from coeval.domain import Scale

MAX_OPTIONS = 30
"""Most options of one choice that become criteria; a choice of more is as good as a text."""

_YES_NO = {"yes": 1.0, "true": 1.0, "pass": 1.0, "correct": 1.0,
           "no": 0.0, "false": 0.0, "fail": 0.0, "incorrect": 0.0}  # fmt: skip
_ENDS = (1, 5, 10, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One judgment by one criterion: a score, or labels chosen from a list, or neither.

    ``by`` is the person's name, or the judge's label. ``marks`` are the passages that were marked, each with the
    label it was given, which is empty where the passage belongs to the judgment as a whole.
    """

    instance: str
    criterion: str
    by: str
    person: bool = False
    score: float | None = None
    labels: tuple[str, ...] | None = None
    comment: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    """Why there is no score."""
    shown: str = ""
    """The label of the judge whose score stood on the screen."""
    opened_at: str = ""
    saved_at: str = ""
    active_ms: int | None = None


def spread_labels(judgments: Iterable[Judgment]) -> Iterator[Judgment]:
    """The judgments with scores in the place of labels.

    Numbers are scores, yes and no are 1 and 0. Of any other choice each option that somebody chose becomes a criterion
    of its own, scored 1 where it was chosen and 0 where it was not, so that several may be chosen at once.
    """
    given = list(judgments)
    options: dict[str, dict[str, None]] = defaultdict(dict)
    for judgment in given:
        options[judgment.criterion].update(dict.fromkeys(judgment.labels or ()))
    for judgment in given:
        if judgment.labels is None:
            yield judgment
        else:
            yield from _spread(judgment, judgment.labels, list(options[judgment.criterion]))


def _spread(judgment: Judgment, labels: tuple[str, ...], options: Sequence[str]) -> Iterator[Judgment]:
    numbers = [read_number(option) for option in options]
    if len(labels) <= 1 and None not in numbers:
        yield replace(judgment, labels=None, score=read_number(labels[0]) if labels else None)
    elif len(labels) <= 1 and all(option.strip().casefold() in _YES_NO for option in options):
        word = labels[0].strip().casefold() if labels else ""
        yield replace(judgment, labels=None, score=_YES_NO.get(word))
    elif len(options) > MAX_OPTIONS:
        told = "\n".join(filter(None, (", ".join(labels), judgment.comment)))
        reason = f"a choice of more than {MAX_OPTIONS} options is no score"
        yield replace(judgment, labels=None, comment=told, reason=reason)
    else:
        for option in options:
            yield replace(
                judgment,
                labels=None,
                criterion=f"{judgment.criterion}: {option}",
                score=float(option in labels),
                marks=tuple(("", passage) for label, passage in judgment.marks if label == option),
                comment=judgment.comment if option in labels else "",
            )


def read_number(text: str) -> float | None:
    """The number that a label is, or begins with before a hyphen, a colon or a bracket.

    >>> read_number("4"), read_number("4 - good"), read_number("4x"), read_number("1e999")
    (4.0, 4.0, None, None)
    """
    head = text.strip()
    for mark in (" - ", " – ", ":", "("):
        head = head.partition(mark)[0]
    try:
        number = float(head) if head.isascii() and "_" not in head else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def infer_scale(scores: Sequence[float]) -> Scale | None:
    """The usual scale that holds the scores: 0-1, 1-5, 0-5, 1-10, ... ; None where no scale is long enough.

    >>> infer_scale([0.2, 1]), infer_scale([2, 4]), infer_scale([0, 7]), infer_scale([350])
    (Scale(low=0, high=1), Scale(low=1, high=5), Scale(low=0, high=10), None)
    """
    if not scores:
        return Scale()
    low, high = math.floor(min(scores)), math.ceil(max(scores))
    if low >= 0:
        end = next((end for end in _ENDS if high <= end), high)
        return Scale(0 if low < 1 or end == 1 else 1, end) if end < MAX_STEPS else None
    return Scale(low, max(high, -low)) if max(high, -low) - low < MAX_STEPS else None
