"""People, their roles, and how they prove who they are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MAX_PERSON_NAME = 80
"""Longest name of a person, in characters."""


class Role(StrEnum):
    """What a person may do; owners set up, researchers see statistics, annotators scrutinise."""

    OWNER = "owner"
    RESEARCHER = "researcher"
    ANNOTATOR = "annotator"


class Group(StrEnum):
    """Whom a person is counted with; the alternative annotator test asks less of a judge beside experts."""

    TEAM = "team"
    EXPERT = "expert"
    CROWD = "crowd"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signs in; ``name`` is unique in a database."""

    name: str
    role: Role = Role.ANNOTATOR
    id: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """A person as owners see them."""

    person: Person
    group: Group
    disabled_at: str = ""
    """Since when they cannot sign in; empty where they can."""


@dataclass(frozen=True, slots=True)
class Account:
    """A person's account; ``secret`` is the Argon2 hash of a password, or empty."""

    person: Person
    kind: str
    subject: str
    secret: str = ""
    guest: bool = False


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a link gives: an account in a role, or, to a person there is, a new password."""

    role: Role
    created_by: str
    person: Person | None = None
    creator: int | None = None
    """Who made it; None for the command line."""
    key: str = ""
    """What owners call it by: the beginning of its token's hash."""
    expires_at: str = ""
