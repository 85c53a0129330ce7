"""Batch files carry all that a run has: what the model is to write first, and every parameter of the questions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Person, Study
from coeval.errors import InputError
from coeval.llm.running.batch_files import NAMED_LINES
from coeval.llm.running.ledger import Prices
from coeval.store.queries import drafts
from coeval.usecases.access import Context, require_task
from coeval.usecases.drafting import batch_files
from coeval.usecases.drafting.jobs import start_job
from coeval.usecases.drafting.model_requests import list_steps
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.study_import import import_study
from tests.support.models.stub_answers import default_reply


@pytest.fixture
def ready(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return owner


class Service:
    """A batch service in a folder: writes, answers and reads one file after the other."""

    def __init__(self, context: Context, person: Person, folder: Path) -> None:
        self.context, self.person, self.folder, self.n = context, person, folder, 0

    def write(self, settings: RunSettings) -> tuple[batch_files.Written, list[dict[str, Any]]]:
        self.n += 1
        out = self.folder / f"{self.n}.jsonl"
        written = asyncio.run(batch_files.write_questions(self.context, self.person, "demo", settings, out))
        return written, [json.loads(line) for line in out.read_text().splitlines()]

    def read(self, questions: list[dict[str, Any]]) -> batch_files.ResultsReport:
        results = self.folder / f"{self.n}-results.jsonl"
        results.write_text("\n".join(json.dumps(answer(question)) for question in questions))
        return asyncio.run(batch_files.read_results(self.context, self.person, [results], Prices()))


def answer(question: dict[str, Any], finish: str = "stop", **message: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": default_reply(question["body"])} | message
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": {}}
    return {"custom_id": question["custom_id"], "response": {"status_code": 200, "body": body}}


CUT_SHORT = [
    ("length", {"content": "Score: 1"}, "cut off at the token limit"),
    ("content_filter", {"content": "Score: 1"}, "declined to answer"),
    ("stop", {"content": "", "refusal": "Score: 1 is all that I may say."}, "declined to answer"),
]


@pytest.mark.parametrize(("finish", "message", "said"), CUT_SHORT)
def test_a_cut_filtered_or_refused_answer_of_a_batch_scores_nothing(
    context: Context, ready: Person, tmp_path: Path, finish: str, message: dict[str, str], said: str
) -> None:
    service = Service(context, ready, tmp_path)
    _, questions = service.write(RunSettings("m", "score-only", label="b", samples=1))
    results = tmp_path / "results.jsonl"
    results.write_text("\n".join(json.dumps(answer(question, finish, **message)) for question in questions))
    asyncio.run(batch_files.read_results(context, ready, [results], Prices()))
    with context.store.read() as db:
        drafted = "SELECT score, reason FROM draft d JOIN run r ON r.id = d.run WHERE r.label = 'b'"
        stored = [tuple(row) for row in db.conn.execute(drafted)]
    assert len(stored) == len(questions)
    assert all(score is None and "asked once" in reason and said in reason for score, reason in stored)


def test_steps_are_written_first_and_every_parameter_is_in_the_questions(
    context: Context, ready: Person, tmp_path: Path
) -> None:
    service = Service(context, ready, tmp_path)
    settings = RunSettings(
        "m", "score-only", label="b", steps=True, persona="evaluator", temperature=0.7, top_p=0.9, max_tokens=99,
        logprobs=True, samples=2,
    )  # fmt: skip
    written, steps = service.write(settings)
    assert written.helps and len(steps) == 2 and "give the same command again" in str(written)
    assert all("Write the steps" in str(question["body"]) for question in steps)
    report = service.read(steps)
    assert report.answered == 2 and not report.runs
    written, questions = service.write(settings)
    assert not written.helps and len(questions) == 16  # 4 instances x 2 criteria x 2 samples
    for question in questions:
        body = question["body"]
        assert (body["model"], body["temperature"], body["top_p"]) == ("m", 0.7, 0.9)
        assert body["logprobs"] is True and 99 in (body.get("max_tokens"), body.get("max_completion_tokens"))
        (turn,) = body["messages"]
        assert "careful human evaluator" in turn["content"]
        assert "1. Read the sample as a whole." in turn["content"]
    assert all(text.startswith("1. Read") for text in list_steps(context, ready, "demo").values())


def test_a_fusion_gets_its_plan_then_its_questions_with_scores(
    context: Context, ready: Person, tmp_path: Path
) -> None:
    service = Service(context, ready, tmp_path)
    settings = RunSettings("m", "fusion", label="fused", samples=1)
    written, plan = service.write(settings)
    assert written.helps and len(plan) == 1
    service.read(plan)
    written, questions = service.write(settings)
    assert len(questions) == 4
    for question in questions:
        asked = question["body"]["messages"][-1]["content"]
        assert (
            "## Plan\n1. Read the sample as a whole." in asked and "- TF-IDF cosine (0 to 1, neither" in asked
        )
    report = service.read(questions)
    assert [run.complete for run in report.runs] == [True]
    with context.store.read() as db:
        run = drafts.get_run(db, require_task(db, "demo").id, "fused")
    assert run is not None and str(run.params["plan"]).startswith("1. Read the sample")


def test_files_that_come_back_in_parts_are_read_by_one_command(
    context: Context, ready: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = Service(context, ready, tmp_path)
    _, questions = service.write(RunSettings("m", "score-only", label="b", samples=1))
    parts = [tmp_path / "r1.jsonl", tmp_path / "r2.jsonl"]
    for path, asked in zip(parts, (questions[:3], questions[3:]), strict=True):
        path.write_text("\n".join(json.dumps(answer(question)) for question in asked))
    other = tmp_path / "other.csv"
    other.write_text("no,results\n" * (NAMED_LINES + 20))
    report = asyncio.run(batch_files.read_results(context, ready, [*parts, other], Prices()))
    assert (report.answered, report.failed) == (len(questions), 0)
    assert [(run.done, run.complete) for run in report.runs] == [(len(questions), True)]
    # a file of another kind is counted, and not kept in memory line by line
    assert report.unreadable == NAMED_LINES + 20 and len(report.bad_lines) == NAMED_LINES
    assert report.bad_lines[0].startswith(f"{other}, line 1: ")
    again = asyncio.run(batch_files.read_results(context, ready, parts, Prices()))
    assert not again.runs
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM call").fetchone()[0] == len(questions)
        drafted = "SELECT count(*) FROM draft d JOIN run r ON r.id = d.run WHERE r.label = 'b'"
        assert db.conn.execute(drafted).fetchone()[0] == len(questions)


def test_a_run_that_waits_for_a_batch_keeps_its_settings(
    context: Context, ready: Person, tmp_path: Path
) -> None:
    service = Service(context, ready, tmp_path)
    service.write(RunSettings("m", "score-only", label="b", samples=1))
    with pytest.raises(InputError, match="another label"):
        start_job(context, ready, "demo", RunSettings("other", "score-only", label="b", samples=1))
    assert start_job(context, ready, "demo", RunSettings("other", "score-only", label="c", samples=1))


def test_a_batch_that_is_refused_keeps_no_other_from_its_drafts(
    context: Context, ready: Person, tmp_path: Path
) -> None:
    service = Service(context, ready, tmp_path)
    service.write(RunSettings("m", "score-only", label="early", samples=1))
    _, questions = service.write(RunSettings("m", "score-only", label="late", samples=1))
    with context.store.write() as db:
        db.conn.execute("UPDATE run SET model = 'other' WHERE label = 'early'")
    report = service.read(questions)
    assert [run.label for run in report.runs if run.complete] == ["late"]
    (refused,) = report.refused
    assert "another model" in refused and refused in str(report)
