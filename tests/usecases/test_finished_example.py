"""The finished demo study: simulated and labelled so, the same in every file, with something for every section."""

from __future__ import annotations

from collections import Counter

import pytest

from coeval.datasets.example_studies import SLUG, load_finished_example
from coeval.domain import Arm, Person
from coeval.errors import NotAllowedError
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import get_criteria_set
from coeval.usecases.reports.statistics import get_frames, get_report
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import FINISHED, add_finished_example, ensure_demo
from coeval.usecases.tasks import archive_task

NOT_IN_IT = (
    "spread over samples",
    "all samples agree",
    "drafted score in view",
    "No wrong line",
    "no reference",
)


PEOPLE = {f"Simulated annotator {n}" for n in range(1, 6)}


def test_the_file_is_whole_and_every_arm_overlaps() -> None:
    study = load_finished_example(FINISHED)
    assert {one.person for one in study.submissions} == PEOPLE and len(study.submissions) == 810
    assert len(study.instances) == 60 and study.task.slug == SLUG
    assert len(study.runs) == 2 and [imported.run.shown for imported in study.runs] == [True, False]
    per_unit = Counter((one.instance, one.criterion, one.arm) for one in study.submissions)
    assert {arm for _, _, arm in per_unit} == {Arm.ASSISTED, Arm.BLIND, Arm.FIRST}
    assert min(per_unit.values()) >= 2
    assert {one.planted for one in study.submissions} == {"", "score"}
    assert all((one.first_score is None) == (one.arm is not Arm.FIRST) for one in study.submissions)


def test_a_new_file_has_both_studies_and_nobody_owns_it_yet(context: Context) -> None:
    assert ensure_demo(context) and not ensure_demo(context)
    owner = sign_in(context, "Olu")[0]
    assert [task.slug for task in tasks.list_tasks(context, owner)] == ["demo", SLUG]
    assert not add_finished_example(context) and owner.role == "owner"
    with pytest.raises(NotAllowedError):
        sign_in(context, min(PEOPLE))


def test_every_section_has_something_to_show(context: Context, owner: Person) -> None:
    add_finished_example(context)
    task = tasks.get_task(context, owner, SLUG)
    assert task.origin == "simulated" and "simulated" in task.name.lower()
    current = get_criteria_set(context, owner, SLUG)
    assert current is not None and all(criterion.guide.anchors for criterion in current.criteria)
    frames = get_frames(context, owner, SLUG)
    assert frames.scores["first_score"].notna().sum() > 200 and frames.scores["planted_score"].sum() > 10
    report = get_report(context, owner, SLUG)
    missing = [note for note in report["notes"] if "undefined" in note]
    assert all(any(word in note for word in NOT_IN_IT) for note in missing), missing


def test_an_owner_removes_it_from_the_list(context: Context, owner: Person) -> None:
    add_finished_example(context)
    archive_task(context, owner, SLUG, SLUG)
    assert tasks.list_tasks(context, owner) == []
