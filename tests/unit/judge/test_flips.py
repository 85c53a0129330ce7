"""How often a verdict changes between runs: known answers, and simulations in which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from coeval.extensions.judge.model.equivalence import flip_rate


def simulate(
    seed: int, documents: int = 40, systems: int = 2, answers: int = 3
) -> tuple[list[list[float]], list[int]]:
    """Items whose chance to pass depends on their document and themselves; answers are 0 or 1."""
    rng = np.random.default_rng(seed)
    items, names = [], []
    for document in range(documents):
        middle = rng.beta(0.6, 0.6)
        for _ in range(systems):
            chance = np.clip(middle + rng.uniform(-0.1, 0.1), 0, 1)
            items.append((rng.random(answers) < chance).astype(float).tolist())
            names.append(document)
    return items, names


def true_rate() -> float:
    rng = np.random.default_rng(0)
    chance = np.clip(rng.beta(0.6, 0.6, 2_000_000) + rng.uniform(-0.1, 0.1, 2_000_000), 0, 1)
    return float((2 * chance * (1 - chance)).mean())


def test_two_answers_flip_where_they_fall_on_both_sides() -> None:
    scores = [[1, 5], [5, 5], [3, 3], [2, 4]]
    assert float(flip_rate(scores, 3)) == 0.5 and float(flip_rate(scores, 5)) == 0.25
    assert float(flip_rate(scores, 0)) == 0.0 == float(flip_rate(scores, 6))
    one = flip_rate([[3], [], [4]], 3)
    assert not one.defined and one.reason == "no item has two answers or more"


def test_a_judge_that_never_changed_its_verdict_is_not_said_never_to_change_it() -> None:
    steady = flip_rate([[4, 4, 4]] * 60, 3, list(range(60)))
    assert float(steady) == 0.0 and steady.ci_high == pytest.approx(1 - 0.025 ** (1 / 60))
    assert flip_rate([[4, 4, 4]] * 60, 3, [0] * 30 + [1] * 30).ci_high > 0.8, "two documents tell little"


@pytest.mark.parametrize("answers", [2, 5])
def test_it_is_unbiased_and_its_interval_covers_the_truth(answers: int) -> None:
    """Of 200 intervals of 95% fewer than 178 cover with a chance of one in a thousand."""
    truth = true_rate()
    found = [
        flip_rate(items, 0.5, names) for items, names in (simulate(s, answers=answers) for s in range(200))
    ]
    assert float(np.mean(found)) == pytest.approx(truth, abs=0.01)
    assert sum(one.ci_low <= truth <= one.ci_high for one in found) >= 178
