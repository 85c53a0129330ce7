"""The tables for the tokens of agents and for their spending, and the queries on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coeval.clock import now
from coeval.store import Database
from coeval.store.engines.database import insert, rows
from coeval.store.steps import begin_use, empty_before_use, read_steps

STEPS = read_steps(Path(__file__).with_name("tables.sql").read_text(encoding="utf-8"))

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


@empty_before_use("agents", list)
def list_tokens(db: Database) -> list[Token]:
    """Return every token that works, oldest first."""
    return [Token(**row) for row in rows(db, LIVE, {"now": now()})]


def add_token(db: Database, **values: object) -> None:
    begin_use(db, "agents")
    insert(db, "agents_token", made_at=now(), **values)


def revoke_token(db: Database, token: int) -> None:
    db.table("agents_token").update(token, {"revoked_at": now()})


def add_spending(db: Database, token: int, estimate: float) -> int:
    return insert(db, "agents_spending", token=token, estimate=estimate, began_at=now())


def settle_spending(db: Database, spending: int, cost: float) -> None:
    db.table("agents_spending").update(spending, {"cost": cost})
