"""Validate data from browsers, and answer saves and refused requests as JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Protocol, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, Strict

from coeval.domain import MAX_ADDED, MAX_REMARK, Action, Filter, Vote
from coeval.errors import (
    CoevalError,
    ElsewhereError,
    InputError,
    ModelError,
    NotAllowedError,
    NotFoundError,
    OtherPersonError,
    SignedOutError,
    StaleError,
    StorageError,
)
from coeval.language import SOURCE, get_spoken, later, tr, trn
from coeval.rules.evaluation_rows import MAX_ROWS, Count, Id, Remark, Sent, SentRow
from coeval.ui.server.plain_pages import render_page
from coeval.usecases.access import Context

# Checks of everything that browsers send: shapes, lengths and counts. Browsers never send drafted texts.

LIMITS = {"added": MAX_ADDED, "remark": MAX_REMARK}
"""The limits that the browser needs; every sheet contains them."""


class Payload(BaseModel):
    """Base class of everything that a browser sends: it refuses unknown fields and inexact types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class CriterionPayload(Payload):
    """A criterion that a person adds to a ballot."""

    kind: Literal["criterion"]
    new_text: Remark
    reason: Remark = ""


class BallotPayload(Payload):
    """The body of a ballot or of an owner's decisions: ``revision`` is that of the displayed sheet."""

    round: Id
    revision: Count
    rows: list[SentRow] = Field(max_length=MAX_ROWS)
    added: list[CriterionPayload] = Field(max_length=MAX_ADDED)

    def to_votes(self) -> list[Vote]:
        """Return the votes, added criteria last.

        Raises:
            InputError: a proposal has no action yet.
        """
        undecided = sum(row.action is None for row in self.rows)
        if undecided:
            raise InputError(
                trn(
                    "{n} criterion still needs a decision: approve, revise or delete.",
                    "{n} criteria still need a decision: approve, revise or delete.",
                    undecided,
                )
            )
        votes = [Vote(row.action, row.id, row.reason, row.new_text) for row in self.rows if row.action]
        return votes + [Vote(Action.ADD, None, row.reason, row.new_text) for row in self.added]

    def to_decisions(self) -> dict[str, Any]:
        """Return an owner's decisions as arguments for ``establish``.

        Raises:
            InputError: a tie is still open.
        """
        if any(row.action is None for row in self.rows):
            raise InputError("A tie is still open: approve, revise or delete it, then establish the set.")
        return {
            "decisions": {row.id: row.new_text for row in self.rows if row.action == Action.REVISE},
            "approved": [row.id for row in self.rows if row.action == Action.APPROVE],
            "dropped": [row.id for row in self.rows if row.action == Action.DELETE],
            "added": [row.new_text for row in self.added],
        }


class SheetPayload(Payload):
    """The body of a confirm of a whole sheet: one person's scrutiny of one instance by several criteria."""

    uid: str = Field(max_length=80)
    filter: Annotated[Filter, Strict(False)] = Filter.UNFINISHED
    evaluations: list[Sent] = Field(min_length=1, max_length=MAX_ROWS)


class MarkPayload(Payload):
    """The flag, comment and skip of one instance; None leaves a mark unchanged."""

    instance: Id
    flagged: bool | None = None
    comment: Remark | None = None
    skipped: bool | None = None


class AnswerPayload(Payload):
    """An owner's answer to a flag or comment; ``close`` also ends it."""

    message: Id
    text: Remark
    close: bool = False


class LinePayload(Payload):
    """The evaluation of one instance by one criterion."""

    instance: Id
    criterion: Id


class Revision(Protocol):
    """What an answer tells of a stored save."""

    @property
    def revision(self) -> int: ...
    @property
    def submitted_at(self) -> str: ...


Saved = TypeVar("Saved", bound=Revision)


def save_and_open(
    context: Context,
    save: Callable[[], Saved],
    open_next: Callable[[Saved], Any],
    open_again: Callable[[], Any],
) -> JSONResponse:
    """Save and open the next screen in one transaction; a stale save is answered with the current screen."""
    screen, ended = None, ""
    try:
        with context.store.write():
            saved = save()
            try:
                screen = open_next(saved)
            except NotAllowedError as error:  # there is no more work for this person; their saves are kept
                ended = str(error)
    except StaleError as error:
        return JSONResponse({"error": "stale", "message": str(error), "now": open_again()}, 409)
    kept = {"revision": saved.revision, "submitted_at": saved.submitted_at}
    return JSONResponse({"saved": kept, "next": screen, "message": ended})


NAMES = {
    "new_text": later("the new text"),
    "reason": later("the reason"),
    "comment": later("the comment"),
    "score": later("the score"),
}


def explain(errors: list[Mapping[str, Any]]) -> str:
    """Return the first of pydantic's errors as one sentence with the value and the remedy.

    >>> explain([{"type": "string_too_long", "loc": ("rows", 1, "reason"), "input": "x" * 12000, "msg": ""}])
    'Line 2: the reason has 12,000 characters; shorten it to 10,000.'
    """
    first = errors[0]
    path = [part for part in first["loc"] if part not in ("body", "query", "path")]
    where = _where(path)
    name = _name(path)
    limit = (first.get("ctx") or {}).get("max_length", MAX_REMARK)
    match first["type"]:
        case "string_too_long":
            said = tr(
                "{name} has {length} characters; shorten it to {limit}.",
                name=name,
                length=f"{len(first['input']):,}",
                limit=f"{limit:,}",
            )
        case "too_long":
            where = ""
            said = tr(
                "{name} has {length} lines; the limit is {limit}: remove some and save again.",
                name=name,
                length=f"{len(first['input']):,}",
                limit=f"{limit:,}",
            )
        case "value_error":
            said = f"{name}: {str(first['msg']).removeprefix('Value error, ')}."
        case "json_invalid":
            return tr("The request cannot be read: reload the page and try again.")
        case "extra_forbidden" | "unexpected_keyword_argument":
            said = tr("{name} is not expected here: reload the page and try again.", name=name)
        case "missing":
            said = tr("{name} is missing: reload the page and try again.", name=name)
        case _:
            value = repr(first.get("input"))[:40]
            said = tr(
                "{name} is {given}, which is not valid: reload the page and try again.",
                name=name,
                given=value,
            )
    return where + said


def _name(path: list[Any]) -> str:
    """Return a field's name, from the last part of its path."""
    if not path:
        return tr("the request")
    last = str(path[-1])
    return tr(NAMES[last]) if last in NAMES else f"“{last}”"


def _where(path: list[Any]) -> str:
    """Return "Line 2: " for the second row; lines count from 1."""
    if len(path) > 1 and path[0] in ("rows", "added") and isinstance(path[1], int):
        number = path[1] + 1
        line = (
            tr("Line {number}", number=number)
            if path[0] == "rows"
            else tr("Added line {number}", number=number)
        )
        return f"{line}: "
    return ""


KINDS: tuple[tuple[type[CoevalError], int, str], ...] = (
    (OtherPersonError, 401, "other_person"),
    (SignedOutError, 401, "sign_in"),
    (NotFoundError, 404, "not_found"),
    (NotAllowedError, 403, "not_allowed"),
    (StaleError, 409, "stale"),
    (InputError, 422, "input"),
    (ModelError, 422, "model"),
    (StorageError, 503, "storage"),
)
"""Kinds of errors. The first match determines the answer; pages use the word, never the sentence."""


def add_error_answers(app: FastAPI) -> None:
    """Make every route of the app answer refusals in the same way."""
    app.add_exception_handler(CoevalError, _on_error)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _on_invalid)  # type: ignore[arg-type]


def tell(error: CoevalError) -> str:
    """Return an error's message for people. Text that names files of the server goes only to the log."""
    if error.told != str(error):
        logging.getLogger(__name__).error("%s", error)
    if isinstance(error, StorageError) and get_spoken().code != SOURCE:
        return tr("The server had an error and saved nothing: try again, and tell the study team.")
    return error.told


def _on_error(request: Request, error: CoevalError) -> Response:
    status, kind = next(((s, k) for type_, s, k in KINDS if isinstance(error, type_)), (400, "input"))
    if "text/html" in request.headers.get("accept", ""):
        # a link was followed or a form was sent: people read the answer, not a script
        path = request.url.path.removeprefix(request.scope.get("root_path", ""))
        base = "../" * (path.count("/") - 1)
        return render_page("message", status, title="CoEval", text=tell(error), base=base)
    link = {"link": error.link} if isinstance(error, ElsewhereError) else {}
    return JSONResponse({"error": kind, "message": tell(error), **link}, status)


def _on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "input", "message": explain(list(error.errors()))}, 422)
