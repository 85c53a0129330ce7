"""Audit a judge of a task against people's scores of the dev part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.fit import choose_labels, choose_run, require_criteria
from coeval.extensions.judge.learning.audit import (
    Bias,
    CriterionAudit,
    audit_judge,
    find_biases,
    tell_audit,
)
from coeval.extensions.judge.seal import require_seal
from coeval.extensions.judge.seal_types import Part
from coeval.stats.estimates import spell
from coeval.store.queries import drafts, tasks
from coeval.usecases.access import TEAM, Context, require_task, use_case


@dataclass(frozen=True)
class Audit:
    """The audit of one run. ``leaned`` is True if people saw a draft when they gave these scores."""

    run: str
    leaned: bool
    criteria: list[CriterionAudit]
    biases: list[Bias]

    @property
    def sentences(self) -> list[str]:
        """Return the audit in sentences."""
        warning = "People saw a draft when they gave these scores, so the judge looks better here than it is."
        return [warning] * self.leaned + tell_audit(self.criteria, self.biases)

    def describe(self) -> Any:
        """Return the audit in JSON types."""
        return spell(
            {"run": self.run, "leaned": self.leaned, "criteria": self.criteria, "biases": self.biases}
        )


@use_case(TEAM)
def audit_run(context: Context, person: Person, slug: str, run: str = "", cut: float | None = None) -> Audit:
    """Return the audit of a run against people's scores of the dev part; it reads no sealed score.

    Args:
        run: its label, or "" for the run that annotators see.
        cut: the lowest passing score; by default the middle of each scale.

    Raises:
        NotFoundError: the task is not sealed, or has no criteria or no run.
        InputError: there is no such run, or people and the run scored no line of the dev part.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        seal, current = require_seal(db, task.id, slug), require_criteria(db, task)
        chosen_run = choose_run(tuple(drafts.list_runs(db, task.id)), run, slug)
        given = queries_seal.list_dev_labels(db, task.id, current.id, seal)
        judged = queries_seal.list_judged(db, task.id, current.id, seal, Part.DEV)
        outputs = {one.external_id: one.output for one in tasks.list_instances(db, task.id)}
    chosen = choose_labels(given, judged, current)
    audits = audit_judge(chosen.labels, chosen_run.label, cut=cut, judged=len(outputs))
    if not audits:
        raise InputError(
            f"People and the run “{chosen_run.label[:80]}” scored no line of the dev part in common."
        )
    biases = find_biases(chosen.labels, chosen_run.label, chosen_run.model, outputs)
    return Audit(chosen_run.label, chosen.leaned, audits, biases)
