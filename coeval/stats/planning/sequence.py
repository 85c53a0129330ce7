"""An interval that holds however often one looks: for a study that stops when it knows enough."""

from __future__ import annotations

import numpy as np

from coeval.stats.estimates.later import special

FIRST = 10
"""Under this many documents a sequence has not begun: its width is infinite."""


def sequence_width(se: float, documents: int, planned: int, confidence: float = 0.95) -> float:
    """Half the width of a confidence sequence: with the given chance it holds the truth at every look at once.

    An asymptotic confidence sequence with the normal mixture's boundary, as many documents as ``planned`` being where
    it is narrowest; widened as Student's t is against the normal, since the error is estimated from few documents.

    Parameters
    ----------
    se : the standard error over the documents there are (the jackknife's); their number is ``documents``.
    planned : how many documents the study plans for.

    Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, Time-uniform central limit theory and asymptotic
    confidence sequences, theorem 2.2.

    >>> round(sequence_width(0.1, 40, 40), 3), sequence_width(0.1, 5, 40)
    (0.313, inf)
    """
    if documents < FIRST or np.isnan(se):
        return float("inf")
    alpha = 1 - confidence
    tuned = (-2 * np.log(alpha) + np.log(-2 * np.log(alpha)) + 1) / max(planned, FIRST)
    grown = documents * tuned + 1
    boundary = np.sqrt(2 * grown / (documents**2 * tuned) * np.log(np.sqrt(grown) / alpha))
    tail = 1 - alpha / 2
    wide = special.stdtrit(documents - 1, tail) / special.ndtri(tail)
    return float(se * np.sqrt(documents) * boundary * wide)
