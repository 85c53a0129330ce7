"""Who counts in which group, and who cannot sign in any more."""

from __future__ import annotations

from collections.abc import Sequence

from coeval.domain import Group, Member, Person, Role
from coeval.errors import InputError
from coeval.store.queries.people import accounts, members, people
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.people.sessions import require_person


@use_case(OWNERS)
def list_members(context: Context, person: Person) -> list[Member]:
    """See everybody's name, role and group, and who cannot sign in."""
    with context.store.read() as db:
        return members.list_members(db)


@use_case(OWNERS)
def set_group(context: Context, person: Person, names: Sequence[str], group: Group) -> None:
    """Set the group that people count in: team, expert or crowd.

    Raises:
        NotFoundError: one of the names is nobody's; nobody's group changed.
    """
    with context.store.write() as db:
        for name in names:
            members.set_group(db, require_person(db, name).id, group)


@use_case(OWNERS)
def disable_account(context: Context, person: Person, name: str) -> None:
    """Keep somebody from signing in, and end their sessions; their work stays and counts as before.

    Raises:
        NotFoundError: nobody is called ``name``.
        InputError: they are the only owner who can sign in, or the person who asks.
    """
    with context.store.write() as db:
        found = require_person(db, name)
        if found.id == person.id:
            raise InputError("This is your own account: ask another owner to disable it.")
        if members.is_disabled(db, found.id):
            return
        if found.role is Role.OWNER and not people.count_owners(db, besides=found.id):
            raise InputError(f"{name} is the only owner: make somebody else an owner first.")
        members.disable(db, found.id, person.name)
        people.revoke_all_sessions(db, found.id)
        accounts.revoke_invitations_by(db, found.id)


@use_case(OWNERS)
def enable_account(context: Context, person: Person, name: str) -> None:
    """Let somebody sign in again.

    Raises:
        NotFoundError: nobody is called ``name``.
    """
    with context.store.write() as db:
        members.enable(db, require_person(db, name).id, person.name)
