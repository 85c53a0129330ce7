"""A person's way into a study and out of it: consent, guidelines, the exam, the work, the code at the end.

The study's page shows one of these at a time; nothing is written before somebody consents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coeval.domain import Attempt, Enrolment, Person, Plan, Standing, StudyState, Task
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd import answer_keys, reservations
from coeval.store.queries.people import accounts, enrolments
from coeval.study.access import EVERYONE, Context, use_case
from coeval.study.crowd.exams import grade_exam
from coeval.study.people.accounts import count_arrival, ensure_linked
from coeval.study.people.sessions import open_session

WORKER_ID = re.compile(r"[A-Za-z0-9]{8,40}")


@dataclass(frozen=True, slots=True)
class Link:
    """What a crowd service's link says: whose it is, of which study, at which coming."""

    service: str
    worker: str
    study: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """What the study's page shows one person."""

    task: Task
    plan: Plan
    standing: Enrolment | None = None
    attempts: tuple[Attempt, ...] = ()
    exam: Task | None = None
    finished: int = 0
    held: int = 0


def get_front(context: Context, slug: str) -> Visit:
    """What anybody may see of a study: its name and what it asks; nothing is written.

    Raises:
        NotFoundError: there is no study of that name, or it is not given out to a crowd.
    """
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        return Visit(task, plan)


def require_plan(db: Database, slug: str) -> tuple[Task, Plan]:
    """A study with its plan.

    Raises:
        NotFoundError: there is none; the message names no other, for strangers read it.
    """
    task = tasks.get_task(db, slug)
    plan = reservations.get_plan(db, task.id) if task else None
    if task is None or plan is None:
        raise NotFoundError(f"There is no study “{slug[:64]}” here: check the link you were given.")
    return task, plan


def check_link(link: Link) -> Link:
    """The link as given.

    Raises:
        InputError: it names no worker, or something that no service would send.
    """
    if not WORKER_ID.fullmatch(link.worker):
        raise InputError("The link names no participant: open the study from the crowd service's own page.")
    if max(len(link.study), len(link.session)) > 80 or not (link.study + link.session).isprintable():
        raise InputError("The link is damaged: open the study from the crowd service's own page.")
    return link


def arrive(
    context: Context, slug: str, link: Link, *, old_token: str | None = None, address: str = ""
) -> tuple[Person, str]:
    """Take in somebody who comes by a link and consents; the same worker is the same person again.

    One address brings so many new people in a quarter of an hour: made-up ids could take every place.

    Raises:
        NotAllowedError: the study takes nobody by such links, or nobody new just now.
        InputError: the link is damaged.
    """
    check_link(link)
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        if not link.service or plan.terms.service != link.service:
            raise NotAllowedError("This study takes nobody by such a link: sign in instead.")
        if accounts.get_account(db, link.service, link.worker) is None:
            count_arrival(db, address)
        person = ensure_linked(db, link.service, link.worker)
        _consent(db, task, plan, person)
        enrolments.record_arrival(db, task.id, person.id, link.study, link.session)
        return person, open_session(db, person, old_token)


def _consent(db: Database, task: Task, plan: Plan, person: Person) -> None:
    if enrolments.get_enrolment(db, task.id, person.id) is None:
        if plan.state is not StudyState.RUNNING:
            raise NotAllowedError(f"“{task.name}” takes nobody new just now: come back later.")
        enrolments.record_step(db, task.id, person.id, Standing.CONSENTED, person.name)


@use_case(EVERYONE, guests=True)
def consent(context: Context, person: Person, slug: str) -> None:
    """Consent to take part in a study."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        _consent(db, task, plan, person)


@use_case(EVERYONE, guests=True)
def get_visit(context: Context, person: Person, slug: str) -> Visit:
    """See where one stands in a study."""
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        work = reservations.count_work(db, person.id, task.id)
        return Visit(
            task,
            plan,
            enrolments.get_enrolment(db, task.id, person.id),
            tuple(answer_keys.list_attempts(db, task.id, person.id)),
            tasks.get_task_by_id(db, plan.exam) if plan.exam else None,
            work.get(reservations.FINISHED, 0),
            work.get(reservations.HELD, 0),
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


@use_case(EVERYONE, guests=True)
def go_on(context: Context, person: Person, slug: str) -> None:
    """Go on after having read a warning."""
    with context.store.write() as db:
        task, _ = require_plan(db, slug)
        _require(db, task, person, Standing.WARNED)
        enrolments.record_step(db, task.id, person.id, Standing.ADMITTED, person.name, "read the warning")


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
        return attempt


def _require(db: Database, task: Task, person: Person, wanted: Standing) -> None:
    standing = enrolments.get_enrolment(db, task.id, person.id)
    if standing is None or standing.state is not wanted:
        raise NotAllowedError("The study's page has moved on meanwhile: load it again.")
