"""How to score by a criterion: written by owners, read by people and models, exported, and kept on record."""

from __future__ import annotations

import json

import pytest

from coeval.domain import Guide, Person, Study
from coeval.errors import InputError, NotFoundError
from coeval.llm.prompting.template_files import JudgeOptions, list_criteria, render_case
from coeval.ui.app.step_json import step_json
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import get_criteria_set
from coeval.usecases.criteria_sets import set_guide
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.study_import import import_study
from tests.usecases.exported import read_export

TEXT = "Use simple words."
WORDS = {"definition": "Words of every day.", "anchors": "1: hard\n5 - easy", "examples": "- *cat*: simple"}


@pytest.fixture
def guided(context: Context, owner: Person, study: Study) -> Context:
    import_study(context, owner, study)
    set_guide(context, owner, "demo", TEXT, **WORDS)
    return context


def test_a_guide_is_read_with_its_criterion_and_the_last_one_counts(guided: Context, owner: Person) -> None:
    set_guide(guided, owner, "demo", TEXT, definition="", anchors="3: so so", examples="")
    set_guide(guided, owner, "demo", TEXT, **WORDS)
    current = get_criteria_set(guided, owner, "demo")
    assert current.criteria[0].guide == Guide(
        "Words of every day.", ((1, "hard"), (5, "easy")), "- *cat*: simple"
    )
    assert current.criteria[1].guide == Guide()
    with guided.store.read() as db:
        kept = [row["definition"] for row in db.query("SELECT definition FROM criterion_guide ORDER BY id")]
    assert kept == ["Words of every day.", "", "Words of every day."]


@pytest.mark.parametrize("anchors", ["easy", "6: too good", "0: nothing", "1: bad\n1: worse"])
def test_lines_that_describe_no_score_are_refused(guided: Context, owner: Person, anchors: str) -> None:
    with pytest.raises(InputError, match="score"):
        set_guide(guided, owner, "demo", TEXT, definition="", anchors=anchors, examples="")


def test_a_criterion_that_is_not_of_the_set_is_refused(guided: Context, owner: Person) -> None:
    with pytest.raises(NotFoundError, match="do not include “Be loud.”"):
        set_guide(guided, owner, "demo", "Be loud.", **WORDS)


def test_the_judge_reads_it_below_the_criterion(guided: Context, owner: Person, study: Study) -> None:
    current = get_criteria_set(guided, owner, "demo")
    case = render_case(study.task, current.criteria[0], study.instances[0], JudgeOptions("m"))["case"]
    said = "Use simple words.\nDefinition: Words of every day.\nWhat the scores mean:\n1: hard\n5: easy\nExamples:\n"
    assert said in str(case) and "Definition: Words" in list_criteria(current.criteria)
    other = render_case(study.task, current.criteria[1], study.instances[0], JudgeOptions("m"))["case"]
    assert "Definition" not in str(other)


def test_people_see_it_where_they_score(guided: Context, owner: Person) -> None:
    shown = step_json(get_step(guided, owner, "demo"))
    assert shown["evaluation"]["anchors"] == ((1, "hard"), (5, "easy"))
    assert shown["criteria"][0]["definition"] == "Words of every day."
    assert shown["criteria"][0]["examples"] == "- *cat*: simple" and shown["criteria"][1]["examples"] == ""


def test_it_is_exported(guided: Context, owner: Person) -> None:
    first, second = read_export(guided, owner, "criteria.csv")
    assert json.loads(first["anchors"]) == [[1, "hard"], [5, "easy"]]
    assert (first["definition"], second["definition"], second["anchors"]) == ("Words of every day.", "", "[]")
