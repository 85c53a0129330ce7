"""The routes of the ballot and of the owner's decisions: JSON in, JSON out, as in scrutiny."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse

from coeval.domain import Person
from coeval.errors import CoevalError, NotFoundError, StaleError
from coeval.language import tr
from coeval.study.access import Context
from coeval.study.criteria import rounds
from coeval.study.criteria.rounds import RoundState
from coeval.ui.components.payloads import BallotPayload
from coeval.ui.server.identity import get_person
from coeval.ui.study_app.criteria.ballot_json import ballot_json, decisions_json, history_json

Json = dict[str, Any]


def add_criteria_api(app: FastAPI, context: Context) -> None:
    """Add the routes under /api/criteria to the server."""
    router = APIRouter(prefix="/api/criteria/{slug}")

    @router.get("/ballot")
    def get_ballot(request: Request, slug: str) -> Json:
        return _ballot(context, get_person(context, request), slug)

    @router.post("/ballot")
    def post_ballot(request: Request, slug: str, payload: BallotPayload) -> JSONResponse:
        person, votes = get_person(context, request), payload.to_votes()
        try:
            saved = rounds.cast_ballot(context, person, slug, payload.revision, votes, round_id=payload.round)
        except StaleError as error:
            return _stale(error, lambda: _ballot(context, person, slug))
        kept = {"revision": saved.revision, "submitted_at": saved.saved_at}
        return JSONResponse({"saved": kept, "next": _ballot(context, person, slug), "message": ""})

    @router.get("/ballot/history")
    def get_ballot_history(request: Request, slug: str) -> Json:
        person = get_person(context, request)
        round_ = _open_round(context, person, slug)
        return {"versions": history_json(round_, rounds.list_ballot_history(context, person, slug))}

    @router.get("/decisions")
    def get_decisions(request: Request, slug: str) -> Json:
        return _decisions(context, get_person(context, request), slug)

    @router.post("/decisions")
    def post_decisions(request: Request, slug: str, payload: BallotPayload) -> JSONResponse:
        person, decided = get_person(context, request), payload.to_decisions()
        try:
            established = rounds.establish(
                context, person, slug, **decided, round_id=payload.round, saves=payload.revision
            )
        except StaleError as error:
            return _stale(error, lambda: _decisions(context, person, slug))
        kept = {"revision": established.version, "submitted_at": established.established_at}
        message = f"The criteria are established as version {established.version}."
        return JSONResponse({"saved": kept, "next": None, "message": message})

    app.include_router(router)


def _open_round(context: Context, person: Person, slug: str) -> RoundState:
    round_ = rounds.get_round(context, person, slug)
    if round_ is None or not round_.open:
        raise NotFoundError(
            tr("No vote is open for “{slug}”: reload the page to see where the criteria stand.", slug=slug)
        )
    return round_


def _ballot(context: Context, person: Person, slug: str) -> Json:
    return ballot_json(_open_round(context, person, slug))


def _decisions(context: Context, person: Person, slug: str) -> Json:
    tally = rounds.get_tally(context, person, slug)
    round_ = _open_round(context, person, slug)
    assert tally is not None  # the round is open, so it has a count
    return decisions_json(round_, tally)


def _stale(error: StaleError, get_now: Callable[[], Json]) -> JSONResponse:
    """The refusal with what holds now, where there is still a vote."""
    now: Json | None
    try:
        now = get_now()
    except CoevalError:
        now = None
    return JSONResponse({"error": "stale", "message": str(error), "now": now}, 409)
