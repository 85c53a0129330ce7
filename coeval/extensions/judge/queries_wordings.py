"""Clearer wordings of criteria that a model proposes from people's corrections, and owners' decisions on them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from coeval.clock import now
from coeval.store.engines.database import Database, get_row, insert, rows, to_json
from coeval.store.steps import begin_use, empty_before_use, read_steps


@dataclass(frozen=True, slots=True)
class Wording:
    """A clearer wording that the model proposed for a criterion; ``taken`` is None until an owner decides."""

    criterion: int
    before: str
    """The criterion's text before the proposal."""
    text: str
    anchors: tuple[tuple[int, str], ...] = ()
    why: str = ""
    model: str = ""
    proposed_by: str = ""
    proposed_at: str = ""
    taken: bool | None = None
    id: int = 0


STEPS = read_steps("""
-- step judge_wording: wordings that a model proposed from people's corrections
-- A clearer wording of a criterion, which the model derived from people's corrections.
CREATE TABLE judge_wording (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  text TEXT NOT NULL,
  anchors_json TEXT NOT NULL, -- pairs of a score and its meaning
  why TEXT NOT NULL,
  model TEXT NOT NULL,
  proposed_by TEXT NOT NULL,
  proposed_at TEXT NOT NULL,
  taken INTEGER CHECK (taken IN (0, 1)), -- the owner's decision; null until then
  decided_by TEXT,
  decided_at TEXT
) STRICT;
CREATE INDEX judge_wording_task ON judge_wording(task, id);
CREATE INDEX judge_wording_by_criterion ON judge_wording(criterion);
""")

WORDINGS = """
SELECT w.*, c.text AS criterion_text FROM judge_wording w JOIN criterion c ON c.id = w.criterion WHERE w.task = ?
"""


def add_wording(db: Database, task: int, wording: Wording) -> Wording:
    """Append a proposed wording; return the stored wording."""
    begin_use(db, "judge")
    added = insert(
        db, "judge_wording", task=task, criterion=wording.criterion, text=wording.text,
        anchors_json=to_json([list(pair) for pair in wording.anchors]), why=wording.why, model=wording.model,
        proposed_by=wording.proposed_by, proposed_at=now(),
    )  # fmt: skip
    stored = get_wording(db, task, added)
    assert stored is not None
    return stored


@empty_before_use("judge", lambda: None)
def get_wording(db: Database, task: int, wording: int) -> Wording | None:
    row = get_row(db, f"{WORDINGS} AND w.id = ?", [task, wording])
    return _wording(row) if row else None


@empty_before_use("judge", list)
def list_wordings(db: Database, task: int) -> list[Wording]:
    """Return every proposed wording for a task's criteria, oldest first."""
    return [_wording(row) for row in rows(db, f"{WORDINGS} ORDER BY w.id", [task])]


def decide_wording(db: Database, wording: int, by: str, *, taken: bool) -> None:
    """Record the decision on a wording, once."""
    values = {"taken": int(taken), "decided_by": by, "decided_at": now()}
    db.table("judge_wording").update(wording, values)


def _wording(row: dict[str, Any]) -> Wording:
    anchors = tuple((int(score), str(text)) for score, text in json.loads(row["anchors_json"]))
    taken = None if row["taken"] is None else bool(row["taken"])
    return Wording(
        row["criterion"], row["criterion_text"], row["text"], anchors, row["why"], row["model"],
        row["proposed_by"], row["proposed_at"], taken, row["id"],
    )  # fmt: skip
