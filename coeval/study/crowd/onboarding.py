"""A person's way into a study and out of it: consent, guidelines, the exam, the work, the code at the end.

The study's page shows one of these at a time; nothing is written before somebody consents.
"""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import Attempt, Enrolment, Person, Plan, Standing, StudyState, Task
from coeval.errors import NotAllowedError
from coeval.language import tr
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd import answer_keys, holdings, reservations
from coeval.store.queries.people import enrolments, removal
from coeval.study.access import EVERYONE, Context, use_case
from coeval.study.crowd.arriving import check_open_to_new, require_plan
from coeval.study.crowd.exams import begin_try, count_confirmed, grade_exam
from coeval.study.crowd.grading import grade_checks
from coeval.study.crowd.situations import (
    ENDABLE,
    Part,
    Situation,
    find_code,
    find_situation,
    is_full,
)


@dataclass(frozen=True, slots=True)
class Visit:
    """What the study's page shows one person."""

    task: Task
    plan: Plan
    standing: Enrolment | None = None
    part: Part = Part(Standing.CONSENTED)
    attempts: tuple[Attempt, ...] = ()
    exam: Task | None = None
    confirmed: tuple[int, int] = (0, 0)
    """Items of the exam that are confirmed, of how many."""

    @property
    def situation(self) -> Situation:
        return find_situation(self.plan, self.part)

    @property
    def code(self) -> str:
        """The code that the person is due where they are."""
        return find_code(self.plan.terms, self.situation, self.part)


def get_front(context: Context, slug: str) -> tuple[Visit, bool]:
    """What anybody may see of a study, and whether it has no place left; nothing is written.

    Raises:
        NotFoundError: there is no study of that name, or it is not given out to a crowd.
    """
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        free = reservations.has_free(db, 0, task.id, plan.per_instance)
        return Visit(task, plan), is_full(plan, free)


@use_case(EVERYONE, guests=True)
def consent(context: Context, person: Person, slug: str) -> None:
    """Consent to take part in a study."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        if enrolments.get_enrolment(db, task.id, person.id) is not None:
            return
        check_open_to_new(db, task, plan)
        enrolments.record_arrival(db, task.id, person.id)
        enrolments.record_step(db, task.id, person.id, Standing.CONSENTED, person.name)


@use_case(EVERYONE, guests=True)
def get_visit(context: Context, person: Person, slug: str) -> Visit:
    """See where one stands in a study."""
    with context.store.read() as db:
        return _get_visit(db, person, slug)


def _get_visit(db: Database, person: Person, slug: str) -> Visit:
    task, plan = require_plan(db, slug)
    standing = enrolments.get_enrolment(db, task.id, person.id)
    exam = tasks.get_task_by_id(db, plan.exam) if plan.exam else None
    attempts = tuple(answer_keys.list_attempts(db, task.id, person.id))
    return Visit(
        task,
        plan,
        standing,
        _get_part(db, plan, person, task, standing.state if standing else Standing.CONSENTED),
        attempts,
        exam,
        count_confirmed(db, plan, person, task) if exam else (0, 0),
    )


def _get_part(db: Database, plan: Plan, person: Person, task: Task, state: Standing) -> Part:
    work = holdings.count_work(db, person.id, task.id)
    return Part(
        state=state,
        finished=work.get(reservations.FINISHED, 0),
        held=work.get(reservations.HELD, 0),
        lapsed=holdings.count_lapsed(db, person.id, task.id),
        saved=holdings.count_saved(db, person.id, task.id),
        free=holdings.count_room(db, person.id, task.id, plan.quota) > 0
        and reservations.has_free(db, person.id, task.id, plan.per_instance),
    )


@use_case(EVERYONE, guests=True)
def list_joined(context: Context, person: Person) -> list[str]:
    """See the short names of the studies one joined, the latest first."""
    with context.store.read() as db:
        return enrolments.list_studies(db, person.id)


@use_case(EVERYONE, guests=True)
def begin(context: Context, person: Person, slug: str) -> None:
    """Go on from the guidelines: to the exam, or to work where there is none."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        _require(db, task, person, Standing.CONSENTED)
        onward = Standing.EXAM if plan.exam else Standing.ADMITTED
        enrolments.record_step(db, task.id, person.id, onward, person.name)
        if plan.exam:
            begin_try(db, plan, person, task)


@use_case(EVERYONE, guests=True)
def go_on(context: Context, person: Person, slug: str) -> None:
    """Go on after having read a warning, or where there is work again for who had found none."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        steps = [step.state for step in enrolments.list_steps(db, task.id, person.id)]
        if steps and steps[-1] is Standing.FULL and plan.state is StudyState.RUNNING:
            before = next(state for state in reversed(steps) if state is not Standing.FULL)
            enrolments.record_step(db, task.id, person.id, before, person.name, "looked for work again")
            return
        _require(db, task, person, Standing.WARNED)
        enrolments.record_step(db, task.id, person.id, Standing.ADMITTED, person.name, "read the warning")


@use_case(EVERYONE, guests=True)
def end_work(context: Context, person: Person, slug: str) -> None:
    """End one's part with what one did, where a study has no work for one: paused, full, closed, or run out of time.

    Raises:
        NotAllowedError: there is work to do, or the part has ended already.
    """
    with context.store.write() as db:
        visit = _get_visit(db, person, slug)
        if visit.standing is None or visit.situation not in ENDABLE or not visit.code:
            raise NotAllowedError(tr("The study's page has moved on meanwhile: load it again."))
        if not grade_checks(db, visit.plan, person, visit.task):
            return
        did = visit.part.finished or visit.part.saved
        state = Standing.FINISHED if did else Standing.FULL
        note = f"ended where the study is {visit.situation}"
        enrolments.record_step(db, visit.task.id, person.id, state, person.name, note)


@use_case(EVERYONE, guests=True)
def withdraw(context: Context, person: Person, slug: str) -> None:
    """Take back one's consent: all that one saved in the study and its exam is deleted, and others get the places."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        if enrolments.get_enrolment(db, task.id, person.id) is None:
            raise NotAllowedError(tr("You have not joined this study: nothing of yours is here."))
        reservations.take_back(db, person.id, task.id, reservations.RETURNED)
        reservations.reject_finished(db, person.id, task.id)
        removed = sum(
            removal.remove_work(db, person.id, part) for part in (task.id, plan.exam) if part is not None
        )
        note = f"withdrew; {removed} rows deleted"
        enrolments.record_step(db, task.id, person.id, Standing.REMOVED, person.name, note)


@use_case(EVERYONE, guests=True)
def hand_in(context: Context, person: Person, slug: str) -> Attempt:
    """Hand in the exam, to be graded.

    Raises:
        InputError: an item is not answered yet.
        NotAllowedError: there is no exam to hand in.
    """
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        _require(db, task, person, Standing.EXAM)
        attempt = grade_exam(db, task, plan, person)
        answer_keys.record_attempt(db, task.id, attempt)
        note = f"{attempt.right} of {attempt.items} right, try {attempt.attempt}"
        if attempt.passed:
            onward = Standing.REVIEW if plan.terms.review else Standing.ADMITTED
            enrolments.record_step(db, task.id, person.id, onward, "exam", note)
        elif attempt.attempt >= plan.terms.max_tries:
            enrolments.record_step(db, task.id, person.id, Standing.SCREENED_OUT, "exam", note)
        else:
            begin_try(db, plan, person, task)
        return attempt


def _require(db: Database, task: Task, person: Person, state: Standing) -> None:
    standing = enrolments.get_enrolment(db, task.id, person.id)
    if standing is None or standing.state is not state:
        raise NotAllowedError(tr("The study's page has moved on meanwhile: load it again."))
