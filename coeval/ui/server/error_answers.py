"""What a route answers when it refuses: JSON with the kind of error, and one sentence for the person."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from coeval.errors import (
    CoevalError,
    InputError,
    NotAllowedError,
    NotFoundError,
    SignedOutError,
    StaleError,
    StorageError,
)
from coeval.language import SOURCE, get_spoken, tr
from coeval.ui.components.payloads import explain

KINDS: tuple[tuple[type[CoevalError], int, str], ...] = (
    (SignedOutError, 401, "sign_in"),
    (NotFoundError, 404, "not_found"),
    (NotAllowedError, 403, "not_allowed"),
    (StaleError, 409, "stale"),
    (InputError, 422, "input"),
    (StorageError, 503, "storage"),
)
"""The first kind that an error is of says how it is answered; the page goes by the word, never by the sentence."""


def add_error_answers(app: FastAPI) -> None:
    """Have every route of the app answer refusals in one way."""
    app.add_exception_handler(CoevalError, _on_error)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _on_invalid)  # type: ignore[arg-type]


def tell(error: CoevalError) -> str:
    """What to say to people of an error; the log gets the text that names files of the server."""
    if error.told != str(error):
        logging.getLogger(__name__).error("%s", error)
    if isinstance(error, StorageError) and get_spoken().code != SOURCE:
        return tr(
            "Nothing was written, because of a fault of the server: try again, and tell the people of the study."
        )
    return error.told


def _on_error(request: Request, error: CoevalError) -> JSONResponse:
    status, kind = next(((s, k) for type_, s, k in KINDS if isinstance(error, type_)), (400, "input"))
    return JSONResponse({"error": kind, "message": tell(error)}, status)


def _on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "input", "message": explain(list(error.errors()))}, 422)
