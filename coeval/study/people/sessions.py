"""Sessions, roles, and signing in by name.

A name is enough on loopback, where whoever reaches the app owns the machine; the server refuses to start
elsewhere without a real sign-in (``coeval.study.people.accounts``). By name, the first person is the owner.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Person, Role
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.language import tr
from coeval.settings import SignIn
from coeval.store import Database
from coeval.store.queries.people import accounts, members, people
from coeval.study.access import EVERYONE, OWNERS, Context, use_case

SESSION_DAYS = 30
MAX_NAME = 80
LINK_KINDS = ("prolific", "mturk")
"""Accounts that a link alone opens: annotators of the studies they joined, and never more."""


def sign_in(context: Context, name: str, *, old_token: str | None = None) -> tuple[Person, str]:
    """Sign in by name: gives the person and the new session's token, to be kept in a cookie.

    Raises:
        InputError: the name is empty, too long, or holds characters that cannot be read.
        NotAllowedError: people have to prove who they are here, or this person has an account.
    """
    if context.settings.sign_in is not SignIn.NAMES:
        raise NotAllowedError(tr("A name alone signs nobody in here: use the sign-in page."))
    name = check_name(name)
    with context.store.write() as db:
        role = Role.ANNOTATOR if people.count_owners(db) else Role.OWNER
        person = people.ensure_person(db, name, role)
        if accounts.is_guest(db, person.id):
            raise NotAllowedError(tr("{name} is a name of this study's crowd: choose another.", name=name))
        return person, open_session(db, person, old_token)


def open_session(db: Database, person: Person, old_token: str | None = None) -> str:
    """A new session's token; the one the browser came with ends, so that nobody can fix it beforehand.

    Raises:
        NotAllowedError: an owner disabled the account.
    """
    if members.is_disabled(db, person.id):
        raise NotAllowedError(
            tr(
                "This account is disabled; the work done with it is kept. Ask an owner of the study to enable "
                "it."
            )
        )
    if old_token:
        people.revoke_session(db, hash_token(old_token))
    token = secrets.token_urlsafe(32)
    people.add_session(db, hash_token(token), person.id, time_from_now(timedelta(days=SESSION_DAYS)))
    return token


def check_name(name: str) -> str:
    """The name with single spaces.

    Raises:
        InputError: it is empty, too long, or holds characters that cannot be read.
    """
    name = " ".join(name.split())
    if not name:
        raise InputError(tr("The name is empty: type the name your team knows you by."))
    if len(name) > MAX_NAME:
        raise InputError(
            tr(
                "The name has {length} characters; shorten it to {limit}.",
                length=len(name),
                limit=MAX_NAME,
            )
        )
    if not name.isprintable():
        raise InputError(tr("The name holds characters that cannot be shown: type it anew."))
    return name


def get_signed_in(context: Context, token: str | None) -> Person | None:
    """Who a session token belongs to; None where it is missing, expired or revoked."""
    if not token:
        return None
    with context.store.read() as db:
        return people.get_session_person(db, hash_token(token))


def get_member(context: Context, token: str | None) -> Person | None:
    """Who a session token belongs to, unless they are a guest: the study app itself is not for strangers."""
    person = get_signed_in(context, token)
    if person is None:
        return None
    with context.store.read() as db:
        return None if accounts.is_guest(db, person.id) else person


def sign_out(context: Context, token: str) -> None:
    """End the session of this token."""
    with context.store.write() as db:
        people.revoke_session(db, hash_token(token))


def hash_token(token: str) -> str:
    """What the file keeps of a token: enough to know it again, not to use it."""
    return hashlib.sha256(token.encode()).hexdigest()


@use_case(EVERYONE, guests=True)
def sign_out_everywhere(context: Context, person: Person) -> int:
    """End all of one's own sessions, on every device."""
    with context.store.write() as db:
        return people.revoke_all_sessions(db, person.id)


@use_case(OWNERS)
def end_sessions(context: Context, person: Person, name: str) -> int:
    """End all of somebody's sessions."""
    with context.store.write() as db:
        return people.revoke_all_sessions(db, require_person(db, name).id)


def require_person(db: Database, name: str) -> Person:
    """The person of that name.

    Raises:
        NotFoundError: nobody of that name has signed in or was imported.
    """
    person = people.get_person(db, name)
    if person is None:
        raise NotFoundError(f"Nobody called “{name}” is known: they sign in once, then get a role.")
    return person


@use_case(OWNERS)
def set_role(context: Context, person: Person, name: str, role: Role) -> Person:
    """Give somebody a role.

    Raises:
        NotFoundError: nobody of that name has signed in or was imported.
        InputError: the study would be left without an owner.
    """
    with context.store.write() as db:
        changed = require_person(db, name)
        account = accounts.get_account_of(db, changed.id)
        if account and account.kind in LINK_KINDS and role is not Role.ANNOTATOR:
            raise InputError(
                f"{name} comes in by a crowd service's link, which proves too little for a {role}: invite them to "
                "make an account."
            )
        if (
            changed.role is Role.OWNER
            and role is not Role.OWNER
            and not people.count_owners(db, besides=changed.id)
        ):
            raise InputError(f"{name} is the only owner: make somebody else an owner first.")
        people.set_role(db, changed.id, role)
        if role is not Role.OWNER:
            accounts.revoke_invitations_by(db, changed.id)
        if account and account.kind not in LINK_KINDS:
            # a role from an owner makes a stranger one of the team
            accounts.set_guest(db, changed.id, False)
    return Person(changed.name, role, changed.id)
