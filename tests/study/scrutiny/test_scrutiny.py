"""Going through one's queue and saving: order, filters, staleness, one save per key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import Action, Arm, Filter, Person, RowKind, Study
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.rules.evaluation_rows import SentRow
from coeval.study.access import Context
from coeval.study.importing.importing import import_study
from coeval.study.people.sessions import sign_in
from coeval.study.scrutiny.steps import Move, Sent, Step, Where, get_step, list_history, mark_instance, submit


@pytest.fixture
def ana(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return sign_in(context, "Ana")[0]


def sent(step: Step, uid: str = "uid-00000001", score: float = 4, revision: int | None = None) -> Sent:
    assert step.instance and step.criterion and step.draft
    rows = tuple(SentRow(row.id, Action.APPROVE) for row in step.draft.rows if row.kind is not RowKind.SCORE)
    saved = step.saved.revision if step.saved else 0
    return Sent(
        uid,
        step.instance.id,
        step.criterion.id,
        step.draft.id,
        saved if revision is None else revision,
        score,
        rows,
    )


def test_a_whole_queue_from_start_to_end(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    assert (step.total, step.finished, step.assignment and step.assignment.position) == (4, 0, 1)
    seen = []
    while step.assignment is not None:
        assert step.instance and step.criterion
        seen.append((step.instance.id, step.criterion.id))
        submit(context, ana, "demo", sent(step, f"uid-{len(seen):08}"))
        onward = Where(instance=step.instance.id, criterion=step.criterion.id, move=Move.NEXT)
        step = get_step(context, ana, "demo", onward)
    assert len(seen) == len(set(seen)) == 8  # 4 instances by 2 criteria, each once
    assert [instance for instance, _ in seen[::2]] == [instance for instance, _ in seen[1::2]]
    assert (step.finished, step.total) == (4, 4)


def test_orders_differ_between_people_and_not_between_visits(context: Context, owner: Person) -> None:
    from tests.conftest import make_study

    import_study(context, owner, make_study(20))
    orders = []
    for name in ("Ana", "Ben", "Ana"):
        person = sign_in(context, name)[0]
        steps = [get_step(context, person, "demo", Where(position=n)) for n in range(1, 41)]
        orders.append([step.instance.id for step in steps if step.instance])
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_going_back_shows_what_was_saved_and_keeps_history(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    assert step.instance and step.criterion
    submit(context, ana, "demo", sent(step, score=2))
    back = get_step(context, ana, "demo", Where(instance=step.instance.id, criterion=step.criterion.id))
    assert back.saved and (back.saved.score, back.saved.revision) == (2, 1)
    submit(context, ana, "demo", sent(back, "uid-00000002", score=3))
    history = list_history(context, ana, "demo", step.instance.id, step.criterion.id)
    assert [(one.revision, one.score) for one in history] == [(1, 2), (2, 3)]


def test_the_same_key_is_saved_once(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    assert step.instance and step.criterion
    first, again = (submit(context, ana, "demo", sent(step)) for _ in range(2))
    assert first.id == again.id
    assert len(list_history(context, ana, "demo", step.instance.id, step.criterion.id)) == 1
    other = replace(sent(step), criterion=step.criteria[1].id)
    with pytest.raises(InputError, match="key of another"):
        submit(context, ana, "demo", other)


def test_a_stale_save_is_refused_and_changes_nothing(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    submit(context, ana, "demo", sent(step, score=5))
    with pytest.raises(StaleError, match="another tab"):
        submit(context, ana, "demo", sent(step, "uid-00000002", score=1))
    assert step.instance and step.criterion
    now = get_step(context, ana, "demo", Where(instance=step.instance.id, criterion=step.criterion.id))
    assert now.saved and now.saved.score == 5


def test_a_refused_save_leaves_no_trace(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    with pytest.raises(InputError, match="not on the scale"):
        submit(context, ana, "demo", sent(step, score=9))
    assert get_step(context, ana, "demo").finished == 0


def test_others_work_and_others_instances_are_out_of_reach(
    context: Context, owner: Person, ana: Person
) -> None:
    step = get_step(context, ana, "demo")
    submit(context, ana, "demo", sent(step, score=5))
    assert step.instance and step.criterion
    here = Where(instance=step.instance.id, criterion=step.criterion.id)
    assert get_step(context, owner, "demo", here).saved is None
    with pytest.raises(NotFoundError, match="not in your queue"):
        get_step(context, ana, "demo", Where(instance=10_000))
    with pytest.raises(NotFoundError, match="type 1 to 4"):
        get_step(context, ana, "demo", Where(position=5))


def test_filters(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo", Where(position=3))
    assert step.instance
    mark_instance(context, ana, "demo", step.instance.id, flagged=True, comment=" odd ")
    flagged = get_step(context, ana, "demo", Where(Filter.FLAGGED))
    assert flagged.instance and flagged.instance.id == step.instance.id
    assert (flagged.flagged, flagged.mark.comment) == (1, "odd")
    mark_instance(context, ana, "demo", step.instance.id, flagged=False)
    assert get_step(context, ana, "demo", Where(Filter.FLAGGED)).assignment is None


def test_new_instances_join_the_queue_at_its_end(
    context: Context, owner: Person, ana: Person, study: Study
) -> None:
    first = [get_step(context, ana, "demo", Where(position=n)).instance for n in range(1, 5)]
    more = replace(study.instances[0], external_id="late", output="Another answer.")
    import_study(context, owner, Study(study.task, (more,)))
    step = get_step(context, ana, "demo", Where(position=5))
    assert step.total == 5 and step.instance and step.instance.external_id == "late"
    assert [get_step(context, ana, "demo", Where(position=n)).instance for n in range(1, 5)] == first


def test_blind_assignments_take_no_drafted_rows(context: Context, owner: Person, ana: Person) -> None:
    drafted = sent(get_step(context, owner, "demo"))
    with context.store.write() as db:
        db.conn.execute("UPDATE task SET blind_share = 1")
    step = get_step(context, ana, "demo", Where(instance=drafted.instance, criterion=drafted.criterion))
    assert step.assignment and step.assignment.arm is Arm.BLIND
    assert step.draft is None
    with pytest.raises(StaleError):
        submit(context, ana, "demo", drafted)
    with pytest.raises(InputError, match="not part of the draft"):
        submit(context, ana, "demo", replace(drafted, draft=None))
    saved = submit(context, ana, "demo", replace(drafted, uid="uid-00000002", draft=None, rows=()))
    assert saved.draft == drafted.draft  # the withheld draft is kept for the analysis
    assert [row.kind for row in saved.rows] == [RowKind.SCORE]
    assert saved.shown_score is None


def test_without_criteria_the_way_is_shown(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, Study(study.task, study.instances))
    with pytest.raises(NotFoundError, match="vote in the Criteria tab"):
        get_step(context, owner, "demo")
