"""The advisor of arms: the cheapest one whose pull is surely under the limit, decided once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coeval.domain.studies import Measure, StoppingRule
from coeval.stats.arm_advice import advise_arm, tell_advice
from tests.benchmarks.minute import LIMIT, SCENARIOS, simulate_choice


def study(documents: int, pulls: dict[str, float], times: dict[str, float], seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = ["blind", *pulls]
    size = documents * 12
    arm = rng.choice(names, size)
    return pd.DataFrame(
        {
            "annotator": rng.integers(0, 4, size),
            "cluster": np.repeat(np.arange(documents), 12),
            "arm": arm,
            "adoption": (rng.random(size) < 0.4 + np.array([pulls.get(one, 0.0) for one in arm])).astype(
                float
            ),
            "seconds": np.array([times[one] for one in arm]) * np.exp(rng.normal(0, 0.3, size)),
        }
    )


TIMES = {"blind": 40.0, "evidence": 35.0, "reasons": 33.0, "assisted": 25.0}


def test_the_cheapest_arm_under_the_limit_is_kept() -> None:
    rows = study(300, {"evidence": 0.0, "reasons": 0.02, "assisted": 0.35}, TIMES)
    advice = advise_arm(rows, 0.12, 200)
    by = {one.arm: one for one in advice.arms}
    assert advice.keep == "reasons" and not by["assisted"].admitted and by["blind"].pull == 0
    assert by["evidence"].seconds == pytest.approx(35, rel=0.1)


def test_nothing_is_decided_before_the_planned_documents() -> None:
    rows = study(50, {"assisted": 0.0}, TIMES)
    assert advise_arm(rows, 0.3, 51).keep == "" and advise_arm(rows, 0.3, 50).keep == "assisted"
    unblinded = rows[rows["arm"] != "blind"]
    assert advise_arm(unblinded, 0.3, 10).keep == ""


def test_an_arm_that_few_saw_is_not_kept() -> None:
    rows = study(60, {"assisted": 0.0}, TIMES)
    few = rows[(rows["arm"] == "blind") | (rows["cluster"] == 0)]
    assert advise_arm(few, 0.1, 20).keep == "blind"


def test_the_rule_is_told_with_its_reasons() -> None:
    rule = StoppingRule(
        Measure.PULL, 0.12, 200, scores_then=3, declared_by="Olu", declared_at="2026-01-01T10:00"
    )
    rows = study(300, {"evidence": 0.0, "assisted": 0.35}, TIMES)
    told = " ".join(tell_advice(advise_arm(rows, rule.width, rule.planned), rule))
    assert "surely under 0.12" in told and "Keep: the evidence only." in told
    assert (
        "the full draft: pull +0.3" in told
        and "may not be kept" in told
        and "3 scores already existed" in told
    )
    waits = " ".join(tell_advice(advise_arm(rows, rule.width, 900), rule))
    assert "Not yet: 300 of 900 documents" in waits


def test_the_rule_errs_no_oftener_than_it_promises() -> None:
    """At the limit every choice but blind is an error; 60 studies are few, so the bound is loose here."""
    rng = np.random.default_rng(1)
    kept = [simulate_choice(rng, SCENARIOS["every arm is at the limit"]) for _ in range(60)]
    assert np.mean([arm != "blind" for arm in kept]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    pulled = [simulate_choice(rng, SCENARIOS["the full draft pulls"]) for _ in range(20)]
    assert "assisted" not in pulled and {"evidence", "reasons"} & set(pulled)
    assert LIMIT == 0.1
