"""Studies that come with CoEval: the demo task, and a finished study, which has data for each section of Agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.source import Source, source_of
from coeval.datasets.text import check_text, find_json, load_json
from coeval.domain import (
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Proposal,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.llm.reading.quotes import find_quotes

# The demo task: a JSON file, written for this project, with instances, criteria, proposals and drafts.

MARK = "coeval-demo"
"""The value of ``format`` in a demo file."""

RUN = Run(protocol="written", model="written for the demo", label="written for the demo", shown=True)


def is_demo(value: object) -> bool:
    """Return whether a JSON value is from a demo file."""
    return isinstance(value, dict) and value.get("format") == MARK


def load_demo(path: Path) -> tuple[Study, tuple[Proposal, ...]]:
    """Return the demo's study and the proposals of its first ballot; raise InputError for another file."""
    value: Any = load_json(path)
    if not is_demo(value):
        raise InputError(f"{path.name}: is not a file of the demo; import your own data as CSV or JSONL.")
    try:
        return _build_study(value), tuple(Proposal(entry["text"]) for entry in value["proposals"])
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise InputError(f"{path.name}: lacks a part of the demo ({exc!r}); restore it.") from exc


def _build_study(value: Mapping[str, Any]) -> Study:
    instances = tuple(_build_instance(entry, value["documents"]) for entry in value["instances"])
    outputs = {instance.external_id: instance.output for instance in instances}
    criteria = tuple(Criterion(text=entry["text"], name=entry["name"]) for entry in value["criteria"])
    texts = {criterion.name: criterion.text for criterion in criteria}
    drafts = tuple(_build_draft(entry, texts, outputs) for entry in value["drafts"])
    return Study(
        task=Task(slug="demo", origin=value["origin"], **value["task"]),
        instances=instances,
        criteria=criteria,
        runs=(ImportedRun(RUN, drafts),),
        notes=(value["note"],),
    )


def _build_instance(entry: Mapping[str, str], documents: Mapping[str, str]) -> Instance:
    return Instance(
        external_id=entry["id"],
        input=check_text(documents[entry["document"]], entry["id"]),
        output=check_text(entry["output"], entry["id"]),
        document=entry["document"],
        system=entry["system"],
    )


def _build_draft(
    entry: Mapping[str, Any], texts: Mapping[str, str], outputs: Mapping[str, str]
) -> ImportedDraft:
    output = outputs[entry["instance"]]
    rows = (
        EvaluationRow(RowKind.CONCLUSION, entry["conclusion"]),
        EvaluationRow(RowKind.SCORE, f"{entry['score']:g}"),
        *(EvaluationRow(RowKind.EVIDENCE, line, find_quotes(line, output)) for line in entry["evidence"]),
    )
    return ImportedDraft(entry["instance"], texts[entry["criterion"]], float(entry["score"]), rows)


def _is_demo_file(path: Path, columns: Columns) -> bool:
    return find_json(path) == "json" and is_demo(load_json(path))


def _open(path: Path, slug: str, columns: Columns) -> Source:
    study, _ = load_demo(path)
    return source_of(replace(study, task=replace(study.task, slug=slug)))


FORMAT = Format("demo", "The demo study", fits=_is_demo_file, open=_open)


# The finished study: the fields of a Study as packed JSON, written for this project.

SLUG = "finished-example"


def load_finished_example(path: Path) -> Study:
    """Return the finished study: five simulated people, three systems, two judges, three arms, planted scores."""
    study: Study = TypeAdapter(Study).validate_python(load_json(path))
    return study
