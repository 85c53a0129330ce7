"""Does an endpoint still answer as it did? A permutation test on old and new answers to the same questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coeval.stats.rating_matrix import Numbers

DRAWS = 1999
LEVEL = 0.01
FEWEST = 10
"""With fewer questions nothing is said."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The scores of one question, from answers of equal standing: ``old`` those of then, ``new`` those of now.

    Scores of questions with the same ``block`` came in the same answers, and stand in the same order. A score that
    could not be read is NaN; ``span`` is the range of the scale, by which differences are made comparable.
    """

    block: str
    old: tuple[float, ...]
    new: tuple[float, ...]
    span: float = 1.0


@dataclass(frozen=True, slots=True)
class Drift:
    """``p_value`` of "old and new answers come from one source"; ``shift`` is new less old, in shares of the scale."""

    p_value: float
    shift: float
    questions: int

    def shown(self, level: float) -> bool:
        """Whether the answers differ by more than chance, which is said wrongly with a chance of at most ``level``."""
        return self.p_value <= level


def find_drift(answers: Sequence[Answers], seed: int = 0) -> Drift:
    """Test whether new answers differ from old ones, in their mean or in how they scatter.

    Within a block the answers of then and of now are interchangeable if nothing changed, so they are dealt anew. Of two
    statistics the one that is rarer counts: the mean's shift, and the energy distance, which sees answers that changed
    without a shift wherever a question has two answers of then or of now. The smaller of both p-values is held against
    how small it comes out among the deals, so that the chance of a false alarm is at most the level, whatever the
    answers' distribution.

    Source: Székely and Rizzo 2013, Energy statistics; Westfall and Young 1993 on the smallest p-value.

    >>> same = [Answers(str(n), (3.0, 4.0), (4.0, 3.0)) for n in range(20)]
    >>> lower = [Answers(str(n), (3.0, 4.0), (2.0, 3.0)) for n in range(20)]
    >>> find_drift(same).p_value > 0.5, find_drift(lower).p_value < 0.01
    (True, True)
    """
    rng = np.random.default_rng(seed)
    shifts, energies = np.zeros(DRAWS + 1), np.zeros(DRAWS + 1)
    total = 0
    for block in _group(answers):
        scores = np.array([[*each.old, *each.new] for each in block]) / np.array(
            [[each.span] for each in block]
        )
        n_old, n = len(block[0].old), scores.shape[1]
        deals = np.argsort(rng.random((DRAWS + 1, n)), axis=1)
        deals[0] = np.arange(n)
        for row in scores:
            dealt = row[deals]
            shift, energy = _compare(dealt[:, :n_old], dealt[:, n_old:])
            shifts += shift
            energies += energy
            total += 1
    smallest = np.minimum(_p_values(np.abs(shifts)), _p_values(energies))
    p = float((smallest <= smallest[0] + 1e-12).mean())
    return Drift(p, float(shifts[0] / total) if total else 0.0, total)


def _group(answers: Iterable[Answers]) -> list[list[Answers]]:
    """Questions that are dealt together: of a block, and with as many answers."""
    groups: dict[tuple[str, int, int], list[Answers]] = {}
    for each in answers:
        groups.setdefault((each.block, len(each.old), len(each.new)), []).append(each)
    return list(groups.values())


def _compare(old: Numbers, new: Numbers) -> tuple[Numbers, Numbers]:
    """The shift of the mean and the energy distance of each deal; 0 where a side has no score that could be read."""
    known_old, known_new = ~np.isnan(old), ~np.isnan(new)
    both = known_old.any(axis=1) & known_new.any(axis=1)
    shift = np.where(both, _mean(new, known_new) - _mean(old, known_old), 0.0)
    energy = 2 * _distance(old, new) - _distance(old, old) - _distance(new, new)
    return shift, np.where(both, energy, 0.0)


def _mean(values: Numbers, known: Numbers) -> Numbers:
    return np.asarray(np.where(known, values, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _distance(one: Numbers, other: Numbers) -> Numbers:
    """The mean distance between answers of both sides, each deal by itself."""
    gaps = np.abs(one[:, :, None] - other[:, None, :]).reshape(len(one), -1)
    return _mean(gaps, ~np.isnan(gaps))


def _p_values(statistic: Numbers) -> Numbers:
    """For each deal the share of deals that are as extreme."""
    rounded = np.round(statistic, 9)
    ranked = np.sort(rounded)
    return np.asarray(1 - np.searchsorted(ranked, rounded, side="left") / len(ranked))
