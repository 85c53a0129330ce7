"""Deferral to people: a threshold on the judge's confidence with a guarantee, by conformal risk control.

A document's loss at a threshold is the share of its lines that stay with the judge and on which a person disagrees (on
average over a line's people). It is between 0 and 1, and decreases as the threshold rises.
Theorem 1 of Angelopoulos, Bates, Fisch, Lei and Schuster 2024 (Conformal Risk Control, ICLR) gives the guarantee: with
n exchangeable documents and the lowest threshold at which n / (n + 1) * mean loss + 1 / (n + 1) <= level, the expected
loss of a new document is at most the level. Documents are exchangeable, but lines are not: criteria and systems are
dependent within a document.

The level is (1 - agreement) * coverage. If the judge keeps at least this coverage, agreement on its lines is at least
the requested one, because P(disagrees | kept) = P(kept and disagrees) / P(kept). If it keeps less, the guarantee is
1 - level / kept, and the sentence in ``Deferral.computed`` says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.errors import InputError
from coeval.extensions.judge.learning.cross_validation import mean_over_documents, one_sided
from coeval.extensions.judge.model.fitted import Confidence, Deferral, find_confidence
from coeval.extensions.judge.model.labels import PROBABILITIES
from coeval.stats.estimates import Estimate

KINDS: tuple[Confidence, ...] = ("samples", "jury", "probability")
THEOREM = "conformal risk control over documents (Angelopoulos et al. 2024, theorem 1)"


@dataclass(frozen=True)
class Separation:
    """The increase in people's agreement with the judge from low to high confidence.

    ``gap`` is the least-squares difference in agreement between the least and the most confident line. ``p_value`` is
    one-sided.
    """

    kind: Confidence
    gap: Estimate
    p_value: float


def known_kinds(table: pd.DataFrame) -> tuple[Confidence, ...]:
    """Return the kinds of confidence whose values vary in a table from ``Fitted.apply``."""
    kept = []
    for kind in KINDS:
        if kind == "probability" and PROBABILITIES not in table:
            continue
        confidence = find_confidence(table, kind)
        if np.unique(confidence[~np.isnan(confidence)]).size > 1:
            kept.append(kind)
    return tuple(kept)


def separation(lines: pd.DataFrame, kind: Confidence) -> Separation:
    """Measure how well confidence predicts agreement: the slope of agreement over the rank of confidence.

    ``lines`` come from ``judged_lines``. The interval leaves out whole documents. Ranks from 0 to 1 have a variance of
    1/12, so the slope is 12 times the mean product of centred rank and centred agreement.
    """
    confidence = find_confidence(lines, kind)
    mask = ~(np.isnan(confidence) | lines["agree"].isna().to_numpy())
    rows = lines[mask]
    if len(rows) < 2:
        return Separation(kind, Estimate.undefined("no line has a confidence"), np.nan)
    rank = pd.Series(confidence[mask]).rank(pct=True).to_numpy()
    agree = rows["agree"].to_numpy(dtype=float)
    gap = mean_over_documents(
        pd.Series((rank - rank.mean()) * (agree - agree.mean()) * 12, rows.index), rows["document"]
    )
    return Separation(kind, gap, one_sided(gap))


def fit_deferral(lines: pd.DataFrame, kind: Confidence, *, agreement: float, coverage: float) -> Deferral:
    """Return the threshold that keeps a new document's expected loss at or below (1 - agreement) * coverage.

    Parameters
    ----------
    lines : the result of ``judged_lines`` for scores that were learned on other documents:
        ``document``, ``agree``, ``score`` and the columns of the confidence.
    agreement, coverage : the goal, such as .85 agreement on .80 of the lines.

    Raises
    ------
    InputError
        If agreement or coverage is not between 0 and 1.
    """
    for name, value in (("agreement", agreement), ("coverage", coverage)):
        if not 0 < value < 1:
            raise InputError(f"The {name} is {value}: give a number between 0 and 1.")
    level = (1 - agreement) * coverage
    confidence = find_confidence(lines, kind)
    usable = ~(np.isnan(confidence) | lines["agree"].isna().to_numpy())
    document = pd.factorize(lines["document"])[0]
    n, size = int(document.max(initial=-1)) + 1, np.bincount(document)
    loss = np.where(usable, 1 - np.nan_to_num(lines["agree"].to_numpy(dtype=float)), 0.0) / size[document]
    order = np.argsort(-np.where(usable, confidence, -np.inf), kind="stable")[: int(usable.sum())]
    total = np.cumsum(loss[order])
    # a threshold keeps all lines with the same confidence, so only the last of them counts
    last = np.append(np.diff(confidence[order]) != 0, True) if len(order) else np.empty(0, dtype=bool)
    allowed = np.flatnonzero(last & ((total + 1) / (n + 1) <= level))
    if not len(allowed):
        told = f"No line can stay with the judge at the level {level:.3f} with {n} documents; by {THEOREM}."
        return Deferral(
            kind=kind, threshold=None, within=0, coverage=0, agreement=None, level=level, computed=told
        )
    kept = int(allowed[-1]) + 1
    share = float((1 / size[document[order[:kept]]]).sum() / n)
    promised = max(0.0, 1 - level / share)
    return Deferral(
        kind=kind,
        threshold=float(confidence[order[kept - 1]]),
        within=0,
        coverage=share,
        agreement=promised,
        level=level,
        computed=(
            f"In expectation at most {level:.3f} of a further document's lines stay with the judge and disagree with a "
            f"person, by {THEOREM}, with {n} documents; {share:.2f} of the lines stay, so "
            f"agreement on these is at least {promised:.3f}."
        ),
    )
