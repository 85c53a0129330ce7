"""What the drafts did: contrasts of arms with known answers, and the section that gathers them."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from coeval.extensions.replication.esa import contrast_correlations, contrast_people
from coeval.stats.arm_contrasts import (
    NO_PLANTED,
    Arms,
    contrast_alphas,
    contrast_catches,
    contrast_means,
)
from coeval.stats.estimates import plain
from coeval.stats.report.draft_account import (
    NO_BLIND,
    draft_account_section,
    draft_account_tables,
    draft_effects_section,
)
from tests.benchmarks.coverage import Drafted
from tests.support.studies.stats_frames import make_frames


def rows(**columns: object) -> pd.DataFrame:
    found = pd.DataFrame(columns)
    return found.assign(cluster=range(len(found))) if "cluster" not in found else found


def test_a_slow_person_with_many_blind_items_is_no_cost_of_the_blind_arm() -> None:
    # a needs 10 s, b 100 s, both 5 s less with the draft; b has nearly all blind items
    people, arms = ["a"] * 10 + ["b"] * 10, ["assisted"] * 9 + ["blind"] + ["assisted"] + ["blind"] * 9
    seconds = [
        10.0 * 10 ** (who == "b") - 5 * (arm == "assisted") for who, arm in zip(people, arms, strict=True)
    ]
    known = rows(annotator=people, arm=arms, seconds=seconds)
    found = contrast_means(known, "seconds")
    assert found.within and float(found.difference) == pytest.approx(-5)
    assert float(found.shown - found.other) == pytest.approx(-5)
    pooled = known.groupby("arm")["seconds"].mean()
    assert pooled["assisted"] - pooled["blind"] < -70  # what the pooled means would have said


def test_people_in_one_arm_only_are_compared_where_nobody_has_both() -> None:
    known = rows(annotator=list("aabbcc"), arm=["assisted"] * 4 + ["blind"] * 2, x=[1, 3, 2, 2, 5, 7])
    found = contrast_means(known, "x")
    assert not found.within and float(found.difference) == -4
    with_both = pd.concat([known, rows(annotator=list("dd"), arm=["assisted", "blind"], x=[1, 2])])
    again = contrast_means(with_both, "x")
    assert again.within and float(again.difference) == -1


def test_what_is_missing_is_said() -> None:
    only = rows(annotator=list("ab"), arm="assisted", x=[1.0, 2.0])
    assert contrast_means(only, "x").difference.reason == "the arm blind has no measured values"
    caught = only.assign(planted_score=False, shown_score=np.nan, draft_score=3, score=3, criterion="c")
    assert "no wrong score" in str(contrast_catches(caught).difference.reason)
    assert (
        contrast_means(only, "x", Arms("evidence")).difference.reason
        == "the arm evidence has no measured values"
    )


def test_correlations_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    known = rows(arm=np.repeat(["assisted", "blind"], 40), x=rng.normal(size=80), y=rng.normal(size=80))
    found = contrast_correlations(known, "x", "y")
    own = [np.corrcoef(known["x"][part], known["y"][part])[0, 1] for part in (slice(0, 40), slice(40, 80))]
    assert float(found.difference) == pytest.approx(own[0] - own[1])
    assert found.difference.ci_low < found.difference < found.difference.ci_high


def test_people_are_paired_where_they_have_both_arms() -> None:
    rng = np.random.default_rng(2)
    size = 400
    known = rows(
        annotator=rng.choice(list("abcd"), size),
        arm=rng.choice(["assisted", "blind"], size),
        draft=rng.normal(size=size),
    )
    pull = np.where(known["arm"] == "assisted", 1.0, 0.2)
    found = contrast_people(known.assign(score=pull * known["draft"] + rng.normal(0, 0.5, size)), "draft")
    assert found.within and found.difference.ci_low > 0.1


def test_catches_are_beside_what_blind_people_do_by_themselves() -> None:
    # the draft says 3, the planted score is 4; half of the blind people give 4 by themselves
    planted = [
        dict(arm="assisted", planted_score=True, score=4 if k < 6 else 3, shown_score=4) for k in range(10)
    ]
    blind = [
        dict(arm="blind", planted_score=False, score=4 if k < 5 else 3, shown_score=np.nan) for k in range(10)
    ]
    known = pd.DataFrame([*planted, *blind]).assign(
        annotator="a", criterion="c", draft_score=3, cluster=range(20)
    )
    found = contrast_catches(known)
    assert float(found.shown) == pytest.approx(0.4) and float(found.other) == pytest.approx(0.5)
    assert float(found.difference) == pytest.approx(-0.1)


def test_the_section_finds_what_the_simulator_put_in() -> None:
    design = Drafted(documents=400, people=8, pull=0.4, time=0.6)
    found = design.account(design.rows(np.random.default_rng(7)))
    assert found["seconds"].ci_high < 0
    assert float(found["pull"]) == pytest.approx(0.4, abs=0.06)
    assert found["adoption"] > 0.1 and found["distance"] < -0.1 and found["caught"] < -0.15


def test_adoption_and_distance_by_hand() -> None:
    """Assisted: 2 of 2 at the draft's 3; blind: 1 of 2, the other 2 away: 1 - .5 and 0 - 1."""
    given = [(1, "assisted", 3), (2, "assisted", 3), (1, "blind", 3), (2, "blind", 5), (3, "assisted", 4)]
    scores = [
        {"annotator": f"{arm}{n}", "instance": f"i{n}", "arm": arm, "score": float(score), "draft_score": 3.0}
        | {"shown_score": 4.0 if n == 3 else 3.0, "planted_score": n == 3}
        for n, arm, score in given
    ]
    account = draft_account_section(make_frames(scores)).main
    adoption, distance = (account.of(name).difference.value for name in ("adoption", "distance"))
    assert (adoption, distance) == (0.5, -1.0)
    assert (adoption.n_shown, adoption.n_other) == (2, 2), "the planted score does not count here"
    assert account.of("caught").shown.value == 0


def test_effects_without_their_arms_say_why() -> None:
    scores = [
        {"annotator": name, "instance": f"i{n}", "score": 1.0 + n, "draft_score": 3.0, "shown_score": 3.0}
        for n in range(4)
        for name in "ab"
    ]
    effects = draft_effects_section(make_frames(scores))
    assert effects.adoption.value.reason == NO_BLIND and effects.pull.value.reason == NO_PLANTED
    agreement = draft_account_section(make_frames(scores)).main.of("agreement")
    assert agreement.difference.value.reason == "no blind scores yet" and agreement.shown.value == 1


def test_alphas_of_criteria_on_different_scales_are_not_pooled() -> None:
    """Scores 1 to 3 and 0 to 10: pooled, the difference of the criteria alone makes agreement."""
    rng = np.random.default_rng(3)
    cells = [
        {"annotator": who, "unit": 2 * n + k, "criterion": k, "cluster": n, "arm": arm, "genuine": True}
        | {"score": float(rng.integers(1, 4) if k == 0 else rng.integers(6, 11))}
        for n in range(60)
        for k in (0, 1)
        for who, arm in (("a", "assisted"), ("b", "assisted"), ("c", "blind"), ("d", "blind"))
    ]
    known = pd.DataFrame(cells)
    found = contrast_alphas(known)
    assert abs(found.shown) < 0.25 and abs(found.other) < 0.25
    assert contrast_alphas(known.assign(criterion=0)).shown > 0.6, "what pooling made of it"
    assert found.difference.ci_low < 0 < found.difference.ci_high


def test_catches_of_scores_that_are_all_different_need_little_memory() -> None:
    size = 4000
    known = rows(
        arm=np.repeat(["assisted", "blind"], size // 2),
        criterion=np.arange(size) % 40,
        draft_score=np.linspace(1, 5, size),
        shown_score=np.where(np.arange(size) < size // 2, 4.0, np.nan),
        planted_score=np.arange(size) < size // 2,
        score=3.0,
    )
    tracemalloc.start()
    try:
        contrast_catches(known)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_the_paragraph_says_how_the_arms_were_drawn_and_that_accuracy_is_unknown() -> None:
    design = Drafted(documents=30, people=4, blind=0.0, planted=0.0)
    plainly = design.rows(np.random.default_rng(1)).drop(columns="right")
    assert not draft_account_section(make_frames(plainly, criteria=("c0", "c1"))).paragraph
    blind = Drafted(documents=30, people=4, planted=0.0).rows(np.random.default_rng(1)).drop(columns="right")
    frames = make_frames(blind, criteria=("c0", "c1"))
    section = draft_account_section(frames)
    assert "not known to be drawn at random" in section.paragraph
    assert ", drawn at random" in draft_account_section(replace(frames, drawn=True)).paragraph
    assert "People gave the draft's score" in section.paragraph
    # the share differs from that of all scores, and says why
    assert "without (adjusted for the person, difference" in section.paragraph
    assert "unknown, because the study has no reference scores." in section.paragraph
    assert [table.name for table in draft_account_tables(section)] == ["what_the_drafts_did"]
    spelled = plain(section)["arms"][0]["measures"][0]["difference"]
    assert {"value", "ci_low", "ci_high", "people_ci_low"} <= set(spelled)


def test_experts_who_are_the_reference_are_not_held_against_it() -> None:
    people = Drafted(documents=30, people=4).rows(np.random.default_rng(1))
    experts = people[people["annotator"] == "p000"].assign(
        annotator="e", group="expert", arm="blind", score=lambda t: t["right"], planted_score=False
    )
    both = pd.concat([people.assign(group="team"), experts], ignore_index=True).drop(columns="right")
    section = draft_account_section(make_frames(both, criteria=("c0", "c1")))
    assert section.reference == "scores that experts gave without the draft"
    accurate = section.arms[0].of("accurate")
    assert 0.3 < float(accurate.blind.value) < 1
