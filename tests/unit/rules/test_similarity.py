"""How alike criteria are, and samples of them merged; the figures were worked out by hand where they are round."""

from __future__ import annotations

import pytest

from coeval.domain import Origin, Proposal
from coeval.rules.criterion_wording import SAME, likeness, merge_proposals


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [
        # the same words but for endings and empty ones
        ("Use plain words.", "Uses plain wording", 100.0),
        ("Be brief.", "be BRIEF", 100.0),
        ("", "Be brief.", 0.0),
        ("Be brief.", "", 0.0),
        # brief, and keep + brief: ratios 66.67 (10 of 15 characters) and 100, shares (1 + 2/3) / 2
        ("Be brief.", "Keep brief.", (((66.666667 + 100) / 2) + (1 + 2 / 3) * 50) / 2),
        # nothing but empty words: then they are what is compared
        ("to be", "to be", 100.0),
    ],
)
def test_likeness_by_hand(left: str, right: str, value: float) -> None:
    assert likeness(left, right) == pytest.approx(value, abs=1e-5)
    assert likeness(right, left) == likeness(left, right)


def test_samples_are_merged_and_the_most_often_named_comes_first() -> None:
    samples = [
        ["Be brief.", "Use plain words."],
        ["Keep it brief.", "Use plain words.", "Use plain words."],
        ["Use plain, simple words.", "Cite a source."],
    ]
    assert merge_proposals(samples) == [
        Proposal("Use plain words.", Origin.LLM, support=3, samples=3,
                 members=("Use plain words.", "Use plain, simple words.")),
        Proposal("Be brief.", Origin.LLM, support=2, samples=3, members=("Be brief.", "Keep it brief.")),
        # one wording alone has no members
        Proposal("Cite a source.", Origin.LLM, support=1, samples=3),
    ]  # fmt: skip
    assert merge_proposals([]) == []


def test_a_chain_of_small_differences_is_not_one_group() -> None:
    first, middle, last = "red green", "red green blue", "red blue"
    assert likeness(first, middle) >= SAME > likeness(first, last)
    assert likeness(middle, last) >= SAME
    groups = merge_proposals([[first, middle, last]])
    assert [group.members for group in groups] == [(first, middle), ()]


def test_a_wording_joins_the_group_that_it_is_most_like() -> None:
    near, nearer, new = "red green", "green blue", "red green blue"
    assert likeness(new, nearer) > likeness(new, near) >= SAME > likeness(near, nearer)
    groups = merge_proposals([[near, nearer, new]])
    assert {group.members for group in groups} == {(), (nearer, new)}


def test_the_wording_shown_is_the_one_most_like_the_others_by_how_often_they_come() -> None:
    often, once = "Use plain words.", "Use plain, simple words."
    assert merge_proposals([[once], [often], [often]])[0].text == often
    assert merge_proposals([[often], [once], [once]])[0].text == once
