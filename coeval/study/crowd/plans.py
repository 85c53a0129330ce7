"""The owner's side of a crowd study: its plan, its people, and what they are owed."""

from __future__ import annotations

import math
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import MAX_TEXT, Enrolment, Person, Plan, Role, Standing, StudyState, Terms
from coeval.errors import InputError, NotFoundError
from coeval.store.queries import tasks
from coeval.store.queries.crowd import reservations
from coeval.store.queries.people import enrolments, removal
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.crowd.onboarding import require_plan
from coeval.study.people.sessions import require_person

LIMITS = {"per_instance": 1000, "batch": 1000, "quota": 100_000, "reserve_minutes": 100_000}
SERVICES = ("", "prolific", "mturk")


@use_case(OWNERS)
def get_plan(context: Context, person: Person, slug: str) -> Plan | None:
    """See how a task is given out; None where everybody gets all of it."""
    with context.store.read() as db:
        return reservations.get_plan(db, require_task(db, slug).id)


@use_case(OWNERS)
def set_plan(context: Context, person: Person, slug: str, plan: Plan, *, exam: str = "") -> Plan:
    """Give a task out by a plan; ``exam`` is the short name of the task that is its qualification.

    Raises:
        InputError: a number, text or code cannot be used, or the exam is the task itself.
    """
    _check_plan(plan)
    with context.store.write() as db:
        task = require_task(db, slug)
        found = require_task(db, exam) if exam else None
        if found and (found.id == task.id or reservations.get_plan(db, found.id)):
            raise InputError(f"“{exam}” is given out as a study itself: make a task of its own for the exam.")
        made = Plan(
            plan.state, plan.per_instance, plan.batch, plan.quota, plan.reserve_minutes,
            found.id if found else None, plan.terms,
        )  # fmt: skip
        reservations.set_plan(db, task.id, made)
        reservations.adopt_queues(db, task.id, time_from_now(timedelta(minutes=made.reserve_minutes)))
    return made


def _check_plan(plan: Plan) -> None:
    for name, most in LIMITS.items():
        value = getattr(plan, name)
        if not 1 <= value <= most:
            raise InputError(f"{name.replace('_', ' ')} is {value}: choose 1 to {most:,}.")
    _check_terms(plan.terms)


def _check_terms(terms: Terms) -> None:
    if terms.service not in SERVICES:
        raise InputError(f"“{terms.service}” is no crowd service known here: prolific, mturk, or none.")
    if not 0 < terms.pass_share <= 1:
        raise InputError(f"The pass mark is {terms.pass_share:.0%}: choose one from 1% to 100%.")
    if not (math.isfinite(terms.hourly_rate) and terms.hourly_rate >= 0):
        raise InputError(f"The hourly rate is {terms.hourly_rate}: give a number from 0.")
    if min(terms.max_tries, terms.warn_after, terms.block_after) < 1:
        raise InputError("Tries, warning and block count from 1.")
    codes = [code for code in (terms.code_done, terms.code_screened, terms.code_declined) if code]
    if len(set(codes)) < len(codes) or any(len(code) > 80 or not code.isalnum() for code in codes):
        raise InputError("The three codes have to differ, and hold letters and digits alone.")
    if max(len(terms.consent), len(terms.guidelines)) > MAX_TEXT:
        raise InputError(
            f"The consent text or the guidelines are over {MAX_TEXT:,} characters: shorten them."
        )


@use_case(OWNERS)
def set_state(context: Context, person: Person, slug: str, state: StudyState) -> None:
    """Pause, close or run a study; what people saved stays."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        reservations.set_plan(db, task.id, _with_state(plan, state))


def _with_state(plan: Plan, state: StudyState) -> Plan:
    return Plan(state, plan.per_instance, plan.batch, plan.quota, plan.reserve_minutes, plan.exam, plan.terms)


@use_case(OWNERS)
def decide(
    context: Context, person: Person, slug: str, name: str, admit: bool, *, comment: str = ""
) -> Enrolment:
    """Admit or refuse somebody whose exam waits for review, or who was screened out or blocked."""
    with context.store.write() as db:
        task, _ = require_plan(db, slug)
        found = require_person(db, name)
        before = enrolments.get_enrolment(db, task.id, found.id)
        open_to = (Standing.REVIEW, Standing.SCREENED_OUT, Standing.BLOCKED, Standing.WARNED, Standing.EXAM)
        if before is None or before.state not in open_to:
            raise InputError(f"{name} waits for no decision: reload the page.")
        state = Standing.ADMITTED if admit else Standing.SCREENED_OUT
        return enrolments.record_step(db, task.id, found.id, state, person.name, comment.strip())


@use_case(OWNERS)
def reject(context: Context, person: Person, slug: str, name: str, *, comment: str) -> Enrolment:
    """Take somebody's work out of a study's statistics; it stays in the record, and others get its places."""
    if not comment.strip():
        raise InputError("Say why: the person may ask, and the record keeps it.")
    with context.store.write() as db:
        task, _ = require_plan(db, slug)
        found = require_person(db, name)
        if enrolments.get_enrolment(db, task.id, found.id) is None:
            raise NotFoundError(f"{name} has not joined “{task.name}”.")
        reservations.take_back(db, found.id, task.id, reservations.REJECTED)
        reservations.reject_finished(db, found.id, task.id)
        return enrolments.record_step(db, task.id, found.id, Standing.REJECTED, person.name, comment.strip())


@use_case(OWNERS)
def remove_person(context: Context, person: Person, name: str) -> dict[str, int]:
    """Remove all that somebody saved, and who they are, on their request; the record says that it was done.

    Gives how many rows went, by table. Snapshots and exports made before still hold them.

    Raises:
        InputError: it is an owner or researcher, whose decisions the study rests on.
    """
    with context.store.write() as db:
        found = require_person(db, name)
        if found.role is not Role.ANNOTATOR:
            raise InputError(f"{name} is {found.role}: only an annotator's data can be removed.")
        studies = [tasks.get_task(db, slug) for slug in enrolments.list_studies(db, found.id)]
        for task in studies:
            assert task is not None
            reservations.take_back(db, found.id, task.id, reservations.RETURNED)
        removed = removal.remove_person(db, found.id)
        note = ", ".join(f"{n} {table}" for table, n in removed.items() if n) or "nothing was saved"
        for task in studies:
            assert task is not None
            enrolments.record_step(db, task.id, found.id, Standing.REMOVED, person.name, f"removed: {note}")
    return removed
