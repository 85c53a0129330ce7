"""Look up the results of unanswered requests, which are never sent again."""

from __future__ import annotations

from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Person
from coeval.errors import InputError, NotFoundError
from coeval.extensions.prolific.api import APPROVED, REJECTED
from coeval.extensions.prolific.publication import find_made, is_published
from coeval.extensions.prolific.request_types import UNSETTLED, Asked, Kind, Outcome
from coeval.extensions.prolific.requests_log import (
    Desk,
    Line,
    Report,
    check_confirmation,
    open_desk,
)
from coeval.usecases.access import OWNERS, Context, use_case

WAIT_MINUTES = 60
"""Prolific may show a change some minutes after the request: before this time, a missing result proves nothing."""


@use_case(OWNERS)
def settle(context: Context, person: Person, slug: str, request: int, *, confirm: str = "") -> Report:
    """Look up an unanswered request on Prolific and record its result; nothing is sent again.

    If Prolific shows no result after an hour, an owner who has checked Prolific's own page can state that it did not
    happen, with the confirmation text of the report. The request can then be sent again.

    Raises:
        NotFoundError: there is no such request.
        InputError: its result is already known.
    """
    with open_desk(context, person, slug) as desk:
        asked = next((one for one in desk.asked if one.id == request), None)
        if asked is None:
            raise NotFoundError(f"“{slug}” has no request {request}: choose a number from the list.")
        if asked.outcome not in UNSETTLED:
            raise InputError(f"The result of request {request} is already known: {asked.outcome}.")
        happened, remote, words = _look(desk, asked)
        if happened:
            desk.note(request, Outcome.DONE, remote=remote, answer=f"looked up: {words}")
            done = Line(str(asked.kind), words, asked.amount)
            return Report(f"Request {request} was done", (done,), asked.currency)
        wanted = f"request {request} did not happen"
        early = asked.answered_at > time_from_now(-timedelta(minutes=WAIT_MINUTES))
        if confirm.strip() and not early:
            check_confirmation(confirm, wanted)
            desk.note(
                request, Outcome.REFUSED, answer=f"{words}; {person.name} stated that it did not happen"
            )
            return Report(f"Request {request} did not happen", (Line(str(asked.kind), words),))
        if early:
            advice = f"look it up again {WAIT_MINUTES} minutes after it was sent"
            return Report(
                f"Request {request} is still open",
                (Line(str(asked.kind), f"{words}: {advice}", failed=True),),
            )
        advice = "check Prolific's own page, and confirm if it shows no result either"
        line = Line(str(asked.kind), f"{words}: {advice}", failed=True)
        return Report(f"Request {request} is still open", (line,), confirm=wanted)


def _look(desk: Desk, asked: Asked) -> tuple[bool, str, str]:
    """Return whether a request took effect, the id of its result, and a description of what Prolific shows."""
    item, client = asked.items[0], desk.client
    if asked.kind is Kind.DRAFT:
        made = find_made(desk, item.key)
        return bool(made), made, f"the draft {made} exists" if made else "there is no such draft"
    if asked.kind is Kind.PUBLISH:
        out = is_published(desk, asked.study)
        return out, asked.study, "the study is published" if out else "the study is not published"
    if asked.kind is Kind.PLACES:
        places = client.get_study(asked.study).total_available_places
        return places >= int(item.key.rpartition(":")[2]), asked.study, f"the study has {places} places"
    seen = client.get_submission(item.subject)
    if asked.kind is Kind.RETURN:
        there = bool(seen.return_requested) or seen.status == "RETURNED"
        return there, seen.id, "the return was requested" if there else "no return was requested"
    wanted = APPROVED if asked.kind is Kind.APPROVE else REJECTED
    return seen.status == wanted, seen.id, f"the submission is {seen.status.lower()}"
