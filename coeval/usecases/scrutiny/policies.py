"""The only module that applies the study's design to opening and saving an evaluation.

The crowd plan, the team, the arms, the requested lines and the planted errors decide at four moments: who
gets an instance (``give``), in which arm it is opened (``may_open``), whether a save is accepted
(``may_save``), and what follows (``saved``). ``Evaluation`` is one evaluation as one person may see it.
"""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import (
    Arm,
    Assignment,
    Criterion,
    Draft,
    DraftStatus,
    Emptiness,
    Person,
    Quote,
    Submission,
    Task,
)
from coeval.rules import arms, evaluation_rows, planted_errors
from coeval.rules.arms import Design
from coeval.rules.planted_errors import ErrorKind, PlantedError
from coeval.store import Database
from coeval.store.queries import answer_keys, assignments, drafts, submissions, tasks, teams
from coeval.store.queries import planted_errors as planted_rows
from coeval.usecases.access import Context
from coeval.usecases.crowd.assignment import check_saving as may_save
from coeval.usecases.crowd.assignment import draw_balanced_arm, ensure_work, get_guidelines
from coeval.usecases.crowd.assignment import note_saved as saved
from coeval.usecases.scrutiny.requested_lines import ensure_asked, ensure_share, narrow_criteria

__all__ = [
    "Evaluation",
    "explain_empty",
    "get_evaluation",
    "get_guidelines",
    "give",
    "may_open",
    "may_save",
    "narrow_criteria",
    "saved",
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
    output: str

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
        return planted_errors.apply_planted_error(self.draft, self.planted, self.output)

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
        return str(self.planted.kind) if is_planted and self.planted else ""


def get_evaluation(db: Database, task: Task, assignment: Assignment, criterion: Criterion) -> Evaluation:
    """Return the evaluation of an opened assignment by a criterion."""
    assert assignment.arm is not None
    key = (assignment.annotator, assignment.instance, criterion.id)
    saved = submissions.get_submission(db, *key)
    instance = tasks.get_instance(db, assignment.instance)
    return Evaluation(
        arm=assignment.arm,
        draft=_draft_for(db, task, assignment.instance, criterion.id, saved),
        planted=planted_rows.get_planted_error(db, *key) if assignment.arm is Arm.ASSISTED else None,
        first=submissions.get_first_score(db, *key) if assignment.arm is Arm.FIRST else None,
        saved=saved,
        output=instance.output if instance else "",
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
    seed, design = tasks.get_seed(db, task.id), tasks.get_design(db, task.id)
    key = (person.id, assignment.instance)
    balanced = draw_balanced_arm(db, task, person, assignment.instance, design)
    # imported work belongs to the arm in which it was done
    arm = submissions.get_arm(db, *key) or balanced or _draw_arm(db, seed, assignment.instance, design)
    opened = assignments.open_assignment(db, assignment, arm)
    if arm is Arm.ASSISTED and design.planted_share:
        # an attention check already tests the person with its own key; search for an error anyway, so that an
        # opening takes as long
        share = 0.0 if answer_keys.list_keys_of(db, assignment.instance) else design.planted_share
        for criterion in criteria:
            _plant(db, task, opened, criterion, seed, share)
    return opened


def _draw_arm(db: Database, seed: str, instance: int, design: Design) -> Arm:
    place = tasks.get_position(db, instance) - 1
    nth = assignments.count_opened(db, instance)
    shares = (design.blind_share, design.first_share, design.evidence_share, design.reasons_share)
    return arms.draw_arm(seed, place, nth, *shares)


def _plant(
    db: Database, task: Task, assignment: Assignment, criterion: Criterion, seed: str, share: float
) -> None:
    key = (assignment.annotator, assignment.instance, criterion.id)
    drawn = planted_errors.draw_kind(seed, *key, share)
    # search for a planted error even if there is none, so that both openings take as long
    kind = drawn or planted_errors.draw_kind(seed, *key, 1.0)
    if kind is None or submissions.get_submission(db, *key) is not None:
        return
    draft = _draft_for(db, task, assignment.instance, criterion.id, None)
    if draft is None or draft.status is not DraftStatus.OK:
        return
    instance = tasks.get_instance(db, assignment.instance)
    assert instance is not None
    size = tasks.count_instances(db, task.id)
    place = planted_errors.draw_place(seed, *key, size)
    run = planted_rows.list_neighbours(db, draft, assignment.annotator, place)
    sample = f"{instance.input} {instance.output} {instance.reference}"
    for each in (kind, *(other for other in ErrorKind if other is not kind)):
        planted = planted_errors.plant(each, seed, assignment.annotator, draft, criterion.scale, sample, run)
        if planted is not None:
            if drawn is not None:
                planted_rows.record_planted_error(db, *key, planted)
            return
