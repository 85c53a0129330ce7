"""The audit recovers what a simulated judge is known to do: false accepts, calibration, labels saved, biases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coeval.domain import Scale
from coeval.extensions.judge.learning.audit import (
    audit_judge,
    count_labels,
    share_of,
    tell_audit,
)
from coeval.extensions.judge.learning.biases import PAIR, find_biases
from coeval.extensions.judge.model.labels import Labels

RIGHT = "Be right."
NO_PAIRS = pd.DataFrame(columns=[*PAIR, "preference"])


def make_labels(n: int = 600, seed: int = 1, sharpness: float = 1.0, boost: float = 0.0) -> Labels:
    """A pass/fail judge whose probability p is right if ``sharpness`` is 1: people pass with probability p.

    Otherwise, it says p after its logit was multiplied. ``boost`` is added for every output with a list.
    """
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 1.5, n)
    passed = rng.random(n) < 1 / (1 + np.exp(-logit))
    listed = np.arange(n) % 2 == 0
    said = 1 / (1 + np.exp(-(sharpness * logit + boost * listed)))
    names = [f"i{k}" for k in range(n)]
    people = pd.DataFrame({"instance": names, "document": [f"d{k // 2}" for k in range(n)],
                           "system": ["gpt-x" if k % 4 < 2 else "other" for k in range(n)], "criterion": RIGHT,
                           "person": "one", "score": passed * 1.0})  # fmt: skip
    judge = pd.DataFrame(
        {"instance": names, "criterion": RIGHT, "judge": "a", "score": said, "spread": np.nan}
    )
    judge["probabilities"] = [(1 - p, p) for p in said]
    twin = judge.assign(judge="b", score=np.clip(said + 0.01, 0, 1))
    return Labels(people, pd.concat([judge, twin], ignore_index=True), {RIGHT: Scale(0, 1)})


def test_false_accepts_are_counted_first_and_by_hand() -> None:
    people = pd.DataFrame({"instance": list("abcdefghij"), "document": list("aabbccddee"), "system": "",
                           "criterion": RIGHT, "person": "one", "score": [0.0] * 5 + [1.0] * 5})  # fmt: skip
    judge = pd.DataFrame({"instance": list("abcdefghij"), "criterion": RIGHT, "judge": "a",
                          "score": [1, 1, 1, 0, 0, 1, 1, 1, 1, 0.0], "spread": np.nan})  # fmt: skip
    (one,) = audit_judge(Labels(people, judge, {RIGHT: Scale(0, 1)}), "a")
    assert (float(one.false_accepts), float(one.false_rejects)) == (0.6, 0.2)
    assert one.false_accepts.n == 5 and one.levels[0].same == pytest.approx(0.6)
    assert [level.level for level in one.levels] == [None, 0.0, 1.0]
    first = tell_audit([one])[0]
    assert "of 5 outputs that people failed (below 0.5), it passed 3: 60%" in first
    assert not one.brier.defined and not one.with_judges.defined


def test_known_calibrations_are_recovered() -> None:
    (fair,) = audit_judge(make_labels(), "a")
    covered = [bin.passed.ci_low <= bin.said <= bin.passed.ci_high for bin in fair.calibration]
    assert len(covered) == 5 and sum(covered) >= 4 and fair.brier < fair.brier_constant
    (sharp,) = audit_judge(make_labels(sharpness=4.0), "a")
    assert sharp.calibration[0].passed.ci_low > sharp.calibration[0].said + 0.05, "it is too sure"
    assert sharp.brier > fair.brier
    assert sharp.with_judges > 0.95 > sharp.levels[0].same + 0.1, (
        "judges agree with each other, not with people"
    )


def test_labels_saved_are_those_of_the_formula_and_of_draws() -> None:
    rng = np.random.default_rng(5)
    f = rng.random(4000)
    y = (rng.random(4000) < f) * 1.0
    need = count_labels(y, f, 1_000_000, chance=f)
    # var(y) = 1/4, var(y - f) = E f (1 - f) = 1/6: 4000 x 2/3; active (E sd)^2 = (pi/8)^2 = .154
    assert need.uniform == pytest.approx(2667, rel=0.05) and need.active == pytest.approx(
        4000 * 0.154 / 0.25, rel=0.06
    )
    half = count_labels(y, f, 1_000_000, chance=f, even=0.5)
    assert (
        half.active == pytest.approx((need.uniform + need.active) / 2, abs=2) and half.uniform == need.uniform
    )
    useless = count_labels(y, rng.random(4000), 4000, chance=np.full(4000, 0.5))
    assert useless.uniform is None or useless.uniform > 3900


def test_biases_are_found_where_they_are_and_nowhere_else() -> None:
    texts = {f"i{k}": ("- a point\n" if k % 2 == 0 else "plain words ") * (1 + k % 7) for k in range(600)}
    labels = make_labels(boost=1.5)
    found = {bias.name: bias.effect for bias in find_biases(labels, "a", "org/gpt-5", texts, NO_PAIRS)}
    assert found["format"].ci_low > 0.1
    assert abs(found["own family"]) < 0.08 < found["format"]
    for name in ("language", "position"):
        assert not found[name].defined and found[name].reason
    short = find_biases(labels, "a", "org/o3", texts, NO_PAIRS)[2]
    assert short.name == "own family" and not short.effect.defined, "“other” is not of the family “o”"
    covered = [
        bias.effect.ci_low < 0 < bias.effect.ci_high
        for seed in range(12)
        for bias in find_biases(make_labels(seed=seed), "a", "org/gpt-5", texts, NO_PAIRS)
        if bias.name in ("length", "own family", "format")
    ]
    assert sum(covered) >= 30, "of 36 biases that are none"


def test_a_share_without_variation_has_no_standard_error_of_0() -> None:
    sure = share_of(np.zeros(12), np.arange(12))
    assert sure == 0 and sure.ci_high > 0.2 and sure.se != 0


def test_only_pairs_in_both_orders_measure_the_position() -> None:
    """The first output wins 7 of 10 pairs by its place alone; the quality of the outputs, and single orders, cancel."""
    rows = []
    for n in range(40):
        by_place = n % 10 < 7
        rows.append(("pairs", RIGHT, f"d{n}", "a", "b", 1.0))
        rows.append(("pairs", RIGHT, f"d{n}", "b", "a", 1.0 if by_place else 0.0))
        rows.append(("pairs", RIGHT, f"d{n}", "c", "d", 1.0))
    pairs = pd.DataFrame(rows, columns=[*PAIR, "preference"])
    bias = find_biases(make_labels(40), "a", "m", {}, pairs)[1]
    assert bias.name == "position" and bias.effect == pytest.approx(0.35) and bias.effect.n == 40
    assert 0.25 < bias.effect.ci_low < 0.35 < bias.effect.ci_high < 0.5
