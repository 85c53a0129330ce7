"""What was asked of Prolific: by whom, when, for how much, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is asked."""

    DRAFT = "draft"
    PUBLISH = "publish"
    PLACES = "places"
    APPROVE = "approve"
    RETURN = "return"
    REJECT = "reject"
    BONUS = "bonus"
    MESSAGE = "message"


class Outcome(StrEnum):
    """How far a request is; it stands in the record before anything leaves."""

    PREPARED = "prepared"
    """a bonus is being set up: nothing can have been paid yet"""
    SENT = "sent"
    """it left, and no answer is in the record"""
    UNKNOWN = "unknown"
    """no answer came: it may have happened or not"""
    DONE = "done"
    REFUSED = "refused"
    """it did not happen"""
    DROPPED = "dropped"
    """it was given up before anything was paid"""


STANDING = (Outcome.PREPARED, Outcome.SENT, Outcome.UNKNOWN, Outcome.DONE)
"""Outcomes of what happened or may have: the same thing is not asked for again by itself."""
UNSETTLED = (Outcome.SENT, Outcome.UNKNOWN)
"""Outcomes that only Prolific can tell more of."""


@dataclass(frozen=True, slots=True)
class Item:
    """What a request is about: a submission, a study or a person; two requests for the same thing share the ``key``.

    Amounts are in hundredths of the currency, pence or cents. ``paid_before`` is what bonuses had come to.
    """

    key: str
    subject: str
    amount: int = 0
    paid_before: int = 0
    who: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request with the newest outcome. ``remote`` is the id that Prolific gave to what it made."""

    kind: Kind
    study: str
    items: tuple[Item, ...]
    currency: str = ""
    note: str = ""
    """What it was asked for and on what grounds: a rule, a reason, the evidence."""
    asked_by: str = ""
    asked_at: str = ""
    outcome: Outcome = Outcome.SENT
    remote: str = ""
    answer: str = ""
    answered_at: str = ""
    id: int = 0

    @property
    def subjects(self) -> frozenset[str]:
        return frozenset(item.subject for item in self.items)

    @property
    def amount(self) -> int:
        return sum(item.amount for item in self.items)
