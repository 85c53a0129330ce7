"""Cross-validation over documents: folds, distances to people's scores, baselines, and the rule for keeping a step.

Folds contain whole documents, so that no line is predicted from its own document.

Every step is compared with the previous judge on the same lines, and both learn from the other folds. The difference in
squared error is averaged over documents and tested with Student's t. A step is kept if the one-sided p-value against
"it does not help" is below ``RATE`` divided by the number of planned comparisons (Bonferroni). A step that only fits
noise does worse on unseen documents, so under the null hypothesis at least 95% of studies keep no step;
``python -m tests.benchmarks judge_null`` measures this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.extensions.judge.model.fitted import Fitted
from coeval.extensions.judge.model.labels import JUDGES, Labels
from coeval.stats.clusters import DOCUMENTS, cut, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.judges.correlation import correlations

# A line is one row per instance and criterion, with people's scores and a judge's score.

KEYS = ["instance", "criterion"]
FOLDS = 10
"""Largest number of folds in a cross-validation. It never exceeds the number of documents."""


def people_lines(labels: Labels) -> pd.DataFrame:
    """Return each line with its ``document``, ``system``, people's mean as ``human``, and their number ``people``."""
    grouped = labels.people.groupby(KEYS, sort=True)
    return grouped.agg(
        document=("document", "first"),
        system=("system", "first"),
        human=("score", "mean"),
        people=("score", "size"),
    ).reset_index()


def judged_lines(labels: Labels, table: pd.DataFrame) -> pd.DataFrame:
    """Return the lines in both ``labels`` and ``table``, with the columns of ``Fitted.apply`` and ``agree``.

    ``agree`` is the share of a line's people whose score is the judge's, rounded to a step of the scale. It is NaN if
    the judge has no score.
    """
    lines = people_lines(labels).merge(table, on=KEYS, how="inner")
    ratings = labels.people[[*KEYS, "score"]].merge(table[[*KEYS, "score"]], on=KEYS, suffixes=("", "_judge"))
    same = (ratings["score"] - np.floor(ratings["score_judge"] + 0.5)).abs() <= 1e-9
    share = same.where(ratings["score_judge"].notna()).groupby([ratings[key] for key in KEYS]).mean()
    return lines.merge(share.rename("agree").reset_index(), on=KEYS, how="left")


def fold_documents(labels: Labels, folds: int = FOLDS) -> list[list[object]]:
    """Split the documents into parts of nearly equal size, in a random order that is always the same."""
    documents = sorted(labels.documents, key=str)
    order = np.random.default_rng(0).permutation(len(documents))
    parts = min(folds, len(documents))
    return [[documents[place] for place in order[start::parts]] for start in range(parts)]


@dataclass(frozen=True, eq=False)
class Fold:
    """A part of the documents to test on, and the rest to learn from."""

    rest: Labels
    own: Labels


def deal(labels: Labels, folds: int = FOLDS) -> tuple[Fold, ...]:
    """Return the folds of a cross-validation over documents, or none if there are fewer than two documents."""
    parts = fold_documents(labels, folds)
    return tuple(
        Fold(
            labels.for_documents([document for part in parts if part is not fold for document in part]),
            labels.for_documents(fold),
        )
        for fold in (parts if len(parts) > 1 else [])
    )


def join_tables(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join tables of ``Fitted.apply`` into one, which is empty if there are none."""
    return pd.concat(tables, ignore_index=True) if tables else Fitted().apply(NO_JUDGES)


NO_JUDGES = pd.DataFrame(
    {name: pd.Series(dtype=float if name in ("score", "spread") else object) for name in JUDGES}
)


# Error, agreement and correlation with people's scores, each with an interval over documents.

NONE = "no line has a score of both"


@dataclass(frozen=True)
class Measures:
    """Scores compared with people's means: ``rmse`` and ``mae`` in steps of the scale, and pooled correlations.

    ``agreement`` is the share of people who gave the judge's rounded score, averaged over lines. It is undefined for
    baselines.
    """

    rmse: Estimate
    mae: Estimate
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    agreement: Estimate
    lines: int
    documents: int


def measure(lines: pd.DataFrame) -> Measures:
    """Compare scores with people's means.

    ``lines`` has the columns document, human, score and, if known, agree (the share of people who agree with the
    rounded score). Lines that lack one of the two scores are left out. Intervals leave out one document at a time.
    """
    kept = lines[lines["score"].notna() & lines["human"].notna()]
    error = (kept["score"] - kept["human"]).to_numpy(dtype=float)
    documents = kept["document"]
    correlated = correlations(
        kept["human"], kept["score"], clusters=parse_clusters(documents, len(kept), DOCUMENTS)
    )
    agree = kept["agree"].to_numpy(dtype=float) if "agree" in kept else np.full(len(kept), np.nan)
    return Measures(
        rmse=_mean(error**2, documents, root=True),
        mae=_mean(np.abs(error), documents),
        pearson=correlated.dataset.pearson,
        spearman=correlated.dataset.spearman,
        kendall=correlated.dataset.kendall,
        agreement=_mean(agree, documents),
        lines=len(kept),
        documents=documents.nunique(),
    )


def mean_over_documents(values: pd.Series, documents: pd.Series) -> Estimate:
    """Return the mean of ``values`` with a jackknife interval over documents and a two-sided p-value against 0."""
    return _mean(values.to_numpy(dtype=float), documents)


def _mean(values: np.ndarray, documents: pd.Series, root: bool = False) -> Estimate:
    mask = ~np.isnan(values)
    if not mask.any():
        return Estimate.undefined(NONE)
    values, documents = values[mask], documents[mask]
    sums = parse_clusters(documents, len(values), DOCUMENTS).sums(
        np.column_stack([values, np.ones(len(values))])
    )

    def statistic(rows: np.ndarray) -> np.ndarray:
        total, n = rows.T
        mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
        return np.asarray(np.sqrt(mean) if root else mean)

    value = float(statistic(sums.sum(axis=0)[None, :])[0])
    spread = sums_interval(sums, statistic, DOCUMENTS, value=value)
    return Estimate(value, n=len(values), **(cut(spread, 0.0, np.inf) if root else spread))


# A step is kept if it helps on unseen documents by more than noise.

RATE = 0.05
"""Largest share of studies that may keep a step although no step helps."""

FEWEST = 5
"""Smallest number of documents for a comparison. An interval over four documents says little."""


@dataclass(frozen=True)
class Comparison:
    """One step, or one candidate for it, compared with the previous judge.

    ``gain`` is the decrease in mean squared error (for deferral, the increase in agreement), with a 95%
    interval over documents. ``p_value`` is one-sided. The best candidate with a p-value below ``bound`` is
    ``kept``.
    """

    step: str
    candidate: str
    criterion: str
    gain: Estimate
    p_value: float
    bound: float
    kept: bool
    reason: str = ""


def compare(
    step: str,
    candidate: str,
    criterion: str,
    before: pd.DataFrame,
    after: pd.DataFrame,
    comparisons: int,
) -> Comparison:
    """Compare two tables with ``human``, ``document`` and ``score`` on the lines that both score.

    ``comparisons`` is the number of comparisons planned in the whole study, including this one.
    """
    joined = before[[*KEYS, "document", "human", "score"]].merge(
        after[[*KEYS, "score"]], on=KEYS, suffixes=("", "_after")
    )
    joined = joined[joined["score"].notna() & joined["score_after"].notna()]
    old, new = ((joined[name] - joined["human"]) ** 2 for name in ("score", "score_after"))
    bound, documents = RATE / comparisons, joined["document"].nunique()
    if documents < FEWEST:
        told = f"{documents} documents have scores of both; at least {FEWEST} are needed"
        return Comparison(step, candidate, criterion, Estimate.undefined(told), np.nan, bound, False, told)
    gain = mean_over_documents(old - new, joined["document"])
    p = one_sided(gain)
    return Comparison(
        step,
        candidate,
        criterion,
        gain,
        p,
        bound,
        bool(p < bound),
        "" if p < bound else told_why(gain),
    )


def one_sided(gain: Estimate) -> float:
    """Return the p-value against "it does not help", which is 0 or 1 if all documents agree."""
    if gain.details.get("se") == 0.0:
        return 0.0 if gain > 0 else 1.0
    p = float(gain.p_value)
    return np.nan if np.isnan(p) else p / 2 if gain > 0 else 1 - p / 2


def told_why(gain: Estimate) -> str:
    return "it does not help" if gain <= 0 else "it helps by no more than noise"
