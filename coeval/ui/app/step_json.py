"""A step of Scrutiny as JSON, with only the visible part of the draft."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from coeval.domain import (
    Action,
    Arm,
    Draft,
    Emptiness,
    Instance,
    Quote,
    QuotePlace,
    RowKind,
    ScrutinyRow,
    Submission,
    Task,
)
from coeval.language import later, tr
from coeval.rules.arms import Aliases, Design
from coeval.rules.column_roles import select_context
from coeval.rules.evaluation_rows import name_rows
from coeval.ui.components.number_words import name_instance
from coeval.ui.server.payloads import LIMITS
from coeval.usecases.images import ShownImage
from coeval.usecases.scrutiny.queue import Step

Json = dict[str, Any]
EVIDENCE = later("The marked passages are the model's evidence. Its verdict is hidden.")
REASONS = later("You see a model's evidence without its verdict. Choose a score yourself.")
BLIND = later("You score this one without a draft. Choose a score. A reason is optional.")
FIRST = later("Give your own score first. The draft is shown right after it.")
ADDED = {RowKind.CONCLUSION: later("Added conclusion"), RowKind.EVIDENCE: later("Added evidence")}
AS_THEY_ARE = Aliases()
EMPTY = {
    Emptiness.NO_INSTANCES: (
        later("This task has no instances yet."),
        "Import them first.",
        "Import instances",
        "import",
    ),
    Emptiness.NOT_IN_TEAM: (
        later("You are not assigned to this task, so you have no instances."),
        "To judge it too, add yourself under Set-up, People.",
        "Choose who works on it",
        "people",
    ),
    Emptiness.ALL_WITH_OTHERS: (
        later("Every instance of this task already has enough people."),
        "To judge it too, raise the number of people for each instance under Set-up, People.",
        "Choose the number of people per instance",
        "people",
    ),
    Emptiness.NOT_GIVEN: (
        later("No instance is assigned to you in this task."),
        "Set-up, Crowd, shows how it is assigned.",
        "See how it is assigned",
        "crowd",
    ),
}
"""Reasons for an empty queue, each with the next step, the name of its link, and its tab."""
UNDRAFTED = later("There is no draft for this one. Choose a score. A reason is optional.")


def step_json(step: Step, aliases: Aliases = AS_THEY_ARE) -> Json:
    """Return the answer to a step request, with ids as this person knows them."""
    return {
        "task": _task_json(step),
        "limits": LIMITS,
        "total": step.total,
        "done": step.finished,
        "flagged": step.flagged,
        "seconds_each": step.seconds_each,
        "filter": step.which,
        "finished": step.assignment is None,
        "empty": _empty_json(step),
        "agreement": f"?task={step.task.slug}&tab=agreement" if step.sets_up else "",
        "position": step.assignment.position if step.assignment else None,
        "instance": _instance_json(step, aliases),
        "criteria": [
            {
                "id": criterion.id,
                "number": number,
                "name": criterion.name,
                "text": criterion.text,
                "definition": criterion.guide.definition,
                "examples": criterion.guide.examples,
                "done": criterion.id in step.done,
                "reopened": criterion.id in step.reopened,
            }
            for number, criterion in enumerate(step.criteria, 1)
        ],
        "criterion": step.criterion.id if step.criterion else None,
        "evaluation": _evaluation_json(step, aliases),
    }


def _empty_json(step: Step) -> Json | None:
    """Return the reason why there is nothing to judge and, for owners, the page on which to change this."""
    if step.emptiness is None:
        return None
    why, remedy, label, tab = EMPTY[step.emptiness]
    if not step.sets_up:
        ask = tr("Ask the people who run the study.")
        return {"text": f"{tr(why)} {ask}", "link": "", "label": ""}
    return {"text": f"{tr(why)} {remedy}", "link": f"admin?task={step.task.slug}&tab={tab}", "label": label}


def sheet_json(sheet: Sequence[Step], aliases: Aliases = AS_THEY_ARE) -> Json:
    """Return the answer with all evaluations of an instance in the order of the criteria.

    At the end of the work, it is the same as that of a single step.
    """
    first = sheet[0]
    if first.assignment is None:
        return step_json(first, aliases)
    order = {criterion.id: place for place, criterion in enumerate(first.criteria)}
    steps = sorted(sheet, key=lambda step: order[step.criterion.id] if step.criterion else 0)
    evaluations = [
        {"criterion": step.criterion.id, **(_evaluation_json(step, aliases) or {})}
        for step in steps
        if step.criterion
    ]
    return step_json(first, aliases) | {"evaluations": evaluations}


FIELDS = {"Input": later("Input"), "Output": later("Output")}
"""The default names of a task's texts."""


def name_field(name: str) -> str:
    """Return a task's name for its input or output; a default name is in the language of the page.

    >>> from coeval.language import speaking
    >>> with speaking("ar"):
    ...     name_field("Input"), name_field("Question")
    ('المدخل', 'Question')
    """
    return tr(FIELDS[name]) if name in FIELDS else name


def _task_json(step: Step) -> Json:
    return {
        "slug": step.task.slug,
        "name": step.task.name,
        "input_field": name_field(step.task.input_field),
        "output_field": name_field(step.task.output_field),
        "description": step.task.description,
        "guidelines": step.task.guidelines,
        "display": step.design.display,
        "idle_seconds": step.design.idle_seconds,
        "input_first": step.design.input_first,
    }


def _instance_json(step: Step, aliases: Aliases) -> Json | None:
    instance = step.instance
    if instance is None:
        return None
    return {
        "id": aliases.hide("instance", instance.id),
        "name": _name(step, instance),
        **texts_json(step, instance),
        "flagged": step.mark.flagged,
        "skipped": step.mark.skipped,
        "comment": step.mark.comment,
        "answer": _answer(step),
    }


class Shown(Protocol):
    """A screen with an instance; ``withheld`` are columns that it must not show."""

    @property
    def task(self) -> Task: ...
    @property
    def design(self) -> Design: ...
    @property
    def images(self) -> tuple[ShownImage, ...]: ...
    @property
    def withheld(self) -> frozenset[str]: ...


def texts_json(screen: Shown, instance: Instance) -> Json:
    """Return the texts and images of an instance, and its system if the study shows it."""
    context = select_context(instance.context, screen.task.columns, judge=False)
    return {
        "input": instance.input,
        "output": instance.output,
        "reference": instance.reference,
        "images": [
            {"name": image.name, "source": image.source, "problem": image.problem}
            for image in screen.images
            if image.name not in screen.withheld
        ],
        "context": [[key, value] for key, value in context.items() if key not in screen.withheld],
        "system": None if screen.design.hide_systems else instance.system or None,
    }


def _name(step: Step, instance: Instance) -> str:
    """Return the instance's name on every screen, or "" if the study hides systems.

    An id such as "17a" can reveal the system, and so can a position if systems alternate. Owners get "" too,
    because they also annotate.
    """
    return "" if step.design.hide_systems else name_instance(instance.position, instance.external_id)


def _answer(step: Step) -> str:
    """Return an owner's answer to this person's flag or comment."""
    if not step.answer:
        return ""
    return tr("{name} answered: {answer}", name=step.answer.answered_by, answer=step.answer.answer)


def _evaluation_json(step: Step, aliases: Aliases) -> Json | None:
    if step.assignment is None or step.criterion is None:
        return None
    draft, saved = step.draft, step.saved
    score = saved.score if saved else step.first.score if step.first else None
    return {
        "arm": step.assignment.arm,
        "asks_first": step.awaits_first,
        "first_score": step.first.score if step.first else None,
        "draft": aliases.hide("draft", draft.id) if draft else None,
        "status": draft.status if draft else "none",
        "note": _note(step, draft),
        "scale": list(step.criterion.scale.steps),
        "anchors": step.criterion.guide.anchors,
        "draft_score": round(draft.score, 4) if draft and draft.score is not None else None,
        "revision": saved.revision if saved else 0,
        "saved_at": saved.submitted_at if saved else "",
        "score": score,
        "rows": _rows_json(step, draft, saved, aliases),
        # the places in the text, without the model's words, which may differ slightly
        "marks": [{"start": quote.start, "end": quote.end, "place": quote.place} for quote in step.marks],
        "added": _added_json(saved),
    }


def _note(step: Step, draft: Draft | None) -> str:
    if step.awaits_first:
        return tr(FIRST)
    if draft is not None and step.assignment and step.assignment.arm is Arm.REASONS:
        return tr(REASONS)
    if draft is not None:
        before = _score_before(step, draft)
        # a draft's reason and its remedy are for owners, and that of a scored draft would reveal its score
        return "" if before is None else tr("Your score before the draft was {score}.", score=f"{before:g}")
    assert step.assignment is not None
    if step.has_evidence:
        return tr(EVIDENCE)
    if step.drafting is not None and step.assignment.arm is not Arm.BLIND:
        return tr(
            "Drafts are being written: {done} of {total} so far. Wait for this one, or choose a score without it.",
            done=step.drafting.done,
            total=step.drafting.total,
        )
    return tr(BLIND if step.assignment.arm is Arm.BLIND else UNDRAFTED)


def _rows_json(step: Step, draft: Draft | None, saved: Submission | None, aliases: Aliases) -> list[Json]:
    done = {row.draft_row: row for row in saved.rows} if saved else {}
    rows: list[Json] = [
        {
            "id": aliases.hide("row", row.id),
            "kind": row.kind,
            "text": row.text,
            "quotes": [quote_json(quote, step.instance) for quote in row.quotes],
            "action": done[row.id].action if row.id in done else None,
            "reason": done[row.id].reason if row.id in done else "",
            "new_text": done[row.id].text if row.id in done and row.kind is not RowKind.SCORE else "",
        }
        for row in (draft.rows if draft else ())
    ]
    score = next((row for row in rows if row["kind"] == RowKind.SCORE), None)
    if score is None:
        score = _empty_score_row()
        rows.insert(min(1, len(rows)), score)
    elif score["action"] is None and draft is not None and (before := _score_before(step, draft)) is not None:
        # the score stands until the person changes it
        score["action"] = Action.APPROVE if before == draft.score else Action.REVISE
    return rows


def _score_before(step: Step, draft: Draft | None) -> float | None:
    """Return the score that the person gave before the draft existed or was shown."""
    if draft is not None and step.saved is not None and step.saved.draft is None:
        return step.saved.score
    return step.first.score if step.first else None


def quote_json(quote: Quote, instance: Instance | None) -> Json:
    """Return a quote: ``start`` and ``end`` count in the text ``place``; ``passage`` is its text if different."""
    nearly = quote.located and quote.place is QuotePlace.NEAR
    return {
        "text": quote.text,
        "start": quote.start,
        "end": quote.end,
        "place": quote.place if quote.located else None,
        "passage": instance.output[quote.start : quote.end] if nearly and instance else "",
    }


def _empty_score_row() -> Json:
    return {
        "id": None,
        "kind": RowKind.SCORE,
        "text": "",
        "quotes": [],
        "action": None,
        "reason": "",
        "new_text": "",
    }


def _added_json(saved: Submission | None) -> list[Json]:
    return [
        {"kind": row.kind, "new_text": row.text, "reason": row.reason}
        for row in (saved.rows if saved else ())
        if row.draft_row is None and row.kind is not RowKind.SCORE
    ]


def history_json(versions: Iterable[Submission]) -> list[Json]:
    """Return everything that a person saved for one evaluation, in their own words and without drafted words."""
    return [
        {
            "revision": version.revision,
            "saved_at": version.submitted_at,
            "score": version.score,
            "first": version.revision == 0,
            "lines": _lines_json(version.rows),
        }
        for version in versions
    ]


def _lines_json(rows: Sequence[ScrutinyRow]) -> list[Json]:
    drafted = [row for row in rows if row.draft_row is not None]
    names = name_rows(drafted)
    lines = [
        {"label": name, "action": row.action, "text": row.text, "reason": row.reason}
        for name, row in zip(names, drafted, strict=True)
        if row.kind is not RowKind.SCORE
    ]
    return lines + [
        {"label": tr(ADDED[row.kind]), "action": row.action, "text": row.text, "reason": row.reason}
        for row in rows
        if row.draft_row is None and row.kind is not RowKind.SCORE
    ]
