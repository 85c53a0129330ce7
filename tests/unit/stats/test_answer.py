"""The answer: which level a whole interval reaches, and how the sentence says it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.stats.clusters import VERDICT_FROM
from coeval.stats.estimates import Estimate, Spelled
from coeval.stats.report.agreement import DraftsInView, Headline
from coeval.stats.report.answer import Answer, answer_section, build_answer, describe_effects
from coeval.stats.report.document import build_report
from coeval.stats.report.draft_account import DraftEffects
from tests.support.studies.stats_frames import make_frames

WITHOUT = DraftsInView(0, 200, Estimate.undefined("no score was given with a drafted score in view"))


def answer(
    alpha: Estimate, seen: DraftsInView = WITHOUT, *, few: bool = False, **criteria: Estimate
) -> Answer:
    headline = Headline("ordinal", Spelled(alpha), 2, "all scores", few, seen, Spelled(alpha))
    return build_answer(headline, criteria)


def estimate(value: float, low: float, high: float, clusters: int = 40) -> Estimate:
    return Estimate(value, ci_low=low, ci_high=high, clusters=clusters, resampled="documents")


@pytest.mark.parametrize(
    ("alpha", "level"),
    [
        (estimate(0.85, 0.81, 0.88), "reliable"),
        (estimate(0.85, 0.79, 0.90), "tentative"),
        (estimate(0.70, 0.60, 0.79), "open"),
        (estimate(0.50, 0.40, 0.60), "too low"),
        (estimate(0.667, 0.667, 0.667), "tentative"),
        (Estimate(0.9), "too few"),
        (Estimate.undefined("no unit has ratings by two annotators"), "undefined"),
    ],
)
def test_the_level_is_that_of_the_whole_interval(alpha: Estimate, level: str) -> None:
    assert answer(alpha).level == level


def test_a_small_study_is_too_small_to_say_however_high_alpha_is() -> None:
    found = answer(estimate(0.95, 0.93, 0.97, clusters=6), few=True)
    assert found.level == "too few"
    assert found.sentence.endswith(f"The scores are of 6 documents; at least {VERDICT_FROM} are needed.")


def test_scores_given_with_the_draft_in_view_are_said_to_be_so() -> None:
    alpha = estimate(0.85, 0.81, 0.88)
    assert answer(alpha).measured == "measured without the draft" and not answer(alpha).cautions
    all_seen = answer(alpha, DraftsInView(200, 200, Estimate(0.9)))
    assert all_seen.sentence.endswith("measured with the draft in view.")
    assert all_seen.cautions[0].startswith(
        "All 200 scores were given with the draft in view, and 90% kept its score"
    )
    some_seen = answer(alpha, DraftsInView(50, 200, Estimate(0.9)))
    assert some_seen.sentence.endswith("measured with the draft in view for 25% of the scores.")
    assert some_seen.cautions[0].startswith("50 of 200 scores were given")
    assert "blind assignments" in all_seen.cautions[0] and "blind assignments" not in some_seen.cautions[0]


def test_a_criterion_that_the_mean_hides_is_named() -> None:
    good, bad = estimate(0.85, 0.81, 0.88), estimate(0.3, 0.2, 0.4)
    assert answer(good, fluent=good, true=bad).cautions == ["Agreement is below .667 for “true”."]
    many = {name: bad for name in "abc"} | {"d": good}
    assert answer(good, **many).cautions == ["Agreement is below .667 for 3 of 4 criteria."]
    assert not answer(bad, true=bad).cautions, "the sentence itself says it"


def test_a_criterion_of_unknown_agreement_is_named() -> None:
    good, bad, wide = estimate(0.85, 0.81, 0.88), estimate(-0.02, -0.4, 0.4), estimate(0.11, -0.71, 0.97)
    low, unknown = (
        "Agreement is below .667 for “a”.",
        "Agreement may be below .667 for “b”.",
    )
    assert answer(wide, few=True, a=bad, b=wide).cautions == [low, unknown]
    for open_ in (
        wide,
        Estimate(0.9),
        Estimate.undefined("one person"),
        estimate(0.9, 0.8, 0.95, clusters=3),
    ):
        assert answer(good, a=good, b=open_).cautions == [unknown]
    assert not answer(wide, a=wide, b=wide).cautions, "the sentence itself says it"
    many = {name: wide for name in "abc"} | {"d": good}
    assert answer(good, **many).cautions == ["Agreement may be below .667 for 3 of 4 criteria."]


def test_an_unproved_effect_does_not_contradict_the_other_sentences() -> None:
    """A negative change is not "more often", and what is not proved is not stated as a fact."""
    nothing = Spelled(Estimate.undefined("no score was planted"))
    words = describe_effects(DraftEffects(Spelled(estimate(-0.01, -0.3, 0.28)), nothing))
    assert "more often" not in words and "changed by −.01 (−.30 to .28)" in words
    seen = answer(estimate(0.85, 0.81, 0.88), DraftsInView(50, 200, Estimate(0.19)))
    assert "which can raise agreement" in seen.cautions[0]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.25, 0.49, "The draft moved scores by .37 (.25 to .49) of its own error: report it."),
        (-0.1, 0.84, "No pull of the draft is proved: .37 (−.10 to .84) of its own error."),
    ],
)
def test_a_pull_is_reported_where_its_interval_excludes_zero(low: float, high: float, words: str) -> None:
    nothing = Spelled(Estimate.undefined("no score was given without the draft"))
    effects = DraftEffects(nothing, Spelled(estimate(0.37, low, high)))
    alpha = estimate(0.85, 0.81, 0.88)
    headline = Headline("ordinal", Spelled(alpha), 1, "all scores", False, WITHOUT, Spelled(alpha))
    assert build_answer(headline, {}, effects).draft == words
    without_pull = replace(effects, adoption=Spelled(estimate(0.24, 0.14, 0.34)), pull=nothing)
    assert build_answer(headline, {}, without_pull).draft.startswith(
        "The draft changed how often people gave its"
    )
    assert build_answer(headline, {}, replace(effects, pull=nothing)).draft == ""


def test_the_report_has_the_answer_of_its_own_headline() -> None:
    rows = [
        {
            "annotator": who,
            "instance": f"i{n}",
            "arm": arm,
            "score": 1 + (n + (who == "b" and n % 9 == 0)) % 5,
        }
        for n in range(48)
        for who in "ab"
        for arm in ["blind" if n % 2 else "assisted"]
    ]
    study = make_frames(rows)
    found, report = answer_section(study), build_report(study)
    assert report["answer"]["sentence"] == found.sentence
    assert report["answer"]["alpha"] == report["agreement"]["headline"]["value"] == found.alpha
    assert found.measured == "measured without the draft"
    assert answer_section(make_frames(rows[:10])).level in ("too few", "undefined")
