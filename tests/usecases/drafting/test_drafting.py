"""Drafting end to end against a stub that answers as models do: well, fenced, in prose, with 429, and with junk."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from coeval.cli.commands import build_parser
from coeval.domain import DraftStatus, Job, JobState, Person, Study
from coeval.errors import InputError, ModelError, NotFoundError, UnreachableError
from coeval.llm.running import runner
from coeval.llm.running.ledger import Prices
from coeval.llm.running.progress import Meter, Usage
from coeval.llm.running.runner import Patience
from coeval.store.queries import calls, drafts, jobs, tasks
from coeval.ui.app.step_json import step_json
from coeval.ui.components.next_step import find_next, list_steps, next_view
from coeval.usecases.access import Context
from coeval.usecases.drafting import batch_files, execution
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.jobs import (
    BATCH,
    KIND,
    Worker,
    cancel_job,
    draft_line,
    list_jobs,
    mark_interrupted,
    start_job,
)
from coeval.usecases.drafting.preparation import estimate_run, show_question
from coeval.usecases.drafting.run_settings import RunSettings, read_run_settings
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import get_task_state, show_run
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply
from tests.usecases.exported import read_export


def connected(context: Context, stub: Stub) -> Context:
    return replace(context, settings=replace(context.settings, base_url=stub.url, api_key="key", timeout=5.0))


@pytest.fixture
def ready(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return owner


def latest(context: Context, label: str) -> list[Any]:
    with context.store.read() as db:
        task = tasks.get_task(db, "demo")
        run = drafts.get_run(db, task.id, label)
        found = [
            drafts.get_current_draft(db, run.id, one.id, criterion)
            for one in tasks.list_instances(db, task.id)
            for criterion in (1, 2)
        ]
    return [one for one in found if one is not None]


def test_answers_of_every_kind_become_drafts_or_say_why_not(context: Context, ready: Person) -> None:
    good = json.dumps(
        {"conclusion": "It does.", "score": 4, "evidence": [{"quote": "The answer", "remark": "plain"}]}
    )
    kinds = [
        good,
        f"```json\n{good}\n```",
        "Conclusion: it does.\nScore: 2\nEvidence:\n- “The answer” is plain.",
        "junk",
    ]
    seen: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str | Reply:
        prompt = json.dumps(body["messages"][:2])
        seen[prompt] += 1
        if seen[prompt] == 1 and len(seen) == 1:
            return Reply(status=429, message="slow down", headers={"Retry-After": "0"})
        return kinds[sorted(seen).index(prompt) % 4] if "junk" not in prompt else "junk"

    with start_stub(reply) as stub:
        there = connected(context, stub)
        report = asyncio.run(run_drafting(there, ready, "demo", RunSettings(label="mixed", concurrency=1)))
        assert report.complete and report.total == 8
        made = latest(context, "mixed")
        assert len(made) == 8
        for one in made:
            assert (one.score is None) == (one.status is DraftStatus.UNSCORED)
            assert one.status is DraftStatus.OK or (one.reason and "junk" in one.raw)
        paid = stub.paid
        again = asyncio.run(run_drafting(there, ready, "demo", RunSettings(label="mixed", concurrency=1)))
        assert again.total == 0 and stub.paid == paid  # nothing is asked twice


def test_half_an_emoji_in_an_answer_stops_nothing(context: Context, ready: Person) -> None:
    """Once the ledger held such an answer, every later try of the run failed on it and paid again."""
    half = '{"conclusion": "Fine \\ud83d", "score": 4, "evidence": [{"quote": "\\ude00", "remark": ""}]}'
    with start_stub(lambda body: half) as stub:
        report = asyncio.run(run_drafting(connected(context, stub), ready, "demo", RunSettings(label="half")))
    assert report.complete and report.unscored == 0
    assert {draft.rows[0].text for draft in latest(context, "half")} == {"Fine \ufffd"}


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), [(tasks, "get_instance"), (calls, "get_answer")])
def test_a_reading_that_the_restart_of_the_database_cuts_off_is_tried_again(
    context: Context, ready: Person, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    real, asked = getattr(module, name), Counter[str]()

    def read(*given: Any) -> Any:
        asked[name] += 1
        if asked[name] == 3:
            raise UnreachableError("The server closed the connection.")
        return real(*given)

    monkeypatch.setattr(module, name, read)
    with start_stub(default_reply) as stub:
        report = asyncio.run(run_drafting(connected(context, stub), ready, "demo", RunSettings(label="cut")))
        assert (report.complete, report.done, stub.paid) == (True, 8, 8), report
    assert asked[name] > 3


def test_a_draft_that_cannot_be_stored_becomes_unscored_and_holds_no_other_up(
    context: Context, ready: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = drafts.record_draft

    def record(db: Any, run: int, draft: Any) -> int:
        if draft.instance == 2 and draft.score is not None:
            raise UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed")
        return real(db, run, draft)

    monkeypatch.setattr(drafts, "record_draft", record)
    with start_stub() as stub:
        report = asyncio.run(run_drafting(connected(context, stub), ready, "demo", RunSettings(label="odd")))
    assert (report.complete, report.unscored) == (True, 2)
    odd = [draft for draft in latest(context, "odd") if draft.score is None]
    assert len(odd) == 2 and all("UnicodeEncodeError" in draft.reason for draft in odd)


def test_replay_needs_no_model_and_makes_the_same_drafts(context: Context, ready: Person) -> None:
    with start_stub() as stub:
        asyncio.run(run_drafting(connected(context, stub), ready, "demo", RunSettings(label="first run")))
    report = asyncio.run(run_drafting(context, ready, "demo", RunSettings(label="replayed", replay=True)))
    assert report.complete and report.usage.calls == 0
    scores = [[one.score for one in latest(context, label)] for label in ("first run", "replayed")]
    assert scores[0] == scores[1]


def test_a_run_without_drafts_takes_other_settings(context: Context, ready: Person) -> None:
    start_job(context, ready, "demo", RunSettings(model="m", label="mine"))
    cancel_job(context, ready, list_jobs(context, ready, "demo")[0].id)
    assert "before its first draft" in list_jobs(context, ready, "demo")[0].message
    again = start_job(context, ready, "demo", RunSettings(model="other", label="mine"))
    assert [run.model for run, _, _ in get_task_state(context, ready, "demo").runs][1:] == ["other"]
    # while somebody makes its drafts, its settings stay
    with pytest.raises(InputError, match="another label with --label"):
        start_job(context, ready, "demo", RunSettings(model="third", label="mine"))
    assert again.total == 8
    # the job's page says what can be done there
    with context.store.write() as db:
        db.conn.execute("UPDATE run SET model = 'fourth' WHERE label = 'mine'")
    with start_stub() as stub:
        Worker(connected(context, stub))._run(again)
    assert "another label, under More settings" in list_jobs(context, ready, "demo")[0].message


def test_a_command_gives_other_settings_to_a_run_without_drafts(context: Context, ready: Person) -> None:
    """Its own lease does not count as somebody who makes drafts."""
    start_job(context, ready, "demo", RunSettings(model="m", label="mine"))
    cancel_job(context, ready, list_jobs(context, ready, "demo")[0].id)
    with start_stub() as stub:
        settings = RunSettings(model="other", label="mine")
        assert asyncio.run(run_drafting(connected(context, stub), ready, "demo", settings)).complete


def test_a_cancelled_job_tells_of_drafts_that_were_on_their_way(context: Context, ready: Person) -> None:
    jobs_of = partial(list_jobs, context, ready, "demo")

    def reply(body: dict[str, Any]) -> Reply:
        if not jobs_of()[0].message.startswith("cancelled"):
            cancel_job(context, ready, jobs_of()[0].id)
            assert "draft" not in jobs_of()[0].message
        return Reply(default_reply(body))

    with start_stub(reply) as stub:
        there = connected(context, stub)
        Worker(there)._run(start_job(there, ready, "demo", RunSettings(label="mine", concurrency=1)))
    (job,) = jobs_of()
    assert (job.state, job.message) == (JobState.CANCELLED, "cancelled; its drafts are kept") and job.done


def test_drafts_that_are_on_their_way_or_were_stopped_are_not_there(
    context: Context, owner: Person, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_study(context, owner, replace(study, runs=()))
    settings = RunSettings(model="m", label="mine")

    def said() -> tuple[str, bool, str]:
        step = next(
            each for each in list_steps(get_task_state(context, owner, "demo")) if each.tab == "prefill"
        )
        return step.name, step.done, step.text

    job = start_job(context, owner, "demo", settings)
    with context.store.write() as db:
        jobs.update_job(db, job.id, done=2)
    assert said() == ("Drafting: 2 of 8", False, "the pre-fill is under way")
    state = replace(get_task_state(context, owner, "demo", counted=False), can_draft=True)
    assert (find_next(state).tab, find_next(state).todo) == ("prefill", "wait for the drafts")
    ana = sign_in(context, "Ana")[0]
    note = step_json(get_step(context, ana, "demo"))["evaluation"]["note"]
    assert note.startswith("Drafts are being written: 2 of 8 so far.")
    cancel_job(context, owner, job.id)
    assert said() == ("Drafts (optional)", False, "stopped at 2 of 8")
    assert step_json(get_step(context, ana, "demo"))["evaluation"]["note"].startswith("There is no draft")
    with start_stub(default_reply) as stub:
        served = connected(context, stub)
        asyncio.run(run_drafting(served, owner, "demo", replace(settings, limit=2)))
        with context.store.write() as db:
            jobs.update_job(db, job.id, state=JobState.FAILED)
        assert said() == ("Drafts (optional)", False, "stopped at 2 of 8")
        lengths: list[int] = []

        def list_all(*args: Any, **options: Any) -> list[tuple[int, int]]:
            pairs = list(list_undrafted(*args, **options))
            lengths.append(len(pairs))
            return pairs

        list_undrafted = drafts.list_undrafted
        with monkeypatch.context() as patch:
            patch.setattr(drafts, "list_undrafted", list_all)
            state = get_task_state(served, owner, "demo")
        assert lengths == [1], "every page would read all drafts that are missing"
        assert str(next_view(state, in_setup=False)).count("scrutinise the drafts") == 1
        asyncio.run(run_drafting(served, owner, "demo", settings))  # the command line drafts the rest
    assert said() == ("Drafts", True, "1 run drafted or imported")


def test_annotators_wait_only_for_drafts_that_they_will_see(
    context: Context, owner: Person, study: Study
) -> None:
    import_study(context, owner, replace(study, runs=()))
    ana = sign_in(context, "Ana")[0]
    task = get_step(context, ana, "demo").task.id

    def add_prefill(label: str, kind: str, state: JobState = JobState.QUEUED) -> str:
        params = {"slug": "demo", "settings": RunSettings(label=label).to_params()}
        with context.store.write() as db:
            jobs.add_job(db, Job(kind, task, state, params, total=9))
        return step_json(get_step(context, ana, "demo"))["evaluation"]["note"][:9]

    assert add_prefill("a batch", BATCH) == "There is "  # perhaps it is never read
    state = replace(get_task_state(context, owner, "demo", counted=False), can_draft=True)
    assert find_next(state).todo == "read the results of the batch"
    start_job(context, owner, "demo", RunSettings(model="m", label="first"))
    start_job(context, owner, "demo", RunSettings(model="m", label="second"))
    assert add_prefill("ended", KIND, JobState.DONE) == "Drafts ar"
    with context.store.write() as db:
        run = drafts.get_run(db, task, "second")
        drafts.show_run(db, task, run.id)
    cancel_job(
        context, owner, next(job.id for job in list_jobs(context, owner, "demo") if job.label == "second")
    )
    assert add_prefill("another", KIND) == "There is "


def test_failures_say_their_reasons_in_the_row_and_in_the_log(
    context: Context, ready: Person, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = runner.Runner
    quick = Patience(retries=0, first=0.01, longest=0.05)
    monkeypatch.setattr(runner, "Runner", lambda *args, **kwargs: real(*args, patience=quick, **kwargs))
    down = replace(context, settings=replace(context.settings, base_url="http://127.0.0.1:9/v1", timeout=1.0))
    Worker(down)._run(start_job(down, ready, "demo", RunSettings(model="m", label="down")))
    (row,) = list_jobs(context, ready, "demo")
    assert row.failed and "127.0.0.1:9" in row.message and "127.0.0.1:9" in caplog.text
    meter = Meter(8, Usage())
    meter.count("The endpoint timed out.")
    assert "1 failed (The endpoint timed out.)" in str(meter.read())


def test_a_run_keeps_its_settings(context: Context, ready: Person) -> None:
    with start_stub() as stub:
        there = connected(context, stub)
        asyncio.run(run_drafting(there, ready, "demo", RunSettings(label="mine", limit=1)))
        with pytest.raises(InputError, match="another label"):
            asyncio.run(run_drafting(there, ready, "demo", RunSettings(label="mine", temperature=0.5)))


def test_one_model_name_on_two_servers_shares_no_answers(context: Context, ready: Person) -> None:
    with start_stub() as first, start_stub() as second:
        asyncio.run(run_drafting(connected(context, first), ready, "demo", RunSettings(label="one")))
        other = connected(context, second)
        with pytest.raises(InputError, match="endpoint"):
            asyncio.run(run_drafting(other, ready, "demo", RunSettings(label="one")))
        report = asyncio.run(run_drafting(other, ready, "demo", RunSettings(label="two")))
        assert (report.usage.calls, report.usage.cached) == (8, 0) == (second.paid, 0)
        again = asyncio.run(run_drafting(other, ready, "demo", RunSettings(label="three")))
        assert (again.usage.calls, again.usage.cached) == (0, 8)
    with context.store.read() as db:
        task = tasks.get_task(db, "demo")
        run = drafts.get_run(db, task.id, "two") if task else None
    assert run and run.params["endpoint"] == second.url


def test_answers_of_a_batch_that_cannot_be_read_go_to_a_second_file(
    context: Context, ready: Person, tmp_path: Any
) -> None:
    def answer_file(questions: Any, results: Any, text: str) -> None:
        with results.open("w") as file:
            for line in map(json.loads, questions.read_text().splitlines()):
                body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
                response = {"status_code": 200, "body": body}
                file.write(json.dumps({"custom_id": line["custom_id"], "response": response}) + "\n")

    first, second, results = (tmp_path / name for name in ("first.jsonl", "second.jsonl", "results.jsonl"))
    settings = RunSettings(label="batch", protocol="score-only", temperature=0.5, persona="evaluator")
    asyncio.run(batch_files.write_questions(context, ready, "demo", settings, first))
    body = json.loads(first.read_text().splitlines()[0])["body"]
    assert body["temperature"] == 0.5 and "careful human evaluator" in body["messages"][0]["content"]
    answer_file(first, results, "I like it.")
    report = asyncio.run(batch_files.read_results(context, ready, [results], Prices()))
    assert report.runs[0].unscored > 0 and "--replay" not in str(report)
    again = replace(settings, retry_unscored=True)
    writer = asyncio.run(batch_files.write_questions(context, ready, "demo", again, second))
    assert writer.written == report.runs[0].unscored
    answer_file(second, results, "Score: 4")
    asyncio.run(batch_files.read_results(context, ready, [results], Prices()))
    assert {draft.score for draft in latest(context, "batch")} == {4.0}


def test_the_question_is_shown_before_anything_is_sent(context: Context, ready: Person) -> None:
    settings = RunSettings(model="m", protocol="analyze-rate", persona="evaluator")
    question = show_question(context, ready, "demo", settings, criterion=2)
    assert question.criteria == ("Be true.",) and "careful human evaluator" in str(question)
    with start_stub() as stub:
        asyncio.run(run_drafting(connected(context, stub), ready, "demo", settings))
        asked = [body["messages"] for body in stub.bodies]
    assert [{"role": t.role, "content": t.content} for t in question.request.messages] in asked
    with pytest.raises(NotFoundError, match="no instance"):
        show_question(context, ready, "demo", settings, instance="nowhere")
    with pytest.raises(NotFoundError, match="the set has 2"):
        show_question(context, ready, "demo", settings, criterion=3)


def test_another_model_can_write_the_plan_of_a_run(context: Context, ready: Person) -> None:
    settings = RunSettings(
        protocol="fusion", samples=1, plan_model="planner", assistants=("TF-IDF cosine",), model="judge"
    )
    with start_stub() as stub:
        assert asyncio.run(run_drafting(connected(context, stub), ready, "demo", settings)).complete
        models = [body["model"] for body in stub.bodies]
    assert models[0] == "planner" and set(models[1:]) == {"judge"}


def by_form(body: dict[str, Any]) -> str:
    """Another form for each instance of the study: labelled, in a sentence, a bare number, nothing."""
    prompt = str(body)
    if "answer 1 of a" in prompt:
        return "It is clear.\nRating: 4"
    if "answer 1 of b" in prompt:
        return '{"score": 3}' if "response_format" in body else "It is clear enough. I would give it a 3."
    return "2" if "answer 2 of a" in prompt else "No idea."


def test_a_run_says_how_its_scores_were_obtained(context: Context, ready: Person) -> None:
    with start_stub(by_form) as stub:
        settings = RunSettings(label="mixed", protocol="analyze-rate")
        report = asyncio.run(run_drafting(connected(context, stub), ready, "demo", settings))
        assert stub.paid == 12  # eight questions, and two second ones for each of two instances
    assert str(report).startswith("mixed: 6 drafted, 2 in no form (they can be sent again), 12 calls"), str(
        report
    )
    assert "50% in no form; 25% after asking again; answers by schema: off." in str(report)
    assert list(report.forms) == execution.describe_forms(context, ready, "demo", "mixed")
    assert execution.describe_forms(context, ready, "demo", "first") == []
    with pytest.raises(NotFoundError, match="has no run “x”"):
        execution.describe_forms(context, ready, "demo", "x")

    rows = [row for row in read_export(context, ready, "drafts.csv") if row["run"] == "mixed"]
    assert any("asked twice" in row["reason"] for row in rows if not row["rung"])
    assert {(row["instance"], row["rung"]) for row in rows} == {
        ("1a", "label"),
        ("1b", "asked again"),
        ("2a", "label"),
        ("2b", ""),
    }


def test_what_is_sent_again_is_counted_by_its_newest_answer(context: Context, ready: Person) -> None:
    with start_stub(lambda body: "No idea.") as stub:
        settings, there = RunSettings(label="again"), connected(context, stub)
        asyncio.run(run_drafting(there, ready, "demo", settings))
        told, *_ = execution.describe_forms(context, ready, "demo", "again")
        assert told.startswith("100% in no form; 100% after asking again")
        stub.reply = default_reply
        asyncio.run(run_drafting(there, ready, "demo", replace(settings, retry_unscored=True)))
    told, *_ = execution.describe_forms(context, ready, "demo", "again")
    assert told.startswith("0% in no form; 0% after asking again")


def test_a_run_whose_scores_hardly_differ_is_reported(context: Context, ready: Person) -> None:
    with start_stub(lambda body: '{"conclusion": "So.", "score": 5, "evidence": []}') as stub:
        report = asyncio.run(run_drafting(connected(context, stub), ready, "demo", RunSettings(label="flat")))
    assert "8 of 8 scores are 5: this model does not distinguish." in str(report)


def test_without_a_model_the_way_is_told(context: Context, ready: Person) -> None:
    with pytest.raises(ModelError, match="OPENAI_BASE_URL"):
        asyncio.run(run_drafting(context, ready, "demo", RunSettings()))
    assert "8 calls" in str(estimate_run(context, ready, "demo", RunSettings()))
    assert get_task_state(context, ready, "demo").n_instances == 4


@pytest.mark.sqlite  # on PostgreSQL another server takes the job over: test_takeover
def test_a_job_that_a_crash_cut_off_can_be_started_again(context: Context, ready: Person) -> None:
    with context.store.write() as db:
        task = tasks.get_task(db, "demo")
        job = Job("evaluations", task.id, JobState.QUEUED, created_by=ready.name)
        made = {state: jobs.add_job(db, replace(job, state=state)) for state in JobState}
        batch = jobs.add_job(db, replace(job, kind=BATCH))
        # it is long since they moved
        db.conn.execute("UPDATE job SET updated_at = '2026-01-31T09:30:00.000Z'")
    mark_interrupted(context)
    with context.store.read() as db:
        assert jobs.get_job(db, batch.id).state is JobState.QUEUED
        for state in (JobState.QUEUED, JobState.RUNNING):
            found = jobs.get_job(db, made[state].id)
            assert found.state is JobState.CANCELLED and "start it again" in found.message
        for state in (JobState.DONE, JobState.FAILED):
            found = jobs.get_job(db, made[state].id)
            assert found.state is state and found.message == ""


def test_one_line_is_drafted_in_the_run_that_people_see(
    context: Context, owner: Person, study: Study
) -> None:
    """Not in that of the newest job, which may compare outputs or be for a look; an imported run is refused."""
    import_study(context, owner, replace(study, runs=()))
    with start_stub() as stub:
        here = connected(context, stub)
        asyncio.run(run_drafting(here, owner, "demo", RunSettings(label="shown", limit=1)))
        show_run(here, owner, "demo", "shown")
        instance = next(number for number, drafted in count_drafts(context, "shown").items() if not drafted)
        draft_line(here, owner, "demo", instance, 2)
        assert count_drafts(context, "shown")[instance] == 1
        with pytest.raises(InputError, match="has its draft already"):
            draft_line(here, owner, "demo", instance, 2)
        import_study(context, owner, replace(study, task=replace(study.task, slug="imported")))
        with pytest.raises(InputError, match="first"):
            draft_line(here, owner, "imported", 10**6, 1)


def count_drafts(context: Context, label: str) -> dict[int, int]:
    """Return the number of drafts of each instance of the task."""
    with context.store.read() as db:
        task = tasks.get_task(db, "demo")
        run = drafts.get_run(db, task.id, label) if task else None
        return {
            one.id: sum(drafts.get_current_draft(db, run.id, one.id, number) is not None for number in (1, 2))
            for one in tasks.list_instances(db, task.id)
        }


def test_a_stored_job_is_read_without_a_setting_that_is_gone() -> None:
    params = {"settings": RunSettings(label="old").to_params() | {"gone": 3}}
    assert read_run_settings(params) == RunSettings(label="old")


TOGETHER = RunSettings(criteria_per_call=0)


def test_what_is_unscored_is_sent_again_alone(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)

    def half(body: dict[str, Any]) -> str:
        found = json.loads(default_reply(body))
        if "evaluations" not in found:
            return "No idea."  # also when it is asked once more
        return json.dumps({"evaluations": [each for each in found["evaluations"] if each["criterion"] != 2]})

    with start_stub(half) as stub:
        there = connected(context, stub)
        first = asyncio.run(run_drafting(there, owner, "demo", TOGETHER))
        assert (first.drafted, first.unscored, stub.received) == (8, 4, 8)
        stub.reply = default_reply
        again = asyncio.run(run_drafting(there, owner, "demo", replace(TOGETHER, retry_unscored=True)))
        assert (again.drafted, again.unscored) == (4, 0)
        assert "[1] Be true." in stub.bodies[-1]["messages"][-1]["content"]
        assert "Use simple words." not in stub.bodies[-1]["messages"][-1]["content"]


@pytest.mark.parametrize(("text", "number"), [("all", 0), ("3", 3), ("1", 1)])
def test_the_number_of_criteria_on_the_command_line(text: str, number: int) -> None:
    options = build_parser().parse_args(["draft", "evaluations", "--task", "t", "--criteria-per-call", text])
    assert options.criteria_per_call == number


@pytest.mark.parametrize("text", ["0", "-1", "some", "2.5"])
def test_what_is_no_number_of_criteria(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["draft", "evaluations", "--task", "t", f"--criteria-per-call={text}"])
    assert "neither “all” nor a number" in capsys.readouterr().err
