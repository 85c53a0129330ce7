"""Import spans of generative AI in OpenTelemetry's JSON (OTLP), with their evaluation results.

Shape: ``TracesData`` and ``LogsData`` of the OpenTelemetry protocol 1.x, as one object or a line for each request of
a collector. Names: the semantic conventions for generative AI 1.38, and before them OpenLLMetry's and OpenInference's.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.extensions.exchange.records import Fields
from coeval.extensions.exchange.tool_files import Gathering, Judgment, read_number, tool_format
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, decode

TOOL = "OpenTelemetry"
_BATCHES = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))
_KINDS = {
    StepKind.MODEL: ("chat", "text_completion", "generate_content", "llm", "completion"),
    StepKind.TOOL: ("execute_tool", "tool", "retriever", "retrieval"),
}
_KIND = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "llm.request.type")
_NAME = ("gen_ai.tool.name", "tool.name", "gen_ai.agent.name", "traceloop.entity.name")
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_SYSTEM = "gen_ai.system_instructions"
_GIVEN = ("gen_ai.input.messages", "gen_ai.prompt", "gen_ai.tool.call.arguments", "llm.input_messages", "input.value",
          "traceloop.entity.input")  # fmt: skip
_MADE = ("gen_ai.output.messages", "gen_ai.completion", "gen_ai.tool.call.result", "llm.output_messages",
         "output.value", "traceloop.entity.output")  # fmt: skip
_FLAT = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages")
"""Lists whose entries are attributes of their own, such as ``gen_ai.prompt.0.role``."""

_FIELDS = Fields(
    "resourceSpans scopeSpans spans resourceLogs scopeLogs logRecords traceId spanId parentSpanId name eventName "
    "events startTimeUnixNano",
    kept="attributes",
)
_VALUES = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_NAMED, _EVALUATION = "gen_ai.evaluation", "gen_ai.evaluation.result"
_READ = frozenset((*_KIND, *_NAME, *_MODEL, *_GIVEN, *_MADE, _SYSTEM))


def _is_otlp(path: Path) -> bool:
    head = peek(path)
    files = head.items() if isinstance(head.value, list) else [head]
    return any(isinstance(file.get(names[0]).value, list) for file in files for names in _BATCHES)


def _read(path: Path, gathering: Gathering) -> None:
    if path != gathering.files[0]:  # a trace may be in several files, which are read together
        return
    traces: dict[str, list[Step]] = defaultdict(list)
    events: list[tuple[Node, str]] = []
    nodes = [load_node(file) for file in gathering.files]
    _FIELDS.count_others(gathering, nodes)
    for request in (r for node in nodes for r in (node.items() if isinstance(node.value, list) else [node])):
        for batch, scope, records in _BATCHES:
            for record in _list_records(request, batch, scope, records):
                trace = record.get("traceId").name()
                if records == "spans":
                    traces[trace].append(_read_span(record, gathering))
                    events += [(event, trace) for event in record.get("events").items()]
                else:
                    events.append((record, trace))
    for trace, steps in traces.items():
        add_trace(gathering, trace, steps, path.name)
    for event, trace in events:
        if event.get("name", "eventName").value == _EVALUATION:
            _read_evaluation(event, trace, gathering)
        else:
            gathering.left["Events that are no evaluation, left out"] += 1


def _list_records(request: Node, batch: str, scope: str, records: str) -> list[Node]:
    scopes = [each for group in request.get(batch).items() for each in group.get(scope).items()]
    return [record for each in scopes for record in each.get(records).items()]


def _read_span(span: Node, gathering: Gathering) -> Step:
    fields = _read_attributes(span)
    kind = fields.get(*_KIND).name().casefold()
    parts = [part for part, names in _KINDS.items() if kind in names]
    prompt = decode(fields.get(_SYSTEM).value)
    system = [{"role": "system", "parts": prompt}] if prompt else None
    rest = len(fields.value.keys() - _READ)
    gathering.left["Attributes of spans beside the texts, such as tokens and finish reasons, left out"] += (
        rest
    )
    return Step(
        id=span.get("spanId").name(), parent=span.get("parentSpanId").name(),
        kind=parts[0] if parts else StepKind.OTHER,
        name=fields.get(*_NAME).name() or span.get("name").name(),
        order=str(span.get("startTimeUnixNano").value or "").rjust(20, "0"),
        given=fields.get(*_GIVEN), made=fields.get(*_MADE), system=Node(system, span.place),
        model=fields.get(*_MODEL).name(),
    )  # fmt: skip


def _read_attributes(record: Node) -> Node:
    """Return the attributes of a span or an event by name. Lists with an attribute for each part are lists again."""
    fields = {
        each.get("key").name(): _read_value(each.get("value")) for each in record.get("attributes").items()
    }
    for prefix in _FLAT:
        tree: dict[str, Any] = {}
        for name in [name for name in fields if name.startswith(f"{prefix}.")]:
            short = name.removeprefix(f"{prefix}.").replace(".message.", ".").replace(".tool_call.", ".")
            *path, last = short.split(".")
            at = tree
            for part in path:
                at = at.setdefault(part, {}) if isinstance(at, dict) else {}
            at[last] = fields.pop(name)
        if tree:
            fields[prefix] = _build_lists(tree)
    return Node(fields, record.place)


def _build_lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {name: _build_lists(value) for name, value in tree.items()}
    return list(inner.values()) if inner and all(name.isdigit() for name in inner) else inner


def _read_value(value: Node) -> Any:
    """Return a value of the protocol; numbers of 64 bits are texts in JSON."""
    entries, pairs = value.path("arrayValue", "values"), value.path("kvlistValue", "values")
    if entries.value is not None:
        return [_read_value(each) for each in entries.items()]
    if pairs.value is not None:
        return {pair.get("key").name(): _read_value(pair.get("value")) for pair in pairs.items()}
    number = value.get("intValue")
    return read_number(number.text()) or 0 if number.value is not None else value.get(*_VALUES).value


def _read_evaluation(event: Node, trace: str, gathering: Gathering) -> None:
    fields = _read_attributes(event)
    criterion = fields.get(f"{_NAMED}.name").name()
    score, label = fields.get(f"{_NAMED}.score.value").number(), fields.get(f"{_NAMED}.score.label").name()
    told = (label if score is not None else "", fields.get(f"{_NAMED}.explanation").text())
    judgment = Judgment(
        instance=trace, criterion=criterion, by=TOOL, score=score,
        labels=(label,) if label and score is None else None, comment="\n".join(filter(None, told)),
    )  # fmt: skip
    gathering.add(judgment, event.place)


FORMAT = tool_format("opentelemetry", "OpenTelemetry spans (OTLP JSON)", TOOL, _is_otlp, _read)
