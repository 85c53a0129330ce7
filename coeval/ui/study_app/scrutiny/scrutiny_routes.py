"""The scrutiny screen's own routes: JSON in, JSON out, behind the same session and use cases as the rest.

A confirm is one request and one transaction, and its answer holds the next screen. It goes past Gradio's
event queue because the queue is what limits how many people can confirm at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import JSONResponse

from coeval.domain import Filter
from coeval.errors import NotAllowedError, StaleError
from coeval.rules.aliases import Aliases
from coeval.study.access import Context
from coeval.study.scrutiny import steps
from coeval.study.scrutiny.steps import Move, Sent, Where
from coeval.ui.components.payloads import (
    LARGEST_ID,
    MarkPayload,
    SubmissionPayload,
    SuggestionPayload,
)
from coeval.ui.server.identity import get_person
from coeval.ui.study_app.scrutiny.step_json import history_json, step_json

Named = Annotated[int, Query(ge=1, le=LARGEST_ID)]
Wanted = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]


def add_scrutiny_api(app: FastAPI, context: Context) -> None:
    """Add the routes under /api/scrutiny to the server."""
    router = APIRouter(prefix="/api/scrutiny/{slug}")

    @router.post("/step")
    def post_step(
        request: Request,
        slug: str,
        filter: Filter = Filter.UNFINISHED,
        at: Wanted = None,
        instance: Wanted = None,
        criterion: Wanted = None,
        move: Move = Move.HERE,
    ) -> dict[str, Any]:
        person = get_person(context, request)
        aliases = steps.get_aliases(context, person, slug)
        known = aliases.reveal("instance", instance) if instance else None
        where = Where(filter, at, known, criterion, move)
        return step_json(steps.get_step(context, person, slug, where), aliases)

    saving = CapacityLimiter(1)

    @router.post("/submissions")
    async def post_submission(request: Request, slug: str, payload: SubmissionPayload) -> JSONResponse:
        # the file takes one save at a time: one thread makes them, where many would wait for one another
        return await to_thread.run_sync(_save, context, request, slug, payload, limiter=saving)

    @router.post("/marks")
    def post_mark(request: Request, slug: str, payload: MarkPayload) -> dict[str, Any]:
        person = get_person(context, request)
        mark = steps.mark_instance(
            context,
            person,
            slug,
            steps.get_aliases(context, person, slug).reveal("instance", payload.instance),
            flagged=payload.flagged,
            skipped=payload.skipped,
            comment=payload.comment,
        )
        return {"flagged": mark.flagged, "skipped": mark.skipped, "comment": mark.comment}

    @router.get("/history")
    def get_history(request: Request, slug: str, instance: Named, criterion: Named) -> dict[str, Any]:
        person = get_person(context, request)
        known = steps.get_aliases(context, person, slug).reveal("instance", instance)
        return {"versions": history_json(steps.list_history(context, person, slug, known, criterion))}

    @router.post("/suggestions")
    def post_suggestion(request: Request, slug: str, payload: SuggestionPayload) -> dict[str, Any]:
        person = get_person(context, request)
        known = steps.get_aliases(context, person, slug).reveal("instance", payload.instance)
        steps.suggest_criterion(context, person, slug, known, payload.text)
        return {"suggested": True}

    app.include_router(router)


def _save(context: Context, request: Request, slug: str, payload: SubmissionPayload) -> JSONResponse:
    """One transaction: the save, and the opening of what comes next."""
    person = get_person(context, request)
    aliases = steps.get_aliases(context, person, slug)
    sent = _reveal(aliases, payload.to_sent())
    here = Where(Filter(payload.filter), instance=sent.instance, criterion=sent.criterion)
    # after a score given first, the same screen comes again, with the draft
    onward = replace(here, move=Move.HERE if sent.first else Move.NEXT)
    step, ended = None, ""
    try:
        with context.store.write():
            saved = steps.submit(context, person, slug, sent)
            try:
                step = step_json(steps.get_step(context, person, slug, onward), aliases)
            except NotAllowedError as error:  # there is no more work for this person; what they saved is kept
                ended = str(error)
    except StaleError as error:
        step = step_json(steps.get_step(context, person, slug, here), aliases)
        return JSONResponse({"error": "stale", "message": str(error), "now": step}, 409)
    kept = {"revision": saved.revision, "submitted_at": saved.submitted_at}
    return JSONResponse({"saved": kept, "next": step, "message": ended})


def _reveal(aliases: Aliases, sent: Sent) -> Sent:
    """What a browser sent, by the ids of the tables in the place of this person's aliases."""
    return replace(
        sent,
        instance=aliases.reveal("instance", sent.instance),
        draft=aliases.reveal("draft", sent.draft) if sent.draft else None,
        rows=tuple(replace(row, id=aliases.reveal("row", row.id)) for row in sent.rows),
    )
