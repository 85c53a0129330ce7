"""Arrivals by a crowd service's link: the person, the proof of identity, and the submission.

A secret in the address proves the study but not the person, because every worker sees it. Unless the service
signs the link, a known person can come back only in the same browser, with their return code, or if an owner
admits them.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from coeval.clock import time_from_now
from coeval.domain import Account, Enrolment, Person, Plan, Proof, ReturnRequest, Standing, StudyState, Task
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.language import tr
from coeval.store import Database
from coeval.store.queries import crowd_studies as stored_plans
from coeval.store.queries import enrolments, people, reservations, tasks
from coeval.usecases.access import Context
from coeval.usecases.accounts import count_arrival, ensure_linked
from coeval.usecases.crowd.exams import grade_checks
from coeval.usecases.crowd.link_signing import (
    NOT_SIGNED,
    Link,
    build_key,
    forget_browsers,
    hash_network,
    is_pass,
    is_same,
    is_their_code,
    read_token,
    seal_link,
)
from coeval.usecases.crowd.participant_state import is_full
from coeval.usecases.sessions import hash_token, open_session

WORKERS = {"prolific": re.compile(r"[0-9a-f]{24}"), "mturk": re.compile(r"A[A-Z0-9]{7,39}")}
"""The pattern of each service's ids, in the spelling in which they are stored."""
NAMES = re.compile(r"[A-Za-z0-9_-]{0,80}")


class ShutError(NotAllowedError):
    """The study accepts no new people."""


class OtherBrowserError(NotAllowedError):
    """The person is known, but neither link, browser nor return code proves their identity."""


IDLE = 30
"""The largest number of people from one network with unsigned links and no save. Each may hold one instance."""
OPEN_REQUESTS = 3
"""The largest number of open requests to return as one person."""
MOST_SESSIONS = 20
"""The largest number of sessions by which one person comes to a study, since an unsigned link can be edited."""


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser's session, worker's pass, return request, and address."""

    session: str | None = None
    worker_pass: str = ""
    waiting: str = ""
    address: str = ""


class Coming(StrEnum):
    """A person's relation to the study in the link."""

    NEW = "new"
    SAME = "same"
    """by their current submission, in the browser in which they began"""
    AGAIN = "again"
    """already known: by another submission, or from another browser"""
    ELSEWHERE = "elsewhere"
    """known, but from an unknown browser and by a link that proves nothing"""
    TEAM = "team"
    """a team member, who checks what people see"""
    SHUT = "shut"
    """a new person, but the study accepts none"""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The result of following a link; it is not stored."""

    task: Task
    plan: Plan
    coming: Coming
    link: Link
    full: bool = False
    number: str = ""
    """The number of this browser's open return request."""
    refused: bool = False
    """True if an owner has refused that request."""


def require_plan(db: Database, slug: str) -> tuple[Task, Plan]:
    """Return a study with its plan.

    Raises:
        NotFoundError: it does not exist; the message names no other study, because strangers read it.
    """
    task = tasks.get_task(db, slug)
    plan = stored_plans.get_plan(db, task.id) if task else None
    if task is None or plan is None:
        raise NotFoundError(
            tr("There is no study “{slug}” here: check the link you were given.", slug=slug[:64])
        )
    return task, plan


def check_link(link: Link) -> Link:
    """Return the link with its ids in their stored spelling.

    Raises:
        InputError: the link names no worker, or contains something that the service would not send.
    """
    worker, study, session = (text.strip() for text in (link.worker, link.study, link.session))
    if link.service == "prolific":
        worker, study, session = worker.lower(), study.lower(), session.lower()
    else:
        worker = worker.upper()
    if not WORKERS[link.service].fullmatch(worker):
        spelling = (
            tr("24 digits or letters from a to f")
            if link.service == "prolific"
            else tr("A, then 7 to 39 letters or digits")
        )
        text = tr(
            "The participant id in the link, “{id}”, is not valid. It must be: {spelling}. Open the study from the "
            "crowd service's own page.",
            id=worker[:64],
            spelling=spelling,
        )
        raise InputError(text)
    if not (NAMES.fullmatch(study) and NAMES.fullmatch(session)):
        raise InputError(tr("The link is damaged: open the study from the crowd service's own page."))
    return replace(link, worker=worker, study=study, session=session)


def look(
    context: Context,
    slug: str,
    link: Link,
    *,
    key: str = "",
    token: str = "",
    host: str = "",
    old_token: str | None = None,
    worker_pass: str = "",
    waiting: str = "",
) -> Arrival:
    """Return the page for a person who follows a link. If the link proves the person's identity, it is
    returned with a seal.

    Nothing is written. ``key`` is the study's secret from the link, ``token`` the service's signed token,
    ``host`` the origin of this site (or its host name, if it is secure), ``old_token`` the browser's session;
    ``worker_pass`` and ``waiting`` are its other cookies.

    Raises:
        InputError: the link is damaged.
        NotAllowedError: the study does not accept such links, or the link lacks the proof that the study
            requires.
    """
    if token:
        with context.store.read() as db:
            wants = require_plan(db, slug)[1].terms.proof
        if wants == Proof.TOKEN:
            link = read_token(token, context.settings.prolific_keys, host)
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        _check_service(plan, link)
        who = people.get_session_person(db, hash_token(old_token)) if old_token else None
        if who is not None and not people.is_guest(db, who.id):
            return Arrival(task, plan, Coming.TEAM, link)
        seed = tasks.get_seed(db, task.id)
        _check_proof(plan, seed, key, token)
        link = check_link(link)
        if plan.terms.proof:
            seal = seal_link(seed, link, plan.terms.proof, plan.terms.link_version)
            link = replace(link, seal=seal)
        return _arrival(db, task, plan, link, who, Browser(old_token, worker_pass, waiting))


def check_open_to_new(db: Database, task: Task, plan: Plan) -> None:
    """Refuse a new person if there is no work left.

    Raises:
        ShutError: there is no work left.
    """
    free = reservations.has_free(db, 0, task.id, plan.per_instance)
    if is_full(plan, free):
        raise ShutError(tr("“{name}” is full: it has enough people.", name=task.name))
    if plan.state is not StudyState.RUNNING:
        raise ShutError(tr("“{name}” is not accepting new people now: come back later.", name=task.name))


def _check_service(plan: Plan, link: Link) -> None:
    if not link.service or plan.terms.service != link.service:
        raise NotAllowedError(tr("This study does not accept such links: sign in instead."))


def _check_proof(plan: Plan, seed: str, key: str, token: str) -> None:
    proof = plan.terms.proof
    if proof == Proof.TOKEN and not token:
        raise NotAllowedError(tr(NOT_SIGNED))
    if proof == Proof.LINK and not is_same(key, build_key(seed, plan.terms.link_version)):
        raise NotAllowedError(tr(NOT_SIGNED))


def _arrival(
    db: Database, task: Task, plan: Plan, link: Link, who: Person | None, browser: Browser
) -> Arrival:
    account = people.get_account(db, link.service, link.worker)
    if account is not None and not _is_proved(db, task, plan, account, who, browser):
        request = _find_request(db, task, account, browser)
        number = request.number if request and request.admitted is None else ""
        refused = request is not None and request.admitted is False
        return Arrival(task, plan, Coming.ELSEWHERE, link, number=number, refused=refused)
    standing = enrolments.get_enrolment(db, task.id, account.person.id) if account else None
    if account is None or standing is None:
        full = is_full(plan, reservations.has_free(db, 0, task.id, plan.per_instance))
        shut = full or plan.state is not StudyState.RUNNING
        return Arrival(task, plan, Coming.SHUT if shut else Coming.NEW, link, full)
    if account.person != who:
        return Arrival(task, plan, Coming.AGAIN, link)
    is_same_session = enrolments.is_known_session(db, task.id, who.id, link.study, link.session)
    return Arrival(task, plan, Coming.SAME if is_same_session else Coming.AGAIN, link)


def _is_proved(
    db: Database, task: Task, plan: Plan, account: Account, who: Person | None, browser: Browser
) -> bool:
    """Return whether the person's identity is certain without a return code."""
    if plan.terms.proof == Proof.TOKEN or account.person == who or is_pass(account, browser.worker_pass):
        return True
    request = _find_request(db, task, account, browser)
    return request is not None and request.admitted is True


def _find_request(db: Database, task: Task, account: Account, browser: Browser) -> ReturnRequest | None:
    if not browser.waiting:
        return None
    return enrolments.find_request(db, task.id, account.person.id, hash_token(browser.waiting))


def arrive(
    context: Context,
    slug: str,
    link: Link,
    *,
    old_token: str | None = None,
    address: str = "",
    worker_pass: str = "",
    waiting: str = "",
) -> tuple[Person, str]:
    """Accept a person who arrives by a link and consents. The same worker is the same person again.

    A worker who comes by another study of the service starts a new submission there, and gets work again even
    if they had finished. A further session of the same study gives nothing more, and owners see it.

    Raises:
        NotAllowedError: the study does not accept such links; the link is not proved; the browser is a team
            member's; or its network brought too many people who have not begun.
        ShutError: the study accepts no new people.
        OtherBrowserError: the person is known, and nothing proves their identity.
        InputError: the link is damaged.
    """
    browser = Browser(old_token, worker_pass, waiting, address)
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        link = _check_sealed(db, task, plan, link)
        is_known = people.get_account(db, link.service, link.worker) is not None
        network = hash_network(tasks.get_seed(db, task.id), address)
    by_code = bool(
        is_known and link.code and is_their_code(context, link.service, link.worker, link.code, network)
    )
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        _check_sealed(db, task, plan, link)
        account = people.get_account(db, link.service, link.worker)
        who = people.get_session_person(db, hash_token(old_token)) if old_token else None
        _check_not_team(db, who)
        if account is None:
            count_arrival(db, network)
            _check_idle(db, plan, network)
        elif not by_code and not _is_proved(db, task, plan, account, who, browser):
            raise OtherBrowserError(
                tr("That is not the return code of this participant.")
                if link.code
                else tr("An owner of the study has not let you in yet.")
            )
        else:
            _forget_others(db, task, plan, account, who, browser)
        person = ensure_linked(db, link.service, link.worker)
        if account is None and plan.terms.proof != Proof.TOKEN:
            enrolments.add_newcomer(db, person.id, network)
        if account is None and waiting:
            # if the answer with the code is lost, the same browser may send the form again
            token_hash = hash_token(waiting)
            enrolments.add_request(db, task.id, person.id, "", token_hash, admitted_by=person.name)
        _record_coming(db, task, plan, person, link)
        return person, open_session(db, person, old_token)


def _check_sealed(db: Database, task: Task, plan: Plan, link: Link) -> Link:
    """Return the link in its normal form, if it has the proof that the study requires."""
    _check_service(plan, link)
    link = check_link(link)
    proof, version = plan.terms.proof, plan.terms.link_version
    if proof and not is_same(link.seal, seal_link(tasks.get_seed(db, task.id), link, proof, version)):
        raise NotAllowedError(tr(NOT_SIGNED))
    return link


def _check_not_team(db: Database, who: Person | None) -> None:
    """Refuse the browser of a team member, who would lose their session."""
    if who is not None and not people.is_guest(db, who.id):
        raise NotAllowedError(
            tr(
                "You are signed in as {name}: to try the study as a worker, use a private window.",
                name=who.name,
            )
        )


def _check_idle(db: Database, plan: Plan, network: str) -> None:
    """Refuse a network whose newest people have not begun to work, because anybody can make up ids at no cost."""
    if plan.terms.proof == Proof.TOKEN:
        return
    since = time_from_now(-timedelta(minutes=plan.reserve_minutes))
    enrolments.prune_newcomers(db, time_from_now(-timedelta(days=1)))
    if enrolments.count_idle_newcomers(db, network, since) >= IDLE:
        raise NotAllowedError(
            tr("Many people arrived from your network and have not begun: try again in a few minutes.")
        )


def _forget_others(
    db: Database, task: Task, plan: Plan, account: Account, who: Person | None, browser: Browser
) -> None:
    """After a signed link or an owner's decision, sign out the person's browsers that unproved links let in."""
    if account.person == who or is_pass(account, browser.worker_pass):
        return
    request = _find_request(db, task, account, browser)
    let_in = request is not None and request.admitted is True
    signed = plan.terms.proof == Proof.TOKEN and enrolments.has_unsigned_arrival(db, account.person.id)
    if request is not None and let_in:
        enrolments.use_request(db, request.id)
    if let_in or signed:
        forget_browsers(db, account.person.id)


def find_elsewhere(context: Context, slug: str, link: Link, waiting: str) -> Arrival:
    """Return the page for a known person without proof, with this browser's return request."""
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
        link = _check_sealed(db, task, plan, link)
        return _arrival(db, task, plan, link, None, Browser(waiting=waiting))


def ask_to_return(
    context: Context, slug: str, link: Link, *, old_token: str | None = None, address: str = ""
) -> tuple[str, str]:
    """Ask the owners to be let in as a person of the study; return the request's number and a cookie token.

    Raises:
        NotAllowedError: the link is not proved, nobody with this id takes part, or too many requests are
            open.
        InputError: the link is damaged.
    """
    token, number = secrets.token_urlsafe(32), f"{secrets.randbelow(10**6):06}"
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        link = _check_sealed(db, task, plan, link)
        _check_not_team(db, people.get_session_person(db, hash_token(old_token)) if old_token else None)
        account = people.get_account(db, link.service, link.worker)
        if account is None:
            raise NotAllowedError(tr("The study's page has changed: reload it."))
        count_arrival(db, hash_network(tasks.get_seed(db, task.id), address))
        if enrolments.count_open_requests(db, task.id, account.person.id) >= OPEN_REQUESTS:
            raise NotAllowedError(
                tr("Other requests for this participant are waiting for an owner: contact the study team.")
            )
        enrolments.add_request(db, task.id, account.person.id, number, hash_token(token))
    return number, token


def _record_coming(db: Database, task: Task, plan: Plan, person: Person, link: Link) -> None:
    """Record the first step of a submission: consent, or the state that an earlier submission had."""
    if enrolments.is_others_session(db, task.id, person.id, link.study, link.session):
        raise NotAllowedError(
            tr("This session belongs to somebody else: open the study from the service's own page.")
        )
    before = enrolments.get_enrolment(db, task.id, person.id)
    if before is None:
        check_open_to_new(db, task, plan)
    elif (
        not enrolments.is_known_session(db, task.id, person.id, link.study, link.session)
        and enrolments.count_sessions(db, task.id, person.id) >= MOST_SESSIONS
    ):
        raise NotAllowedError(
            tr(
                "You have opened this study in {n} sessions, which is the limit: contact the study team.",
                n=MOST_SESSIONS,
            )
        )
    sessions = enrolments.list_sessions(db, task.id, person.id, link.study)
    if sessions and link.session not in sessions:
        enrolments.record_repeat(db, task.id, person.id, link.study, link.session)
        return
    if before is not None:
        # an earlier submission ends complete: a check that is graded later would change it
        reservations.note_finished(db, task.id, annotator=person.id)
        grade_checks(db, plan, person, task)
    onward = find_onward(enrolments.list_steps(db, task.id, person.id))
    is_new = enrolments.record_arrival(db, task.id, person.id, link.study, link.session, plan.terms.proof)
    if before is None:
        enrolments.record_step(db, task.id, person.id, Standing.CONSENTED, person.name)
    elif is_new:
        enrolments.record_step(db, task.id, person.id, onward, person.name, "came for another study")


def find_onward(steps: Sequence[Enrolment]) -> Standing:
    """Return the state in which a person who comes again begins, after these steps of the earlier submission.

    Somebody whose work was excluded gets no more, but has done nothing yet for which the new submission
    could be rejected.
    """
    states = [step.state for step in steps if step.state is not Standing.FULL]
    last = states[-1] if states else Standing.CONSENTED
    if last in (Standing.REJECTED, Standing.BLOCKED):
        return Standing.SCREENED_OUT
    return Standing.ADMITTED if last is Standing.FINISHED else last
