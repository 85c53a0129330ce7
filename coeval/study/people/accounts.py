"""Proving who one is: passwords with invitations that work once, Hugging Face, and a crowd service's link.

Passwords are kept as Argon2id hashes. A sign-in costs the same whether or not the name exists, and every try is
counted before it is answered. What was tried often has to wait before each further try, and is never refused for
that: else anybody could lock out whom they like, or everybody behind one address.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from coeval.clock import time_from_now
from coeval.domain import Account, Invitation, Person, Role
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.language import tr
from coeval.settings import Settings, SignIn
from coeval.store import Database
from coeval.store.queries.people import accounts, people
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.people.sessions import (
    LINK_KINDS,
    MAX_NAME,
    check_name,
    hash_token,
    open_session,
    require_person,
)

INVITATION_DAYS = 7
MIN_PASSWORD, MAX_PASSWORD = 10, 200
WINDOW = timedelta(minutes=15)
FREE_TRIES = {"pair": 5, "address": 40, "name": 100}
"""Refused tries in a window before the next has to wait: by one address for one name, by one address, for one name."""

LONGEST_PAUSE = {"pair": 16.0, "address": 2.0, "name": 2.0}
"""Seconds; a pause begins with one and doubles. Tries of one name from one address wait for each other besides."""

ARRIVALS = 120
"""New people by links from one address in a window; a university is one address."""

HASHER = PasswordHasher(parallelism=1)
"""64 MiB and three passes, on one processor: the others go on serving."""


@cache
def _nobodys_secret() -> str:
    """What the password of a name that does not exist is held against."""
    return HASHER.hash(secrets.token_hex(16))


@dataclass(frozen=True, slots=True)
class Profile:
    """Who Hugging Face says somebody is; ``subject`` lasts, ``name`` can change."""

    subject: str
    name: str


@use_case(OWNERS)
def invite(context: Context, person: Person, role: Role, *, name: str = "") -> str:
    """Make a link's token that works once: for a new account, or a new password for somebody there is.

    Raises:
        NotFoundError: nobody is called ``name``.
        InputError: that person signs in by a crowd service or by Hugging Face.
    """
    token = secrets.token_urlsafe(32)
    with context.store.write() as db:
        known = require_person(db, name) if name.strip() else None
        account = accounts.get_account_of(db, known.id) if known else None
        if account and account.kind != "password":
            raise InputError(f"{name} signs in by {account.kind} and needs no password here.")
        invitation = Invitation(known.role if known else role, person.name, known, person.id or None)
        expires = time_from_now(timedelta(days=INVITATION_DAYS))
        accounts.add_invitation(db, hash_token(token), invitation, expires)
    return token


@use_case(OWNERS)
def list_invitations(context: Context, person: Person) -> list[Invitation]:
    """See which links still let somebody in."""
    with context.store.read() as db:
        return accounts.list_invitations(db)


@use_case(OWNERS)
def revoke_invitation(context: Context, person: Person, key: str) -> list[Invitation]:
    """Take back a link; gives those that are left.

    Raises:
        NotFoundError: no open link has this key.
    """
    with context.store.write() as db:
        if not accounts.revoke_invitation(db, key.strip().lower()):
            raise NotFoundError(
                f"There is no open link “{key.strip()[:20]}”: its key is in the list of links."
            )
        return accounts.list_invitations(db)


def get_invitation(context: Context, token: str) -> Invitation:
    """What an invitation gives.

    Raises:
        NotAllowedError: it was used, has run out, or never was.
    """
    with context.store.read() as db:
        return _require_invitation(db, token)


def _require_invitation(db: Database, token: str) -> Invitation:
    invitation = accounts.get_invitation(db, hash_token(token))
    if invitation is None:
        raise NotAllowedError(tr("This invitation was used or has run out: ask for a new one."))
    return invitation


def accept_invitation(
    context: Context, token: str, name: str, password: str, *, old_token: str | None = None
) -> tuple[Person, str]:
    """Make the account an invitation is for, and sign in; gives the person and the session's token.

    Raises:
        NotAllowedError: the invitation was used or has run out.
        InputError: the name is taken or cannot be used, or the password is too short.
    """
    invitation = get_invitation(context, token)
    name = invitation.person.name if invitation.person else check_name(name)
    secret = hash_password(password, name)
    with context.store.write() as db:
        invitation = _require_invitation(db, token)
        person = _ensure_account(db, invitation, name, secret)
        accounts.use_invitation(db, hash_token(token), person.id)
        return person, open_session(db, person, old_token)


def _ensure_account(db: Database, invitation: Invitation, name: str, secret: str) -> Person:
    known = invitation.person
    if known is None and people.get_person(db, name):
        raise InputError(tr("The name “{name}” is taken: choose another.", name=name))
    person = known or people.ensure_person(db, name, invitation.role)
    if accounts.get_account_of(db, person.id):
        accounts.set_secret(db, person.id, secret)
        people.revoke_all_sessions(db, person.id)
    else:
        accounts.add_account(db, Account(person, "password", person.name, secret))
    return person


def hash_password(password: str, name: str) -> str:
    """The Argon2id hash of a password.

    Raises:
        InputError: it has too few or too many characters, or is the name.
    """
    password = _normal(password)
    if len(password) < MIN_PASSWORD or password.casefold() == name.casefold():
        raise InputError(
            tr(
                "The password is too easy to guess: use at least {n} characters.",
                n=MIN_PASSWORD,
            )
        )
    if len(password) > MAX_PASSWORD:
        raise InputError(tr("The password has over {n} characters: shorten it.", n=MAX_PASSWORD))
    return HASHER.hash(password)


def _normal(password: str) -> str:
    """The same letters from every keyboard (RFC 8265 asks for NFC; NFKC also folds widths)."""
    return unicodedata.normalize("NFKC", password)


def sign_in_with_password(
    context: Context,
    name: str,
    password: str,
    address: str,
    *,
    waited: float = 0.0,
    old_token: str | None = None,
) -> tuple[Person, str]:
    """Sign in to an account; ``address`` is where the request came from, ``waited`` the seconds it has waited.

    Raises:
        NotAllowedError: the name or the password is wrong (never which), or the try has not waited its pause.
    """
    if context.settings.sign_in is not SignIn.ACCOUNTS:
        raise NotAllowedError(tr("Passwords are not in use here: use the sign-in page."))
    tries = _count_try(context, name, address, waited)
    with context.store.read() as db:
        account = accounts.get_account(db, "password", " ".join(name.split()))
    if not _is_right(account, password):
        pause = get_pause(context, name, address)
        wrong = tr("The name or the password is wrong.")
        often = tr("That was tried often: the next answer takes {seconds} s.", seconds=f"{pause:.0f}")
        raise NotAllowedError(f"{wrong} {often}" if pause else wrong)
    assert account is not None
    rehashed = HASHER.hash(_normal(password)) if HASHER.check_needs_rehash(account.secret) else ""
    with context.store.write() as db:
        accounts.remove_tries(db, tries)
        if rehashed:
            accounts.set_secret(db, account.person.id, rehashed)
        return account.person, open_session(db, account.person, old_token)


def _is_right(account: Account | None, password: str) -> bool:
    nobodys = _nobodys_secret()  # made before it is known whether it is needed: the first time takes longer
    secret = account.secret if account else nobodys
    try:
        HASHER.verify(secret, _normal(password[: MAX_PASSWORD + 1]))
    except (VerificationError, InvalidHashError):
        return False
    return account is not None


def fold_name(name: str) -> str:
    """The name by which tries are counted."""
    return " ".join(name.split()).casefold()[:MAX_NAME]


def get_pause(context: Context, name: str, address: str) -> float:
    """Seconds that a try for a name from an address has to wait before it is answered."""
    with context.store.read() as db:
        return _pause(db, build_keys(name, address))


def _pause(db: Database, keys: dict[str, str]) -> float:
    since = time_from_now(-WINDOW)
    over = {kind: accounts.count_tries(db, key, since) - FREE_TRIES[kind] for kind, key in keys.items()}
    return max(min(2.0 ** min(n, 10), LONGEST_PAUSE[kind]) if n >= 0 else 0.0 for kind, n in over.items())


def build_keys(name: str, address: str) -> dict[str, str]:
    """Under what a try is counted: hashes, so that the file names nobody who was never here."""
    who = fold_name(name)
    texts = {"pair": f"{who}\n{address}", "address": address, "name": who}
    return {kind: hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest() for kind, text in texts.items()}


def _count_try(context: Context, name: str, address: str, waited: float) -> list[int]:
    """Count this try before it is answered, so that many at once cannot slip through together."""
    keys = build_keys(name, address)
    with context.store.write() as db:
        accounts.prune_tries(db, time_from_now(-WINDOW))
        # a name and an address are others' too, who may have made the pause longer meanwhile
        pause = _pause(db, {"pair": keys["pair"]})
        if waited < pause:
            raise NotAllowedError(
                tr("That was tried often: wait {seconds} s, then try again.", seconds=f"{pause:.0f}")
            )
        return [accounts.add_try(db, key) for key in keys.values()]


def count_arrival(db: Database, address: str) -> None:
    """Count somebody new who came by a link.

    Raises:
        NotAllowedError: this address brought too many of late.
    """
    key = hashlib.sha256(f"arrival\n{address}".encode()).hexdigest()
    if accounts.count_tries(db, key, time_from_now(-WINDOW)) >= ARRIVALS:
        raise NotAllowedError(tr("Too many people came from your network just now: try again in 15 minutes."))
    accounts.add_try(db, key)


def sign_in_by_huggingface(
    context: Context, profile: Profile, *, old_token: str | None = None
) -> tuple[Person, str]:
    """Sign in whom Hugging Face vouches for; strangers are guests until an owner gives them a role.

    The owner that the settings name is one from the first sign-in on; that account is remembered by its lasting id,
    so that nobody becomes owner by taking the name later.
    """
    if context.settings.sign_in is not SignIn.HUGGINGFACE:
        raise NotAllowedError(tr("Hugging Face is not in use here: use the sign-in page."))
    owner = context.settings.owner.casefold()
    owns = bool(owner) and profile.name.casefold() == owner
    with context.store.write() as db:
        account = accounts.get_account(db, "huggingface", profile.subject)
        person = (
            account.person if account else _add_stranger(db, "huggingface", profile.subject, profile.name)
        )
        owns = owns and accounts.ensure_named_owner(db, owner, profile.subject)
        if owns and person.role is not Role.OWNER:
            people.set_role(db, person.id, Role.OWNER)
            accounts.set_guest(db, person.id, False)
            person = Person(person.name, Role.OWNER, person.id)
        return person, open_session(db, person, old_token)


def ensure_linked(db: Database, service: str, subject: str) -> Person:
    """Whoever a crowd service's link names; made, under a pseudonym, at the first coming."""
    assert service in LINK_KINDS
    account = accounts.get_account(db, service, subject)
    if account:
        return account.person
    return _add_stranger(db, service, subject, f"worker-{secrets.token_hex(4)}")


def _add_stranger(db: Database, kind: str, subject: str, name: str) -> Person:
    """A guest under a name that is nobody else's: a stranger never takes over what a name did before."""
    preferred = free = check_name(name[: MAX_NAME - 8])
    number = 1
    while people.get_person(db, free):
        number += 1
        free = f"{preferred} ({number})"
    person = people.ensure_person(db, free, Role.ANNOTATOR)
    accounts.add_account(db, Account(person, kind, subject, guest=True))
    return person


def build_link(settings: Settings, token: str) -> str:
    """Where an invitation is taken up."""
    base = settings.public_url or f"http://{settings.host}:{settings.port}"
    return f"{base}/invite/{token}"
