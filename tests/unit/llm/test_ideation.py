"""Near-duplicates among criteria."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.rules.criterion_wording import SAME, likeness, merge_proposals

ALIKE = [
    (
        "Be easy to follow and logically coherent.",
        "The answer should be logically coherent and easy to follow.",
    ),
    (
        "Use simple and easy-to-understand language.",
        "The answer uses simple language that is easy to understand.",
    ),
    ("Clarity: the text is easy to read", "Clarity: sentences are clear and easy to read"),
    ("The answer is helpful to the person asking.", "Answers should be helpful to the person who asked."),
]
DIFFERENT = [
    ("The story is engaging.", "The story is coherent."),
    ("The answer is short.", "The answer is helpful."),
    ("The plot follows the requirement.", "The characters follow the requirement."),
    ("The summary has no grammatical errors.", "The summary has no factual errors."),
]


@pytest.mark.parametrize(("left", "right"), ALIKE)
def test_one_thing_in_two_wordings_is_alike(left: str, right: str) -> None:
    assert likeness(left, right) >= SAME


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_two_things_in_one_pattern_are_not(left: str, right: str) -> None:
    assert likeness(left, right) < SAME


WORDS = ["clear", "short", "kind", "true", "fun", "the", "answer", "is", "easy"]
phrases = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@settings(deadline=None)
@given(phrases, phrases)
def test_likeness_is_symmetric_and_bounded(left: str, right: str) -> None:
    assert 0 <= likeness(left, right) <= 100
    assert likeness(left, right) == likeness(right, left)


@settings(deadline=None)
@given(st.lists(st.lists(phrases.filter(bool), max_size=4, unique=True), max_size=4))
def test_merging_keeps_every_wording_and_counts_samples(samples: list[list[str]]) -> None:
    proposals = merge_proposals(samples)
    wordings = [text for one in proposals for text in (one.members or (one.text,))]
    assert sorted(wordings) == sorted({text for sample in samples for text in sample})
    assert all(1 <= one.support <= len(samples) == one.samples for one in proposals)
    assert [one.support for one in proposals] == sorted((one.support for one in proposals), reverse=True)
    assert all(one.text in one.members for one in proposals if one.members)
