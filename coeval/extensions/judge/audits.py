"""Audit a judge of a task against people's scores of the dev part, and let its probabilities decide whom to ask."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.domain import Answer, Call, CriteriaSet, Instance, Person, Request, Run, Task
from coeval.domain.runs import RunExample
from coeval.errors import InputError, UnansweredError
from coeval.extending import load_parts
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.fit import build_judges, choose_labels, choose_run, require_criteria
from coeval.extensions.judge.judge_export import rebuild_protocol
from coeval.extensions.judge.learning.audit import (
    CriterionAudit,
    audit_judge,
    find_chances,
    find_mark,
    tell_audit,
)
from coeval.extensions.judge.learning.biases import PAIR, Bias, find_biases
from coeval.extensions.judge.seal import require_seal
from coeval.extensions.judge.seal_types import Part
from coeval.llm.client.completions import answer_of
from coeval.stats.estimates import spell
from coeval.store.queries import criteria, drafts, tasks
from coeval.store.queries.calls import StoredLedger
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case
from coeval.usecases.drafting.preparation import Beside

MOST = 50
"""Largest number of outputs whose requests are looked up in the ledger."""
UNIT = 1_000
"""The number of outputs that a cost is for."""


@dataclass(frozen=True)
class Cost:
    """The cost of ``UNIT`` outputs on all criteria, from the ledger's requests for ``outputs`` of them.

    Figures are None if the ledger has no such requests; ``reason`` then says why. ``money`` is in the currency of the
    prices, and None if no price was given. ``minutes`` is people's active time for as many outputs, if it is known.
    """

    outputs: int = 0
    requests: float | None = None
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    money: float | None = None
    minutes: float | None = None
    reason: str = ""

    def __str__(self) -> str:
        people = (
            f"A person takes {self.minutes:,.0f} active minutes for {UNIT:,} outputs."
            if self.minutes is not None
            else "People's active time is not recorded."
        )
        if self.requests is None:
            return f"Its cost is not recorded, because {self.reason}. {people}"
        money = (
            f"{self.money:,.2f} at the prices of the run" if self.money is not None else "no price was given"
        )
        return (
            f"For {UNIT:,} outputs on all criteria, it takes {self.requests:,.0f} requests, {self.prompt_tokens:,.0f} "
            f"prompt tokens and {self.completion_tokens:,.0f} completion tokens ({money}; from the requests for "
            f"{self.outputs:,} outputs). {people}"
        )


@dataclass(frozen=True)
class Audit:
    """The audit of one run. ``leaned`` is True if people saw a draft when they gave these scores."""

    run: str
    leaned: bool
    criteria: list[CriterionAudit]
    biases: list[Bias]
    cost: Cost

    @property
    def sentences(self) -> list[str]:
        """Return the audit as sentences, without the biases."""
        warning = "People saw a draft when they gave these scores, so the judge looks better here than it is."
        return [warning] * self.leaned + [*tell_audit(self.criteria), str(self.cost)]

    @property
    def labels(self) -> int | None:
        """Return the number of outputs to label so that every criterion has enough; None without probabilities."""
        active = [audit.labels.active for audit in self.criteria if audit.labels.active is not None]
        return max(active, default=None)

    def describe(self) -> Any:
        """Return the audit in JSON types."""
        parts = {name: getattr(self, name) for name in ("run", "leaned", "criteria", "biases", "cost")}
        return spell(parts)


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
        runs = tuple(drafts.list_runs(db, task.id))
        chosen_run = choose_run(runs, run, slug)
        people = queries_seal.list_dev_labels(db, task.id, current.id, seal)
        judged = queries_seal.list_judged(db, task.id, current.id, seal, Part.DEV)
        instances = {each.external_id: each for each in tasks.list_instances(db, task.id)}
        examples = criteria.list_run_examples(db, task.id).get(chosen_run.id, ())
        model = chosen_run.model
        alike = [r.label for r in runs if r.id == chosen_run.id or model and r.model == model]
        pairs = pd.DataFrame(queries_seal.list_pairs(db, task.id, alike), columns=[*PAIR, "preference"])
        minutes = queries_seal.mean_minutes(db, task.id, current.id, seal)
    chosen = choose_labels(people, judged, current)
    audits = audit_judge(chosen.labels, chosen_run.label, cut=cut, judged=len(instances), even=seal.share)
    if not audits:
        raise InputError(
            f"People and the run “{chosen_run.label[:80]}” scored no line of the dev part in common."
        )
    outputs = {name: each.output for name, each in instances.items()}
    names = list(dict.fromkeys(line.instance for line in judged if line.judge == chosen_run.label))
    sample = [instances[name] for name in names[:: max(len(names) // MOST, 1)][:MOST]]
    return Audit(
        chosen_run.label,
        chosen.leaned,
        audits,
        find_biases(chosen.labels, chosen_run.label, model, outputs, pairs),
        _find_cost(context, task, current, chosen_run, examples, sample, minutes),
    )


def _find_cost(
    context: Context,
    task: Task,
    current: CriteriaSet,
    run: Run,
    examples: Sequence[RunExample],
    sample: Sequence[Instance],
    minutes: float | None,
) -> Cost:
    """Return a run's cost. Its questions are repeated with answers from the ledger, so no model is called."""
    minutes = None if minutes is None else minutes * UNIT
    try:
        beside = Beside(rebuild_protocol(task, current, run), examples)
    except InputError:
        return Cost(minutes=minutes, reason="the run was imported, or its prompts no longer exist here")
    ledger, endpoint = StoredLedger(context.store), str(run.params.get("endpoint", ""))

    async def recall(instance: Instance) -> list[Call]:
        calls: dict[tuple[str, int], Call] = {}

        async def ask(request: Request, number: int) -> Answer:
            call = ledger.get_answer(request.hash, number, endpoint)
            if call is None:
                raise UnansweredError("The ledger has no such answer.")
            calls[request.hash, number] = call
            return answer_of(call)

        protocol = beside(instance)
        try:
            for item in protocol.group((instance.id, number) for number in protocol.brief.criteria):
                await protocol.judge(ask, item, instance)
        except UnansweredError:
            return []
        return list(calls.values())

    async def recall_all() -> list[list[Call]]:
        return [calls for instance in sample if (calls := await recall(instance))]

    recalled = asyncio.run(recall_all())
    if not recalled:
        return Cost(minutes=minutes, reason="the ledger of this study has no requests of the run")
    calls, share = [call for each in recalled for call in each], UNIT / len(recalled)
    return Cost(
        len(recalled),
        len(calls) * share,
        sum(call.prompt_tokens for call in calls) * share,
        sum(call.completion_tokens for call in calls) * share,
        sum(call.cost for call in calls) * share or None,
        minutes,
    )


def can_draw() -> bool:
    """Return whether an extension can draw outputs for people."""
    return bool(load_parts("label_draws"))


@use_case(OWNERS)
def draw_by_audit(
    context: Context, person: Person, slug: str, labels: int, run: str = "", cut: float | None = None
) -> None:
    """Draw outputs to label, with known probabilities; in the dev part, they follow the judge's uncertainty.

    An output's uncertainty is the standard deviation of the judge's own verdict, as a root mean square over criteria.
    Sealed outputs have equal probabilities, because a certificate counts their labels equally.

    Args:
        labels: the number of outputs to draw.
        run, cut: see ``audit_run``.

    Raises:
        NotFoundError: see ``audit_run``.
        InputError: the run gives no probabilities, no extension draws outputs, or the number is out of range.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        seal, current = require_seal(db, task.id, slug), require_criteria(db, task)
        label = choose_run(tuple(drafts.list_runs(db, task.id)), run, slug).label
        lines = queries_seal.list_judged(db, task.id, current.id, seal, Part.DEV)
    judged = build_judges(line for line in lines if line.judge == label)
    uncertainty = _find_uncertainty(judged, current, cut)
    if not uncertainty:
        raise InputError(
            f"The run “{label[:80]}” gives no probabilities to draw with: draft with decisions or log-probabilities."
        )
    draws = load_parts("label_draws")
    if not draws:
        raise InputError("No extension that draws outputs for people is installed.")
    draws[0](context, person, slug, labels, uncertainty)


def _find_uncertainty(judged: pd.DataFrame, current: CriteriaSet, cut: float | None) -> Mapping[str, float]:
    variances = []
    for criterion in current.criteria:
        rows = judged[judged["criterion"] == criterion.text]
        chance = find_chances(rows, criterion.scale, find_mark(criterion.scale, cut))
        variances.append(pd.Series(chance * (1 - chance), index=rows["instance"], dtype=float))
    mean = pd.concat(variances).dropna().groupby(level=0).mean()
    return {str(name): float(sd) for name, sd in np.sqrt(mean).items()}
