"""The alternative annotator test: may a model replace a person?"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Codes, Numbers

EPSILONS = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""The tolerated disadvantage of the model by kind of annotator (Calderon et al. 2025, section 3)."""

MIN_PEOPLE, MIN_ITEMS = 3, 30
T_TEST, CLUSTERED = "one-sided t-test over items", "score test over clusters of items"
SAME = 1e-9
"""Scores that differ by less are equal; the difference is a rounding error."""


@dataclass(frozen=True)
class AltTest:
    """The result of the alternative annotator test.

    ``winning_rate`` is the share of tested people that the model may replace; the test is ``passed`` at a half or
    more. ``advantage_probability`` is the mean share of items on which the model does at least as well. ``p_values``,
    ``rejected``, ``advantages`` and ``n_items`` are in the order of ``people``. ``n_shared`` items were usable.
    """

    winning_rate: Estimate
    passed: bool | None
    advantage_probability: Estimate
    epsilon: float
    score: str = "rmse"
    correction: str = "BY"
    q: float = 0.05
    n_left_out: int = 0
    n_shared: int = 0
    p_values: list[float] = field(default_factory=list)
    rejected: list[bool] = field(default_factory=list)
    advantages: list[float] = field(default_factory=list)
    n_items: list[int] = field(default_factory=list)
    n_clusters: list[int] = field(default_factory=list)
    people: list[Hashable] = field(default_factory=list)
    people_left_out: list[Hashable] = field(default_factory=list)
    reason: str | None = None
    p_value: float = math.nan
    """The smallest false discovery rate at which the test passes, for adjustment over several tests."""
    test: str = ""
    """The test behind each person's p-value: the paper's t-test, or a score test over clusters."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels in long form, for items with labels from at least two people and the model.

    ``names[person[k]]`` gave label ``k`` to item ``item[k]``. ``machine`` has the model's label of every item.
    """

    names: list[Hashable]
    person: Codes
    item: Codes
    label: npt.NDArray[Any]
    machine: npt.NDArray[Any]
    items_left_out: int = 0
    clusters: Codes | None = None
    """The cluster of every item; None if every item is a separate cluster."""

    @property
    def others(self) -> Codes:
        """Return, for each label, the number of other people who labelled the item (at least 1)."""
        sizes: Codes = np.bincount(self.item, minlength=len(self.machine))
        return sizes[self.item] - 1


def run_alt_test(labels: Labels, epsilon: float, *, min_items: int = MIN_ITEMS) -> AltTest:
    """Leave each person out, and test whether the model agrees with the others at least as well as that person.

    On every item that a person shares with another person and the model, the person and the model are scored against
    the others, by minus the root mean squared difference. The one with the higher score wins; both win a tie. A
    one-sided t-test asks whether the person's rate of wins exceeds the model's by less than ``epsilon``. With clusters,
    the tests are score tests that treat clusters, not items, as independent.

    Parameters
    ----------
    labels : not rounded, because rounding the model's labels would change the result.
    epsilon : 0.2 for experts, 0.15 for skilled people, 0.1 for a crowd (``EPSILONS``).
    min_items : people with fewer items are not tested.

    Source: Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge.

    >>> items = np.arange(40)
    >>> person, item = np.repeat(np.arange(3), 40), np.tile(items, 3)
    >>> found = run_alt_test(Labels(list("abc"), person, item, item % 3.0, items % 3.0), 0.1)
    >>> found.winning_rate, found.advantage_probability
    (1.0, 1.0)
    """
    model_wins, person_wins = _wins(labels)
    sizes = np.bincount(labels.person, minlength=len(labels.names))
    tested = np.flatnonzero(sizes >= min_items)
    reason = _reason(int((sizes > 0).sum()), len(sizes), len(tested), min_items)
    nothing = Estimate.undefined(reason or "")
    basics = AltTest(
        winning_rate=nothing,
        passed=None,
        advantage_probability=nothing,
        epsilon=epsilon,
        n_left_out=labels.items_left_out,
        n_shared=len(labels.machine),
        people_left_out=[labels.names[int(k)] for k in np.flatnonzero(sizes < min_items)],
        reason=reason,
    )
    if reason:
        return replace(basics, people_left_out=list(labels.names))
    of_person = [labels.person == k for k in tested]
    items = np.arange(len(labels.machine)) if labels.clusters is None else labels.clusters
    cluster_of = [items[labels.item[rows]] for rows in of_person]
    p_values = [
        _p_value((person_wins - model_wins)[rows], cluster, epsilon)
        for rows, cluster in zip(of_person, cluster_of, strict=True)
    ]
    adjusted = scipy.stats.false_discovery_control(p_values, method="by")
    rejected = [bool(p <= basics.q) for p in adjusted]
    advantages = [float(model_wins[rows].mean()) for rows in of_person]
    return replace(
        basics,
        winning_rate=Estimate(float(np.mean(rejected))),
        passed=float(np.mean(rejected)) >= 0.5,
        advantage_probability=Estimate(float(np.mean(advantages))),
        p_values=p_values,
        p_value=float(np.sort(adjusted)[math.ceil(len(adjusted) / 2) - 1]),
        test=CLUSTERED if any(len(np.unique(codes)) < len(codes) for codes in cluster_of) else T_TEST,
        rejected=rejected,
        advantages=advantages,
        n_items=sizes[tested].tolist(),
        n_clusters=[len(np.unique(cluster)) for cluster in cluster_of],
        people=[labels.names[int(k)] for k in tested],
    )


def _reason(sharing: int, n_people: int, tested: int, min_items: int) -> str | None:
    if n_people < MIN_PEOPLE:
        count = "1 person is" if n_people == 1 else f"{n_people} people are"
        return f"{count} too few; the test needs at least {MIN_PEOPLE}"
    if sharing < MIN_PEOPLE:
        return (
            f"of {n_people} people, {sharing} share items with another person and the model; the test needs at least "
            f"{MIN_PEOPLE}"
        )
    if not tested:
        return f"nobody shares {min_items} items with another person and the model"
    return None


def _wins(labels: Labels) -> tuple[Numbers, Numbers]:
    """Return, for each label, 1 if the model scores at least as well as the person, and 1 if the person
    scores at least as well as the model.
    """
    human, machine = _errors(labels)
    return (machine - human >= -SAME).astype(float), (human - machine >= -SAME).astype(float)


def _errors(labels: Labels) -> tuple[Numbers, Numbers]:
    """Return, for each label, minus the mean squared difference from the others, for the person and the model.

    The mean square and its root give the same order. With the others' sum s, sum of squares t and number m, it is
    x^2 - 2 x s / m + t / m.
    """
    middle = labels.label.mean() if len(labels.label) else 0.0
    people, machine = labels.label - middle, (labels.machine - middle)[labels.item]
    sums, squares = (
        np.bincount(labels.item, part, len(labels.machine))[labels.item] - part
        for part in (people, people**2)
    )
    return (
        -(people**2 - 2 * people * sums / labels.others + squares / labels.others),
        -(machine**2 - 2 * machine * sums / labels.others + squares / labels.others),
    )


CAUTION = 0.75
"""The number of standard errors by which the correlation within clusters is raised."""


def _p_value(d: Numbers, cluster: Codes, epsilon: float) -> float:
    """Return the p-value of the one-sided test that the person's wins exceed the model's by less than
    ``epsilon``.

    If every item is a separate cluster, this is the paper's t-test. For larger clusters, and for wins without any
    spread, it is Tango's score test: the
    error is the one that ``d`` would have at a mean of epsilon, times the design effect. The t-test's error is too
    small if the sample has few bad documents by chance: its false positive rate is up to .15, that of this test
    .02-.07.

    The design effect follows from the intraclass correlation and the clusters' sizes. The degrees of freedom are those
    of the effective number of clusters of equal size. For documents of 1 to 20 items, a sum of squares over the
    sampled documents would have a false positive rate of up to .12.

    Source: Tango 1998, Equivalence test and confidence interval for the difference in proportions for paired-sample
    data; Kish 1965, Survey Sampling, and Rao and Scott 1992 for the design effect; Donner 1986 for the correlation
    from the analysis of variance and its error.
    """
    _, place = np.unique(cluster, return_inverse=True)
    groups = int(place.max()) + 1
    if groups < len(d) or np.ptp(d) == 0:
        return _score_p_value(d, place, groups, epsilon)
    se = float(d.std(ddof=1) / np.sqrt(len(d)))
    return float(scipy.special.stdtr(groups - 1, (d.mean() - epsilon) / se))


def _score_p_value(d: Numbers, place: Codes, groups: int, epsilon: float) -> float:
    if groups < 2:
        return 1.0
    n, plus, minus = len(d), float((d > 0).sum()), float((d < 0).sum())
    # the likeliest share of d = -1 if the share of d = 1 is larger by epsilon
    b = (plus + minus) * (1 - epsilon) + 2 * epsilon * (plus - n)
    share = (b + np.sqrt(b**2 + 8 * n * minus * epsilon * (1 - epsilon))) / (4 * n)
    expected = (2 * share + epsilon - epsilon**2) / n
    if not expected > 0:  # with epsilon 0, if every item is a tie
        return 1.0
    sizes = np.bincount(place)
    effective = n**2 / float((sizes**2).sum())
    effect = 1 + _likeness(d, place, sizes) * (n / effective - 1) if groups < n else 1.0
    return float(scipy.special.stdtr(effective - 1, (d.mean() - epsilon) / np.sqrt(effect * expected)))


def _likeness(d: Numbers, place: Codes, sizes: Codes) -> float:
    """Return the intraclass correlation within clusters, from 0 to 1; 1 if nothing varies.

    ``CAUTION`` standard errors are added. Otherwise, with 10 documents whose items are alike, the test has a false
    positive rate of .09.
    """
    n, groups = len(d), len(sizes)
    means = np.bincount(place, d) / sizes
    between = float(sizes @ (means - d.mean()) ** 2) / (groups - 1)
    within = float(((d - means[place]) ** 2).sum()) / (n - groups)
    mean_size = (n - float((sizes**2).sum()) / n) / (groups - 1)
    spread = between + (mean_size - 1) * within
    if not spread > SAME:
        return 1.0
    alike = float(np.clip((between - within) / spread, 0, 1))
    error = (
        (1 - alike)
        * (1 + (mean_size - 1) * alike)
        * np.sqrt(2 / (mean_size * (mean_size - 1) * (groups - 1)))
    )
    return min(alike + CAUTION * float(error), 1.0)
