"""Traces and results of other versions of the tools, of their tables and of their other exports: the same study."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coeval.datasets import load_study
from coeval.domain import Study
from coeval.domain.tasks import Turn, read_chat

DATA = Path(__file__).resolve().parents[3] / "data" / "exports"
ASKED = [{"role": "user", "content": "When?"}]


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def load(path: Path, value: Any) -> Study:
    return load_study(write(path, value), slug="t")


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def people(study: Study) -> dict[tuple[str, str, str], float | None]:
    return {(work.person, work.instance, work.criterion): work.score for work in study.submissions}


def as_table(path: Path, records: list[dict[str, Any]]) -> Path:
    """Write records as a program's data frame writes them: lists and objects are JSON."""
    texts = [
        {name: json.dumps(v) if isinstance(v, list | dict) else v for name, v in each.items()}
        for each in records
    ]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(texts), path)
        return path
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, texts[0].keys(), delimiter=";" if "semicolon" in path.stem else ",")
        writer.writeheader()
        writer.writerows(texts)
    return path


@pytest.mark.parametrize("name", ["runs.csv", "semicolon.csv", "runs.parquet"])
def test_a_table_of_runs_is_read_by_its_content(tmp_path: Path, name: str) -> None:
    fields = (
        "id",
        "run_type",
        "name",
        "inputs",
        "outputs",
        "trace_id",
        "parent_run_id",
        "dotted_order",
        "extra",
        "tags",
    )
    runs = [{key: run[key] for key in fields} for run in read("langsmith_runs.json")]
    study = load_study(as_table(tmp_path / name, runs), slug="t")
    whole = load_study(DATA / "langsmith_runs.json", slug="t")
    assert {(one.external_id, one.output) for one in study.instances} == {
        (one.external_id, one.output) for one in whole.instances
    }


def test_mlflow_2_and_one_trace_and_columns_are_the_same(tmp_path: Path) -> None:
    traces, whole = read("mlflow_traces.json"), load_study(DATA / "mlflow_traces.json", slug="t")
    older = json.loads(json.dumps(traces))
    for trace in older:
        trace["info"]["request_id"] = trace["info"].pop("trace_id")
        trace["info"]["request_metadata"] = trace["info"].pop("trace_metadata")
        for each in trace["info"]["assessments"]:
            each["name"], each["last_update_time_ms"] = each.pop("assessment_name"), 1_740_000_000_000
            del each["create_time"], each["last_update_time"]
        for span in trace["data"]["spans"]:
            span["context"] = {"span_id": span.pop("span_id")}
            span["parent_id"] = span.pop("parent_span_id", None)
    study = load(tmp_path / "older.json", older)
    assert study.instances == whole.instances and people(study) == people(whole)
    assert {work.submitted_at for work in study.submissions} == {"2025-02-19T21:20:00.000Z"}
    assert load(tmp_path / "one.json", traces[0]).instances == whole.instances[:1]
    columns = {name: {str(n): each[name] for n, each in enumerate(traces)} for name in ("info", "data")}
    assert load(tmp_path / "columns.json", columns).instances == whole.instances


def test_the_question_comes_before_a_tool_that_ran_before_the_model(tmp_path: Path) -> None:
    def span(name: str, kind: str, given: Any, made: Any, parent: str | None) -> dict[str, Any]:
        return {"span_id": name, "parent_span_id": parent, "name": name, "start_time_unix_nano": ord(name[0]),
                "attributes": {"mlflow.spanType": json.dumps(kind), "mlflow.spanInputs": json.dumps(given),
                               "mlflow.spanOutputs": json.dumps(made)}}  # fmt: skip

    spans = [span("a", "AGENT", {"q": "When?"}, "May", None), span("b", "TOOL", {}, "soil", "a"),
             span("c", "CHAT_MODEL", [{"role": "system", "content": "Be brief."}, *ASKED], "May", "a")]  # fmt: skip
    trace = {"info": {"trace_id": "t1"}, "data": {"spans": spans}}
    (instance,) = load(tmp_path / "trace.json", trace).instances
    assert read_chat(instance.input) == (Turn("system", "Be brief."), Turn("user", "When?"))
    assert [turn.role for turn in read_chat(instance.output)] == [
        "tool call: b",
        "tool result: b",
        "assistant",
    ]


def pair(name: str, value: Any) -> dict[str, Any]:
    return {"key": name, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}


PARTS = {"input": [{"role": "user", "parts": [{"type": "text", "content": "When?"}]}],
         "output": [{"role": "assistant", "parts": [{"type": "text", "content": "May"}]}]}  # fmt: skip
DETAILS = [pair(f"gen_ai.{name}.messages", value) for name, value in PARTS.items()]
EVENTS = [
    [{"name": "gen_ai.client.inference.operation.details", "attributes": DETAILS}],
    [{"name": "gen_ai.content.prompt", "attributes": [pair("gen_ai.prompt", ASKED)]},
     {"name": "gen_ai.content.completion", "attributes": [pair("gen_ai.completion", PARTS["output"])]}],
    [{"name": "gen_ai.user.message", "attributes": [pair("content", "When?")]},
     {"name": "gen_ai.choice", "attributes": [pair("message", {"role": "assistant", "content": "May"})]}],
]  # fmt: skip


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("as_logs", [False, True])
def test_messages_of_opentelemetry_are_events_too(
    tmp_path: Path, events: list[dict[str, Any]], as_logs: bool
) -> None:
    span = {"traceId": "ab", "spanId": "1", "name": "chat", "events": [] if as_logs else events,
            "attributes": [pair("gen_ai.operation.name", "chat")]}  # fmt: skip
    logs = [{"traceId": "ab", "spanId": "1", "eventName": each["name"], "attributes": each["attributes"]}
            for each in events if as_logs]  # fmt: skip
    study = load(tmp_path / "a.json", [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]},
                                       {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}])  # fmt: skip
    assert [(one.external_id, one.input, one.output) for one in study.instances] == [("ab", "When?", "May")]


def test_opentelemetry_of_the_sdk_and_with_the_names_of_the_protocol(tmp_path: Path) -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        **{f"gen_ai.{n}.messages": json.dumps(v) for n, v in PARTS.items()},
    }
    span = {"name": "chat", "context": {"trace_id": "0xab", "span_id": "0x1"}, "parent_id": None,
            "attributes": attributes, "events": []}  # fmt: skip
    (of_sdk,) = load(tmp_path / "sdk.json", span).instances
    proto = {"resource_spans": [{"scope_spans": [{"spans": [{
        "trace_id": "ab", "span_id": "1", "name": "chat", "start_time_unix_nano": "1",
        "attributes": [{"key": name, "value": {"string_value": value}} for name, value in attributes.items()],
    }]}]}]}  # fmt: skip
    (of_protocol,) = load(tmp_path / "protocol.json", proto).instances
    for one in (of_sdk, of_protocol):
        assert (one.external_id, one.input, one.output) == ("ab", "When?", "May")


def phoenix(name: str, kind: str, parent: str | None, given: str, made: str, start: int) -> dict[str, Any]:
    return {"name": name, "span_kind": kind, "parent_id": parent, "context.span_id": name, "start_time": f"{start}",
            "attributes.input.value": given, "attributes.output.value": made}  # fmt: skip


def test_spans_of_phoenix_inside_a_span_are_its_steps(tmp_path: Path) -> None:
    spans = [
        phoenix("root", "CHAIN", None, "When?", "May", 1),
        phoenix("find", "TOOL", "root", "{}", "soil", 2),
        phoenix("llm", "LLM", "root", "When?", "May", 3),
        phoenix("other", "LLM", None, "Who?", "I", 4),
    ]
    as_table(tmp_path / "spans.parquet", spans)
    scores = [{"span_id": span, "annotation_name": "helpful", "annotator_kind": "HUMAN", "identifier": "ann",
               "score": score, "label": "fine"} for span, score in (("root", 4), ("llm", 2), ("other", 5))]  # fmt: skip
    as_table(tmp_path / "annotations.csv", scores)
    study = load_study(tmp_path, slug="t")
    assert [one.external_id for one in study.instances] == ["root", "other"]
    assert [turn.role for turn in read_chat(study.instances[0].output)] == ["tool call: find", "tool result: find",
                                                                            "assistant"]  # fmt: skip
    assert people(study) == {("ann", "root", "helpful"): 4, ("ann", "root", "helpful (llm)"): 2,
                             ("ann", "other", "helpful"): 5}  # fmt: skip
    assert "Scores of a step, kept for its trace: 1." in study.notes


def test_observations_and_scores_of_langfuse_may_be_in_files_of_their_own(tmp_path: Path) -> None:
    observation = {"id": "o1", "traceId": "t1", "type": "GENERATION", "name": "llm", "input": ASKED, "output": "May",
                   "parentObservationId": None}  # fmt: skip
    trace = {"id": "t1", "projectId": "p", "input": [{"role": "system", "content": "Be brief."}, *ASKED],
             "output": "May", "observations": ["o1"]}  # fmt: skip
    score = {"name": "kind", "value": 4, "dataType": "NUMERIC", "source": "ANNOTATION", "authorUserId": "ann"}
    write(tmp_path / "a_scores.json", {"data": [{**score, "traceId": "t1"},
                                                {**score, "traceId": "t1", "observationId": "o1", "value": 1},
                                                {**score, "sessionId": "s", "observationId": None}]})  # fmt: skip
    write(tmp_path / "observations.json", {"data": [observation]})
    write(tmp_path / "traces.json", {"data": [trace]})
    (tmp_path / "notes.txt").write_text("Read me")
    study = load_study(tmp_path, slug="t")
    (instance,) = study.instances
    assert (
        read_chat(instance.input) == (Turn("system", "Be brief."), Turn("user", "When?"))
        and instance.output == "May"
    )
    assert people(study) == {("ann", "t1", "kind"): 4, ("ann", "t1", "kind (llm)"): 1}
    assert "Files and folders that are not of Langfuse (notes.txt), left out: 1." in study.notes


def test_scores_of_an_answer_without_a_text_are_counted(tmp_path: Path) -> None:
    runs = [
        {
            "id": "r",
            "trace_id": "r",
            "run_type": "llm",
            "name": "x",
            "inputs": {"q": "When?"},
            "outputs": None,
        }
    ]
    feedback = {
        "run_id": "r",
        "key": "kind",
        "score": 1,
        "feedback_source": {"type": "app", "user_name": "ann"},
    }
    study = load(
        tmp_path / "a.json",
        [*runs, {**runs[0], "id": "s", "trace_id": "s", "outputs": {"a": "May"}}, feedback],
    )
    assert [one.external_id for one in study.instances] == ["s"] and not study.submissions
    assert "Scores of answers without a text, left out: 1." in study.notes


def test_other_files_of_evaluation_runs(tmp_path: Path) -> None:
    run = read("deepeval_run.json")
    assert load(tmp_path / "run.json", {"testRunData": run}) == load(tmp_path / "plain.json", run)
    results = read("promptfoo.json")
    rows = results["results"]["results"]
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows)))
    whole = load_study(DATA / "promptfoo.json", slug="t")
    assert load_study(lines, slug="t").instances == whole.instances
    assert load(tmp_path / "old.json", {"results": rows, "stats": {}}).runs == whole.runs
    rows[0]["provider"] = {"id": "garden:1", "label": ""}
    assert load(tmp_path / "named.json", results).instances[0].system == "garden:1"
    for name in ("scenario_state.json", "per_instance_stats.json"):
        shutil.copy(DATA / "helm" / name, tmp_path / name)
    folder = tmp_path / "helm"
    shutil.copytree(DATA / "helm", folder)
    write(
        folder / "display_predictions.json",
        [{"instance_id": "i", "train_trial_index": 0, "stats": {"em": 1.0}}],
    )
    assert load_study(folder, slug="t").runs == load_study(DATA / "helm", slug="t").runs
    sample = {"doc_id": 0, "doc": {"q": "When?"}, "target": "May", "arguments": [["When?", {}]], "resps": [["May"]],
              "acc": 1.0}  # fmt: skip
    (run_,) = load(tmp_path / "samples_x.json", [sample]).runs
    assert [(draft.criterion, draft.score) for draft in run_.drafts] == [("acc", 1)], (
        "older samples list no metrics"
    )
