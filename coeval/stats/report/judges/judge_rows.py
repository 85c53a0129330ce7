"""One judge beside people: correlations, closeness, confusion, the alt-test, by criterion and over all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from coeval.stats.estimates.clusters import cut, jackknife_interval
from coeval.stats.estimates.results import FLAT, Estimate, Spelled
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.alternative import AltTest, Labels, run_alt_test
from coeval.stats.judges.closeness import PairwiseAccuracy, median_confusion, pairwise_accuracy
from coeval.stats.judges.correlating import METHODS
from coeval.stats.judges.correlation import (
    LEVELS,
    Correlations,
    correlations,
    group_codes,
    leave_groups_out,
    spread_levels,
)
from coeval.stats.rating_matrix import Numbers, Ratings, renumbered
from coeval.stats.report.judges.judges_compared import (
    Judge,
    human_means,
)
from coeval.stats.report.judges.labels_chosen import LEANED, NO_LABELS, Reference


@dataclass(frozen=True)
class Cell:
    """How many units had this median of people and this score of the model; a median between two counts half."""

    people: float
    llm: float
    n: float


@dataclass(frozen=True)
class MedianConfusion:
    """How the people's median met the model's score."""

    n: int
    exact: Estimate
    within_one: Estimate
    bias: Estimate
    mae: Estimate
    reason: str | None
    cells: list[Cell]


@dataclass(frozen=True)
class Consistency:
    """How much the samples behind a draft's score differ, over ``n`` drafts."""

    n: int
    mean_sd: Estimate
    identical: Estimate


@dataclass(frozen=True)
class Against:
    """One run against people, over all criteria or one."""

    n_units: int
    correlations: Correlations
    pairwise_accuracy: PairwiseAccuracy
    confusion: MedianConfusion
    alt_test: AltTest
    alt_test_rounded: AltTest | None


@dataclass(frozen=True)
class AgainstCriterion:
    """One run against people by one criterion."""

    criterion: str
    against: Against = field(metadata=FLAT)


@dataclass(frozen=True)
class Mean:
    """The mean over criteria of each correlation, its interval over clusters, and over how many criteria it is."""

    pearson: Spelled
    spearman: Spelled
    kendall: Spelled
    n_criteria: int

    def of(self, method: str) -> Spelled:
        """One of the three coefficients."""
        return {"pearson": self.pearson, "spearman": self.spearman, "kendall": self.kendall}[method]


@dataclass(frozen=True)
class MeanCorrelations:
    """The headline of a judge: correlations within criteria, averaged, at each level.

    Pooled over criteria, a judge that knows no more than how high each criterion scores correlates with people.
    """

    dataset: Mean
    document: Mean
    system: Mean

    def of(self, level: str) -> Mean:
        """One of the three levels."""
        return {"dataset": self.dataset, "document": self.document, "system": self.system}[level]


@dataclass(frozen=True)
class JudgeRow:
    """A run of drafts against people: over all criteria pooled, the mean over them, and by each."""

    run: str
    label: str
    shown: bool
    against: Against = field(metadata=FLAT)
    correlations_mean: MeanCorrelations
    correlation_intervals: Mapping[str, Mapping[str, Spelled]]
    consistency: Consistency
    per_criterion: list[AgainstCriterion]


def judge_row(
    study: StudyFrames, reference: Reference, people: Ratings, judge: Judge, epsilon: float
) -> JudgeRow:
    model, width = judge.scores, max(len(study.criteria), 1)
    met = _met(study, reference, model)
    whole, without = _spread(study, met)
    parts, tables = [], []
    for k, criterion in enumerate(study.criteria):
        own = model[model.index % width == k]
        correlated, table = _spread(study, met[met["unit"] % width == k], met)
        parts.append(
            AgainstCriterion(criterion, _against(study, reference, people, own, epsilon, correlated, k))
        )
        tables.append((correlated, table))
    return JudgeRow(
        run=judge.run,
        label=judge.label,
        shown=judge.shown,
        against=_against(study, reference, people, model, epsilon, whole),
        correlations_mean=_mean_over_criteria(study, met, tables),
        correlation_intervals={
            level: {method: Spelled(whole.of(level).of(method), ("p_value", "n")) for method in METHODS}
            for level in LEVELS
        },
        consistency=_consistency(study, judge.run),
        per_criterion=parts,
    )


def _met(study: StudyFrames, reference: Reference, model: pd.Series[float]) -> pd.DataFrame:
    """The units that both people and the model scored: ``unit, human, llm, document, system`` and a ``group``.

    The group of clusters is dealt over all criteria, so that each is left out with all of them.
    """
    items = human_means(reference.scored)
    both = items.index.intersection(model.index).to_numpy(dtype=np.int64)
    where = study.units.iloc[both]
    clusters = study.clusters.of(both) if len(both) else study.clusters
    return pd.DataFrame(
        {
            "unit": both,
            "human": items[both].to_numpy(dtype=float),
            "llm": model[both].to_numpy(dtype=float),
            "document": where["document"].to_numpy(dtype=object),
            "system": where["system"].to_numpy(dtype=object),
            "group": clusters.groups() if len(both) else np.zeros(0, dtype=np.int64),
        }
    )


def _spread(
    study: StudyFrames, met: pd.DataFrame, whole: pd.DataFrame | None = None
) -> tuple[Correlations, Numbers]:
    """The correlations with intervals over clusters, and their values without each group of clusters."""
    human, llm = met["human"].to_numpy(), met["llm"].to_numpy()
    point = correlations(human, llm, met["document"], met["system"])
    groups = int((met if whole is None else whole)["group"].max()) + 1 if len(met) else 0
    without = np.full((groups, len(LEVELS), len(METHODS)), np.nan)
    rows = leave_groups_out(
        human,
        llm,
        group_codes(met["document"], len(met), "document"),
        group_codes(met["system"], len(met), "system"),
        met["group"].to_numpy(),
    )
    without[: len(rows)] = rows
    clusters = len(np.unique(study.clusters.code[met["unit"].to_numpy(dtype=np.int64)])) if len(met) else 0
    return spread_levels(point, without, study.clusters.kind, clusters), without


def _mean_over_criteria(
    study: StudyFrames, met: pd.DataFrame, tables: Sequence[tuple[Correlations, Numbers]]
) -> MeanCorrelations:
    """The mean over the criteria that have a correlation, each group of clusters left out of all of them at once."""
    clusters = len(np.unique(study.clusters.code[met["unit"].to_numpy(dtype=np.int64)])) if len(met) else 0
    levels = {}
    for place, level in enumerate(LEVELS):
        means, used = {}, 0
        for k, method in enumerate(METHODS):
            known = [
                (correlated.of(level).of(method), table[:, place, k])
                for correlated, table in tables
                if correlated.of(level).of(method).defined
            ]
            used = len(known)
            if not known:
                reasons = [correlated.of(level).of(method).reason for correlated, _ in tables]
                means[method] = Spelled(Estimate.undefined(reasons[0] or NO_LABELS if reasons else NO_LABELS))
                continue
            value = float(np.mean([coefficient for coefficient, _ in known]))
            # a criterion that no item of the group belongs to is as it was without the group
            without = [np.where(np.isnan(row), coefficient, row) for coefficient, row in known]
            interval = jackknife_interval(value, np.mean(without, axis=0), study.clusters.kind, n=clusters)
            means[method] = Spelled(Estimate(value, **cut(interval, -1.0, 1.0)), ("p_value",))
        levels[level] = Mean(**means, n_criteria=used)
    return MeanCorrelations(**levels)


def _against(
    study: StudyFrames,
    reference: Reference,
    people: Ratings,
    model: pd.Series[float],
    epsilon: float,
    correlated: Correlations,
    criterion: int | None = None,
) -> Against:
    """One run against people, over all criteria or one."""
    items = human_means(reference.scored)
    both = items.index.intersection(model.index)
    where = study.units.iloc[both]
    human, machine = items[both].to_numpy(), model[both].to_numpy(dtype=float)
    plain, rounded = _alt_tests(study, reference, model, epsilon)
    return Against(
        n_units=len(both),
        correlations=correlated,
        pairwise_accuracy=pairwise_accuracy(human, machine, _document_of(study, where)),
        confusion=_confusion(study, people, model, criterion),
        alt_test=plain,
        alt_test_rounded=rounded,
    )


def _document_of(study: StudyFrames, where: pd.DataFrame) -> Numbers | None:
    """Pairs are compared within a document and a criterion: a number for each of them, nan where none is named."""
    documents, width = group_codes(where["document"], len(where), "document"), max(len(study.criteria), 1)
    if documents is None:
        return None
    return np.where(documents < 0, np.nan, documents * width + where.index.to_numpy() % width)


def _confusion(
    study: StudyFrames, people: Ratings, model: pd.Series[float], criterion: int | None
) -> MedianConfusion:
    width = max(len(study.criteria), 1)
    places = np.asarray(people.units, dtype=np.int64)
    own = places % width == criterion if criterion is not None else np.ones(len(places), dtype=bool)
    scores = model.reindex(places).to_numpy(dtype=float, copy=True)
    scores[~own] = np.nan
    confusion = median_confusion(people, scores)
    table = confusion.table
    cells = [
        Cell(float(people_score), float(model_score), float(table.loc[people_score, model_score]))
        for people_score in table.index
        for model_score in table.columns
    ]
    return MedianConfusion(
        confusion.n,
        confusion.exact,
        confusion.within_one,
        confusion.bias,
        confusion.mae,
        confusion.reason,
        cells,
    )


def _alt_tests(
    study: StudyFrames, reference: Reference, model: pd.Series[float], epsilon: float
) -> tuple[AltTest, AltTest | None]:
    """The alt-test on the model's scores as they are and, where they are not whole, also rounded."""
    if reference.leaned or not len(reference.scored):
        nothing = Estimate.undefined(LEANED if reference.leaned else NO_LABELS)
        return AltTest(nothing, None, nothing, epsilon, reason=nothing.reason), None
    labels = _labels(study, reference.scored, model)
    plain = run_alt_test(labels, epsilon, "rmse")
    whole = np.round(labels.machine.astype(float))
    if (whole == labels.machine).all():
        return plain, None
    rounded = run_alt_test(replace(labels, machine=whole), epsilon, "rmse")
    return plain, replace(rounded, model_scores="rounded")


def _labels(study: StudyFrames, scored: pd.DataFrame, model: pd.Series[float]) -> Labels:
    """The people's scores of the units that two of them and the model scored."""
    sizes = scored.groupby("unit")["score"].transform("size")
    kept = scored[(sizes > 1) & scored["unit"].isin(model.index)]
    items, item = renumbered(kept["unit"].to_numpy(dtype=np.int64))
    who = renumbered(scored["who"].to_numpy(dtype=np.int64))[0]
    return Labels(
        [study.annotators[k] for k in who],
        np.searchsorted(who, kept["who"]),
        item,
        kept["score"].to_numpy(dtype=float),
        model[items].to_numpy(dtype=float),
        int(scored["unit"].nunique()) - len(items),
        study.clusters.code[items.astype(np.int64)],
    )


def _consistency(study: StudyFrames, run: str) -> Consistency:
    """How much the samples behind a draft's score differ."""
    spread = (
        study.model_scores.loc[study.model_scores["run"].astype(str) == run, "spread"].dropna().astype(float)
    )
    if spread.empty:
        nothing = Estimate.undefined("this run has one sample of each draft")
        return Consistency(0, nothing, nothing)
    return Consistency(len(spread), Estimate(spread.mean()), Estimate((spread == 0).mean()))
