"""What one person sees of one evaluation: the draft, one with a planted error, or none yet."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import Arm, Assignment, Criterion, Draft, DraftStatus, Person, Submission, Task
from coeval.rules import arms, planted_errors
from coeval.rules.arms import Design
from coeval.rules.planted_errors import ErrorKind, PlantedError
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd import answer_keys
from coeval.store.queries.drafting import drafts
from coeval.store.queries.scrutiny import assignments, submissions
from coeval.store.queries.scrutiny import planted_errors as planted_rows
from coeval.study.crowd.giving import draw_balanced_arm


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation as the study knows it. Of all this, a person is shown what ``shown`` gives."""

    arm: Arm
    draft: Draft | None
    """The draft of the shown run, or the one saved against; also where it is withheld."""
    planted: PlantedError | None
    first: Submission | None
    """The score given before the draft was shown."""
    saved: Submission | None
    output: str

    @property
    def awaits_first(self) -> bool:
        """Whether a first score has to be given before there is anything to see."""
        judged = self.first is not None or self.saved is not None
        scored = self.draft is not None and self.draft.status is DraftStatus.OK
        return self.arm is Arm.FIRST and scored and not judged

    @property
    def shown(self) -> Draft | None:
        """The draft as it stands on the screen; None where nothing of it may be seen."""
        if self.draft is None or self.arm is Arm.BLIND or self.awaits_first:
            return None
        return planted_errors.apply_planted_error(self.draft, self.planted, self.output)

    @property
    def planted_error(self) -> str:
        """What is wrong in the draft shown, as a submission keeps it."""
        shown = self.shown
        is_planted = self.planted is not None and shown is not None and self.planted.draft == shown.id
        return str(self.planted.kind) if is_planted and self.planted else ""


def get_evaluation(db: Database, task: Task, assignment: Assignment, criterion: Criterion) -> Evaluation:
    """The evaluation of an opened assignment by a criterion."""
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
    """The draft saved against, else the shown run's."""
    if saved is not None and saved.draft is not None:
        return drafts.get_draft(db, saved.draft)
    run = drafts.get_shown_run(db, task.id)
    return drafts.get_current_draft(db, run.id, instance, criterion) if run else None


def ensure_open(
    db: Database, task: Task, person: Person, assignment: Assignment, criteria: tuple[Criterion, ...]
) -> Assignment:
    """Draw the arm of an instance that is opened for the first time, and what is planted in its drafts."""
    if assignment.arm is not None:
        return assignment
    seed, design = tasks.get_seed(db, task.id), tasks.get_design(db, task.id)
    key = (person.id, assignment.instance)
    # both are drawn, though one counts: an opening must take as long for an attention check as for work
    by_chance = _draw_arm(db, seed, assignment.instance, design)
    balanced = draw_balanced_arm(db, task, person, assignment.instance, design)
    # what was imported as this person's work was seen in its own arm
    arm = submissions.get_arm(db, *key) or balanced or by_chance
    opened = assignments.open_assignment(db, assignment, arm)
    if arm is Arm.ASSISTED and design.planted_share:
        # an attention check tests the person already, by its own key: an error is looked for all the same, so that an
        # opening takes as long
        share = 0.0 if answer_keys.list_keys_of(db, assignment.instance) else design.planted_share
        for criterion in criteria:
            _plant(db, task, opened, criterion, seed, share)
    return opened


def _draw_arm(db: Database, seed: str, instance: int, design: Design) -> Arm:
    place = tasks.get_position(db, instance) - 1
    nth = assignments.count_opened(db, instance)
    return arms.draw_arm(seed, place, nth, design.blind_share, design.first_share)


def _plant(
    db: Database, task: Task, assignment: Assignment, criterion: Criterion, seed: str, share: float
) -> None:
    key = (assignment.annotator, assignment.instance, criterion.id)
    drawn = planted_errors.draw_kind(seed, *key, share)
    # what is not planted is looked for all the same: an opening takes as long either way
    kind = drawn or planted_errors.draw_kind(seed, *key, 1.0)
    if kind is None or submissions.get_submission(db, *key) is not None:
        return
    draft = _draft_for(db, task, assignment.instance, criterion.id, None)
    if draft is None or draft.status is not DraftStatus.OK:
        return
    for each in (kind, *(other for other in ErrorKind if other is not kind)):
        planted = _make_planted_error(db, task, draft, criterion, seed, assignment.annotator, each)
        if planted is not None:
            if drawn is not None:
                planted_rows.record_planted_error(db, *key, planted)
            return


def _make_planted_error(
    db: Database, task: Task, draft: Draft, criterion: Criterion, seed: str, annotator: int, kind: ErrorKind
) -> PlantedError | None:
    """What to plant of this kind; None where the scale, the draft or the run leaves no room for it."""
    if kind is ErrorKind.SCORE:
        common = planted_errors.count_scores(planted_rows.list_scores(db, draft))
        return planted_errors.plant_score(seed, annotator, draft, criterion.scale, common)
    line = planted_errors.draw_line(seed, annotator, draft)
    if line is None:
        return None
    size = tasks.count_instances(db, task.id)
    place = planted_errors.draw_place(seed, annotator, draft.instance, draft.criterion, size)
    sources = planted_rows.list_evidence_elsewhere(db, draft, annotator, place)
    tried = (planted_errors.plant_evidence(draft, line, source) for source in sources)
    return next((planted for planted in tried if planted is not None), None)
