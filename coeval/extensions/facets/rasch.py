"""A many-facet Rasch model: instances, criteria, people and judges on one ruler, by marginal maximum likelihood.

log P(X = k) / P(X = k - 1) = theta_instance - difficulty_criterion - severity_rater - threshold_k. Theta is normal
around the mean of the instance's system. Thresholds are shared (rating scale) or each criterion has its own (partial
credit). Standard errors are robust to dependence within documents.

Source: Linacre 1989, Many-facet Rasch measurement; Andrich 1978; Masters 1982; Bock and Aitkin 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from coeval.stats.rating_matrix import Codes, Numbers

NODES = np.linspace(-4.5, 4.5, 49)
"""The grid for theta, in standard deviations from its mean; fine enough for 100 ratings per instance."""

WEIGHTS = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()

WEAK = {"system": 10.0, "criterion": 3.0, "rater": 3.0, "threshold": 4.0, "drift": 3.0, "spread": 2.0}
"""The standard deviations of the normal priors in logits. The priors keep undetermined parameters finite."""

MOST_RATINGS = 300_000
"""The largest number of ratings; more need too much memory."""


@dataclass(frozen=True, eq=False)
class FacetScores:
    """Scores in long form: ``system`` and ``document`` are per instance, all other fields per score."""

    instance: Codes
    criterion: Codes
    rater: Codes
    category: Codes
    """Categories from 0, the lowest score of the criterion's scale."""
    system: Codes
    document: Codes
    categories: tuple[int, ...]
    """The number of points on the scale of each criterion."""
    people: int
    """The number of people, who come first among the raters; judges follow."""
    n_raters: int
    when: Numbers | None = None
    """The position in each rater's work, from -.5 to .5; 0 if unknown."""

    @property
    def n_systems(self) -> int:
        return int(self.system.max(initial=-1)) + 1

    @property
    def n_documents(self) -> int:
        return int(self.document.max(initial=-1)) + 1


def contrasts(n: int, centred: int | None = None) -> Numbers:
    """Return an n x free matrix that expands free values to full values, of which the first ``centred`` sum to 0.

    >>> contrasts(3).sum(axis=0).tolist(), contrasts(3, 2).shape
    ([0.0, 0.0], (3, 2))
    """
    centred = n if centred is None else centred
    if centred == 0:
        return np.eye(n)
    expansion = np.delete(np.eye(n), centred - 1, axis=1)
    expansion[centred - 1, : centred - 1] = -1.0
    return expansion


class Model:
    """The likelihood of scores, with blocks of parameters and the terms of each score's place on the ruler."""

    def __init__(self, scores: FacetScores, *, partial_credit: bool, drift: bool = False) -> None:
        order = np.argsort(scores.instance, kind="stable")
        self.scores = scores
        self.instance, self.category = scores.instance[order], scores.category[order]
        criterion, rater = scores.criterion[order], scores.rater[order]
        self.criterion, self.rater = criterion, rater
        self.starts = np.flatnonzero(np.diff(self.instance, prepend=-1))
        self.rated = self.instance[self.starts]
        """The scored instances, in the order of the blocks."""
        self.block = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(order)]))
        self.top = max(scores.categories)
        self.set_of = (
            np.arange(len(scores.categories)) if partial_credit else np.zeros(len(scores.categories), int)
        )
        self.n_sets = int(self.set_of.max()) + 1
        self.blocks: dict[str, slice] = {}
        self.maps: list[tuple[str, Numbers]] = []
        when = np.zeros(len(order)) if scores.when is None else scores.when[order]
        self._build(when, drift)

    def _build(self, when: Numbers, drift: bool) -> None:
        s = self.scores
        system = s.system[self.instance]
        maps = [("system", np.eye(s.n_systems)), ("criterion", contrasts(len(s.categories)))]
        maps.append(("rater", contrasts(s.n_raters, s.people or s.n_raters)))
        parts = [_dummies(system, s.n_systems), -_dummies(self.criterion, len(s.categories))]
        parts.append(-_dummies(self.rater, s.n_raters))
        if drift and s.people:
            steps = np.round(when * 4) / 4
            maps.append(("drift", np.eye(s.people)))
            parts.append(-(_dummies(self.rater, s.n_raters)[:, : s.people] * steps[:, None]))
        full = np.hstack([*parts, self.set_of[self.criterion][:, None], self.criterion[:, None]])
        rows, self.row = np.unique(full, axis=0, return_inverse=True)
        self.row = self.row.ravel()
        self.row_set, self.row_top = (
            rows[:, -2].astype(int),
            np.asarray(s.categories)[rows[:, -1].astype(int)],
        )
        at, design = 0, []
        start = 0
        for (name, to_full), part in zip(maps, parts, strict=True):
            width = part.shape[1]
            design.append(rows[:, start : start + width] @ to_full)
            start += width
            self.blocks[name] = slice(at, at + to_full.shape[1])
            at += to_full.shape[1]
        self.maps = maps
        self.design = np.hstack(design)
        self.blocks["spread"] = slice(at, at + 1)
        at += 1
        sizes = [
            max(c for c, set_number in zip(s.categories, self.set_of, strict=True) if set_number == k)
            for k in range(self.n_sets)
        ]
        self.threshold_maps = [contrasts(size - 1) for size in sizes]
        for k, to_full in enumerate(self.threshold_maps):
            self.blocks[f"threshold {k}"] = slice(at, at + to_full.shape[1])
            at += to_full.shape[1]
        self.size = at
        self.impossible = np.arange(self.top)[None, :] >= self.row_top[:, None]

    def start(self) -> Numbers:
        """Return the starting point of the search: all parameters 0, and a spread of one logit for theta."""
        return np.zeros(self.size)

    def full(self, free: Numbers, name: str) -> Numbers:
        """Return all values of a block, including dependent ones."""
        return dict(self.maps)[name] @ free[self.blocks[name]]

    def thresholds(self, free: Numbers) -> Numbers:
        """Return sets x (top - 1) thresholds, padded with 0."""
        thresholds = np.zeros((self.n_sets, self.top - 1))
        for k, to_full in enumerate(self.threshold_maps):
            thresholds[k, : len(to_full)] = to_full @ free[self.blocks[f"threshold {k}"]]
        return thresholds

    def spread(self, free: Numbers) -> float:
        return float(np.exp(free[self.blocks["spread"]][0]))

    def chances(self, free: Numbers) -> Numbers:
        """Return the log-probability of each category: rows x nodes x categories."""
        place = (self.design @ free[: self.design.shape[1]])[:, None] + self.spread(free) * NODES[None, :]
        steps = np.concatenate([np.zeros((self.n_sets, 1)), np.cumsum(self.thresholds(free), axis=1)], axis=1)
        logits = place[:, :, None] * np.arange(self.top) - steps[self.row_set][:, None, :]
        logits[np.broadcast_to(self.impossible[:, None, :], logits.shape)] = -np.inf
        logits -= logits.max(axis=2, keepdims=True)
        return logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))

    def posterior(self, chances: Numbers) -> tuple[Numbers, float]:
        """Return each instance's posterior of theta (blocks x nodes), and the log-likelihood."""
        each = np.add.reduceat(chances[self.row, :, self.category], self.starts, axis=0) + np.log(WEIGHTS)
        most = each.max(axis=1, keepdims=True)
        likely = np.exp(each - most)
        total = likely.sum(axis=1, keepdims=True)
        return likely / total, float((np.log(total) + most).sum())

    def _prior(self, free: Numbers) -> tuple[float, Numbers]:
        value, slope = 0.0, np.zeros(self.size)
        for name, place in self.blocks.items():
            kind = name.split()[0]
            scale = WEAK[kind]
            if kind == "threshold":
                to_full = self.threshold_maps[int(name.split()[1])]
            elif kind == "spread":
                to_full = np.eye(1)
            else:
                to_full = dict(self.maps)[name]
            whole = to_full @ free[place]
            value -= float((whole**2).sum()) / (2 * scale**2)
            slope[place] = -(to_full.T @ whole) / scale**2
        return value, slope

    def loss(self, free: Numbers) -> tuple[float, Numbers]:
        """Return the negative log-likelihood with the priors, and its gradient."""
        chances = self.chances(free)
        post, value = self.posterior(chances)
        by_row = np.stack(
            [
                np.bincount(
                    self.row * self.top + self.category, post[self.block, q], len(self.design) * self.top
                )
                for q in range(len(NODES))
            ],
            axis=1,
        ).reshape(len(self.design), self.top, -1)  # rows x categories x nodes
        slope = np.zeros(self.size)
        chance = np.exp(chances).transpose(0, 2, 1)
        gap = by_row - by_row.sum(axis=1, keepdims=True) * chance  # observed minus expected
        of_place = np.einsum("rkq,k->rq", gap, np.arange(self.top))
        slope[: self.design.shape[1]] = self.design.T @ of_place.sum(axis=1)
        slope[self.blocks["spread"]] = self.spread(free) * float((of_place * NODES).sum())
        above = -np.cumsum(gap.sum(axis=2)[:, ::-1], axis=1)[:, ::-1][
            :, 1:
        ]  # scores at or above each threshold
        for k, to_full in enumerate(self.threshold_maps):
            counts = above[self.row_set == k].sum(axis=0)[: len(to_full)]
            slope[self.blocks[f"threshold {k}"]] = to_full.T @ counts
        prior, of_prior = self._prior(free)
        return -(value + prior), -(slope + of_prior)

    def by_document(self, free: Numbers) -> Numbers:
        """Return each document's contribution to the gradient of the log-likelihood (documents x parameters)."""
        chances = self.chances(free)
        post, _ = self.posterior(chances)
        chance = np.exp(chances)
        mean = np.einsum("rqk,k->rq", chance, np.arange(self.top))
        gap = self.category[:, None] - mean[self.row]
        weights = post[self.block]
        e = (weights * gap).sum(axis=1)
        document = self.scores.document[self.instance]
        n = self.scores.n_documents
        scores = np.zeros((n, self.size))
        for p, column in enumerate(self.design.T):
            used = np.flatnonzero(column)
            if len(used):
                scores[:, p] = np.bincount(document, e * column[self.row], n)
        scores[:, self.blocks["spread"]] = (
            self.spread(free) * np.bincount(document, (weights * gap * NODES).sum(axis=1), n)[:, None]
        )
        above = np.cumsum(chance[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:]
        for k, to_full in enumerate(self.threshold_maps):
            mine = self.row_set[self.row] == k
            full = np.zeros((n, len(to_full)))
            for m in range(len(to_full)):
                expected = (weights[mine] * above[self.row[mine], :, m]).sum(axis=1)
                full[:, m] = -np.bincount(document[mine], (self.category[mine] > m) - expected, n)
            scores[:, self.blocks[f"threshold {k}"]] = full @ to_full
        return scores


def _dummies(code: Codes, n: int) -> Numbers:
    dummies = np.zeros((len(code), n))
    dummies[np.arange(len(code)), code] = 1.0
    return dummies


@dataclass(frozen=True, eq=False)
class Fitted:
    """The estimates of a model, with a covariance that is robust to dependence within documents."""

    model: Model
    free: Numbers
    covariance: Numbers
    log_likelihood: float
    converged: bool

    def block(self, name: str) -> tuple[Numbers, Numbers]:
        """Return the values of a block and their standard errors."""
        to_full, place = dict(self.model.maps)[name], self.model.blocks[name]
        spread = to_full @ self.covariance[place, place] @ to_full.T
        return self.model.full(self.free, name), np.sqrt(np.maximum(np.diag(spread), 0.0))

    def by_rater(self, name: str, used: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return a block's values for raters, their standard errors, and degrees of freedom.

        A rater's error comes from the documents that this rater scored, of which ``used`` are spent on estimates. With
        the number of all documents, intervals of eight raters who each score a quarter of 20 documents cover .93, and
        tests of drift have a false positive rate of .11. The error is nan for a rater with too few documents.
        """
        values, errors = self.block(name)
        scores = self.model.scores
        seen = np.unique(np.stack([scores.rater, scores.document[scores.instance]]), axis=1)[0]
        documents = np.bincount(seen, minlength=scores.n_raters)[: len(values)].astype(float)
        freedom = np.where(documents > used, documents - used, np.nan)
        return values, errors * np.sqrt(documents / freedom), freedom

    def error_of(self, slope: Numbers) -> float:
        """Return the standard error of a function of the parameters, from its gradient."""
        return float(np.sqrt(max(0.0, float(slope @ self.covariance @ slope))))

    @cached_property
    def fit_squares(self) -> tuple[Numbers, Numbers, Numbers]:
        """Return three means over theta for each score: its squared gap, the gap's variance, and their ratio."""
        model = self.model
        chances = model.chances(self.free)
        post, _ = model.posterior(chances)
        chance, k = np.exp(chances), np.arange(model.top)
        mean = chance @ k
        variance = np.maximum(chance @ k**2 - mean**2, 1e-9)
        weights = post[model.block]
        squared = (model.category[:, None] - mean[model.row]) ** 2
        spread = variance[model.row]
        return (
            (weights * squared).sum(axis=1),
            (weights * spread).sum(axis=1),
            (weights * squared / spread).sum(axis=1),
        )

    def fit_of(self, code: Codes, n: int) -> tuple[Numbers, Numbers]:
        """Return the infit and outfit mean squares of n elements; ``code`` maps each score to an element, in the
        model's order.
        """
        squared, variance, ratio = self.fit_squares
        with np.errstate(invalid="ignore", divide="ignore"):
            infit = np.bincount(code, squared, n) / np.bincount(code, variance, n)
            outfit = np.bincount(code, ratio, n) / np.bincount(code, minlength=n)
        return infit, outfit

    def instance_places(self) -> tuple[Numbers, Numbers]:
        """Return the expected place on the ruler of each rated instance, and its variance."""
        model = self.model
        post, _ = model.posterior(model.chances(self.free))
        middle = model.full(self.free, "system")[model.scores.system[model.rated]]
        spread = model.spread(self.free)
        mean = post @ NODES
        return middle + spread * mean, spread**2 * (post @ NODES**2 - mean**2)


def fit(scores: FacetScores, *, partial_credit: bool = False, drift: bool = False) -> Fitted:
    """Fit the model to scores by maximum likelihood with weak priors; ``drift`` adds each person's drift.

    Raises
    ------
    ValueError
        If there is no score, fewer than two documents, a scale of one point, or more than ``MOST_RATINGS`` scores.
    """
    if not len(scores.category) or scores.n_documents < 2:
        raise ValueError(
            f"{len(scores.category)} scores of {scores.n_documents} documents are too few for the model."
        )
    if min(scores.categories) < 2:
        raise ValueError("A criterion has a scale of one point, but a ruler needs two.")
    if len(scores.category) > MOST_RATINGS:
        raise ValueError(
            f"{len(scores.category):,} scores are too many for a ruler; use at most {MOST_RATINGS:,}."
        )
    model = Model(scores, partial_credit=partial_credit, drift=drift)
    limits = {"maxiter": 500, "ftol": 1e-11, "gtol": 1e-5}
    optimum = scipy.optimize.minimize(model.loss, model.start(), jac=True, method="L-BFGS-B", options=limits)
    free = np.asarray(optimum.x)
    bread = np.linalg.pinv(_curvature(model, free), hermitian=True)
    each = model.by_document(free)
    n = scores.n_documents
    meat = each.T @ each * n / (n - 1)
    return Fitted(model, free, bread @ meat @ bread, -float(optimum.fun), bool(optimum.success))


def _curvature(model: Model, free: Numbers) -> Numbers:
    """Return the second derivatives of the loss, from finite differences of its gradient."""
    step = 1e-4
    hessian = np.empty((model.size, model.size))
    for p in range(model.size):
        move = np.zeros(model.size)
        move[p] = step
        hessian[p] = (model.loss(free + move)[1] - model.loss(free - move)[1]) / (2 * step)
    return (hessian + hessian.T) / 2


@dataclass(frozen=True)
class Separation:
    """How well the elements of a facet can be distinguished: the ratio of true to observed variance, and the number of
    levels.
    """

    reliability: float
    separation: float
    strata: float


def separate(values: Sequence[float], errors: Sequence[float]) -> Separation:
    """Return how far measures differ beyond their errors.

    >>> found = separate([-1.0, 0.0, 1.0], [0.5, 0.5, 0.5])
    >>> round(found.reliability, 2), round(found.separation, 2), round(found.strata, 2)
    (0.75, 1.73, 2.64)
    """
    if len(values) < 2:
        return Separation(float("nan"), float("nan"), float("nan"))
    observed, error = float(np.var(values, ddof=1)), float(np.mean(np.square(errors)))
    true = max(0.0, observed - error)
    ratio = float(np.sqrt(true / error)) if error > 0 else float("inf")
    return Separation(true / observed if observed > 0 else 0.0, ratio, (4 * ratio + 1) / 3)


def find_components(first: Codes, second: Codes) -> Codes:
    """Return the connected component of each link between elements of two facets (union-find).

    >>> find_components(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    offset = int(first.max(initial=-1)) + 1
    parent = np.arange(offset + int(second.max(initial=-1)) + 1)

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = int(parent[node])
        return node

    for a, b in set(zip(first.tolist(), (second + offset).tolist(), strict=True)):
        parent[root(a)] = root(b)
    roots = [root(int(a)) for a in first]
    places = {name: k for k, name in enumerate(dict.fromkeys(roots))}
    return np.array([places[node] for node in roots], dtype=np.int64)
