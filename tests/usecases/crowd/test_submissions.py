"""One submission to a crowd service is one record: what a person does later changes no earlier one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from coeval.domain import AnswerKey, Person, Plan, Proof, Standing, Terms
from coeval.errors import NotAllowedError, NotFoundError
from coeval.store.queries import crowd_studies
from coeval.usecases.access import Context
from coeval.usecases.crowd import entry, exams, onboarding, overview, plans
from coeval.usecases.crowd.overview import Row
from coeval.usecases.scrutiny.steps import get_step, submit
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.crowd_links import link, sealed
from tests.usecases.crowd.test_assignment import answer, lapse, work

TERMS = Terms(
    service="prolific", code_done="DONE1", code_part="PART1", code_screened="OUT1", code_declined="NO1",
    code_full="FULL1", proof=Proof.TOKEN, warn_after=1, block_after=2,
)  # fmt: skip
PLAN = Plan(per_instance=9, batch=2, quota=2, terms=TERMS)


@pytest.fixture
def worker(context: Context, owner: Person) -> Person:
    """A worker who finished a first submission, and is at work in a second after one of its two instances."""
    import_study(context, owner, make_study(5))
    plans.set_plan(context, owner, "demo", PLAN)
    person = arrive(context, 1, "first")
    assert len(work(context, person)) == 2
    assert record(context, owner, "first").advice.code == "DONE1"
    arrive(context, 1, "second")
    assert work(context, person, limit=1)
    return person


def arrive(context: Context, number: int, session: str) -> Person:
    """Come by a link that the service signed, of a study of its own for each session."""
    person, _ = entry.arrive(
        context, "demo", sealed(context, "demo", link(number, study=session, session=session))
    )
    if onboarding.is_at_start(context, person, "demo"):
        onboarding.begin(context, person, "demo")
    return person


def record(context: Context, owner: Person, session: str) -> Row:
    people = overview.get_overview(context, owner, "demo").people
    return next(row for row in people if row.participant.session == session)


def count_counted(context: Context, person: Person) -> int:
    with context.store.read() as db:
        sql = (
            "SELECT count(*) FROM submission s WHERE s.annotator = ? AND NOT EXISTS (SELECT 1 FROM uncounted u"
            " WHERE u.annotator = s.annotator AND u.instance = s.instance)"
        )
        return int(db.conn.execute(sql, [person.id]).fetchone()[0])


def withdraw(context: Context, owner: Person, worker: Person) -> None:
    onboarding.withdraw(context, worker, "demo")


def withdraw_and_undo(context: Context, owner: Person, worker: Person) -> None:
    withdraw(context, owner, worker)
    plans.undo_withdrawal(context, owner, "demo", worker.name)
    assert record(context, owner, "second").state is Standing.ADMITTED


def withdraw_for_good(context: Context, owner: Person, worker: Person) -> None:
    withdraw(context, owner, worker)
    with context.store.write() as db:
        db.conn.execute("UPDATE withdrawn_work SET delete_after = '2020-01-01T00:00:00.000Z'")
    assert onboarding.delete_withdrawn(context) == 1
    assert record(context, owner, "second").state is Standing.REMOVED


def fail_checks(context: Context, owner: Person, worker: Person) -> None:
    """The finished instance of the second submission was a check, and so was the first's, which failed too."""
    with context.store.write() as db:
        db.conn.execute("UPDATE reservation SET purpose = 'check' WHERE arrival = 2 AND outcome = 'finished'")
        (instance,) = db.conn.execute("SELECT instance FROM reservation WHERE purpose = 'check'").fetchone()
        (criterion,) = db.conn.execute("SELECT min(id) FROM criterion").fetchone()
        crowd_studies.set_keys(db, 1, [AnswerKey(instance, criterion, (1.0,))])
        strict = replace(PLAN, terms=replace(TERMS, block_after=1))
        assert not exams.grade_checks(db, strict, worker, entry.require_plan(db, "demo")[0])
    assert record(context, owner, "second").state is Standing.BLOCKED


def be_rejected(context: Context, owner: Person, worker: Person) -> None:
    plans.reject(context, owner, "demo", worker.name, comment="careless")
    assert record(context, owner, "second").state is Standing.REJECTED


@pytest.mark.parametrize("act", [withdraw, withdraw_and_undo, withdraw_for_good, fail_checks, be_rejected])
def test_what_a_worker_does_later_changes_no_submission_that_ended(
    context: Context, owner: Person, worker: Person, act: Callable[[Context, Person, Person], None]
) -> None:
    before, counted = record(context, owner, "first"), count_counted(context, worker)
    act(context, owner, worker)
    after = record(context, owner, "first")
    assert after == before
    assert (after.participant.finished, after.advice.code, after.state) == (2, "DONE1", Standing.FINISHED)
    assert 0 < count_counted(context, worker) <= counted


def test_an_owner_rejects_one_submission_or_all_of_them(
    context: Context, owner: Person, worker: Person
) -> None:
    first, second = (record(context, owner, session) for session in ("first", "second"))
    reject = partial(plans.reject, context, owner, "demo", worker.name, comment="careless")
    reject(arrival=first.participant.arrival)
    assert record(context, owner, "first").advice.suggestion == "reject"
    assert record(context, owner, "second") == second  # still at work, and counted
    assert count_counted(context, worker) == 2 and work(context, worker)
    with pytest.raises(NotFoundError, match="no such submission"):
        reject(arrival=99)
    assert len(reject(every=True)) == 2
    states = [record(context, owner, session).state for session in ("first", "second")]
    assert states == [Standing.REJECTED] * 2 and count_counted(context, worker) == 0


@pytest.mark.parametrize("act", [be_rejected, fail_checks])
def test_who_was_excluded_gets_no_more_and_the_new_submission_is_not_rejected(
    context: Context, owner: Person, worker: Person, act: Callable[[Context, Person, Person], None]
) -> None:
    act(context, owner, worker)
    arrive(context, 1, "third")
    row = record(context, owner, "third")
    assert (row.state, row.advice.suggestion, row.advice.code) == (
        Standing.SCREENED_OUT,
        "screen out",
        "OUT1",
    )
    with pytest.raises(NotAllowedError, match="not part of the study"):
        work(context, worker)


def test_who_withdrew_and_came_again_may_work_once_an_owner_undoes_it(
    context: Context, owner: Person, worker: Person
) -> None:
    withdraw(context, owner, worker)
    arrive(context, 1, "third")
    assert record(context, owner, "third").state is Standing.WITHDRAWN
    plans.undo_withdrawal(context, owner, "demo", worker.name)
    states = [record(context, owner, session).state for session in ("second", "third")]
    assert states == [Standing.ADMITTED] * 2 and work(context, worker)


# ---- what is asked of a worker is what they could get -------------------------------------------------------


def open_study(context: Context, owner: Person, plan: Plan) -> None:
    import_study(context, owner, make_study(3))  # six instances
    plans.set_plan(context, owner, "demo", replace(plan, terms=TERMS))


def test_who_did_all_that_was_left_gets_the_full_code_for_good(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=1, batch=4, quota=4))
    first, second, third = (arrive(context, number, f"s{number}") for number in (1, 2, 3))
    work(context, first, limit=1)  # holds four of six
    assert len(work(context, second)) == 2
    assert onboarding.get_visit(context, second, "demo").code == "DONE1"
    lapse(context, first)
    work(context, third, limit=1)  # three places are free again
    assert onboarding.get_visit(context, second, "demo").code == "DONE1"
    row = record(context, owner, "s2")
    assert (row.advice.code, row.advice.suggestion) == ("DONE1", "approve")
    assert onboarding.get_visit(context, first, "demo").code == ""  # lost three: the full code is for four


def test_a_code_that_a_page_showed_is_kept(context: Context, owner: Person) -> None:
    """The page is opened straight after the last save, before anybody asks for another instance."""
    open_study(context, owner, Plan(per_instance=1, batch=4, quota=4))
    first, second, third = (arrive(context, number, f"s{number}") for number in (1, 2, 3))
    work(context, first, limit=1)
    for _ in range(4):  # two instances by two criteria
        submit(context, second, "demo", answer(get_step(context, second, "demo")))
    assert onboarding.get_visit(context, second, "demo").code == "DONE1"
    lapse(context, first)
    work(context, third, limit=1)
    assert onboarding.get_visit(context, second, "demo").code == "DONE1"


def test_a_second_submission_is_asked_for_no_instance_of_the_first(context: Context, owner: Person) -> None:
    open_study(context, owner, Plan(per_instance=2, batch=4, quota=4))
    person = arrive(context, 1, "s1")
    assert len(work(context, person)) == 4
    arrive(context, 1, "s2")
    assert onboarding.get_visit(context, person, "demo").part.needed == 2
    assert len(work(context, person)) == 2
    assert [record(context, owner, session).advice.code for session in ("s1", "s2")] == ["DONE1"] * 2
