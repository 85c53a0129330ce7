"""Signing in by name, sessions, and roles.

A name is enough on loopback, where whoever reaches the app owns the machine; the server refuses to start
elsewhere without a real sign-in. The first person is the owner and gives roles to the others.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from coeval.domain import Person, Role
from coeval.errors import InputError, NotFoundError
from coeval.store import people
from coeval.study.access import EVERYONE, OWNERS, Context, use_case

SESSION_DAYS = 30
MAX_NAME = 80


def sign_in(context: Context, name: str) -> tuple[Person, str]:
    """Sign in by name: gives the person and the new session's token, to be kept in a cookie.

    Raises:
        InputError: the name is empty, too long, or holds characters that cannot be read.
    """
    name = _check_name(name)
    token = secrets.token_urlsafe(32)
    expires = datetime.now(UTC) + timedelta(days=SESSION_DAYS)
    with context.store.write() as db:
        role = Role.ANNOTATOR if people.count_owners(db) else Role.OWNER
        person = people.ensure_person(db, name, role)
        people.add_session(db, _hash(token), person.id, expires.isoformat(timespec="milliseconds"))
    return person, token


def _check_name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise InputError("The name is empty: type the name your team knows you by.")
    if len(name) > MAX_NAME:
        raise InputError(f"The name has {len(name)} characters; shorten it to {MAX_NAME}.")
    if not name.isprintable():
        raise InputError("The name holds characters that cannot be shown: type it anew.")
    return name


def get_signed_in(context: Context, token: str | None) -> Person | None:
    """Who a session token belongs to; None where it is missing, expired or revoked."""
    if not token:
        return None
    with context.store.read() as db:
        return people.get_session_person(db, _hash(token))


def sign_out(context: Context, token: str) -> None:
    with context.store.write() as db:
        people.revoke_session(db, _hash(token))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@use_case(EVERYONE)
def whoami(context: Context, person: Person) -> Person:
    """See one's own name and role."""
    return person


@use_case(OWNERS)
def list_people(context: Context, person: Person) -> list[Person]:
    """See everybody's name and role."""
    with context.store.read() as db:
        return people.list_people(db)


@use_case(OWNERS)
def set_role(context: Context, person: Person, name: str, role: Role) -> Person:
    """Give somebody a role.

    Raises:
        NotFoundError: nobody of that name has signed in or was imported.
        InputError: the study would be left without an owner.
    """
    with context.store.write() as db:
        found = people.get_person(db, name)
        if found is None:
            raise NotFoundError(f"Nobody called “{name}” is known: they sign in once, then get a role.")
        if found.role is Role.OWNER and role is not Role.OWNER and people.count_owners(db) == 1:
            raise InputError(f"{name} is the only owner: make somebody else an owner first.")
        people.set_role(db, found.id, role)
    return Person(found.name, role, found.id)
