"""What a judge leaves to people: found by its log-probabilities, assigned to the team, and kept out of the labels."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from coeval.domain import Action, Arm, Person, RowKind, ScrutinyRow, Submission
from coeval.errors import InputError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.certification import certify
from coeval.extensions.judge.deferred_lines import assign_deferred, end_asking, list_deferred
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.queries_seal import list_dev_reasons
from coeval.extensions.judge.seal import seal_task
from coeval.extensions.judge.state import get_judge_state
from coeval.store.queries import criteria, submissions, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import list_progress
from tests.support.studies.scrutiny_steps import go_on, save
from tests.support.studies.unsure_study import BRIEF, THRESHOLD, TRUE, UNSURE_LINES, make_unsure_study
from tests.usecases.exported import read_export


@pytest.fixture
def fitted(context: Context) -> Context:
    import_study(context, OPERATOR, make_unsure_study())
    seal_task(context, OPERATOR, "demo")
    frozen = fit_judge(context, OPERATOR, "demo", wishes=THRESHOLD)
    assert frozen.fitted.deferral and frozen.fitted.deferral.kind == "probability"
    return context


def met(context: Context, person: Person) -> list[tuple[str, tuple[str, ...]]]:
    """What a person is led through, each saved: the instance, and the criteria that the screen shows."""
    seen, step = [], get_step(context, person, "demo")
    while step.assignment is not None:
        seen.append((step.instance.external_id, tuple(one.text for one in step.criteria)))
        save(context, person, step, 2)
        step = go_on(context, person, step)
    return seen


def test_confidence_comes_from_log_probabilities_where_there_are_no_samples(fitted: Context) -> None:
    deferred = list_deferred(fitted, OPERATOR, "demo")
    assert {(line.instance, line.criterion) for line in deferred.lines} == UNSURE_LINES
    assert {line.confidence for line in deferred.lines} == {0.2} and {
        line.score for line in deferred.lines
    } == {3}
    assert deferred.judged == 120 and deferred.to_people > len(deferred.lines)
    kept = [json.loads(line["probabilities"]) for line in read_export(fitted, OPERATOR, "drafts.csv")]
    assert kept and all(len(each) == 5 for each in kept) and [0.2] * 5 in kept


def test_the_team_meets_just_what_is_assigned_and_everything_again_when_it_ends(fitted: Context) -> None:
    cat, dee = (sign_in(fitted, name)[0] for name in ("Cat", "Dee"))
    get_step(fitted, cat, "demo")  # has opened one of 60 before
    assert assign_deferred(fitted, OPERATOR, "demo") == len(UNSURE_LINES)
    asked = get_judge_state(fitted, OPERATOR, "demo").asking
    assert asked and (asked.lines, asked.scored) == (len(UNSURE_LINES), 0)
    instances = {name for name, _ in UNSURE_LINES}
    seen = met(fitted, dee)
    assert sorted(seen) == sorted(
        (name, tuple(text for text in (TRUE, BRIEF) if (name, text) in UNSURE_LINES))
        for name, _ in UNSURE_LINES
    )
    step = get_step(fitted, dee, "demo")
    assert step.assignment is None and step.total == step.finished == len(instances)
    assert {name for name, _ in met(fitted, cat)} - instances <= {f"i{n}" for n in range(60)}
    progress = {
        row["name"]: (row["total"], row["finished"]) for row in list_progress(fitted, OPERATOR, "demo")
    }
    assert progress["Dee"] == (len(instances), len(instances)) and progress["Cat"][0] <= len(instances) + 1
    assert not list_deferred(fitted, OPERATOR, "demo").lines
    with pytest.raises(InputError, match="all of these: no line is left to assign"):
        assign_deferred(fitted, OPERATOR, "demo")
    end_asking(fitted, OPERATOR, "demo")
    assert get_judge_state(fitted, OPERATOR, "demo").asking is None
    step = get_step(fitted, dee, "demo")
    whole = {name for name in instances if {(name, TRUE), (name, BRIEF)} <= UNSURE_LINES}
    assert step.total == 60 and step.finished == len(whole) and len(step.criteria) == 2
    assert len(met(fitted, dee)) == 120 - len(UNSURE_LINES)


@pytest.mark.slow
def test_what_was_asked_for_its_doubts_is_no_label(fitted: Context) -> None:
    """People say 2 of everything they are asked: had it been learned from or certified on, it would show."""
    before = fit_judge(fitted, OPERATOR, "demo", wishes=THRESHOLD)
    assign_deferred(fitted, OPERATOR, "demo")
    met(fitted, sign_in(fitted, "Dee")[0])
    after = fit_judge(fitted, OPERATOR, "demo", wishes=THRESHOLD)
    assert after.dev == before.dev and after.hash == before.hash
    assert certify(fitted, OPERATOR, "demo", "opening 1").people.people == 2
    counts = get_judge_state(fitted, OPERATOR, "demo").counts
    assert {people for people, _, _ in counts.values()} == {2}


def test_a_score_from_before_the_asking_stays_with_its_own_reason_whatever_is_revised_later(
    fitted: Context,
) -> None:
    """And what is said of a draft made wrong on purpose is neither a label nor a reason."""
    (cat, dee), (name, text) = (sign_in(fitted, one)[0] for one in ("Cat", "Dee")), find_dev_line(fitted)
    with fitted.store.write() as db:
        task, current = tasks.get_task(db, "demo"), criteria.get_criteria_set(db, 1)
        (instance,) = tasks.get_instances_by_external_id(db, task.id, [name]).values()
        seal = queries_seal.get_seal(db, task.id)
        other = next(one for one in current.criteria if one.text != text)

        def save_as(person: Person, score: float, reason: str, revision: int, **more: Any) -> None:
            row = ScrutinyRow(RowKind.SCORE, Action.REVISE, reason=reason, text=f"{score:g}")
            given = Submission(
                uid=f"{person.name} {revision}", person=person.id, instance=instance.id, criterion=other.id,
                draft=None, score=score, rows=(row,), revision=revision, **more,
            )  # fmt: skip
            submissions.record_submission(db, given)

        save_as(cat, 5.0, "before", 1, arm=Arm.BLIND)
        save_as(dee, 4.0, "planted", 1, arm=Arm.ASSISTED, planted="score")
    assert assign_deferred(fitted, OPERATOR, "demo")
    with fitted.store.write() as db:
        save_as(cat, 1.0, "after", 2, arm=Arm.BLIND)
        given = queries_seal.list_dev_labels(db, task.id, current.id, seal)
        reasons = list_dev_reasons(db, task.id, current.id, seal)
    assert {one.person: one.score for one in given if one.instance == name} == {cat.id: 5.0}
    assert reasons == {(cat.id, name, other.text): "before"}


def find_dev_line(context: Context) -> tuple[str, str]:
    """A line of the dev part that people will be asked for; the other criterion is sure."""
    with context.store.read() as db:
        rows = db.query("SELECT document FROM sealed_document WHERE part = 'dev'")
        dev = {row["document"].replace("d", "i") for row in rows}
    names = Counter(name for name, _ in UNSURE_LINES)
    return min((name, text) for name, text in UNSURE_LINES if name in dev and names[name] == 1)


def test_a_save_that_was_under_way_is_kept(fitted: Context) -> None:
    """A person has a whole instance on the screen when the work is narrowed: what they send then is saved."""
    cat = sign_in(fitted, "Cat")[0]
    step = get_step(fitted, cat, "demo")
    assign_deferred(fitted, OPERATOR, "demo")
    saved: Submission = save(fitted, cat, step, 2)
    assert saved.revision == 1
