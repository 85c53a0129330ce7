"""A person's steps through a study: consent, guidelines, the exam, the work, the final code.

The study's page shows one step at a time; nothing is written before the person consents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from coeval.clock import now, time_from_now
from coeval.domain import Account, Attempt, Enrolment, Participant, Person, Plan, Standing, StudyState, Task
from coeval.errors import InputError, NotAllowedError
from coeval.language import tr
from coeval.store import Database
from coeval.store.queries import crowd_studies, enrolments, people, removal, reservations, tasks
from coeval.usecases.access import EVERYONE, Context, use_case
from coeval.usecases.crowd.assignment import give_work
from coeval.usecases.crowd.entry import check_open_to_new, require_plan
from coeval.usecases.crowd.exams import begin_try, count_confirmed, grade_checks, grade_exam
from coeval.usecases.crowd.link_signing import is_their_code
from coeval.usecases.crowd.participant_state import (
    ENDABLE,
    Due,
    Participation,
    Situation,
    build_part,
    find_due,
    is_full,
)
from coeval.usecases.sessions import LINK_KINDS


@dataclass(frozen=True, slots=True)
class Visit:
    """The content of the study's page for one person."""

    task: Task
    plan: Plan
    standing: Enrolment | None = None
    part: Participation = Participation(Standing.CONSENTED)
    attempts: tuple[Attempt, ...] = ()
    exam: Task | None = None
    confirmed: tuple[int, int] = (0, 0)
    """The number of confirmed items of the exam, and the number of all items."""
    repeats: bool = False
    """True if the answers to the exam are those of the last try."""
    n_earlier: int = 0
    """The number of the person's earlier submissions."""
    asks_code: bool = False
    """True if withdrawal requires the person's return code, which it does for everybody who got one."""
    person: str = ""
    """The uid of the person for whom the page is opened, if any."""

    @property
    def due(self) -> Due:
        return find_due(self.plan, self.part)

    @property
    def situation(self) -> Situation:
        return self.due.situation

    @property
    def code(self) -> str:
        """Return the completion code for the person's current state."""
        return self.due.code


def get_front(context: Context, slug: str) -> tuple[Visit, bool]:
    """Return the public facts of a study, and whether it is full. Nothing is written.

    Raises:
        NotFoundError: the study does not exist, or it is not a crowd study.
    """
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        free = reservations.has_free(db, 0, task.id, plan.per_instance)
        return Visit(task, plan), is_full(plan, free)


@use_case(EVERYONE, guests=True)
def consent(context: Context, person: Person, slug: str) -> None:
    """Record a person's consent to take part in a study."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        if enrolments.get_enrolment(db, task.id, person.id) is not None:
            return
        check_open_to_new(db, task, plan)
        enrolments.record_arrival(db, task.id, person.id)
        enrolments.record_step(db, task.id, person.id, Standing.CONSENTED, person.name)


@use_case(EVERYONE, guests=True)
def get_visit(context: Context, person: Person, slug: str) -> Visit:
    """Return the person's own progress in a study.

    A page that shows the final code also ends the work, so that places that others leave later cannot take
    the code back.
    """
    with context.store.read() as db:
        visit = _get_visit(db, person, slug)
    if visit.part.state is not Standing.ADMITTED or visit.situation is not Situation.FINISHED:
        return visit
    with context.store.write() as db:
        give_work(db, visit.plan, person, visit.task)
        return _get_visit(db, person, slug)


def _get_visit(db: Database, person: Person, slug: str) -> Visit:
    task, plan = require_plan(db, slug)
    standing = enrolments.get_enrolment(db, task.id, person.id)
    exam = tasks.get_task_by_id(db, plan.exam) if plan.exam else None
    submissions = read_submissions(db, plan, task, annotator=person.id)
    tried = tuple(crowd_studies.list_attempts(db, task.id, person.id))
    done, total = count_confirmed(db, plan, person, task) if exam else (0, 0)
    is_trying = standing is not None and standing.state is Standing.EXAM and 0 < total == done
    return Visit(
        task,
        plan,
        standing,
        submissions[-1][1]
        if submissions
        else Participation(standing.state if standing else Standing.CONSENTED),
        attempts=tried,
        exam=exam,
        confirmed=(done, total),
        repeats=is_trying and bool(tried) and _repeats(grade_exam(db, task, plan, person), tried),
        n_earlier=max(len(submissions) - 1, 0),
        asks_code=_has_code(people.get_account_of(db, person.id)),
        person=person.uid,
    )


def _repeats(graded: Attempt, tried: Sequence[Attempt]) -> bool:
    """Return whether an attempt has the answers of the last one, so that it can only fail as well."""
    return bool(tried) and graded.detail == tried[-1].detail


FREE_MATTERS = (Standing.CONSENTED, Standing.EXAM, Standing.ADMITTED, Standing.WARNED, Standing.FULL)
"""States in which the page depends on whether there is work for the person."""


def read_submissions(
    db: Database, plan: Plan, task: Task, *, annotator: int = 0
) -> list[tuple[Participant, Participation]]:
    """Return the submissions of a study (or of one person), each with the person's part in the study."""
    offered = crowd_studies.count_offered(db, task.id)
    earlier: dict[int, int] = {}
    """The instances that each person got in earlier submissions, and cannot get again."""

    def is_free(participant: Participant) -> bool:
        if participant.held and participant.state in (Standing.CONSENTED, Standing.EXAM):
            return True  # a team member who joins holds what they began
        # this searches the study's instances, so call it only if the answer matters
        if participant.state not in FREE_MATTERS or participant.left or participant.held:
            return False
        room = plan.quota > participant.finished
        return room and reservations.has_free(db, participant.id, task.id, plan.per_instance)

    submissions = []
    for participant in crowd_studies.list_participants(db, task.id, annotator=annotator):
        available = offered - earlier.get(participant.id, 0)
        submissions.append((participant, build_part(plan, participant, available, is_free(participant))))
        earlier[participant.id] = earlier.get(participant.id, 0) + participant.assigned
    return submissions


def is_at_start(context: Context, person: Person, slug: str) -> bool:
    """Return whether the person has done nothing since they consented."""
    with context.store.read() as db:
        task, _ = require_plan(db, slug)
        standing = enrolments.get_enrolment(db, task.id, person.id)
        return standing is not None and standing.state is Standing.CONSENTED


@use_case(EVERYONE, guests=True)
def list_joined(context: Context, person: Person) -> list[str]:
    """Return the short names of the studies that the person joined, the latest first."""
    with context.store.read() as db:
        return enrolments.list_studies(db, person.id)


@use_case(EVERYONE, guests=True)
def begin(context: Context, person: Person, slug: str) -> None:
    """Continue from the guidelines to the exam, or to work if there is no exam."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        _require(db, task, person, Standing.CONSENTED)
        onward = Standing.EXAM if plan.exam else Standing.ADMITTED
        enrolments.record_step(db, task.id, person.id, onward, person.name)
        if plan.exam:
            begin_try(db, plan, person, task)


@use_case(EVERYONE, guests=True)
def go_on(context: Context, person: Person, slug: str) -> None:
    """Continue after a warning, or when new work becomes available."""
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
    """Finish early and keep your work when the study has no more for you (paused, full, closed, timed out).

    Raises:
        NotAllowedError: there is work to do, or the person's part has already ended.
    """
    with context.store.write() as db:
        visit = _get_visit(db, person, slug)
        due = visit.due
        if visit.standing is None or due.situation not in ENDABLE or not (due.code or due.offered):
            raise NotAllowedError(tr("The study's page has changed: reload it."))
        if not grade_checks(db, visit.plan, person, visit.task):
            return
        did = visit.part.finished or visit.part.saved
        state = Standing.FINISHED if did else Standing.FULL
        note = f"ended where the study is {visit.situation}"
        needed = visit.part.needed
        enrolments.record_step(db, visit.task.id, person.id, state, person.name, note, asked=needed)


UNDO_DAYS = 7
"""Days for which an owner can restore withdrawn work before it is deleted."""


def _has_code(account: Account | None) -> bool:
    return account is not None and account.kind in LINK_KINDS and bool(account.secret)


@use_case(EVERYONE, guests=True)
def withdraw(context: Context, person: Person, slug: str, code: str = "") -> None:
    """Withdraw from a study: the saved work of your submission is set aside, and others get your places.

    The work no longer counts. Earlier submissions have ended, and stay as they are. After ``UNDO_DAYS`` the
    work is deleted; until then an owner can restore it, in case another person withdrew in your name.

    Raises:
        NotAllowedError: the person has not joined, or the return code is not theirs.
    """
    with context.store.read() as db:
        account = people.get_account_of(db, person.id)
    if (
        account is not None
        and _has_code(account)
        and not is_their_code(context, account.kind, account.subject, code, signed_in=True)
    ):
        raise NotAllowedError(tr("That is not your return code: the code was shown when you joined."))
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        standing = enrolments.get_enrolment(db, task.id, person.id)
        if standing is None:
            raise NotAllowedError(tr("You have not joined this study, so it has none of your data."))
        arrival = enrolments.get_newest_arrival(db, task.id, person.id)
        if standing.state in (Standing.WITHDRAWN, Standing.REMOVED) or arrival is None:
            return
        reservations.take_back(db, person.id, task.id, reservations.RETURNED)
        until = time_from_now(timedelta(days=UNDO_DAYS))
        n = removal.set_aside(db, person.id, task.id, plan.exam, arrival, standing.state, until)
        note = f"withdrew; {n} rows are kept aside until {until[:10]}, and then deleted"
        enrolments.record_step(db, task.id, person.id, Standing.WITHDRAWN, person.name, note)


def delete_withdrawn(context: Context) -> int:
    """Delete the work of people who withdrew at least ``UNDO_DAYS`` ago; return the number of people."""
    with context.store.read() as db:
        if not removal.list_due(db, now()):
            return 0
    with context.store.write() as db:
        due = removal.list_due(db, now())
        for aside in due:
            removal.delete_aside(db, aside)
            note = "withdrew; what was kept aside is deleted"
            enrolments.record_step(
                db, aside.task, aside.person, Standing.REMOVED, "withdrawal", note, arrival=aside.arrival
            )
    context.store.removed()
    return len(due)


@use_case(EVERYONE, guests=True)
def hand_in(context: Context, person: Person, slug: str, attempt: int) -> Attempt:
    """Submit the exam for grading; ``attempt`` is the number on the form, so that a form counts once.

    Raises:
        InputError: an item is not answered yet, or all answers are those of the last try.
        NotAllowedError: the person has no exam to submit.
    """
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        tried = crowd_studies.list_attempts(db, task.id, person.id)
        again = next((trial for trial in tried if trial.attempt == attempt), None)
        if again is not None:
            return again
        _require(db, task, person, Standing.EXAM)
        if attempt != len(tried) + 1:
            raise NotAllowedError(tr("The study's page has changed: reload it."))
        graded = grade_exam(db, task, plan, person)
        if _repeats(graded, tried):
            raise InputError(tr("Your answers are those of your last try: change an answer, then hand in."))
        crowd_studies.record_attempt(db, task.id, graded)
        note = f"{graded.right} of {graded.items} right, try {graded.attempt}"
        if graded.passed:
            onward = Standing.REVIEW if plan.terms.review else Standing.ADMITTED
            enrolments.record_step(db, task.id, person.id, onward, "exam", note)
        elif graded.attempt >= plan.terms.max_tries:
            enrolments.record_step(db, task.id, person.id, Standing.SCREENED_OUT, "exam", note)
        else:
            begin_try(db, plan, person, task)
        return graded


def _require(db: Database, task: Task, person: Person, state: Standing) -> None:
    standing = enrolments.get_enrolment(db, task.id, person.id)
    if standing is None or standing.state is not state:
        raise NotAllowedError(tr("The study's page has changed: reload it."))
