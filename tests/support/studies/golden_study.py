"""Three small studies that come out the same at every run: the two that ship, and one with everything on."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coeval import clock
from coeval.domain import Action, Person, Plan, Proposal, RowKind, Vote
from coeval.rules.arms import Design
from coeval.rules.evaluation_rows import AddedRow, Sent, SentRow
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.criteria_rounds import cast_ballot, get_criteria_set, open_round
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.scrutiny import steps
from coeval.usecases.scrutiny.navigation import Filter, Where
from coeval.usecases.scrutiny.review import adjudicate
from coeval.usecases.sessions import sign_in
from tests.support.models.openai_stub import start_stub
from tests.support.studies.planted_study import admit, open_planted_study
from tests.support.studies.scrutiny_steps import here

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WORKERS = ("Ada", "Bea", "Cem", "Dov")
REASON = "The text says otherwise."


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.moment = START

    def move(self, seconds: int) -> None:
        self.moment += timedelta(seconds=seconds)


def freeze(patch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock, the random tokens and the random ids by ones that count."""
    frozen, numbers = Clock(), itertools.count(1)
    draws: tuple[tuple[Any, str, Any], ...] = (
        (clock, "utc_now", lambda: frozen.moment),
        (secrets, "token_hex", lambda n=32: f"{next(numbers):0{2 * n}x}"),
        (secrets, "token_bytes", lambda n=32: next(numbers).to_bytes(n, "big")),
        (secrets, "token_urlsafe", lambda n=32: f"{next(numbers):0{n}d}"),
        (uuid, "uuid4", lambda: uuid.UUID(int=next(numbers))),
    )
    ours = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "coeval"]
    for home, name, counted in draws:
        true = getattr(home, name)
        patch.setattr(home, name, counted)
        for module in ours:
            if vars(module).get(name) is true:
                patch.setattr(module, name, counted)
    return frozen


def fill_everything(context: Context, frozen: Clock) -> list[tuple[Person, str]]:
    """A crowd study with all arms, planted errors, attention checks and two judges; the workers with their tokens."""
    owner, _ = sign_in(context, "Olu")  # whoever comes first is the owner
    design = Design(blind_share=0.25, first_share=0.2, planted_share=0.2)
    open_planted_study(context, 12, 2, design, Plan(per_instance=2, batch=4, quota=6))
    with context.store.write() as db:  # two outputs for one input, to be compared
        db.conn.execute("UPDATE instance SET document = 'd0' WHERE external_id = 'q1'")
    _draft_again(context)
    people = [admit(context, name) for name in WORKERS]
    for number, (person, _) in enumerate(people):
        for turn in range(8):
            step = steps.get_step(context, person, "demo")
            if step.instance is None:
                break
            frozen.move(10 + 7 * turn)
            steps.submit(context, person, "demo", _decide(step, number, turn))
            if step.awaits_first:
                step = steps.get_step(context, person, "demo", here(step))
                frozen.move(20)
                steps.submit(context, person, "demo", _decide(step, number, turn))
        if number == 0:  # the instance that was just judged
            shown = steps.get_step(context, person, "demo", Where(Filter.ALL, position=1)).instance
            assert shown
            steps.mark_instance(context, person, "demo", shown.id, flagged=True, comment="Look here.")
    _decide_and_vote(context, owner, [person for person, _ in people])
    return people


def _decide_and_vote(context: Context, owner: Person, people: list[Person]) -> None:
    """One score is decided by an owner, and the next version of the criteria is at the vote."""
    criterion = get_criteria_set(context, OPERATOR, "demo").criteria[0]
    adjudicate(context, owner, "demo", "q1", criterion.id, score=4, note="Both have a point.")
    state = open_round(context, owner, "demo", [Proposal("Name the sources."), Proposal("Be short.")])
    for number, person in enumerate(people[:2]):
        votes = [Vote(Action.APPROVE, one.id) for one in state.proposals]
        if number:
            votes[1] = Vote(Action.REVISE, state.proposals[1].id, REASON, "Keep it short.")
        cast_ballot(context, person, "demo", 0, votes)


FUSED = (
    "[1] Score: 4 Explanation: Plain.\n[2] Score: 2 Explanation: Wrong.\n"
    "[Overall] Score: 3 Explanation: Mixed."
)


def _draft_again(context: Context) -> None:
    """Draft with a second judge, in pairs, and with all criteria in one question."""
    for answer, settings in (
        ("Rating: 3", RunSettings(protocol="score-only", concurrency=1)),
        ("Preference: A", RunSettings(protocol="pairwise", concurrency=1)),
        (FUSED, RunSettings(protocol="fusion", ablation=True, samples=1, concurrency=1)),
    ):
        with start_stub(lambda body, answer=answer: answer) as stub:
            model = replace(context.settings, base_url=stub.url, model="stub-model", api_key="no-key")
            drafting = run_drafting(replace(context, settings=model), OPERATOR, "demo", settings)
            with ThreadPoolExecutor(1) as apart:
                apart.submit(asyncio.run, drafting).result()


def _decide(step: steps.Step, number: int, turn: int) -> Sent:
    """All four actions in turn: most lines are approved, some deleted, revised or added."""
    assert step.instance and step.criterion
    shown = [row for row in (step.draft.rows if step.draft else ()) if row.kind is not RowKind.SCORE]
    rows = [SentRow(row.id, Action.APPROVE) for row in shown]
    if rows and turn % 3 == 1:
        rows[-1] = SentRow(shown[-1].id, Action.DELETE, reason=REASON)
    if rows and turn % 3 == 2:
        rows[0] = SentRow(shown[0].id, Action.REVISE, reason=REASON, new_text="It reads well.")
    more = turn % 4 == 3 and not step.awaits_first
    return Sent(
        uid=f"golden-{number}-{step.instance.id}-{step.criterion.id}-{int(step.awaits_first)}",
        instance=step.instance.id,
        criterion=step.criterion.id,
        draft=step.draft.id if step.draft else None,
        revision=step.saved.revision if step.saved else 0,
        score=float(1 + (step.instance.id * 2 + step.criterion.id + number * (turn % 2)) % 5),
        rows=() if step.awaits_first else tuple(rows),
        added=(AddedRow(RowKind.EVIDENCE, "It also says more.", REASON),) if more else (),
        first=step.awaits_first,
    )
