"""The alternative annotator test: may a model take a person's place?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from coeval.stats.estimates.clusters import parse_clusters
from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Codes, Numbers, is_missing

Score = Callable[[Any, list[Any]], float]
EPSILONS = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""How much worse than a person the model may be, by kind of annotator (Calderon et al. 2025, section 3)."""

MIN_PEOPLE, MIN_ITEMS = 3, 30
SAME = 1e-9
"""Two scores closer than this are the same; only rounding tells them apart."""


@dataclass(frozen=True)
class AltTest:
    """The alternative annotator test.

    ``winning_rate`` is the share of tested people that the model may replace, ``passed`` whether it is a half or more,
    ``advantage_probability`` the mean share of items on which the model does at least as well. ``p_values``,
    ``rejected``, ``advantages`` and ``n_items`` are in the order of ``people``; ``n_shared`` items could be used.
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
    model_scores: str = "as given"
    advantage_prob: Estimate = Estimate.undefined("the test was not made")
    """``advantage_probability`` under the shorter name, which scripts use."""


def alt_test(
    model: Mapping[Hashable, Any],
    people: Mapping[Hashable, Mapping[Hashable, Any]],
    epsilon: float = 0.2,
    score: str | Score = "accuracy",
    *,
    q: float = 0.05,
    min_items: int = MIN_ITEMS,
    min_people: int = MIN_PEOPLE,
    correction: str = "BY",
    clusters: Mapping[Hashable, Hashable] | None = None,
) -> AltTest:
    """Leave each person out: does the model agree with the others at least as well as that person does?

    For every person and every item they share with another person and the model, both are scored against the
    others. The model wins where its score is at least the person's, the person where theirs is at least the
    model's; a one-sided t-test asks whether the person's wins exceed the model's by less than ``epsilon``.

    Parameters
    ----------
    model : ``{item: label}``, missing labels left out or None.
    people : ``{person: {item: label}}``; people may share only some items.
    epsilon : 0.2 for experts, 0.15 for skilled people, 0.1 for a crowd (``EPSILONS``).
    score : "accuracy" (share of the others with the same label), "rmse" (also "neg_rmse": minus the root mean
        squared difference to the others), or a function (label, others' labels) -> number, more is better.
    q : the false discovery rate.
    min_items : people with fewer items are not tested.
    min_people : with fewer people the test is undefined.
    correction : "BY" (Benjamini-Yekutieli, the paper's) or "BH" (Benjamini-Hochberg).
    clusters : ``{item: cluster}`` of what was drawn together (its document); the tests then take clusters, not items,
        as independent, and are score tests. An item that is not in it is a cluster of its own.

    Returns
    -------
    AltTest
        Whether model labels are rounded changes the result; they are taken as given.

    Raises
    ------
    ValueError
        For an unknown score or correction, or "rmse" of labels that are not numbers.

    Source: Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge.

    >>> people = {p: {i: i % 3 for i in range(40)} for p in "abc"}
    >>> found = alt_test({i: i % 3 for i in range(40)}, people, epsilon=0.1)
    >>> found.winning_rate, found.advantage_probability
    (1.0, 1.0)
    """
    return run_alt_test(
        common_labels(model, people, clusters),
        epsilon,
        score,
        q=q,
        min_items=min_items,
        min_people=min_people,
        correction=correction,
    )


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels in long form, of the items that two people or more and the model labelled.

    Label ``k`` was given by ``names[person[k]]`` to item ``item[k]``; ``machine`` holds the model's label of
    every item.
    """

    names: list[Hashable]
    person: Codes
    item: Codes
    label: npt.NDArray[Any]
    machine: npt.NDArray[Any]
    items_left_out: int = 0
    clusters: Codes | None = None
    """The cluster of every item; None where each is one of its own."""

    @property
    def others(self) -> Codes:
        """How many other people labelled the item of each label; at least 1."""
        sizes: Codes = np.bincount(self.item, minlength=len(self.machine))
        return sizes[self.item] - 1


def run_alt_test(
    labels: Labels,
    epsilon: float,
    score: str | Score,
    *,
    q: float = 0.05,
    min_items: int = MIN_ITEMS,
    min_people: int = MIN_PEOPLE,
    correction: str = "BY",
) -> AltTest:
    """``alt_test`` of labels in long form."""
    if correction not in ("BY", "BH"):
        raise ValueError(f"There is no correction {correction!r}; choose BY or BH.")
    model_wins, person_wins = _wins(labels, score)
    sizes = np.bincount(labels.person, minlength=len(labels.names))
    tested = np.flatnonzero(sizes >= min_items)
    reason = _reason(int((sizes > 0).sum()), len(sizes), min_people, len(tested), min_items)
    nothing = Estimate.undefined(reason or "")
    basics = AltTest(
        winning_rate=nothing,
        passed=None,
        advantage_probability=nothing,
        epsilon=epsilon,
        score=score if isinstance(score, str) else getattr(score, "__name__", "custom"),
        correction=correction,
        q=q,
        n_left_out=labels.items_left_out,
        n_shared=len(labels.machine),
        people_left_out=[labels.names[int(k)] for k in np.flatnonzero(sizes < min_items)],
        reason=reason,
    )
    if reason:
        return replace(basics, people_left_out=list(labels.names))
    of_person = [labels.person == k for k in tested]
    items = np.arange(len(labels.machine)) if labels.clusters is None else labels.clusters
    cluster_of = [items[labels.item[own]] for own in of_person]
    p_values = [
        _p_value((person_wins - model_wins)[own], cluster, epsilon)
        for own, cluster in zip(of_person, cluster_of, strict=True)
    ]
    rejected = reject(p_values, q, correction)
    advantages = [float(model_wins[own].mean()) for own in of_person]
    return replace(
        basics,
        winning_rate=Estimate(float(np.mean(rejected))),
        passed=float(np.mean(rejected)) >= 0.5,
        advantage_probability=Estimate(float(np.mean(advantages))),
        advantage_prob=Estimate(float(np.mean(advantages))),
        p_values=p_values,
        rejected=rejected,
        advantages=advantages,
        n_items=sizes[tested].tolist(),
        n_clusters=[len(np.unique(cluster)) for cluster in cluster_of],
        people=[labels.names[int(k)] for k in tested],
    )


def reject(p_values: list[float], q: float, correction: str = "BY") -> list[bool]:
    """Which hypotheses to reject at false discovery rate ``q``, in the order given.

    >>> reject([0.001, 0.9, 0.02], 0.05), reject([0.001, 0.9, 0.02], 0.05, "BH")
    ([True, False, False], [True, False, True])
    """
    m = len(p_values)
    order = np.argsort(p_values)
    harmonic = float((1 / np.arange(1, m + 1)).sum()) if correction == "BY" else 1.0
    below = np.asarray(p_values)[order] <= np.arange(1, m + 1) / m * q / harmonic
    last = int(np.flatnonzero(below)[-1]) + 1 if below.any() else 0
    rejected = np.zeros(m, dtype=bool)
    rejected[order[:last]] = True
    return [bool(entry) for entry in rejected]


def _reason(sharing: int, n_people: int, min_people: int, tested: int, min_items: int) -> str | None:
    if n_people < min_people:
        count = "1 person is" if n_people == 1 else f"{n_people} people are"
        return f"{count} too few; the test needs at least {min_people}"
    if sharing < min_people:
        return (
            f"of {n_people} people, {sharing} share items with another person and the model; the test needs at least "
            f"{min_people}"
        )
    if not tested:
        return f"nobody shares {min_items} items with another person and the model"
    return None


def common_labels(
    model: Mapping[Hashable, Any],
    people: Mapping[Hashable, Mapping[Hashable, Any]],
    clusters: Mapping[Hashable, Hashable] | None = None,
) -> Labels:
    """The labels of the items that at least two people and the model labelled."""
    raters: dict[Hashable, int] = {}
    for labels in people.values():
        for item, label in labels.items():
            if not is_missing(label):
                raters[item] = raters.get(item, 0) + 1
    kept = [item for item, n in raters.items() if n > 1 and not is_missing(model.get(item))]
    place = {item: k for k, item in enumerate(kept)}
    entries = [
        (person, place[item], label)
        for person, labels in enumerate(people.values())
        for item, label in labels.items()
        if item in place and not is_missing(label)
    ]
    return Labels(
        list(people),
        _column(entries, 0, np.int64),
        _column(entries, 1, np.int64),
        _column(entries, 2, object),
        _column([(model[item],) for item in kept], 0, object),
        len(raters) - len(kept),
        None if clusters is None else parse_clusters([clusters.get(item) for item in kept], len(kept)).code,
    )


def _column(entries: list[tuple[Any, ...]], side: int, dtype: Any) -> npt.NDArray[Any]:
    column = np.empty(len(entries), dtype=dtype)
    column[:] = [entry[side] for entry in entries]
    return column


def _wins(labels: Labels, score: str | Score) -> tuple[Numbers, Numbers]:
    """For each label: 1 where the model scores at least as well as the person, and the other way round."""
    known = {"accuracy": _accuracies, "rmse": _errors, "neg_rmse": _errors}
    if isinstance(score, str):
        if score not in known:
            raise ValueError(f"There is no score {score!r}; choose accuracy, rmse or a function.")
        human, machine = known[score](labels)
    else:
        human, machine = _custom(labels, score)
    return (machine - human >= -SAME).astype(float), (human - machine >= -SAME).astype(float)


def _accuracies(labels: Labels) -> tuple[Numbers, Numbers]:
    """How many of the others gave the same label: as each person, and as the model."""
    codes = pd.factorize(pd.Series(np.concatenate([labels.label, labels.machine]), dtype=object))[0]
    given, machine = codes[: len(labels.label)], codes[len(labels.label) :][labels.item]
    width = int(codes.max(initial=0)) + 1
    votes = np.bincount(labels.item * width + given, minlength=len(labels.machine) * width)
    return (
        votes[labels.item * width + given] - 1.0,
        votes[labels.item * width + machine] - (given == machine).astype(float),
    )


def _errors(labels: Labels) -> tuple[Numbers, Numbers]:
    """Minus the mean squared difference to the others, of each person and of the model.

    The mean square orders as its root does. With s and t the others' sum and sum of squares, and m their
    number, it is x^2 - 2 x s / m + t / m.
    """
    try:
        given, machine = labels.label.astype(float), labels.machine.astype(float)
    except (TypeError, ValueError):
        raise ValueError(
            "score='rmse' needs labels that are numbers; use score='accuracy' for words."
        ) from None
    middle = given.mean() if len(given) else 0.0
    given, machine = given - middle, (machine - middle)[labels.item]
    sums, squares = (
        np.bincount(labels.item, part, len(labels.machine))[labels.item] - part for part in (given, given**2)
    )
    return (
        -(given**2 - 2 * given * sums / labels.others + squares / labels.others),
        -(machine**2 - 2 * machine * sums / labels.others + squares / labels.others),
    )


def _custom(labels: Labels, score: Score) -> tuple[Numbers, Numbers]:
    by_item: dict[int, list[int]] = {}
    for k, item in enumerate(labels.item):
        by_item.setdefault(int(item), []).append(k)
    human, machine = np.empty(len(labels.label)), np.empty(len(labels.label))
    for item, entries in by_item.items():
        for k in entries:
            others = [labels.label[other] for other in entries if other != k]
            human[k], machine[k] = score(labels.label[k], others), score(labels.machine[item], others)
    return human, machine


def _p_value(d: Numbers, cluster: Codes, epsilon: float) -> float:
    """One-sided test that the person's wins exceed the model's by less than ``epsilon``.

    Where every item is a cluster of its own it is the paper's t-test. Where clusters hold several it is Tango's score
    test: the error is the one that ``d`` would have if its mean were epsilon, as large again as clusters make it.
    The t-test's error is too small where by chance few bad documents were drawn: it errs up to .15, this one .03-.07.

    Source: Tango 1998, Equivalence test and confidence interval for the difference in proportions for paired-sample
    data; the clusters' design effect as Rao and Scott 1992.
    """
    _, place = np.unique(cluster, return_inverse=True)
    groups = int(place.max()) + 1
    if groups < len(d):
        return _score_p_value(d, place, groups, epsilon)
    if np.ptp(d) == 0:
        return 0.0 if d[0] < epsilon else 1.0
    se = float(d.std(ddof=1) / np.sqrt(len(d)))
    return float(special.stdtr(groups - 1, (d.mean() - epsilon) / se))


def _score_p_value(d: Numbers, place: Codes, groups: int, epsilon: float) -> float:
    if groups < 2:
        return 1.0
    n, plus, minus = len(d), float((d > 0).sum()), float((d < 0).sum())
    # the likeliest share of d = -1 where the share of d = 1 is larger by epsilon
    b = (plus + minus) * (1 - epsilon) + 2 * epsilon * (plus - n)
    share = (b + np.sqrt(b**2 + 8 * n * minus * epsilon * (1 - epsilon))) / (4 * n)
    expected = (2 * share + epsilon - epsilon**2) / n
    clustered = groups / (groups - 1) * (np.bincount(place, d - d.mean()) ** 2).sum() / n**2
    # where no cluster differs nothing tells how alike a cluster's items are: they then count as one
    effect = clustered / (d.var() / n) if clustered > SAME**2 else n / groups
    return float(special.stdtr(groups - 1, (d.mean() - epsilon) / np.sqrt(effect * expected)))
