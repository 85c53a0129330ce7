"""What tests of scrutiny do again and again: open steps, and make of them what a browser would send."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from uuid import uuid4

from coeval.domain import Action, Person, RowKind, Submission
from coeval.rules.arms import Design
from coeval.rules.evaluation_rows import Sent, SentRow
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.steps import Move, Step, Where, get_step, submit


def sent_of(step: Step, score: float, *, deleted: Collection[int] = (), uid: str = "") -> Sent:
    """Every line shown approved but those deleted (by id), and this score."""
    assert step.instance and step.criterion
    rows = tuple(
        SentRow(row.id, Action.DELETE if row.id in deleted else Action.APPROVE)
        for row in (step.draft.rows if step.draft else ())
        if row.kind is not RowKind.SCORE
    )
    return Sent(
        uid=uid or str(uuid4()),
        instance=step.instance.id,
        criterion=step.criterion.id,
        draft=step.draft.id if step.draft else None,
        revision=step.saved.revision if step.saved else 0,
        score=score,
        rows=rows,
        first=step.awaits_first,
    )


def here(step: Step) -> Where:
    """The place of a step."""
    assert step.instance and step.criterion
    return Where(instance=step.instance.id, criterion=step.criterion.id)


def save(
    context: Context, person: Person, step: Step, score: float, *, deleted: Collection[int] = ()
) -> Submission:
    return submit(context, person, step.task.slug, sent_of(step, score, deleted=deleted))


def walk(context: Context, person: Person, slug: str = "demo") -> Iterator[Step]:
    """Every step of a person's queue, each opened once, in their order."""
    step = get_step(context, person, slug)
    for position in range(1, step.total + 1):
        at = get_step(context, person, slug, Where(position=position))
        assert at.instance
        for criterion in at.criteria:
            yield get_step(context, person, slug, Where(instance=at.instance.id, criterion=criterion.id))


def go_on(context: Context, person: Person, step: Step, move: Move = Move.NEXT) -> Step:
    return get_step(context, person, step.task.slug, replace(here(step), which=step.which, move=move))


def use_design(context: Context, owner: Person, **values: float) -> Design:
    return set_design(context, owner, "demo", replace(Design(), **values))  # type: ignore[arg-type]
