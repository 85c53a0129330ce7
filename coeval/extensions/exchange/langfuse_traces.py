"""Import traces and scores of Langfuse.

Shape: ``Score`` and ``Trace`` of its public API (versions 1 to 3); exports write the names in camel case or with
underscores. If a file has only scores, the task must already have the traces as instances with these ids.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from coeval.datasets.json_nodes import Node, decode
from coeval.domain import Scale
from coeval.extensions.exchange.records import (
    ANNOTATOR,
    MARK,
    Fields,
    is_our_score,
    load_records,
    peek_records,
)
from coeval.extensions.exchange.tool_files import (
    Gathering,
    Judgment,
    build_instance,
    read_number,
    tool_format,
)
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, name_steps

TOOL = "Langfuse"
_TRACE_FIELDS = Fields(
    "id name model providedModelName provided_model_name internal_model_id observations type parentObservationId "
    "parent_observation_id startTime start_time traceId trace_id",
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
        and bool({"value", "stringValue", "string_value"} & set(record.value))
        and bool(record.get("dataType", "data_type").value)
    )


def _is_trace(record: Node) -> bool:
    return {"id", "input", "output"} <= set(record.value) and bool(_ONLY_TRACE & set(record.value))


def _is_step(record: Node) -> bool:
    return _is_trace(record) and record.get(*_TRACE).value is not None


def _is_langfuse(path: Path) -> bool:
    return any(_is_score(record) or _is_trace(record) for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    records = [record for file in gathering.files for record in load_records(file)]
    steps = [record for record in records if _is_step(record)]
    traces = {each.get("id").name(): each for each in records if _is_trace(each) and not _is_step(each)}
    of_trace: dict[str, dict[str, Node]] = defaultdict(dict)
    for name, trace in traces.items():
        listed = [each for each in trace.get("observations").items() if isinstance(each.value, dict)]
        of_trace[name] = {each.get("id").name() or each.place: each for each in listed}
    for step in steps:
        of_trace[step.get(*_TRACE).name()].setdefault(step.get("id").name(), step)
    scores = [(each, "") for each in records if _is_score(each)]
    scores += [(each, name) for name, trace in traces.items() for each in trace.get("scores").items()]
    # if a trace has only the ids of its scores, there is nothing to read
    scores = [(each, name) for each, name in scores if isinstance(each.value, dict)]
    _TRACE_FIELDS.count_others(gathering, [*traces.values(), *steps])
    _SCORE_FIELDS.count_others(gathering, [score for score, _ in scores])
    rest = sum(not _is_score(record) and not _is_trace(record) for record in records)
    gathering.left["Records that are neither a score nor a trace, left out"] += rest
    parts = {name: _add_trace(traces.get(name), name, list(observations.values()), gathering)
             for name, observations in of_trace.items()}  # fmt: skip
    trace_of = {part: name for name, steps_of_trace in parts.items() for part in steps_of_trace}
    for score, name in scores:
        part = score.get(*_OBSERVATION).name() or score.path("subject", "id").name()
        key = (part and trace_of.get(part)) or name or score.get(*_TRACE).name()
        key = key if key in parts or not part else part
        _read_score(score, key, parts.get(key, {}).get(part, ""), gathering)


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


def _add_trace(
    trace: Node | None, key: str, observations: list[Node], gathering: Gathering
) -> dict[str, str]:
    """Add a trace, and return the names of its steps by their ids.

    With its observations it is a conversation, otherwise an input and an output.
    """
    steps = list(map(_read_observation, observations))
    names = name_steps(steps)
    if trace is None:
        add_trace(gathering, key, steps, observations[0].place)
        return names
    context = {"metadata": trace.get("metadata").text()}
    ids = sum(not isinstance(each.value, dict) for each in trace.get("observations").items())
    told = "Ids of observations without their content, left out"
    gathering.left[told] += max(0, ids - len(steps))
    if steps:
        root = replace(_read_observation(trace), id="", order="")
        add_trace(gathering, key, [root, *steps], trace.place, context=context)
    else:
        question, output = trace.get("input").chat(), trace.get("output").chat()
        system = trace.get(*_MODEL, "name").name()
        gathering.add_instance(
            build_instance(key, question, output, system=system, context=context), trace.place
        )
    return {step.id: names[step.id] or step.name for step in steps}


def _read_score(score: Node, key: str, step: str, gathering: Gathering) -> None:
    """Add a score of the trace ``key``; ``step`` is the name of its step, empty for the whole trace."""
    if not key:
        gathering.left["Scores of a session or of an experiment, left out"] += 1
        return
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
        saved_at=score.get("timestamp", "updatedAt", "updated_at").time(), step=step,
    )  # fmt: skip
    gathering.add(judgment, score.place)


FORMAT = tool_format(
    "langfuse", "Langfuse scores and traces (JSON, CSV)", TOOL, _is_langfuse, _read, together=True
)
