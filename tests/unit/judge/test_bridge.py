"""The bridge's formulas: known answers of links, restated means that cover, orders that are rarely called wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtr

from coeval.extensions.judge.bridge import links
from coeval.extensions.judge.bridge.restated import Items, bridge_criterion, find_se, find_slope, tell_orders
from coeval.extensions.judge.bridge.schema import Bridge, BridgedJudge, Design, Verdict
from coeval.extensions.judge.runtime.across import join_across
from coeval.extensions.judge.runtime.gate import Outcome, Terms, hold_gate, tell_basis
from tests.benchmarks.coverage import met, simulate
from tests.benchmarks.parts.bridge_cells import (
    Bridged,
    bridge_study,
    list_bridge_cells,
)
from tests.support.studies.gate_simulation import JUDGE

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


def make_bridge(design: Bridged, rng: np.random.Generator, new: str = "new") -> Bridge:
    found, _ = bridge_study(design, rng)
    named = found.model_copy(update={"criterion": JUDGE.criteria[0].text})
    ends = [BridgedJudge(name=name, models=(), hash="") for name in ("old", new)]
    return Bridge(made_at="", task="t", old=ends[0], new=ends[1], by_criterion=(named,))


def draw_across(design: Bridged, rng: np.random.Generator, shift: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of a new system by the new judge, and of an old system of middling quality by the old judge."""
    fresh = replace(design, centres=(3.0, 3.0 + shift)).draw(rng, 150)
    tables = [
        pd.DataFrame(
            {"instance": [f"{n}{name}" for n in range(150)], "document": [f"x{n}" for n in range(150)],
             "system": name, "criterion": JUDGE.criteria[0].text, "raw": scores}
        )
        for name, scores in (("new", fresh["new"][:, 1]), ("old", fresh["old"][:, 0]))
    ]  # fmt: skip
    return tables[0], tables[1]


@pytest.mark.parametrize(("shift", "expected"), [(1.3, Outcome.HELD), (-1.6, Outcome.REGRESSION)])
def test_the_gate_compares_a_new_system_with_one_that_only_the_old_judge_scored(
    shift: float, expected: Outcome
) -> None:
    design, rng = Bridged(150, 60, (2.4, 2.7, 3.0, 3.2, 3.4, 3.0)), np.random.default_rng(8)
    bridge = make_bridge(design, rng)
    new, old = draw_across(design, rng, shift)
    table = join_across(new, old, bridge)
    plain = hold_gate(table, JUDGE, Terms("new", "old", -0.1)).lines[0].difference
    gate = hold_gate(table, JUDGE, Terms("new", "old", -0.1), bridge)
    assert gate.outcome is expected, str(gate)
    assert gate.lines[0].difference.se > 1.1 * plain.se and 5 <= gate.lines[0].difference.df < 60
    assert "scored by the retired judge “old”" in tell_basis(gate, JUDGE, bridge)


def test_the_gate_says_why_it_cannot_compare_across_a_bridge() -> None:
    rng = np.random.default_rng(9)
    design = Bridged(60, 20, (3.0, 3.2))
    bridge = make_bridge(design, rng)
    table = join_across(*draw_across(design, rng, 1.0), bridge)
    gate = hold_gate(table, JUDGE, Terms("new", "old", -0.1), bridge)
    assert gate.outcome is Outcome.UNDECIDED and "fewer than three systems have anchors" in gate.lines[0].why


def test_three_systems_are_enough_for_a_verdict_across_a_bridge() -> None:
    """Links of three systems leave two degrees of freedom to a part of the variance, not to all of it."""
    design, rng = Bridged(150, 60, (2.95, 3.0, 3.05)), np.random.default_rng(14)
    bridge = make_bridge(design, rng)
    table = join_across(*draw_across(design, rng, 0.58), bridge)
    (line,) = hold_gate(table, JUDGE, Terms("new", "old", -0.1), bridge).lines
    t = (line.difference.value + 0.1) / line.difference.se
    assert line.outcome is Outcome.HELD and stdtr(2, -t) > 0.05, str(line)
