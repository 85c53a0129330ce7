"""How far scores are from people's: error, agreement and correlation, each with an interval over documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.stats.estimates.clusters import DOCUMENTS, parse_clusters, sums_interval
from coeval.stats.estimates.results import Estimate
from coeval.stats.judges.correlation import correlations

NONE = "no line has a score of both"


@dataclass(frozen=True)
class Measures:
    """Scores against people's means: ``rmse`` and ``mae`` in steps of the scale, correlations pooled over the lines.

    ``agreement`` is the mean share of a line's people who gave the judge's rounded score; undefined where the scores
    are no judge's own.
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
    """The measures of ``lines`` with ``document``, ``human``, ``score`` and, where known, ``agree``.

    Intervals leave out whole documents (``stats.estimates.clusters.jackknife_interval``).
    """
    kept = lines[lines["score"].notna() & lines["human"].notna()]
    error = (kept["score"] - kept["human"]).to_numpy(dtype=float)
    documents = kept["document"]
    found = correlations(
        kept["human"], kept["score"], clusters=parse_clusters(documents, len(kept), DOCUMENTS)
    )
    agree = kept["agree"].to_numpy(dtype=float) if "agree" in kept else np.full(len(kept), np.nan)
    return Measures(
        rmse=_mean(error**2, documents, root=True),
        mae=_mean(np.abs(error), documents),
        pearson=found.dataset.pearson,
        spearman=found.dataset.spearman,
        kendall=found.dataset.kendall,
        agreement=_mean(agree, documents),
        lines=len(kept),
        documents=documents.nunique(),
    )


def mean_over_documents(values: pd.Series, documents: pd.Series) -> Estimate:
    """The mean of ``values`` with its interval and two-sided p-value against 0, from leaving out documents."""
    return _mean(values.to_numpy(dtype=float), documents)


def _mean(values: np.ndarray, documents: pd.Series, root: bool = False) -> Estimate:
    known = ~np.isnan(values)
    if not known.any():
        return Estimate.undefined(NONE)
    values, documents = values[known], documents[known]
    sums = parse_clusters(documents, len(values), DOCUMENTS).sums(
        np.column_stack([values, np.ones(len(values))])
    )

    def statistic(rows: np.ndarray) -> np.ndarray:
        total, n = rows.T
        mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
        return np.asarray(np.sqrt(mean) if root else mean)

    value = float(statistic(sums.sum(axis=0)[None, :])[0])
    return Estimate(value, n=len(values), **sums_interval(sums, statistic, DOCUMENTS, value=value))
