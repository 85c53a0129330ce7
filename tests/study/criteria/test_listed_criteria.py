"""Criteria established from a list, as a script does it."""

from __future__ import annotations

import pytest

from coeval.domain import Person, Scale, Study
from coeval.errors import InputError
from coeval.study.access import Context
from coeval.study.criteria.listed import establish_list
from coeval.study.importing.importing import import_study


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
        ([], "holds 0 criteria"),
        (["Be kind.", "Be kind."], "Line 2: “Be kind.” stands there twice"),
        (["Be kind.\t5-1"], "Line 1: the scale 5-1 must rise"),
        (["Be true.\t1-3"], "has the scale 1-5 already"),
    ],
)
def test_a_list_that_cannot_be_is_refused(
    context: Context, ready: Person, lines: list[str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        establish_list(context, ready, "demo", lines)
