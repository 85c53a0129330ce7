"""Examples in the prompts of a run, and clearer wordings of criteria.

The core uses examples and counts votes on wordings, whatever extension proposed them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from coeval.clock import now
from coeval.domain.runs import RunExample, Wording
from coeval.store.engines.database import Database, get_row, insert, rows, to_json


def record_examples(db: Database, run: int, base: int, examples: Sequence[tuple[str, str]]) -> None:
    """Store the examples in a run's prompts: (document, example as JSON), in this order."""
    db.table("run_example").insert_all(
        {"run": run, "position": n, "base": base, "document": document, "example_json": text}
        for n, (document, text) in enumerate(examples, 1)
    )


def list_run_examples(db: Database, task: int) -> dict[int, tuple[RunExample, ...]]:
    """Return the examples of those runs of a task that have any."""
    found: dict[int, tuple[RunExample, ...]] = {}
    sql = (
        "SELECT e.* FROM run_example e JOIN run r ON r.id = e.run WHERE r.task = ? ORDER BY e.run, e.position"
    )
    for row in rows(db, sql, [task]):
        one = RunExample(row["base"], row["document"], row["example_json"])
        found[row["run"]] = (*found.get(row["run"], ()), one)
    return found


WORDINGS = """
SELECT w.*, c.text AS criterion_text, d.taken FROM wording w JOIN criterion c ON c.id = w.criterion
LEFT JOIN wording_decision d ON d.wording = w.id WHERE w.task = ?
"""


def add_wording(db: Database, task: int, wording: Wording) -> Wording:
    """Append a proposed wording; return the stored wording."""
    added = insert(
        db, "wording", task=task, criterion=wording.criterion, text=wording.text,
        anchors_json=to_json([list(pair) for pair in wording.anchors]), why=wording.why, model=wording.model,
        proposed_by=wording.proposed_by, proposed_at=now(),
    )  # fmt: skip
    stored = get_wording(db, task, added)
    assert stored is not None
    return stored


def get_wording(db: Database, task: int, wording: int) -> Wording | None:
    row = get_row(db, f"{WORDINGS} AND w.id = ?", [task, wording])
    return _wording(row) if row else None


def list_wordings(db: Database, task: int) -> list[Wording]:
    """Return every proposed wording for a task's criteria, oldest first."""
    return [_wording(row) for row in rows(db, f"{WORDINGS} ORDER BY w.id", [task])]


def decide_wording(db: Database, wording: int, by: str, *, taken: bool) -> None:
    """Record the decision on a wording, once."""
    insert(db, "wording_decision", wording=wording, taken=int(taken), decided_by=by, decided_at=now())


def _wording(row: dict[str, Any]) -> Wording:
    anchors = tuple((int(score), str(text)) for score, text in json.loads(row["anchors_json"]))
    taken = None if row["taken"] is None else bool(row["taken"])
    return Wording(
        row["criterion"], row["criterion_text"], row["text"], anchors, row["why"], row["model"],
        row["proposed_by"], row["proposed_at"], taken, row["id"],
    )  # fmt: skip
