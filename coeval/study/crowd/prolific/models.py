"""What Prolific answers, as far as it is used here. Amounts are in pence or cents.

Source: https://docs.prolific.com/api-reference
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

UNPUBLISHED, AWAITING, APPROVED, REJECTED = "UNPUBLISHED", "AWAITING REVIEW", "APPROVED", "REJECTED"


def _plain(status: object) -> str:
    """One spelling of a status: ``AWAITING_REVIEW`` and ``AWAITING REVIEW`` are the same."""
    return str(status or "").replace("_", " ").upper()


class RemoteCode(BaseModel):
    """A completion code that Prolific takes."""

    code: str = ""


class RemoteStudy(BaseModel):
    """A study as Prolific has it."""

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
    """With Prolific's fee, where it is told."""
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
    """A submission as Prolific has it; its id is the SESSION_ID that the person came by."""

    id: str
    participant_id: str = ""
    participant: str | None = ""
    status: str = ""
    study_id: str | None = ""
    study_code: str | None = ""
    entered_code: str | None = ""
    time_taken: float | None = None
    """Seconds."""
    bonus_payments: list[float] | None = None
    return_requested: str | None = None

    _status = field_validator("status", mode="before")(_plain)

    @property
    def worker(self) -> str:
        return self.participant_id or self.participant or ""

    @property
    def code(self) -> str:
        return self.study_code or self.entered_code or ""

    @property
    def paid(self) -> int:
        """What its bonuses come to."""
        return round(sum(self.bonus_payments or ()))


class RemoteFilter(BaseModel):
    """A condition that Prolific can put to people: values to choose from, or a range."""

    filter_id: str
    title: str = ""
    type: str = "select"
    choices: dict[str, str] | None = None
    min: float | str | None = None
    max: float | str | None = None


class RemoteBulk(BaseModel):
    """Bonuses that were set up; none is paid before the bulk is."""

    id: str = Field(min_length=1)
    amount: float | None = None
    """What the participants get."""
    total_amount: float | None = None
    """With Prolific's fee."""


class RemoteMessage(BaseModel):
    """A message between the researcher and somebody."""

    body: str = ""


Model = TypeVar("Model", bound=BaseModel)


class UnreadableError(ValueError):
    """An answer is not of the form that the reference gives it."""


def read(model: type[Model], answer: Any) -> Model:
    """An answer of that form.

    Raises:
        UnreadableError: it is of another.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise UnreadableError(f"{place}: {first['msg']}") from error


def read_list(model: type[Model], answer: Any) -> list[Model]:
    """What a list answers, in ``results``.

    Raises:
        UnreadableError: it is of another form.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise UnreadableError("results: a list is missing")
    return [read(model, one) for one in results]
