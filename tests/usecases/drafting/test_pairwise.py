"""Comparisons of two outputs, from the question to the report: both orders, ties, unread ones, batch files."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from coeval import judge_frame
from coeval.domain import Person, Study
from coeval.errors import InputError
from coeval.llm.running.ledger import Prices
from coeval.settings import load_settings
from coeval.usecases.access import Context
from coeval.usecases.drafting import batch_files
from coeval.usecases.drafting.execution import describe_forms, run_drafting
from coeval.usecases.drafting.preparation import estimate_run, show_question
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import get_task_state
from tests.support.models.openai_stub import Body, Reply, Stub, start_stub
from tests.usecases.exported import read_export

PAIRS = RunSettings(model="m", protocol="pairwise", label="pairs")


def outputs(body: Body) -> list[str]:
    asked = "\n".join(str(message["content"]) for message in body["messages"])
    return re.findall(r'<sample_output name="Output [AB]">\n(.*?)\n</sample_output>', asked, re.S)


def prefers_b(body: Body) -> str:
    """System b, but in document 2 whatever stands first, and no answer about truth there."""
    first, second = outputs(body)
    if "answer 2" in first:
        return "I would rather not." if "Be true" in str(body) else "Analysis: the first.\nPreference: A"
    return f"Analysis: compared.\nPreference: {'A' if 'of b' in first else 'B'}"


def connected(context: Context, stub: Stub) -> Context:
    return replace(context, settings=replace(context.settings, base_url=stub.url, api_key="key", timeout=5.0))


@pytest.fixture
def ready(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return owner


def test_every_pair_is_compared_in_both_orders_and_reported(context: Context, ready: Person) -> None:
    assert "about 8 calls" in str(
        estimate_run(context, ready, "demo", PAIRS)
    )  # 2 documents x 2 orders x 2 criteria
    shown = str(show_question(context, ready, "demo", PAIRS))
    assert shown.index("Output A") < shown.index("Output B") < shown.index("Use simple words.")
    with start_stub(prefers_b) as stub:
        there = connected(context, stub)
        report = asyncio.run(run_drafting(there, ready, "demo", PAIRS))
        assert (report.total, report.drafted, report.unscored) == (8, 8, 2)
        assert report.forms[0] == "25% in no form; 25% after asking again; answers by schema: off."
        again = asyncio.run(run_drafting(there, ready, "demo", PAIRS))
        assert again.total == 0 and stub.paid == 10  # the two that could not be read were asked twice
        stub.reply = lambda body: "Preference: tie"
        retried = asyncio.run(run_drafting(there, ready, "demo", replace(PAIRS, retry_unscored=True)))
        assert (retried.total, retried.unscored) == (2, 0)
        assert describe_forms(there, ready, "demo", "pairs")[0].startswith("0% in no form")
    assert not next(
        run for run, _, _ in get_task_state(context, ready, "demo").runs if run.label == "pairs"
    ).shown
    rows = [row for row in read_export(context, ready, "comparisons.csv") if row["preference"]]
    assert {(row["first"], row["second"]) for row in rows} == {
        ("1a", "1b"),
        ("1b", "1a"),
        ("2a", "2b"),
        ("2b", "2a"),
    }
    (run,) = get_report(context, ready, "demo")["pairwise"]
    plain, true, pooled = run["by"]
    assert [part["criterion"] for part in run["by"]] == ["Use simple words.", "Be true.", "all criteria"]
    # by simple words: document 1 prefers b both ways; document 2 what stands first
    assert (plain["n"], plain["ties"], plain["both_ways"], plain["same_both_ways"]) == (4, 0, 2, 1)
    assert plain["first_share"]["value"] == 0.75 and [one["system"] for one in plain["systems"]] == ["b", "a"]
    assert plain["systems"][0]["win_rate"] == 0.75 and plain["systems"][0]["strength"]["value"] > 0
    assert true["ties"] == 2 and true["unread"] == 0
    assert (
        pooled["n"] == 8
        and pooled["systems"][0]["strength"]["ci_low"] < pooled["systems"][0]["strength"]["value"]
    )


def test_a_batch_file_carries_comparisons(context: Context, ready: Person, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    written = asyncio.run(batch_files.write_questions(context, ready, "demo", PAIRS, out))
    assert written.written == 8
    lines = []
    for line in out.read_text().splitlines():
        question = json.loads(line)
        message = {"role": "assistant", "content": prefers_b(question["body"])}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {}}
        response = {"status_code": 200, "body": body}
        lines.append(json.dumps({"custom_id": question["custom_id"], "response": response}))
    results = tmp_path / "results.jsonl"
    results.write_text("\n".join(lines))
    report = asyncio.run(batch_files.read_results(context, ready, [results], Prices()))
    assert report.answered == 8 and len(read_export(context, ready, "comparisons.csv")) == 8


def test_what_cannot_be_compared_is_said(context: Context, owner: Person, study: Study) -> None:
    lonely = tuple(replace(one, document="") for one in study.instances)
    import_study(context, owner, replace(study, instances=lonely))
    with pytest.raises(InputError, match="no document has two outputs"):
        asyncio.run(run_drafting(context, owner, "demo", replace(PAIRS, replay=True)))


def test_a_table_is_compared_too(tmp_path: Path) -> None:
    table = pd.DataFrame({"input": ["Q"] * 2, "output": ["of a", "of b"], "document": ["d"] * 2})
    with start_stub(prefers_b) as stub:
        settings = load_settings({"OPENAI_BASE_URL": stub.url})
        options: dict[str, Any] = {"settings": settings, "ledger": tmp_path / "l.db", "progress": False}
        compared = judge_frame(table, ["Be true."], "m", protocol="pairwise", samples=3, **options)
        stub.reply = lambda body: Reply(text="Preference: A\nIt is", finish_reason="content_filter")
        declined = judge_frame(table, ["Be brief."], "m", protocol="pairwise", **options)
    assert compared[["instance", "other", "score"]].values.tolist() == [["0", "1", 0.0], ["1", "0", 1.0]]
    assert compared.samples[0] == (0.0, 0.0, 0.0) and set(compared.rung) == {"label"}
    assert declined.score.isna().all() and declined.reason.str.contains("declined to answer").all()
