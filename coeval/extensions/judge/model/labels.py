"""The data for fitting and testing a judge: people's scores and judges' answers on the same instances.

Fitting and certification take the same type, so that each gets only one part of the documents.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from coeval.domain import Scale
from coeval.errors import InputError

PEOPLE = ("instance", "document", "system", "criterion", "person", "score")
"""Columns of people's scores: one row per person, instance and criterion."""

JUDGES = ("instance", "criterion", "judge", "score", "spread")
"""Columns of judges' scores: one row per judge, instance and criterion. Unknown numbers are NaN."""

PROBABILITIES = "probabilities"
"""The optional column of ``judges``: a tuple with the probability of each step of the criterion's scale, or None."""


@dataclass(frozen=True, eq=False)
class Labels:
    """People's and judges' scores of the same instances.

    Parameters
    ----------
    people : the columns ``PEOPLE``. ``instance`` and ``document`` are ids (text or numbers); an instance has one
        document in all rows. ``system`` may be empty. ``score`` is a number and never missing.
    judges : the columns ``JUDGES`` and, if the judge gives them, ``PROBABILITIES``. ``score`` is the mean over a
        judge's samples, or NaN if it was unreadable. ``spread`` is the standard deviation of the samples' scores, or
        NaN for fewer than two samples.
    scales : the scale of each criterion that occurs.

    Raises
    ------
    InputError
        If a column or a person's score is missing, a criterion has no scale, the same person or judge scored a pair
        twice, an instance is in two documents, or probabilities do not fit the scale.
    """

    people: pd.DataFrame
    judges: pd.DataFrame
    scales: Mapping[str, Scale]

    def __post_init__(self) -> None:
        _check_columns("people", self.people, PEOPLE)
        _check_columns("judges", self.judges, JUDGES)
        _check_once("people", self.people, "person")
        _check_once("judges", self.judges, "judge")
        _check_scales(self)
        _check_documents(self.people)
        if PROBABILITIES in self.judges:
            _check_probabilities(self.judges, self.scales)

    @property
    def criteria(self) -> tuple[str, ...]:
        """Return the criteria that people or judges scored, in the order of ``scales``."""
        scored = {*self.people["criterion"], *self.judges["criterion"]}
        return tuple(criterion for criterion in self.scales if criterion in scored)

    @property
    def documents(self) -> tuple[object, ...]:
        """Return the documents, in the order of their first rating."""
        return tuple(self.people["document"].drop_duplicates())

    @property
    def members(self) -> tuple[str, ...]:
        """Return the names of the judges, sorted."""
        return tuple(sorted(self.judges["judge"].unique()))

    def for_documents(self, ids: Collection[object]) -> Labels:
        """Return the labels of some documents. Judges' rows are limited to the instances that people scored there."""
        people = self.people[self.people["document"].isin(list(ids))]
        judges = self.judges[self.judges["instance"].isin(people["instance"].unique())]
        return self._part(people, judges)

    def by_judges(self, names: Collection[str]) -> Labels:
        """Return these labels with the scores of only some judges."""
        return self._part(self.people, self.judges[self.judges["judge"].isin(list(names))])

    def _part(self, people: pd.DataFrame, judges: pd.DataFrame) -> Labels:
        """Return some of the rows, without new checks."""
        part = object.__new__(Labels)
        object.__setattr__(part, "people", people.reset_index(drop=True))
        object.__setattr__(part, "judges", judges.reset_index(drop=True))
        object.__setattr__(part, "scales", self.scales)
        return part


def _check_columns(name: str, table: pd.DataFrame, columns: Collection[str]) -> None:
    missing = [column for column in columns if column not in table]
    if missing:
        raise InputError(
            f"The table of {name} has no column {missing[0]!r}; its columns are {', '.join(columns)}."
        )
    for column in ("score", "spread"):
        if column in columns and len(table) and not pd.api.types.is_numeric_dtype(table[column]):
            raise InputError(f"The column {column!r} of {name} contains words; give numbers.")


def _check_once(name: str, table: pd.DataFrame, by: str) -> None:
    keys = ["instance", "criterion", by]
    if table[keys].isna().any().any():
        raise InputError(f"A row of {name} has no {' or '.join(keys)}; each row needs all three.")
    twice = table[table.duplicated(keys)]
    if len(twice):
        row = twice.iloc[0]
        raise InputError(
            f"{row[by]} scored instance {row['instance']} on {row['criterion']!r} twice; keep the last score."
        )
    if name == "people" and table["score"].isna().any():
        raise InputError("A score of a person is missing; leave out such rows.")


def _check_scales(labels: Labels) -> None:
    used = pd.concat([labels.people["criterion"], labels.judges["criterion"]]).unique()
    unknown = [criterion for criterion in used if criterion not in labels.scales]
    if unknown:
        raise InputError(f"The criterion {unknown[0]!r} has no scale; add it to the scales.")


def _check_documents(people: pd.DataFrame) -> None:
    if people["document"].isna().any():
        raise InputError(
            "A row of people has no document; for a single instance, use its id as the document."
        )
    pairs = people[["instance", "document"]].drop_duplicates()
    twice = pairs[pairs["instance"].duplicated()]
    if len(twice):
        raise InputError(f"Instance {twice.iloc[0]['instance']} is in two documents; put it in one.")


def _check_probabilities(judges: pd.DataFrame, scales: Mapping[str, Scale]) -> None:
    for criterion, shares in zip(judges["criterion"], judges[PROBABILITIES], strict=True):
        if not isinstance(shares, (tuple, list)):
            continue
        steps = len(scales[criterion].steps)
        fits = len(shares) == steps and all(0 <= p <= 1 for p in shares) and abs(sum(shares) - 1) < 1e-3
        if not fits:
            raise InputError(
                f"Probabilities for {criterion!r} must be {steps} numbers from 0 to 1 that add up to 1, "
                f"one for each step of the scale. {shares!r} are not."
            )


Said = tuple[Hashable, str, str, float | None, Sequence[float], Sequence[float]]
"""An instance, a criterion, a judge, and its score, samples and probabilities as in ``Draft``."""


def summarise_answers(
    score: float | None, samples: Sequence[float], probabilities: Sequence[float] = ()
) -> tuple[float, float, tuple[float, ...] | None]:
    """Return a draft's score, the standard deviation of its answers' scores, and its probabilities.

    A missing score is nan, and so is the spread of fewer than two answers. The probabilities are None unless they come
    from a decision or log-probabilities: shares of samples are left out, because the spread expresses them.

    >>> summarise_answers(2.5, (2.0, 3.0))
    (2.5, 0.7071067811865476, None)
    >>> summarise_answers(1.5, (), (0.5, 0.5))
    (1.5, nan, (0.5, 0.5))
    """
    mean = math.nan if score is None else score
    spread = statistics.stdev(samples) if len(samples) > 1 else math.nan
    return mean, spread, tuple(probabilities) or None


def tabulate_answers(said: Iterable[Said]) -> pd.DataFrame:
    """Return judges' answers as ``Labels.judges``, with ``PROBABILITIES`` if any answer has probabilities."""
    rows = [
        (instance, criterion, judge, *summarise_answers(score, samples, probabilities))
        for instance, criterion, judge, score, samples, probabilities in said
    ]
    table = pd.DataFrame(rows, columns=[*JUDGES, PROBABILITIES]).astype({"score": float, "spread": float})
    return table if any(row[-1] for row in rows) else table.drop(columns=PROBABILITIES)
