"""The owner's side of a crowd study: its plan, people and payments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import median

from coeval.clock import now, time_from_now
from coeval.domain import (
    MAX_TEXT,
    Enrolment,
    Person,
    Plan,
    Proof,
    ReturnRequest,
    Role,
    Standing,
    StudyState,
    Task,
    Terms,
)
from coeval.errors import InputError, NotFoundError
from coeval.llm.running.progress import show_seconds
from coeval.store import Database
from coeval.store.queries import criteria, enrolments, people, removal, reservations, tasks, teams
from coeval.store.queries import crowd_studies as stored_plans
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.crowd.entry import find_onward, require_plan
from coeval.usecases.crowd.link_signing import build_address, build_key
from coeval.usecases.crowd.onboarding import UNDO_DAYS
from coeval.usecases.sessions import require_person

LIMITS = {"per_instance": 1000, "batch": 1000, "quota": 100_000, "reserve_minutes": 100_000}
SERVICES = ("", "prolific", "mturk")
"""How people arrive: they sign in, or by links of Prolific, or by links with ids in the address, as MTurk's were."""
CODES = ("code_done", "code_part", "code_screened", "code_declined", "code_full", "code_blocked")


@use_case(OWNERS)
def get_plan(context: Context, person: Person, slug: str) -> Plan | None:
    """Return the plan of a task; None if everybody gets every instance."""
    with context.store.read() as db:
        return stored_plans.get_plan(db, require_task(db, slug).id)


@dataclass(frozen=True, slots=True)
class PlanSaved:
    """The saved plan, and the number of people admitted because the review was switched off."""

    plan: Plan
    admitted: int = 0


@use_case(OWNERS)
def set_plan(context: Context, person: Person, slug: str, plan: Plan, *, exam: str = "") -> PlanSaved:
    """Save the plan of a task; ``exam`` is the short name of the qualification task.

    A plan in the state ``planned`` changes nothing for the team until somebody runs the study. If the review
    of exams is switched off, people who passed and wait for it are admitted. A study that paused because it
    was full runs again if the plan adds places.

    Raises:
        InputError: a number, text or code cannot be used, or the exam is the task itself.
    """
    _check_plan(plan)
    with context.store.write() as db:
        task = require_task(db, slug)
        test = require_task(db, exam) if exam else None
        if test and (test.id == task.id or stored_plans.get_plan(db, test.id)):
            raise InputError(f"“{exam}” is itself a crowd study: create a separate task for the exam.")
        before = stored_plans.get_plan(db, task.id)
        reason = before.reason if before and plan.state is StudyState.PAUSED else ""
        saved = replace(plan, exam=test.id if test else None, reason=reason)
        stored_plans.set_plan(db, task.id, saved)
        if before is None or before.state is StudyState.PLANNED:
            _adopt_queues(db, task, saved)
        admitted = 0 if saved.terms.review else _admit_waiting(db, task, person)
        return PlanSaved(_resume(db, task, saved), admitted)


def _adopt_queues(db: Database, task: Task, plan: Plan) -> None:
    """When a study starts, count the team's work as places of the study."""
    if plan.state is not StudyState.PLANNED:
        until = time_from_now(timedelta(minutes=plan.reserve_minutes))
        stored_plans.adopt_queues(db, task.id, until)


def _admit_waiting(db: Database, task: Task, person: Person) -> int:
    people = stored_plans.list_participants(db, task.id)
    waiting = [
        participant.id
        for participant in people
        if participant.state is Standing.REVIEW and not participant.left
    ]
    for participant_id in dict.fromkeys(waiting):
        enrolments.record_step(
            db, task.id, participant_id, Standing.ADMITTED, person.name, "review was turned off"
        )
    return len(set(waiting))


def _resume(db: Database, task: Task, plan: Plan) -> Plan:
    """Resume a study that paused because it was full, if it has room."""
    if plan.reason != "full" or reservations.is_full(db, task.id, plan.per_instance):
        return plan
    plan = replace(plan, state=StudyState.RUNNING, reason="")
    stored_plans.set_plan(db, task.id, plan)
    return plan


def _check_plan(plan: Plan) -> None:
    for name, most in LIMITS.items():
        value = getattr(plan, name)
        if not 1 <= value <= most:
            raise InputError(f"{name.replace('_', ' ')} is {value}: choose 1 to {most:,}.")
    if not 0 <= plan.terms.enough <= plan.quota:
        raise InputError(
            f"The instances for the completion code are {plan.terms.enough}: choose 1 to {plan.quota} "
            "(the most that a person gets), or 0 for the most."
        )
    _check_terms(plan.terms)


def _check_terms(terms: Terms) -> None:
    if terms.service not in SERVICES:
        raise InputError(f"“{terms.service}” is not a known crowd service: use prolific, mturk or none.")
    if not 0 < terms.pass_share <= 1:
        raise InputError(f"The pass mark is {terms.pass_share:.0%}: choose one from 1% to 100%.")
    if not (math.isfinite(terms.hourly_rate) and terms.hourly_rate >= 0):
        raise InputError(f"The hourly rate is {terms.hourly_rate}: give a number from 0.")
    if min(terms.max_tries, terms.warn_after, terms.block_after) < 1:
        raise InputError("Tries, warning and block must be at least 1.")
    if terms.exam_items < 0:
        raise InputError(
            f"The number of exam items in one try is {terms.exam_items}: give a number, or 0 for all."
        )
    if terms.proof not in list(Proof) or (terms.proof == Proof.TOKEN and terms.service == "mturk"):
        raise InputError("Only Prolific signs its links: for other links, choose “A secret in the address”.")
    codes = [code for code in (getattr(terms, name) for name in CODES) if code]
    for code in codes:
        if len(code) > 80 or not code.isalnum():
            raise InputError(
                f"The code “{code[:90]}” is not valid: it needs 1 to 80 letters and digits, nothing else."
            )
        if codes.count(code) > 1:
            raise InputError(
                f"The code “{code}” is in two fields: people with different results need different codes."
            )
    if max(len(terms.consent), len(terms.guidelines)) > MAX_TEXT:
        raise InputError(
            f"The consent text or the guidelines are over {MAX_TEXT:,} characters: shorten them."
        )


@use_case(OWNERS)
def set_state(context: Context, person: Person, slug: str, state: StudyState) -> None:
    """Run, pause or close a study; saved work stays.

    Raises:
        InputError: the study would go back to a plan, or it has not started.
    """
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        if state is StudyState.PLANNED or (
            plan.state is StudyState.PLANNED and state is not StudyState.RUNNING
        ):
            raise InputError(f"“{task.name}” is {plan.state}, so it cannot be {state}: run it first.")
        after = replace(plan, state=state, reason="")
        stored_plans.set_plan(db, task.id, after)
        if plan.state is StudyState.PLANNED:
            _adopt_queues(db, task, after)


@dataclass(frozen=True, slots=True)
class RunPreview:
    """What follows if a study runs: who can work, where, and what the missing work costs."""

    slug: str
    plan: Plan
    address: str
    places: int
    """The number of instances that people will be given, counted once for each person."""
    begun: int
    """The number of instances that people have begun or finished, counted in the same way."""
    minutes: float | None
    """The usual minutes for an instance so far; None if nobody's time is known."""
    shut_out: tuple[str, ...]
    """Team members at work on the task, who can then no longer open it outside the study's page."""

    @property
    def cost_per_minute(self) -> float:
        """Return the pay if every place takes a minute."""
        return self.places * self.plan.terms.hourly_rate / 60


@use_case(OWNERS)
def preview_run(context: Context, person: Person, slug: str, plan: Plan | None = None) -> RunPreview:
    """Return what follows if the study runs by its plan, or by ``plan``, before it is saved. Nothing is written."""
    secret = "" if plan else get_link(context, person, slug)
    with context.store.read() as db:
        task, plan = (require_task(db, slug), plan) if plan else require_plan(db, slug)
        spread = stored_plans.count_places(db, task.id, planned=plan.state is StudyState.PLANNED)
        begun = sum(min(taken, plan.per_instance) * n for _, taken, n in spread)
        places = sum(max(plan.per_instance - taken, 0) * n for _, taken, n in spread)
        members = [] if plan.state is not StudyState.PLANNED else people.list_members(db)
        at_work = set(teams.list_with_queue(db, task.id))
        shut_out = [member.person.name for member in members
                    if member.person.id in at_work and member.person.role is not Role.OWNER]  # fmt: skip
        current = criteria.get_criteria_set(db, task.id)
        seconds = stored_plans.list_latest_seconds(db, task.id)
    usual = median(seconds) * len(current.criteria) / 60 if current and seconds else None
    address = build_address(slug, plan, secret, context.settings.address)
    return RunPreview(slug, plan, address, places, begun, usual, tuple(shut_out))


def tell_run(preview: RunPreview) -> list[str]:
    """Return sentences for an owner before the study runs: who will be able to work, where, and the cost."""
    terms = preview.plan.terms
    who = {"prolific": "Participants from Prolific", "mturk": "People with a link"}.get(terms.service)
    if who:
        first = f"Run the study? {who} can join by its address and get work: {preview.address}"
    else:
        first = (
            f"Run the study? Everyone who can sign in can join on its page and get work: {preview.address}"
        )
    lines = [f"{first}. Owners can always open the task."]
    if preview.shut_out:
        names = ", ".join(preview.shut_out[:5])
        more = f" and {len(preview.shut_out) - 5} more" if len(preview.shut_out) > 5 else ""
        works = "works" if len(preview.shut_out) == 1 else "work"
        then = f"To go on, each of them joins on s/{preview.slug}, where Scrutiny leads them."
        if who:
            then = (
                "The team's part then ends: nobody can join without such a link. Let the team finish first."
            )
        lines.append(f"{names}{more} now {works} on this task as the team. Saved work is kept. {then}")
    return [*lines, tell_cost(preview)]


def tell_cost(preview: RunPreview) -> str:
    """Return how much work is needed, how long it takes, and what it costs."""
    plan, terms = preview.plan, preview.plan.terms
    begun = f"; {preview.begun:,} more are begun or done, the team's work included" if preview.begun else ""
    needed = f"Still needed: {preview.places:,} instances, each counted once for each of {plan.per_instance} people"
    needed += f"{begun}."
    time = "Nobody's time is known yet."
    if preview.minutes:
        each, total = (
            show_seconds(60 * minutes) for minutes in (preview.minutes, preview.places * preview.minutes)
        )
        time = f"At the usual {each} for an instance so far, that is {total}."
    if not terms.hourly_rate:
        return f"{needed} {time} The plan states no pay."
    rate = f"at {terms.hourly_rate:g} {terms.currency} an hour, without the service's fee and the time for the exam"
    if preview.minutes:
        return f"{needed} {time} They cost {preview.minutes * preview.cost_per_minute:,.2f} {terms.currency}, {rate}."
    each = f"{preview.cost_per_minute:,.2f} {terms.currency}"
    return f"{needed} {time} Each minute that an instance takes costs {each} in all, {rate}."


@use_case(OWNERS)
def get_link(context: Context, person: Person, slug: str) -> str:
    """Return the secret part of a study's address (empty if it has none)."""
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        if plan.terms.proof != Proof.LINK or not plan.terms.service:
            return ""
        return build_key(tasks.get_seed(db, task.id), plan.terms.link_version)


@use_case(OWNERS)
def renew_link(context: Context, person: Person, slug: str) -> None:
    """Replace the secret part of a study's address: the old links no longer work."""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        terms = replace(plan.terms, proof=Proof.LINK, link_version=plan.terms.link_version + 1)
        stored_plans.set_plan(db, task.id, replace(plan, terms=terms))


@use_case(OWNERS)
def decide(
    context: Context, person: Person, slug: str, names: Sequence[str], admit: bool, *, comment: str = ""
) -> list[Enrolment]:
    """Admit or refuse people whose exam waits for review, or who were screened out or blocked; all or none.

    Raises:
        InputError: one of them does not wait for a decision.
        NotFoundError: nobody has one of the names.
    """
    with context.store.write() as db:
        task, _ = require_plan(db, slug)
        return [_decide(db, task, person, name, admit, comment.strip()) for name in dict.fromkeys(names)]


def _decide(db: Database, task: Task, person: Person, name: str, admit: bool, comment: str) -> Enrolment:
    participant = require_person(db, name)
    before = enrolments.get_enrolment(db, task.id, participant.id)
    open_to = (Standing.REVIEW, Standing.SCREENED_OUT, Standing.BLOCKED, Standing.WARNED, Standing.EXAM)
    if before is None or before.state not in open_to:
        raise InputError(
            f"{name} is not waiting for a decision: choose somebody at the exam, warned, refused or removed, or "
            "reload the page."
        )
    state = Standing.ADMITTED if admit else Standing.SCREENED_OUT
    return enrolments.record_step(db, task.id, participant.id, state, person.name, comment)


@use_case(OWNERS)
def reject(
    context: Context,
    person: Person,
    slug: str,
    name: str,
    *,
    comment: str,
    arrival: int | None = None,
    every: bool = False,
) -> list[Enrolment]:
    """Exclude the work of a person's submission from a study's statistics.

    It stays on record, and others get the places. ``arrival`` names the submission, by default the newest;
    ``every`` rejects all of them.

    Raises:
        InputError: there is no reason.
        NotFoundError: the person has no such submission.
    """
    if not comment.strip():
        raise InputError("Give a reason: the person may ask for it, and the record keeps it.")
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        rejected = require_person(db, name)
        arrivals = enrolments.list_arrivals(db, task.id, rejected.id)
        if not arrivals or (arrival is not None and arrival not in arrivals):
            raise NotFoundError(f"{name} has no such submission in “{task.name}”: reload the page.")
        chosen = arrivals if every else [arrival or arrivals[-1]]
        if chosen[-1] == arrivals[-1]:  # only the newest submission holds unfinished work
            reservations.take_back(db, rejected.id, task.id, reservations.REJECTED)
        steps = []
        for participant in chosen:
            reservations.reject_finished(db, participant)
            step = (db, task.id, rejected.id, Standing.REJECTED, person.name, comment.strip())
            steps.append(enrolments.record_step(*step, arrival=participant))
        _resume(db, task, plan)
        return steps


@use_case(OWNERS)
def list_returning(context: Context, person: Person, slug: str) -> list[ReturnRequest]:
    """Return the people who ask to continue as a person of the study without proof of identity."""
    with context.store.read() as db:
        task, _ = require_plan(db, slug)
        return enrolments.list_open_requests(db, task.id)


@use_case(OWNERS)
def decide_return(context: Context, person: Person, slug: str, request: int, admit: bool) -> None:
    """Admit or refuse a person who asks to continue as an existing participant.

    An admitted person gets a new return code, and all their other browsers are signed out.

    Raises:
        NotFoundError: the request was already decided, or belongs to another study.
    """
    with context.store.write() as db:
        task, _ = require_plan(db, slug)
        if not enrolments.decide_request(db, task.id, request, admit, person.name):
            raise NotFoundError("Somebody has already decided this request: reload the page.")


@use_case(OWNERS)
def undo_withdrawal(context: Context, person: Person, slug: str, name: str) -> int:
    """Restore the work of a person in whose name somebody else withdrew; return the number of rows.

    The person returns to their earlier state. If their places were given to others meanwhile, an instance can
    have one person more than planned.

    Raises:
        NotFoundError: nothing can be restored: they did not withdraw, or their work was deleted after
            ``UNDO_DAYS``.
    """
    with context.store.write() as db:
        task, _ = require_plan(db, slug)
        participant = require_person(db, name)
        aside = removal.get_aside(db, task.id, participant.id)
        if aside is None or aside.delete_after <= now():
            raise NotFoundError(
                f"There is no work of {name} to restore: they did not withdraw, or {UNDO_DAYS} days have "
                "passed."
            )
        n = removal.put_back(db, aside)
        note, state = f"withdrawal undone; {n} rows are back", Standing(aside.state)
        step = enrolments.record_step(
            db, task.id, participant.id, state, person.name, note, arrival=aside.arrival
        )
        newest = enrolments.get_enrolment(db, task.id, participant.id)
        if newest is not None and newest.state is Standing.WITHDRAWN:  # came again after the withdrawal
            enrolments.record_step(db, task.id, participant.id, find_onward([step]), person.name, note)
        return n


@use_case(OWNERS)
def remove_person(context: Context, person: Person, name: str) -> dict[str, int]:
    """Remove a person's work and identity at their request, and record the removal.

    Returns the number of removed rows by table. Earlier snapshots contain them for at most thirty days.

    Raises:
        InputError: the person is an owner or researcher, whose decisions the study depends on.
    """
    with context.store.write() as db:
        leaver = require_person(db, name)
        if leaver.role is not Role.ANNOTATOR:
            raise InputError(f"{name} is {leaver.role}: only an annotator's data can be removed.")
        studies = [tasks.get_task(db, slug) for slug in enrolments.list_studies(db, leaver.id)]
        for task in studies:
            assert task is not None
            reservations.take_back(db, leaver.id, task.id, reservations.RETURNED)
        removed = removal.remove_person(db, leaver.id)
        note = ", ".join(f"{n} {table}" for table, n in removed.items() if n) or "nothing was saved"
        for task in studies:
            assert task is not None
            step = (db, task.id, leaver.id, Standing.REMOVED, person.name, f"removed: {note}")
            for arrival in enrolments.list_arrivals(db, task.id, leaver.id):
                enrolments.record_step(*step, arrival=arrival)
    context.store.removed()
    return removed
