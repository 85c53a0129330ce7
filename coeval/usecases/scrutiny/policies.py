"""The only module that applies the study's design to opening and saving an evaluation.

The crowd plan, the team, the arms, the requested lines and the planted errors decide at four moments: who
gets an instance (``give``), in which arm it is opened (``may_open``), whether a save is accepted
(``may_save``), and what follows (``saved``). ``Evaluation`` is one evaluation as one person may see it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coeval.domain import (
    Arm,
    Assignment,
    CriteriaSet,
    Criterion,
    Draft,
    DraftStatus,
    Emptiness,
    Person,
    Quote,
    Submission,
    Task,
)
from coeval.errors import InputError
from coeval.extending import find_order
from coeval.rules import arms, evaluation_rows, planted_errors
from coeval.rules.arms import draw_order, group_documents, share_out
from coeval.rules.planted_errors import PlantedError
from coeval.store import Database
from coeval.store.queries import assignments, crowd_studies, drafts, submissions, tasks, teams
from coeval.store.queries import people as people_module
from coeval.store.queries import planted_errors as planted_rows
from coeval.store.queries.crowd_studies import get_active_plan
from coeval.store.queries.teams import Asking, StoredTeam, get_asking
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.crowd.assignment import check_saving as may_save
from coeval.usecases.crowd.assignment import draw_balanced_arm, ensure_work, get_guidelines
from coeval.usecases.crowd.assignment import note_saved as saved
from coeval.usecases.sessions import require_person

__all__ = [
    "Asking",
    "Evaluation",
    "ask_people",
    "explain_empty",
    "get_asking",
    "get_evaluation",
    "get_guidelines",
    "give",
    "may_open",
    "may_save",
    "narrow_criteria",
    "reserve",
    "saved",
    "set_team",
]


def give(context: Context, person: Person, task: Task) -> bool:
    """Assign work from the crowd plan, the team's shares or requested lines; return False if there is none of these.

    Raises:
        NotAllowedError: a plan assigns the task, and not to this person.
    """
    return (
        ensure_work(context, person, task)
        or ensure_share(context, task)
        or ensure_asked(context, person, task)
    )


def explain_empty(db: Database, person: Person, task: Task) -> Emptiness:
    """Return why a person has nothing to do."""
    if not tasks.count_instances(db, task.id):
        return Emptiness.NO_INSTANCES
    team = teams.get_team(db, task.id)
    if team is None or not team.per_instance:
        return Emptiness.NOT_GIVEN
    return Emptiness.ALL_WITH_OTHERS if person.id in team.members else Emptiness.NOT_IN_TEAM


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation with the data for the study's rules. A person sees only the result of ``shown``."""

    arm: Arm
    draft: Draft | None
    """The draft that the save refers to, or else that of the shown run, even if it is withheld."""
    planted: PlantedError | None
    first: Submission | None
    """The score that was saved before the draft was shown."""
    saved: Submission | None

    @property
    def awaits_first(self) -> bool:
        """Return whether a first score is needed before the draft is shown."""
        judged = self.first is not None or self.saved is not None
        scored = self.draft is not None and self.draft.status is DraftStatus.OK
        return self.arm is Arm.FIRST and scored and not judged

    @property
    def shown(self) -> Draft | None:
        """Return the draft as the screen shows it; None if it must stay hidden."""
        if self.draft is None or self.arm in (Arm.BLIND, Arm.EVIDENCE) or self.awaits_first:
            return None
        if self.arm is Arm.REASONS:
            return evaluation_rows.keep_reasons(self.draft)
        return planted_errors.apply_planted_error(self.draft, self.planted)

    @property
    def marks(self) -> tuple[Quote, ...]:
        """Return the passages to mark in the arm that shows only evidence, without any text of the draft."""
        if self.draft is None or self.arm is not Arm.EVIDENCE:
            return ()
        return evaluation_rows.list_marks(self.draft)

    @property
    def planted_error(self) -> str:
        """Return the planted error of the shown draft, as a submission stores it."""
        shown = self.shown
        is_planted = self.planted is not None and shown is not None and self.planted.draft == shown.id
        return "score" if is_planted else ""


def get_evaluation(db: Database, task: Task, assignment: Assignment, criterion: Criterion) -> Evaluation:
    """Return the evaluation of an opened or reserved assignment by a criterion."""
    assert assignment.arm is not None
    key = (assignment.annotator, assignment.instance, criterion.id)
    # the screen lists what is done in any case, and most evaluations are new
    done = submissions.list_done(db, assignment.annotator, assignment.instance)
    saved = submissions.get_submission(db, *key) if criterion.id in done else None
    planted = None
    if assignment.arm is Arm.ASSISTED:
        is_opened = bool(assignment.opened_at)
        planted = (
            planted_rows.get_planted_error(db, *key)
            if is_opened
            else _find_planted(db, task, assignment, criterion)
        )
    return Evaluation(
        arm=assignment.arm,
        draft=_draft_for(db, task, assignment.instance, criterion.id, saved),
        planted=planted,
        first=submissions.get_first_score(db, *key) if assignment.arm is Arm.FIRST else None,
        saved=saved,
    )


def _draft_for(
    db: Database, task: Task, instance: int, criterion: int, saved: Submission | None
) -> Draft | None:
    """Return the draft that the save refers to, or else that of the shown run."""
    if saved is not None and saved.draft is not None:
        return drafts.get_draft(db, saved.draft)
    run = drafts.get_shown_run(db, task.id)
    return drafts.get_current_draft(db, run.id, instance, criterion) if run else None


def may_open(
    db: Database, task: Task, person: Person, assignment: Assignment, criteria: tuple[Criterion, ...]
) -> Assignment:
    """Return the opened assignment; the first opening draws its arm and its planted errors."""
    if assignment.arm is not None:
        return assignment
    arm = _draw_arm(db, task, person, assignment)
    opened = assignments.open_assignment(db, assignment, arm)
    if arm is Arm.ASSISTED:
        for criterion in criteria:
            planted = _find_planted(db, task, opened, criterion)
            if planted is not None:
                planted_rows.record_planted_error(db, person.id, opened.instance, criterion.id, planted)
    return opened


def reserve(db: Database, task: Task, person: Person, assignment: Assignment) -> Assignment:
    """Return the assignment with the arm in which it will be opened. The arm is stored; nothing else begins yet."""
    if assignment.arm is not None:
        return assignment
    arm = _draw_arm(db, task, person, assignment)
    if assignment.reserved_arm is None:
        assignments.reserve_arm(db, assignment, arm)
    return replace(assignment, arm=arm, reserved_arm=arm)


def _draw_arm(db: Database, task: Task, person: Person, assignment: Assignment) -> Arm:
    """Return the arm of imported work or the reserved arm; else draw one by the crowd plan or by the design."""
    seed, design = tasks.get_seed(db, task.id), tasks.get_design(db, task.id)
    instance = assignment.instance
    # imported work belongs to the arm in which it was done
    done = submissions.list_done(db, person.id, instance)
    kept = (submissions.get_arm(db, person.id, instance) if done else None) or assignment.reserved_arm
    drawn = kept or draw_balanced_arm(db, task, person, instance, design)
    if drawn is not None:
        return drawn
    placed = tasks.get_instance(db, instance)  # the screen reads it too
    assert placed is not None
    return arms.draw_arm(seed, placed.position - 1, assignments.count_opened(db, instance), design)


def _find_planted(
    db: Database, task: Task, assignment: Assignment, criterion: Criterion
) -> PlantedError | None:
    """Return the error that the first opening plants in a draft, if the design plants any here."""
    seed, share = tasks.get_seed(db, task.id), tasks.get_design(db, task.id).planted_share
    if not share:
        return None
    key = (assignment.annotator, assignment.instance, criterion.id)
    # an attention check already tests the person with its own key
    share = 0.0 if crowd_studies.list_keys_of(db, assignment.instance) else share
    if submissions.get_submission(db, *key) is not None:
        return None
    draft = _draft_for(db, task, assignment.instance, criterion.id, None)
    if draft is None or draft.status is not DraftStatus.OK:
        return None
    place = planted_errors.draw_place(seed, *key, tasks.count_instances(db, task.id))
    run = planted_rows.list_neighbours(db, draft, place)
    # search for an error even if none is drawn, so that both openings take as long
    planted = planted_errors.plant_score(seed, assignment.annotator, draft, criterion.scale, run)
    return planted if planted_errors.is_drawn(seed, *key, share) else None


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
        counts = Counter(annotator for annotator, _ in teams.list_given(db, task.id, stored.members))
        shared = tuple((names[member], counts[member]) for member in stored.members if stored.per_instance)
        return Team(tuple(names[member] for member in stored.members), stored.per_instance, shared)


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
        if drawn is not None and {
            instance for _, instance in teams.list_given(db, task.id, team.members)
        }.issuperset(drawn):
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
    assigned = teams.list_given(db, task.id, team.members)
    for annotator, instance in [*assigned, *teams.list_judged_by_others(db, task.id, team.members)]:
        held[instance].add(annotator)
    shares = share_out(
        group_documents(units), team.members, team.per_instance, seed,
        held=held, loads=Counter(annotator for annotator, _ in assigned),
    )  # fmt: skip
    for annotator, instances in shares.items():
        order = draw_order(seed, annotator, instances)
        if drawn is not None:
            order = sorted(order, key=lambda instance: rank[instance])
        assignments.add_assignments(db, annotator, task.id, order)


# The lines that are requested from the team.


def ask_people(
    db: Database, task: Task, current: CriteriaSet, judge_hash: str, lines: Sequence[tuple[int, int]], by: str
) -> None:
    """Limit the team's work to these (instance, criterion) pairs. Without pairs, open all work again.

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
    return replace(
        current, criteria=tuple(criterion for criterion in current.criteria if criterion.id in shown)
    )
