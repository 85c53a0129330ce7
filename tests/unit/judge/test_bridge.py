"""The bridge's formulas: known answers of links, restated means that cover, orders that are rarely called wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from coeval.extensions.judge.bridge import links
from coeval.extensions.judge.bridge.restated import Items, bridge_criterion, find_se, find_slope, tell_orders
from coeval.extensions.judge.bridge.schema import Design, Verdict
from tests.benchmarks.coverage import met, simulate
from tests.benchmarks.parts.bridge_cells import (
    Bridged,
    bridge_study,
    find_truth,
    find_wrong,
    list_bridge_cells,
)

ENDS = (1.0, 5.0)


def test_the_links_have_their_known_answers() -> None:
    """By hand: x has mean 2 and variance 2/3, y mean 4 and variance 8/3, cov 4/3 and 2/3 in the second case."""
    x = np.array([1.0, 2.0, 3.0])
    for kind in (links.LINEAR, links.MEAN_SIGMA):
        assert np.interp(2.5, *links.fit_link(kind, x, 2 * x, ENDS)) == pytest.approx(5.0)
    noisy = np.array([2.0, 6.0, 4.0])  # cov 2/3: slope 1; sd ratio 2
    assert np.interp(3.0, *links.fit_link(links.LINEAR, x, noisy, ENDS)) == pytest.approx(5.0)
    assert np.interp(3.0, *links.fit_link(links.MEAN_SIGMA, x, noisy, ENDS)) == pytest.approx(6.0)
    assert links.fit_link(links.ISOTONIC, x, noisy, ENDS)[1].tolist() == [2.0, 5.0, 5.0]
    falling = links.fit_link(links.LINEAR, x, -x, ENDS)[1]
    assert falling.tolist() == [-2.0, -2.0], "a link never falls"


def test_equipercentile_equating_maps_a_distribution_onto_the_other() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(1, 6, 4000).astype(float), rng.normal(10, 2, 4000)
    linked = np.interp(x, *links.fit_link(links.EQUIPERCENTILE, x, y, ENDS))
    assert linked.mean() == pytest.approx(10, abs=0.1) and np.corrcoef(x, linked)[0, 1] > 0.97


def test_the_slope_within_systems_is_that_of_quality_in_spite_of_the_judge_s_noise() -> None:
    rng = np.random.default_rng(2)
    system, document = (place.ravel() for place in np.indices((8, 400)))
    quality = system / 4.0 + rng.normal(0, 1, 400)[document] + rng.normal(0, 0.5, len(system))
    x, y = quality / 2 + rng.normal(0, 0.5, len(system)), quality + rng.normal(0, 0.5, len(system))
    slope = find_slope(x, y, system, document)
    assert slope == pytest.approx(2.0, abs=0.1)
    assert np.cov(x, y)[0, 1] / x.var() < 1.7, "which the plain regression misses"


def make_items(anchors: int, systems: int = 3) -> Items:
    items_by = np.indices((30, systems))
    document, system = (place.ravel() for place in items_by)
    rng = np.random.default_rng(3)
    old = rng.integers(1, 6, len(document)).astype(float)
    people = np.where(document < anchors, old + rng.normal(0, 0.5, len(document)), np.nan)
    return Items(document.tolist(), [f"s{n}" for n in system], old, old, people)


def test_the_anchors_decide_the_design_and_too_few_are_refused_with_the_reason() -> None:
    assert bridge_criterion("c", make_items(10)).design is Design.PEOPLE
    assert bridge_criterion("c", make_items(9)).design is Design.COMMON
    apart = replace(make_items(9), new=np.full(90, np.nan))
    refused = bridge_criterion("c", apart)
    assert refused.design is Design.NONE and not refused.systems
    assert (
        "anchors from 10 documents: people scored outputs of the old judge in 9 and of the new judge in 0"
        in refused.reason
    )


def test_no_sample_gives_a_standard_error_of_0() -> None:
    """A judge that is always right where people looked has no interval if every output has the same score."""
    assert np.isnan(find_se(np.array([3.0, 3.0, 3.0]))) and np.isnan(find_se(np.array([3.0])))
    same = make_items(12)
    flat = replace(
        same, old=np.full(90, 3.0), new=np.full(90, 3.0), people=np.where(np.isnan(same.people), np.nan, 3.0)
    )
    (told,) = tell_orders([bridge_criterion("c", flat)])
    assert all(mean.restated.value == 3.0 and not mean.restated.bounded for mean in told.systems)
    assert all(mean.restated.reason for mean in told.systems)
    assert {pair.verdict for pair in told.pairs} == {Verdict.UNTOLD}


def test_a_system_without_anchors_has_an_interval_only_if_three_others_show_the_link_s_error() -> None:
    for systems, bounded in ((3, False), (4, True)):
        items = make_items(15, systems)
        last = np.array(items.system) == f"s{systems - 1}"
        told = bridge_criterion("c", replace(items, people=np.where(last, np.nan, items.people)))
        assert not told.systems[-1].corrected and told.systems[-1].restated.bounded is bounded
        assert bounded or "unknown how well the link carries over" in told.systems[-1].restated.reason


def test_the_number_of_anchors_that_would_tell_an_order_does_tell_it() -> None:
    """In studies with that many anchors, most tell the order of two systems that differ by as much."""
    design = Bridged(400, 15, (2.85, 3.15))
    rng = np.random.default_rng(4)
    studies = [bridge_study(design, rng)[0] for _ in range(12)]
    enough = [pair.enough for one in studies for pair in one.pairs if pair.enough]
    assert enough and all(number > 5 for number in enough)
    middle = int(np.median([number for number in enough if number < 400]))
    again = [bridge_study(replace(design, anchors=min(2 * middle, 400)), rng)[0] for _ in range(12)]
    told = [pair.verdict is not Verdict.UNTOLD for one in again for pair in one.pairs]
    assert np.mean(told) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "make"), list_bridge_cells())
def test_bridge_cells_reach_their_goals_quickly(
    goal: tuple[float, float], make: partial[Callable[[np.random.Generator], object]]
) -> None:
    for cell, (rate, n) in simulate(make(), 25, seed=5).items():  # type: ignore[arg-type]
        assert met(rate, min(n, 80), goal), (cell, rate)


@pytest.mark.slow
def test_a_pair_is_rarely_called_flipped_wrongly() -> None:
    design = Bridged(100, 20, (3.0,) * 6)
    truth, rng = find_truth(design), np.random.default_rng(6)
    wrong = [find_wrong(*bridge_study(design, rng), truth) for _ in range(40)]
    assert np.mean(wrong) <= 0.05 and np.mean([any(each) for each in wrong]) <= 0.2
