"""The rules by which studies stop."""

from __future__ import annotations

from coeval.clock import now
from coeval.domain.studies import Measure, StoppingRule
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import insert


def list_stopping_rules(db: Database, task: int) -> list[StoppingRule]:
    """Every rule declared for a task, the newest first."""
    sql = "SELECT * FROM stopping_rule WHERE task = ? ORDER BY id DESC"
    return [
        StoppingRule(
            Measure(row["measure"]), row["width"], row["planned"], row["system_a"], row["system_b"],
            row["scores_then"], row["declared_by"], row["declared_at"],
        )
        for row in db.query(sql, [task])
    ]  # fmt: skip


def record_stopping_rule(db: Database, task: int, rule: StoppingRule, by: str) -> None:
    """Declare a rule; those before it stay."""
    insert(
        db, "stopping_rule", task=task, measure=str(rule.measure), width=rule.width, planned=rule.planned,
        system_a=rule.system_a, system_b=rule.system_b, scores_then=rule.scores_then, declared_by=by,
        declared_at=now(),
    )  # fmt: skip
