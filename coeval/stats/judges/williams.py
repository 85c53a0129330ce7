"""Williams' test: two correlations that share a variable."""

from __future__ import annotations

import numpy as np

from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate, Result


def williams_test(r12: float, r13: float, r23: float, n: int) -> Result:
    """Williams' test of two correlations that share a variable: is r12 greater than r13?

    Parameters
    ----------
    r12, r13 : correlation of the shared variable (people) with each of two judges.
    r23 : correlation of the two judges.
    n : items all three were observed on.

    Returns
    -------
    Result
        ``t``, ``df`` (n - 3), ``p_two_sided``, ``p_one_sided`` (small where r12 is greater), ``n``, and
        ``reason`` where the test is undefined (n below 4, judges that agree perfectly); else None.

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
    reason = _williams_reason(r12, r13, r23, n)
    if reason:
        return Result(
            t=Estimate.undefined(reason),
            df=n - 3,
            p_two_sided=np.nan,
            p_one_sided=np.nan,
            n=n,
            difference=r12 - r13,
            reason=reason,
        )
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * max(k, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    t = float((r12 - r13) * np.sqrt((n - 1) * (1 + r23) / spread))
    return Result(
        t=Estimate(t, n=n),
        df=n - 3,
        p_two_sided=2 * float(special.stdtr(n - 3, -abs(t))),
        p_one_sided=float(special.stdtr(n - 3, -t)),
        n=n,
        difference=r12 - r13,
        reason=None,
    )


def _williams_reason(r12: float, r13: float, r23: float, n: int) -> str | None:
    if np.isnan([r12, r13, r23]).any():
        return "one of the correlations is undefined"
    if n < 4:
        return f"{n} items are too few; the test needs at least 4"
    if abs(r23) >= 1 - 1e-12:
        return "the two judges agree perfectly, or are exact opposites, so there is no difference to test"
    return None
