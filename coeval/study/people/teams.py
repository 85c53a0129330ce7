"""Who of one's own team works at a task, and how many people each instance goes to; no crowd, no plan."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from coeval.domain import Person, Task
from coeval.errors import InputError
from coeval.rules.arms import draw_order
from coeval.rules.sharing import group_documents, share_out
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd.plans import get_plan
from coeval.store.queries.people import members, teams
from coeval.store.queries.people.teams import StoredTeam
from coeval.store.queries.scrutiny import asked, assignments
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.people.sessions import require_person


@dataclass(frozen=True, slots=True)
class Team:
    """Who works at a task, by name (none: everybody), how many people an instance goes to (0: all of them), and how
    many instances each has been given so far."""

    members: tuple[str, ...] = ()
    per_instance: int = 0
    given: tuple[tuple[str, int], ...] = ()


@use_case(OWNERS)
def get_team(context: Context, person: Person, slug: str) -> Team:
    """See who works at a task, and how its instances are shared out."""
    with context.store.read() as db:
        task = require_task(db, slug)
        stored = teams.get_team(db, task.id) or StoredTeam(0, ())
        names = {member.person.id: member.person.name for member in members.list_members(db)}
        given = Counter(annotator for annotator, _ in teams.list_given(db, task.id, stored.members))
        shared = tuple((names[one], given[one]) for one in stored.members if stored.per_instance)
        return Team(tuple(names[one] for one in stored.members), stored.per_instance, shared)


@use_case(OWNERS)
def set_team(
    context: Context, person: Person, slug: str, names: Sequence[str], per_instance: int = 0
) -> None:
    """Choose who works at a task, and how many of them judge each instance.

    Annotators who are not named do not see the task. What one of them has opened stays theirs, and counts, as does
    what anybody else has saved.

    Raises:
        NotFoundError: one of the names is nobody's.
        InputError: an instance cannot go to so many people, or a crowd's plan gives the task out.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        team = StoredTeam(per_instance, tuple(require_person(db, name).id for name in dict.fromkeys(names)))
        _check_team(db, task, team)
        teams.record_team(db, task.id, team, person.name)
        if team.per_instance:
            for annotator in teams.list_with_queue(db, task.id):
                teams.drop_unopened(db, task.id, annotator)
            _share_out(db, task, team)


def _check_team(db: Database, task: Task, team: StoredTeam) -> None:
    if team.per_instance < 0:
        raise InputError(
            f"An instance cannot go to {team.per_instance} people: choose 0 for all, or 1 or more."
        )
    if team.per_instance > len(team.members):
        raise InputError(
            f"Each instance is to go to {team.per_instance} people, and {len(team.members)} are chosen: choose more "
            "people, or fewer for each instance."
        )
    if team.per_instance and get_plan(db, task.id) is not None:
        raise InputError(
            f"“{task.slug}” is given out by the plan of its crowd: set there how many people an instance goes to."
        )


def ensure_share(context: Context, task: Task) -> bool:
    """Share out instances that were imported since; whether the task's work is shared out at all."""
    with context.store.read() as db:
        team = teams.get_team(db, task.id)
        if team is None or not team.per_instance:
            return False
        if asked.is_asking(db, task.id):
            return True  # what is asked for was shared out with the asking
        if teams.is_shared_out(db, task.id, team.members):
            return True
    with context.store.write() as db:
        _share_out(db, task, team)
    return True


def share_asked(db: Database, task: Task) -> bool:
    """Share out what is asked for now, or everything; whether the task's work is shared out at all."""
    team = teams.get_team(db, task.id)
    if team is None or not team.per_instance:
        return False
    _share_out(db, task, team)
    return True


def _share_out(db: Database, task: Task, team: StoredTeam) -> None:
    """Give every instance, or every one that is asked for, to as many of the team as it lacks."""
    only = set(asked.list_asked_instances(db, task.id))
    units = [unit for unit in teams.list_units(db, task.id) if not only or unit[0] in only]
    seed = tasks.get_seed(db, task.id)
    held: dict[int, set[int]] = defaultdict(set)
    given = teams.list_given(db, task.id, team.members)
    for annotator, instance in [*given, *teams.list_judged_by_others(db, task.id, team.members)]:
        held[instance].add(annotator)
    shares = share_out(
        group_documents(units), team.members, team.per_instance, seed,
        held=held, loads=Counter(annotator for annotator, _ in given),
    )  # fmt: skip
    for annotator, instances in shares.items():
        assignments.add_assignments(db, annotator, task.id, draw_order(seed, annotator, instances))
