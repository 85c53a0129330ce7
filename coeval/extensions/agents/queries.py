"""The tables for the tokens of agents and for their spending, and the queries on them."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.clock import now
from coeval.store import Database
from coeval.store.engines.database import insert, rows
from coeval.store.steps import read_steps

STEPS = read_steps(
    """
-- step agents_tokens: what an agent may do for a person, and what its drafts cost
-- A token of an agent. It opens one task, with the rights of one person.
CREATE TABLE agents_token (
  id INTEGER PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  task TEXT NOT NULL, -- the short name; the agent may import a task that does not exist yet
  annotator INTEGER REFERENCES annotator(id), -- the person whose rights it has; null is the command line
  budget REAL NOT NULL CHECK (budget >= 0), -- what all drafts together may cost
  price_in REAL NOT NULL CHECK (price_in >= 0), -- per million prompt tokens
  price_out REAL NOT NULL CHECK (price_out >= 0), -- per million answer tokens
  takes_scores INTEGER NOT NULL CHECK (takes_scores IN (0, 1)), -- whether its files may hold people's scores
  made_by TEXT NOT NULL,
  made_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
-- A drafting run of an agent. The estimate counts until the run has ended.
CREATE TABLE agents_spending (
  id INTEGER PRIMARY KEY,
  token INTEGER NOT NULL REFERENCES agents_token(id),
  estimate REAL NOT NULL CHECK (estimate >= 0),
  cost REAL CHECK (cost >= 0),
  began_at TEXT NOT NULL
) STRICT;
CREATE INDEX agents_spending_token ON agents_spending(token);
"""
)

LIVE = """
SELECT t.id, t.secret_hash, t.task, t.annotator, a.name AS person, t.budget, t.price_in, t.price_out, t.takes_scores,
  t.expires_at,
  coalesce((SELECT sum(coalesce(s.cost, s.estimate)) FROM agents_spending s WHERE s.token = t.id), 0.0) AS spent
FROM agents_token t LEFT JOIN annotator a ON a.id = t.annotator
WHERE t.revoked_at IS NULL AND t.expires_at > :now ORDER BY t.id
"""


@dataclass(frozen=True, slots=True)
class Token:
    """A token that works, without its secret. ``person`` is empty for the command line."""

    id: int
    secret_hash: str
    task: str
    annotator: int | None
    person: str | None
    budget: float
    price_in: float
    price_out: float
    takes_scores: int
    expires_at: str
    spent: float

    @property
    def left(self) -> float:
        """Return what its drafts may still cost."""
        return max(0.0, self.budget - self.spent)

    @property
    def cells(self) -> tuple[str, ...]:
        """Return its key, task, person, spending and last day for lists."""
        spent = f"{self.spent:.2f} of {self.budget:.2f}"
        return self.secret_hash[:8], self.task, self.person or "command line", spent, self.expires_at[:10]


def list_tokens(db: Database) -> list[Token]:
    """Return every token that works, oldest first."""
    return [Token(**row) for row in rows(db, LIVE, {"now": now()})]


def add_token(db: Database, **values: object) -> None:
    insert(db, "agents_token", made_at=now(), **values)


def revoke_token(db: Database, token: int) -> None:
    db.table("agents_token").update(token, {"revoked_at": now()})


def add_spending(db: Database, token: int, estimate: float) -> int:
    return insert(db, "agents_spending", token=token, estimate=estimate, began_at=now())


def settle_spending(db: Database, spending: int, cost: float) -> None:
    db.table("agents_spending").update(spending, {"cost": cost})
