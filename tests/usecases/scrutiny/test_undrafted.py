"""A score given where there was no draft yet is neither assisted nor blind; its counts are in ``test_counts``."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from coeval.domain import Arm, ImportedRun, Person, Study, Submission
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.review import compare_people
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


def latest(context: Context, owner: Person, instance: str) -> list[Submission]:
    """What everybody saved last of an instance by the first criterion."""
    return [column.latest for column in compare_people(context, owner, "demo", instance, 1).columns]
