"""A run of decisions in a study: one request for an instance, an estimate, explanations, and everything after it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Person, RowKind, Study
from coeval.errors import InputError
from coeval.extensions.labelling.design import ANSWERS, list_items
from coeval.llm.running.ledger import Prices
from coeval.settings import load_settings
from coeval.store.queries import drafts
from coeval.usecases.access import Context, require_task
from coeval.usecases.drafting import batch_files, preparation
from coeval.usecases.drafting.execution import RunReport, run_drafting
from coeval.usecases.drafting.model_requests import suggest_decisions
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.reports.statistics import get_statistic
from coeval.usecases.study_import import import_study
from tests.support.models.openai_stub import Stub, start_stub
from tests.support.models.real_model import RealModel

SETTINGS = RunSettings("m", "decision", label="decided")


@pytest.fixture
def ready(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, replace(study, runs=()))
    return owner


def draft(context: Context, person: Person, stub: Stub, settings: RunSettings = SETTINGS) -> RunReport:
    asked = replace(context, settings=load_settings({"OPENAI_BASE_URL": stub.url}))
    return asyncio.run(run_drafting(asked, person, "demo", settings))


def stored(context: Context) -> list[tuple[float, list[float], str, set[RowKind]]]:
    """Score, probabilities, rule, and kinds of rows of each draft."""
    decided = "FROM draft d JOIN run r ON r.id = d.run AND r.label = 'decided'"
    with context.store.read() as db:
        rows = db.conn.execute(f"SELECT d.id, d.score, d.probabilities_json, d.rung {decided}").fetchall()
        kinds: dict[int, set[RowKind]] = {}
        for number, kind in db.conn.execute(
            f"SELECT d.id, l.kind {decided} JOIN draft_row l ON l.draft = d.id"
        ):
            kinds.setdefault(number, set()).add(RowKind(kind))
    return [(score, json.loads(chances), rule, kinds[number]) for number, score, chances, rule in rows]


def test_one_request_decides_an_instance_and_nothing_is_paid_twice(context: Context, ready: Person) -> None:
    with start_stub(decides=True) as stub:
        report = draft(context, ready, stub)
        assert report.complete and (report.usage.calls, report.drafted) == (4, 8)
        assert all(len(body["questions"]) == 2 for body in stub.bodies)
        assert draft(context, ready, stub).total == 0
        replayed = draft(context, ready, stub, replace(SETTINGS, label="again", replay=True))
        assert (replayed.usage.calls, replayed.usage.cached) == (0, 4) and stub.received == 4
    for score, probabilities, rule, kinds in stored(context):
        assert sum(probabilities) == pytest.approx(1) and rule == "decision" and kinds == {RowKind.SCORE}
        assert score == pytest.approx(sum(step * p for step, p in enumerate(probabilities, 1)))


def test_an_estimate_and_the_shown_question_hold_the_decisions(context: Context, ready: Person) -> None:
    with start_stub(decides=True) as stub:
        asked = replace(context, settings=load_settings({"OPENAI_BASE_URL": stub.url}))
        settings = replace(SETTINGS, prices=Prices(1.0, 10.0))
        before = preparation.estimate_run(asked, ready, "demo", settings)
        assert (
            (before.calls, before.completion_tokens) == (4, 0)
            and before.prompt_tokens > 400
            and before.cost > 0
        )
        draft(context, ready, stub, replace(settings, limit=4))
        after = preparation.estimate_run(asked, ready, "demo", settings)
        assert (after.calls, after.completion_tokens) == (2, 0)
        shown = str(preparation.show_question(asked, ready, "demo", settings))
    assert "--- score c1 ---" in shown and "Use simple words." in shown and "highest: meets it fully" in shown


@pytest.mark.parametrize("explain", ["all", "uncertain"])
def test_explanations_are_asked_for_where_the_settings_say(
    context: Context, ready: Person, explain: str
) -> None:
    with start_stub(decides=True) as stub:
        report = draft(context, ready, stub, replace(SETTINGS, explain=explain, explain_model="chatty"))
    asked = [body for body in stub.bodies if "messages" in body]
    assert report.complete and {body["model"] for body in asked} == {"chatty"}
    explained = [{RowKind.CONCLUSION, RowKind.EVIDENCE} <= kinds for *_, kinds in stored(context)]
    assert sum(explained) == len(asked) and 0 < sum(explained) <= 8
    if explain == "all":
        assert all(explained)
    for score, probabilities, _, _ in stored(context):
        assert score == pytest.approx(sum(step * p for step, p in enumerate(probabilities, 1)))


def test_decisions_are_not_written_to_batch_files(context: Context, ready: Person, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Typed decisions cannot be sent in batch files"):
        asyncio.run(batch_files.write_questions(context, ready, "demo", SETTINGS, tmp_path / "q.jsonl"))
    assert not list(tmp_path.glob("q*"))


@pytest.mark.slow
def test_an_endpoint_that_lists_decisions_is_recommended(
    context: Context, ready: Person, real_model: RealModel
) -> None:
    settings = load_settings({"OPENAI_BASE_URL": real_model.url, "COEVAL_MODEL": real_model.name})
    asked = replace(context, settings=settings)
    said = suggest_decisions(asked, ready, RunSettings())
    assert said.startswith(f"{real_model.url} gives typed decisions for {real_model.name}")
    assert suggest_decisions(asked, ready, SETTINGS) == ""
    report = asyncio.run(run_drafting(asked, ready, "demo", replace(SETTINGS, model=real_model.name)))
    assert report.complete and report.usage.calls == 4 and len(stored(context)) == 8


def test_labels_are_drawn_by_the_spread_of_the_decisions(context: Context, ready: Person) -> None:
    with start_stub(decides=True) as stub:
        draft(context, ready, stub)
    items = get_statistic(context, ready, "demo", list_items)
    assert items.source == ANSWERS and all(uncertainty > 0 for uncertainty in items.uncertainty)
    with context.store.read() as db:
        run = drafts.get_run(db, require_task(db, "demo").id, "decided")
    assert run is not None and run.protocol == "decision"
