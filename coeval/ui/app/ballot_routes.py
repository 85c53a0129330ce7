"""The ballot and the owner's decisions as JSON, with their routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import JSONResponse

from coeval.domain import Action, Ballot, Person, Proposal, Vote
from coeval.errors import CoevalError, NotFoundError, StaleError
from coeval.language import tr
from coeval.rules.ballots import ProposalTally, Tally, Wording
from coeval.rules.evaluation_rows import LARGEST_ID
from coeval.ui.app.criteria_views import words_of
from coeval.ui.server.identity import get_person
from coeval.ui.server.payloads import LIMITS, BallotPayload
from coeval.usecases import criteria_rounds
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import RoundState

# A ballot and an owner's decisions, as sheets for the browser's table.

Json = dict[str, Any]


def ballot_json(round_: RoundState) -> Json:
    """Return a person's ballot: a row per proposal with their vote, then the criteria they added."""
    votes = round_.ballot.votes if round_.ballot else ()
    mine = {vote.proposal: vote for vote in votes if vote.proposal is not None}
    return _sheet(
        round_,
        revision=round_.ballot.revision if round_.ballot else 0,
        saved_at=round_.ballot.saved_at if round_.ballot else "",
        reason_required=True,
        confirm={"label": tr("Save ballot"), "keyed": True},
        rows=[
            _proposal_row(at, proposal, round_, mine.get(proposal.id))
            for at, proposal in enumerate(round_.proposals, 1)
        ],
        added=[_added_row(vote.new_text, vote.reason) for vote in votes if vote.action is Action.ADD],
    )


def decisions_json(round_: RoundState, tally: Tally) -> Json:
    """Return the result of the votes for the owner's decisions; ties are open, and the first new wording is filled in.

    An added criterion is kept if more than half of the voters added it. The others are ``left_out``.
    """
    return _sheet(
        round_,
        revision=tally.saves,
        saved_at="",
        reason_required=False,
        # no key triggers an action that cannot be undone
        confirm={"label": "Finalise criteria", "keyed": False},
        rows=[_decision_row(proposal) for proposal in tally.proposals],
        added=[
            _added_row(addition.text, _added_by(addition))
            for addition in tally.added
            if tally.is_backed(addition)
        ],
        left_out=[
            {
                "text": addition.text,
                "by": f"added by {addition.voters} of {tally.n_ballots}: {addition.person}",
            }
            for addition in tally.added
            if not tally.is_backed(addition)
        ],
        waiting=tally.waiting,
        voters=tally.n_ballots,
    )


def _added_by(added: Wording) -> str:
    others = added.voters - 1
    return f"added by {added.person}" + (f" and {others} more" if others else "")


def _sheet(round_: RoundState, **fields: Any) -> Json:
    return {
        "round": round_.id,
        "limits": LIMITS,
        "add": {"label": tr("Add a criterion"), "key": "N", "kind": "criterion"},
        "counted": "criterion",
        "scale": None,
        "draft_score": None,
        "score": None,
        **fields,
    }


def _proposal_row(at: int, proposal: Proposal, round_: RoundState, vote: Vote | None) -> Json:
    return {
        "id": proposal.id,
        "kind": "criterion",
        "label": f"{at} ({_origin(proposal, round_)})",
        "text": proposal.text,
        "quotes": [],
        "note": proposal.note,
        "action": vote.action if vote else None,
        "reason": vote.reason if vote else "",
        "new_text": vote.new_text if vote else "",
    }


def _origin(proposal: Proposal, round_: RoundState) -> str:
    if proposal.kept_criterion is not None:
        return tr("from version {version}", version=round_.version - 1)
    return tr("written") if proposal.origin == "human" else tr("drafted")


def _decision_row(tallied: ProposalTally) -> Json:
    wordings = [f"“{wording.text}” ({wording.person}: {wording.reason})" for wording in tallied.wordings]
    reasons = [_reason(wording) for wording in tallied.reasons if wording.text != Action.REVISE]
    return {
        "id": tallied.proposal.id,
        "kind": "criterion",
        "label": "tie" if tallied.tied else tallied.outcome or "no votes",
        "text": tallied.proposal.text,
        "quotes": [],
        "note": " · ".join([words_of(tallied.rates), *wordings, *reasons]),
        "action": tallied.outcome,
        "reason": "",
        # where an owner revises, they begin with what a voter wrote
        "new_text": tallied.wordings[0].text if tallied.wordings else "",
    }


def _reason(wording: Wording) -> str:
    return f"{wording.person}, {wording.text}: {wording.reason}"


def _added_row(text: str, reason: str) -> Json:
    return {"kind": "criterion", "new_text": text, "reason": reason}


def history_json(round_: RoundState, versions: Iterable[Ballot]) -> list[Json]:
    """Return all saved versions of a person's ballot."""
    texts = {proposal.id: proposal.text for proposal in round_.proposals}
    return [
        {
            "revision": version.revision,
            "saved_at": version.saved_at,
            "lines": [_vote_line(texts, vote) for vote in version.votes],
        }
        for version in versions
    ]


def _vote_line(texts: dict[int, str], vote: Vote) -> Json:
    label = tr("Added criterion") if vote.proposal is None else texts.get(vote.proposal, "")
    return {"label": label, "action": vote.action, "text": vote.new_text, "reason": vote.reason}


# The routes of the ballot and of the owner's decisions: JSON in, JSON out, as in scrutiny.


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
            saved = criteria_rounds.cast_ballot(
                context, person, slug, payload.revision, votes, round_id=payload.round
            )
        except StaleError as error:
            return _stale(error, lambda: _ballot(context, person, slug))
        kept = {"revision": saved.revision, "submitted_at": saved.saved_at}
        return JSONResponse({"saved": kept, "next": _ballot(context, person, slug), "message": ""})

    @router.get("/ballot/history")
    def get_ballot_history(
        request: Request, slug: str, before: Annotated[int, Query(ge=1, le=LARGEST_ID)] = LARGEST_ID
    ) -> Json:
        person = get_person(context, request)
        round_ = _open_round(context, person, slug)
        saved = criteria_rounds.list_ballot_history(context, person, slug, before)
        return {"versions": history_json(round_, saved), "more": bool(saved) and saved[0].revision > 1}

    @router.get("/decisions")
    def get_decisions(request: Request, slug: str) -> Json:
        return _decisions(context, get_person(context, request), slug)

    @router.post("/decisions")
    def post_decisions(request: Request, slug: str, payload: BallotPayload) -> JSONResponse:
        person, decided = get_person(context, request), payload.to_decisions()
        try:
            established = criteria_rounds.establish(
                context, person, slug, **decided, round_id=payload.round, saves=payload.revision
            )
        except StaleError as error:
            return _stale(error, lambda: _decisions(context, person, slug))
        kept = {"revision": established.version, "submitted_at": established.established_at}
        message = f"The criteria are final as version {established.version}."
        return JSONResponse({"saved": kept, "next": None, "message": message})

    app.include_router(router)


def _open_round(context: Context, person: Person, slug: str) -> RoundState:
    round_ = criteria_rounds.get_round(context, person, slug)
    if round_ is None or not round_.open:
        raise NotFoundError(
            tr("No vote is open for “{slug}”: reload the page to see the current criteria.", slug=slug)
        )
    return round_


def _ballot(context: Context, person: Person, slug: str) -> Json:
    round_ = _open_round(context, person, slug)
    return ballot_json(round_)


def _decisions(context: Context, person: Person, slug: str) -> Json:
    tally = criteria_rounds.get_tally(context, person, slug)
    round_ = _open_round(context, person, slug)
    assert tally is not None  # the round is open, so it has a count
    return decisions_json(round_, tally)


def _stale(error: StaleError, get_now: Callable[[], Json]) -> JSONResponse:
    """Return the refusal with the current state, if there is still a vote."""
    now: Json | None
    try:
        now = get_now()
    except CoevalError:
        now = None
    return JSONResponse({"error": "stale", "message": str(error), "now": now}, 409)
