"""Queries on the record of requests to Prolific. Entries never change; results are appended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.clock import now
from coeval.store.engines.database import Database, insert, rows
from coeval.store.steps import begin_use, empty_before_use, read_steps


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


STEPS = read_steps("""
-- step prolific_tables: what was asked of Prolific, and with which result

-- A request that changes something on Prolific or costs money. It is written before it is sent, so that nothing is
-- paid twice, and never changes; its result is appended to prolific_step.
CREATE TABLE prolific_request (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL,
  study TEXT NOT NULL,
  currency TEXT NOT NULL,
  note TEXT NOT NULL, -- the basis of the request: a reason, the evidence
  asked_by TEXT NOT NULL,
  asked_at TEXT NOT NULL
) STRICT;
CREATE INDEX prolific_request_task ON prolific_request(task, id);

-- The submission or study that a request concerns. Amounts are in pence or cents.
CREATE TABLE prolific_item (
  id INTEGER PRIMARY KEY,
  request INTEGER NOT NULL REFERENCES prolific_request(id),
  key TEXT NOT NULL, -- requests for the same item share it
  subject TEXT NOT NULL,
  who TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount >= 0)
) STRICT;
CREATE INDEX prolific_item_request ON prolific_item(request, id);

-- The known results of a request. The newest row is valid.
CREATE TABLE prolific_step (
  id INTEGER PRIMARY KEY,
  request INTEGER NOT NULL REFERENCES prolific_request(id),
  outcome TEXT NOT NULL
    CHECK (outcome IN ('sent', 'unknown', 'done', 'refused')),
  remote TEXT NOT NULL, -- the id of the result on Prolific
  answer TEXT NOT NULL,
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX prolific_step_request ON prolific_step(request, id);
""")

REQUESTS = """
SELECT r.id, r.kind, r.study, r.currency, r.note, r.asked_by, r.asked_at, s.outcome, s.answer, s.at AS answered_at,
  (SELECT max(known.remote) FROM prolific_step known WHERE known.request = r.id) AS remote
FROM prolific_request r JOIN prolific_step s ON s.request = r.id
WHERE r.task = :task
  AND NOT EXISTS (SELECT 1 FROM prolific_step later WHERE later.request = r.id AND later.id > s.id)
ORDER BY r.id
"""
MOST_WORDS = 20_000
"""The number of stored characters of an answer."""

ITEMS = """
SELECT i.request, i.key, i.subject, i.amount, i.who
FROM prolific_item i JOIN prolific_request r ON r.id = i.request WHERE r.task = :task ORDER BY i.id
"""


@empty_before_use("prolific", list)
def list_asked(db: Database, task: int) -> list[Asked]:
    """Return every request of a task in order, each with its newest outcome."""
    items: dict[int, list[Item]] = {}
    for row in rows(db, ITEMS, {"task": task}):
        items.setdefault(row.pop("request"), []).append(Item(**row))
    return [
        Asked(
            kind=Kind(row.pop("kind")),
            outcome=Outcome(row.pop("outcome")),
            items=tuple(items.get(row["id"], ())),
            **row,
        )
        for row in rows(db, REQUESTS, {"task": task})
    ]


def record_asked(db: Database, task: int, asked: Asked) -> int:
    """Record a request before it is sent; return its number."""
    begin_use(db, "prolific")
    at = now()
    number = insert(
        db, "prolific_request", task=task, kind=str(asked.kind), study=asked.study, currency=asked.currency,
        note=asked.note, asked_by=asked.asked_by, asked_at=at,
    )  # fmt: skip
    for item in asked.items:
        insert(
            db, "prolific_item", request=number, key=item.key, subject=item.subject, who=item.who,
            amount=item.amount,
        )  # fmt: skip
    record_step(db, number, asked.outcome, asked.asked_by)
    return number


def record_step(
    db: Database, request: int, outcome: Outcome, actor: str, *, remote: str = "", answer: str = ""
) -> None:
    """Append the result of a request."""
    insert(
        db, "prolific_step", request=request, outcome=str(outcome), remote=remote, answer=answer[:MOST_WORDS],
        actor=actor, at=now(),
    )  # fmt: skip
