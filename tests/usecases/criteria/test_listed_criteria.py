"""Criteria established from a list, as a script does it."""

from __future__ import annotations

import pytest

from coeval.domain import Person, Scale, Study
from coeval.errors import InputError
from coeval.usecases.access import Context
from coeval.usecases.criteria_sets import establish_list, establish_preset, set_guide
from coeval.usecases.study_import import import_study


@pytest.fixture
def ready(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return owner


def test_a_list_becomes_the_next_set_and_keeps_what_it_had(context: Context, ready: Person) -> None:
    lines = ["# ours", "", "Be true.", "Be brief.\t0-1"]
    second = establish_list(context, ready, "demo", lines)
    assert [(c.text, c.scale) for c in second.criteria] == [("Be true.", Scale()), ("Be brief.", Scale(0, 1))]
    assert (second.version, second.criteria[0].id) == (2, 2)  # “Be true.” is the criterion it was
    assert establish_list(context, ready, "demo", lines).version == 2


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "has 0 criteria"),
        (["Be kind.", "Be kind."], "Line 2: “Be kind.” is in the list twice"),
        (["Be kind.\t5-1"], "Line 1: the scale 5-1 must rise"),
        (["Be true.\t1-3"], "already has the scale 1-5"),
        (["Be true.\t1-5\tIs it true?"], "already has another question"),
    ],
)
def test_a_list_that_cannot_be_is_refused(
    context: Context, ready: Person, lines: list[str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        establish_list(context, ready, "demo", lines)


def test_a_line_may_end_in_the_question_that_is_asked(context: Context, ready: Person) -> None:
    (member,) = establish_list(context, ready, "demo", ["Be brief.\t0-1\tIs it brief?"]).criteria
    assert (member.text, member.scale, member.question) == ("Be brief.", Scale(0, 1), "Is it brief?")


def test_a_preset_brings_its_criteria_with_names_scales_and_questions(
    context: Context, ready: Person
) -> None:
    established = establish_preset(context, ready, "demo", "g-eval-topical-chat")
    assert [(one.name, str(one.scale)) for one in established.criteria] == [
        ("Naturalness", "1-3"),
        ("Coherence", "1-3"),
        ("Engagingness", "1-3"),
        ("Groundedness", "0-1"),
    ]
    assert established.criteria[3].question == "Does the response use the given piece of knowledge?"
    assert [score for score, _ in established.criteria[0].guide.anchors] == [1, 2, 3]
    own = established.criteria[3]
    set_guide(context, ready, "demo", own.text, definition="", anchors="0: no use", examples="")
    establish_preset(context, ready, "demo", "closer-look")
    again = establish_preset(context, ready, "demo", "g-eval-topical-chat")
    assert again.criteria[3].guide.anchors == ((0, "no use"),), "what a person wrote is not replaced"
    assert establish_preset(context, ready, "demo", "g-eval-topical-chat").version == again.version
    with pytest.raises(InputError, match="has no criteria of its own"):
        establish_preset(context, ready, "demo", "coeval-paper")
