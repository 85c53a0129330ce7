"""Assistant evaluators: known values, ranges, what is missing, and how far fused scores follow them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.extensions.fusion.assistants import (
    Assistant,
    describe_assistants,
    imported_assistant,
    list_assistants,
    render_assistant_scores,
    rouge_l,
    rouge_n,
)
from coeval.extensions.fusion.protocol import score_instances

SAME = Instance("same", "a b", "The cat sat on the mat.", reference="The cat sat on the mat.")
PART = Instance("part", "a b", "the cats sat", reference="the cat sat down")
NONE = Instance("none", "a b", "the cat sat")


def test_measures_against_known_values() -> None:
    scores = score_instances(list_assistants(), [SAME, PART, NONE])
    assert list(scores) == ["ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "chrF", "TF-IDF cosine"]
    assert [same for same, _, _ in scores.values()] == pytest.approx([1, 1, 1, 100, 100, 1])
    # stemmed, "the cats sat" is the cat sat: 3 of 3 words of the output and 3 of 4 of the reference are
    # common, F1 = 2 * 1 * .75 / 1.75; word pairs: 2 of 2 and 2 of 3, F1 = 2 * 1 * (2/3) / (5/3) = .8
    assert scores["ROUGE-1"][1] == pytest.approx(2 * 0.75 / 1.75)
    assert scores["ROUGE-2"][1] == pytest.approx(0.8)
    assert scores["ROUGE-L"][1] == pytest.approx(2 * 0.75 / 1.75)
    assert all(math.isnan(none) for _, _, none in scores.values())


def test_imported_columns_are_checked_against_their_range() -> None:
    bleurt = imported_assistant("BLEURT", "A learnt measure", -2, 1, {"same": 0.5})
    assert score_instances([bleurt], [SAME, PART])["BLEURT"][0] == 0.5
    assert math.isnan(score_instances([bleurt], [PART])["BLEURT"][0])
    with pytest.raises(InputError, match=r"'BLEURT' has the score 3 for 'same', outside its range -2 to 1"):
        imported_assistant("BLEURT", "A learnt measure", -2, 1, {"same": 3})


@pytest.mark.parametrize(
    "values", [{"direction": "up"}, {"low": 1.0, "high": 1.0}, {"name": " "}, {"low": math.nan}]
)
def test_impossible_assistants_are_refused(values: dict[str, object]) -> None:
    fields: dict[str, object] = {"name": "x", "description": "", "low": 0.0, "high": 1.0} | values
    with pytest.raises(InputError):
        Assistant(**fields)  # type: ignore[arg-type]


def test_two_of_one_name_or_one_without_scores_are_refused() -> None:
    one = imported_assistant("x", "", 0, 1, {})
    with pytest.raises(InputError, match="share a name"):
        score_instances([one, one], [SAME])
    with pytest.raises(InputError, match="has no scores"):
        score_instances([Assistant("y", "", 0, 1)], [SAME])
    with pytest.raises(InputError, match="choose reference or input"):
        list_assistants("nothing")


def test_the_model_is_told_what_each_assistant_is() -> None:
    nli = Assistant("NLI", "Contradictions.", 0, math.inf, "lower", (), ("Be true.",))
    assert describe_assistants([nli], {"Be true.": 2}) == (
        "1. NLI: Contradictions. Range 0 to infinity; lower is better. Bears on criterion [2]."
    )
    usual = imported_assistant("NLI", "", 0, 1, {})
    assert describe_assistants([usual], {}) == (
        "1. NLI: Whether the input (premise) entails the output (hypothesis). Range 0 to 1; higher is better. "
        "Looks at: input, output."
    )
    assert (
        render_assistant_scores([nli], {"NLI": 0.123456}) == "- NLI (0 to infinity, lower is better): 0.1235"
    )
    assert render_assistant_scores([nli], {"NLI": math.nan}).endswith("not available")


@pytest.mark.parametrize(
    ("output", "reference", "scores"),
    [
        ("The cats sat on the mats.", "the cat sat down on a mat", (0.769231, 0.363636, 0.769231)),
        ("Ferries leave the island daily at noon.", "The ferry leaves the island at noon every day.",
         (0.75, 0.571429, 0.75)),
        ("Running dogs bark loudly at 12 mailmen.", "A dog ran and barked at the mailman 12 times.",
         (0.470588, 0.0, 0.470588)),
        ("", "The ferry", (0.0, 0.0, 0.0)),
    ],
)  # fmt: skip
def test_rouge_gives_the_numbers_of_rouge_score(
    output: str, reference: str, scores: tuple[float, float, float]
) -> None:
    """The expected numbers are those of Google's rouge-score 0.1.2 with its stemmer."""
    ours = (rouge_n(output, reference, 1), rouge_n(output, reference, 2), rouge_l(output, reference))
    assert ours == pytest.approx(scores, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.5], "gave 1 scores for 2 instances"),
        ([0.5, 7.0], "gave 7, outside its range 0 to 1"),
        ([0.5, "x"], "gave a score that is not a number"),
    ],
)
def test_what_an_assistant_gives_is_checked(scores: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        score_instances([Assistant("mine", "", 0, 1, score=lambda rows: scores)], [SAME, PART])
