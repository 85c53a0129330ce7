"""Going through one's queue and saving: order, filters, staleness, one save per key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from threading import Event, Thread, current_thread
from threading import enumerate as list_threads

import pytest

from coeval.domain import Action, Arm, Filter, Person, RowKind, ScrutinyRow, Study
from coeval.errors import BusyError, InputError, NotFoundError, StaleError
from coeval.rules.arms import Aliases, draw_order
from coeval.rules.evaluation_rows import Sent, SentRow
from coeval.store import Database
from coeval.store.queries import assignments, submissions, tasks
from coeval.usecases.access import Context, require_task
from coeval.usecases.scrutiny.steps import (
    RESUME,
    Move,
    Step,
    Where,
    get_aliases,
    get_step,
    list_history,
    mark_instance,
    submit,
    submit_sheet,
)
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import list_progress


@pytest.fixture
def ana(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return sign_in(context, "Ana")[0]


def sent(step: Step, uid: str = "uid-00000001", score: float = 4, revision: int | None = None) -> Sent:
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
        seen.append((step.instance.id, step.criterion.id))
        submit(context, ana, "demo", sent(step, f"uid-{len(seen):08}"))
        onward = Where(instance=step.instance.id, criterion=step.criterion.id, move=Move.NEXT)
        step = get_step(context, ana, "demo", onward)
        assert len(seen) <= 8, "what was saved is asked for again"
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


def test_the_same_key_is_saved_once(context: Context, owner: Person, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    first, again = (submit(context, ana, "demo", sent(step)) for _ in range(2))
    assert first.id == again.id
    assert len(list_history(context, ana, "demo", step.instance.id, step.criterion.id)) == 1
    other = replace(sent(step), criterion=step.criteria[1].id)
    for person, again_sent in ((ana, other), (owner, sent(step))):
        with pytest.raises(InputError, match="key of another"):
            submit(context, person, "demo", again_sent)


def test_a_key_has_from_8_to_80_characters(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    for length in (7, 81):
        with pytest.raises(InputError, match="has no key"):
            submit(context, ana, "demo", sent(step, "u" * length))
    assert submit(context, ana, "demo", sent(step, "u" * 80)).uid == "u" * 80
    again = sent(step, "u" * 8, revision=1)
    assert submit(context, ana, "demo", again).revision == 2


def test_every_line_of_a_long_evaluation_is_kept(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    one = submit(context, ana, "demo", sent(step))
    lines = tuple(ScrutinyRow(RowKind.EVIDENCE, Action.ADD, text=f"line {n}") for n in range(250))
    with context.store.write() as db:
        submissions.record_submission(db, replace(one, uid="uid-of-many", revision=2, rows=lines))
    with context.store.read() as db:
        kept = submissions.get_by_uid(db, "uid-of-many")
    assert kept and kept.rows == lines


def test_a_stale_save_is_refused_and_changes_nothing(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    submit(context, ana, "demo", sent(step, score=5))
    with pytest.raises(StaleError, match="Another tab"):
        submit(context, ana, "demo", sent(step, "uid-00000002", score=1))
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
    here = Where(instance=step.instance.id, criterion=step.criterion.id)
    assert get_step(context, owner, "demo", here).saved is None
    with pytest.raises(NotFoundError, match="not in your queue"):
        get_step(context, ana, "demo", Where(instance=10_000))
    for door in (
        lambda: get_step(context, ana, "demo", replace(here, criterion=10_000)),
        lambda: submit(context, ana, "demo", replace(sent(step), uid="another-key", criterion=10_000)),
    ):
        with pytest.raises(NotFoundError, match="not in the current criteria set"):
            door()
    with pytest.raises(NotFoundError, match="type 1 to 4"):
        get_step(context, ana, "demo", Where(position=5))


def test_filters(context: Context, ana: Person) -> None:
    step = get_step(context, ana, "demo", Where(position=3))
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


@pytest.mark.parametrize("stopped", [False, True])
def test_a_new_long_queue_opens_before_all_of_it_is_added(
    context: Context, owner: Person, ana: Person, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """The number of its places is right at once; what an ended server did not add, a later opening adds."""
    waiting: list[Thread] = []
    monkeypatch.setattr(assignments, "FIRST_PART", 1)
    monkeypatch.setattr(Thread, "start", lambda thread: waiting.append(thread))
    first = get_step(context, ana, "demo")
    assert first.assignment and (first.total, first.assignment.position, len(waiting)) == (4, 1, 1)
    assert [row["total"] for row in list_progress(context, owner, "demo") if row["name"] == "Ana"] == [4]
    with context.store.read() as db:
        task = require_task(db, "demo")
        assert list(list_order(db, ana)) == [1, 4]
        seed = tasks.get_seed(db, task.id)
    if stopped:
        assert get_step(context, ana, "demo").total == 4 and len(waiting) == 2
        get_step(context, ana, "demo", Where(position=3))
    else:
        waiting[0].run()
    with context.store.read() as db:
        order = list_order(db, ana)
    assert list(order) == [1, 2, 3, 4] and list(order.values()) == draw_order(seed, ana.id, order.values())
    for late in waiting[1:]:
        late.run()
    get_step(context, ana, "demo")
    with context.store.read() as db:
        assert list_order(db, ana) == order and len(waiting) == 1 + stopped


@pytest.mark.parametrize("whole", [False, True])
def test_no_transaction_adds_a_long_queue(
    context: Context, owner: Person, ana: Person, study: Study, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    """Every save waits for a transaction that writes."""
    many = tuple(replace(study.instances[0], external_id=f"more {n}") for n in range(9_000))
    import_study(context, owner, Study(study.task, many))
    sizes, write = [0], context.store.write

    @contextmanager
    def count() -> Iterator[Database]:
        with write() as db:
            yield db
            sizes.append(len(list_order(db, ana)))

    monkeypatch.setattr(context.store, "write", count)
    where = Where(position=8_999) if whole else RESUME
    assert get_step(context, ana, "demo", where).total == 9_004
    for thread in list_threads():
        if thread.name.startswith("queue"):
            thread.join(60)
    assert sizes[-1] == 9_004 and max(after - before for before, after in pairwise(sizes)) <= 2_500
    with context.store.read() as db:
        order = list_order(db, ana)
        seed = tasks.get_seed(db, require_task(db, "demo").id)
    assert list(order) == list(range(1, 9_005)) and [*order.values()] == draw_order(
        seed, ana.id, order.values()
    )


def test_a_queue_that_is_begun_has_only_a_single_thread(
    context: Context, ana: Person, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A thread that meets a closed or a busy store says so; the next opening goes on."""
    go_on, busy = Event(), BusyError("Other processes write.")
    monkeypatch.setattr(assignments, "FIRST_PART", 1)
    get_step_of = partial(get_step, context, ana, "demo")

    @contextmanager
    def refuse() -> Iterator[Database]:
        if current_thread().name.startswith("queue"):
            go_on.wait(60)
            raise busy
        with write() as db:
            yield db

    write = context.store.write
    monkeypatch.setattr(context.store, "write", refuse)
    assert (get_step_of().total, get_step_of().total) == (4, 4)
    threads = [thread for thread in list_threads() if thread.name.startswith("queue")]
    assert len(threads) == 1
    go_on.set()
    threads[0].join(60)
    assert "Other processes write." in caplog.text and "Traceback" not in caplog.text


def list_order(db: Database, person: Person) -> dict[int, int]:
    sql = "SELECT position, instance FROM assignment WHERE annotator = ? ORDER BY position"
    return dict(db.conn.execute(sql, [person.id]).fetchall())


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
    with pytest.raises(NotFoundError, match="no final criteria yet"):
        get_step(context, owner, "demo")


def test_a_sheet_of_two_instances_is_refused(context: Context, ana: Person) -> None:
    first = get_step(context, ana, "demo")
    second = get_step(context, ana, "demo", Where(position=2))
    with pytest.raises(InputError, match="A sheet can contain only one instance"):
        submit_sheet(context, ana, "demo", [sent(first), sent(second, "uid-00000002")])
    assert get_step(context, ana, "demo", Where(position=1)).saved is None
    places = [Where(instance=first.instance.id, criterion=one.id) for one in first.criteria]
    whole = [sent(get_step(context, ana, "demo", at), f"uid-0000001{n}") for n, at in enumerate(places)]
    assert len(submit_sheet(context, ana, "demo", whole)) == 2


def test_an_instance_of_another_task_is_not_taken_here(
    context: Context, owner: Person, ana: Person, study: Study
) -> None:
    """Ana works at both tasks: the instance is in a queue of hers, and not in this one."""
    import_study(context, owner, replace(study, task=replace(study.task, slug="other")))
    foreign = sent(get_step(context, ana, "other"))
    here = get_step(context, ana, "demo").criteria[0].id
    doors: list[Callable[[], object]] = [
        lambda: get_step(context, ana, "demo", Where(instance=foreign.instance)),
        lambda: submit(context, ana, "demo", foreign),
        lambda: submit(context, ana, "demo", replace(foreign, criterion=here)),
        lambda: submit_sheet(context, ana, "demo", [foreign]),
        lambda: mark_instance(context, ana, "demo", foreign.instance, flagged=True),
        lambda: list_history(context, ana, "demo", foreign.instance, foreign.criterion),
    ]
    for door in doors:
        with pytest.raises(NotFoundError, match="not in your queue"):
            door()
    with context.store.read() as db:
        for table in ("submission", "mark"):
            assert list(db.query(f"SELECT * FROM {table}")) == [], table


def test_an_unknown_task_has_no_aliases(context: Context, ana: Person) -> None:
    assert get_aliases(context, ana, "nowhere") == Aliases()
    assert get_aliases(context, ana, "demo") != Aliases()
