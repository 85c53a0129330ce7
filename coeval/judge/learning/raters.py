"""How lenient each person is, kept apart: a map to people's scale should not learn who happened to score what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.judge.fitted import Numbers
from coeval.judge.labels import Labels

PRIOR = 10.0
"""A person's leniency is shrunk as if ten ratings more had been neither lenient nor strict."""

ROUNDS = 3
"""How often a map and the people's leniency are fitted in turn."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row a person's rating by one criterion: what was given, by whom, of what, and what the judge said."""

    given: Numbers
    person: np.ndarray
    instance: pd.Series
    document: np.ndarray
    raw: Numbers

    def __len__(self) -> int:
        return len(self.given)


class Seen:
    """People's labels beside what a judge said of the same lines: what a map is learned from.

    ``table`` holds rows of ``Fitted.apply``. What is asked twice is computed once.
    """

    def __init__(self, labels: Labels, table: pd.DataFrame) -> None:
        self.labels, self.table = labels, table
        self._ratings: dict[str, Ratings] = {}
        self._rows: dict[str, pd.DataFrame] = {}

    def rows(self, criterion: str) -> pd.DataFrame:
        """What the judge said by a criterion, by instance."""
        if criterion not in self._rows:
            self._rows[criterion] = self.table[self.table["criterion"] == criterion].set_index("instance")
        return self._rows[criterion]

    def ratings(self, criterion: str) -> Ratings:
        """People's ratings by a criterion of the lines that have a judge's score."""
        if criterion not in self._ratings:
            people = self.labels.people[self.labels.people["criterion"] == criterion]
            raw = self.rows(criterion)["score"].reindex(people["instance"]).to_numpy(dtype=float)
            people, raw = people[~np.isnan(raw)], raw[~np.isnan(raw)]
            self._ratings[criterion] = Ratings(
                people["score"].to_numpy(dtype=float),
                people["person"].to_numpy(),
                people["instance"],
                pd.factorize(people["document"])[0],
                raw,
            )
        return self._ratings[criterion]


def leniency(residual: Numbers, person: np.ndarray) -> dict[object, float]:
    """Each person's mean residual, shrunk towards 0 (see ``PRIOR``), less the mean over all ratings."""
    codes, names = pd.factorize(person)
    sums, n = np.bincount(codes, residual, len(names)), np.bincount(codes, minlength=len(names))
    shrunk = sums / (n + PRIOR)
    shrunk -= (shrunk * n).sum() / n.sum()
    return dict(zip(names, shrunk.tolist(), strict=True))


def in_turn(ratings: Ratings, fit: Callable[[Numbers], Numbers]) -> Mapping[object, float]:
    """The people's leniency beside a map: ``fit`` gives the map's values for ratings less leniency.

    With fewer than two people nothing can be told apart, and the map is fitted once.
    """
    effects: dict[object, float] = dict.fromkeys(ratings.person, 0.0)
    for _ in range(ROUNDS if len(effects) > 1 else 0):
        own = np.array([effects[name] for name in ratings.person])
        effects = leniency(ratings.given - fit(ratings.given - own), ratings.person)
    own = np.array([effects[name] for name in ratings.person])
    fit(ratings.given - own)
    return effects
