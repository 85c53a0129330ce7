"""A study whose scores have more than 40 different values: what can be computed is, and no reason is invented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest

from coeval.stats import build_report, methods_paragraph
from coeval.stats.frames import StudyFrames
from coeval.stats.plan import Wanted, pilot_of, plan_study, tell_plan
from tests.support.studies.stats_frames import make_frames

CRITERIA = ("clear", "true")
DOCUMENTS, SYSTEMS = 15, "xy"


def decimals(rng: np.random.Generator, quality: float) -> float:
    """A score from 1 to 5 with two decimals."""
    return float(np.round(np.clip(quality + rng.normal(0, 0.4), 1, 5), 2))


def mqm(rng: np.random.Generator, quality: float) -> float:
    """Minus the sum of weights of errors: 0.1 for punctuation, 1 minor, 5 major."""
    return -float(np.round(rng.poisson(max(5 - quality, 0), 3) @ np.array([0.1, 1, 5]), 1))


def study(score: Callable[[np.random.Generator, float], float], scale: tuple[float, float]) -> StudyFrames:
    rng = np.random.default_rng(4)
    rows = [
        {
            "annotator": person,
            "instance": f"{d}{s}",
            "criterion": criterion,
            "arm": "blind",
            "score": score(rng, q),
        }
        for d in range(DOCUMENTS)
        for s in SYSTEMS
        for criterion in CRITERIA
        for q in [rng.normal(3, 1)]
        for person in "abc"
    ]
    instances = pd.DataFrame(
        [(f"{d}{s}", f"d{d}", s) for d in range(DOCUMENTS) for s in SYSTEMS],
        columns=["instance", "document", "system"],
    )
    return make_frames(rows, criteria=CRITERIA, scale=scale, instances=instances)


@pytest.fixture(scope="module", params=[(decimals, (1, 5)), (mqm, (-100, 0))], ids=["decimals", "mqm"])
def frames(request: pytest.FixtureRequest) -> StudyFrames:
    made = study(*request.param)
    assert all(part["score"].nunique() > 40 for _, part in made.scored.groupby("criterion"))
    return made


@pytest.fixture(scope="module")
def report(frames: StudyFrames) -> dict[str, Any]:
    return build_report(frames)


def alphas(frames: StudyFrames) -> list[float]:
    tables = [
        part.pivot_table(index="annotator", columns="instance", values="score").to_numpy()
        for _, part in frames.scored.groupby("criterion", sort=False)
    ]
    return [float(krippendorff.alpha(table, level_of_measurement="ordinal")) for table in tables]


def test_alpha_of_each_criterion_and_their_mean_are_the_packages(
    frames: StudyFrames, report: dict[str, Any]
) -> None:
    agreement = report["agreement"]
    wanted = alphas(frames)
    assert [part["humans"]["ordinal"] for part in agreement["per_criterion"]] == pytest.approx(wanted)
    headline = agreement["headline"]
    assert headline["value"] == pytest.approx(np.mean(wanted)) and headline["criteria"] == 2
    assert headline["ci_low"] < headline["value"] < headline["ci_high"]


def test_parts_and_pairs_have_intervals(report: dict[str, Any]) -> None:
    agreement = report["agreement"]
    parts = [*agreement["per_criterion"], *agreement["by_system"], *agreement["pairwise"]]
    assert len(parts) == 2 + 2 + 3
    assert all(part["ci_low"] < part["ci_high"] for part in parts)
    assert agreement["percent"]["value"] < 0.5 and "ci_low" in agreement["percent"]


def sentences(frames: StudyFrames, report: dict[str, Any]) -> Iterator[str]:
    yield from report["notes"]
    yield report["answer"]["sentence"]
    yield methods_paragraph(frames, report)
    yield from tell_plan(plan_study(pilot_of(frames), Wanted()))


def test_no_sentence_denies_what_is_there(frames: StudyFrames, report: dict[str, Any]) -> None:
    told = " ".join(sentences(frames, report))
    for false in ("is the same", "undefined for every criterion", "can be planned", "no variation"):
        assert false not in told
    assert "More than 40 different scores" in told, "the kappas for categories say why they are missing"
    assert "you need about" in told and "its mean over 2 criteria is" in told
    assert "draft in view" not in " ".join(tell_plan(plan_study(pilot_of(frames), Wanted())))
