"""A step of scrutiny as the browser takes it: of the draft it holds what may be seen, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from coeval.domain import (
    Action,
    Arm,
    Draft,
    DraftStatus,
    Emptiness,
    Instance,
    Quote,
    QuotePlace,
    RowKind,
    ScrutinyRow,
    Submission,
)
from coeval.language import later, tr
from coeval.rules.aliases import Aliases
from coeval.rules.arms import tells_system
from coeval.rules.columns.column_roles import select_context
from coeval.rules.evaluation_rows import name_rows
from coeval.study.hosting.image_hosts import ShownImage
from coeval.study.scrutiny.queue import Step
from coeval.study.scrutiny.steps import WAITS
from coeval.ui.components.payloads import LIMITS

Json = dict[str, Any]
BLIND = later("This one is yours alone: no draft is shown. Choose a score and say why.")
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
        later("You are not among the people chosen for this task, so no instance was given to you."),
        "To judge it too, add yourself under Set-up, People.",
        "Choose who works at it",
        "people",
    ),
    Emptiness.ALL_WITH_OTHERS: (
        later("Every instance of this task went to as many other people as it needs."),
        "To judge it too, raise the number of people for each instance under Set-up, People.",
        "Choose how many people judge each",
        "people",
    ),
    Emptiness.NOT_GIVEN: (
        later("No instance is assigned to you in this task."),
        "See under Set-up, Crowd, how it is given out.",
        "See how it is given out",
        "crowd",
    ),
}
"""Why a queue is empty, what whoever sets the study up can do, the name of the link to it, and its tab."""
TELLS = later("“{name}” is not shown: its address says who wrote the output, which this study hides.")
UNDRAFTED = later("There is no draft for this one. Choose a score and say why.")


def step_json(step: Step, aliases: Aliases = AS_THEY_ARE) -> Json:
    """The whole answer of a step request; its ids are those by which this person knows things."""
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
        "waits": step.waits,
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
    """Why there is nothing to judge and, for who sets the study up, where to change it."""
    if step.emptiness is None:
        return None
    why, remedy, label, tab = EMPTY[step.emptiness]
    if not step.sets_up:
        ask = tr("Ask the people who run the study.")
        return {"text": f"{tr(why)} {ask}", "link": "", "label": ""}
    return {"text": f"{tr(why)} {remedy}", "link": f"admin?task={step.task.slug}&tab={tab}", "label": label}


def sheet_json(sheet: Sequence[Step], aliases: Aliases = AS_THEY_ARE) -> Json:
    """The answer that holds all evaluations of an instance, in the order of the criteria; at the end, a step's."""
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


def _task_json(step: Step) -> Json:
    return {
        "slug": step.task.slug,
        "name": step.task.name,
        "input_field": step.task.input_field,
        "output_field": step.task.output_field,
        "guidelines": step.task.guidelines,
        "display": step.design.display,
        "idle_seconds": step.design.idle_seconds,
        "layout": step.design.layout,
    }


def _instance_json(step: Step, aliases: Aliases) -> Json | None:
    instance = step.instance
    if instance is None:
        return None
    blinded = step.design.hide_systems
    context = {
        key: value
        for key, value in select_context(instance.context, step.task.columns, judge=False).items()
        if not (blinded and (tells_system(instance, key) or tells_system(instance, value)))
    }
    return {
        "id": aliases.hide("instance", instance.id),
        # "17a" and "17b" name two systems as surely as their names do
        "external_id": "" if blinded else instance.external_id,
        "input": instance.input,
        "output": instance.output,
        "reference": instance.reference,
        "images": [
            _image_json(instance, one, blinded=blinded)
            for one in step.images
            if not (blinded and tells_system(instance, one.name))
        ],
        "context": [[key, value] for key, value in context.items()],
        "system": None if blinded else instance.system or None,
        "flagged": step.mark.flagged,
        "skipped": step.mark.skipped,
        "comment": step.mark.comment,
        "answer": _answer(step),
    }


def _image_json(instance: Instance, image: ShownImage, *, blinded: bool) -> Json:
    """An image as the browser takes it; the bytes of one that is no address name nobody, whatever letters they make."""
    address = "" if image.source.startswith("data:") else image.source
    if blinded and (tells_system(instance, address) or tells_system(instance, image.problem)):
        return {"name": image.name, "source": "", "problem": tr(TELLS, name=image.name)}
    return {"name": image.name, "source": image.source, "problem": image.problem}


def _answer(step: Step) -> str:
    """What was answered to this person's own flag or comment."""
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
        "status": "waiting" if step.waits else draft.status if draft else "none",
        "note": _note(step, draft),
        "scale": list(step.criterion.scale.steps),
        "anchors": step.criterion.guide.anchors,
        "draft_score": round(draft.score, 4) if draft and draft.score is not None else None,
        "revision": saved.revision if saved else 0,
        "saved_at": saved.submitted_at if saved else "",
        "score": score,
        "rows": [] if step.waits else _rows_json(step, draft, saved, aliases),
        "added": _added_json(saved),
    }


def _note(step: Step, draft: Draft | None) -> str:
    if step.awaits_first:
        return tr(FIRST)
    if draft is not None:
        said = tr("Before the draft you gave {score}.", score=f"{step.first.score:g}") if step.first else ""
        # how a score came about names the draft's own: it is told of no draft that has one, planted or not
        why = draft.reason if draft.status is DraftStatus.UNSCORED else ""
        return " ".join(part for part in (said, why) if part)
    assert step.assignment is not None
    if step.waits:
        return tr(WAITS)
    return tr(BLIND if step.assignment.arm is Arm.BLIND else UNDRAFTED)


def _rows_json(step: Step, draft: Draft | None, saved: Submission | None, aliases: Aliases) -> list[Json]:
    done = {row.draft_row: row for row in saved.rows} if saved else {}
    rows = [
        {
            "id": aliases.hide("row", row.id),
            "kind": row.kind,
            "text": row.text,
            "quotes": [_quote_json(quote, step) for quote in row.quotes],
            "action": done[row.id].action if row.id in done else None,
            "reason": done[row.id].reason if row.id in done else "",
            "new_text": done[row.id].text if row.id in done and row.kind is not RowKind.SCORE else "",
        }
        for row in (draft.rows if draft else ())
    ]
    score = next((row for row in rows if row["kind"] == RowKind.SCORE), None)
    if score is None:
        rows.insert(min(1, len(rows)), _empty_score_row())
    elif saved is None and step.first is not None and draft is not None:
        # the score given first stands until the person changes it
        score["action"] = Action.APPROVE if step.first.score == draft.score else Action.REVISE
    return rows


def _quote_json(quote: Quote, step: Step) -> Json:
    """``place`` is the text that ``start`` and ``end`` count in; ``passage`` what stands there where it differs."""
    nearly = quote.located and quote.place is QuotePlace.NEAR and step.instance is not None
    return {
        "text": quote.text,
        "start": quote.start,
        "end": quote.end,
        "place": quote.place if quote.located else None,
        "passage": step.instance.output[quote.start : quote.end] if nearly and step.instance else "",
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
    """Everything a person saved of one evaluation, in their own words: no drafted word is repeated."""
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
