"""The rule by which a step of learning is kept: it helps on documents it has not seen, by more than noise.

Every step is compared with what stood before on the same lines, each judged by what was learned from the other parts of
the documents. The difference in squared error is averaged with Student's t over documents; a step is kept where the
one-sided p-value against "it does not help" is below ``RATE`` divided by the number of comparisons that were planned
(Bonferroni). A step that only fits noise does worse on documents it has not seen, so under the null no step at all is
kept in at least 95% of studies; ``python -m tests.benchmarks judge_null`` measures it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.judge.learning.lines import KEYS
from coeval.judge.learning.measures import mean_over_documents
from coeval.stats.estimates.results import Estimate

RATE = 0.05
"""How often, at most, a study in which nothing helps keeps any step."""

FEWEST = 5
"""Documents below which nothing is compared: an interval over four says little."""


@dataclass(frozen=True)
class Comparison:
    """One step, or one candidate of it, against what stood before.

    ``gain`` is the fall of the mean squared error, positive where the step helps, with its 95% interval over documents;
    ``p_value`` is one-sided; ``kept`` says whether it is below ``bound``.
    """

    step: str
    candidate: str
    criterion: str
    gain: Estimate
    rmse_before: float
    rmse_after: float
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
    """The comparison of two tables of lines with ``human``, ``document`` and ``score``, on the lines scored by both.

    ``comparisons`` is how many were planned in the whole study, this one counted in.
    """
    both = before[[*KEYS, "document", "human", "score"]].merge(
        after[[*KEYS, "score"]], on=KEYS, suffixes=("", "_after")
    )
    both = both[both["score"].notna() & both["score_after"].notna()]
    old, new = ((both[name] - both["human"]) ** 2 for name in ("score", "score_after"))
    bound, documents = RATE / comparisons, both["document"].nunique()
    rmse, rmse_after = (float(np.sqrt(error.mean())) if len(both) else np.nan for error in (old, new))
    if documents < FEWEST:
        told = f"{documents} documents have scores of both; at least {FEWEST} are needed"
        return Comparison(
            step, candidate, criterion, Estimate.undefined(told), rmse, rmse_after, np.nan, bound, False, told
        )
    gain = mean_over_documents(old - new, both["document"])
    p = one_sided(gain)
    return Comparison(
        step,
        candidate,
        criterion,
        gain,
        rmse,
        rmse_after,
        p,
        bound,
        bool(p < bound),
        "" if p < bound else told_why(gain),
    )


def one_sided(gain: Estimate) -> float:
    """The p-value against "it does not help"; 0 or 1 where every document says the same."""
    if gain.details.get("se") == 0.0:
        return 0.0 if gain > 0 else 1.0
    p = float(gain.p_value)
    return np.nan if np.isnan(p) else p / 2 if gain > 0 else 1 - p / 2


def told_why(gain: Estimate) -> str:
    return "it does not help" if gain <= 0 else "it helps by no more than noise"
