"""The value of each criterion: its share of an overall judgment or of preferences, people's agreement on it, and its
cost in time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.domain import Person
from coeval.extensions.labelling import queries
from coeval.extensions.labelling.study_units import list_units, tell
from coeval.language import tr
from coeval.stats.clusters import Clusters, parse_clusters
from coeval.stats.estimates import Estimate, t_limits
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Numbers
from coeval.stats.report.agreement import people_alphas
from coeval.usecases.access import OPERATOR, OWNERS, Context, require_task, use_case
from coeval.usecases.reports.statistics import get_statistic

FOLDS, FEWEST, PENALTY = 10, 15, 1.0
KEPT = 0.9
"""The default share of the explained variance that the smallest set keeps."""

OVERALL = "overall"

PREFERRED = "preferred"
"""The extra column with people's preferences among the outputs of a document: 1 for the preferred one, 0 for others."""


@dataclass(frozen=True)
class CriterionWorth:
    """The value of one criterion. Shares refer to the variance of the overall judgment on held-out documents."""

    criterion: str
    alone: Estimate
    """The share that it explains alone."""
    added: Estimate
    """The share that it adds to all other criteria together."""
    alpha: Estimate
    seconds: float
    """The median time of a score; nan if unknown."""
    place: int
    """Its place in the order of added value; the smallest set has the criteria up to place ``kept``."""
    so_far: float
    """The share that it and all earlier criteria explain."""


@dataclass(frozen=True)
class Worth:
    """Every criterion except the overall one, in the order of added value; ``reason`` explains a missing
    result.
    """

    task: str
    reason: str = ""
    overall: str = ""
    share: float = KEPT
    whole: Estimate = Estimate.undefined("nothing was computed")
    """The share that all criteria explain together."""
    kept: int = 0
    """The number of criteria in the smallest set."""
    criteria: tuple[CriterionWorth, ...] = ()
    n: int = 0
    documents: int = 0


@dataclass(frozen=True)
class WeighCriteria:
    """The statistic for the value of criteria.

    ``overall`` is the criterion to explain (default: the one with "overall", or else the preferences). ``preferred``
    has pairs of (instance, number); differences of scores within documents explain those of the numbers.
    """

    overall: str = ""
    share: float = KEPT
    preferred: tuple[tuple[str, float], ...] = ()

    def __call__(self, study: StudyFrames) -> Worth:
        overall = self._find_overall(study)
        others = [one for one in study.criteria if one != overall]
        if not overall:
            named = "; ".join(str(one)[:60] for one in study.criteria)
            return Worth(
                study.task,
                f"Name the criterion that is the overall judgment ({named}), or import a column “{PREFERRED}”.",
            )
        units, _ = list_units(study)
        wide = units.pivot_table(
            index="instance", columns="criterion", values="people", aggfunc="mean", sort=False
        )
        document = units.drop_duplicates("instance").set_index("instance")["document"]
        if overall == PREFERRED:
            wide[PREFERRED] = wide.index.map(dict(self.preferred))
        there = [one for one in others if one in wide]
        if overall not in wide or not there:
            return Worth(
                study.task, ("People scored no criterion besides the overall one, or did not score that one.")
            )
        wide = wide[[overall, *there]].dropna()
        if overall == PREFERRED:
            own = wide.groupby(document.loc[wide.index].to_numpy())
            wide = (wide - own.transform("mean"))[own[PREFERRED].transform("size") > 1]
            if wide.empty:
                return Worth(
                    study.task,
                    f"There are no preferences: no document has two outputs with “{PREFERRED}” and scores.",
                )
        clusters = parse_clusters(document.loc[wide.index].tolist(), len(wide))
        if clusters.n < FEWEST:
            return Worth(study.task, f"{clusters.n} documents have all scores; this needs {FEWEST}.")
        y, x = wide[overall].to_numpy(dtype=float), wide[there].to_numpy(dtype=float)
        if y.std() == 0:
            return Worth(study.task, "Every overall score is the same: there is nothing to explain.")
        return self._weigh(study, str(overall), there, y, x, clusters)

    def _find_overall(self, study: StudyFrames) -> str:
        wanted = self.overall or OVERALL
        exact = [one for one in study.criteria if one == wanted]
        found = exact or [one for one in study.criteria if wanted.lower() in str(one).lower()]
        if not exact and (self.overall == PREFERRED or (self.preferred and not self.overall and not found)):
            return PREFERRED
        return str(found[0]) if len(found) == 1 else ""

    def _weigh(
        self,
        study: StudyFrames,
        overall: str,
        names: Sequence[str],
        y: Numbers,
        x: Numbers,
        clusters: Clusters,
    ) -> Worth:
        everything = tuple(range(len(names)))
        losses = _Losses(y, x, clusters)
        order, so_far = losses.order()
        whole = losses.explained(everything)
        alphas = dict(zip(study.criteria, people_alphas(study).per_criterion, strict=True))
        seconds = study.scored.groupby("criterion", observed=True)["active_seconds"].median()
        found = [
            CriterionWorth(
                name, losses.explained((k,)), losses.added(tuple(j for j in everything if j != k)),
                alphas[name]["ordinal"], float(seconds.get(name, np.nan)), order.index(k) + 1, so_far[order.index(k)],
            )
            for k, name in enumerate(names)
        ]  # fmt: skip
        goal = self.share * float(whole)
        kept = next((k for k, value in enumerate(so_far, 1) if value >= goal), len(names))
        found.sort(key=lambda one: one.place)
        return Worth(study.task, "", overall, self.share, whole, kept, tuple(found), len(y), clusters.n)


class _Losses:
    """Squared errors, by cluster, of ridge regressions on subsets of the criteria, on held-out documents."""

    def __init__(self, y: Numbers, x: Numbers, clusters: Clusters) -> None:
        self.y, self.x, self.clusters = y, x, clusters
        self.fold = clusters.dealt(FOLDS)
        self.known: dict[tuple[int, ...], Numbers] = {}
        self.total = float(self.of(()).sum())

    def of(self, chosen: tuple[int, ...]) -> Numbers:
        """Return the sum of squared errors of each cluster."""
        key = tuple(sorted(chosen))
        if key not in self.known:
            told = np.empty(len(self.y))
            for fold in range(int(self.fold.max()) + 1):
                out = self.fold == fold
                told[out] = _predict(self.x[~out][:, key], self.y[~out], self.x[out][:, key])
            self.known[key] = np.bincount(self.clusters.code, (self.y - told) ** 2, self.clusters.n).astype(
                float
            )
        return self.known[key]

    def explained(self, chosen: tuple[int, ...]) -> Estimate:
        """Return the share of the mean's squared errors that these criteria explain."""
        return self._share(self.of(()), self.of(chosen))

    def added(self, others: tuple[int, ...]) -> Estimate:
        """Return the share that all criteria together explain beyond these."""
        return self._share(self.of(others), self.of(tuple(range(self.x.shape[1]))))

    def _share(self, before: Numbers, after: Numbers) -> Estimate:
        gain, base, n = before - after, self.of(()), self.clusters.n
        share = float(gain.sum()) / self.total
        each = (gain - share * base) / self.total
        se = float(np.sqrt((each**2).sum() * n / (n - 1)))
        spread = t_limits(share, se, n - 1)
        return Estimate(share, **spread, clusters=n, interval_kind="held-out documents, t over documents")

    def order(self) -> tuple[list[int], list[float]]:
        """Return the criteria in the order of added value, and the cumulative shares explained."""
        order: list[int] = []
        so_far: list[float] = []
        while len(order) < self.x.shape[1]:
            left = [k for k in range(self.x.shape[1]) if k not in order]
            best = min(left, key=lambda k: float(self.of((*order, k)).sum()))
            order.append(best)
            so_far.append(1 - float(self.of(tuple(order)).sum()) / self.total)
        return order, so_far


def _predict(x: Numbers, y: Numbers, new: Numbers) -> Numbers:
    """Predict new rows with a weakly penalized ridge regression."""
    middle, level = x.mean(axis=0), float(y.mean())
    if not x.shape[1]:
        return np.full(len(new), level)
    centred = x - middle
    weight = np.linalg.solve(centred.T @ centred + PENALTY * np.eye(x.shape[1]), centred.T @ (y - level))
    return np.asarray(level + (new - middle) @ weight)


@use_case(OWNERS)
def get_worth(context: Context, person: Person, slug: str, overall: str = "", share: float = KEPT) -> Worth:
    """Return the value of each criterion for an overall criterion, or for the preferences in an extra column."""
    with context.store.read() as db:
        preferred = queries.list_numbers(db, require_task(db, slug).id, PREFERRED)
    found: Worth = get_statistic(context, person, slug, WeighCriteria(overall, share, preferred))
    return found


def describe_criteria(context: Context, slug: str) -> dict[str, str]:
    """Describe the value of each scored criterion for voters on the next set; empty without an overall criterion."""
    # voters may see only these figures, so the server reads the statistic for them
    found = get_worth(context, OPERATOR, slug)
    return {one.criterion: " · ".join(_describe(found, one)) for one in found.criteria}


def _describe(found: Worth, one: CriterionWorth) -> Iterator[str]:
    yield tr(
        "Explains {alone} of the overall judgment, {added} beyond the other criteria",
        alone=f"{max(0.0, float(one.alone)):.0%}",
        added=f"{max(0.0, float(one.added)):.0%}",
    )
    if one.alpha.defined:
        yield tr("agreement (alpha) {alpha}", alpha=f"{one.alpha:.2f}")
    if not np.isnan(one.seconds):
        yield tr("{seconds} s per score", seconds=f"{one.seconds:.0f}")
    if one.place <= found.kept < len(found.criteria):
        yield tr("in the smallest set that keeps {share} of the information", share=f"{found.share:.0%}")


def tell_worth(found: Worth) -> Iterator[str]:
    """Describe the criteria in lines of text, the smallest set first."""
    if found.reason:
        yield found.reason
        return
    yield (
        f"{found.task}: all criteria explain {tell(found.whole)} of “{found.overall[:50]}” on held-out documents "
        f"({found.n:,} instances, {found.documents:,} documents)"
    )
    yield f"{found.kept} of {len(found.criteria)} criteria keep {found.share:.0%} of that:"
    for one in found.criteria:
        time = "" if np.isnan(one.seconds) else f", {one.seconds:.0f} s"
        mark = "*" if one.place <= found.kept else " "
        yield (
            f"{mark} {one.criterion[:50]}: alone {tell(one.alone)}, added {tell(one.added)}, so far {one.so_far:.2f}, "
            f"alpha {one.alpha:.2f}{time}"
        )


def worth_rows(found: Worth) -> pd.DataFrame:
    """Return rows for a chart: the share that each criterion explains alone, and adds to the others."""
    rows = [
        {"label": one.criterion, "series": series, "value": float(value), "low": value.ci_low, "high": value.ci_high,
         "about": tell(value)}
        for one in found.criteria
        for series, value in (("alone", one.alone), ("added to the others", one.added))
    ]  # fmt: skip
    return pd.DataFrame(rows)
