"""Giving out work: k people an instance, nobody twice, quotas, time-outs, arms, checks, pause and close."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Barrier, BrokenBarrierError
from typing import Any
from uuid import uuid4

import pytest

from coeval.domain import Action, Arm, Person, Plan, Proof, RowKind, Standing, StudyState, Terms
from coeval.errors import InputError, NotAllowedError
from coeval.rules.arms import Design
from coeval.rules.evaluation_rows import Sent, SentRow
from coeval.store import Database
from coeval.store.queries import enrolments, reports, reservations, tasks
from coeval.store.queries.crowd_studies import list_named_keys
from coeval.ui.setup.crowd_tab import CrowdTab
from coeval.usecases.access import Context
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.crowd import entry, onboarding, plans
from coeval.usecases.crowd.exams import export_keys, set_keys
from coeval.usecases.scrutiny.steps import Step, get_step, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.crowd_links import link, pid, sealed

DONE = Terms(
    service="prolific", code_done="DONE1", code_screened="OUT1", code_declined="NO1", proof=Proof.TOKEN
)  # fmt: skip


def open_study(context: Context, owner: Person, plan: Plan, n_documents: int = 5) -> None:
    """A study of two instances a document, by two criteria."""
    import_study(context, owner, make_study(n_documents))
    plans.set_plan(context, owner, "demo", replace(plan, terms=DONE))


def join(context: Context, number: int) -> Person:
    # each from an address of their own: one address may bring only so many new people
    one = sealed(context, "demo", link(number))
    person, _ = entry.arrive(context, "demo", one, address=f"home {number}")
    if onboarding.get_visit(context, person, "demo").standing.state is Standing.CONSENTED:  # type: ignore[union-attr]
        onboarding.begin(context, person, "demo")
    return person


def answer(step: Step, score: float = 4, action: Action = Action.APPROVE) -> Sent:
    shown = step.draft
    rows = tuple(
        SentRow(row.id, action, reason="no" if action is Action.DELETE else "")
        for row in (shown.rows if shown else ())
        if row.kind is not RowKind.SCORE
    )
    uid = uuid4().hex
    return Sent(uid, step.instance.id, step.criterion.id, shown.id if shown else None, 0, score, rows)


def work(context: Context, person: Person, limit: int = 10_000) -> list[int]:
    """Save until nothing is left, or ``limit`` instances are done; gives the instances."""
    done: list[int] = []
    saved: set[tuple[int, int]] = set()
    while len(done) < limit:
        step = get_step(context, person, "demo")
        if step.instance is None:
            break
        assert (
            not step.saved
            and step.criterion
            and (place := (step.instance.id, step.criterion.id)) not in saved
        )
        submit(context, person, "demo", answer(step))
        saved.add(place)
        if len(step.done) + 1 == len(step.criteria):
            done.append(step.instance.id)
    return done


def places(context: Context) -> Counter[int]:
    with context.store.read() as db:
        sql = "SELECT instance FROM reservation WHERE outcome IN ('', 'finished') AND purpose = 'work'"
        return Counter(row[0] for row in db.conn.execute(sql))


def lapse(context: Context, person: Person) -> None:
    """Let all that a person holds, and their last save, be of long ago."""
    with context.store.write() as db:
        old = "2020-01-01T00:00:00.000Z"
        db.conn.execute("UPDATE reservation SET reserved_until = ? WHERE annotator = ?", [old, person.id])
        db.conn.execute("UPDATE submission SET submitted_at = ? WHERE annotator = ?", [old, person.id])


def test_every_instance_gets_k_people_and_nobody_any_twice(context: Context, owner: Person) -> None:
    # 10 instances x 3 people = 30 places; 6 people with a quota of 5 fill exactly 30
    open_study(context, owner, Plan(per_instance=3, batch=2, quota=5))
    people = [join(context, n) for n in range(6)]
    done = [work(context, person) for person in people]
    assert [len(set(one)) for one in done] == [len(one) for one in done] == [5] * 6
    assert set(places(context).values()) == {3} and len(places(context)) == 10
    with pytest.raises(NotAllowedError, match="full"):
        join(context, 99)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_sixty_at_once_get_no_more_than_there_is(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=3, batch=4, quota=4), n_documents=15)  # 90 places
    people = [join(context, n) for n in range(60)]  # 60 x 4 = 240 are wanted
    with ThreadPoolExecutor(60) as pool:
        list(pool.map(lambda person: get_step(context, person, "demo"), people))
    taken = places(context)
    assert len(taken) == 30 and set(taken.values()) == {3}
    with context.store.read() as db:
        per_person = [sum(reservations.count_work(db, person.id, 1).values()) for person in people]
    assert max(per_person) == 4 and sum(per_person) == 90


def test_two_who_ask_at_once_are_served_one_by_one(
    context: Context, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks for free places looks alone: nobody else sees a place that is about to be taken."""
    open_study(context, owner, Plan(per_instance=1, batch=2, quota=2), n_documents=1)
    people = [join(context, n) for n in range(2)]
    both, list_free = Barrier(2), reservations.list_free

    def look(*asked: Any) -> list[tuple[int, int]]:
        free = list_free(*asked)
        with suppress(BrokenBarrierError):
            both.wait(0.2)
        return free

    monkeypatch.setattr(reservations, "list_free", look)
    with ThreadPoolExecutor(2) as pool:
        given = sorted(pool.map(lambda person: get_step(context, person, "demo").total, people))
    assert both.broken and given == [0, 2] and set(places(context).values()) == {1}


def test_what_is_left_lying_is_reclaimed_and_partial_work_kept(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=10, quota=10))
    first, second = join(context, 1), join(context, 2)
    step = get_step(context, first, "demo")
    submit(context, first, "demo", answer(step))  # one criterion of two: partial
    assert get_step(context, second, "demo").total == 0  # all ten are held by the first
    lapse(context, first)
    assert sorted(work(context, second)) == sorted(places(context))
    with context.store.read() as db:
        kept = db.conn.execute("SELECT count(*) FROM submission WHERE annotator = ?", [first.id]).fetchone()[
            0
        ]
        assert kept == 1 and reservations.count_work(db, first.id, 1) == {"timed_out": 10}
    assert get_step(context, first, "demo").total == 0  # what timed out is not given to the same person again


def test_who_has_finished_is_given_nothing_that_comes_free_later(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=5, quota=10))
    first, second = join(context, 1), join(context, 2)
    assert get_step(context, second, "demo").total == 5
    assert len(work(context, first)) == 5  # there is no more: they have their code
    lapse(context, second)
    step = get_step(context, first, "demo")
    assert (step.total, step.instance) == (5, None)
    assert get_step(context, join(context, 3), "demo").total == 5


def test_who_saved_lately_keeps_what_they_hold(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=10, quota=10))
    first, second = join(context, 1), join(context, 2)
    step = get_step(context, first, "demo")
    lapse(context, first)
    with context.store.write() as db:  # the save below must not renew by itself: only the sweep may
        db.conn.execute("UPDATE reservation SET reserved_until = '2020-01-01T00:00:00.000Z'")
    submit(context, first, "demo", answer(step))
    assert get_step(context, second, "demo").total == 0
    assert len(work(context, first)) == 10


def test_what_went_to_somebody_else_is_saved_no_more(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=10, quota=10))
    first, second = join(context, 1), join(context, 2)
    step = get_step(context, first, "demo")
    lapse(context, first)
    assert get_step(context, second, "demo").total == 10
    with pytest.raises(NotAllowedError, match="ran out, and it was given to another person"):
        submit(context, first, "demo", answer(step))
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM submission").fetchone()[0] == 0


def test_arms_balance_for_people_and_the_study(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=4, batch=10, quota=10))
    with context.store.write() as db:
        tasks.set_design(db, 1, Design(blind_share=0.5), "Olu")
    people = [join(context, n) for n in range(4)]
    for person in people:
        work(context, person)
    with context.store.read() as db:
        for person in people:
            arms = reservations.count_arms(db, person.id, 1)
            assert abs(arms.get(Arm.BLIND, 0) - arms.get(Arm.ASSISTED, 0)) <= 2, (person, arms)
        total = Counter(row[0] for row in db.conn.execute("SELECT arm FROM assignment"))
    assert abs(total["blind"] - total["assisted"]) <= 2


def test_checks_and_rejected_work_do_not_count_in_the_balance_of_work(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Plan(per_instance=4, batch=5, quota=5))
    with context.store.write() as db:
        tasks.set_design(db, 1, Design(blind_share=0.5), "Olu")
    set_keys(context, owner, "demo", "instance,criterion,accepted,must\n1a,1,1 2 3 4 5,\n")
    people = [join(context, n) for n in range(3)]
    for person in people:
        work(context, person)

    def counted() -> tuple[int, int, list[int]]:
        with context.store.read() as db:
            work, checks = reservations.count_all_arms(db, 1)
            own = [reservations.count_arms(db, one.id, 1).total() for one in people]
        return work.total(), checks.total(), own

    assert counted() == (12, 3, [5, 5, 5])  # each had four instances and the check
    plans.reject(context, owner, "demo", people[0].name, comment="did not read")
    assert counted() == (8, 2, [0, 5, 5])


def test_scores_without_a_draft_overlap_in_a_crowd(context: Context, owner: Person) -> None:
    """A fifth blind, three people an instance: balanced alone, no instance would ever be blind for two."""
    open_study(context, owner, Plan(per_instance=3, batch=15, quota=15), n_documents=20)
    with context.store.write() as db:
        tasks.set_design(db, 1, Design(blind_share=0.2), "Olu")
        # its bounds hold for most draws, so every run has the same one
        db.conn.execute("UPDATE task SET seed = 'blind'")
    for number in range(8):
        work(context, join(context, number))
    with context.store.read() as db:
        sql = "SELECT instance, count(*) FROM assignment WHERE arm = 'blind' GROUP BY instance"
        blind = Counter(dict(db.conn.execute(sql).fetchall()).values())
        total = Counter(row[0] for row in db.conn.execute("SELECT arm FROM assignment"))
    assert abs(total["blind"] - 0.2 * total.total()) <= 2
    assert blind[2] + blind[3] >= 5 and blind[2] + blind[3] >= blind[1] / 2, blind


def test_pause_gives_no_more_and_close_takes_no_more(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(batch=2, quota=8))
    person = join(context, 1)
    step = get_step(context, person, "demo")
    plans.set_state(context, owner, "demo", StudyState.PAUSED)
    assert len(work(context, person)) == 2
    with pytest.raises(NotAllowedError, match="not accepting new people"):
        join(context, 2)
    plans.set_state(context, owner, "demo", StudyState.RUNNING)
    step = get_step(context, person, "demo")
    plans.set_state(context, owner, "demo", StudyState.CLOSED)
    with pytest.raises(NotAllowedError, match="closed"):
        submit(context, person, "demo", answer(step))


def test_only_the_admitted_are_given_work(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan())
    with pytest.raises(NotAllowedError, match="team's part is over"):
        get_step(context, sign_in(context, "Ana")[0], "demo")
    plans.set_state(context, owner, "demo", StudyState.CLOSED)
    with pytest.raises(NotAllowedError, match="is closed"):
        get_step(context, sign_in(context, "Ana")[0], "demo")
    plans.set_state(context, owner, "demo", StudyState.RUNNING)
    person, _ = entry.arrive(context, "demo", sealed(context, "demo", link(1)))
    with pytest.raises(NotAllowedError):
        get_step(context, person, "demo")


def test_failed_checks_warn_then_block_and_free_the_places(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=2, quota=8))
    # the drafts all say 4 with lines to approve; both checks want the third line deleted, so approving fails
    keys = "instance,criterion,accepted,must\n1a,1,,3\n2a,1,,3\n"
    assert set_keys(context, owner, "demo", keys) == 2
    person = join(context, 1)
    with pytest.raises(NotAllowedError, match="attention check"):
        work(context, person)
    with pytest.raises(NotAllowedError, match="attention check"):
        get_step(context, person, "demo")
    onboarding.go_on(context, person, "demo")
    with pytest.raises(NotAllowedError):
        work(context, person)
    state = onboarding.get_visit(context, person, "demo").standing
    assert state and state.state is Standing.BLOCKED and "2 attention checks" in state.note
    assert places(context) == Counter()  # all that was taken is free for others
    other = join(context, 2)
    assert get_step(context, other, "demo").total == 3  # a batch of two, and one check


def test_keys_of_a_criterion_that_was_replaced_are_shown_and_kept(context: Context, owner: Person) -> None:
    """They were left out of the box, so that its button deleted them."""
    study = make_study(1)
    import_study(context, owner, study)
    assert set_keys(context, owner, "demo", "instance,criterion,accepted\n1a,1,4\n1b,2,5\n") == 2
    establish_list(context, owner, "demo", [study.criteria[1].text])
    text = export_keys(context, owner, "demo")
    assert study.criteria[0].text in text and "1b,1,5" in text
    with pytest.raises(InputError, match="is not a criterion"):
        set_keys(context, owner, "demo", text)
    assert export_keys(context, owner, "demo") == text
    assert CrowdTab.is_used(context, owner, "demo")


def test_the_exported_keys_have_no_formula_and_come_back_as_they_were(
    context: Context, owner: Person
) -> None:
    import_study(context, owner, make_study(1))
    keys = "instance,criterion,accepted,must,explanation\n1a,1,4,,=1+1\n1b,2,5,,'tis\n"
    set_keys(context, owner, "demo", keys)
    text = export_keys(context, owner, "demo")
    assert "'=1+1" in text and ",=" not in text
    set_keys(context, owner, "demo", text)
    with context.store.read() as db:
        assert [key.explanation for _, _, key in list_named_keys(db, 1)] == ["=1+1", "'tis"]
    assert export_keys(context, owner, "demo") == text


def test_a_short_batch_has_no_check(context: Context, owner: Person) -> None:
    """Of two instances one would be the check: only a batch of the usual size has one."""
    open_study(context, owner, Plan(per_instance=9, batch=3, quota=6), n_documents=6)
    keys = "instance,criterion,accepted,must\n" + "".join(f"{n}a,1,1 2 3 4 5,\n" for n in range(1, 5))
    assert set_keys(context, owner, "demo", keys) == 4
    person = join(context, 1)
    assert len(work(context, person)) == 6
    sql = (
        "SELECT a.position FROM reservation r JOIN assignment a ON a.annotator = r.annotator"
        " AND a.instance = r.instance WHERE r.purpose = 'check'"
    )
    with context.store.read() as db:
        ((position,),) = db.conn.execute(sql).fetchall()
    assert position <= 4  # of the first batch of three and a check; the second has two instances left


def test_rejected_work_leaves_its_places_and_stays_in_the_record(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=10, quota=10))
    person = join(context, 1)
    work(context, person)
    with context.store.read() as db:
        assert scored(db) == [person.id] * 20
        before = reports.get_fingerprint(db, 1)
    plans.reject(context, owner, "demo", onboarding_name(context, person), comment="all fours")
    assert places(context) == Counter()
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM submission").fetchone()[0] == 20
        assert scored(db) == [] and reports.get_fingerprint(db, 1) != before
    assert len(work(context, join(context, 2))) == 10


def scored(db: Database) -> list[int]:
    """Whose scores the statistics of the study rest on, one for each."""
    found = reports.read(db, reports.SCORES, task=1, criteria_set=1)
    return [row[0] for row in found]


def onboarding_name(context: Context, person: Person) -> str:
    with context.store.read() as db:
        name: str = db.conn.execute("SELECT name FROM annotator WHERE id = ?", [person.id]).fetchone()[0]
    return name


@pytest.mark.sqlite
def test_a_person_is_removed_and_the_record_says_so(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=10, quota=10))
    person = join(context, 7)
    work(context, person, limit=3)
    removed = plans.remove_person(context, owner, person.name)
    assert removed["submission"] == 6
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM submission").fetchone()[0] == 0
        steps = enrolments.list_steps(db, 1, person.id)
    assert (
        steps[-1].state is Standing.REMOVED and steps[-1].actor == "Olu" and "6 submission" in steps[-1].note
    )
    context.store.close()
    data = b"".join(path.read_bytes() for path in context.store.path.parent.glob("coeval.db"))
    assert pid(7).encode() not in data and person.name.encode() not in data
    with pytest.raises(InputError, match="is owner"):
        plans.remove_person(Context(type(context.store)(context.store.path), context.settings), owner, "Olu")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Plan(per_instance=0), "per instance is 0"),
        (Plan(terms=replace(DONE, code_screened="DONE1")), "“DONE1” is in two fields"),
        (Plan(terms=replace(DONE, code_done="a b")), "“a b” is not valid"),
        (Plan(terms=replace(DONE, pass_share=1.5)), "pass mark is 150%"),
        (Plan(terms=replace(DONE, service="upwork")), "upwork"),
        (Plan(terms=replace(DONE, hourly_rate=float("nan"))), "hourly rate"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(context: Context, owner: Person, wrong: Plan, says: str) -> None:
    import_study(context, owner, make_study(1))
    with pytest.raises(InputError, match=says):
        plans.set_plan(context, owner, "demo", wrong)
    assert plans.get_plan(context, owner, "demo") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("instance,criterion\n1a,1", "lack the column accepted"),
        ("instance,criterion,accepted\nnope,1,4", "Line 2: the task has no instance “nope”"),
        ("instance,criterion,accepted\n1a,9,4", "Line 2: “9” is not a criterion"),
        ("instance,criterion,accepted\n1a,1,7", "scores of the scale 1-5"),
        ("instance,criterion,accepted\n1a,1,four", "numbers separated by spaces"),
        ("instance,criterion,accepted\n1a,1,4\n1b,1,4,5", "Line 3 has more cells than the first line"),
        (
            "instance,criterion,accepted,must,explanation\n1a,1,4,,It is clear, and brief.",
            "Line 2 has more cells than the first line: put a text that holds a comma in quotes",
        ),
        ("instance,criterion,accepted\n1a,1,4\n1a,1,5", "Two keys"),
    ],
)
def test_keys_that_cannot_be_used_change_nothing(
    context: Context, owner: Person, text: str, says: str
) -> None:
    import_study(context, owner, make_study(1))
    with pytest.raises(InputError, match=says):
        set_keys(context, owner, "demo", text)
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM answer_key").fetchone()[0] == 0
