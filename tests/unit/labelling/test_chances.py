"""Labels of known chances: means without bias whatever the chances, and no worse than uniform by more than 5%."""

from __future__ import annotations

import numpy as np
import pytest

from coeval.extensions.labelling.chances import (
    ACTIVE,
    UNIFORM,
    allot,
    chances_so_far,
    drawn_difference,
    drawn_mean,
    places,
)


def world(rng: np.random.Generator, n: int = 600) -> tuple[np.ndarray, ...]:
    """Scores, the judge's scores, and its uncertainty, which is right; hard items score lower."""
    spread = np.exp(rng.normal(-0.7, 0.8, n))
    f = 3.5 - spread + rng.normal(0, 0.5, n)
    return f + 0.3 * spread + spread * rng.normal(0, 1, n), f, spread


def label(rng: np.random.Generator, chance: np.ndarray, labels: int) -> tuple[np.ndarray, np.ndarray]:
    place = places(chance, rng.random(len(chance)))
    done = np.zeros(len(chance), dtype=bool)
    done[np.argsort(place)[:labels]] = True
    return chances_so_far(chance, place, done)


@pytest.mark.parametrize("kind", [UNIFORM, ACTIVE])
@pytest.mark.parametrize("stopped", [40, 80])
def test_means_have_no_bias_wherever_the_labels_stop(kind: str, stopped: int) -> None:
    """The plain mean of active labels does: they lean to hard items."""
    rng = np.random.default_rng(1)
    y, f, spread = world(rng)
    chance = allot(kind, spread).chances(80)
    found = [drawn_mean(y, f, *label(rng, chance, stopped)) for _ in range(400)]
    error = np.std([float(one) for one in found]) / 20
    assert np.mean([float(one) for one in found]) == pytest.approx(y.mean(), abs=3 * error)
    if kind == ACTIVE:
        assert np.mean([one.plain for one in found]) < y.mean() - 3 * error


def test_active_labels_are_worth_more_where_the_uncertainty_is_right() -> None:
    rng = np.random.default_rng(2)
    y, f, spread = world(rng, 1000)
    errors = {}
    for kind in (UNIFORM, ACTIVE):
        chance = allot(kind, spread).chances(100)
        errors[kind] = np.std([float(drawn_mean(y, f, *label(rng, chance, 100))) for _ in range(400)])
    assert errors[ACTIVE] < 0.9 * errors[UNIFORM]


def test_a_useless_uncertainty_costs_at_most_a_twentieth_of_the_width() -> None:
    rng = np.random.default_rng(3)
    _, f, spread = world(rng, 1000)
    y = f + rng.normal(0, 0.7, 1000)
    drawn = allot(ACTIVE, spread)
    assert np.sqrt(drawn.cost) <= 1.05 and drawn.weight.min() > 0 and drawn.weight.mean() == pytest.approx(1)
    chance = drawn.chances(100)
    width = [drawn_mean(y, f, *label(rng, chance, 100)).se for _ in range(300)]
    even = [drawn_mean(y, f, *label(rng, np.full(1000, 0.1), 100)).se for _ in range(300)]
    assert np.mean(width) < 1.07 * np.mean(even)


def test_a_pilot_tells_a_useless_uncertainty() -> None:
    rng = np.random.default_rng(4)
    spread = np.exp(rng.normal(-0.7, 0.8, 800))
    errors = np.full(800, np.nan)
    errors[:300] = rng.normal(0, 0.7, 300)
    assert allot(ACTIVE, spread, errors=errors).cost < 1.03 < 1.09 < allot(ACTIVE, spread).cost
    errors[:300] = spread[:300] * rng.normal(0, 1, 300)
    assert allot(ACTIVE, spread, errors=errors).cost > 1.03


def test_chances_sum_to_the_labels_planned_and_reach_1_at_most() -> None:
    weight = np.array([20.0] + [0.5] * 99)
    drawn = allot(ACTIVE, weight)
    for labels in (1, 10, 60, 100):
        chance = drawn.chances(labels)
        assert chance.sum() == pytest.approx(labels) and chance.min() > 0 and chance.max() <= 1


def test_labels_after_a_gap_do_not_count() -> None:
    chance, place = np.full(5, 0.5), np.array([0.1, 0.4, 0.8, 1.0, 1.6])
    so_far, counted = chances_so_far(chance, place, np.array([True, True, False, True, True]))
    assert counted.tolist() == [True, True, False, False, False] and so_far.tolist() == [0.4] * 5
    so_far, counted = chances_so_far(chance, place, np.ones(5, dtype=bool))
    assert counted.all() and (so_far == 1).all(), "all items are labelled, so nothing was drawn"


def test_a_difference_of_systems_of_the_same_documents() -> None:
    rng = np.random.default_rng(6)
    document = np.repeat(np.arange(300), 2)
    second = np.tile([False, True], 300)
    y = rng.normal(0, 1, 300)[document] + 0.5 * second + rng.normal(0, 0.4, 600)
    f = y + rng.normal(0, 0.5, 600)
    truth = y[second].mean() - y[~second].mean()
    hits = []
    for _ in range(200):
        so_far, counted = label(rng, np.full(600, 0.25), 150)
        hits.append(drawn_difference(y, f, so_far, counted, second, ~second, clusters=document))
    assert np.mean([float(one) for one in hits]) == pytest.approx(truth, abs=0.03)
    assert np.mean([one.ci_low < truth < one.ci_high for one in hits]) > 0.9
    assert "no label" in drawn_difference(y, f, so_far, counted, second, second & ~second).reason


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: allot("eager", [0.1]), "cannot be drawn 'eager'"),
        (lambda: allot(ACTIVE, []), "no item"),
        (lambda: drawn_mean([1, 2], [1], [1, 1], [True, True]), "2 scores, 1 of the judge"),
        (lambda: drawn_mean([1.0], [1.0], [0.0], [True]), "has the probability 0"),
    ],
)
def test_what_cannot_be_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_two_labels_are_too_few() -> None:
    found = drawn_mean([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [0.5] * 3, [True, True, False])
    assert not found.defined and "fewer than 3" in found.reason
