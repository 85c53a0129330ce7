"""Requests to Prolific: author, time, amount and result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The type of a request that is sent to Prolific."""

    DRAFT = "draft"
    PUBLISH = "publish"
    PLACES = "places"
    APPROVE = "approve"
    RETURN = "return"
    REJECT = "reject"


class Outcome(StrEnum):
    """The progress of a request. It is recorded before anything is sent."""

    SENT = "sent"
    """it was sent, but there is no answer on record"""
    UNKNOWN = "unknown"
    """no answer came: it may have had an effect"""
    DONE = "done"
    REFUSED = "refused"
    """it had no effect"""


STANDING = (Outcome.SENT, Outcome.UNKNOWN, Outcome.DONE)
"""Outcomes of requests that had an effect or may have had one. CoEval never repeats these requests by itself."""
UNSETTLED = (Outcome.SENT, Outcome.UNKNOWN)
"""Outcomes that only Prolific can clarify."""


@dataclass(frozen=True, slots=True)
class Item:
    """The submission or study that a request concerns; requests for the same item have the same ``key``.

    Amounts are in hundredths of the currency, such as pence or cents.
    """

    key: str
    subject: str
    amount: int = 0
    who: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with its newest outcome. ``remote`` is the id of the result on Prolific."""

    kind: Kind
    study: str
    items: tuple[Item, ...]
    currency: str = ""
    note: str = ""
    """The details of the request: a reason or evidence."""
    asked_by: str = ""
    asked_at: str = ""
    outcome: Outcome = Outcome.SENT
    remote: str = ""
    answer: str = ""
    answered_at: str = ""
    id: int = 0

    @property
    def amount(self) -> int:
        return sum(item.amount for item in self.items)
