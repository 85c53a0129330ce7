"""Authentication with passwords and single-use invitations, with Hugging Face, or by a crowd service's link.

Passwords are stored as Argon2id hashes. A sign-in takes the same time whether or not the name exists, and
every attempt is counted before it is answered. Too many attempts cause a pause before each further one, never
a refusal: otherwise anybody could lock out another person, or everybody behind one address.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from coeval.clock import time_from_now
from coeval.domain import Account, Invitation, Person, Role
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.folded_text import compose
from coeval.language import tr
from coeval.settings import Settings, SignIn
from coeval.store import Database
from coeval.store.queries import jobs, people
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.sessions import (
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
FREE_TRIES = {"pair": 5, "address": 40, "name": 100, "browser": 5}
"""Failed attempts in a window before the next must wait.

They are counted for one name from one address, for one address, for one name, and separately for a browser
that has signed in to the account before.
"""

LONGEST_PAUSE = {"pair": 16.0, "address": 2.0, "name": 2.0, "browser": 16.0}
"""The longest pause in seconds; pauses start at one second and double.

Attempts for one name from one address also wait for each other.
"""

ARRIVALS = 120
"""The largest number of new people by links from one address in a window; a university may be one address."""

HASHER = PasswordHasher(parallelism=1)
"""64 MiB and three passes on one processor, so that the other processors continue to serve."""


@cache
def _nobodys_secret() -> str:
    """Return a hash to compare passwords with if the name does not exist, so that the answer takes the same time."""
    return HASHER.hash(secrets.token_hex(16))


@dataclass(frozen=True, slots=True)
class Profile:
    """A person's identity at Hugging Face; ``subject`` is permanent, ``name`` can change."""

    subject: str
    name: str


@use_case(OWNERS)
def invite(context: Context, person: Person, role: Role, *, name: str = "") -> str:
    """Create the token of a single-use link, for a new account or for a new password of an existing person.

    Raises:
        NotFoundError: nobody has the name ``name``.
        InputError: that person signs in by a crowd service or with Hugging Face.
    """
    token = secrets.token_urlsafe(32)
    with context.store.write() as db:
        member = require_person(db, name) if name.strip() else None
        account = people.get_account_of(db, member.id) if member else None
        if account and account.kind != "password":
            raise InputError(f"{name} signs in by {account.kind} and needs no password here.")
        invitation = Invitation(member.role if member else role, person.name, member, person.id or None)
        expires = time_from_now(timedelta(days=INVITATION_DAYS))
        people.add_invitation(db, hash_token(token), invitation, expires)
    return token


@use_case(OWNERS)
def list_invitations(context: Context, person: Person) -> list[Invitation]:
    """Return the invitations whose links still work."""
    with context.store.read() as db:
        return people.list_invitations(db)


@use_case(OWNERS)
def revoke_invitation(context: Context, person: Person, key: str) -> list[Invitation]:
    """Revoke a link, and return the remaining ones.

    Raises:
        NotFoundError: no open link has this key.
    """
    with context.store.write() as db:
        if not people.revoke_invitation(db, key.strip().lower()):
            raise NotFoundError(
                f"There is no open link “{key.strip()[:20]}”: copy its key from the list of links."
            )
        return people.list_invitations(db)


def get_invitation(context: Context, token: str) -> Invitation:
    """Return the account or password that an invitation is for.

    Raises:
        NotAllowedError: it was used, has expired, or does not exist.
    """
    with context.store.read() as db:
        return _require_invitation(db, token)


def _require_invitation(db: Database, token: str) -> Invitation:
    invitation = people.get_invitation(db, hash_token(token))
    if invitation is None:
        raise NotAllowedError(tr("This invitation was used or has expired: ask for a new one."))
    return invitation


def accept_invitation(
    context: Context, token: str, name: str, password: str, *, old_token: str | None = None
) -> tuple[Person, str]:
    """Create the account of an invitation and sign in; return the person and the session's token.

    Raises:
        NotAllowedError: the invitation was used or has expired.
        InputError: the name is taken or not allowed, or the password is too short.
    """
    invitation = get_invitation(context, token)
    name = invitation.person.name if invitation.person else check_name(name)
    secret = hash_password(password, name)
    with context.store.write() as db:
        invitation = _require_invitation(db, token)
        person = _ensure_account(db, invitation, name, secret)
        people.use_invitation(db, hash_token(token), person.id)
        return person, open_session(db, person, old_token)


def _ensure_account(db: Database, invitation: Invitation, name: str, secret: str) -> Person:
    member = invitation.person
    if member is None and people.get_person(db, name):
        raise InputError(tr("The name “{name}” is taken: choose another.", name=name))
    person = member or people.ensure_person(db, name, invitation.role)
    if people.get_account_of(db, person.id):
        people.set_secret(db, person.id, secret)
        people.revoke_all_sessions(db, person.id)
    else:
        people.add_account(db, Account(person, "password", person.name, secret))
    return person


def hash_password(password: str, name: str) -> str:
    """Return the Argon2id hash of a password.

    Raises:
        InputError: the password is too short or too long, or equals the name.
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
    """Return the password in a form independent of the keyboard (RFC 8265: NFC; NFKC also folds widths)."""
    return unicodedata.normalize("NFKC", password)


def sign_in_with_password(
    context: Context,
    name: str,
    password: str,
    address: str,
    *,
    waited: float = 0.0,
    old_token: str | None = None,
    browser: str = "",
) -> tuple[Person, str]:
    """Sign in to an account; ``address`` is the request's origin, ``waited`` the seconds that it has waited.

    ``browser`` is the mark that ``is_known_browser`` checks: other people's attempts do not slow down such a
    browser.

    Raises:
        NotAllowedError: the name or the password is wrong (the error does not say which), or the attempt has
            not waited for its pause.
    """
    if context.settings.sign_in is not SignIn.ACCOUNTS:
        raise NotAllowedError(tr("This server does not use passwords: use the sign-in page."))
    tries = _count_try(context, build_keys(name, address, browser), waited)
    with context.store.read() as db:
        account = people.get_account(db, "password", " ".join(compose(name).split()))
    if not _is_right(account, password):
        pause = get_pause(context, name, address, browser)
        wrong = tr("The name or the password is wrong.")
        often = tr("Too many tries: the next answer takes {seconds} s.", seconds=f"{pause:.0f}")
        raise NotAllowedError(f"{wrong} {often}" if pause else wrong)
    assert account is not None
    rehashed = HASHER.hash(_normal(password)) if HASHER.check_needs_rehash(account.secret) else ""
    with context.store.write() as db:
        people.remove_sign_in_tries(db, tries)
        if rehashed:
            people.set_secret(db, account.person.id, rehashed)
        return account.person, open_session(db, account.person, old_token)


def _is_right(account: Account | None, password: str) -> bool:
    nobodys = _nobodys_secret()  # computed even if it is not needed: the first time takes longer
    secret = account.secret if account else nobodys
    try:
        HASHER.verify(secret, _normal(password[: MAX_PASSWORD + 1]))
    except (VerificationError, InvalidHashError):
        return False
    return account is not None


def fold_name(name: str) -> str:
    """Return the form of a name under which attempts are counted."""
    return " ".join(compose(name).split()).casefold()[:MAX_NAME]


def get_pause(context: Context, name: str, address: str, browser: str = "") -> float:
    """Return the seconds that an attempt must wait, for a name from an address or in a known browser."""
    with context.store.read() as db:
        return _pause(db, build_keys(name, address, browser))


def mark_browser(context: Context, person: Person) -> str:
    """Return a cookie for years, by which a browser is recognised as one of this person's.

    It grants no access. It only decides with which attempts an attempt is counted, and it expires with the
    password.
    """
    with context.store.read() as db:
        account = people.get_account_of(db, person.id)
    nonce = secrets.token_hex(8)
    return f"{nonce}.{_sign_browser(account, nonce)}" if account else ""


def is_known_browser(context: Context, name: str, mark: str) -> bool:
    """Return whether this browser has signed in to this account with its present password."""
    nonce, _, signed = mark.partition(".")
    with context.store.read() as db:
        account = people.get_account(db, "password", " ".join(name.split()))
    return bool(account and nonce and hmac.compare_digest(signed, _sign_browser(account, nonce)))


def _sign_browser(account: Account, nonce: str) -> str:
    return hmac.new(account.secret.encode(), f"browser {nonce}".encode(), "sha256").hexdigest()


def _pause(db: Database, keys: dict[str, str]) -> float:
    since = time_from_now(-WINDOW)
    over = {kind: people.count_sign_in_tries(db, key, since) - FREE_TRIES[kind] for kind, key in keys.items()}
    return max(min(2.0 ** min(n, 10), LONGEST_PAUSE[kind]) if n >= 0 else 0.0 for kind, n in over.items())


def build_keys(name: str, address: str, browser: str = "") -> dict[str, str]:
    """Return the keys under which an attempt is counted: hashes, so that the file does not name strangers."""
    who = fold_name(name)
    texts = {"pair": f"{who}\n{address}", "address": address, "name": who}
    if browser:
        texts = {"browser": browser}
    return {kind: hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest() for kind, text in texts.items()}


def _count_try(context: Context, keys: dict[str, str], waited: float) -> list[int]:
    """Count this attempt before it is answered, so that simultaneous attempts are all counted."""
    with context.store.write() as db:
        people.prune_sign_in_tries(db, time_from_now(-WINDOW))
        # other people share the name and the address, and may have lengthened the pause meanwhile
        kind = "browser" if "browser" in keys else "pair"
        pause = _pause(db, {kind: keys[kind]})
        if waited < pause:
            raise NotAllowedError(
                tr("Too many tries: wait {seconds} s, then try again.", seconds=f"{pause:.0f}")
            )
        return [people.add_sign_in_try(db, key) for key in keys.values()]


def count_arrival(db: Database, address: str) -> None:
    """Count a new person who arrived by a link.

    Raises:
        NotAllowedError: too many people arrived from this address recently.
    """
    key = hashlib.sha256(f"arrival\n{address}".encode()).hexdigest()
    if people.count_sign_in_tries(db, key, time_from_now(-WINDOW)) >= ARRIVALS:
        raise NotAllowedError(
            tr(
                "Too many people arrived from your network just now: try again in {minutes} minutes.",
                minutes=round(WINDOW.total_seconds() / 60),
            )
        )
    people.add_sign_in_try(db, key)


def sign_in_by_huggingface(
    context: Context, profile: Profile, *, old_token: str | None = None
) -> tuple[Person, str]:
    """Sign in a person with Hugging Face. Strangers are guests until an owner gives them a role.

    The person whom the settings name as owner becomes one at the first sign-in. The account is then
    recognised by its permanent id, so that nobody becomes owner by taking over the name.
    """
    if context.settings.sign_in is not SignIn.HUGGINGFACE:
        raise NotAllowedError(tr("This server does not use Hugging Face to sign in: use the sign-in page."))
    owner = context.settings.owner.casefold()
    owns = bool(owner) and profile.name.casefold() == owner
    with context.store.write() as db:
        account = people.get_account(db, "huggingface", profile.subject)
        person = (
            account.person if account else _add_stranger(db, "huggingface", profile.subject, profile.name)
        )
        owns = owns and people.ensure_named_owner(db, owner, profile.subject)
        if owns and person.role is not Role.OWNER:
            people.set_role(db, person.id, Role.OWNER)
            people.set_guest(db, person.id, False)
            person = replace(person, role=Role.OWNER)
        return person, open_session(db, person, old_token)


NAME_OWNER = "set COEVAL_OWNER in the Space's settings to the Hugging Face name of one person."


def tell_first_run(context: Context) -> list[str]:
    """Return what the host of a new Space must know and do before any work; empty once the study has an owner."""
    settings = context.settings
    with context.store.read() as db:
        if not settings.space or people.count_owners(db):
            return []
    if not settings.owner:
        told = f"This study has no owner: {NAME_OWNER}"
    elif settings.owner_chosen:
        told = f"This study has no owner yet: {settings.owner} becomes its owner at the first sign-in."
    else:
        told = (
            f"This study has no owner yet: {settings.owner}, who owns the Space, becomes its owner at the first "
            f"sign-in. If {settings.owner} is an organisation, nobody can sign in as it: {NAME_OWNER}"
        )
    return [told, *([] if settings.is_wiped else [f"The data is kept in {context.store.shown_address}."])]


def ensure_linked(db: Database, service: str, subject: str) -> Person:
    """Return the person whom a crowd service's link names; the first arrival creates one with a pseudonym."""
    assert service in LINK_KINDS
    account = people.get_account(db, service, subject)
    if account:
        return account.person
    return _add_stranger(db, service, subject, f"worker-{secrets.token_hex(4)}")


def _add_stranger(db: Database, kind: str, subject: str, name: str) -> Person:
    """Create a guest with a new name, so that a stranger never takes over another person's work."""
    preferred = free = check_name(name[: MAX_NAME - 8])
    number = 1
    while people.get_person(db, free):
        number += 1
        free = f"{preferred} ({number})"
    person = people.ensure_person(db, free, Role.ANNOTATOR)
    people.add_account(db, Account(person, kind, subject, guest=True))
    return person


def build_link(settings: Settings, token: str) -> str:
    """Return the address at which an invitation is accepted."""
    return f"{settings.address}/invite/{token}"


SERVING = "serving "


def note_address(context: Context) -> None:
    """Record the address of this server for commands that create links."""
    with context.store.write() as db:
        jobs.release_named_leases(db, SERVING)
        jobs.take_lease(db, SERVING + context.settings.address, secrets.token_hex(8), None)


def find_settings(context: Context) -> tuple[Settings, bool]:
    """Return the settings with the server address stored in this file, and whether there is one.

    A server may listen on a port other than that in the environment of a command.
    """
    settings = context.settings
    if settings.public_url:
        return settings, True
    with context.store.read() as db:
        noted = jobs.list_named_leases(db, SERVING)
    return (
        (replace(settings, public_url=noted[-1].removeprefix(SERVING)), True) if noted else (settings, False)
    )
