"""Planning: the documents that it asks for give what was wanted; looking often errs as rarely as promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from coeval.domain.studies import Measure, StoppingRule
from coeval.stats.frames import ACTION_COLUMNS, DRAFT_COLUMNS, SCORE_COLUMNS, StudyFrames
from coeval.stats.planning.pilot import Assumed, pilot_from, pilot_of
from coeval.stats.planning.plan import Wanted, follow_rule, plan_study
from coeval.stats.planning.precision import documents_for_difference, documents_for_width, people_for
from coeval.stats.planning.sequence import sequence_width
from coeval.stats.planning.words import tell_plan, tell_progress
from tests.benchmarks.coverage import Design, alphas_of, simulate, stopping_cells
from tests.support.studies.stats_frames import make_frames, simulate_frames


def test_documents_by_hand() -> None:
    # error of one document 0.25, so 0.25 / sqrt(99) x t(98, .975) = 0.0499; with 98 documents it is above .05
    assert documents_for_width(0.05, 25, 0.05).documents == 99
    # (2.093 + 0.861) x 0.4472 / sqrt(20) = 0.295
    assert documents_for_difference(0.1, 20, 0.3).documents == 20
    assert documents_for_width(0.05, 25, 1e-6).documents is None
    assert documents_for_width(0.0, 25, 0.05).documents is None
    with pytest.raises(ValueError, match="above 0"):
        documents_for_width(0.05, 25, 0)


def test_people_by_hand() -> None:
    # phi of k people is 1 / (1 + 2 / k) for equal components: 8 people give .8
    assert people_for(1, 1, 1, 0.8) == 8
    assert people_for(0, 1, 1, 0.8) is None


def test_the_documents_asked_for_give_the_width_wanted() -> None:
    """A pilot of 25 documents plans; studies of the planned size are as precise as was asked."""
    rng, design = np.random.default_rng(3), Design(25, 2, 3, 3)
    asked = []
    for _ in range(20):
        alpha = alphas_of(design.draw(rng))["mean over criteria"]
        asked.append(documents_for_width(alpha.se, 25, 0.08).documents)
    size = int(np.median([n for n in asked if n]))
    widths = [
        (found.ci_high - found.ci_low) / 2
        for found in (alphas_of(design.draw(rng, size))["mean over criteria"] for _ in range(10))
    ]
    assert np.mean(widths) == pytest.approx(0.08, rel=0.15)


def test_an_assumed_study_shows_the_spread_that_was_assumed() -> None:
    # without anything but noise of 1 point and documents of 1: half of the variance is the documents'
    wide = Assumed(criteria=1, people=4, document=1, system=0, criterion=0, person=0, noise=1, low=1, high=9)
    found = pilot_from(wide)
    assert found.item == pytest.approx(1, rel=0.2) and found.residual == pytest.approx(1.08, rel=0.1)
    assert float(found.alpha) == pytest.approx(0.48, abs=0.06)
    with pytest.raises(ValueError, match="1 people cannot be planned for"):
        pilot_from(replace(wide, people=1))
    with pytest.raises(ValueError, match="spread of -1"):
        pilot_from(replace(wide, noise=-1))
    with pytest.raises(ValueError, match="at least two points"):
        pilot_from(replace(wide, high=1))


def test_a_study_without_scores_plans_nothing_and_says_so() -> None:
    empty = StudyFrames(
        "t", ["c"], {"c": (1, 5)}, pd.DataFrame({"instance": ["i"], "document": ["d"], "system": ["s"]}),
        pd.DataFrame(columns=list(SCORE_COLUMNS)), pd.DataFrame(columns=list(ACTION_COLUMNS)),
        pd.DataFrame(columns=list(DRAFT_COLUMNS)),
    )  # fmt: skip
    plan = plan_study(pilot_of(empty), Wanted())
    told = " ".join(tell_plan(plan))
    assert plan.alpha.documents is None and plan.people is None and "Nobody has scored anything yet" in told
    progress = follow_rule(StoppingRule(Measure.ALPHA, 0.05, 40), plan.pilot)
    assert not progress.enough and "too few to look at" in progress.reason


@pytest.mark.parametrize(
    ("people", "reason"),
    [("a", "no unit has ratings by two annotators"), ("ab", "every paired rating is the same")],
)
def test_scores_that_cannot_be_compared_are_not_said_to_be_none(people: str, reason: str) -> None:
    rows = [{"annotator": person, "instance": item, "score": 3} for person in people for item in "123"]
    told = " ".join(tell_plan(plan_study(pilot_of(make_frames(rows)), Wanted())))
    assert "Nobody has scored" not in told and told.startswith("From the scores of 3 instances so far.")
    assert reason in told and told.endswith(
        "Have two people score the same outputs, or plan from assumed spreads."
    )


def test_a_study_is_planned_from_its_scores() -> None:
    pilot = pilot_of(simulate_frames())
    plan = plan_study(pilot, Wanted(width=0.1))
    assert plan.alpha.documents and plan.alpha.low < plan.alpha.documents < plan.alpha.high
    assert pilot.differences and plan.people
    first = pilot.differences[0]
    rule = StoppingRule(Measure.DIFFERENCE, 5.0, 20, first.b, first.a)
    progress = follow_rule(rule, pilot)
    assert float(progress.value) == -float(first.value) and progress.enough
    assert any("You have enough" in line for line in tell_progress(progress, [rule]))
    unknown = follow_rule(replace(rule, system_a="nobody's"), pilot)
    assert not unknown.enough and "both systems" in unknown.reason


def test_the_sequence_is_wider_than_an_interval_and_narrows() -> None:
    widths = [sequence_width(1 / np.sqrt(n), n, 40) for n in (10, 20, 40, 80, 400)]
    assert widths == sorted(widths, reverse=True)
    assert all(wide > 1.96 / np.sqrt(n) for wide, n in zip(widths, (10, 20, 40, 80, 400), strict=True))


def test_looking_after_every_document_errs_as_rarely_as_promised() -> None:
    rates = {cell: rate for cell, (rate, _) in simulate(stopping_cells(40), 60).items()}
    looked = next(rate for cell, rate in rates.items() if "at any look" in cell)
    assert looked <= 0.1
