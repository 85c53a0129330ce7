"""Drift: how often a false alarm is raised, and whether a change is found, on simulated answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coeval.extensions.judge.runtime.drift import Answers, find_drift


def simulate(seed: int, *, shift: float = 0.0, spread: float = 1.0, old: int = 2, new: int = 2) -> float:
    """The p-value of 40 questions, whose answers scatter around their own means."""
    rng = np.random.default_rng(seed)
    answers = []
    for number in range(40):
        mean = rng.uniform(2, 4)
        then = np.clip(np.round(mean + rng.normal(0, 1, old)), 1, 5)
        now = np.clip(np.round(mean + shift + rng.normal(0, spread, new)), 1, 5)
        answers.append(Answers(str(number), tuple(then), tuple(now), 4.0))
    return find_drift(answers).p_value


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [(1, 1), (1, 2), (2, 2)])
def test_a_false_alarm_is_as_rare_as_stated(old: int, new: int) -> None:
    """Of 60 at .05 more than 7 are one in a hundred."""
    assert sum(simulate(seed, old=old, new=new) <= 0.05 for seed in range(60)) <= 7


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [(1, 2), (2, 2), (5, 5)])
def test_the_least_shift_that_is_found_is_the_one_that_is_told(old: int, new: int) -> None:
    """At the shift that is told about 80 of 100 are found: fewer than 65 or more than 95 come out once in 4,000."""

    def answers(seed: int, fall: float) -> list[Answers]:
        rng = np.random.default_rng(seed)
        means = rng.uniform(2, 4, 60)
        return [
            Answers(str(n), tuple(rng.normal(mean, 0.7, old)), tuple(rng.normal(mean - fall, 0.7, new)), 4.0)
            for n, mean in enumerate(means)
        ]

    least = find_drift(answers(0, 0.0)).find_least(0.01)
    found = sum(find_drift(answers(seed, 4 * least)).shown(0.01) for seed in range(1, 101))
    assert 65 <= found <= 95
    half = sum(find_drift(answers(seed, 2 * least)).shown(0.01) for seed in range(1, 101))
    assert half <= 40, "half of it is mostly missed"


@pytest.mark.slow
def test_a_shift_is_found_and_so_are_answers_that_scatter_otherwise() -> None:
    assert all(simulate(seed, shift=-1.2) <= 0.01 for seed in range(10))
    found = sum(simulate(seed, spread=0.1, old=4, new=4) <= 0.01 for seed in range(10))
    assert found >= 9, "without a shift, by the energy distance"


def test_a_changed_model_that_always_says_the_same_is_found_without_a_shift() -> None:
    """At temperature 0 two new answers agree with each other and not with the old one."""
    same = [Answers(str(n), (3.0,), (3.0, 3.0)) for n in range(30)]
    other = [Answers(str(n), (3.0,), (4.0, 4.0) if n % 2 else (2.0, 2.0)) for n in range(30)]
    assert find_drift(same).p_value == 1.0
    told = find_drift(other)
    assert told.p_value <= 0.01 and told.shift == 0 and told.questions == 30


def test_answers_that_came_together_are_dealt_together_and_unread_ones_are_left_out() -> None:
    """Forty criteria in one answer are one answer: they cannot show a drift by themselves."""
    together = [Answers("one", (3.0, 3.0), (4.0, 4.0)) for _ in range(40)]
    assert find_drift(together).p_value > 0.3
    nothing = find_drift([Answers("a", (3.0,), (math.nan,))])
    assert nothing.p_value == 1.0 and nothing.shift == 0.0
    assert find_drift([]).p_value == 1.0
