"""Traces of agents: a conversation with the steps of its tools, and the scores of people and judges."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from coeval.datasets import load_study
from coeval.datasets.json_nodes import Node
from coeval.domain import Scale, Study
from coeval.domain.tasks import Turn, read_chat
from coeval.extensions.exchange.trace_steps import Step, StepKind, read_turns, write_conversation

DATA = Path(__file__).resolve().parents[3] / "data" / "exports"
QUESTION = (Turn("system", "Be brief."), Turn("user", "When do I sow beans?"))
STEPS = (Turn("tool call: find_month", '{"plant": "beans"}'), Turn("tool result: find_month", "May"),
         Turn("assistant", "In May. 🌱"))  # fmt: skip


def load(folder: Path, *names: str) -> Study:
    for name in names:
        shutil.copy(DATA / name, folder)
    return load_study(folder, slug="t")


def judged(study: Study) -> set[tuple[str, str, float | None]]:
    return {(run.run.label, draft.criterion, draft.score) for run in study.runs for draft in run.drafts}


def worked(study: Study) -> list[tuple[str, str, float | None]]:
    return sorted((work.person, work.criterion, work.score) for work in study.submissions)


@pytest.mark.parametrize(
    "names", [["mlflow_traces.json"], ["langsmith_runs.json", "langsmith_feedback.json"]]
)
def test_a_trace_is_a_conversation_with_its_steps_in_order(tmp_path: Path, names: list[str]) -> None:
    study = load(tmp_path, *names)
    assert len(study.instances) == 2
    beans = next(each for each in study.instances if "beans" in each.input)
    assert (read_chat(beans.input), read_chat(beans.output)) == (QUESTION, STEPS)
    assert beans.system == "gardener-1"


def test_opentelemetry(tmp_path: Path) -> None:
    study = load(tmp_path, "otel_spans.json")
    beans, roses = study.instances
    call = Turn("tool call: find_month", '{"plant": "beans"}')
    assert read_chat(beans.input) == QUESTION
    assert read_chat(beans.output) == (Turn("reasoning", "A month is needed."), call, *STEPS[1:])
    assert len(beans.external_id) == 32 and int(beans.external_id, 16), "the trace's id leads back"
    scores = {draft.instance: draft.score for draft in study.runs[0].drafts}
    assert scores == {beans.external_id: 0.9, roses.external_id: 0.25}
    assert study.criteria[0].scale == Scale(0, 1)
    assert [row.text for row in study.runs[0].drafts[0].rows] == ["pass\nIt names the month.", "0.9"]


def test_opentelemetry_of_a_collector_is_a_line_for_each_batch_and_a_trace_can_be_in_two(
    tmp_path: Path,
) -> None:
    (batch,) = json.loads((DATA / "otel_spans.json").read_text())["resourceSpans"]
    spans = [span for scope in batch["scopeSpans"] for span in scope["spans"]]
    lines = [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in reversed(spans)]
    event = {"traceId": spans[0]["traceId"], "eventName": "gen_ai.evaluation.result", "attributes": [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "short"}},
        {"key": "gen_ai.evaluation.score.value", "value": {"intValue": "4"}}]}  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines[:4])))
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, lines[4:])))
    log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [event]}]}]}
    (tmp_path / "logs.json").write_text(json.dumps(log))
    study = load_study(tmp_path, slug="t")
    whole = load_study(DATA / "otel_spans.json", slug="t")
    assert {(each.external_id, each.output) for each in study.instances} == {
        (each.external_id, each.output) for each in whole.instances
    }
    assert ("OpenTelemetry", "short", 4) in judged(study)


def attribute(name: str, value: str) -> dict[str, Any]:
    return {"key": name, "value": {"stringValue": value}}


@pytest.mark.parametrize(
    ("given", "made", "inside"),
    [("gen_ai.prompt", "gen_ai.completion", ""), ("llm.input_messages", "llm.output_messages", "message.")],
)
def test_opentelemetry_with_an_attribute_for_each_message(
    tmp_path: Path, given: str, made: str, inside: str
) -> None:
    span = {"traceId": "ab", "spanId": "1", "name": "chat", "startTimeUnixNano": "1", "attributes": [
        attribute("openinference.span.kind", "LLM"),
        attribute(f"{given}.0.{inside}role", "user"), attribute(f"{given}.0.{inside}content", "When?"),
        attribute(f"{made}.0.{inside}role", "assistant"),
        attribute(f"{made}.0.{inside}tool_calls.0.{'tool_call.' if inside else ''}name", "find"),
        attribute(f"{made}.0.{inside}tool_calls.0.{'tool_call.' if inside else ''}arguments", "{}")]}  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    (instance,) = load_study(path, slug="t").instances
    assert instance.input == "When?" and read_chat(instance.output) == (Turn("tool call: find", "{}"),)


def test_mlflow_assessments(tmp_path: Path) -> None:
    study = load(tmp_path, "mlflow_traces.json")
    assert worked(study) == [
        ("ann@example.org", "helpful", 2), ("ann@example.org", "helpful", 5), ("ann@example.org", "tone: warm", 1),
        ("bo", "helpful", 3), ("bo", "labels: right", 1), ("bo", "labels: short", 1),
    ]  # fmt: skip
    assert judged(study) == {("gateway:/judge-1", "safe", 1), ("gateway:/judge-1", "safe", None),
                             ("rules.py", "manners: kind", 4), ("rules.py", "manners: short", 1)}  # fmt: skip
    beans = next(each for each in study.instances if "beans" in each.input)
    assert beans.reference == "In May." and beans.context == {"plant": "beans"}
    assert any("RATE_LIMIT: too many requests" in draft.reason for run in study.runs for draft in run.drafts)
    assert "Assessments that a later one replaced, left out: 1." in study.notes


def test_mlflow_as_a_data_frame_is_the_same(tmp_path: Path) -> None:
    study, whole = load(tmp_path, "mlflow_frame.jsonl"), load_study(DATA / "mlflow_traces.json", slug="t")
    assert study.instances == whole.instances[:1] and worked(study) == [
        ("ann@example.org", "helpful", 2),
        ("bo", "helpful", 3),
    ]


def test_langsmith_feedback(tmp_path: Path) -> None:
    study = load(tmp_path, "langsmith_runs.json", "langsmith_feedback.json")
    assert worked(study) == [("ann", "helpful", 5)], "feedback that names a person is this person's"
    assert judged(study) == {
        ("LangSmith api", "helpful", 2), ("LangSmith api", "tone: warm", 1), ("LangSmith api", "better", None),
        ("LangSmith model", "safe", 1),
    }  # fmt: skip
    texts = [row.text for run in study.runs for draft in run.drafts for row in draft.rows]
    assert 'correction: {"text": "In March, before it sprouts."}' in texts


def test_langsmith_feedback_on_a_step_is_for_its_trace(tmp_path: Path) -> None:
    runs = json.loads((DATA / "langsmith_runs.json").read_text())
    step = next(run for run in runs if run["run_type"] == "tool")
    feedback = json.loads((DATA / "langsmith_feedback.json").read_text())[:1]
    feedback[0]["run_id"] = step["id"]
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"runs": runs}))
    (tmp_path / "a_feedback.json").write_text(json.dumps(feedback))
    study = load_study(tmp_path, slug="t")
    assert study.submissions[0].instance == step["trace_id"]
    assert "Scores of a step, kept for its trace: 1." in study.notes


def test_helm(tmp_path: Path) -> None:
    study = load(tmp_path, "helm/scenario_state.json", "helm/per_instance_stats.json")
    beans, roses = study.instances
    assert (beans.input, beans.output, beans.reference) == ("When do I sow beans?", "In May. 🌱", "In May.")
    assert beans.system == "garden/gardener-1" and beans.context["prompt"].endswith("\nA: ")
    assert roses.context["annotations"] == '{"rules": [{"short": true}]}'
    assert judged(study) == {("HELM", "quasi_exact_match", 1), ("HELM", "quasi_exact_match", 0)}
    assert "Measurements of tokens, time and cost, left out: 2." in study.notes


def test_lm_eval(tmp_path: Path) -> None:
    names = [path.relative_to(DATA).as_posix() for path in (DATA / "lm_eval").iterdir()]
    study = load(tmp_path, *names)
    answers = {each.external_id.split(" · ")[0]: each for each in study.instances}
    assert answers["garden 1"].output == "In spring. 🌹" and answers["garden 1"].reference == "In March."
    assert answers["garden 0"].input == "Q: When do I sow beans?\nA:"
    assert answers["season 1"].output == "In May.", "of a multiple choice, the most probable choice"
    assert answers["season 1"].context["log-probabilities"] == "-1 In May.\n-2 In March."
    assert {each.system for each in study.instances} == {"gardener-1"}, "the model's name is in the results"
    assert judged(study) == {("lm-eval", name, score) for name in ("exact_match", "acc") for score in (0, 1)}


def step(name: str, kind: StepKind, given: Any, made: Any, parent: str = "", order: str = "") -> Step:
    return Step(id=name, parent=parent, kind=kind, name=name, order=order or name, given=Node(given, "x"),
                made=Node(made, "x"), system=Node(None, "x"))  # fmt: skip


def test_equal_answers_and_equal_calls_of_a_trace_all_stay() -> None:
    user = [{"role": "user", "content": "Go on."}]
    turns, _ = write_conversation([
        step("1", StepKind.MODEL, user, "OK"), step("2", StepKind.MODEL, user, "OK"),
        step("3", StepKind.TOOL, {"a": 1}, "x"), step("4", StepKind.TOOL, {"a": 1}, "x"),
    ])  # fmt: skip
    assert [turn.content for turn in turns] == ["Go on.", "OK", "OK", '{"a": 1}', "x", '{"a": 1}', "x"]


def test_a_trace_without_a_model_has_the_texts_of_its_outermost_span() -> None:
    turns, root = write_conversation([
        step("1", StepKind.OTHER, {"question": "When?"}, {"answer": "In May."}),
        step("2", StepKind.TOOL, '{"plant": "beans"}', '"May"', parent="1"),
    ])  # fmt: skip
    assert root.name == "1"
    assert turns == [Turn("user", "When?"), Turn("tool call: 2", '{"plant": "beans"}'),
                     Turn("tool result: 2", "May"), Turn("assistant", "In May.")]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "When?"}],
        {"messages": [[{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"],
                        "kwargs": {"content": "When?", "type": "human"}}]]},
        {"messages": [{"type": "human", "data": {"content": "When?"}}]},
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": "When?"}]}]},
        json.dumps({"messages": [{"role": "user", "content": "When?"}]}),
        {"question": "When?"},
        "When?",
    ],
)  # fmt: skip
def test_messages_are_found_wherever_a_framework_keeps_them(value: object) -> None:
    assert read_turns(Node(value, "x"), "user") == [Turn("user", "When?")]


def test_the_items_of_openais_responses_are_turns() -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "May"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "In May."}]},
    ]
    turns = read_turns(Node({"output": output, "instructions": "Be brief."}, "x"), "assistant")
    assert turns == [Turn("system", "Be brief."), Turn("assistant", "Look."), Turn("tool call: find", "{}"),
                     Turn("tool result: find", "May"), Turn("assistant", "In May.")]  # fmt: skip


def test_a_trace_of_langfuse_with_observations_is_a_conversation(tmp_path: Path) -> None:
    def observation(kind: str, name: str, start: str, given: Any, made: Any) -> dict[str, Any]:
        return {"id": name, "parentObservationId": None, "type": kind, "name": name, "startTime": start,
                "input": given, "output": made, "model": "gardener-1" if kind == "GENERATION" else None}  # fmt: skip

    asked = [{"role": "user", "content": "When do I sow beans?"}]
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "find", "arguments": "{}"}}]}
    made = [*asked, call, {"role": "tool", "tool_call_id": "c", "content": "May"}]
    trace = {"id": "t1", "projectId": "p", "name": "garden", "timestamp": "2026-03-01T12:00:00Z",
             "input": {"question": "When do I sow beans?"}, "output": "In May.", "observations": [
        observation("GENERATION", "g1", "2026-03-01T12:00:01Z", asked, call),
        observation("TOOL", "find", "2026-03-01T12:00:02Z", {}, "May"),
        observation("GENERATION", "g2", "2026-03-01T12:00:03Z", made, {"role": "assistant", "content": "In May."})],
        "scores": [{"name": "kind", "value": 4, "dataType": "NUMERIC", "source": "API", "traceId": "t1"}]}  # fmt: skip
    path = tmp_path / "traces.json"
    path.write_text(json.dumps([trace]))
    study = load_study(path, slug="t")
    (instance,) = study.instances
    assert (instance.external_id, instance.input) == ("t1", "When do I sow beans?")
    assert [turn.role for turn in read_chat(instance.output)] == [
        "tool call: find",
        "tool result: find",
        "assistant",
    ]
    assert instance.system == "gardener-1" and judged(study) == {("Langfuse api", "kind", 4)}
