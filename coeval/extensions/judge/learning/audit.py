"""An audit of a judge against people: false accepts first, then agreement, calibration, and labels saved.

All intervals leave out whole documents. They apply to other documents with the same people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from coeval.domain import Scale
from coeval.extensions.judge.learning.cross_validation import KEYS, people_lines
from coeval.extensions.judge.model.labels import PROBABILITIES, Labels
from coeval.stats.clusters import DOCUMENTS, mean_interval, parse_clusters
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers

BINS = 5
LEAST = 10
"""Smallest number of lines for a calibration, or for a bias on each side of a comparison."""
FLOOR = 0.1
"""Every line is asked for with at least this share of the mean probability, so that no error stays unseen."""

Values = npt.NDArray[Any]
"""One value for each line: scores, verdicts, or documents."""


@dataclass(frozen=True)
class Reliability:
    """Lines on one criterion whose score from people is ``level``, or all if it is None.

    ``same`` is the share on which the judge's verdict, pass or fail, is that of people.
    """

    level: float | None
    lines: int
    same: Estimate


@dataclass(frozen=True)
class Bin:
    """Lines with similar probabilities of a pass: their mean, and the share that people passed."""

    said: float
    passed: Estimate
    lines: int


@dataclass(frozen=True)
class CriterionAudit:
    """The judge on one criterion, with ``cut`` as the lowest passing score.

    ``false_accepts`` is the share of the lines failed by people that the judge passes, and ``false_rejects`` the share
    of those that people passed and the judge fails. ``brier`` is the mean squared error of its probabilities of a
    pass, and ``brier_constant`` that of the share of passes; both are undefined without probabilities.
    """

    criterion: str
    cut: float
    false_accepts: Estimate
    false_rejects: Estimate
    levels: tuple[Reliability, ...]
    calibration: tuple[Bin, ...]
    brier: Estimate
    brier_constant: Estimate
    with_judges: Estimate
    """The mean share of equal verdicts with the other judges, on the lines that people scored."""
    labels: LabelNeed


@dataclass(frozen=True)
class LabelNeed:
    """The labels that estimate the share of passes with the error of ``now`` plain labels.

    ``uniform`` are drawn at random and correct the judge; ``active`` are drawn with known probabilities, mostly where
    the judge is unsure. None if it would take more labels than plain ones, or there is nothing to estimate.
    """

    now: int
    uniform: int | None
    active: int | None


def audit_judge(
    labels: Labels, judge: str, *, cut: float | None = None, judged: int | None = None, even: float = 0.0
) -> list[CriterionAudit]:
    """Return the audit of one judge on each criterion.

    Args:
        labels: people's scores, and all judges' scores of the same lines.
        judge: the judge to audit; the others are compared with it.
        cut: the lowest passing score; by default the middle of each scale.
        judged: the number of outputs that the judge scored, by default those in ``labels``.
        even: the share of the outputs that are drawn with equal probabilities, because they are sealed.
    """
    lines = join_lines(labels, judge)
    return [
        _audit_criterion(lines[lines["criterion"] == name], labels, judge, cut, judged, even)
        for name in labels.criteria
        if (lines["criterion"] == name).any()
    ]


def join_lines(labels: Labels, judge: str) -> pd.DataFrame:
    """Return the lines that people and the judge scored, with ``human``, ``score`` and ``probabilities``."""
    judged = labels.judges[(labels.judges["judge"] == judge) & labels.judges["score"].notna()]
    columns = [*KEYS, "score", *([PROBABILITIES] if PROBABILITIES in judged else [])]
    return people_lines(labels).merge(judged[columns], on=KEYS)


def _audit_criterion(
    lines: pd.DataFrame, labels: Labels, judge: str, cut: float | None, judged: int | None, even: float
) -> CriterionAudit:
    name = str(lines["criterion"].iloc[0])
    scale = labels.scales[name]
    mark = find_mark(scale, cut)
    passed, accepted = (lines[column].to_numpy(dtype=float) >= mark for column in ("human", "score"))
    same, documents = passed == accepted, lines["document"].to_numpy()
    level = np.floor(lines["human"].to_numpy(dtype=float) + 0.5)
    chance = find_chances(lines, scale, mark)
    sure = ~np.isnan(chance)
    constant = float(passed[sure].mean()) if sure.any() else math.nan
    brier, brier_constant = (
        share_of((each - passed)[sure] ** 2, documents[sure], "the judge gives no probabilities")
        for each in (chance, np.full(len(passed), constant))
    )
    return CriterionAudit(
        name,
        mark,
        share_of(accepted[~passed], documents[~passed], "people failed no output"),
        share_of(~accepted[passed], documents[passed], "people passed no output"),
        tuple(
            Reliability(value, int(here.sum()), share_of(same[here], documents[here]))
            for value, here in [
                (None, np.ones(len(same), bool)),
                *((v, level == v) for v in np.unique(level)),
            ]
        ),
        _calibrate(chance[sure], passed[sure], documents[sure]),
        brier,
        brier_constant,
        _compare_judges(lines, labels, judge, mark),
        count_labels(
            passed * 1.0,
            chance if sure.all() else accepted * 1.0,
            judged or len(lines),
            chance=chance,
            even=even,
        ),
    )


def find_mark(scale: Scale, cut: float | None) -> float:
    """Return the lowest passing score, by default the middle of the scale."""
    return (scale.low + scale.high) / 2 if cut is None else cut


def find_chances(lines: pd.DataFrame, scale: Scale, mark: float) -> Numbers:
    """Return the judge's probability of a passing score for each line, nan if it gives none."""
    if PROBABILITIES not in lines:
        return np.full(len(lines), math.nan)
    passing = np.asarray(scale.steps, dtype=float) >= mark
    return np.array(
        [float(np.asarray(p) @ passing) if isinstance(p, (tuple, list)) else math.nan for p in lines[PROBABILITIES]]
    )  # fmt: skip


def share_of(values: Values, documents: Values, reason: str = "there are no lines") -> Estimate:
    """Return the mean of values from 0 to 1, with an interval over documents on the logit scale."""
    if not len(values):
        return Estimate.undefined(reason, n=0)
    values = np.asarray(values, dtype=float)
    spread = mean_interval(values, parse_clusters(documents, len(values), DOCUMENTS), (0.0, 1.0))
    return Estimate(float(values.mean()), n=len(values), **spread)


def _calibrate(chance: Numbers, passed: Values, documents: Values) -> tuple[Bin, ...]:
    """Return bins of about equal size, from the lowest probability of a pass to the highest."""
    if len(chance) < LEAST:
        return ()
    edges = np.unique(np.quantile(chance, np.linspace(0, 1, BINS + 1))[1:-1])
    place = np.searchsorted(edges, chance, side="right")
    return tuple(
        Bin(float(chance[here].mean()), share_of(passed[here], documents[here]), int(here.sum()))
        for here in (place == number for number in np.unique(place))
    )


def _compare_judges(lines: pd.DataFrame, labels: Labels, judge: str, mark: float) -> Estimate:
    others = labels.judges[(labels.judges["judge"] != judge) & labels.judges["score"].notna()]
    pairs = lines.merge(others[[*KEYS, "score"]], on=KEYS, suffixes=("", "_other"))
    same = (pairs["score"] >= mark) == (pairs["score_other"] >= mark)
    return share_of(same.to_numpy(), pairs["document"].to_numpy(), "no other judge scored these lines")


def count_labels(y: Values, f: Values, judged: int, *, chance: Values, even: float = 0.0) -> LabelNeed:
    """Return how many labels a judge saves for a mean, by the variances of its residuals.

    With slope lam of y on f, n labels and N judged outputs, the variance is lam^2 var(f) / N + V / n. V is the variance
    of y - lam f for uniform labels, and the mean of the squared residuals over w for labels with probabilities
    proportional to w. Here w is the standard deviation sqrt(p (1 - p)) of the judge's own verdict, at least ``FLOOR``
    of its mean, with mean 1. A share ``even`` of the outputs is drawn with w = 1.

    Sources: Angelopoulos, Duchi and Zrnic 2023, PPI++; Zrnic and Candès 2024, Active Statistical Inference.
    """
    n = len(y)
    if n < LEAST or not y.var() > 0:
        return LabelNeed(n, None, None)
    slope = float(np.cov(y, f)[0, 1] / f.var(ddof=1)) if f.var() > 0 else 0.0
    residual = y - slope * f
    residual = residual - residual.mean()
    room = float(y.var()) / n - slope**2 * float(f.var()) / judged

    def need(variance: float) -> int | None:
        return math.ceil(variance / room) if room > 0 and variance / room < n else None

    spread = np.sqrt(chance * (1 - chance))
    active = None
    if not np.isnan(spread).any() and spread.mean() > 0:
        weight = np.maximum(spread, FLOOR * spread.mean())
        weight = weight / weight.mean()
        active = need(float((residual**2 * (even + (1 - even) / weight)).mean()))
    return LabelNeed(n, need(float(residual.var())), active)


def tell_audit(audits: Sequence[CriterionAudit]) -> list[str]:
    """Return the audit in sentences, false accepts first."""
    return [
        *map(_tell_accepts, audits),
        *map(_tell_agreement, audits),
        *(_tell_brier(audit) for audit in audits if audit.brier.defined),
        *map(_tell_labels, audits),
    ]


def _tell_accepts(audit: CriterionAudit) -> str:
    accepts = audit.false_accepts
    if not accepts.defined:
        return f"On “{audit.criterion}”, false accepts are undefined, because {accepts.reason}."
    through = round(float(accepts) * accepts.n)
    return (
        f"On “{audit.criterion}”, of {accepts.n:,} outputs that people failed (below {audit.cut:g}), it passed "
        f"{through:,}: {spell_share(accepts)}."
    )


def _tell_agreement(audit: CriterionAudit) -> str:
    others = (
        f"and as other judges on {spell_share(audit.with_judges)}"
        if audit.with_judges.defined
        else f"and {audit.with_judges.reason}"
    )
    rejects = (
        f" It failed {spell_share(audit.false_rejects)} of the outputs that people passed."
        if audit.false_rejects.defined
        else ""
    )
    same = spell_share(audit.levels[0].same)
    return f"On “{audit.criterion}”, it gives the same verdict as people on {same} of the outputs, {others}.{rejects}"


def _tell_brier(audit: CriterionAudit) -> str:
    better = "better than" if audit.brier < audit.brier_constant else "no better than"
    return (
        f"On “{audit.criterion}”, its probabilities of a pass have a Brier score of {float(audit.brier):.3f}, {better} "
        f"the {float(audit.brier_constant):.3f} of a constant, the share of passes."
    )


def _tell_labels(audit: CriterionAudit) -> str:
    need = audit.labels
    told = f"On “{audit.criterion}”, {need.now:,} labels estimate the share of passes."
    if need.uniform is None and need.active is None:
        return f"{told} The judge does not make fewer labels suffice."
    uniform, active = (
        "no fewer labels" if n is None else f"{n:,} labels" for n in (need.uniform, need.active)
    )
    return (
        f"{told} An interval of the same width needs {uniform} if the judge's errors are corrected with them, and "
        f"{active} if its probabilities also decide whom to ask."
    )


def spell_share(share: Estimate) -> str:
    """Return a share as a percentage with its interval, if it has one."""
    low, high = share.ci
    return f"{share.value:.0%}" + (f" ({low:.0%} to {high:.0%})" if low == low else "")
