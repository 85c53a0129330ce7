"""The gate: known answers, how it ends, and the chance of a wrong word in simulations."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from coeval.errors import InputError
from coeval.extensions.judge.model.file_schema import JudgeFile, Label
from coeval.extensions.judge.runtime.gate import (
    EXIT_CODES,
    Gate,
    Outcome,
    Terms,
    hold_gate,
    render_junit,
    tell_basis,
)
from coeval.extensions.judge.runtime.system_differences import compare_systems
from tests.support.studies.gate_simulation import (
    JUDGE,
    RARE,
    TERMS,
    draw_rare_losses,
    simulate_gate,
    simulate_outputs,
    simulate_rare_losses,
)
from tests.support.studies.judge_files import make_judge

SCALE = (1.0, 5.0)


def outputs(
    new: list[float], old: list[float], criterion: str = "Be right.", shared: bool = True
) -> pd.DataFrame:
    rows = [
        {
            "document": f"{'' if shared else system}{place}",
            "system": system,
            "criterion": criterion,
            "score": score,
        }
        for system, scores in (("new", new), ("old", old))
        for place, score in enumerate(scores)
    ]
    return pd.DataFrame(rows).assign(raw=lambda table: table["score"], people=math.nan)


def hold(table: pd.DataFrame, judge: JudgeFile = JUDGE, **terms: Any) -> Gate:
    return hold_gate(table, judge, Terms("new", "old", **{"margin": -0.5, "min_n": 4} | terms))


def test_differences_within_documents_are_a_paired_t_test() -> None:
    told = compare_systems(outputs([3, 4, 2, 5], [4, 4, 3, 4]), "new", "old", "score", SCALE)
    # differences -1, 0, -1, 1: mean -.25, sd sqrt(2.75 / 3), se sd / 2
    assert (told.value, told.documents, told.paired, told.labelled) == (-0.25, 4, True, 0)
    assert told.se == pytest.approx(math.sqrt(2.75 / 3) / 2) and told.df == 3
    even = compare_systems(outputs([3, 4, 2, 5], [4, 4, 2, 4]), "new", "old", "score", SCALE)
    # differences -1, 0, 0, 1 lean to no side, so that Hall's transformation leaves Student's t as it is
    assert even.skew == 0 and even.below(0) == pytest.approx(0.5)
    assert even.above(-1) == pytest.approx(stats.t.cdf(1 / even.se, 3))
    # third central moment .28125, over n squared and the standard error cubed
    assert told.skew == pytest.approx(0.28125 / 4**2 / (math.sqrt(0.6875) / 2) ** 3)
    assert told.below(-10) < 0.001 < 0.999 < told.above(-10)


def test_systems_without_common_documents_are_two_samples() -> None:
    told = compare_systems(outputs([3, 4, 2, 5], [4, 4, 3, 4], shared=False), "new", "old", "score", SCALE)
    # means 3.5 and 3.75; variances 5/3 and 1/4, each over 4
    assert told.value == -0.25 and not told.paired
    assert told.se == pytest.approx(math.sqrt((5 / 3 + 1 / 4) / 4))
    assert told.df == pytest.approx((5 / 12 + 1 / 16) ** 2 / ((5 / 12) ** 2 / 3 + (1 / 16) ** 2 / 3))


def test_outputs_of_a_document_count_once() -> None:
    table = outputs([3, 4, 2, 5], [4, 4, 3, 4])
    told = compare_systems(pd.concat([table] * 5, ignore_index=True), "new", "old", "score", SCALE)
    assert told == compare_systems(table, "new", "old", "score", SCALE)


def test_peoples_scores_correct_a_judge_that_favours_the_new_system() -> None:
    table = simulate_outputs(np.random.default_rng(1), 0.0, documents=2000, labelled=500, bias=0.5)
    corrected = compare_systems(table, "new", "old", "score", SCALE)
    raw = compare_systems(table.assign(people=math.nan), "new", "old", "score", SCALE)
    assert raw.value == pytest.approx(0.5, abs=0.08) and raw.labelled == 0
    assert abs(corrected.value) < 3 * corrected.se and corrected.labelled == 500
    few = table.assign(people=table["people"].where(table["document"].astype(int) < 9))
    assert compare_systems(few, "new", "old", "score", SCALE) == raw, (
        "nine documents are too few to correct by"
    )
    apart = table.assign(document=table["system"] + table["document"])
    told = compare_systems(apart, "new", "old", "score", SCALE)
    assert not told.paired and told.labelled == 500 and abs(told.value) < 3 * told.se


def test_how_it_ends() -> None:
    close, far = [3.0, 4, 3, 4, 3, 4, 3.2, 4.1] * 3, [3.1, 4, 3, 4, 3, 4, 3, 4] * 3
    assert hold(outputs(close, far)).outcome is Outcome.HELD
    worse = hold(outputs([1, 2, 1, 2, 1, 2, 1.2, 2.1] * 3, far))
    assert worse.outcome is Outcome.REGRESSION and "It lies below -0.5" in worse.lines[0].why
    few = hold(outputs(close, far), min_n=25)
    assert few.outcome is Outcome.UNDECIDED
    assert "24 documents have scores, but 25 are required" in few.lines[0].why
    either = hold(outputs([1, 5, 1, 5, 1, 5, 1, 5], [5, 1, 5, 1, 5, 1, 5, 1]))
    assert either.outcome is Outcome.UNDECIDED and "on either side" in either.lines[0].why
    lost = outputs(close, far).assign(score=lambda t: t["score"].where(t.index % 4 != 0))
    assert "25% of the outputs have no score" in hold(lost).lines[0].why
    nothing = outputs(close, far).assign(score=math.nan, raw=math.nan)
    assert hold(nothing).outcome is Outcome.UNDECIDED and "difference is undefined" in str(hold(nothing))
    assert list(EXIT_CODES.values()) == [0, 3, 4]


def test_identical_outputs_are_a_known_zero_and_equal_scores_are_not() -> None:
    table = outputs([3.0, 4, 3, 4], [3.0, 4, 3, 4])
    same = hold(table.assign(output="text " + table["document"]), margin=0.0)
    assert same.outcome is Outcome.HELD and same.lines[0].difference.se == 0
    assert "identical" in str(same)
    other = hold(table.assign(output=table["system"] + table["document"]))
    assert other.outcome is Outcome.UNDECIDED and math.isnan(other.lines[0].difference.se)
    assert "no standard error" in str(other) and "0.000)" not in str(other)


@pytest.mark.slow
@pytest.mark.parametrize("shape", RARE)
def test_a_rare_loss_that_few_labels_miss_is_not_passed(shape: tuple[int, int]) -> None:
    """At .05, more than 9 of 80 come out once in 100. Without the losses that a sample can miss, 20 to 45 do."""
    told = [simulate_rare_losses(seed, *shape, noise=0.0, seen=0.0) for seed in range(80)]
    assert sum(outcome is Outcome.HELD for outcome in told) <= 9
    (line,) = hold(draw_rare_losses(np.random.default_rng(4), 60, 12), margin=-0.2).lines
    assert line.outcome is Outcome.UNDECIDED and "12 labelled documents show no such loss" in line.why


def test_one_criterion_that_fails_is_a_regression_and_junit_says_which() -> None:
    close, far = [3.0, 4, 3, 4, 3, 4, 3.2, 4.1] * 3, [3.1, 4, 3, 4, 3, 4, 3, 4] * 3
    judge = make_judge()
    both = pd.concat([outputs(close, far), outputs([0.0] * 24, [1, 2, 1, 2] * 6, "Be brief.")])
    gate = hold(both, judge)
    assert gate.outcome is Outcome.REGRESSION
    assert [line.outcome for line in gate.lines] == [Outcome.HELD, Outcome.REGRESSION]
    assert str(gate).startswith("REGRESSION: new against old, a loss of 0.5 tolerated")
    root = ElementTree.fromstring(render_junit(gate, "A \x00 judge"))
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    held, failed = suite.findall("testcase")
    assert held.find("failure") is None and held.find("system-out") is not None
    failure = failed.find("failure")
    assert (
        failed.get("name") == "Be brief."
        and failure is not None
        and "below -0.5" in str(failure.get("message"))
    )
    undecided = ElementTree.fromstring(render_junit(hold(both, judge, min_n=25), "A judge"))
    assert undecided[0].get("errors") == "2" and undecided.find(".//error") is not None


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"margin": 0.1}, "The margin is 0.1"),
        ({"margin": math.nan}, "The margin is nan"),
        ({"new": "x"}, "no outputs of “x”; the column “system” contains new, old"),
        ({"old": "new"}, "compared with itself"),
    ],
)
def test_terms_that_cannot_be_are_refused(terms: dict[str, Any], said: str) -> None:
    given = {"new": "new", "old": "old", "margin": -0.1} | terms
    with pytest.raises(InputError, match=said):
        hold_gate(outputs([1, 2], [1, 2]), JUDGE, Terms(**given))


def test_what_it_rests_on_is_said() -> None:
    close = [3.0, 4, 3, 4, 3, 4, 3.2, 4.1]
    mark = "0" * 64
    labels = [
        Label(
            document=mark,
            output=mark,
            system=name,
            criterion="Be right.",
            people=3,
            n_people=2,
            raw=4,
            score=score,
        )
        for name, score in (("a", 3.0), ("b", 3.5))
    ]
    judge = JUDGE.model_copy(update={"labels": tuple(labels)})
    assert "differed by up to 0.50 points between systems" in tell_basis(hold(outputs(close, close)), judge)
    assert "must be a random draw" in tell_basis(simulate_gate(1, 0.0), JUDGE)


def mapped(table: pd.DataFrame, slope: float, level: float = 3.0) -> pd.DataFrame:
    """The table with scores on people's scale by a line through the raw ones."""
    return table.assign(score=level + slope * (table["raw"] - level))


def fallen(seed: int = 1, documents: int = 80, drop: float = 1.5) -> pd.DataFrame:
    """Raw scores that fall by so many points; every document is otherwise scored."""
    rng = np.random.default_rng(seed)
    old = rng.uniform(2.5, 4, documents)
    return outputs(list(old - drop + rng.normal(0, 0.2, documents)), list(old))


@pytest.mark.parametrize("slope", [0.0, -0.003, 0.05, -0.6])
def test_a_fall_that_a_calibration_hides_is_never_passed(slope: float) -> None:
    gate = hold(mapped(fallen(), slope), margin=-0.1)
    assert gate.outcome is Outcome.UNDECIDED and EXIT_CODES[gate.outcome] == 4
    (line,) = gate.lines
    assert f"moves by {slope:+.3f} when the judge's own score moves by 1" in line.why and not line.tested
    assert "of raw scores -1.5" in line.figures


def test_no_worse_holds_on_raw_and_on_calibrated_scores() -> None:
    shallow = hold(mapped(fallen(drop=0.5), 0.15), margin=-0.3)
    assert shallow.outcome is Outcome.UNDECIDED
    assert "calibrated scores is above -0.3" in shallow.lines[0].why
    assert "that of raw scores is not (-0.5" in shallow.lines[0].why
    assert hold(mapped(fallen(drop=0.0), 0.5), margin=-0.2).outcome is Outcome.HELD
    assert hold(mapped(fallen(drop=1.0), 0.5), margin=-0.1).outcome is Outcome.REGRESSION
    steep = hold(mapped(fallen(drop=0.03), 8.0), margin=-0.1)
    assert steep.outcome is Outcome.UNDECIDED
    assert "calibrated scores is below -0.1" in steep.lines[0].why


def test_a_map_that_is_level_where_these_outputs_lie_decides_nothing() -> None:
    """The old outputs lie on a plateau, the new ones far below: only their scores of both ends differ."""
    table = fallen(drop=0.4)
    level = table.assign(score=np.where(table["raw"] > 4.3, 4.5, 3.2))
    (line,) = hold(level, margin=-0.1).lines
    assert line.outcome is Outcome.UNDECIDED and "moves by +0.000" in line.why
    same = outputs([4.0] * 80, [4.0] * 80)
    (line,) = hold(same, margin=-0.1).lines
    assert line.outcome is Outcome.UNDECIDED and "Every output has the score 4" in line.why
    steps = fallen(drop=0.1)
    stuck = steps.assign(score=2.0 + 2 * (steps["document"].astype(int) > 40))
    raised = stuck.assign(raw=stuck["raw"] + 2 * (stuck["score"] > 2))
    (line,) = hold(raised, margin=-0.5).lines
    assert line.outcome is Outcome.UNDECIDED and "hardly differ (no standard error" in line.why


def test_people_who_scored_both_systems_decide_whatever_the_map_does() -> None:
    table = mapped(fallen(drop=1.5), 0.0)
    known = table["document"].astype(int) < 40
    table = table.assign(people=table["raw"].where(known))
    assert hold(table, margin=-0.1).outcome is Outcome.REGRESSION


@pytest.mark.slow
def test_wrong_words_are_as_rare_as_stated() -> None:
    """The first 40 of each 200 of the benchmark ``gate``; at .05 more than 5 of 40 come out once in seventy."""
    held = sum(simulate_gate(seed, TERMS.margin).outcome is Outcome.HELD for seed in range(40))
    refused = sum(
        simulate_gate(seed, TERMS.margin).outcome is Outcome.REGRESSION for seed in range(10_000, 10_040)
    )
    assert held <= 5 and refused <= 5
