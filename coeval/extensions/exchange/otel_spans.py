"""Import spans of generative AI in OpenTelemetry's JSON (OTLP), with their evaluation results.

Shape: ``TracesData`` and ``LogsData`` of the OpenTelemetry protocol 1.x, as one object or a line for each request of
a collector, and the spans that the SDK for Python writes (``ReadableSpan.to_json``). Names: the semantic conventions
for generative AI 1.28 to 1.38, whose messages are attributes or events, OpenLLMetry's and OpenInference's.
"""

from __future__ import annotations

import re
from collections import ChainMap, defaultdict
from pathlib import Path
from typing import Any

from coeval.datasets.json_nodes import Node, decode, load_node, peek
from coeval.extensions.exchange.records import Fields
from coeval.extensions.exchange.tool_files import Gathering, Judgment, read_number, tool_format
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, name_steps

_FLAT = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages")
"""Lists whose entries are attributes of their own, such as ``gen_ai.prompt.0.role``."""

_VALUES = ("stringValue", "boolValue", "doubleValue", "bytesValue")


def _rename(value: Any) -> Any:
    """Return a value of the protocol with the names that its JSON has, such as "spanId" for "span_id"."""
    if isinstance(value, list):
        return [_rename(each) for each in value]
    if not isinstance(value, dict):
        return value
    parts = {re.sub(r"_(?=[a-z])(?P<next>.)", lambda m: m["next"].upper(), name)
             if "." not in name else name: inner for name, inner in value.items()}  # fmt: skip
    return {name: inner if name in ("attributes", "body") and isinstance(inner, dict) else _rename(inner)
            for name, inner in parts.items()}  # fmt: skip


def _read_message(event: Node) -> tuple[dict[str, Any], bool]:
    """Return the message of an event, and whether the model made it."""
    name = event.get("name", "eventName").name()
    fields = _read_attributes(event).value
    body = event.get("body")
    inner = _read_value(body)
    fields = {**(inner if isinstance(inner, dict) else {}), **fields}
    message = decode(fields.get("message"))
    made = name == "gen_ai.choice"
    role = "assistant" if made else name.split(".")[1]
    return {"role": role, **{key: decode(part) for key, part in fields.items() if key != "message"},
            **(message if isinstance(message, dict) else {"content": message} if message else {})}, made  # fmt: skip


def _read_attributes(record: Node) -> Node:
    """Return the attributes of a span or an event by name. Lists with an attribute for each part are lists again."""
    attributes = record.get("attributes")
    fields: dict[str, Any] = dict(attributes.value) if isinstance(attributes.value, dict) else {
        each.get("key").name(): _read_value(each.get("value")) for each in attributes.items()
    }  # fmt: skip
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
_FIELDS = Fields(
    "resourceSpans scopeSpans spans resourceLogs scopeLogs logRecords traceId spanId parentSpanId name eventName "
    "events startTimeUnixNano context parentId startTime",
    kept="attributes body",
)
_DETAILS = ("gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion")
"""Events whose attributes are a span's."""
_MESSAGE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message|gen_ai\.choice")
"""Events that are one message each."""
_NAMED, _EVALUATION = "gen_ai.evaluation", "gen_ai.evaluation.result"
_READ = frozenset((*_KIND, *_NAME, *_MODEL, *_GIVEN, *_MADE, _SYSTEM))


def _is_otlp(path: Path) -> bool:
    head = Node(_rename(peek(path).value), path.name)
    files = head.items() if isinstance(head.value, list) else [head]
    return any(isinstance(file.get(names[0]).value, list) for file in files for names in _BATCHES) or any(
        isinstance(file.path("context", "traceId").value, str) and isinstance(file.get("attributes").value, dict)
        and any(name.startswith(("gen_ai.", "llm.")) for name in file.get("attributes").value) for file in files
    )  # fmt: skip


def _read(path: Path, gathering: Gathering) -> None:
    traces: dict[str, list[Step]] = defaultdict(list)
    events: list[tuple[Node, str, str]] = []
    nodes = [Node(_rename(load_node(file).value), file.name) for file in gathering.files]
    _FIELDS.count_others(gathering, nodes)
    told: dict[tuple[str, str], list[Node]] = defaultdict(list)
    spans: list[tuple[Node, str]] = []
    for request in (r for node in nodes for r in (node.items() if isinstance(node.value, list) else [node])):
        for batch, scope, records in _BATCHES:
            for record in _list_records(request, batch, scope, records):
                trace = (
                    record.get("traceId").name() or record.path("context", "traceId").name()
                ).removeprefix("0x")
                spans += [(record, trace)] if records == "spans" else []
                inner = record.get("events").items() if records == "spans" else [record]
                for event in inner:
                    name = event.get("name", "eventName").name()
                    if name in _DETAILS or _MESSAGE.fullmatch(name):
                        told[trace, _name_span(record)].append(event)
                    else:
                        events.append((event, trace, _name_span(record)))
    for span, trace in spans:
        traces[trace].append(_read_span(span, told[trace, _name_span(span)], gathering))
    for trace, steps in traces.items():
        add_trace(gathering, trace, steps, path.name)
    names = {trace: name_steps(steps) for trace, steps in traces.items()}
    for event, trace, part in events:
        if event.get("name", "eventName").value == _EVALUATION:
            _read_evaluation(event, trace, names.get(trace, {}).get(part, ""), gathering)
        else:
            gathering.left["Events that are no evaluation and no message, left out"] += 1


def _name_span(record: Node) -> str:
    return record.get("spanId").name() or record.path("context", "spanId").name()


def _list_records(request: Node, batch: str, scope: str, records: str) -> list[Node]:
    if records == "spans" and request.get("context").value is not None:
        return [request]
    scopes = [each for group in request.get(batch).items() for each in group.get(scope).items()]
    return [record for each in scopes for record in each.get(records).items()]


def _read_span(span: Node, told: list[Node], gathering: Gathering) -> Step:
    details = [
        _read_attributes(event).value for event in told if event.get("name", "eventName").value in _DETAILS
    ]
    fields = Node(dict(ChainMap(_read_attributes(span).value, *details)), span.place)
    messages = [
        _read_message(event) for event in told if event.get("name", "eventName").value not in _DETAILS
    ]
    kind = fields.get(*_KIND).name().casefold()
    parts = [part for part, names in _KINDS.items() if kind in names]
    prompt = decode(fields.get(_SYSTEM).value)
    system = [{"role": "system", "parts": prompt}] if prompt else None
    note = "Attributes of spans beside the texts, such as tokens and finish reasons, left out"
    gathering.left[note] += len(fields.value.keys() - _READ)

    def texts(names: tuple[str, ...], made: bool) -> Node:
        said = [message for message, is_made in messages if is_made is made]
        return fields.get(*names) if not said else Node(said, span.place)

    return Step(
        id=_name_span(span), parent=span.get("parentSpanId", "parentId").name(),
        kind=parts[0] if parts else StepKind.MODEL if messages else StepKind.OTHER,
        name=fields.get(*_NAME).name() or span.get("name").name(),
        order=span.get("startTimeUnixNano", "startTime").text().rjust(20, "0"),
        given=texts(_GIVEN, False), made=texts(_MADE, True), system=Node(system, span.place),
        model=fields.get(*_MODEL).name(),
    )  # fmt: skip


def _read_evaluation(event: Node, trace: str, step: str, gathering: Gathering) -> None:
    fields = _read_attributes(event)
    criterion = fields.get(f"{_NAMED}.name").name()
    score, label = fields.get(f"{_NAMED}.score.value").number(), fields.get(f"{_NAMED}.score.label").name()
    told = (label if score is not None else "", fields.get(f"{_NAMED}.explanation").text())
    judgment = Judgment(
        instance=trace, criterion=criterion, by=TOOL, score=score, step=step,
        labels=(label,) if label and score is None else None, comment="\n".join(filter(None, told)),
    )  # fmt: skip
    gathering.add(judgment, event.place)


FORMAT = tool_format("opentelemetry", "OpenTelemetry spans (OTLP JSON)", TOOL, _is_otlp, _read, together=True)
