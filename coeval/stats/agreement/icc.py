"""Intraclass correlations and their mean squares, also for incomplete ratings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from coeval.stats.agreement.unit_kinds import MANY, PLUS_TWO, WORTH, UnitKinds
from coeval.stats.clusters import Clusters, jackknife_interval, parse_clusters
from coeval.stats.estimates import CONFIDENCE, Estimate
from coeval.stats.rating_matrix import Codes, Numbers, Ratings, RatingsLike, parse_ratings

NOTHING = 1e-9
"""The largest rounding error of a number of ratings."""

NO_MEANS, ALL_SAME = "the units' means do not vary", "every rating is the same"

FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(2,k)")


def icc(ratings: RatingsLike, *, clusters: Any = None) -> dict[str, Estimate]:
    """Return three intraclass correlations with intervals.

    Parameters
    ----------
    ratings : annotators x units (judges x targets), numbers, nan if missing.
    clusters : the cluster label of each unit. By default, every unit is a cluster.

    Returns
    -------
    dict
        ``{"ICC(1,1)": Estimate, ...}``. Each has an interval that leaves out clusters (``jackknife_interval``),
        ``f``, ``df1``, ``df2``, ``p_value`` and ``n_units``, ``n_annotators``, ``k`` (ratings per unit). (1,1) is
        one-way random, (2,.) two-way random, absolute agreement; (.,1) of one rating, (.,k) of the mean of k.

    If ratings are missing, the mean squares come from the fitted additive model (Henderson's method 3), with the
    effective numbers of ratings and units in place of k and n; ``complete`` is then False. Complete tables give exactly
    the published forms.

    Source: Shrout and Fleiss 1979, Intraclass correlations: uses in assessing rater reliability, table 4:

    >>> judges = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> {name: round(value, 2) for name, value in icc(judges).items()}
    {'ICC(1,1)': 0.17, 'ICC(2,1)': 0.29, 'ICC(2,k)': 0.62}
    """
    data = parse_ratings(ratings)
    if not data.numeric and len(data.code):
        raise ValueError(f"ICC needs numbers, but the ratings hold {data.categories[0]!r}.")
    whole = sum_up(data)
    return _spread(_all_forms(whole), whole, data, parse_clusters(clusters, data.n_units))


def _spread(
    forms: dict[str, Estimate], whole: Sums, data: Ratings, clusters: Clusters
) -> dict[str, Estimate]:
    """Return the forms with intervals that leave out clusters, or groups of clusters."""
    if not any(value.defined for value in forms.values()):
        return forms
    group, kind = clusters.groups(), clusters.kind
    total, parts = _sums_with_two_units(data, whole, group, clusters)
    about = _all_forms(total)
    without = [_all_forms(total.plus(part, -1.0)) for part in parts]
    spread_forms = {}
    for name, value in forms.items():
        values, middle = np.array([part[name] for part in without]), float(about[name])
        spread = jackknife_interval(middle, values, kind, n=clusters.n)
        del spread["p_value"], spread["bias"]
        spread |= {
            "ci_low": float(np.minimum(spread["ci_low"], value)),
            "ci_high": float(np.clip(spread["ci_high"], value, 1.0)),
        }
        if total is not whole:
            spread["interval_kind"] += PLUS_TWO
        spread_forms[name] = value.having(**spread) if value.defined else value
    return spread_forms


SYMMETRIC = 0.5
"""The weight of the two added units, as a share of ``WORTH``, if scores are not skewed.

With a share of 1, intervals cover up to .99; with 0, .90 on a binary scale and on seven skewed points.
"""


def _sums_with_two_units(
    data: Ratings, whole: Sums, group: Codes, clusters: Clusters
) -> tuple[Sums, Iterator[Sums]]:
    """Return the sums of all units and of each group, with two units added as in ``UnitKinds.two_units``.

    The correlation depends on rare scores, which are often missing if there are few units and the scale is
    skewed. Near-continuous scores have no rarest score, so no unit is added.
    """
    groups = int(group.max(initial=-1)) + 1
    paired = data.per_unit > 1
    if len(data.categories) > MANY or not paired.any():
        return whole, sums_of_groups(data, group, groups)
    units = UnitKinds.of(data, paired, Clusters(clusters.code[paired], clusters.kind))
    rows = units.two_units().astype(np.int64)
    worth = WORTH if units.is_skewed else SYMMETRIC * WORTH
    # as if rated by the people with most ratings, because they share units with others
    busiest = np.argsort(-np.bincount(data.annotator, minlength=data.n_annotators), kind="stable")
    of_unit, code = (np.repeat(place.ravel(), rows.ravel()) for place in np.indices(rows.shape))
    person = busiest[np.concatenate([np.arange(size) for size in rows.sum(axis=1)])]
    more = Ratings(
        data.annotators,
        range(data.n_units + 2),
        data.categories,
        np.concatenate([data.annotator, person]),
        np.concatenate([data.unit, data.n_units + of_unit]),
        np.concatenate([data.code, code]),
    )
    added = sums_of_groups(more, np.concatenate([group + 2, [0, 1]]), groups + 2)
    two = [next(added).times(worth) for _ in range(2)]
    total = sum_up(more)
    for unit_sums in two:
        total = total.plus(unit_sums, 1 - 1 / worth)
    return total, chain(two, added)


@dataclass(frozen=True)
class Squares:
    """Mean squares between units, within units (one-way), between raters, and of error; k and n are effective."""

    between: float
    within: float
    raters: float
    error: float
    k: float
    n: float
    df_between: float
    df_within: float
    df_error: float


@dataclass(frozen=True, eq=False)
class Sums:
    """Additive sums behind the mean squares, for units with at least two ratings.

    Scores are centred on the overall mean, which only reduces rounding errors.
    """

    n: float
    """The number of units. Units that are added for an interval count less than one."""
    size: float
    """The number of ratings."""
    total: float
    squares: float
    of_units: float
    """The sum of T_u^2 / k_u, where T_u is the sum of a unit's k_u scores."""
    sizes_squared: float
    raters: Numbers
    """T_r, the sum of each rater's scores."""
    rater_sizes: Numbers
    expected: Numbers
    """The sum of T_u / k_u over each rater's units."""
    shared: Numbers
    """N' diag(1 / k_u) N: the overlap of each two raters' units."""

    def plus(self, part: Sums, times: float) -> Sums:
        """Return the sums plus ``times`` the sums ``part``; -1 removes ``part``."""
        return Sums(
            *(getattr(self, entry.name) + times * getattr(part, entry.name) for entry in fields(self))
        )

    def times(self, worth: float) -> Sums:
        """Return the sums as if each unit counted for ``worth``."""
        return Sums(*(worth * getattr(self, entry.name) for entry in fields(self)))


def sum_up(data: Ratings) -> Sums:
    """Return the sums of all ratings."""
    return next(sums_of_groups(data, np.zeros(data.n_units, dtype=np.int64), 1))


def sums_of_groups(data: Ratings, group: Codes, groups: int) -> Iterator[Sums]:
    """Yield the sums for each group of units, one group at a time to save memory.

    ``group`` is each unit's group.
    """
    sizes = np.where(data.per_unit > 1, data.per_unit, 0)
    if (data.per_unit == 1).any():
        data = data.where(sizes[data.unit] > 0)
    rater, unit, raters = data.annotator, data.unit, data.n_annotators
    y = data.numbers[data.code]
    y -= y.mean() if len(y) else 0.0
    of_unit = np.bincount(unit, y, data.n_units)
    means, unit_group = of_unit / np.maximum(sizes, 1), group[unit]
    cell = unit_group * raters + rater

    def over(table: Numbers) -> Numbers:
        return np.asarray(np.bincount(cell, table, groups * raters).reshape(groups, raters), dtype=float)

    ratings = scipy.sparse.csr_matrix((np.ones(len(rater)), (rater, unit)), shape=(raters, data.n_units))
    shares = (1 / np.maximum(sizes, 1))[unit]
    split = scipy.sparse.csr_matrix((shares, (cell, unit)), shape=(groups * raters, data.n_units))
    columns = (
        np.bincount(group[sizes > 0], minlength=groups),
        np.bincount(unit_group, minlength=groups),
        np.bincount(unit_group, y, groups),
        np.bincount(unit_group, y * y, groups),
        np.bincount(group, of_unit * means, groups),
        np.bincount(group, sizes**2, groups).astype(np.int64),
        over(y),
        np.bincount(cell, minlength=groups * raters).reshape(groups, raters),
        over(means[unit]),
    )
    shared = (split @ ratings.T).tocsr()
    for n, parts in enumerate(zip(*columns, strict=True)):
        whole: tuple[Any, ...] = (*parts, shared[n * raters : (n + 1) * raters].toarray())
        yield Sums(*whole)


def _all_forms(sums: Sums) -> dict[str, Estimate]:
    n, raters = float(sums.n), int(np.count_nonzero(sums.rater_sizes > NOTHING))
    basics = {
        "n": int(n),
        "n_units": int(n),
        "n_annotators": raters,
        "complete": sums.size == n * raters,
        "k": sums.size / n if n else np.nan,
        "confidence": CONFIDENCE,
    }
    if n < 2:
        return dict.fromkeys(FORMS, Estimate.undefined("fewer than two units have two ratings", **basics))
    one_way, two_way = _one_way(sums), two_way_squares(sums)
    forms = {"ICC(1,1)": _single(one_way)}
    if isinstance(two_way, str):
        forms |= dict.fromkeys(("ICC(2,1)", "ICC(2,k)"), Estimate.undefined(two_way))
    else:
        forms |= _absolute(two_way)
    return {form: forms[form].having(**basics) for form in FORMS}


def _one_way(sums: Sums) -> Squares:
    n, size = float(sums.n), float(sums.size)
    between = _settled(float(sums.of_units - sums.total**2 / size), float(sums.squares))
    within = _settled(float(sums.squares - sums.of_units), float(sums.squares))
    k = float(size - sums.sizes_squared / size) / (n - 1)
    mean_within = within / (size - n)
    return Squares(between / (n - 1), mean_within, 0.0, mean_within, k, n, n - 1, size - n, size - n)


def raters_equations(sums: Sums) -> tuple[NDArray[np.bool_], Numbers, Numbers]:
    """Return the mask of active raters, and their C and q (see ``two_way_squares``)."""
    there = sums.rater_sizes > NOTHING
    equations = np.diag(sums.rater_sizes[there]) - sums.shared[np.ix_(there, there)]
    return there, equations, (sums.raters - sums.expected)[there]


def two_way_squares(sums: Sums) -> Squares | str:
    """Return the mean squares of the additive model of units and raters, or the reason that they are undefined.

    q = T_r - sum_u n_ur T_u / k_u and C = diag(n_r) - N' diag(1 / k_u) N are the raters' equations adjusted for
    units. Without missing ratings they reduce to the usual sums of squares.
    """
    there, equations, right = raters_equations(sums)
    n, size, raters, rater_sizes = float(sums.n), float(sums.size), int(there.sum()), sums.rater_sizes[there]
    # the rank is the number of raters minus the number of their groups, which is quicker to count
    if scipy.sparse.csgraph.connected_components(equations < -NOTHING, directed=False)[0] > 1:
        return "the annotators fall into groups that share no unit"
    df_error = size - n - raters + 1
    if raters < 2 or df_error < 1:
        return "too few ratings for both units and annotators"
    # the raters' equations sum to 0, so one is left out: a pseudo-inverse would have to guess
    # which singular value is 0
    ss_raters = float(right[1:] @ np.linalg.solve(equations[1:, 1:], right[1:]))
    total, ss_units = float(sums.squares), float(sums.of_units)
    error = _settled(total - ss_units - ss_raters, total) / df_error
    of_raters = float((sums.raters[there] ** 2 / rater_sizes).sum())
    ss_units_adjusted = _settled(ss_units + ss_raters - of_raters, total)
    return Squares(
        ss_units_adjusted / (n - 1),
        error,
        ss_raters / (raters - 1),
        error,
        (size - raters) / (n - 1),
        (size - n) / (raters - 1),
        n - 1,
        df_error,
        df_error,
    )


def _settled(difference: float, total: float) -> float:
    """Return a sum of squares that is a difference of larger sums, with rounding errors set to 0."""
    return difference if difference > 1e-12 * total else 0.0


def _f_test(squares: Squares) -> dict[str, float]:
    f = squares.between / squares.within if squares.within > 0 else np.inf
    return {
        "f": f,
        "df1": squares.df_between,
        "df2": squares.df_within,
        "p_value": float(scipy.special.fdtrc(squares.df_between, squares.df_within, f)),
    }


def _without_spread(squares: Squares) -> str:
    return NO_MEANS if max(squares.between, squares.raters, squares.error) > 0 else ALL_SAME


def _single(squares: Squares) -> Estimate:
    if squares.between <= 0 and squares.within <= 0:
        return Estimate.undefined(_without_spread(squares))
    k = squares.k
    value = (squares.between - squares.within) / (squares.between + (k - 1) * squares.within)
    return Estimate(value, **_f_test(squares))


def _absolute(s: Squares) -> dict[str, Estimate]:
    """Return ICC(2,1) and ICC(2,k)."""
    scale = s.between + s.k * (s.raters + s.error)
    bottom = _settled(s.between + (s.k - 1) * s.error + s.k * (s.raters - s.error) / s.n, scale)
    if not bottom > 0:
        return dict.fromkeys(("ICC(2,1)", "ICC(2,k)"), Estimate.undefined(_without_spread(s)))
    single = (s.between - s.error) / bottom
    spread, test = _settled(s.between + (s.raters - s.error) / s.n, scale), _f_test(s)
    mean = (s.between - s.error) / spread if spread > 0 else np.nan
    return {
        "ICC(2,1)": Estimate(single, **test),
        "ICC(2,k)": Estimate(mean, reason=None if spread > 0 else NO_MEANS, **test),
    }
