"""A score given where there was no draft yet is neither assisted nor blind: it is told apart wherever it is counted."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import islice

import pytest

from coeval.domain import Arm, Filter, ImportedRun, Person, Study, Submission
from coeval.errors import InputError, NotFoundError
from coeval.rules.arms import Design
from coeval.usecases.access import Context
from coeval.usecases.export import export_table
from coeval.usecases.reports.statistics import get_frames, get_paper_tables, get_report
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.review import compare_people
from coeval.usecases.scrutiny.steps import Where, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import show_run
from tests.support.studies.scrutiny_steps import save, walk


@pytest.fixture
def half_drafted(context: Context, owner: Person, study: Study) -> Person:
    """A study of which only the second criterion is drafted, and Ana, who judged the first instance by both."""
    drafts = tuple(one for one in study.runs[0].drafts if one.criterion == study.criteria[1].text)
    import_study(context, owner, replace(study, runs=(ImportedRun(study.runs[0].run, drafts),)))
    ana = sign_in(context, "Ana")[0]
    for step in islice(walk(context, ana), len(study.criteria)):
        save(context, ana, step, 2)
    return ana


def test_it_is_kept_apart_in_exports_statistics_and_review(
    context: Context, owner: Person, half_drafted: Person
) -> None:
    target = io.StringIO()
    export_table(context, owner, "demo", "scores.csv", target)
    told = {row["criterion"]: row["arm"] for row in csv.DictReader(io.StringIO(target.getvalue()))}
    assert told == {"Use simple words.": "undrafted", "Be true.": "assisted"}
    frames = get_frames(context, owner, "demo")
    assert sorted(frames.scores["arm"]) == ["assisted", "undrafted"]
    assert set(frames.actions["arm"]) == {"assisted", "undrafted"}


def test_no_figure_of_the_assisted_arm_rests_on_it(
    context: Context, owner: Person, half_drafted: Person
) -> None:
    report = get_report(context, owner, "demo")
    counted = {
        row["source"]: row["n"] for row in report["behaviour"]["distributions"] if row["system"] is None
    }
    assert counted["people"] == 2
    words = str(get_paper_tables(context, owner, "demo")["methods.md"])
    assert "1 (50%) with the draft in view, 1 (50%) where no draft could be read" in words


def test_once_there_is_a_draft_a_further_save_is_assisted(
    context: Context, owner: Person, half_drafted: Person, study: Study
) -> None:
    step = next(walk(context, half_drafted))
    assert step.instance
    name = step.instance.external_id
    assert [one.outcome for one in latest(context, owner, name)] == [Arm.UNDRAFTED]
    whole = ImportedRun(replace(study.runs[0].run, label="whole", shown=False), study.runs[0].drafts)
    import_study(context, owner, replace(study, runs=(whole,)))
    show_run(context, owner, "demo", "whole")
    save(context, half_drafted, next(walk(context, half_drafted)), 3)
    assert [one.outcome for one in latest(context, owner, name)] == [Arm.ASSISTED]


def test_the_owner_may_hold_back_what_has_no_draft(
    context: Context, owner: Person, half_drafted: Person, study: Study
) -> None:
    set_design(context, owner, "demo", Design(wait_for_drafts=True))
    ben = sign_in(context, "Ben")[0]
    ended = get_step(context, ben, "demo")
    assert ended.assignment is None and ended.waits, "no instance has all of its drafts"
    with pytest.raises(NotFoundError, match="Number 1 of your queue waits for drafts"):
        get_step(context, ben, "demo", Where(position=1))
    # Ana has opened an instance: what is drafted of it can be judged, the rest waits
    step = get_step(context, half_drafted, "demo", Where(position=1, which=Filter.ALL))
    assert step.instance and step.criterion
    whole = ImportedRun(replace(study.runs[0].run, label="whole", shown=False), study.runs[0].drafts)
    import_study(context, owner, replace(study, runs=(whole,)))
    show_run(context, owner, "demo", "whole")
    ready = get_step(context, ben, "demo")
    assert ready.draft is not None and not ready.waits


def test_a_new_criterion_waits_on_an_opened_instance(context: Context, owner: Person, study: Study) -> None:
    drafts = tuple(one for one in study.runs[0].drafts if one.criterion == study.criteria[1].text)
    import_study(context, owner, replace(study, runs=(ImportedRun(study.runs[0].run, drafts),)))
    ana = sign_in(context, "Ana")[0]
    opened = get_step(context, ana, "demo")
    assert opened.instance and opened.criterion and opened.draft is None
    set_design(context, owner, "demo", Design(wait_for_drafts=True))
    step = get_step(context, ana, "demo", Where(instance=opened.instance.id))
    assert step.criterion and step.criterion.text == study.criteria[1].text and step.draft is not None
    held = get_step(context, ana, "demo", Where(instance=opened.instance.id, criterion=opened.criterion.id))
    assert held.waits
    with pytest.raises(InputError, match="This criterion is waiting for the model's draft"):
        save(context, ana, held, 3)
    save(context, ana, step, 3)
    assert get_step(context, ana, "demo").assignment is None, "nothing else is ready"


def latest(context: Context, owner: Person, instance: str) -> list[Submission]:
    """What everybody saved last of an instance by the first criterion."""
    return [column.latest for column in compare_people(context, owner, "demo", instance, 1).columns]
