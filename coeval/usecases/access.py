"""The context of a use case, and the check of the person's role."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from coeval.domain import Person, Role, Task
from coeval.errors import NotAllowedError, NotFoundError
from coeval.language import tr
from coeval.settings import Settings
from coeval.store import Database, Storage, open_store
from coeval.store.queries import enrolments, tasks, teams

OPERATOR = Person("command line", Role.OWNER)
"""The person of the command line, an owner: people who can run commands here can also open the file."""

EVERYONE = (Role.OWNER, Role.RESEARCHER, Role.ANNOTATOR)
TEAM = (Role.OWNER, Role.RESEARCHER)
OWNERS = (Role.OWNER,)


@dataclass(frozen=True, slots=True)
class Context:
    """The store and the settings, which every use case needs."""

    store: Storage
    settings: Settings


@dataclass(frozen=True, slots=True)
class Rule:
    """The people who may call a use case, and the name of the use case in refusals."""

    name: str
    roles: tuple[Role, ...]
    guests: bool
    """True if guests, who see only the studies that they joined, may also call it."""


def open_context(settings: Settings, *, read_only: bool = False, aside: bool = False) -> Context:
    """Return the context of a process; ``read_only`` does not create or change the database of the settings.

    ``aside`` is for readers: if the file may not be written to, a temporary copy is opened.

    Raises:
        StorageError: the file cannot be opened, or it is not a CoEval database.
    """
    return Context(open_store(settings.server or settings.db, read_only=read_only, aside=aside), settings)


RULES: dict[str, Rule] = {}
"""The rules of all imported use cases. A test compares them with the help page “Who may do what”."""

GUESTS_MAY = frozenset(
    f"coeval.usecases.scrutiny.steps.{name}"
    for name in (
        "get_ahead",
        "get_step",
        "get_sheet",
        "submit",
        "submit_sheet",
        "mark_instance",
        "list_history",
    )
)
"""Use cases that guests may call in a study that gives them work. Others set ``guests=True`` themselves."""

P = ParamSpec("P")
R = TypeVar("R")
UseCase = Callable[Concatenate[Context, Person, P], R]


def use_case(roles: tuple[Role, ...], *, guests: bool = False) -> Callable[[UseCase[P, R]], UseCase[P, R]]:
    """Let only these roles call a function of (context, person, ...); ``guests`` may call it for any study.

    Raises:
        NotAllowedError: the person has another role, or is a guest of other studies; nothing was read or
            written.
    """

    def decorate(function: UseCase[P, R]) -> UseCase[P, R]:
        name = function.__name__.replace("_", " ")
        key = f"{function.__module__}.{function.__name__}"
        RULES[key] = Rule(name, roles, guests or key in GUESTS_MAY)

        @wraps(function)
        def checked(context: Context, person: Person, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if person.role not in roles:
                allowed = " or ".join(f"{role}s" for role in roles)
                raise NotAllowedError(
                    f"Only {allowed} can {name}; {person.name} is {_a(person.role)}. An owner can change roles "
                    "in Set-up."
                )
            if not guests and person.role is Role.ANNOTATOR:
                _check_annotator(context, person, key, args)
            try:
                return function(context, person, *args, **kwargs)
            except UnknownTaskError as error:
                if person.role is not Role.ANNOTATOR:
                    raise
                raise NotFoundError(tr("There is no task “{slug}” here.", slug=error.slug)) from None

        return checked

    return decorate


def _check_annotator(context: Context, person: Person, key: str, args: tuple[object, ...]) -> None:
    """Refuse annotators who do not work on the task; the first argument is the task's slug.

    Guests may work on a study that they joined, and on nothing else.
    """
    slug = str(args[0]) if args else ""
    with context.store.read() as db:
        guest, hidden = teams.find_standing(db, person.id, slug)
        if not guest:
            if hidden and not enrolments.may_work(db, person.id, slug):
                raise NotAllowedError(
                    tr(
                        "You are not assigned to “{slug}”: an owner can add you in Set-up, under People.",
                        slug=slug,
                    )
                )
            return
        if key not in GUESTS_MAY or not enrolments.may_work(db, person.id, slug):
            raise NotAllowedError(
                tr("This is not part of the study you joined: go back to the study's page.")
            )


def _a(role: Role) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


class UnknownTaskError(NotFoundError):
    """There is no task with this slug. The message names the tasks, and is not for annotators."""

    def __init__(self, slug: str, slugs: str) -> None:
        self.slug = slug[:64]
        super().__init__(
            tr("There is no task “{slug}”; the tasks are: {known}.", slug=self.slug, known=slugs)
        )


def require_task(db: Database, slug: str) -> Task:
    """Return the task with this slug.

    Raises:
        UnknownTaskError: it does not exist.
    """
    task = tasks.get_task(db, slug)
    if task is None:
        slugs = ", ".join(task.slug for task in tasks.list_tasks(db)) or "none yet"
        raise UnknownTaskError(slug, slugs)
    return task
