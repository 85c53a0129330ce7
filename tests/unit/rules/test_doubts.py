"""Doubts about criteria: what is joined, what no text shows, and what says the same twice."""

from __future__ import annotations

import pytest

from coeval.rules.criterion_wording import FindingKind, lint_criteria, split_criterion


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("The reply should be kind and short.", ("The reply should be kind.", "The reply should be short.")),
        ("Answers are short as well as polite.", ("Answers are short.", "Answers are polite.")),
        ("The style is plain but also exact.", ("The style is plain.", "The style is exact.")),
        # the second part brings its own verb
        ("Avoid jargon and explain terms", ("Avoid jargon.", "Explain terms.")),
        ("It should be short and must cite a source.", ("It should be short.", "It must cite a source.")),
        ("Cite sources and is polite.", ("Cite sources.", "Is polite.")),
        # ... or shares the helping verb of the first
        ("It should avoid slang and use plain words.", ("It should avoid slang.", "It should use plain words.")),
        ("It must be short and cite a source.", ("It must be short.", "It must cite a source.")),
        # ... or is a sentence
        ("The reply is kind, and it is short.", ("The reply is kind.", "It is short.")),
        # what stands in brackets joins nothing
        ("The text (and its title) is short and clear.", ("The text  is short.", "The text  is clear.")),
        ("Be easy to follow and logically coherent.", ("Be easy to follow.", "Be logically coherent.")),
        (
            "The story is engaging and has a surprising end.",
            ("The story is engaging.", "The story has a surprising end."),
        ),
        (
            "The story follows the requirement and avoids clichés",
            ("The story follows the requirement.", "The story avoids clichés."),
        ),
        (
            "Answers should be true and cannot mislead.",
            ("Answers should be true.", "Answers cannot mislead."),
        ),
        ("The answer is free of errors in grammar and spelling.", ()),
        ("The answer is short, clear and kind.", ()),
        ("Use simple and easy-to-understand language.", ()),
        ("Be clear.", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_two_statements_are_told_apart(text: str, parts: tuple[str, ...]) -> None:
    assert split_criterion(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Use simple words.",
        "It is short and sweet and good.",
        "It is short, plain and good.",
        "Use clear grammar and spelling.",
        "The text (and its title) is short.",
        "The answer is of use in class and polite.",
        "and short",
    ],
)
def test_one_statement_is_left_alone(text: str) -> None:
    assert split_criterion(text) == ()


def test_findings_come_in_the_order_of_the_criteria() -> None:
    texts = ["Be brief and be kind.", "Loads with low latency.", "Keep it brief and kind.", "Be true."]
    double, unseen, overlap = lint_criteria(texts)
    assert (double.kind, double.index, double.suggestion, double.other) == (
        FindingKind.DOUBLE, 0, ("Be brief.", "Be kind."), None,
    )  # fmt: skip
    assert double.message.startswith("“Be brief and be kind.” seems to ask for two things:")
    assert (unseen.kind, unseen.index, unseen.suggestion) == (FindingKind.UNJUDGEABLE, 1, ())
    assert "“Loads with low latency.” speaks of “latency”" in unseen.message
    # the longer of the two is suggested
    assert (overlap.kind, overlap.index, overlap.other) == (FindingKind.OVERLAP, 2, 0)
    assert overlap.suggestion == ("Keep it brief and kind.",)
    assert "“Keep it brief and kind.” overlaps with “Be brief and be kind.”" in overlap.message


def test_of_two_that_overlap_the_longer_is_suggested_whichever_comes_first() -> None:
    (overlap,) = lint_criteria(["Keep it brief, please.", "Be brief."])
    assert overlap.suggestion == ("Keep it brief, please.",)
    assert overlap.message == (
        "“Be brief.” overlaps with “Keep it brief, please.”: one fault would be counted twice. Merge them, or say what "
        "sets them apart."
    )
