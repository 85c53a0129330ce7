"""Labels of the store as what judges learn from and are held against: ``Labels`` of one part of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from coeval.domain import Arm, CriteriaSet
from coeval.domain.seals import JudgedLine, Label
from coeval.judge.answers import tabulate_answers
from coeval.judge.labels import PEOPLE, Labels

UNAIDED = (Arm.BLIND, Arm.FIRST)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The labels of one part, which arms they are from, and whether people saw a draft when they gave them."""

    labels: Labels
    arms: str
    leaned: bool


def choose_labels(given: Sequence[Label], judged: Sequence[JudgedLine], criteria: CriteriaSet) -> Chosen:
    """The scores that no draft can have led, wherever the part has any; else those given beside the draft."""
    unaided = [label for label in given if label.arm in UNAIDED]
    kept = unaided or list(given)
    arms = [str(arm) for arm in UNAIDED if any(label.arm == arm for label in kept)]
    return Chosen(_build_labels(kept, judged, criteria), " and ".join(arms) or Arm.ASSISTED, not unaided)


def name_person(number: int) -> str:
    """What a person is called where a judge is fitted or certified: never by their name."""
    return f"person {number}"


def _build_labels(given: Sequence[Label], judged: Sequence[JudgedLine], criteria: CriteriaSet) -> Labels:
    people = pd.DataFrame(
        [
            (one.instance, one.document, one.system, one.criterion, name_person(one.person), one.score)
            for one in given
        ],
        columns=list(PEOPLE),
    )
    return Labels(
        people.astype({"score": float}),
        build_judges(judged),
        {criterion.text: criterion.scale for criterion in criteria.criteria},
    )


def build_judges(judged: Sequence[JudgedLine]) -> pd.DataFrame:
    """Judges' scores as a table for ``Labels``. Shares of samples are left out: their spread already says it."""
    return tabulate_answers(
        (line.instance, line.criterion, line.judge, line.score, line.samples, line.probabilities)
        for line in judged
    )
