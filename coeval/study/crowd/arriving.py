"""Coming by a crowd service's link: whose it is, whether that is proved, and which submission it belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from coeval.domain import Account, Person, Plan, Proof, Standing, StudyState, Task
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.language import tr
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd import plans as stored_plans
from coeval.store.queries.crowd import reservations
from coeval.store.queries.people import accounts, enrolments, people
from coeval.study.access import Context
from coeval.study.crowd.proof import NOT_SIGNED, Link, build_key, is_same, read_token, seal_link
from coeval.study.crowd.situations import is_full
from coeval.study.crowd.worker_words import hash_word, is_their_word
from coeval.study.people.accounts import count_arrival, ensure_linked
from coeval.study.people.sessions import hash_token, open_session

WORKERS = {"prolific": re.compile(r"[0-9a-f]{24}"), "mturk": re.compile(r"A[A-Z0-9]{7,39}")}
"""The form of each service's ids, in the one spelling they are kept in."""
NAMES = re.compile(r"[A-Za-z0-9_-]{0,80}")


class ShutError(NotAllowedError):
    """The study takes nobody new."""


class OtherBrowserError(NotAllowedError):
    """Somebody is known, and neither the link nor the browser nor a word proves that it is they."""


class Coming(StrEnum):
    """How somebody stands to a study whose link they follow."""

    NEW = "new"
    SAME = "same"
    """by the submission that they work at, in the browser they began in"""
    AGAIN = "again"
    """known already: by another submission, or from another browser"""
    ELSEWHERE = "elsewhere"
    """known, from a browser that does not know them, by a link that proves nothing"""
    TEAM = "team"
    """one of the team, who looks at what people see"""
    SHUT = "shut"
    """new, and the study takes nobody new"""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What somebody finds who follows a link; nothing of it is written."""

    task: Task
    plan: Plan
    coming: Coming
    link: Link
    full: bool = False


def require_plan(db: Database, slug: str) -> tuple[Task, Plan]:
    """A study with its plan.

    Raises:
        NotFoundError: there is none; the message names no other, for strangers read it.
    """
    task = tasks.get_task(db, slug)
    plan = stored_plans.get_plan(db, task.id) if task else None
    if task is None or plan is None:
        raise NotFoundError(
            tr("There is no study “{slug}” here: check the link you were given.", slug=slug[:64])
        )
    return task, plan


def check_link(link: Link) -> Link:
    """The link with its ids in the one spelling they are kept in.

    Raises:
        InputError: it names no worker, or something that the service would not send.
    """
    worker, study, session = (text.strip() for text in (link.worker, link.study, link.session))
    if link.service == "prolific":
        worker, study, session = worker.lower(), study.lower(), session.lower()
    else:
        worker = worker.upper()
    if not WORKERS[link.service].fullmatch(worker):
        raise InputError(
            tr("The link names no participant: open the study from the crowd service's own page.")
        )
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
) -> Arrival:
    """See what somebody finds who follows a link, and seal it where it proves whose it is; nothing is written.

    ``key`` is the study's secret as the link has it, ``token`` what the service signed, ``host`` where we are
    reached, ``old_token`` the session of the browser.

    Raises:
        InputError: the link is damaged.
        NotAllowedError: the study takes nobody by such a link, or the link does not prove what this study asks.
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
        if who is not None and not accounts.is_guest(db, who.id):
            return Arrival(task, plan, Coming.TEAM, link)
        seed = tasks.get_seed(db, task.id)
        _check_proof(plan, seed, key, token)
        link = check_link(link)
        if plan.terms.proof:
            link = replace(link, seal=seal_link(seed, link))
        return _arrival(db, task, plan, link, who)


def check_open_to_new(db: Database, task: Task, plan: Plan) -> None:
    """Refuse who has not joined where there is no work to be had.

    Raises:
        ShutError: so it is.
    """
    free = reservations.has_free(db, 0, task.id, plan.per_instance)
    if is_full(plan, free):
        raise ShutError(tr("“{name}” is full: it has all the people it needs.", name=task.name))
    if plan.state is not StudyState.RUNNING:
        raise ShutError(tr("“{name}” takes nobody new just now: come back later.", name=task.name))


def _check_service(plan: Plan, link: Link) -> None:
    if not link.service or plan.terms.service != link.service:
        raise NotAllowedError(tr("This study takes nobody by such a link: sign in instead."))


def _check_proof(plan: Plan, seed: str, key: str, token: str) -> None:
    proof = plan.terms.proof
    if proof == Proof.TOKEN and not token:
        raise NotAllowedError(tr(NOT_SIGNED))
    if proof == Proof.LINK and not is_same(key, build_key(seed, plan.terms.link_version)):
        raise NotAllowedError(tr(NOT_SIGNED))


def _arrival(db: Database, task: Task, plan: Plan, link: Link, who: Person | None) -> Arrival:
    account = accounts.get_account(db, link.service, link.worker)
    if account is not None and not plan.terms.proof and account.person != who:
        return Arrival(task, plan, Coming.ELSEWHERE, link)
    standing = enrolments.get_enrolment(db, task.id, account.person.id) if account else None
    if account is None or standing is None:
        full = is_full(plan, reservations.has_free(db, 0, task.id, plan.per_instance))
        shut = full or plan.state is not StudyState.RUNNING
        return Arrival(task, plan, Coming.SHUT if shut else Coming.NEW, link, full)
    if account.person != who:
        return Arrival(task, plan, Coming.AGAIN, link)
    known = enrolments.get_arrival(db, task.id, who.id, link.study, link.session)
    return Arrival(task, plan, Coming.SAME if known else Coming.AGAIN, link)


def arrive(
    context: Context, slug: str, link: Link, *, old_token: str | None = None, address: str = ""
) -> tuple[Person, str]:
    """Take in somebody who comes by a link and consents; the same worker is the same person again.

    Who comes by another session of the service has a submission of its own from then on: who had finished
    is given work anew. One address brings so many new people in a quarter of an hour: made-up ids could take
    every place.

    Raises:
        NotAllowedError: the study takes nobody by such links; the link is not proved; or the browser is one
            of the team's.
        ShutError: the study takes nobody new.
        OtherBrowserError: the link proves nothing, and neither the browser nor the word is the person's.
        InputError: the link is damaged.
    """
    with context.store.read() as db:
        _, plan = require_plan(db, slug)
        _check_service(plan, link)
        link = check_link(link)
        is_known = accounts.get_account(db, link.service, link.worker) is not None
    proved_by_word = bool(
        is_known and link.word and is_their_word(context, link.service, link.worker, link.word)
    )
    secret = hash_word(link.word) if link.word and not is_known else ""
    with context.store.write() as db:
        task, plan = require_plan(db, slug)
        _check_service(plan, link)
        if plan.terms.proof and not is_same(link.seal, seal_link(tasks.get_seed(db, task.id), link)):
            raise NotAllowedError(tr(NOT_SIGNED))
        account = accounts.get_account(db, link.service, link.worker)
        _check_browser(db, plan, account, old_token, proved_by_word)
        if account is None:
            count_arrival(db, address)
        person = ensure_linked(db, link.service, link.worker)
        if account is None and secret:
            accounts.set_secret(db, person.id, secret)
        _record_coming(db, task, plan, person, link)
        return person, open_session(db, person, old_token)


def _check_browser(
    db: Database, plan: Plan, account: Account | None, old_token: str | None, proved_by_word: bool
) -> None:
    """Refuse a browser of the team's, which would lose its session, and, unproved, one that is not the person's."""
    who = people.get_session_person(db, hash_token(old_token)) if old_token else None
    if who is not None and not accounts.is_guest(db, who.id):
        raise NotAllowedError(
            tr(
                "You are signed in as {name}: to take part as a worker would, use a private window.",
                name=who.name,
            )
        )
    if account is None or plan.terms.proof or account.person == who or proved_by_word:
        return
    raise OtherBrowserError(
        tr("That is not the word that was chosen in the browser where this study was begun.")
    )


def _record_coming(db: Database, task: Task, plan: Plan, person: Person, link: Link) -> None:
    """The first step of a submission: consent, or where an earlier submission has brought the person."""
    if enrolments.is_others_session(db, task.id, person.id, link.study, link.session):
        raise NotAllowedError(
            tr("This session is somebody else's: open the study from the service's own page.")
        )
    before = enrolments.get_enrolment(db, task.id, person.id)
    if before is None:
        check_open_to_new(db, task, plan)
    is_new = enrolments.record_arrival(db, task.id, person.id, link.study, link.session, plan.terms.proof)
    if before is None:
        enrolments.record_step(db, task.id, person.id, Standing.CONSENTED, person.name)
    elif is_new:
        onward = Standing.ADMITTED if before.state is Standing.FINISHED else before.state
        enrolments.record_step(db, task.id, person.id, onward, person.name, "came by another session")
