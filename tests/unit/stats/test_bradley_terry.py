"""Strengths from comparisons: what they are in closed form, when they are undefined, and that intervals cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coeval.stats.report.pairwise_strengths import ADDED, fit_strengths


def columns(rows: list[tuple[int, int, float, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    table = np.array(rows, dtype=float)
    first, second, document = (table[:, at].astype(np.int64) for at in (0, 1, 3))
    return first, second, table[:, 2], document


def test_two_systems_in_both_orders_have_the_log_odds_of_their_wins() -> None:
    # a beats b in 3 of 4 pairs of orders: 6 of 8 comparisons, balanced over the order; with half a win added each
    # way the odds are 6.5 to 2.5, and the strengths are half of their logarithm either side of 0
    rows = (
        [(0, 1, 1.0, d) for d in range(3)]
        + [(1, 0, 0.0, d) for d in range(3)]
        + [(0, 1, 0.0, 3), (1, 0, 1.0, 3)]
    )
    fitted = fit_strengths(*columns(rows), ["a", "b"])
    half = math.log((6 + ADDED) / (2 + ADDED)) / 2
    assert [float(one) for one in fitted.strengths] == pytest.approx([half, -half], abs=1e-6)
    assert float(fitted.first) == pytest.approx(0, abs=1e-6)
    assert (
        fitted.strengths[0].clusters == 4 and fitted.strengths[0].ci_low < half < fitted.strengths[0].ci_high
    )


def test_ties_are_half_a_win_and_the_order_is_told_apart_from_the_systems() -> None:
    assert [
        float(s) for s in fit_strengths(*columns([(0, 1, 0.5, d) for d in range(4)]), ["a", "b"]).strengths
    ] == [pytest.approx(0, abs=1e-9)] * 2
    # whoever is first wins 9 of 10 times: both systems are as strong, and the order is worth about log 9
    rows = [(a, 1 - a, 0.0 if d == 0 else 1.0, d) for d in range(10) for a in (0, 1)]
    fitted = fit_strengths(*columns(rows), ["a", "b"])
    assert float(fitted.strengths[0]) == pytest.approx(0, abs=1e-6)
    assert float(fitted.first) == pytest.approx(math.log(9), abs=1e-4)


def test_a_system_that_wins_everything_has_a_finite_strength() -> None:
    fitted = fit_strengths(
        *columns([(0, 1, 1.0, d) for d in range(5)] + [(1, 0, 0.0, d) for d in range(5)]), ["a", "b"]
    )
    assert float(fitted.strengths[0]) == pytest.approx(math.log((10 + ADDED) / ADDED) / 2, abs=1e-6)


def test_what_cannot_be_estimated_says_why() -> None:
    apart = fit_strengths(*columns([(0, 1, 1.0, 0), (2, 3, 0.0, 1)]), list("abcd"))
    assert "never compared" in (apart.strengths[0].reason or "")
    nothing = fit_strengths(*columns([(0, 1, 1.0, 0)][:0] or [(0, 1, 1.0, 0)]), ["a", "b"])
    assert nothing.strengths[0].defined and math.isnan(nothing.strengths[0].ci[0])
    empty = np.array([], dtype=np.int64)
    none = fit_strengths(empty, empty, np.array([]), empty, [])
    assert none.strengths == () and none.first.reason == "nothing was compared"


def test_intervals_cover_where_outputs_of_a_document_share_their_luck() -> None:
    """Simulated: 3 systems, 20 documents; what a system's output is worth varies by document, so that its comparisons
    of one document stand and fall together. 95% intervals over 400 draws: a share from .92 to .98 (two standard errors
    are .022)."""
    rng, truth = np.random.default_rng(3), np.array([0.6, 0.0, -0.6])
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    rows = [(a, b, d) for d in range(20) for a, b in pairs]
    first, second, document = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))

    # the strength that the model estimates is that of the average document, flattened by the luck: found by a long run
    def draw(n: int) -> tuple[np.ndarray, ...]:
        f, s, d = (np.tile(column, n) for column in (first, second, document))
        d = d + np.repeat(np.arange(n), len(document)) * 20
        worth = truth + rng.normal(0, 1, (20 * n, 3))
        chance = 1 / (1 + np.exp(-(worth[d, f] - worth[d, s] + 0.2)))
        return f, s, (rng.random(len(d)) < chance).astype(float), d

    expected = [float(one) for one in fit_strengths(*draw(400), ["a", "b", "c"]).strengths]
    covered = np.zeros(3)
    for _ in range(400):
        fitted = fit_strengths(*draw(1), ["a", "b", "c"])
        covered += [
            one.ci_low <= value <= one.ci_high for one, value in zip(fitted.strengths, expected, strict=True)
        ]
    assert ((covered / 400 >= 0.92) & (covered / 400 <= 0.98)).all(), covered / 400
