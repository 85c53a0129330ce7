"""Import spans of generative AI in OpenTelemetry's JSON (OTLP), with their evaluation results.

Shape: ``TracesData`` and ``LogsData`` of the OpenTelemetry protocol 1.x, as one object or a line for each request of
a collector, and the spans that the SDK for Python writes (``ReadableSpan.to_json``). Names: the semantic conventions
for generative AI 1.28 to 1.38, whose messages are attributes or events, OpenLLMetry's and OpenInference's.
"""

from __future__ import annotations

import re
from collections import ChainMap, defaultdict
from pathlib import Path

from coeval.datasets.json_nodes import Node, decode, load_node, peek
from coeval.extensions.exchange.otel_values import read_attributes, read_message, rename
from coeval.extensions.exchange.records import Fields
from coeval.extensions.exchange.tool_files import Gathering, Judgment, tool_format
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, name_steps

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
    head = Node(rename(peek(path).value), path.name)
    files = head.items() if isinstance(head.value, list) else [head]
    return any(isinstance(file.get(names[0]).value, list) for file in files for names in _BATCHES) or any(
        isinstance(file.path("context", "traceId").value, str) and isinstance(file.get("attributes").value, dict)
        and any(name.startswith(("gen_ai.", "llm.")) for name in file.get("attributes").value) for file in files
    )  # fmt: skip


def _read(path: Path, gathering: Gathering) -> None:
    traces: dict[str, list[Step]] = defaultdict(list)
    events: list[tuple[Node, str, str]] = []
    nodes = [Node(rename(load_node(file).value), file.name) for file in gathering.files]
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
        read_attributes(event).value for event in told if event.get("name", "eventName").value in _DETAILS
    ]
    fields = Node(dict(ChainMap(read_attributes(span).value, *details)), span.place)
    messages = [read_message(event) for event in told if event.get("name", "eventName").value not in _DETAILS]
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
    fields = read_attributes(event)
    criterion = fields.get(f"{_NAMED}.name").name()
    score, label = fields.get(f"{_NAMED}.score.value").number(), fields.get(f"{_NAMED}.score.label").name()
    told = (label if score is not None else "", fields.get(f"{_NAMED}.explanation").text())
    judgment = Judgment(
        instance=trace, criterion=criterion, by=TOOL, score=score, step=step,
        labels=(label,) if label and score is None else None, comment="\n".join(filter(None, told)),
    )  # fmt: skip
    gathering.add(judgment, event.place)


FORMAT = tool_format("opentelemetry", "OpenTelemetry spans (OTLP JSON)", TOOL, _is_otlp, _read, together=True)
