"""What a judge has to beat before anything is claimed: constants, the judge as it is, and people themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.judge.fitted import Fitted
from coeval.judge.labels import Labels
from coeval.judge.learning.lines import FOLDS, KEYS, fold_documents, judged_lines, people_lines
from coeval.judge.learning.measures import Measures, measure

CONSTANT, CRITERIA, PERSON = "constant mean", "criterion means", "best single person"
RAW = "raw judge"


@dataclass(frozen=True)
class Baseline:
    """A way to score that needs no learning judge. ``criterion`` is empty for all criteria together.

    ``note`` says what the numbers rest on.
    """

    name: str
    criterion: str
    measures: Measures
    note: str


def baselines(labels: Labels, folds: int = FOLDS, seed: int = 0) -> tuple[Baseline, ...]:
    """Every baseline over all criteria and by each, on the same lines but for those of single people.

    - ``constant mean`` and ``criterion means`` of people, each line by the other parts of the documents;
    - ``raw judge: NAME`` for each judge, and ``raw judge`` for the mean of several;
    - ``best single person``: the person with the lowest RMSE against the mean of the others, on the lines that they and
      another scored; chosen in hindsight, which flatters them.
    """
    lines, parts = people_lines(labels), fold_documents(labels, folds, seed)
    cross = (
        f"each line by {len(parts) - 1} of {len(parts)} parts of the documents"
        if len(parts) > 1
        else "no other part"
    )
    rows = [
        (CONSTANT, _cross_means(lines, parts, []), cross),
        (CRITERIA, _cross_means(lines, parts, ["criterion"]), cross),
    ]
    for name in labels.members:
        rows.append(
            (
                f"{RAW}: {name}",
                judged_lines(labels, Fitted().apply(labels.by_judges([name]).judges)),
                "as it is",
            )
        )
    if len(labels.members) > 1:
        rows.append(
            (RAW, judged_lines(labels, Fitted().apply(labels.judges)), "the mean of the judges as they are")
        )
    person, own = _best_person(labels)
    rows.append(
        (
            PERSON,
            own,
            f"{person} against the others, chosen in hindsight" if person else "no line has two people",
        )
    )
    return tuple(
        Baseline(name, criterion, measure(part), note)
        for name, table, note in rows
        for criterion, part in [("", table), *((c, table[table["criterion"] == c]) for c in labels.criteria)]
    )


def _cross_means(lines: pd.DataFrame, parts: list[list[object]], by: list[str]) -> pd.DataFrame:
    """Each line scored with people's mean (by criterion) of the lines of the other documents."""
    tables = [lines.iloc[:0].assign(score=np.nan)]
    for own in parts if len(parts) > 1 else []:
        is_own = lines["document"].isin(own)
        here, rest = lines[is_own], lines[~is_own]
        means = rest.groupby(by)["human"].mean() if by else None
        score = here[by[0]].map(means) if by and means is not None else rest["human"].mean()
        tables.append(here.assign(score=score))
    return pd.concat(tables, ignore_index=True)


def _best_person(labels: Labels) -> tuple[str, pd.DataFrame]:
    """The person closest to the others, and that person's lines with the others' mean as ``human``."""
    people = labels.people
    total, n = (people.groupby(KEYS)["score"].transform(how) for how in ("sum", "size"))
    shared = people.assign(human=(total - people["score"]) / (n - 1))[n > 1]
    if shared.empty:
        return "", shared
    error = (shared["score"] - shared["human"]) ** 2
    best = error.groupby(shared["person"]).mean().idxmin()
    return str(best), shared[shared["person"] == best]
