"""A corrected judge: known answers, what it refuses, and a study whose new system differs from the labelled one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coeval.extensions.labelling.corrected_judge import (
    check_carrying,
    corrected_mean,
    corrected_share,
    nearest,
    widen,
)
from coeval.extensions.labelling.study_units import ALL, EVERYTHING, CorrectSystems, tell_systems
from coeval.stats.estimates import spell
from tests.support.studies.stats_frames import make_frames

POINTS = [1.0, 2.0, 3.0, 4.0, 5.0]


def confused(sensitivity: float, specificity: float, each: int) -> tuple[list[int], list[int]]:
    """So many true passes and true fails, judged with just these rates."""
    right, wrong = round(sensitivity * each), round((1 - specificity) * each)
    return [1] * each + [0] * each, [1] * right + [0] * (each - right) + [1] * wrong + [0] * (each - wrong)


def test_the_share_is_that_of_rogan_and_gladen() -> None:
    truth, judged = confused(0.9, 0.7, 200)
    found = corrected_share(truth, judged, [1] * 480 + [0] * 520)
    assert float(found) == pytest.approx((0.48 + 0.7 - 1) / (0.9 + 0.7 - 1))
    assert found.ci_low < float(found) < found.ci_high
    # the delta method with the smoothed rates of Lee et al.; the test's interval is near to it for many labels
    p, n, q1, q0, m = 0.48, 1000, 181 / 202, 141 / 202, 200
    smooth = (p * n + 2) / (n + 4)
    theta = (smooth + q0 - 1) / (q0 + q1 - 1)
    error = smooth * (1 - smooth) / (n + 4) + (
        (1 - theta) ** 2 * q0 * (1 - q0) + theta**2 * q1 * (1 - q1)
    ) / (m + 2)
    half = 1.966 * np.sqrt(error) / (q0 + q1 - 1)
    assert found.ci_low == pytest.approx(theta - half, abs=0.015)
    assert found.ci_high == pytest.approx(theta + half, abs=0.015)


def test_documents_with_several_outputs_widen_the_interval() -> None:
    rng = np.random.default_rng(3)
    document = np.repeat(np.arange(25), 6)
    truth = rng.random(150) < 0.5
    wrong = (rng.random(25)[document] < 0.3) & ~truth  # the judge passes all outputs of some documents
    new = rng.random(400) < 0.6
    alone = corrected_share(truth, truth ^ wrong, new)
    together = corrected_share(truth, truth ^ wrong, new, clusters=document)
    assert together.design_effect > 2 and alone.design_effect == pytest.approx(1.0, abs=0.05)
    assert together.ci_high - together.ci_low > 1.3 * (alone.ci_high - alone.ci_low)


@pytest.mark.parametrize(
    ("truth", "judged", "new", "reason"),
    [
        ([1, 0] * 30, [1, 1, 0, 0] * 15, [1, 0], "cannot be distinguished from 1"),
        ([1, 1, 1, 1], [1, 1, 0, 1], [1, 0], "no labelled item is a fail"),
        ([0, 0, 0, 0], [1, 0, 0, 0], [1, 0], "no labelled item is a pass"),
        ([1, 0, 1, 0], [1, 0, 1, 0], [], "no new item"),
        ([1, 0], [1, 0], [1, 0], "fewer than three clusters"),
        ([1, 0] * 30, [0, 1] * 30, [1, 0], "cannot be distinguished from 1"),  # worse than a coin
    ],
)
def test_a_share_that_cannot_be_corrected_says_why(
    truth: list[int], judged: list[int], new: list[int], reason: str
) -> None:
    found = corrected_share(truth, judged, new)
    assert not found.defined and reason in found.reason


def test_scores_and_clusters_have_to_be_of_the_same_items() -> None:
    with pytest.raises(ValueError, match="truth has 2 scores and judged 1"):
        corrected_share([1, 0], [1], [1])
    with pytest.raises(ValueError, match="3 units and 1 clusters"):
        corrected_share([1, 0, 1], [1, 0, 1], [1], clusters=["a"])


def test_the_mean_of_a_system_that_differs_from_the_labelled_ones() -> None:
    rng = np.random.default_rng(11)

    def judge(y: np.ndarray) -> np.ndarray:
        return np.clip(np.rint(0.8 + 0.6 * y + rng.normal(0, 0.6, len(y))), 1, 5)

    y = np.clip(np.rint(rng.normal(2.6, 1, 4000)), 1, 5)
    new = np.clip(np.rint(rng.normal(4.0, 1, 4000)), 1, 5)
    found = corrected_mean(y, judge(y), judge(new), POINTS, replicates=60)
    assert found.judged < new.mean() - 0.5, "the judge alone is harsh"
    assert float(found) == pytest.approx(new.mean(), abs=0.08)
    assert sum(found.shares) == pytest.approx(1.0) and found.ci_low < new.mean() < found.ci_high


def test_a_mean_needs_a_judge_that_follows_people() -> None:
    rng = np.random.default_rng(2)
    y, f = rng.integers(1, 6, 60).astype(float), rng.integers(1, 6, 60).astype(float)
    assert "cannot be distinguished from 0" in corrected_mean(y, f, f, POINTS).reason
    assert "same score" in corrected_mean([3.0] * 5, [3.0, 4, 3, 4, 3], [3.0], POINTS).reason
    assert "no new item" in corrected_mean([3.0, 4, 5], [3.0, 4, 5], [], POINTS).reason
    assert "fewer than three" in corrected_mean([3.0, 4], [3.0, 4], [3.0], POINTS).reason


def test_a_value_belongs_to_the_nearest_point() -> None:
    assert nearest(np.array(POINTS), np.array([1.2, 2.5, 2.51, 9.0])).tolist() == [0, 1, 2, 4]


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "covered"), [(0.0, 0.9), (0.5, 0.8)])
def test_a_judge_that_errs_otherwise_on_each_system_widens_the_interval(shift: float, covered: float) -> None:
    """The jury of HANNA does: without the check, intervals of its systems covered 56% to 69%."""
    rng, hits, plain, spreads = np.random.default_rng(9), [], [], []
    for _ in range(25):
        level, centre = rng.normal(0, shift, 8), rng.normal(3, 0.6, 8)
        system = np.repeat(np.arange(8), 30)
        y = np.clip(np.rint(centre[system] + rng.normal(0, 0.8, 240)), 1, 5)
        f = np.clip(np.rint(y + level[system] + rng.normal(0, 0.5, 240)), 1, 5)
        rest, new = system > 0, system == 0
        found = corrected_mean(y[rest], f[rest], f[new], POINTS, replicates=100)
        carrying = check_carrying(y[rest], f[rest], system[rest], POINTS)
        assert carrying is not None and carrying.systems == 7
        wide = widen(found, carrying, 1.0, 5.0)
        hits.append(wide.ci_low <= y[new].mean() <= wide.ci_high)
        plain.append(found.ci_low <= y[new].mean() <= found.ci_high)
        spreads.append(carrying.spread)
    assert np.mean(hits) >= covered >= (0.0 if shift == 0 else np.mean(plain))
    assert bool(np.median(spreads) > 0.25) is (shift > 0)


def test_two_systems_say_nothing_of_others() -> None:
    assert check_carrying([1.0, 2, 3] * 8, [1.0, 2, 3] * 8, ["a", "b"] * 12, POINTS) is None
    found = corrected_mean([1.0, 2, 3] * 8, [1.0, 2, 3] * 8, [2.0], POINTS)
    assert widen(found, None, 1, 5) is found


def make_study(labelled: tuple[str, ...] = ("old",), drafted: bool = True) -> object:
    rng = np.random.default_rng(5)
    rows, drafts, instances = [], [], []
    for system, centre in (("old", 2.5), ("new", 4.0)):
        for n in range(80):
            name = f"{system}{n}"
            score = float(np.clip(np.rint(rng.normal(centre, 1)), 1, 5))
            instances.append({"instance": name, "document": f"d{n}", "system": system})
            if drafted:
                said = float(np.clip(np.rint(0.8 + 0.6 * score + rng.normal(0, 0.5)), 1, 5))
                drafts.append({"instance": name, "criterion": "clear", "score": said})
            if system in labelled:
                rows.append({"annotator": "Ana", "instance": name, "arm": "blind", "score": score})
    return make_frames(rows, drafts, instances=pd.DataFrame(instances))


def test_each_system_is_corrected_by_the_labels_of_the_others() -> None:
    found = CorrectSystems()(make_study())  # type: ignore[arg-type]
    old, new = found.systems
    assert (old.system, old.labels, new.labels) == ("old", 80, 80)
    assert new.judged < 3.5 and float(new.corrected) == pytest.approx(4.0, abs=0.25)
    assert not new.people.defined
    passing = CorrectSystems(cut=4)(make_study()).systems[1]  # type: ignore[arg-type]
    # nearly seven of ten score 4 or more; verdicts alone would give 1, for the labelled system has few clear passes
    assert float(passing.corrected) == pytest.approx(0.69, abs=0.13) and passing.judged < 0.4
    written = spell(found)["systems"][1]["corrected"]
    assert written["value"] == float(new.corrected) and written["ci_low"] < written["value"]


def test_a_study_without_a_judge_or_labels_says_so() -> None:
    assert "No judge has scored" in next(tell_systems(CorrectSystems()(make_study(drafted=False))))  # type: ignore[arg-type]
    found = CorrectSystems()(make_study(labelled=()))  # type: ignore[arg-type]
    assert found.basis == ALL and not found.systems[0].corrected.defined
    alone = make_frames(
        [{"annotator": "Ana", "instance": n, "score": 1 + n % 5} for n in range(30)],
        [{"instance": n, "score": 1 + n % 5} for n in range(40)],
    )
    only = CorrectSystems()(alone).systems
    assert [one.system for one in only] == [EVERYTHING] and only[0].labels == 30
