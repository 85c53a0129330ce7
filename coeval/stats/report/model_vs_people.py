"""One judge compared with people: the labels used, correlations, closeness, confusion, the alt-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from coeval.stats.estimates import FLAT, Estimate, Spelled, adjust_holm
from coeval.stats.frames import ASSISTED, BLIND, FIRST, UNDRAFTED, StudyFrames, once
from coeval.stats.judges.alternative_annotator import AltTest, Labels, run_alt_test
from coeval.stats.judges.closeness import Confusion, median_confusion
from coeval.stats.judges.correlation import (
    LEVELS,
    Correlations,
    Varied,
    correlations,
    group_codes,
    interval_of,
    spread_levels,
    vary_groups,
)
from coeval.stats.judges.vector_correlation import METHODS
from coeval.stats.rating_matrix import Ratings, renumbered
from coeval.stats.report.model_vs_model import Judge, human_means

LEANED = "every score was given with the draft in view, and this needs scores given without it (blind or first arm)"
NO_LABELS = "no person has scored anything"


@dataclass(frozen=True)
class Reference:
    """The people's scores that judges are compared with, named by ``kind``; ``leaned`` if a draft was in view."""

    scored: pd.DataFrame
    kind: str
    leaned: bool

    def count(self, arm: str) -> int:
        """Return the number of scores in an arm. For ``first``, it counts the first scores, unless leaned."""
        return int((self.scored["arm"] == arm).sum())


@once
def choose_labels(study: StudyFrames) -> Reference:
    """Return blind and first scores, which no draft influenced, if there are any; else scores of genuine drafts.

    Each person counts once per unit. If every score is older than the drafts, no draft influenced any.
    """
    unaided = study.unaided
    if len(unaided):
        arms = set(unaided["arm"])
        return Reference(unaided, " and ".join(arm for arm in (BLIND, FIRST) if arm in arms), False)
    genuine = study.genuine
    if len(genuine) and (genuine["arm"] == UNDRAFTED).all():
        return Reference(genuine, UNDRAFTED, False)
    return Reference(genuine, ASSISTED if len(genuine) else "none", len(genuine) > 0)


# One judge compared with people, by criterion and overall.

ALPHA = 0.05


@dataclass(frozen=True)
class Against:
    """One run compared with people, over all criteria or one."""

    n_units: int
    correlations: Correlations
    confusion: Confusion
    alt_test: AltTest


@dataclass(frozen=True)
class AgainstCriterion:
    """One run compared with people on one criterion; ``alt_test_p_holm`` is adjusted over all criteria."""

    criterion: str
    against: Against = field(metadata=FLAT)
    alt_test_p_holm: float = float("nan")

    @property
    def stands_in(self) -> bool:
        """Return whether the model may replace a person on this criterion, with the adjusted p-value."""
        return self.alt_test_p_holm <= ALPHA


@dataclass(frozen=True)
class Mean:
    """The mean of each correlation over criteria, with its interval over clusters and the number of criteria."""

    pearson: Spelled
    spearman: Spelled
    kendall: Spelled
    n_criteria: int


MeanCorrelations = Mapping[str, Mean]
"""The headline of a judge: the mean of the correlations within criteria, at each of ``LEVELS``.

Correlations pooled over criteria are high even for a judge that only knows each criterion's mean score.
"""


@dataclass(frozen=True)
class AltCriteria:
    """The number of criteria that pass the alt-test (``passed``, with Holm's method at .05), and of tested criteria."""

    passed: int
    tested: int


@dataclass(frozen=True)
class JudgeRow:
    """A run of drafts compared with people: over all criteria pooled, the mean over criteria, and by criterion."""

    run: str
    label: str
    shown: bool
    against: Against = field(metadata=FLAT)
    correlations_mean: MeanCorrelations
    per_criterion: list[AgainstCriterion]
    alt_test_criteria: AltCriteria


def judge_row(
    study: StudyFrames, reference: Reference, people: Ratings, judge: Judge, epsilon: float
) -> JudgeRow:
    model, width = judge.scores, max(len(study.criteria), 1)
    met = _met(study, reference, model)
    whole, without = _spread(study, met)
    parts, tables = [], []
    for k, criterion in enumerate(study.criteria):
        drafted = model[model.index % width == k]
        correlated, table = _spread(study, met[met["unit"] % width == k], met)
        parts.append(
            AgainstCriterion(criterion, _against(study, reference, people, drafted, epsilon, correlated, k))
        )
        tables.append((correlated, table))
    parts = _adjusted(parts)
    return JudgeRow(
        run=judge.run,
        label=judge.label,
        shown=judge.shown,
        against=_against(study, reference, people, model, epsilon, whole),
        correlations_mean=_mean_over_criteria(study, met, tables),
        per_criterion=parts,
        alt_test_criteria=AltCriteria(
            sum(part.stands_in for part in parts),
            sum(part.against.alt_test.passed is not None for part in parts),
        ),
    )


def _adjusted(parts: Sequence[AgainstCriterion]) -> list[AgainstCriterion]:
    """Return the criteria with p-values of the alt-tests adjusted for the number of tested criteria."""
    adjusted = adjust_holm([part.against.alt_test.p_value for part in parts])
    return [replace(part, alt_test_p_holm=p) for part, p in zip(parts, adjusted, strict=True)]


def _met(study: StudyFrames, reference: Reference, model: pd.Series[float]) -> pd.DataFrame:
    """Return the units that people and the model both scored: ``unit, human, llm, document, system`` and ``group``.

    A group of clusters is the same for all criteria, so that it can be left out of all of them.
    """
    items = human_means(reference.scored)
    units = items.index.intersection(model.index).to_numpy(dtype=np.int64)
    where = study.units.iloc[units]
    clusters = study.clusters.of(units) if len(units) else study.clusters
    return pd.DataFrame(
        {
            "unit": units,
            "human": items[units].to_numpy(dtype=float),
            "llm": model[units].to_numpy(dtype=float),
            "document": where["document"].to_numpy(dtype=object),
            "system": where["system"].to_numpy(dtype=object),
            "group": clusters.groups() if len(units) else np.zeros(0, dtype=np.int64),
        }
    )


def _spread(
    study: StudyFrames, met: pd.DataFrame, whole: pd.DataFrame | None = None
) -> tuple[Correlations, Varied]:
    """Return the correlations with intervals over clusters, and their values on varied data."""
    human, llm = met["human"].to_numpy(), met["llm"].to_numpy()
    point = correlations(human, llm, met["document"], met["system"])
    varied = vary_groups(
        human,
        llm,
        group_codes(met["document"], len(met), "document"),
        group_codes(met["system"], len(met), "system"),
        met["group"].to_numpy(dtype=np.int64),
        int((met if whole is None else whole)["group"].max()) + 1 if len(met) else 0,
    )
    clusters = len(np.unique(study.clusters.code[met["unit"].to_numpy(dtype=np.int64)])) if len(met) else 0
    return spread_levels(point, varied, study.clusters.kind, clusters), varied


def _mean_over_criteria(
    study: StudyFrames, met: pd.DataFrame, tables: Sequence[tuple[Correlations, Varied]]
) -> MeanCorrelations:
    """Return the mean over the criteria with a correlation; its interval leaves each group out of all of them."""
    clusters = len(np.unique(study.clusters.code[met["unit"].to_numpy(dtype=np.int64)])) if len(met) else 0
    levels = {}
    for place, level in enumerate(LEVELS):
        means, used = {}, 0
        for k, method in enumerate(METHODS):
            estimates = [getattr(getattr(correlated, level), method) for correlated, _ in tables]
            defined = [
                (value, table.of(place, k))
                for value, (_, table) in zip(estimates, tables, strict=True)
                if value.defined
            ]
            used = len(defined)
            if not defined:
                reasons = [value.reason for value in estimates]
                means[method] = Spelled(Estimate.undefined(reasons[0] or NO_LABELS if reasons else NO_LABELS))
                continue
            value = float(np.mean([coefficient for coefficient, _ in defined]))
            # a criterion without items in the group keeps its value
            varied = np.mean(
                [np.where(np.isnan(row), coefficient, row) for coefficient, row in defined], axis=0
            )
            interval = interval_of(place, value, varied, study.clusters.kind, clusters)
            means[method] = Spelled(Estimate(value, **interval), ("p_value",))
        levels[level] = Mean(**means, n_criteria=used)
    return levels


def _against(
    study: StudyFrames,
    reference: Reference,
    people: Ratings,
    model: pd.Series[float],
    epsilon: float,
    correlated: Correlations,
    criterion: int | None = None,
) -> Against:
    """Return one run compared with people, over all criteria or one."""
    items = human_means(reference.scored)
    shared = items.index.intersection(model.index)
    return Against(
        n_units=len(shared),
        correlations=correlated,
        confusion=_confusion(study, people, model, criterion),
        alt_test=_alt_test(study, reference, model, epsilon),
    )


def _confusion(
    study: StudyFrames, people: Ratings, model: pd.Series[float], criterion: int | None
) -> Confusion:
    width = max(len(study.criteria), 1)
    places = np.asarray(people.units, dtype=np.int64)
    chosen = places % width == criterion if criterion is not None else np.ones(len(places), dtype=bool)
    scores = model.reindex(places).to_numpy(dtype=float, copy=True)
    scores[~chosen] = np.nan
    return median_confusion(people, scores)


def _alt_test(study: StudyFrames, reference: Reference, model: pd.Series[float], epsilon: float) -> AltTest:
    """Return the alt-test on the model's scores as they are."""
    if reference.leaned or not len(reference.scored):
        nothing = Estimate.undefined(LEANED if reference.leaned else NO_LABELS)
        return AltTest(nothing, None, nothing, epsilon, reason=nothing.reason)
    return run_alt_test(_labels(study, reference.scored, model), epsilon)


def _labels(study: StudyFrames, scored: pd.DataFrame, model: pd.Series[float]) -> Labels:
    """Return the people's scores of units that at least two people and the model scored."""
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
