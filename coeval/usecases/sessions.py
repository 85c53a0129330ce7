"""Sign people in by name, keep their sessions, roles and groups, and disable accounts.

On loopback a name is enough, because only people on this machine can reach the app; elsewhere the server does
not start without a real sign-in (``coeval.usecases.accounts``). The first person to sign in by name is the
owner.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Group, Member, Person, Role
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.folded_text import JOINERS, normalize_name
from coeval.language import tr
from coeval.settings import SignIn
from coeval.store import Database
from coeval.store.queries import people
from coeval.usecases.access import EVERYONE, OWNERS, Context, require_task, use_case

SESSION_DAYS = 30
MAX_NAME = 80
LINK_KINDS = ("prolific", "mturk")
"""Accounts that a link alone opens: annotators of the studies that they joined, without further rights."""


def sign_in(context: Context, name: str, *, old_token: str | None = None) -> tuple[Person, str]:
    """Sign in by name; return the person and the new session's token for a cookie.

    Raises:
        InputError: the name is empty or too long, contains unreadable characters, or is new and differs from a known
            one only in capital letters: work under both would be that of two people.
        NotAllowedError: this server requires proof of identity, or the account is a guest's or disabled.
    """
    if context.settings.sign_in is not SignIn.NAMES:
        raise NotAllowedError(tr("You cannot sign in here with a name alone: use the sign-in page."))
    name = check_name(name)
    with context.store.write() as db:
        role = Role.ANNOTATOR if people.count_owners(db) else Role.OWNER
        if like := people.find_alike(db, name):
            raise InputError(
                tr(
                    "“{name}” is a new name, but “{like}” is known. If that is you, type “{like}”; if not, choose "
                    "another name.",
                    name=name,
                    like=like,
                )
            )
        person = people.ensure_person(db, name, role)
        if people.is_guest(db, person.id):
            raise NotAllowedError(
                tr("{name} is the name of a crowd worker in this study: choose another.", name=name)
            )
        token = open_session(db, person, old_token)
        return replace(person, uid=people.ensure_uid(db, person.id)), token


def open_session(db: Database, person: Person, old_token: str | None = None) -> str:
    """Return a new session's token, and end the browser's previous session, to prevent session fixation.

    Raises:
        NotAllowedError: an owner has disabled the account.
    """
    if people.is_disabled(db, person.id):
        raise NotAllowedError(
            tr(
                "This account is disabled; the work done with it is kept. Ask an owner of the study to enable "
                "it."
            )
        )
    if old_token:
        people.revoke_session(db, hash_token(old_token))
    people.ensure_uid(db, person.id)
    token = secrets.token_urlsafe(32)
    people.add_session(db, hash_token(token), person.id, time_from_now(timedelta(days=SESSION_DAYS)))
    return token


def check_name(name: str) -> str:
    """Return the name in its standard form (``normalize_name``), with single spaces.

    Raises:
        InputError: it is empty or too long, or contains unreadable characters.
    """
    name = " ".join(normalize_name(name).split())
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
    if not name.translate(dict.fromkeys(map(ord, JOINERS))).isprintable():
        raise InputError(tr("The name contains characters that cannot be shown: type it again."))
    return name


def get_signed_in(context: Context, token: str | None) -> Person | None:
    """Return the person of a session token; None if it is missing, expired or revoked."""
    if not token:
        return None
    with context.store.read() as db:
        return people.get_session_person(db, hash_token(token))


def get_member(context: Context, token: str | None) -> Person | None:
    """Return the person of a session token; None for guests, because the study app is not for them."""
    person = get_signed_in(context, token)
    if person is None:
        return None
    with context.store.read() as db:
        return None if people.is_guest(db, person.id) else person


def sign_out(context: Context, token: str) -> None:
    """End the session with this token."""
    with context.store.write() as db:
        people.revoke_session(db, hash_token(token))


def hash_token(token: str) -> str:
    """Return the stored hash of a token: enough to recognise the token, not to use it."""
    return hashlib.sha256(token.encode()).hexdigest()


@use_case(EVERYONE, guests=True)
def sign_out_everywhere(context: Context, person: Person) -> int:
    """End all sessions of the person, on every device."""
    with context.store.write() as db:
        return people.revoke_all_sessions(db, person.id)


@use_case(OWNERS)
def end_sessions(context: Context, person: Person, name: str) -> int:
    """End all sessions of a person."""
    with context.store.write() as db:
        return people.revoke_all_sessions(db, require_person(db, name).id)


def require_person(db: Database, name: str) -> Person:
    """Return the person with this name.

    Raises:
        NotFoundError: no person with this name has signed in or was imported.
    """
    person = people.get_person(db, name)
    if person is None:
        raise NotFoundError(f"Nobody is called “{name}”: people sign in once before they can get a role.")
    return person


@use_case(OWNERS)
def set_role(context: Context, person: Person, name: str, role: Role) -> Person:
    """Give a person a role.

    Raises:
        NotFoundError: no person with this name has signed in or was imported.
        InputError: the study would have no owner.
    """
    with context.store.write() as db:
        changed = require_person(db, name)
        account = people.get_account_of(db, changed.id)
        if account and account.kind in LINK_KINDS and role is not Role.ANNOTATOR:
            raise InputError(
                f"{name} comes by a crowd service's link, which is too weak a proof for a {role}: invite "
                "them to create an account."
            )
        if (
            changed.role is Role.OWNER
            and role is not Role.OWNER
            and not people.count_owners(db, besides=changed.id)
        ):
            raise InputError(f"{name} is the only owner: make somebody else an owner first.")
        people.set_role(db, changed.id, role)
        if role is not Role.OWNER:
            people.revoke_invitations_by(db, changed.id)
        if account and account.kind not in LINK_KINDS:
            # a role from an owner makes a stranger a team member
            people.set_guest(db, changed.id, False)
    return replace(changed, role=role)


@use_case(OWNERS)
def list_members(context: Context, person: Person, slug: str = "") -> list[Member]:
    """Return everybody's name, role and group, and the people who cannot sign in; ``slug`` is a task.

    With it, people known only from other tasks' imported scores are left out, unless they are in its team.
    """
    with context.store.read() as db:
        return people.list_members(db, require_task(db, slug).id if slug else 0)


@use_case(OWNERS)
def set_group(context: Context, person: Person, names: Sequence[str], group: Group) -> None:
    """Set people's group for the statistics: team, expert or crowd.

    Raises:
        NotFoundError: a name is unknown; no group was changed.
    """
    with context.store.write() as db:
        for name in names:
            people.set_group(db, require_person(db, name).id, group)


@use_case(OWNERS)
def disable_account(context: Context, person: Person, name: str) -> None:
    """Disable a person's sign-in and end their sessions. Their work is kept and still counts.

    Raises:
        NotFoundError: nobody has the name ``name``.
        InputError: they are the only owner who can sign in, or the person who asks.
    """
    with context.store.write() as db:
        member = require_person(db, name)
        if member.id == person.id:
            raise InputError("This is your own account: ask another owner to disable it.")
        if people.is_disabled(db, member.id):
            return
        if member.role is Role.OWNER and not people.count_owners(db, besides=member.id):
            raise InputError(f"{name} is the only owner: make somebody else an owner first.")
        people.disable(db, member.id, person.name)
        people.revoke_all_sessions(db, member.id)
        people.revoke_invitations_by(db, member.id)


@use_case(OWNERS)
def enable_account(context: Context, person: Person, name: str) -> None:
    """Let a person sign in again.

    Raises:
        NotFoundError: nobody has the name ``name``.
    """
    with context.store.write() as db:
        people.enable(db, require_person(db, name).id, person.name)
