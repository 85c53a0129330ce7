"""Labels of the store as what judges learn from and are held against: ``Labels`` of one part of the documents."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from coeval.domain import Arm, CriteriaSet
from coeval.domain.seals import Label
from coeval.judge.labels import JUDGES, PEOPLE, Labels

UNAIDED = (Arm.BLIND, Arm.FIRST)
Judged = tuple[str, str, str, float | None, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The labels of one part, which arms they are from, and whether people saw a draft when they gave them."""

    labels: Labels
    arms: str
    leaned: bool


def choose_labels(given: Sequence[Label], judged: Sequence[Judged], criteria: CriteriaSet) -> Chosen:
    """The scores that no draft can have led, wherever the part has any; else those given beside the draft."""
    unaided = [label for label in given if label.arm in UNAIDED]
    kept = unaided or list(given)
    arms = [str(arm) for arm in UNAIDED if any(label.arm == arm for label in kept)]
    return Chosen(_build_labels(kept, judged, criteria), " and ".join(arms) or Arm.ASSISTED, not unaided)


def name_person(number: int) -> str:
    """What a person is called where a judge is fitted or certified: never by their name."""
    return f"person {number}"


def _build_labels(given: Sequence[Label], judged: Sequence[Judged], criteria: CriteriaSet) -> Labels:
    people = pd.DataFrame(
        [
            (one.instance, one.document, one.system, one.criterion, name_person(one.person), one.score)
            for one in given
        ],
        columns=list(PEOPLE),
    )
    judges = pd.DataFrame(
        [
            (instance, criterion, judge, score, statistics.stdev(samples) if len(samples) > 1 else None)
            for judge, instance, criterion, score, samples in judged
        ],
        columns=list(JUDGES),
    )
    return Labels(
        people.astype({"score": float}),
        judges.astype({"score": float, "spread": float}),
        {criterion.text: criterion.scale for criterion in criteria.criteria},
    )
