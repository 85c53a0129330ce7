"""Who may do what: the context of a use case, and the check of the person's role."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from coeval.domain import Person, Role, Task
from coeval.errors import NotAllowedError, NotFoundError
from coeval.settings import Settings
from coeval.store import Database, Store, tasks

OPERATOR = Person("command line", Role.OWNER)
"""Whoever can run commands on the machine owns the file already."""

EVERYONE = (Role.OWNER, Role.RESEARCHER, Role.ANNOTATOR)
TEAM = (Role.OWNER, Role.RESEARCHER)
OWNERS = (Role.OWNER,)


@dataclass(frozen=True, slots=True)
class Context:
    """What every use case works with."""

    store: Store
    settings: Settings


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table of use cases: what it is called, who may, and of what."""

    name: str
    roles: tuple[Role, ...]
    summary: str


RULES: dict[str, Rule] = {}
"""Every use case with its roles: the table in the in-app help is made from this."""

P = ParamSpec("P")
R = TypeVar("R")
UseCase = Callable[Concatenate[Context, Person, P], R]


def use_case(roles: tuple[Role, ...]) -> Callable[[UseCase[P, R]], UseCase[P, R]]:
    """Let only these roles call a function of (context, person, ...).

    Raises:
        NotAllowedError: the person has another role; nothing was read or written.
    """

    def decorate(function: UseCase[P, R]) -> UseCase[P, R]:
        name = function.__name__.replace("_", " ")
        summary = (function.__doc__ or "").strip().splitlines()[0]
        RULES[f"{function.__module__}.{function.__name__}"] = Rule(name, roles, summary)

        @wraps(function)
        def checked(context: Context, person: Person, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if person.role not in roles:
                allowed = " or ".join(f"{role}s" for role in roles)
                raise NotAllowedError(
                    f"Only {allowed} can {name}; {person.name} is {_a(person.role)}. An owner can change roles "
                    "in Set-up."
                )
            return function(context, person, *args, **kwargs)

        return checked

    return decorate


def _a(role: Role) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


def require_task(db: Database, slug: str) -> Task:
    """The task of that slug.

    Raises:
        NotFoundError: there is none; the message names those there are.
    """
    task = tasks.get_task(db, slug)
    if task is None:
        known = ", ".join(task.slug for task in tasks.list_tasks(db)) or "none yet"
        raise NotFoundError(f"There is no task “{slug}”; the tasks are: {known}.")
    return task
