"""Import spans and annotations of Arize Phoenix.

Shape: ``Span`` and ``SpanAnnotation`` of arize-phoenix-client 3.5, as its API gives them and as its data frames write
them (``context.span_id``, ``result.score``). A file of annotations alone is for a task that has the spans already.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.json_nodes import Node, load_records, peek_records
from coeval.extensions.exchange.records import Fields
from coeval.extensions.exchange.tool_files import (
    Gathering,
    Judgment,
    build_instance,
    read_number,
    tool_format,
)

TOOL = "Phoenix"
_FIELDS = Fields(
    "data span_id context context.span_id span_id name attributes attributes.output.value attributes.input.value "
    "attributes.llm.model_name llm model_name input output value annotator_kind annotation_name identifier user_id "
    "result result.score result.label result.explanation score label explanation updated_at created_at",
)
_KINDS = ("HUMAN", "LLM", "CODE")


def _is_annotation(record: Node) -> bool:
    return str(record.get("annotator_kind").value).upper() in _KINDS and bool(_span(record))


def _is_span(record: Node) -> bool:
    return bool(_span(record)) and _attribute(record, "output", "value").value is not None


def _is_phoenix(path: Path) -> bool:
    return any(_is_annotation(record) or _is_span(record) for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    records = list(load_records(path))
    _FIELDS.count_others(gathering, records)
    for record in records:
        if _is_annotation(record):
            _read_annotation(record, gathering)
        elif _span(record):
            _read_span(record, gathering)
        else:
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


def _read_span(record: Node, gathering: Gathering) -> None:
    model, name = _attribute(record, "llm", "model_name").name(), record.get("name").name()
    instance = build_instance(
        _span(record),
        _attribute(record, "input", "value").chat(),
        _attribute(record, "output", "value").chat(),
        system=model or name,
        context={"span": name} if model else {},
    )
    gathering.add_instance(instance, record.place)


def _read_annotation(record: Node, gathering: Gathering) -> None:
    def result(name: str) -> Node:
        nested = record.path("result", name)
        return record.get(f"result.{name}") if nested.value is None else nested

    score, label = result("score"), result("label").name()
    number = score.number() if isinstance(score.value, int | float) else read_number(score.text())
    kind = record.get("annotator_kind").name().upper()
    person = kind == "HUMAN"
    who = record.get("user_id", "identifier").name()
    told = (label if number is not None else "", result("explanation").text())
    gathering.add(
        Judgment(
            instance=_span(record),
            criterion=record.get("annotation_name", "name").name(),
            by=who if person else f"{TOOL} {kind.lower()} {record.get('identifier').name()}".strip(),
            person=person,
            score=number,
            labels=(label,) if label and number is None else None,
            comment="\n".join(filter(None, told)),
            saved_at=record.get("updated_at", "created_at").time(),
        ),
        record.place,
    )


FORMAT = tool_format("phoenix", "Phoenix annotations and spans (JSON, CSV)", TOOL, _is_phoenix, _read)
