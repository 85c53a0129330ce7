"""Import spans and annotations of Arize Phoenix.

Shape: ``Span`` and ``SpanAnnotation`` of arize-phoenix-client 3.5, as its API gives them and as its data frames write
them (``context.span_id``, ``result.score``). Spans inside another span of the files are its steps. A file of
annotations alone is for a task that has the spans already.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from coeval.datasets.json_nodes import Node, decode
from coeval.extensions.exchange.records import Fields, load_records, peek_records
from coeval.extensions.exchange.tool_files import Gathering, Judgment, read_number, tool_format
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, name_steps

TOOL = "Phoenix"
_MESSAGES = "llm.input_messages llm.output_messages input_messages output_messages"
_FIELDS = Fields(
    "data spans span_annotations span_id context context.span_id parent_id name span_kind start_time attributes "
    "attributes.llm.model_name attributes.openinference.span.kind openinference span span.kind kind "
    "openinference.span.kind llm.model_name llm model_name input output annotator_kind annotation_name identifier "
    "user_id result result.score result.label result.explanation score label explanation updated_at created_at",
    kept=f"{_MESSAGES} attributes.llm.input_messages attributes.llm.output_messages value input.value output.value "
    "attributes.input.value attributes.output.value",
)
_KINDS = ("HUMAN", "LLM", "CODE")
_STEPS = {"LLM": StepKind.MODEL, "TOOL": StepKind.TOOL, "RETRIEVER": StepKind.TOOL}


def _is_annotation(record: Node) -> bool:
    return str(record.get("annotator_kind").value).upper() in _KINDS and bool(_span(record))


def _is_span(record: Node) -> bool:
    return bool(_span(record)) and any(
        _attribute(record, *name).value is not None
        for name in (("output", "value"), ("llm", "output_messages"))
    )


def _is_phoenix(path: Path) -> bool:
    return any(_is_annotation(record) or _is_span(record) for record in _list(peek_records(path)))


def _list(records: list[Node]) -> list[Node]:
    """Return the spans and annotations, also those inside a trace and inside a span."""
    spans = [
        span
        for record in records
        for span in (record.get("spans").items() if isinstance(record.get("spans").value, list) else [record])
    ]
    inner = [(each, _span(span)) for span in spans for each in span.get("span_annotations").items()]
    return spans + [Node({"span_id": span, **each.value}, each.place) for each, span in inner]


def _read(path: Path, gathering: Gathering) -> None:
    records = _list([record for file in gathering.files for record in load_records(file)])
    _FIELDS.count_others(gathering, records)
    spans = {_span(record): record for record in records if _span(record) and not _is_annotation(record)}
    traces: dict[str, list[Step]] = defaultdict(list)
    roots: dict[str, str] = {}
    for name, record in spans.items():
        last, chain = name, {name}
        while last not in roots:
            parent = spans[last].get("parent_id").name()
            if parent not in spans or parent in chain:
                break
            last = parent
            chain.add(last)
        roots |= dict.fromkeys(chain, roots.get(last, last))
        traces[roots[name]].append(_read_span(record))
    steps: dict[str, tuple[str, str]] = {}
    for root, parts in traces.items():
        add_trace(gathering, root, parts, spans[root].place)
        steps |= {span: (root, name) for span, name in name_steps(parts).items()}
    for record in records:
        if _is_annotation(record):
            _read_annotation(record, *steps.get(_span(record), (_span(record), "")), gathering)
        elif not _span(record):
            gathering.left["Records that are neither a span nor an annotation, left out"] += 1


def _span(record: Node) -> str:
    name = record.get("span_id", "context.span_id").value or record.path("context", "span_id").value
    return name.strip() if isinstance(name, str) else ""


def _attribute(record: Node, *names: str) -> Node:
    """Return an attribute. Its dotted name may be a column, a key or a path."""
    dotted = ".".join(names)
    attributes = record.get("attributes")
    for node in (record.get(f"attributes.{dotted}"), attributes.get(dotted), attributes.path(*names)):
        if node.value is not None:
            return node
    return Node(None, record.place)


def _shorten_names(value: Any) -> Any:
    """Return messages with the last parts of their names: "message.role" is "role"."""
    value = decode(value)
    if isinstance(value, dict):
        return {name.rpartition(".")[2]: _shorten_names(inner) for name, inner in value.items()}
    return [_shorten_names(inner) for inner in value] if isinstance(value, list) else value


def _read_span(record: Node) -> Step:
    def texts(part: str) -> Node:
        messages = _attribute(record, "llm", f"{part}_messages")
        plain = _attribute(record, part, "value")
        return plain if plain.value is not None else Node(_shorten_names(messages.value), messages.place)

    kind = record.get("span_kind").name() or _attribute(record, "openinference", "span", "kind").name()
    return Step(
        id=_span(record), parent=record.get("parent_id").name(), kind=_STEPS.get(kind.upper(), StepKind.OTHER),
        name=record.get("name").name(), order=record.get("start_time").text(), given=texts("input"),
        made=texts("output"), system=Node(None, record.place), model=_attribute(record, "llm", "model_name").name(),
    )  # fmt: skip


def _read_annotation(record: Node, span: str, step: str, gathering: Gathering) -> None:
    def result(name: str) -> Node:
        nested = record.path("result", name)
        return record.get(f"result.{name}", name) if nested.value is None else nested

    score, label = result("score"), result("label").name()
    number = score.number() if isinstance(score.value, int | float) else read_number(score.text())
    kind = record.get("annotator_kind").name().upper()
    person = kind == "HUMAN"
    who = record.get("user_id", "identifier").name()
    told = (label if number is not None else "", result("explanation").text())
    judgment = Judgment(
        instance=span,
        criterion=record.get("annotation_name", "name").name(),
        by=who if person else f"{TOOL} {kind.lower()} {record.get('identifier').name()}".strip(),
        person=person,
        score=number,
        labels=(label,) if label and number is None else None,
        comment="\n".join(filter(None, told)),
        saved_at=record.get("updated_at", "created_at").time(),
        step=step,
    )
    gathering.add(judgment, record.place)


FORMAT = tool_format(
    "phoenix", "Phoenix annotations and spans (JSON, CSV, Parquet)", TOOL, _is_phoenix, _read, together=True
)
