"""Import traces of MLflow with their assessments.

Shape: ``Trace.to_dict`` of mlflow 2 and 3, in a list or a line each, and the data frame of ``mlflow.search_traces`` as
JSON or CSV, where a column ``trace`` holds the same. Expectations are references.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.json_nodes import Node, decode
from coeval.extensions.exchange.records import (
    MARK,
    Fields,
    add_value,
    is_our_score,
    load_records,
    peek_records,
)
from coeval.extensions.exchange.tool_files import Gathering, Judgment, tool_format
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, name_steps, read_words

TOOL = "MLflow"
_KINDS = {
    "CHAT_MODEL": StepKind.MODEL, "LLM": StepKind.MODEL, "TOOL": StepKind.TOOL, "RETRIEVER": StepKind.TOOL,
}  # fmt: skip
_KIND, _MODEL = "mlflow.spanType", "mlflow.llm.model"
_GIVEN, _MADE = "mlflow.spanInputs", "mlflow.spanOutputs"
_FRAME = frozenset(("trace_id", "trace", "trace_metadata", "spans"))
"""Columns of the data frame."""
_ERROR = ("error_code", "error_message")
_FIELDS = Fields(
    "info data spans request response trace_id request_id context span_id parent_span_id parent_id name "
    "start_time_unix_nano start_time attributes assessments assessment_name source source_type source_id feedback "
    f"error error_code error_message valid rationale last_update_time metadata expectation {_KIND} {_MODEL} {MARK}",
    kept=f"value tags trace_metadata request_metadata {_GIVEN} {_MADE}",
)
_ID = ("trace_id", "request_id")
_TOLD = ("tags", "trace_metadata", "request_metadata")
_TIMES = ("last_update_time", "last_update_time_ms", "create_time", "create_time_ms")
_PERSON = "HUMAN"
_SET_BY_MLFLOW = "mlflow."
"""The beginning of the names of tags and metadata that no user sets."""


def _trace(record: Node) -> Node:
    """Return a record's trace, which a data frame keeps as JSON in a column."""
    inner = decode(record.get("trace").value)
    return Node(inner, record.place) if isinstance(inner, dict) else record


def _is_traces(path: Path) -> bool:
    return any(
        record.value.keys() >= _FRAME
        or isinstance(_trace(record).get("info").get(*_ID).value, str)
        and isinstance(_trace(record).path("data", "spans").value, list)
        for record in peek_records(path)
    )


def _read(path: Path, gathering: Gathering) -> None:
    traces = list(map(_trace, load_records(path)))
    _FIELDS.count_others(gathering, traces)
    for trace in traces:
        info, spans = trace.get("info"), list(map(_read_span, trace.path("data", "spans").items()))
        key = info.get(*_ID).name()
        spans = spans or [_read_whole(trace)]
        assessments = info.get("assessments").items()
        valid = [each for each in assessments if each.get("valid").value is not False]
        gathering.left["Assessments that a later one replaced, left out"] += len(assessments) - len(valid)
        expected = [each for each in valid if each.get("expectation").value is not None]
        reference = "\n".join(read_words(each.get("expectation")) for each in expected)
        context = _read_context(info, gathering)
        if add_trace(gathering, key, spans, trace.place, reference=reference, context=context):
            names = name_steps(spans)
            for assessment in (each for each in valid if each.get("expectation").value is None):
                _read_assessment(assessment, key, names, gathering)


def _read_context(info: Node, gathering: Gathering) -> dict[str, str]:
    pairs = [pair for part in _TOLD for pair in info.get(part).entries()]
    context = {name: value.text() for name, value in pairs if not name.startswith(_SET_BY_MLFLOW)}
    gathering.left["Tags and metadata that MLflow set itself, left out"] += len(pairs) - len(context)
    return context


def _read_whole(trace: Node) -> Step:
    """Return a trace without spans as one step; its input and output may be cut to a preview."""
    info, data, nothing = trace.get("info"), trace.get("data"), Node(None, trace.place)
    given = data.get("request").value or info.get("request_preview", "request").value
    made = data.get("response").value or info.get("response_preview", "response").value
    return Step(id="", parent="", kind=StepKind.OTHER, name="", order="", given=Node(given, trace.place),
                made=Node(made, trace.place), system=nothing)  # fmt: skip


def _read_span(span: Node) -> Step:
    fields = Node({name: decode(node.value) for name, node in span.get("attributes").entries()}, span.place)
    return Step(
        id=span.get("span_id").name() or span.path("context", "span_id").name(),
        parent=span.get("parent_span_id", "parent_id").name(),
        kind=_KINDS.get(fields.get(_KIND).name(), StepKind.OTHER), name=span.get("name").name(),
        order=str(span.get("start_time_unix_nano", "start_time").value or "").rjust(20, "0"),
        given=fields.get(_GIVEN), made=fields.get(_MADE), system=Node(None, span.place),
        model=fields.get(_MODEL).name(),
    )  # fmt: skip


def _read_assessment(assessment: Node, trace: str, steps: dict[str, str], gathering: Gathering) -> None:
    kind = assessment.path("source", "source_type").name().upper()
    who = assessment.path("source", "source_id").name()
    if is_our_score(gathering, assessment.path("metadata", MARK)):
        return
    gathering.left["Times of scores by judges, left out"] += kind != _PERSON
    feedback = assessment.get("feedback")
    shared = Judgment(
        instance=trace,
        criterion=assessment.get("assessment_name", "name").name(),
        by=who if kind == _PERSON else who or f"{TOOL} {kind.lower()}".strip(),
        person=kind == _PERSON,
        comment=assessment.get("rationale").text(),
        reason=": ".join(filter(None, (feedback.path("error", name).text() for name in _ERROR))),
        saved_at=assessment.get(*_TIMES).time(),
        step=steps.get(assessment.get("span_id").name(), assessment.get("span_id").name()),
    )
    add_value(gathering, shared, Node(decode(feedback.get("value").value), feedback.place), assessment.place)


FORMAT = tool_format("mlflow", "MLflow traces and assessments (JSON, CSV)", TOOL, _is_traces, _read)
