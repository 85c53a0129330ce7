"""Restate systems' means on a target scale, rank them, and test whether a link favours a system.

A system's restated mean is the mean of its linked scores, plus the mean residual of its own anchors. This difference
estimator (Särndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, section 6.4) is right even if the link
is wrong for this system, provided that its anchors are a random sample of its outputs. All errors are from the
jackknife over documents: each replicate leaves out a group of documents with its scores and anchors, and fits the
links again, so that anchors, link and outputs all count.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from coeval.extensions.judge.bridge import links
from coeval.extensions.judge.bridge.schema import (
    CriterionBridge,
    Design,
    Favour,
    Link,
    Pair,
    Point,
    Side,
    SystemMean,
    Verdict,
)
from coeval.extensions.judge.certificate.schema import Number
from coeval.stats.clusters import DOCUMENTS, NO_SPREAD, Clusters, parse_clusters
from coeval.stats.estimates import NO_ERROR, adjust_holm, t_limits
from coeval.stats.rating_matrix import Codes, Numbers

LEAST = 10
"""Smallest number of anchor documents for a link."""
OWN = 5
"""With anchors in fewer documents than this, a system's mean is not corrected by them."""
LEAST_SYSTEMS = 3
"""Smallest number of systems that show how a link's error varies between systems."""
EACH, FAMILY = 0.05, 0.10
"""The order of two systems is told if its p-value is at most ``EACH`` and the adjusted one at most ``FAMILY``."""
POWER = 0.8
MOST_KNOTS, MOST_POINTS = 100, 9

WITHOUT = "fewer than three systems have anchors, so it is unknown how well the link carries over to this one"


@dataclass(frozen=True, eq=False)
class Items:
    """One criterion's scores of the same outputs: vectors of equal length, with nan for an unknown score.

    ``old`` and ``new`` are judges' uncalibrated scores. ``people`` is the mean of people's scores of an output; the
    outputs that they scored must be a random sample.
    """

    document: Sequence[object]
    system: Sequence[str]
    old: Numbers
    new: Numbers
    people: Numbers


def bridge_criterion(criterion: str, items: Items) -> CriterionBridge:
    """Return the bridge on one criterion; its pairs have no verdict before ``tell_orders``."""
    design, reason = _choose_design(items)
    if design is Design.NONE:
        return CriterionBridge(criterion=criterion, design=design, reason=reason)
    plan = _Plan(items, design)
    return CriterionBridge(
        criterion=criterion,
        design=design,
        links=tuple(_describe_links(plan)),
        systems=tuple(_describe_systems(plan)),
        pairs=tuple(_describe_pairs(plan)),
    )


def _choose_design(items: Items) -> tuple[Design, str]:
    """Return the strongest design that the anchors allow, or why there is none."""
    document = parse_clusters(items.document, len(items.old)).code
    old, new, people = (~np.isnan(scores) for scores in (items.old, items.new, items.people))
    by_old, by_new, common = (
        len(np.unique(document[shared])) for shared in (old & people, new & people, old & new)
    )
    if min(by_old, by_new) >= LEAST:
        return Design.PEOPLE, ""
    if common >= LEAST:
        return Design.COMMON, ""
    if not (old & new).any() and not (old & people).any():
        return (
            Design.NONE,
            "the two judges scored no common output, and people scored none of the old judge's",
        )
    return Design.NONE, (
        f"a bridge needs anchors from {LEAST} documents: people scored outputs of the old judge in {by_old} and of the "
        f"new judge in {by_new}, and both judges scored the same outputs in {common}"
    )


@dataclass(frozen=True, eq=False)
class _Judge:
    """One judge's scores with the targets of its anchors, and the kind of its link."""

    side: Side
    scores: Numbers
    target: Numbers
    anchored: np.ndarray
    kind: str

    @property
    def ends(self) -> tuple[float, float]:
        return float(np.nanmin(self.scores)), float(np.nanmax(self.scores))


@dataclass(frozen=True, eq=False)
class _Result:
    """The links of one data set, with arrays of judges x systems; nan where a system has no such score.

    ``linked`` is the mean of linked scores, ``residual`` the mean residual of the anchors, and ``excess`` the judge
    minus the target on a system's anchors, minus the same on all others.
    """

    knots: list[links.Knots]
    linked: Numbers
    residual: Numbers
    excess: Numbers
    variance: Numbers
    """The mean squared residual of each judge's anchors."""


class _Plan:
    """The data of one criterion, the estimates from all of it, and those without each group of documents."""

    def __init__(self, items: Items, design: Design) -> None:
        self.clusters: Clusters = parse_clusters(items.document, len(items.old), DOCUMENTS)
        names, system = np.unique(np.asarray(items.system, dtype=str), return_inverse=True)
        self.names: list[str] = names.tolist()
        self.system: Codes = system
        self.judges = [_join(side, items, design, self.clusters.code) for side in ("old", "new")]
        self.counts = np.array([self._count(~np.isnan(judge.scores)) for judge in self.judges])
        self.anchors = np.array([self._count_documents(judge.anchored) for judge in self.judges])
        self.by = np.where(self.counts[1] >= self.counts[0], 1, 0)
        self.shown = np.flatnonzero(self.counts.max(axis=0) > 0)
        place = np.arange(len(self.names))
        self.own_anchors = self.anchors[self.by, place]
        self.corrected = self.own_anchors >= OWN
        everything = np.ones(len(self.system), dtype=bool)
        group = self.clusters.groups()
        parts = [group != number for number in range(int(group.max()) + 1)]
        self.whole = self._estimate(everything, everything)
        self.without = [self._estimate(part, part) for part in parts]
        self.means = self._restate(self.whole)
        self.replicates = np.array([self._restate(each) for each in self.without])
        # the error that more anchors would not remove: that of the outputs alone
        fixed = [self._estimate(part, everything) for part in parts]
        self.of_outputs = np.array([self._restate(each) for each in fixed])

    def _count(self, units: np.ndarray) -> Codes:
        return np.bincount(self.system[units], minlength=len(self.names))

    def _count_documents(self, units: np.ndarray) -> Codes:
        cells = np.unique(np.column_stack([self.system[units], self.clusters.code[units]]), axis=0)
        return np.bincount(cells[:, 0], minlength=len(self.names))

    def _mean(self, values: Numbers, units: np.ndarray) -> Numbers:
        n = self._count(units)
        sums = np.bincount(self.system[units], values[units], len(self.names))
        return np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)

    def _estimate(self, outputs: np.ndarray, labels: np.ndarray) -> _Result:
        """Return the estimates from some of the outputs and some of the anchors."""
        knots, rows = [], []
        for judge in self.judges:
            anchors = judge.anchored & labels
            knots.append(links.fit_link(judge.kind, judge.scores[anchors], judge.target[anchors], judge.ends))
            linked = np.interp(judge.scores, *knots[-1])
            residual = judge.target - linked
            scored = outputs & ~np.isnan(judge.scores)
            rows.append(
                (
                    self._mean(linked, scored),
                    self._mean(residual, anchors),
                    self._find_excess(judge, anchors),
                    np.mean(residual[anchors] ** 2),
                )
            )
        return _Result(knots, *(np.array(part) for part in zip(*rows, strict=True)))

    def _find_excess(self, judge: _Judge, anchors: np.ndarray) -> Numbers:
        """Return each system's excess: the distance of its own line from that of the others, all of the same slope."""
        x, y, system = judge.scores[anchors], judge.target[anchors], self.system[anchors]
        slope = find_slope(x, y, system, self.clusters.code[anchors])
        excess = slope * x - y
        n, sums = self._count(anchors), np.bincount(system, excess, len(self.names))
        rest = n.sum() - n
        shown = (n > 0) & (rest > 0)
        gap = sums / np.maximum(n, 1) - (sums.sum() - sums) / np.maximum(rest, 1)
        return np.where(shown, gap, np.nan)

    def _restate(self, result: _Result) -> Numbers:
        place = np.arange(len(self.names))
        linked, residual = result.linked[self.by, place], result.residual[self.by, place]
        return linked + np.where(self.corrected, residual, 0.0)

    def find_spread(self, side: int) -> tuple[float | None, int]:
        """Return the root mean square of systems' mean residuals, with the number of systems."""
        residuals = self.whole.residual[side][self.anchors[side] >= OWN]
        if len(residuals) < LEAST_SYSTEMS:
            return None, len(residuals)
        return float(np.sqrt((residuals**2).sum() / (len(residuals) - 1))), len(residuals)

    def find_error(self, weights: Numbers) -> _Error:
        """Return the error of a weighted sum of systems' restated means."""
        used = np.flatnonzero(weights)
        squares = find_se(self.replicates[:, used] @ weights[used]) ** 2
        freedom, lacking = math.inf, ""
        for system in used:
            if self.corrected[system]:
                freedom = min(freedom, self.own_anchors[system] - 1)
                continue
            spread, systems = self.find_spread(int(self.by[system]))
            if spread is None:
                return _Error(reason=WITHOUT)
            squares += spread**2 * (1 + 1 / systems)
            freedom = min(freedom, systems - 1)
        if not squares > NO_ERROR**2:
            lacking = NO_SPREAD
        return _Error(math.sqrt(squares) if not lacking else math.nan, freedom, lacking)


def _join(side: Side, items: Items, design: Design, document: Codes) -> _Judge:
    scores = items.old if side == "old" else items.new
    target = items.people if design is Design.PEOPLE else items.new
    anchored = ~np.isnan(scores) & ~np.isnan(target)
    if design is Design.COMMON and side == "new":
        return _Judge(side, scores, target, anchored, links.IDENTITY)
    documents = len(np.unique(document[anchored]))
    kind = links.choose_kind(design is Design.PEOPLE, int(anchored.sum()), documents)
    return _Judge(side, scores, target, anchored, kind)


@dataclass(frozen=True)
class _Error:
    se: float = math.nan
    freedom: float = math.nan
    reason: str = ""

    def number(self, value: float, documents: int) -> Number:
        """Return the value with its interval, or with the reason why it has none."""
        if math.isnan(value):
            return Number(value=None, reason="there is no score")
        if math.isnan(self.se):
            return Number(value=value, reason=self.reason or NO_SPREAD)
        limits = t_limits(value, self.se, self.freedom)
        return Number(value=value, low=limits["ci_low"], high=limits["ci_high"], clusters=documents)

    def p_value(self, value: float) -> float:
        """Return the two-sided p-value against 0, nan if the error is unknown."""
        return 2 * float(scipy.special.stdtr(self.freedom, -abs(value) / self.se))


def find_se(without: Numbers) -> float:
    """Return the jackknife's standard error.

    ``without`` has the estimate with one group left out at a time; nan among them are skipped. The error is nan if
    fewer than two are left, or if they are all equal.

    Source: Tukey 1958; Efron and Stein 1981.
    """
    kept = without[~np.isnan(without)]
    if len(kept) < 2:
        return math.nan
    se = math.sqrt((len(kept) - 1) / len(kept) * float(((kept - kept.mean()) ** 2).sum()))
    return se if se > NO_ERROR else math.nan


def find_slope(x: Numbers, y: Numbers, system: Codes, document: Codes) -> float:
    """Return the slope of the target on a judge's score within systems: an instrument's estimate, in Frisch's bounds.

    A regression draws a noisy judge's scores to their mean, so that the judge would seem to favour every weak system.
    The instrument is the target of the document's other outputs, whose errors are independent. If the judge had no
    noise, the slope would be cov(x, y) / var(x); if the target had none, var(y) / cov(x, y).

    Sources: Fuller 1987, Measurement Error Models, section 1.4 (instruments); Frisch 1934 (the bounds).
    """
    x, y = (
        values - (np.bincount(system, values) / np.maximum(np.bincount(system), 1))[system]
        for values in (x, y)
    )
    shared = float(x @ y)
    if shared <= NO_ERROR:
        return 0.0
    least, most = shared / float(x @ x), float(y @ y) / shared
    others = np.bincount(document)[document] - 1
    instrument = (np.bincount(document, y)[document] - y) / np.maximum(others, 1)
    if not float(x @ instrument) > NO_ERROR:
        return math.sqrt(least * most)
    return float(np.clip(float(y @ instrument) / float(x @ instrument), least, most))


def _describe_links(plan: _Plan) -> Iterable[Link]:
    favours = _describe_favours(plan)
    for side, judge in enumerate(plan.judges):
        if judge.kind == links.IDENTITY:
            continue
        values = np.unique(judge.scores[~np.isnan(judge.scores)])
        scores = _thin(values, MOST_KNOTS)
        linked = np.interp(scores, *plan.whole.knots[side])
        without = np.array([np.interp(scores, *each.knots[side]) for each in plan.without])
        spread, systems = plan.find_spread(side)
        documents = len(np.unique(plan.clusters.code[judge.anchored]))
        yield Link(
            side=judge.side,
            kind=judge.kind,
            anchors=int(judge.anchored.sum()),
            documents=documents,
            scores=tuple(scores.tolist()),
            linked=tuple(linked.tolist()),
            without=tuple(tuple(row) for row in without.tolist()),
            spread=spread,
            systems=systems,
            points=tuple(
                _describe_point(plan, side, score, documents) for score in _thin(values, MOST_POINTS)
            ),
            favours=tuple(favours[side]),
        )


def _thin(values: Numbers, most: int) -> Numbers:
    """Return at most this many of the sorted values, with both ends."""
    if len(values) <= most:
        return values
    return np.unique(np.quantile(values, np.linspace(0, 1, most), method="nearest"))


def _describe_point(plan: _Plan, side: int, score: float, documents: int) -> Point:
    value = float(np.interp(score, *plan.whole.knots[side]))
    without = np.array([float(np.interp(score, *each.knots[side])) for each in plan.without])
    error = _Error(find_se(without), documents - 1)
    return Point(score=float(score), linked=error.number(value, documents))


def _describe_favours(plan: _Plan) -> list[list[Favour]]:
    """Return each judge's tests whether its link differs for a system."""
    tests: list[tuple[int, int, float, _Error]] = []
    for side, judge in enumerate(plan.judges):
        if judge.kind == links.IDENTITY or (plan.anchors[side] >= OWN).sum() < 2:
            continue
        for system in np.flatnonzero(plan.anchors[side] >= OWN).tolist():
            without = np.array([each.excess[side, system] for each in plan.without])
            error = _Error(find_se(without), float(plan.anchors[side, system] - 1))
            tests.append((side, system, float(plan.whole.excess[side, system]), error))
    adjusted = adjust_holm([error.p_value(value) for _, _, value, error in tests])
    favours: list[list[Favour]] = [[] for _ in plan.judges]
    for (side, system, value, error), p in zip(tests, adjusted, strict=True):
        anchors = int(plan.anchors[side, system])
        favours[side].append(
            Favour(
                system=plan.names[system],
                anchors=anchors,
                excess=error.number(value, anchors),
                p_value=None if math.isnan(p) else p,
            )
        )
    return favours


def _before(plan: _Plan, system: int) -> tuple[float, Side]:
    """Return a system's plain mean by the old judge or, if there is none, by the new one."""
    judge = plan.judges[0] if plan.counts[0, system] else plan.judges[1]
    scores = judge.scores[plan.system == system]
    return float(np.nanmean(scores)), judge.side


def _describe_systems(plan: _Plan) -> Iterable[SystemMean]:
    for system in plan.shown.tolist():
        before, before_side = _before(plan, system)
        side = plan.judges[plan.by[system]]
        weights = np.eye(len(plan.names))[system]
        documents = len(np.unique(plan.clusters.code[(plan.system == system) & ~np.isnan(side.scores)]))
        yield SystemMean(
            system=plan.names[system],
            side=side.side,
            items=int(plan.counts[plan.by[system], system]),
            anchors=int(plan.own_anchors[system]),
            corrected=bool(plan.corrected[system]),
            before=before,
            before_side=before_side,
            restated=plan.find_error(weights).number(float(plan.means[system]), documents),
        )


def _describe_pairs(plan: _Plan) -> Iterable[Pair]:
    pairs = list(itertools.combinations(plan.shown.tolist(), 2))
    for first, second in pairs:
        weights = np.zeros(len(plan.names))
        weights[[first, second]] = 1, -1
        value = float(plan.means[first] - plan.means[second])
        error = plan.find_error(weights)
        p = error.p_value(value)
        documents = int(min(plan.own_anchors[first], plan.own_anchors[second]))
        yield Pair(
            first=plan.names[first],
            second=plan.names[second],
            before=_before(plan, first)[0] - _before(plan, second)[0],
            restated=error.number(value, documents),
            p_value=None if math.isnan(p) else p,
            enough=_find_enough(plan, (first, second), value, error, len(pairs)),
        )


def _find_enough(
    plan: _Plan, systems: tuple[int, int], value: float, error: _Error, pairs: int
) -> int | None:
    """Return the number of anchor documents of both systems that shows this difference with probability ``POWER``.

    The level is Bonferroni's over all pairs of the criterion. The variance has a part of the outputs, which stays, and
    a part of the anchors, which is inversely proportional to their number. None if the outputs' part alone is too
    large, or the difference is 0.
    """
    level = min(EACH, FAMILY / pairs)
    reach = float(scipy.special.ndtri(1 - level / 2) + scipy.special.ndtri(POWER))
    first, second = systems
    of_outputs = np.nan_to_num(find_se(plan.of_outputs[:, first] - plan.of_outputs[:, second])) ** 2
    room = (value / reach) ** 2 - of_outputs
    if not room > 0:
        return None
    each = sum(float(plan.whole.variance[plan.by[system]]) for system in systems)
    documents = int(min(plan.own_anchors[first], plan.own_anchors[second]))
    if plan.corrected[[first, second]].all() and error.se**2 > of_outputs:
        each = (error.se**2 - of_outputs) * documents
    return max(math.ceil(each / room), OWN)


def tell_orders(bridges: Sequence[CriterionBridge]) -> tuple[CriterionBridge, ...]:
    """Return the bridges with a verdict on each pair, over all criteria.

    If an order did not change, the probability of calling it flipped is at most ``EACH``. That of any such error in a
    study is at most ``FAMILY`` (Holm 1979).
    """
    raw = [math.nan if pair.p_value is None else pair.p_value for bridge in bridges for pair in bridge.pairs]
    adjusted = iter(adjust_holm(raw))
    told = []
    for bridge in bridges:
        pairs = []
        for pair in bridge.pairs:
            p, difference = next(adjusted), pair.restated.value or 0.0
            verdict = Verdict.UNTOLD
            if pair.p_value is not None and pair.p_value <= EACH and p <= FAMILY:
                verdict = Verdict.FLIPS if pair.before * difference < 0 else Verdict.HOLDS
            update = {
                "p_value": None if math.isnan(p) else p,
                "verdict": verdict,
                "enough": pair.enough if verdict is Verdict.UNTOLD else None,
            }
            pairs.append(pair.model_copy(update=update))
        told.append(bridge.model_copy(update={"pairs": tuple(pairs)}))
    return tuple(told)
