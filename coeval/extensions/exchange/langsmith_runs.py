"""Import runs and feedback of LangSmith.

Shape: ``Run`` and ``Feedback`` of langsmith 0.15 as JSON (``run.model_dump(mode="json")``), in a list, a line each, or
under ``runs``. The runs of one trace are one answer. A file of feedback alone is for a task that has the traces.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from coeval.datasets.json_nodes import Node
from coeval.extensions.exchange.records import (
    ANNOTATOR,
    MARK,
    Fields,
    add_value,
    is_our_score,
    load_records,
    peek_records,
)
from coeval.extensions.exchange.tool_files import Gathering, Judgment, tool_format
from coeval.extensions.exchange.trace_steps import Step, StepKind, add_trace, name_steps

TOOL = "LangSmith"
_KINDS = {"llm": StepKind.MODEL, "tool": StepKind.TOOL, "retriever": StepKind.TOOL}
_RUN = frozenset(("run_type", "inputs", "trace_id"))
_FEEDBACK = frozenset(("run_id", "key", "feedback_source"))
_MODEL = ("ls_model_name", "model_name", "model")
_PEOPLE = ("app", "annotation_queue")
"""The sources of feedback that people gave in LangSmith. Feedback over the API is a person's if it names one."""
_FIELDS = Fields(
    "runs child_runs id run_type name trace_id parent_run_id dotted_order start_time error tags extra run_id key score "
    "feedback_source type user_name user_id comment modified_at",
    kept="inputs outputs metadata value correction",
)
_SET_BY_LANGSMITH = ("ls_", "LANGSMITH", "LANGCHAIN", "usage_metadata", "revision_id")
"""The beginnings of the names of metadata that no user sets."""


def _list(records: list[Node]) -> list[Node]:
    """Return the runs and feedback, also those of an answer of the API and those inside a run."""
    inner = [
        each for record in records for name in ("runs", "child_runs") for each in record.get(name).items()
    ]
    plain = [record for record in records if "runs" not in record.value]
    return plain + (_list(inner) if inner else [])


def _is_runs(path: Path) -> bool:
    def fits(record: Node) -> bool:
        names = record.value.keys() if isinstance(record.value, dict) else set()
        return names >= _RUN or names >= _FEEDBACK

    records = peek_records(path)
    inner = [
        each
        for record in records
        if isinstance(record.get("runs").value, list)
        for each in record.get("runs").items()
    ]
    return any(map(fits, records + inner))


def _read(path: Path, gathering: Gathering) -> None:
    records = _list([record for file in gathering.files for record in load_records(file)])
    _FIELDS.count_others(gathering, records)
    runs = [record for record in records if record.value.keys() >= _RUN]
    traces: dict[str, list[Node]] = defaultdict(list)
    for run in {run.get("id").name(): run for run in runs}.values():
        traces[run.get("trace_id").name() or run.get("id").name()].append(run)
    for trace, parts in traces.items():
        _read_trace(trace, parts, gathering)
    trace_of = {run.get("id").name(): trace for trace, parts in traces.items() for run in parts}
    steps = {
        run: name for parts in traces.values() for run, name in name_steps([*map(_read_run, parts)]).items()
    }
    for record in records:
        if record.value.keys() >= _FEEDBACK:
            _read_feedback(record, trace_of, steps, gathering)
        elif record.value.keys() < _RUN:
            gathering.left["Records that are neither a run nor feedback, left out"] += 1


def _read_trace(trace: str, runs: list[Node], gathering: Gathering) -> None:
    root = next((run for run in runs if run.get("id").name() == trace), runs[0])
    metadata = root.path("extra", "metadata").entries()
    context = {name: value.text() for name, value in metadata if not name.startswith(_SET_BY_LANGSMITH)}
    gathering.left["Metadata that LangSmith set itself, left out"] += len(metadata) - len(context)
    tags = ", ".join(dict.fromkeys(tag.name() for run in runs for tag in run.get("tags").items()))
    further = {"tags": tags, "error": root.get("error").text(), **context}
    add_trace(gathering, trace, list(map(_read_run, runs)), root.place, context=further)


def _read_run(run: Node) -> Step:
    model = run.path("extra", "metadata").get(*_MODEL).value or run.get("inputs").get(*_MODEL).value
    return Step(
        id=run.get("id").name(), parent=run.get("parent_run_id").name(),
        kind=_KINDS.get(run.get("run_type").name(), StepKind.OTHER), name=run.get("name").name(),
        order=run.get("dotted_order").text() or run.get("start_time").text(),
        given=run.get("inputs"), made=run.get("outputs"), system=Node(None, run.place),
        model=Node(model, run.place).name(),
    )  # fmt: skip


def _read_feedback(
    feedback: Node, trace_of: dict[str, str], steps: dict[str, str], gathering: Gathering
) -> None:
    source = feedback.get("feedback_source")
    metadata = source.get("metadata")
    if is_our_score(gathering, metadata.get(MARK)):
        return
    run, kind = feedback.get("run_id").name(), source.get("type").name()
    trace = trace_of.get(run) or feedback.get("trace_id").name() or run
    who = source.get("user_name", "user_id").name() or metadata.get(ANNOTATOR).name()
    person = kind in _PEOPLE or bool(who)
    correction = feedback.get("correction").text()
    value = feedback.get("score") if feedback.get("score").value is not None else feedback.get("value")
    label = feedback.get("value").text() if value.value is not feedback.get("value").value else ""
    told = (feedback.get("comment").text(), label, f"correction: {correction}" if correction else "")
    shared = Judgment(
        instance=trace, criterion=feedback.get("key").name(), by=who if person else f"{TOOL} {kind}".strip(),
        person=person, comment="\n".join(filter(None, told)),
        saved_at=feedback.get("modified_at", "created_at").time(),
        step=(steps.get(run) or run) if run != trace else "",
    )  # fmt: skip
    add_value(gathering, shared, value, feedback.place)


FORMAT = tool_format("langsmith", "LangSmith runs and feedback (JSON)", TOOL, _is_runs, _read, together=True)
