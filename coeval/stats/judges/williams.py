"""Williams' test: two correlations that share a variable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate


@dataclass(frozen=True)
class WilliamsTest:
    """``t`` with ``df`` degrees of freedom, its p-values, and the ``difference`` of the two correlations.

    ``n_effective`` is what n independent items are worth, where items of one cluster are not independent.
    """

    t: Estimate
    df: float
    p_two_sided: float
    p_one_sided: float
    n: int
    n_effective: float
    difference: float
    reason: str | None


def williams_test(
    r12: float, r13: float, r23: float, n: int, *, n_effective: float | None = None
) -> WilliamsTest:
    """Williams' test of two correlations that share a variable: is r12 greater than r13?

    Parameters
    ----------
    r12, r13 : correlation of the shared variable (people) with each of two judges.
    r23 : correlation of the two judges.
    n : items all three were observed on.
    n_effective : how many independent items they are worth (``n`` over the design effect), where they come in clusters;
        the test then counts these in the place of n.

    Returns
    -------
    WilliamsTest
        ``df`` is n - 3; ``p_one_sided`` is small where r12 is greater; ``reason`` says why the test is undefined (n
        below 4, judges that agree perfectly), else None.

    Raises
    ------
    ValueError
        If a correlation lies outside -1 and 1.

    Source: Williams 1959; Steiger 1980, Tests for comparing elements of a correlation matrix, equation 7:

    >>> found = williams_test(0.4, 0.5, 0.1, 103)
    >>> round(found.t, 2), round(found.p_two_sided, 2)
    (-0.89, 0.37)
    """
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if abs(r) > 1 + 1e-12:
            raise ValueError(f"{name} is {r}, but a correlation lies between -1 and 1.")
    size = float(n) if n_effective is None else min(n_effective, float(n))
    reason = _williams_reason(r12, r13, r23, size)
    if reason:
        nothing = Estimate.undefined(reason)
        return WilliamsTest(nothing, size - 3, np.nan, np.nan, n, size, r12 - r13, reason)
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * max(k, 0.0) * (size - 1) / (size - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    t = float((r12 - r13) * np.sqrt((size - 1) * (1 + r23) / spread))
    return WilliamsTest(
        t=Estimate(t, n=n),
        df=size - 3,
        p_two_sided=2 * float(special.stdtr(size - 3, -abs(t))),
        p_one_sided=float(special.stdtr(size - 3, -t)),
        n=n,
        n_effective=size,
        difference=r12 - r13,
        reason=None,
    )


def _williams_reason(r12: float, r13: float, r23: float, n: float) -> str | None:
    if np.isnan([r12, r13, r23]).any():
        return "one of the correlations is undefined"
    if n < 4:
        return f"{n:.4g} items are too few; the test needs at least 4"
    if abs(r23) >= 1 - 1e-12:
        return "the two judges agree perfectly, or are exact opposites, so there is no difference to test"
    return None
