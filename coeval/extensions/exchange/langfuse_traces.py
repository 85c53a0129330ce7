"""Import traces and scores of Langfuse.

Shape: ``Score`` and ``Trace`` of its public API (versions 1 to 3); exports write the names in camel case or with
underscores. If a file has only scores, the task must already have the traces as instances with these ids.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coeval.datasets.json_nodes import Node, load_records, peek_records
from coeval.domain import Scale
from coeval.extensions.exchange.records import ANNOTATOR, MARK, Fields, is_our_score
from coeval.extensions.exchange.tool_files import (
    Gathering,
    Judgment,
    build_instance,
    read_number,
    tool_format,
)
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, decode

TOOL = "Langfuse"
_TRACE_FIELDS = Fields(
    "id name model providedModelName provided_model_name internal_model_id observations type parentObservationId "
    "parent_observation_id startTime start_time",
    kept="metadata input output scores",
)
_SCORE_FIELDS = Fields(
    "subject subject.id name traceId trace_id observationId observation_id source dataType data_type value stringValue "
    f"string_value comment authorUserId author_user_id timestamp metadata {ANNOTATOR} {MARK}"
)
_SOURCES = ("ANNOTATION", "API", "EVAL")
_TRACE = ("traceId", "trace_id")
_OBSERVATION = ("observationId", "observation_id")


_ONLY_TRACE = frozenset((
    "htmlPath", "projectId", "project_id", "observations", "parentObservationId", "parent_observation_id",
))  # fmt: skip
"""Fields that a trace or an observation has, and no other record with an input and an output."""


def _is_score(record: Node) -> bool:
    about = (*_TRACE, *_OBSERVATION, "subject")
    return (
        str(record.get("source").value).upper() in _SOURCES
        and record.get("name").value is not None
        and record.get(*about).value is not None
        and {"value", "stringValue", "string_value"} & set(record.value)
    ) != set() and bool(record.get("dataType", "data_type").value)


def _is_trace(record: Node) -> bool:
    return {"id", "input", "output"} <= set(record.value) and bool(_ONLY_TRACE & set(record.value))


def _is_langfuse(path: Path) -> bool:
    return any(_is_score(record) or _is_trace(record) for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    records = list(load_records(path))
    for record in records:
        if _is_trace(record):
            _TRACE_FIELDS.count_others(gathering, [record])
            _read_trace(record, gathering)
        elif _is_score(record):
            _read_score(record, gathering)
        else:
            gathering.left["Records that are neither a score nor a trace, left out"] += 1


_STEPS = {"GENERATION": StepKind.MODEL, "TOOL": StepKind.TOOL, "RETRIEVER": StepKind.TOOL}
_MODEL = ("model", "providedModelName", "provided_model_name", "internal_model_id")


def _read_observation(observation: Node) -> Step:
    return Step(
        id=observation.get("id").name(),
        parent=observation.get("parentObservationId", "parent_observation_id").name(),
        kind=_STEPS.get(observation.get("type").name().upper(), StepKind.OTHER),
        name=observation.get("name").name(), order=observation.get("startTime", "start_time").text(),
        given=observation.get("input"), made=observation.get("output"), system=Node(None, observation.place),
        model=observation.get(*_MODEL).name(),
    )  # fmt: skip


def _add_trace(trace: Node, key: str, gathering: Gathering) -> bool:
    """Add a trace: with its observations it is a conversation, otherwise an input and an output."""
    context = {"metadata": trace.get("metadata").text()}
    observations = [each for each in trace.get("observations").items() if isinstance(each.value, dict)]
    ids = len(trace.get("observations").items()) - len(observations)
    gathering.left["Ids of observations without their content, left out"] += ids
    if observations:
        root = replace(_read_observation(trace), id="", order="")
        return add_trace(
            gathering, key, [root, *map(_read_observation, observations)], trace.place, context=context
        )
    question, output = trace.get("input").chat(), trace.get("output").chat()
    instance = build_instance(
        key, question, output, system=trace.get(*_MODEL, "name").name(), context=context
    )
    return gathering.add_instance(instance, trace.place)


def _read_trace(trace: Node, gathering: Gathering) -> None:
    key = trace.get("id").name()
    if _add_trace(trace, key, gathering):
        for score in trace.get("scores").items():
            if isinstance(score.value, dict):  # if the file has only their ids, there is nothing to read
                _read_score(score, gathering, key)


def _read_score(score: Node, gathering: Gathering, trace: str = "") -> None:
    _SCORE_FIELDS.count_others(gathering, [score])
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
    metadata = score.get("metadata")
    metadata = Node(decode(metadata.value), metadata.place)
    if is_our_score(gathering, metadata.get(MARK)):
        return
    source = score.get("source").name().upper()
    who = (
        score.get("authorUserId", "author_user_id").name()
        if source == "ANNOTATION"
        else metadata.get(ANNOTATOR).name()
    )
    person = source == "ANNOTATION" or bool(who)
    judgment = Judgment(
        instance=key, criterion=criterion, by=who if person else f"{TOOL} {source.lower()}", person=person,
        score=number, labels=labels, comment=comment,
        saved_at=score.get("timestamp", "updatedAt", "updated_at").time(),
    )  # fmt: skip
    gathering.add(judgment, score.place)


FORMAT = tool_format("langfuse", "Langfuse scores and traces (JSON, CSV)", TOOL, _is_langfuse, _read)
