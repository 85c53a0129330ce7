"""Langfuse: scores and annotations as JSON, JSON Lines or CSV, with the traces or observations they are about.

Shape: ``Score`` and ``Trace`` of Langfuse's public API (versions 1 to 3), whose names its exports write in camel case
or with underscores. A file of scores alone is for a task that has the traces as instances already, by their ids.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.gathering import Gathering, build_instance
from coeval.datasets.json_nodes import Node
from coeval.datasets.judgments import Judgment, read_number
from coeval.datasets.records import load_records, peek_records
from coeval.datasets.tool_format import tool_format
from coeval.domain import Scale

TOOL = "Langfuse"
_SOURCES = ("ANNOTATION", "API", "EVAL")
_TRACE = ("traceId", "trace_id")
_OBSERVATION = ("observationId", "observation_id")


def _is_score(record: Node) -> bool:
    about = (*_TRACE, *_OBSERVATION, "subject")
    return (
        str(record.get("source").value).upper() in _SOURCES
        and record.get("name").value is not None
        and record.get(*about).value is not None
        and {"value", "stringValue", "string_value"} & set(record.value)
    ) != set() and bool(record.get("dataType", "data_type").value)


def _is_trace(record: Node) -> bool:
    marks = {
        "htmlPath",
        "projectId",
        "project_id",
        "observations",
        "parentObservationId",
        "parent_observation_id",
    }
    return {"id", "input", "output"} <= set(record.value) and bool(marks & set(record.value))


def _fits(path: Path) -> bool:
    return any(_is_score(record) or _is_trace(record) for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    for record in load_records(path):
        if _is_trace(record):
            _read_trace(record, gathering)
        elif _is_score(record):
            _read_score(record, gathering)
        else:
            gathering.left["Records that are neither a score nor a trace, left out"] += 1


def _read_trace(trace: Node, gathering: Gathering) -> None:
    key = trace.get("id").name()
    about = ("model", "providedModelName", "provided_model_name", "internal_model_id", "name")
    instance = build_instance(
        key,
        trace.get("input").chat(),
        trace.get("output").chat(),
        system=trace.get(*about).name(),
        context={"metadata": trace.get("metadata").text()},
    )
    if gathering.add_instance(instance, trace.place):
        for score in trace.get("scores").items():
            if isinstance(score.value, dict):  # where only their ids are given, there is nothing to read
                _read_score(score, gathering, key)


def _read_score(score: Node, gathering: Gathering, trace: str = "") -> None:
    subject = score.get("subject")
    key = score.get(*_OBSERVATION, *_TRACE).name() or subject.get("id").name() or trace
    criterion = score.get("name").name()
    kind = score.get("dataType", "data_type").name().upper()
    value, words = score.get("value"), score.get("stringValue", "string_value")
    number = value.number() if isinstance(value.value, int | float) else read_number(value.text())
    comment, labels = score.get("comment").text(), None
    if kind == "BOOLEAN":
        gathering.scales.setdefault(criterion, Scale(0, 1))
        number = {"true": 1.0, "false": 0.0}.get((words.text() or value.text()).casefold(), number)
    elif kind == "CATEGORICAL":
        labels, number = (words.text() or value.text(),), None
    elif kind in ("TEXT", "CORRECTION"):
        comment, number = "\n".join(filter(None, (words.text() or value.text(), comment))), None
    source = score.get("source").name().upper()
    person = source == "ANNOTATION"
    gathering.add(
        Judgment(
            instance=key,
            criterion=criterion,
            by=score.get("authorUserId", "author_user_id").name() if person else f"{TOOL} {source.lower()}",
            person=person,
            score=number,
            labels=labels,
            comment=comment,
            saved_at=score.get("timestamp", "updatedAt", "updated_at").time(),
        ),
        score.place,
    )


FORMAT = tool_format("langfuse", "Langfuse scores and traces (JSON, CSV)", TOOL, _fits, _read)
