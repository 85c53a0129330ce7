"""A table of judgments: a DataFrame with the means of each system and the cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coeval.llm.running.progress import Usage
from coeval.stats.clusters import DOCUMENTS, parse_clusters
from coeval.stats.report.systems import estimate_mean

USAGE = "usage"
"""The key of the usage in a table's ``attrs``."""


class Judgments(pd.DataFrame):
    """The table that ``judge_frame`` returns; it supports all operations of a DataFrame."""

    @property
    def _constructor(self) -> type[Judgments]:
        return Judgments

    @property
    def usage(self) -> Usage:
        """Return the calls, tokens and cost of this run. Answers from the ledger cost nothing."""
        return Usage(**self.attrs[USAGE])

    def summary(self) -> pd.DataFrame:
        """Return the mean score of each system on each criterion, with its interval.

        Each judgment counts once. The 95% interval is a jackknife over documents, because outputs for one document are
        not independent. It is nan if there are fewer than two documents, or if all documents are equal.

        Returns:
            A row for each ``system`` and ``criterion``: these, ``mean``, ``ci_low``, ``ci_high``, ``n`` (scores),
            ``documents`` and ``unscored`` (judgments without a score, which are left out).
        """
        rows, by = [], ["system", "criterion"]
        for names, part in pd.DataFrame(self).groupby(by, sort=False, dropna=False):
            scored = part[part["score"].notna()]
            values = np.asarray(scored["score"], dtype=np.float64)
            clusters = parse_clusters(scored["document"], len(scored), DOCUMENTS)
            row: dict[str, object] = dict(zip(by, names, strict=True))
            row |= {"mean": np.nan, "ci_low": np.nan, "ci_high": np.nan}
            if len(values):
                mean = estimate_mean(values, clusters)
                row |= {"mean": float(mean), "ci_low": mean.ci[0], "ci_high": mean.ci[1]}
            rows.append(
                row | {"n": len(values), "documents": clusters.n, "unscored": len(part) - len(values)}
            )
        return pd.DataFrame(rows)
