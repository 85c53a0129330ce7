"""The scrutiny screen's own routes: JSON in, JSON out, behind the same session and use cases as the rest.

A confirm is one request and one transaction, and its answer holds the next screen. It goes past Gradio's
event queue because the queue is what limits how many people can confirm at once.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from coeval.domain import Arm, Draft, EvaluationRow, RowKind, Submission
from coeval.errors import CoevalError, InputError, NotAllowedError, NotFoundError, StaleError, StorageError
from coeval.store.assignments import Filter
from coeval.study import scrutiny
from coeval.study.access import Context
from coeval.study.scrutiny import Move, Step, Where
from coeval.ui.identity import get_person
from coeval.ui.payloads import MarkPayload, SubmissionPayload

STATUS: dict[type[CoevalError], tuple[int, str]] = {
    NotFoundError: (404, "not_found"),
    NotAllowedError: (403, "not_allowed"),
    StaleError: (409, "stale"),
    InputError: (422, "input"),
    StorageError: (503, "storage"),
}


def add_api(app: FastAPI, context: Context) -> None:
    """Add the routes under /api to the server."""
    router = APIRouter(prefix="/api/scrutiny/{slug}")

    @router.get("/step")
    def get_step(
        request: Request,
        slug: str,
        filter: Filter = Filter.UNFINISHED,
        at: int | None = Query(None, ge=1),
        instance: int | None = None,
        criterion: int | None = None,
        move: Move = Move.HERE,
    ) -> dict[str, Any]:
        where = Where(filter, at, instance, criterion, move)
        return step_json(scrutiny.get_step(context, get_person(context, request), slug, where))

    @router.post("/submissions")
    def post_submission(request: Request, slug: str, payload: SubmissionPayload) -> Any:
        person, sent = get_person(context, request), payload.to_sent()
        here = Where(Filter(payload.filter), instance=sent.instance, criterion=sent.criterion)
        try:
            saved = scrutiny.submit(context, person, slug, sent)
        except StaleError as error:
            step = scrutiny.get_step(context, person, slug, here)
            return JSONResponse({"error": "stale", "message": str(error), "step": step_json(step)}, 409)
        onward = Where(here.which, None, here.instance, here.criterion, Move.NEXT)
        return {
            "saved": {"revision": saved.revision, "submitted_at": saved.submitted_at},
            "next": step_json(scrutiny.get_step(context, person, slug, onward)),
        }

    @router.post("/marks")
    def post_mark(request: Request, slug: str, payload: MarkPayload) -> dict[str, Any]:
        mark = scrutiny.mark_instance(
            context,
            get_person(context, request),
            slug,
            payload.instance,
            flagged=payload.flagged,
            skipped=payload.skipped,
            comment=payload.comment,
        )
        return {"flagged": mark.flagged, "skipped": mark.skipped, "comment": mark.comment}

    app.include_router(router)
    app.add_exception_handler(CoevalError, _on_error)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _on_invalid)  # type: ignore[arg-type]


def _on_error(request: Request, error: CoevalError) -> JSONResponse:
    status, kind = next((v for k, v in STATUS.items() if isinstance(error, k)), (400, "input"))
    if isinstance(error, NotAllowedError) and "signed out" in str(error):
        status, kind = 401, "sign_in"
    return JSONResponse({"error": kind, "message": str(error)}, status)


def _on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    message = f"{place or 'The request'}: {first['msg']}. Reload the page and try again."
    return JSONResponse({"error": "input", "message": message}, 422)


def step_json(step: Step) -> dict[str, Any]:
    """A step as the browser takes it; in the blind arm it holds nothing of the draft."""
    return {
        "task": {
            "slug": step.task.slug,
            "name": step.task.name,
            "input_field": step.task.input_field,
            "output_field": step.task.output_field,
            "guidelines": step.task.guidelines,
            "display": "plain",
        },
        "total": step.total,
        "done": step.finished,
        "flagged": step.flagged,
        "seconds_each": step.seconds_each,
        "filter": step.which,
        "finished": step.assignment is None,
        "position": step.assignment.position if step.assignment else None,
        "instance": _instance_json(step),
        "criteria": [
            {
                "id": c.id,
                "number": n,
                "name": c.name,
                "text": c.text,
                "done": c.id in step.done,
                "reopened": False,
            }
            for n, c in enumerate(step.criteria, 1)
        ],
        "criterion": step.criterion.id if step.criterion else None,
        "evaluation": _evaluation_json(step),
    }


def _instance_json(step: Step) -> dict[str, Any] | None:
    if step.instance is None:
        return None
    return {
        "id": step.instance.id,
        "external_id": step.instance.external_id,
        "input": step.instance.input,
        "output": step.instance.output,
        "reference": step.instance.reference,
        "context": [[key, value] for key, value in step.instance.context.items()],
        "system": None,
        "flagged": step.mark.flagged,
        "skipped": step.mark.skipped,
        "comment": step.mark.comment,
    }


def _evaluation_json(step: Step) -> dict[str, Any] | None:
    if step.assignment is None or step.criterion is None:
        return None
    draft = step.draft if step.assignment.arm is Arm.ASSISTED else None
    saved = step.saved
    return {
        "arm": step.assignment.arm,
        "draft": draft.id if draft else None,
        "status": draft.status if draft else "none",
        "note": _note(step, draft),
        "scale": list(step.criterion.scale.steps),
        "draft_score": draft.score if draft else None,
        "revision": saved.revision if saved else 0,
        "saved_at": saved.submitted_at if saved else "",
        "score": saved.score if saved else None,
        "rows": _rows_json(draft, saved),
        "added": _added_json(saved),
    }


def _note(step: Step, draft: Draft | None) -> str:
    if draft is not None:
        return draft.reason
    if step.assignment is not None and step.assignment.arm is Arm.BLIND:
        return "This one is yours alone: no draft is shown. Choose a score and say why."
    return "There is no draft for this one. Choose a score and say why."


def _rows_json(draft: Draft | None, saved: Submission | None) -> list[dict[str, Any]]:
    done = {row.draft_row: row for row in saved.rows} if saved else {}
    rows = [
        {
            "id": row.id,
            "kind": row.kind,
            "text": row.text,
            "quotes": [{"text": q.text, "start": q.start, "end": q.end} for q in row.quotes],
            "action": done[row.id].action if row.id in done else None,
            "reason": done[row.id].reason if row.id in done else "",
            "new_text": done[row.id].text if row.id in done and row.kind is not RowKind.SCORE else "",
        }
        for row in (draft.rows if draft else ())
    ]
    if not any(row["kind"] == RowKind.SCORE for row in rows):
        rows.insert(min(1, len(rows)), _empty_score_row())
    return rows


def _empty_score_row() -> dict[str, Any]:
    blank = EvaluationRow(RowKind.SCORE, "")
    return {
        "id": None,
        "kind": blank.kind,
        "text": "",
        "quotes": [],
        "action": None,
        "reason": "",
        "new_text": "",
    }


def _added_json(saved: Submission | None) -> list[dict[str, Any]]:
    return [
        {"kind": row.kind, "new_text": row.text, "reason": row.reason}
        for row in (saved.rows if saved else ())
        if row.draft_row is None and row.kind is not RowKind.SCORE
    ]
