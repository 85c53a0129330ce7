"""A fast slice of the benchmark ``coverage``: the rates that intervals and tests promise, with fewer draws.

Rates of 120 draws scatter by two in a hundred, so a wide band tells only what is plainly wrong: before clusters
counted, the first of these covered in .42 to .79 of the draws.
"""

from __future__ import annotations

import pytest

from tests.benchmarks.coverage import (
    Design,
    agreement_cells,
    alt_cells,
    coefficient_cells,
    judge_cells,
    prediction_cells,
    pull_cells,
    simulate,
)

COVERING = {
    "agreement": agreement_cells("12 documents", Design(12)),
    "coefficients": coefficient_cells(20),
    "prediction": prediction_cells(10),
}
ERRING = {
    "judges": judge_cells(20, "document"),
    "alt-test": alt_cells(40),
    "alt-test, split": alt_cells(40, split=0.1),
    "alt-test, unequal": alt_cells(15, split=0.5, unequal=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COVERING)
def test_intervals_cover(name: str) -> None:
    for cell, (rate, _) in simulate(COVERING[name], 120).items():
        assert 0.87 <= rate <= 1, (cell, rate)


@pytest.mark.slow
@pytest.mark.parametrize("name", ERRING)
def test_tests_err_as_rarely_as_they_promise(name: str) -> None:
    for cell, (rate, _) in simulate(ERRING[name], 120).items():
        assert rate <= 0.12, (cell, rate)


@pytest.mark.slow
def test_effects_cover_other_people_too() -> None:
    for cell, (rate, _) in simulate(pull_cells(6), 40).items():
        assert rate >= 0.85, (cell, rate)
