"""The team of a task, and the lines requested from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coeval.domain import CriteriaSet, Person, Task
from coeval.errors import InputError
from coeval.extending import find_order
from coeval.rules.arms import draw_order, group_documents, share_out
from coeval.store import Database
from coeval.store.queries import assignments, submissions, tasks, teams
from coeval.store.queries import people as people_module
from coeval.store.queries.crowd_studies import get_active_plan
from coeval.store.queries.teams import Asking, StoredTeam, get_asking
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.sessions import require_person

# The team of a task, and the number of people per instance; not for crowd plans.


@dataclass(frozen=True, slots=True)
class Team:
    """The team of a task.

    It has the names of its members (empty: everybody), the number of people per instance (0: all), and the
    number of instances assigned so far.
    """

    members: tuple[str, ...] = ()
    per_instance: int = 0
    given: tuple[tuple[str, int], ...] = ()


@use_case(OWNERS)
def get_team(context: Context, person: Person, slug: str) -> Team:
    """Return the team of a task, and how its instances are distributed."""
    with context.store.read() as db:
        task = require_task(db, slug)
        stored = teams.get_team(db, task.id) or StoredTeam(0, ())
        names = {member.person.id: member.person.name for member in people_module.list_members(db)}
        given = Counter(annotator for annotator, _ in teams.list_given(db, task.id, stored.members))
        shared = tuple((names[one], given[one]) for one in stored.members if stored.per_instance)
        return Team(tuple(names[one] for one in stored.members), stored.per_instance, shared)


@use_case(OWNERS)
def set_team(
    context: Context, person: Person, slug: str, names: Sequence[str], per_instance: int = 0
) -> None:
    """Set the team of a task, and how many of its members judge each instance.

    Other annotators do not see the task. Members keep the instances that they have opened, and everything
    that was saved counts.

    Raises:
        NotFoundError: a name is unknown.
        InputError: the team is smaller than ``per_instance``, or a crowd plan assigns the task.
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
            f"The number of people per instance is {team.per_instance}: choose 0 for all, or 1 or more."
        )
    if team.per_instance > len(team.members):
        raise InputError(
            f"Each instance needs {team.per_instance} people, but {len(team.members)} are chosen: "
            "choose more people, or fewer per instance."
        )
    if team.per_instance and get_active_plan(db, task.id) is not None:
        raise InputError(f"“{task.slug}” has a crowd plan: set the number of people per instance there.")


def ensure_share(context: Context, task: Task) -> bool:
    """Distribute newly imported instances; return whether the task's work is distributed among a team."""
    with context.store.read() as db:
        team = teams.get_team(db, task.id)
        if team is None or not team.per_instance:
            return False
        if teams.is_asking(db, task.id):
            return True  # the request has already distributed its lines
        if teams.is_shared_out(db, task.id, team.members):
            return True
        drawn = find_order(db, task.id, (instance for instance, _ in teams.list_units(db, task.id)))
        if drawn is not None and {one for _, one in teams.list_given(db, task.id, team.members)}.issuperset(
            drawn
        ):
            return True
    with context.store.write() as db:
        _share_out(db, task, team)
    return True


def share_asked(db: Database, task: Task) -> bool:
    """Distribute the requested lines, or else all; return whether the work is distributed among a team."""
    team = teams.get_team(db, task.id)
    if team is None or not team.per_instance:
        return False
    _share_out(db, task, team)
    return True


def _share_out(db: Database, task: Task, team: StoredTeam) -> None:
    """Assign every instance, or every requested one, to as many more team members as it needs."""
    only = set(teams.list_asked_instances(db, task.id))
    units = [unit for unit in teams.list_units(db, task.id) if not only or unit[0] in only]
    drawn = find_order(db, task.id, (instance for instance, _ in units))
    if drawn is not None:
        rank = {instance: place for place, instance in enumerate(drawn)}
        units = sorted((unit for unit in units if unit[0] in rank), key=lambda unit: rank[unit[0]])
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
        own = draw_order(seed, annotator, instances)
        if drawn is not None:
            own = sorted(own, key=lambda instance: rank[instance])
        assignments.add_assignments(db, annotator, task.id, own)


__all__ = ["Asking", "ask_people", "ensure_asked", "get_asking", "narrow_criteria"]


def ask_people(
    db: Database, task: Task, current: CriteriaSet, judge_hash: str, lines: Sequence[tuple[int, int]], by: str
) -> None:
    """Limit the team's work to these (instance, criterion) pairs; without any, request everything again.

    People may finish what they have opened before.

    Raises:
        InputError: a crowd plan assigns the task.
    """
    if get_active_plan(db, task.id) is not None:
        raise InputError(f"“{task.slug}” has a crowd plan: only a team's work can be limited to some lines.")
    teams.record_asking(db, task.id, judge_hash, lines, by)
    people = teams.list_with_queue(db, task.id)
    if lines:
        for annotator in people:
            teams.drop_unopened(db, task.id, annotator)
    if not share_asked(db, task) and lines:
        for annotator in people:
            _add_asked(db, task, annotator)
    assignments.refresh_states(db, task.id, [criterion.id for criterion in current.criteria])


def ensure_asked(context: Context, person: Person, task: Task) -> bool:
    """Give the requested lines to a person who joined later. Return whether only requested lines are judged."""
    with context.store.read() as db:
        if not teams.is_asking(db, task.id):
            return False
        if assignments.count_assignments(db, person.id, task.id)["total"]:
            return True
    with context.store.write() as db:
        _add_asked(db, task, person.id)
    return True


def _add_asked(db: Database, task: Task, annotator: int) -> None:
    free = set(assignments.list_unassigned(db, annotator, task.id))
    new = [instance for instance in teams.list_asked_instances(db, task.id) if instance in free]
    assignments.add_assignments(
        db, annotator, task.id, draw_order(tasks.get_seed(db, task.id), annotator, new)
    )


def narrow_criteria(
    db: Database, person: Person, task: Task, current: CriteriaSet, instance: int, named: int | None = None
) -> CriteriaSet:
    """Return a person's criteria for an instance: all, or the requested ones and those with saves.

    ``named`` is a criterion that is already on the screen, and is kept.
    """
    wanted = teams.list_asked_criteria(db, task.id, instance)
    if not wanted:
        return current
    shown = wanted | set(submissions.list_done(db, person.id, instance)) | {named}
    return replace(current, criteria=tuple(one for one in current.criteria if one.id in shown))
