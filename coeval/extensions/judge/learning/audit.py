"""An audit of a judge against people: false accepts first, then calibration, agreement, labels saved, and biases.

All intervals leave out whole documents. They apply to other documents with the same people.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from coeval.domain import Scale
from coeval.extensions.judge.learning.cross_validation import KEYS, people_lines
from coeval.extensions.judge.model.labels import PROBABILITIES, Labels
from coeval.stats.clusters import DOCUMENTS, Clusters, mean_interval, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers

BINS = 5
LEAST = 10
"""Smallest number of lines for a bias or a calibration, on each side of a comparison."""
FLOOR = 0.1
"""Every line is asked for with at least this share of the mean probability, so that no error stays unseen."""

Values = npt.NDArray[Any]
"""One value for each line: scores, verdicts, or documents."""

NOT_HERE = "not measured here"
_MARKED = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s|\*\*\S", re.MULTILINE)
"""A list item at the start of a line, or bold text."""


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


@dataclass(frozen=True)
class Bias:
    """A bias in points of the scale, at equal scores from people; undefined, with the reason, if not measurable."""

    name: str
    test: str
    effect: Estimate


def audit_judge(
    labels: Labels, judge: str, *, cut: float | None = None, judged: int | None = None
) -> list[CriterionAudit]:
    """Return the audit of one judge on each criterion.

    Args:
        labels: people's scores, and all judges' scores of the same lines.
        judge: the judge to audit; the others are compared with it.
        cut: the lowest passing score; by default the middle of each scale.
        judged: the number of outputs that the judge scored, by default those in ``labels``.
    """
    lines = _join(labels, judge)
    return [
        _audit_criterion(lines[lines["criterion"] == name], labels, judge, cut, judged)
        for name in labels.criteria
        if (lines["criterion"] == name).any()
    ]


def _join(labels: Labels, judge: str) -> pd.DataFrame:
    """Return the lines that people and the judge scored, with ``human``, ``score`` and ``probabilities``."""
    own = labels.judges[(labels.judges["judge"] == judge) & labels.judges["score"].notna()]
    columns = [*KEYS, "score", *([PROBABILITIES] if PROBABILITIES in own else [])]
    return people_lines(labels).merge(own[columns], on=KEYS)


def _audit_criterion(
    lines: pd.DataFrame, labels: Labels, judge: str, cut: float | None, judged: int | None
) -> CriterionAudit:
    name = str(lines["criterion"].iloc[0])
    scale = labels.scales[name]
    mark = (scale.low + scale.high) / 2 if cut is None else cut
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
            Reliability(one, int(own.sum()), share_of(same[own], documents[own]))
            for one, own in [(None, np.ones(len(same), bool)), *((v, level == v) for v in np.unique(level))]
        ),
        _calibrate(chance[sure], passed[sure], documents[sure]),
        brier,
        brier_constant,
        _compare_judges(lines, labels, judge, mark),
        count_labels(
            passed * 1.0, chance if sure.all() else accepted * 1.0, judged or len(lines), chance=chance
        ),
    )


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
        Bin(float(chance[own].mean()), share_of(passed[own], documents[own]), int(own.sum()))
        for own in (place == number for number in np.unique(place))
    )


def _compare_judges(lines: pd.DataFrame, labels: Labels, judge: str, mark: float) -> Estimate:
    others = labels.judges[(labels.judges["judge"] != judge) & labels.judges["score"].notna()]
    pairs = lines.merge(others[[*KEYS, "score"]], on=KEYS, suffixes=("", "_other"))
    same = (pairs["score"] >= mark) == (pairs["score_other"] >= mark)
    return share_of(same.to_numpy(), pairs["document"].to_numpy(), "no other judge scored these lines")


def count_labels(y: Values, f: Values, judged: int, *, chance: Values) -> LabelNeed:
    """Return how many labels a judge saves for a mean, by the variances of its residuals.

    With slope lam of y on f, n labels and N judged outputs, the variance is lam^2 var(f) / N + V / n. V is the variance
    of y - lam f for uniform labels, and the mean of the squared residuals over w for labels with probabilities
    proportional to w. Here w is the standard deviation sqrt(p (1 - p)) of the judge's own verdict, at least ``FLOOR``
    of its mean, with mean 1.

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
        active = need(float((residual**2 / weight).mean()))
    return LabelNeed(n, need(float(residual.var())), active)


def find_biases(labels: Labels, judge: str, model: str, outputs: Mapping[str, str]) -> list[Bias]:
    """Return the judge's biases, at equal scores from people, over all criteria.

    Args:
        model: the judge's model, whose first word names its family.
        outputs: the text of each instance.
    """
    lines = _join(labels, judge)
    texts = [outputs.get(str(name), "") for name in lines["instance"]]
    family = re.split(r"[^a-z]+", model.lower().rsplit("/", 1)[-1])[0]
    words = np.log2([max(len(text.split()), 1) for text in texts])
    marked = np.array([bool(_MARKED.search(text)) for text in texts], dtype=float)
    other = np.array([_is_other_script(text) for text in texts], dtype=float)
    own = np.array([bool(family) and family in str(name).lower() for name in lines["system"]], dtype=float)
    return [
        Bias("length", "points for each doubling of the words", _regress(lines, words, groups=False)),
        Bias("format", "outputs with lists or bold text, minus the others", _regress(lines, marked)),
        Bias("own family", f"systems named “{family}”, minus the others", _regress(lines, own)),
        Bias("language", "outputs not in Latin script, minus the others", _regress(lines, other)),
        Bias("position", "first output shown, minus second", Estimate.undefined(f"{NOT_HERE}: it scores one output")),
    ]  # fmt: skip


def _is_other_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > "\u024f" for letter in letters) > len(letters) / 2


def _regress(lines: pd.DataFrame, x: Numbers, *, groups: bool = True) -> Estimate:
    """Return the coefficient of x in the least-squares regression of the judge on people's mean and x.

    Criteria are centred. The interval is the jackknife over documents, from their sums of products.
    """
    few = min((x > 0).sum(), (x <= 0).sum()) < LEAST if groups else len(x) < LEAST or np.ptp(x) == 0
    if len(x) < LEAST or few:
        return Estimate.undefined(f"{NOT_HERE}: fewer than {LEAST} such lines, or no others")
    table = pd.DataFrame(
        {
            "judge": lines["score"].to_numpy(),
            "people": lines["human"].to_numpy(),
            "x": np.asarray(x, dtype=float),
        }
    )
    table = table - table.groupby(lines["criterion"].to_numpy()).transform("mean")
    j, p, v = (table[name].to_numpy(dtype=float) for name in ("judge", "people", "x"))
    clusters: Clusters = parse_clusters(lines["document"].tolist(), len(lines), DOCUMENTS)
    sums = clusters.sums(np.column_stack([p * p, p * v, v * v, p * j, v * j]))
    spread = sums_interval(sums, _coefficient, DOCUMENTS)
    return Estimate(float(_coefficient(sums.sum(axis=0)[None, :])[0]), n=len(x), **spread)


def _coefficient(rows: Numbers) -> Numbers:
    pp, pv, vv, pj, vj = rows.T
    bottom = pp * vv - pv**2
    out = np.full(len(rows), np.nan)
    np.divide(pp * vj - pv * pj, bottom, out=out, where=bottom > 1e-12)
    return out


def tell_audit(audits: Sequence[CriterionAudit], biases: Sequence[Bias]) -> list[str]:
    """Return the audit in sentences, false accepts first."""
    told = []
    for one in audits:
        accepts = one.false_accepts
        if accepts.defined:
            failed, through = accepts.n, round(float(accepts) * accepts.n)
            told.append(
                f"“{one.criterion}”: of {failed:,} outputs that people failed (below {one.cut:g}), it passed "
                f"{through:,}: {_percent(accepts)}."
            )
        else:
            told.append(f"“{one.criterion}”: false accepts are undefined, because {accepts.reason}.")
    for one in audits:
        told.append(
            f"“{one.criterion}”: its verdict is that of people on {_percent(one.levels[0].same)}, and that of other "
            f"judges on {_percent(one.with_judges)}. It failed {_percent(one.false_rejects)} of what people passed."
        )
        if one.brier.defined:
            better = "no better than" if one.brier >= one.brier_constant else "better than"
            told.append(
                f"“{one.criterion}”: its probabilities of a pass have a Brier score of {float(one.brier):.3f}, "
                f"{better} the constant share of passes ({float(one.brier_constant):.3f})."
            )
        need = one.labels
        told.append(
            f"“{one.criterion}”: an interval of the share of passes as narrow as that of {need.now:,} labels needs "
            f"{_count(need.uniform)} with the judge, and {_count(need.active)} if its probabilities decide whom to ask."
        )
    for bias in biases:
        said = bias.effect.reason or f"{float(bias.effect):+.2f} points ({_bounds(bias.effect)})"
        told.append(f"Bias by {bias.name} ({bias.test}): {said}.")
    return told


def _count(number: int | None) -> str:
    return "no fewer" if number is None else f"{number:,}"


def _percent(share: Estimate) -> str:
    if not share.defined:
        return f"an unknown share ({share.reason})"
    low, high = share.ci
    return f"{share.value:.0%}" + (f" ({low:.0%} to {high:.0%})" if low == low else "")


def _bounds(value: Estimate) -> str:
    low, high = value.ci
    return f"{low:+.2f} to {high:+.2f}" if low == low else "no interval"
