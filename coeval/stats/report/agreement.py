"""The agreement section: how much people agree with each other and with the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import alpha_levels, mean_alpha, plain_alphas
from coeval.stats.agreement.coefficients import count_ratings, fleiss_kappa, gwet_ac, percent_agreement
from coeval.stats.agreement.icc import icc
from coeval.stats.agreement.two_raters import SHOWN, RaterPair, list_pairs
from coeval.stats.agreement.unit_kinds import Level
from coeval.stats.clusters import VERDICT_FROM
from coeval.stats.estimates import FLAT, Estimate, Spelled, plural
from coeval.stats.frames import (
    ASSISTED,
    BLIND,
    EVIDENCE,
    FIRST,
    LLM,
    REASONS,
    UNDRAFTED,
    StudyFrames,
    once,
)
from coeval.stats.rating_matrix import Codes, Ratings
from coeval.stats.report.tables import Table, make_table

Levels = Mapping[Level, Estimate]
"""Alpha at each level of measurement."""

VIEWED = ("arm", "score", "draft_score")
"""The keys that describe the influence of drafts in view."""

BOTH_KINDS, ALL_SCORES = "blind and first scores", "all scores"


@dataclass(frozen=True)
class Counts:
    """The numbers of units with two or more scores, units with one, scores, and people."""

    n_units: int
    n_units_left_out: int
    n_ratings: int
    n_annotators: int


@dataclass(frozen=True)
class DraftsInView:
    """The number of scores given with the draft in view, and the share of them that equal the draft's.

    ``arms`` has the number of scores of each arm, which add up to ``of``.
    """

    n: int
    of: int
    kept: Estimate
    arms: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Headline:
    """Agreement in one number: the mean of the criteria's ordinal alphas, with an interval over clusters.

    ``scores`` names the scores used: those without a draft's influence if they span ``VERDICT_FROM``
    clusters, else all.
    """

    level: str
    mean: Spelled = field(metadata=FLAT)
    criteria: int
    scores: str
    few_clusters: bool
    drafts_in_view: DraftsInView
    pooled: Spelled


@dataclass(frozen=True)
class Coefficients:
    """The coefficients besides alpha."""

    ac1: Spelled
    ac2: Spelled
    percent: Spelled
    fleiss: Spelled


@dataclass(frozen=True)
class Part:
    """Agreement over a part of the units, named by ``label``; the interval belongs to ordinal alpha."""

    label: Mapping[str, Any] = field(metadata=FLAT)
    counts: Counts = field(metadata=FLAT)
    humans: Levels
    interval: Mapping[str, Any] = field(metadata=FLAT)
    coefficients: Coefficients = field(metadata=FLAT)
    drafts_in_view: DraftsInView

    @property
    def name(self) -> Any:
        return next(iter(self.label.values()))


@dataclass(frozen=True)
class CriterionPart:
    """Agreement on one criterion, also with the model as one more annotator."""

    part: Part = field(metadata=FLAT)
    humans_and_llm: Levels


@dataclass(frozen=True)
class Intervals:
    """Details of the intervals of the pooled alphas, by level."""

    humans: Mapping[Level, Mapping[str, Any]]
    humans_and_llm: Mapping[Level, Mapping[str, Any]]


@dataclass(frozen=True)
class AgreementSection:
    """Agreement over all units (an instance and a criterion each), and over parts of them."""

    headline: Headline
    humans: Levels
    humans_and_llm: Levels
    intervals: Intervals
    counts: Counts = field(metadata=FLAT)
    coefficients: Coefficients = field(metadata=FLAT)
    icc: Mapping[str, Spelled]
    planted: int
    """The number of scores of drafts with planted errors. They count between people, but not with the model."""
    pairwise: list[RaterPair]
    """Every pair of raters, the model last, without planted errors."""
    per_criterion: list[CriterionPart]
    by_system: list[Part]
    by_group: list[Part]
    by_arm: list[Part]


@dataclass(frozen=True)
class PeopleAlphas:
    """Alpha of people, available long before the rest of the section: headline, pooled, and by criterion."""

    humans: Levels
    per_criterion: Sequence[Levels]
    headline: Headline
    of_all: Headline
    """The headline for all scores in any arm, for pages whose figures all use the selected scores."""


@once
def people_alphas(study: StudyFrames) -> PeopleAlphas:
    """Return alpha of people at three levels, over all units and by criterion, with the headline."""
    everybody = study.everybody
    parts = [alpha_levels(data, study.clusters_of(data), SHOWN) for data in study.by_criterion]
    humans = alpha_levels(everybody, study.clusters_of(everybody), SHOWN)
    mean = _mean_of(study, study.by_criterion)
    of_all = _headline_from(mean, humans["ordinal"], ALL_SCORES, drafts_in_view(study.scored))
    return PeopleAlphas(humans, parts, _headline(study, of_all), of_all)


def _headline(study: StudyFrames, of_all: Headline) -> Headline:
    """Return the headline from scores without a draft's influence if they suffice, else from all scores."""
    unaided, arms = study.unaided, set(study.unaided["arm"])
    same = arms == {BLIND} and len(unaided) == len(study.scored)
    mean = of_all.mean.value if same else _mean_over_criteria(study, unaided)
    if not mean.defined or mean.details["clusters"] < VERDICT_FROM:
        return of_all
    scores = BOTH_KINDS if len(arms) > 1 else "blind scores" if BLIND in arms else "first scores"
    data = study.ratings(unaided)
    pooled = (
        of_all.pooled.value if same else alpha_levels(data, study.clusters_of(data), ("ordinal",))["ordinal"]
    )
    return _headline_from(mean, pooled, scores, drafts_in_view(unaided, unaided=True))


def _headline_from(mean: Estimate, pooled: Estimate, scores: str, seen: DraftsInView) -> Headline:
    return Headline(
        level="ordinal",
        mean=Spelled(mean),
        criteria=mean.details["n_criteria"],
        scores=scores,
        few_clusters=mean.defined and mean.details.get("clusters", 0) < VERDICT_FROM,
        drafts_in_view=seen,
        pooled=Spelled(pooled),
    )


def _mean_over_criteria(study: StudyFrames, scored: pd.DataFrame) -> Estimate:
    return _mean_of(study, [study.ratings(part) for part in study.cut_by_criterion(scored)])


def _mean_of(study: StudyFrames, parts: Sequence[Ratings]) -> Estimate:
    return mean_alpha(parts, [study.clusters_of(data) for data in parts])


ARM_WORDS = {
    ASSISTED: "with the draft in view",
    FIRST: "before and after seeing the draft",
    EVIDENCE: "with its quoted passages marked",
    REASONS: "with its lines of evidence in view",
    BLIND: "without the draft (blind arm)",
    UNDRAFTED: "with no draft to show",
}
"""What people saw in each arm, in sentences about their scores."""

IN_VIEW = (ASSISTED, FIRST)
"""The arms whose final scores were given with the draft in view."""


def arm_counts(study: StudyFrames) -> dict[str, int]:
    """Return the number of scores of each arm. Their sum is the number of all scores."""
    return _count_arms(study.scored)


def _count_arms(scored: pd.DataFrame) -> dict[str, int]:
    counts = scored["arm"].value_counts()
    return {arm: int(counts[arm]) for arm in ARM_WORDS if counts.get(arm)}


def describe_arms(counts: Mapping[str, int]) -> str:
    """Return how all scores were given.

    >>> describe_arms({"assisted": 108, "blind": 28, "undrafted": 8})
    '144 scores: 108 with the draft in view, 28 without the draft (blind arm), 8 with no draft to show'
    """
    total = sum(counts.values())
    parts = [f"{n:,} {ARM_WORDS[arm]}" for arm, n in counts.items()]
    return plural(total, "score") + (f": {', '.join(parts)}" if parts else "")


def drafts_in_view(scored: pd.DataFrame, *, unaided: bool = False) -> DraftsInView:
    """Count the scores given with the draft in view, which include the final scores of the arm ``first``."""
    seen = scored[scored["arm"].isin(IN_VIEW)] if not unaided else scored.iloc[:0]
    drafted = seen.dropna(subset=["draft_score"])
    kept = (drafted["score"] == drafted["draft_score"].astype(float)).mean() if len(drafted) else None
    reason = "no score was given with a drafted score in view"
    share = Estimate.undefined(reason) if kept is None else Estimate(float(kept), n=len(drafted))
    return DraftsInView(len(seen), len(scored), share, _count_arms(scored))


def agreement_section(study: StudyFrames) -> AgreementSection:
    """Return agreement over all units (an instance and a criterion each), and over parts of them.

    Agreement with the model leaves out submissions with a deliberately wrong draft. Intervals leave out whole clusters
    (``StudyFrames.clusters``) and apply to other documents judged by these people. The interval of a part (``ci_low``
    and ``ci_high``) belongs to its ordinal alpha.
    """
    people, everyone = study.everybody, study.ratings(study.genuine, study.shown_scores)
    genuine = people if len(study.genuine) == len(study.scored) else study.ratings(study.genuine)
    alphas = people_alphas(study)
    whole = _part(study, {}, study.scored, people, alphas.humans)
    joined = alpha_levels(everyone, study.clusters_of(everyone), SHOWN)
    return AgreementSection(
        headline=alphas.headline,
        humans=alphas.humans,
        humans_and_llm=joined,
        intervals=Intervals(_intervals(alphas.humans), _intervals(joined)),
        counts=whole.counts,
        coefficients=whole.coefficients,
        icc={
            name: Spelled(value, ("f", "df1", "df2", "p_value"))
            for name, value in icc(people, clusters=study.clusters_of(people)).items()
        },
        planted=len(study.scored) - len(study.genuine),
        pairwise=list(list_pairs(genuine, everyone, study.clusters_of(everyone))),
        per_criterion=_per_criterion(study, alphas.per_criterion),
        by_system=_parts(study, "system", whole),
        by_group=_parts(study, "group", whole),
        by_arm=_parts(study, "arm", whole),
    )


def other_coefficients(study: StudyFrames, data: Ratings) -> Coefficients:
    """Return AC1, quadratic AC2, percent agreement and Fleiss' kappa, with intervals over clusters."""
    clusters = study.clusters_of(data)
    return Coefficients(
        ac1=Spelled(gwet_ac(data, clusters=clusters)),
        ac2=Spelled(gwet_ac(data, "quadratic", clusters=clusters)),
        percent=Spelled(percent_agreement(data, clusters=clusters)),
        fleiss=Spelled(fleiss_kappa(data, clusters=clusters)),
    )


def _intervals(levels: Levels) -> dict[Level, dict[str, Any]]:
    names = (
        "ci_low",
        "ci_high",
        "se",
        "interval_kind",
        "resampled",
        "clusters",
        "replicates",
        "replicates_left_out",
    )
    return {
        level: {name: estimate.details[name] for name in names if name in estimate.details}
        for level, estimate in levels.items()
    }


def _per_criterion(study: StudyFrames, alphas: Sequence[Levels]) -> list[CriterionPart]:
    model, rows = study.shown_scores, []
    parts = study.cut_by_criterion(study.scored[["unit", *VIEWED]])
    genuine = study.cut_by_criterion(study.genuine[["who", "unit", "score"]])
    for position, (scored, beside) in enumerate(zip(parts, genuine, strict=True)):
        criterion, people = study.criteria[position], study.by_criterion[position]
        joined = study.ratings(beside, model[model.index % len(study.criteria) == position])
        part = _part(study, {"criterion": criterion}, scored, people, alphas[position])
        rows.append(CriterionPart(part, plain_alphas(joined, SHOWN)))
    return rows


def _parts(study: StudyFrames, column: str, whole: Part) -> list[Part]:
    """Return agreement within each system, group of annotators, or arm. ``whole`` is agreement of all scores."""
    of_row, codes = _find_parts(study, column)
    names = list(codes)
    if column == "arm":
        names = [arm for arm in (ASSISTED, BLIND, FIRST, EVIDENCE, REASONS, UNDRAFTED) if arm in codes]
    parts, viewed = [], study.scored[[*VIEWED]]
    for name in names:
        rows, label = of_row == codes[name], {column: name, "name": name}
        if rows.all():
            parts.append(replace(whole, label=label))
            continue
        data = study.ratings(study.rated[rows])
        levels = alpha_levels(data, study.clusters_of(data), SHOWN)
        parts.append(_part(study, label, viewed[rows], data, levels))
    return parts


def _find_parts(study: StudyFrames, column: str) -> tuple[Codes, dict[Any, int]]:
    """Return the part of each score as a code, and the codes of the parts that occur, in order."""
    if column == "system":
        of_unit, names = pd.factorize(study.units["system"])
        of_row = of_unit[study.scored["unit"]]
    else:
        of_row, names = pd.factorize(study.scored[column])
    codes = pd.unique(of_row).tolist()
    code_of = {names[code]: code for code in codes if code >= 0 and names[code] != ""}
    return np.asarray(of_row), code_of


def _part(
    study: StudyFrames, label: Mapping[str, Any], scored: pd.DataFrame, data: Ratings, levels: Levels
) -> Part:
    """Return the agreement of ``data``, which are the ratings of the rows ``scored``."""
    ordinal = levels["ordinal"].details
    interval = {name: ordinal.get(name, np.nan) for name in ("ci_low", "ci_high", "clusters")}
    counts = count_ratings(data)
    return Part(
        label=label,
        counts=Counts(*(counts[field.name] for field in fields(Counts))),
        humans=levels,
        interval={
            **interval,
            "interval_kind": ordinal.get("interval_kind"),
            "resampled": ordinal.get("resampled"),
            "replicates_left_out": ordinal.get("replicates_left_out", 0),
        },
        coefficients=other_coefficients(study, data),
        drafts_in_view=drafts_in_view(scored),
    )


def agreement_tables(section: AgreementSection) -> list[Table]:
    """Return the tables of agreement by criterion and part, of the coefficients, and of the pairs of raters."""
    headline = section.headline
    same = len(section.per_criterion) == 1 and headline.scores == ALL_SCORES
    mean = {
        "part": f"mean over criteria ({headline.scores})",
        "ordinal": headline.mean.value,
        **headline.mean.entries(),
    }
    pooled: dict[str, Any] = {
        "part": "all criteria",
        **vars(section.counts),
        "draft_in_view": sum(row.part.drafts_in_view.n for row in section.per_criterion),
        **{str(level): alpha for level, alpha in section.humans.items()},
        **section.intervals.humans["ordinal"],
        **_two_coefficients(section.coefficients),
    }
    parts = [row.part for row in section.per_criterion]
    for of_kind in (section.by_system, section.by_group, section.by_arm):
        parts += of_kind if len(of_kind) > 1 else []
    levels = ("nominal", "ordinal", "ci_low", "ci_high", "interval")
    return [
        make_table(
            "agreement",
            "Agreement between people",
            "Krippendorff's alpha; 95% interval of ordinal alpha from leaving out one of the "
            f"{headline.mean.get('resampled') or 'clusters'} at a time, for these people; also quadratic AC2 and "
            "percent agreement. All criteria: pooled. Draft in view: the number of scores.",
            [*([] if same else [mean]), *map(_part_row, parts), pooled],
            ("part", "n_units", "n_annotators", *levels, "clusters", "ac2", "percent", "draft_in_view"),
        ),
        make_table(
            "coefficients",
            "Coefficients",
            "Pooled over the units of all criteria, with 95% intervals.",
            list(_coefficient_rows(section)),
            ("coefficient", "value", "ci_low", "ci_high", "n_units", "n_annotators"),
        ),
        make_table(
            "pairwise",
            "Agreement of each pair of raters",
            "Krippendorff's alpha over the units that both scored; interval of ordinal alpha from leaving out "
            "clusters; planted errors are left out; the model is called llm (paper, figures 3 to 5).",
            [vars(pair) for pair in section.pairwise],
            ("a", "b", "n", *levels, "cohen", "percent"),
        ),
    ]


def _two_coefficients(coefficients: Coefficients) -> dict[str, Estimate]:
    return {"ac2": coefficients.ac2.value, "percent": coefficients.percent.value}


def _part_row(part: Part) -> dict[str, Any]:
    named = {"part": part.name, "draft_in_view": part.drafts_in_view.n}
    return (
        named | vars(part.counts) | {**part.humans} | {**part.interval} | _two_coefficients(part.coefficients)
    )


def _coefficient_rows(section: AgreementSection) -> Iterator[dict[str, Any]]:
    values = {f"alpha, {level}": section.humans[level] for level in SHOWN}
    if not section.planted and any(LLM in (pair.a, pair.b) for pair in section.pairwise):
        values |= {f"alpha with the model, {level}": section.humans_and_llm[level] for level in SHOWN}
    coefficients = section.coefficients
    values |= {"AC1": coefficients.ac1.value, "AC2, quadratic": coefficients.ac2.value}
    values |= {"Fleiss' kappa": coefficients.fleiss.value, "percent agreement": coefficients.percent.value}
    values |= {name: form.value for name, form in section.icc.items()}
    for name, value in values.items():
        yield {"coefficient": name, **value.details, "value": value}
