"""A mean from few human labels and many model labels: prediction-powered inference."""

from __future__ import annotations

from typing import Any

import numpy as np

from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Numbers, parse_vector


def ppi_mean(
    y: Any, yhat: Any, yhat_unlabeled: Any, lam: float | None = None, alpha: float = 0.05
) -> Estimate:
    """The people's mean, corrected from the model's labels where nobody labelled.

    theta = lam mean(f_unlabelled) + mean(y - lam f), with the model's weight lam in [0, 1]; 0 is the people's
    plain mean. The error is sqrt(lam^2 Var(f_unlabelled) / N + Var(y - lam f) / n), the interval normal.

    Parameters
    ----------
    y, yhat : people's and model's scores of the same n items; items lacking either are left out and counted.
    yhat_unlabeled : the model's scores of N further items.
    lam : the weight; None tunes it to the least error, Cov(y, f) / ((1 + n / N) Var(f)), cut to [0, 1].
    alpha : one minus the confidence.

    Returns
    -------
    Estimate
        With ``ci_low``, ``ci_high``, ``se``, ``lam``, ``n``, ``n_unlabeled``, ``n_left_out``,
        ``classical`` (the people's mean of the n items) and ``classical_se``; nan with a ``reason`` where there
        is no labelled or no unlabelled item.

    Source: Angelopoulos et al. 2023, Prediction-powered inference; Angelopoulos, Duchi and Zrnic 2023, PPI++.

    >>> y, f = [4, 3, 5, 2, 4, 4, 1, 5], [4, 4, 5, 3, 4, 5, 2, 5]
    >>> mean = ppi_mean(y, f, [3, 4, 5, 4, 2, 5, 4, 3, 4, 4, 5, 3])
    >>> round(mean, 4), round(mean.lam, 4)
    (3.3666, 0.8006)
    """
    labels, predictions, rest = (
        parse_vector(side, name)
        for side, name in ((y, "y"), (yhat, "yhat"), (yhat_unlabeled, "yhat_unlabeled"))
    )
    if len(labels) != len(predictions):
        raise ValueError(f"y has {len(labels)} scores and yhat {len(predictions)}; give both for every item.")
    both, known = ~(np.isnan(labels) | np.isnan(predictions)), ~np.isnan(rest)
    labels, predictions, rest = labels[both], predictions[both], rest[known]
    counts = {
        "n": len(labels),
        "n_unlabeled": len(rest),
        "n_left_out": int((~both).sum() + (~known).sum()),
        "confidence": 1 - alpha,
        "interval_kind": "prediction-powered, normal",
    }
    if not len(labels) or not len(rest):
        who = "both people and model" if not len(labels) else "only the model"
        return Estimate.undefined(f"there is no item that {who} scored", **counts)
    weight = _tuned(labels, predictions, rest) if lam is None else float(lam)
    gaps = labels - weight * predictions
    theta = float(weight * rest.mean() + gaps.mean())
    se = float(np.sqrt(weight**2 * rest.var() / len(rest) + gaps.var() / len(labels)))
    half = float(special.ndtri(1 - alpha / 2)) * se
    classical = {"classical": labels.mean(), "classical_se": np.sqrt(labels.var() / len(labels))}
    return Estimate(
        theta, ci_low=theta - half, ci_high=theta + half, se=se, lam=weight, **counts, **classical
    )


def _tuned(labels: Numbers, predictions: Numbers, rest: Numbers) -> float:
    everything = np.concatenate([predictions, rest])
    spread = everything.var(ddof=1) if len(everything) > 1 else 0.0
    if not spread > 0:
        return 0.0
    shared = float(((labels - labels.mean()) * (predictions - predictions.mean())).mean())
    return float(np.clip(shared / ((1 + len(labels) / len(rest)) * spread), 0, 1))
