"""A client of Prolific's API, with rules for repeating requests.

Source: https://docs.prolific.com/api-reference. Amounts are in pence or cents.

Reads and idempotent changes are retried freely. Other changes are retried only if they certainly had no effect: there
was no connection, or Prolific answered 429. A change without an answer raises ``UnansweredError``: it may have had an
effect, so the caller must look it up before asking again. A change that was refused after an unanswered attempt raises
it too, because that attempt may have had an effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError, field_validator

from coeval.errors import CoevalError, InputError

UNPUBLISHED, AWAITING, APPROVED, REJECTED = "UNPUBLISHED", "AWAITING REVIEW", "APPROVED", "REJECTED"


def _plain(status: object) -> str:
    """Return a status in one spelling: ``AWAITING_REVIEW`` becomes ``AWAITING REVIEW``."""
    return str(status or "").replace("_", " ").upper()


class RemoteCode(BaseModel):
    """A completion code, as Prolific's API has it."""

    code: str = ""


class RemoteStudy(BaseModel):
    """A study on Prolific."""

    id: str
    name: str = ""
    internal_name: str | None = ""
    status: str = ""
    external_study_url: str | None = ""
    completion_codes: list[RemoteCode] | None = None
    total_available_places: int = 0
    places_taken: int | None = 0
    reward: float = 0
    total_cost: float | None = None
    """The cost with Prolific's fee, if known."""
    estimated_completion_time: float = 0
    presentment_currency_code: str | None = ""
    currency_code: str | None = ""

    _status = field_validator("status", mode="before")(_plain)

    @property
    def is_draft(self) -> bool:
        return self.status == UNPUBLISHED

    @property
    def currency(self) -> str:
        return (self.presentment_currency_code or self.currency_code or "").upper()


class RemoteSubmission(BaseModel):
    """A submission on Prolific; its id is the SESSION_ID with which the person arrived."""

    id: str
    participant_id: str = ""
    participant: str | None = ""
    status: str = ""
    study_id: str | None = ""
    study_code: str | None = ""
    entered_code: str | None = ""
    time_taken: float | None = None
    """The time in seconds."""
    return_requested: str | None = None

    _status = field_validator("status", mode="before")(_plain)

    @property
    def code(self) -> str:
        return self.study_code or self.entered_code or ""


Model = TypeVar("Model", bound=BaseModel)


class UnreadableError(ValueError):
    """An answer does not have the documented form."""


def read_model(model: type[Model], answer: Any) -> Model:
    """Parse an answer as this model.

    Raises:
        UnreadableError: it has another form.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise UnreadableError(f"{place}: {first['msg']}") from error


def read_models(model: type[Model], answer: Any) -> list[Model]:
    """Parse the entries of the list ``results``.

    Raises:
        UnreadableError: it has another form.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise UnreadableError("results: a list is missing")
    return [read_model(model, record) for record in results]


TRIES = 4
PAUSE = 0.25
"""Half of the pause before the second attempt, in seconds; each later pause is twice as long."""
PATIENCE = 20.0
"""The longest wait in seconds if Prolific names a time to retry."""
TIMEOUT = httpx.Timeout(30, connect=10)
PAGE = 200
LOCAL = ("127.0.0.1", "localhost", "::1")


class RefusedError(CoevalError):
    """Prolific refused the request or was never reached, so the request had no effect. ``status`` is 0 if
    there was no answer.
    """

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class UnansweredError(CoevalError):
    """A request was sent without an answer: it may have had an effect."""


class Client:
    """One researcher's connection to Prolific. The token is sent only in the requests' header."""

    def __init__(self, url: str, token: str, wait: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in LOCAL:
            raise InputError(
                f"COEVAL_PROLIFIC_API is {parts.scheme}://{parts.hostname}: it must begin with https://."
            )
        if not (token.isascii() and token.isprintable()):
            raise InputError(
                "PROLIFIC_TOKEN contains characters that a token cannot have: copy it from Prolific's "
                "settings again."
            )
        self._token, self._wait = token, wait
        self._http = httpx.Client(
            base_url=f"{url}/api/v1/", headers={"Authorization": f"Token {token}"}, timeout=TIMEOUT
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._http.close()

    # ---- reads

    def get_study(self, study: str) -> RemoteStudy:
        return self._read(RemoteStudy, f"studies/{study}/")

    def list_drafts(self) -> list[RemoteStudy]:
        """Return the unpublished studies."""
        return self._ask(lambda answer: read_models(RemoteStudy, answer), "studies/", state="UNPUBLISHED")

    def list_submissions(self, study: str) -> list[RemoteSubmission]:
        """Return all submissions of a study, page by page."""
        submissions: dict[str, RemoteSubmission] = {}
        while True:
            page = self._ask(
                lambda answer: read_models(RemoteSubmission, answer),
                f"studies/{study}/submissions/", limit=PAGE, offset=len(submissions),
            )  # fmt: skip
            before = len(submissions)
            submissions.update(
                {submission.id: submission.model_copy(update={"study_id": study}) for submission in page}
            )
            if len(page) < PAGE or len(submissions) == before:
                return list(submissions.values())

    def get_submission(self, submission: str) -> RemoteSubmission:
        return self._read(RemoteSubmission, f"submissions/{submission}/")

    # ---- changes

    def create_study(self, body: Mapping[str, Any]) -> RemoteStudy:
        answer = self._send("POST", "studies/", body)
        return self._sure(RemoteStudy, answer)

    def publish(self, study: str) -> None:
        self._send("POST", f"studies/{study}/transition/", {"action": "PUBLISH"})

    def set_places(self, study: str, places: int) -> None:
        """Set the total number of places; a repeated request changes nothing more."""
        self._send("PATCH", f"studies/{study}/", {"total_available_places": places}, again=True)

    def transition(self, submission: str, body: Mapping[str, Any]) -> None:
        """Approve or reject a submission. The reference makes Prolific ignore a repeated request."""
        self._send("POST", f"submissions/{submission}/transition/", body, again=True)

    def request_return(self, submission: str, reason: str) -> None:
        self._send("POST", f"submissions/{submission}/request-return/", {"request_return_reasons": [reason]})

    # ---- requests

    def _read(self, model: type[Model], path: str) -> Model:
        return self._ask(lambda answer: read_model(model, answer), path)

    def _ask(self, reading: Callable[[Any], Any], path: str, **params: Any) -> Any:
        try:
            return reading(self._call("GET", path, params=params, again=True))
        except UnansweredError as error:
            raise RefusedError(f"{error} Nothing was changed: try again in a minute.") from error
        except UnreadableError as error:
            raise RefusedError(f"Prolific's answer about {path} cannot be read ({error}).") from error

    def _sure(self, model: type[Model], answer: Any) -> Model:
        try:
            return read_model(model, answer)
        except UnreadableError as error:
            raise UnansweredError(f"Prolific's answer cannot be read ({error}).") from error

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        *,
        again: bool = False,
    ) -> Any:
        return self._call(method, path, body=body, again=again)

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        again: bool,
    ) -> Any:
        doubt = False
        for left in range(TRIES - 1, -1, -1):
            pause = PAUSE * 2 ** (TRIES - left)
            try:
                answer = self._try(method, path, params, body)
                if answer.status_code != 429 or not left:
                    return self._understand(answer)
                pause = self._stated_pause(answer, pause)
            except UnansweredError:
                if not (again and left):
                    raise
                doubt = True
            except RefusedError as error:
                if left and not error.status:
                    pass  # Prolific was not reached
                elif doubt and method != "GET":
                    raise UnansweredError(f"An earlier attempt got no answer. {error}") from error
                else:
                    raise
            self._wait(pause)
        raise AssertionError("the last attempt returns or raises")

    def _try(
        self, method: str, path: str, params: Mapping[str, Any] | None, body: Mapping[str, Any] | None
    ) -> httpx.Response:
        try:
            return self._http.request(method, path, params=params or None, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise RefusedError(
                "Prolific cannot be reached: check the network. The request was not sent."
            ) from error
        except httpx.HTTPError as error:
            raise UnansweredError("The connection to Prolific was lost before it answered.") from error

    def _stated_pause(self, answer: httpx.Response, usual: float) -> float:
        """Return the pause that Prolific requests.

        Raises:
            RefusedError: it is longer than a user of a page would wait.
        """
        stated = answer.headers.get("Retry-After", "")
        try:
            pause = max(float(stated), 0.0)
        except ValueError:
            return usual
        if not pause <= PATIENCE:
            raise RefusedError(
                f"Prolific accepts no requests for {stated[:20]} seconds: try again then.", 429
            )
        return pause

    def _understand(self, answer: httpx.Response) -> Any:
        status = answer.status_code
        if status >= 500:
            raise UnansweredError(f"Prolific failed (status {status}) before it reported a result.")
        if status >= 300:
            raise RefusedError(_say_refusal(status, self._hide(_detail(answer))), status)
        try:
            return answer.json() if answer.content else {}
        except ValueError:
            return {}

    def _hide(self, text: str) -> str:
        return text.replace(self._token, "…") if self._token else text


def _say_refusal(status: int, detail: str) -> str:
    if status in (401, 403):
        return (
            f"Prolific does not accept PROLIFIC_TOKEN for this (status {status}{detail}): create a token in "
            "Prolific's settings, set PROLIFIC_TOKEN and restart CoEval."
        )
    if status == 404:
        return f"Prolific no longer has this (status 404{detail}): check the study on Prolific."
    if status == 429:
        return "Prolific accepts no more requests for now (status 429): try again in a minute."
    return (
        f"Prolific refused this (status {status}{detail}). Correct the error that it names, then try again."
    )


def _detail(answer: httpx.Response) -> str:
    """Return the error of an answer from ``error.detail`` or ``detail``, which may be a text, a list or an object."""
    try:
        whole = answer.json()
    except ValueError:
        return ""
    inner = whole.get("error", whole) if isinstance(whole, dict) else whole
    detail = inner.get("detail", inner) if isinstance(inner, dict) else inner
    text = " ".join(str(detail).split())[:500]
    return f": {text}" if text else ""
