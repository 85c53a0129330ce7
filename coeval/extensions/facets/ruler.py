"""Put a study on one ruler: fair means of systems; severity, fit and drift of people and judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from coeval.extensions.facets.rasch import (
    MOST_RATINGS,
    NODES,
    WEIGHTS,
    FacetScores,
    Fitted,
    Separation,
    find_components,
    fit,
    separate,
)
from coeval.stats.estimates import Estimate, adjust_holm, listed, t_limits, tell_estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Codes, Numbers

ENOUGH = 20
"""With at least this many blind units, only blind scores are used."""

MOST_POINTS = 11
"""Finer scales are divided into this number of equal parts."""

MOST_RUNS = 8
UNAIDED, ALL = "scores without the draft in view", "all scores, including those with the draft in view"
ONE_SYSTEM = "all instances"


@dataclass(frozen=True)
class Element:
    """A person, a judge or a criterion, with the measure in logits and the fit of the scores."""

    name: str
    kind: str
    measure: Estimate
    n: int
    infit: float
    outfit: float
    group: int = 0
    """The number of the connected part that it belongs to, from 1; 0 for criteria."""


@dataclass(frozen=True)
class FairSystem:
    """A system with its measure, its mean from average raters on all criteria, and its observed mean."""

    name: str
    measure: Estimate
    fair: Estimate
    observed: float
    n: int


@dataclass(frozen=True)
class Effect:
    """The change in a person's severity from first to last score."""

    name: str
    value: Estimate
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class Ruler:
    """The results of the model for a study; ``reason`` explains a missing result."""

    task: str
    reason: str = ""
    basis: str = ""
    model: str = ""
    systems: tuple[FairSystem, ...] = ()
    raters: tuple[Element, ...] = ()
    criteria: tuple[Element, ...] = ()
    thresholds: tuple[tuple[str, tuple[float, ...]], ...] = ()
    separation: tuple[tuple[str, Separation], ...] = ()
    drift: tuple[Effect, ...] = ()
    spread: float = float("nan")
    log_likelihood: float = float("nan")
    n: int = 0
    documents: int = 0
    parts: tuple[tuple[str, ...], ...] = ()
    """The people and judges of each connected part."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FitRuler:
    """The statistic for a ruler. Criteria with different scales get thresholds of their own (partial credit)."""

    def __call__(self, study: StudyFrames) -> Ruler:
        table, basis = _list_scores(study)
        scales = (
            {study.scales[criterion] for criterion in table["criterion"].unique()} if len(table) else set()
        )
        partial = len(scales) > 1
        reason = _refuse(table)
        if reason:
            return Ruler(study.task, reason=reason, basis=basis)
        coded = _Coded(study, table, partial)
        return coded.measure(study.task, basis)


def _list_scores(study: StudyFrames) -> tuple[pd.DataFrame, str]:
    """Return ``rater, judge, unit, score, when`` and the fields of each unit, people first."""
    people, basis = study.unaided, UNAIDED
    if people["unit"].nunique() < ENOUGH:
        people, basis = study.genuine, ALL
    when = pd.to_datetime(
        study.scored["submitted_at"].reindex(people.index), utc=True, format="ISO8601", errors="coerce"
    )
    people_scores = pd.DataFrame(
        {"rater": people["annotator"].astype(str), "judge": False, "unit": people["unit"], "score": people["score"],
         "when": when.to_numpy()}
    )  # fmt: skip
    drafted = study.model_scores
    labels = list(dict.fromkeys(drafted["run_label"].astype(str)))[:MOST_RUNS]
    drafted = drafted[drafted["run_label"].astype(str).isin(labels)]
    judged = pd.DataFrame(
        {"rater": drafted["run_label"].astype(str) + " (judge)", "judge": True, "unit": drafted["unit"],
         "score": drafted["score"], "when": pd.NaT}
    ).drop_duplicates(["rater", "unit"], keep="last")  # fmt: skip
    ratings = (
        pd.concat([people_scores, judged], ignore_index=True)
        if len(judged)
        else people_scores.reset_index(drop=True)
    )
    units = study.units.assign(document=study.clusters.code)
    table = ratings.join(units[["instance", "criterion", "document", "system"]], on="unit")
    named = table["system"].replace("", None)
    table["system"] = named.fillna(ONE_SYSTEM if not named.notna().any() else "(no system)")
    return table, basis


def _refuse(table: pd.DataFrame) -> str:
    if table.empty:
        return "Nobody has scored this study yet."
    if table["rater"].nunique() < 2:
        return "Only one rater has scored: comparing raters needs two people, or one person and a judge."
    if table["document"].nunique() < 5:
        return f"{table['document'].nunique()} documents are too few: the model needs 5, and 20 are better."
    if len(table) > MOST_RATINGS:
        return f"{len(table):,} scores are too many: the limit is {MOST_RATINGS:,}."
    return ""


class _Coded:
    """The table as integer codes, the fitted model, and the names for the results."""

    def __init__(self, study: StudyFrames, table: pd.DataFrame, partial: bool) -> None:
        self.partial = partial
        self.table = table
        self.criteria = [criterion for criterion in study.criteria if (table["criterion"] == criterion).any()]
        people = sorted(table.loc[~table["judge"], "rater"].unique())
        judges = list(dict.fromkeys(table.loc[table["judge"], "rater"]))
        self.raters, self.people = [*people, *judges], len(people)
        self.systems = sorted(table["system"].unique())
        criterion = pd.Index(self.criteria).get_indexer(pd.Index(table["criterion"]))
        self.values, category = self._categories(study, criterion)
        instance, names = pd.factorize(table["instance"])
        first = table.drop_duplicates("instance").set_index("instance").loc[names]
        self.coded = FacetScores(
            instance=instance.astype(np.int64),
            criterion=criterion.astype(np.int64),
            rater=pd.Index(self.raters).get_indexer(pd.Index(table["rater"])).astype(np.int64),
            category=category,
            system=pd.Index(self.systems).get_indexer(first["system"]).astype(np.int64),
            document=pd.factorize(first["document"])[0].astype(np.int64),
            categories=tuple(len(points) for points in self.values),
            people=self.people,
            n_raters=len(self.raters),
            when=self._order_of_work(),
        )
        links = find_components(self.coded.rater, self.coded.instance)
        self.part = np.zeros(len(self.raters), dtype=np.int64)
        self.part[self.coded.rater] = links

    def _categories(self, study: StudyFrames, criterion: Codes) -> tuple[list[Numbers], Codes]:
        """Return the occurring scores, per criterion or for all criteria, and the position of each score among them."""
        score = self.table["score"].to_numpy(dtype=float)
        rounded = np.empty(len(score))
        for place, name in enumerate(self.criteria):
            low, high = study.scales[name]
            points = np.arange(low, high + 1)
            if len(points) > MOST_POINTS or len(points) < 2:
                points = np.linspace(low, high, MOST_POINTS)
            of_criterion = criterion == place
            rounded[of_criterion] = points[np.abs(score[of_criterion][:, None] - points).argmin(axis=1)]
        shared = np.unique(rounded)
        values = [
            np.unique(rounded[criterion == place]) if self.partial else shared
            for place in range(len(self.criteria))
        ]
        category = np.empty(len(score), dtype=np.int64)
        for place, used in enumerate(values):
            of_criterion = criterion == place
            category[of_criterion] = np.searchsorted(used, rounded[of_criterion])
        return values, category

    def _order_of_work(self) -> Numbers | None:
        """Return -.5 to .5 for the order of each person's scores; None if no score has a time."""
        when = self.table["when"]
        if when.isna().all():
            return None
        rank = when.groupby(self.table["rater"]).rank(method="average")
        size = when.groupby(self.table["rater"]).transform("count")
        return ((rank - 1) / (size - 1).clip(lower=1) - 0.5).fillna(0.0).to_numpy(dtype=float)

    def _has_order(self, rater: int) -> bool:
        """Return whether the times of a person's scores show an order."""
        when = self.table.loc[self.table["rater"] == self.raters[rater], "when"]
        return bool(when.notna().all() and when.nunique() > 2)

    def measure(self, task: str, basis: str) -> Ruler:
        if min(self.coded.categories) < 2:
            return Ruler(
                task,
                reason="Every score of a criterion is the same, so there is no variation to model.",
                basis=basis,
            )
        fitted = fit(self.coded, partial_credit=self.partial)
        df = max(self.coded.n_documents - 1, 1)
        severity, errors, freedom = fitted.by_rater("rater", used=1)
        order = fitted.model.rater
        infit, outfit = fitted.fit_of(order, len(self.raters))
        counts = np.bincount(order, minlength=len(self.raters))
        raters = tuple(
            Element(
                name, "person" if k < self.people else "judge", _with_interval(severity[k], errors[k], freedom[k]),
                int(counts[k]), float(infit[k]), float(outfit[k]), int(self.part[k]) + 1,
            )
            for k, name in enumerate(self.raters)
        )  # fmt: skip
        people = slice(0, self.people)
        places, variances = fitted.instance_places()
        told = float(np.var(places, ddof=1)) if len(places) > 1 else 0.0
        reliable = told / (told + float(variances.mean()))
        ratio = float(np.sqrt(reliable / (1 - reliable))) if reliable < 1 else float("inf")
        systems = self._systems(fitted, df)
        separation = (
            ("people", separate(severity[people].tolist(), errors[people].tolist())),
            (
                "systems",
                separate(
                    [float(system.measure) for system in systems], [system.measure.se for system in systems]
                ),
            ),
            ("instances", Separation(reliable, ratio, (4 * ratio + 1) / 3)),
        )
        notes = [*self._notes(fitted), *_find_erratic(raters)]
        return Ruler(
            task, "", basis, "partial credit" if self.partial else "rating scale", systems, raters,
            self._criteria(fitted, df), self._thresholds(fitted), separation, self._measure_drift(),
            fitted.model.spread(fitted.free), fitted.log_likelihood, len(self.table), self.coded.n_documents,
            self._parts(), tuple(notes),
        )  # fmt: skip

    def _criteria(self, fitted: Fitted, df: int) -> tuple[Element, ...]:
        values, errors = fitted.block("criterion")
        n = len(self.criteria)
        infit, outfit = fitted.fit_of(fitted.model.criterion, n)
        counts = np.bincount(fitted.model.criterion, minlength=n)
        return tuple(
            Element(
                name, "criterion", _with_interval(values[k], errors[k], df), int(counts[k]), float(infit[k]),
                float(outfit[k]),
            )
            for k, name in enumerate(self.criteria)
        )  # fmt: skip

    def _thresholds(self, fitted: Fitted) -> tuple[tuple[str, tuple[float, ...]], ...]:
        thresholds = fitted.model.thresholds(fitted.free)
        names = self.criteria if self.partial else ["all criteria"]
        return tuple(
            (name, tuple(float(threshold) for threshold in thresholds[k][: len(self.values[k]) - 1]))
            for k, name in enumerate(names)
        )

    def _fair(self, fitted: Fitted, free: Numbers) -> Numbers:
        """Return each system's mean score from raters of severity 0, over its spread, with equal weight on all
        criteria.
        """
        model = fitted.model
        system, criterion = model.full(free, "system"), model.full(free, "criterion")
        steps = np.concatenate(
            [np.zeros((model.n_sets, 1)), np.cumsum(model.thresholds(free), axis=1)], axis=1
        )
        total = np.zeros(len(system))
        for place, values in enumerate(self.values):
            at = system[:, None] - criterion[place] + model.spread(free) * NODES
            logits = at[:, :, None] * np.arange(len(values)) - steps[model.set_of[place]][: len(values)]
            chance = np.exp(logits - logits.max(axis=2, keepdims=True))
            chance /= chance.sum(axis=2, keepdims=True)
            total += (chance @ values) @ WEIGHTS
        return np.asarray(total / len(self.values))

    def _systems(self, fitted: Fitted, df: int) -> tuple[FairSystem, ...]:
        values, errors = fitted.block("system")
        fair = self._fair(fitted, fitted.free)
        moves = np.eye(len(fitted.free)) * 1e-5
        slopes = np.array(
            [
                (self._fair(fitted, fitted.free + m) - self._fair(fitted, fitted.free - m)) / 2e-5
                for m in moves
            ]
        )
        means = self.table.groupby("system")["score"].agg(["mean", "size"])
        return tuple(
            FairSystem(
                name, _with_interval(values[k], errors[k], df),
                _with_interval(fair[k], fitted.error_of(slopes[:, k]), df),
                float(means.loc[name, "mean"]), int(means.loc[name, "size"]),
            )
            for k, name in enumerate(self.systems)
        )  # fmt: skip

    def _measure_drift(self) -> tuple[Effect, ...]:
        """Return people's drift, from a larger model with it."""
        timed = [k for k in range(self.people) if self._has_order(k)]
        if not timed:
            return ()
        larger = fit(self.coded, partial_credit=self.partial, drift=True)
        values, errors, freedom = larger.by_rater("drift", used=2)
        return _tested([(self.raters[k], values[k], errors[k], freedom[k]) for k in timed])

    def _parts(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            tuple(name for name, part in zip(self.raters, self.part, strict=True) if part == k)
            for k in range(int(self.part.max()) + 1)
        )

    def _notes(self, fitted: Fitted) -> Iterator[str]:
        if not fitted.converged:
            yield "The estimation did not converge: use the estimates with care."
        if len(self._parts()) > 1:
            yield (
                "Some raters share no instance with the others, directly or through other raters. "
                "Severities of different parts are comparable only if instances were assigned to the "
                "parts at random."
            )
        untimed = [self.raters[k] for k in range(self.people) if not self._has_order(k)]
        if untimed:
            yield f"The order of the scores of {listed(untimed)} is unknown, so their drift is too."
        if not self.people:
            yield "No person has scored: severities are relative to the mean of the judges."
        if self.coded.n_documents < 20:
            yield (
                f"The standard errors come from {self.coded.n_documents} documents; with fewer than 20 they "
                "are approximate."
            )


ERRATIC = 1.5
"""The infit above which a rater is erratic. Random scores have an infit of 1.6 to 3.2, others of .6 to 1.35."""

Change = tuple[str, float, float, float]
"""The rater, the value, its standard error, and its degrees of freedom."""


def _find_erratic(raters: Sequence[Element]) -> Iterator[str]:
    for rater in raters:
        if rater.infit > ERRATIC:
            yield (
                f"The scores of {rater.name} do not follow those of the others (infit {rater.infit:.2f} instead of 1), "
                "as if at random. This can distort the severities of all raters: leave this rater out and compare."
            )


def _tested(changes: Sequence[Change]) -> tuple[Effect, ...]:
    chances = [
        float(2 * scipy.special.stdtr(df, -abs(value) / error)) if error > 0 else float("nan")
        for _, value, error, df in changes
    ]
    return tuple(
        Effect(name, _with_interval(value, error, df), p, holm)
        for (name, value, error, df), p, holm in zip(changes, chances, adjust_holm(chances), strict=True)
    )


def _with_interval(value: float, error: float, df: float) -> Estimate:
    spread = t_limits(float(value), float(error), df)
    return Estimate(float(value), **spread, interval_kind="robust to documents, t")


def tell_ruler(ruler: Ruler) -> Iterator[str]:
    """Describe the ruler as lines of text."""
    if ruler.reason:
        yield ruler.reason
        return
    yield f"{ruler.task}: {ruler.model} model of {ruler.n:,} scores ({ruler.basis}), {ruler.documents:,} documents"
    yield "Fair means of systems (average raters, all criteria):"
    for system in sorted(ruler.systems, key=lambda each: -float(each.fair)):
        yield f"  {system.name}: {tell_estimate(system.fair)}, as scored {system.observed:.2f} ({system.n:,} scores)"
    yield "Severity in logits (positive: harsher than the mean person):"
    for rater in ruler.raters:
        fits = f"infit {rater.infit:.2f}, outfit {rater.outfit:.2f} ({rater.n:,} scores)"
        yield f"  {rater.name}: {tell_estimate(rater.measure)}, {fits}"
    yield "Difficulty of criteria in logits:"
    for rater in ruler.criteria:
        yield f"  {rater.name[:60]}: {tell_estimate(rater.measure)}, infit {rater.infit:.2f}, outfit {rater.outfit:.2f}"
    yield "Separation reliability: " + ", ".join(
        f"{name} {separation.reliability:.2f}" for name, separation in ruler.separation
    )
    for effect in ruler.drift:
        change = f"{tell_estimate(effect.value)}, p (Holm) {effect.p_holm:.3f}"
        yield f"Drift of {effect.name} from first to last score: {change}"
    yield from ruler.notes
