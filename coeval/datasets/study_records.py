"""The parts of a study as plain records, for tools that keep unknown data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from coeval.datasets.json_nodes import Node
from coeval.datasets.rating_rows import MAX_STEPS
from coeval.datasets.tables.instances import MAX_NAME
from coeval.datasets.text import is_sound
from coeval.domain import (
    Arm,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedSubmission,
    Instance,
    RowKind,
    Run,
    read_rung,
)
from coeval.domain.people import MAX_PERSON_NAME
from coeval.errors import InputError
from coeval.llm.reading.quotes import find_quotes

Record = TypeVar("Record")
CHANGED = "was changed after CoEval wrote it"


def render_record(part: Any) -> dict[str, Any]:
    """Return a part of a study as JSON, without ids and derived values."""
    record = {name: value for name, value in asdict(part).items() if name not in ("id", "created_at")}
    for row in record.get("rows", ()):
        row.pop("id", None)
        row.pop("quotes", None)
    return record


def parse_criterion(node: Node) -> Criterion:
    criterion = _parse(node, Criterion)
    if not 0 < criterion.scale.high - criterion.scale.low < MAX_STEPS:
        raise InputError(f"{node.place}: {CHANGED} (the scale {criterion.scale} cannot be used).")
    return criterion


def parse_run(node: Node) -> Run:
    return _parse(node, Run)


def parse_instance(node: Node, texts: Node) -> Instance:
    """Return an instance, with its input and output from ``texts``."""
    instance = _parse(node, Instance, **{field: texts.get(field).text() for field in ("input", "output")})
    if any(len(name) > MAX_NAME for name in (instance.external_id, instance.document, instance.system)):
        raise InputError(f"{node.place}: {CHANGED} (a name is too long).")
    return instance


def parse_draft(node: Node, instance: Instance) -> ImportedDraft:
    """Return a draft, with the positions of the passages that its evidence quotes."""

    def locate(row: EvaluationRow) -> EvaluationRow:
        if row.kind is not RowKind.EVIDENCE:
            return row
        return replace(row, quotes=find_quotes(row.text, instance.output, instance.input))

    draft = _parse(node, ImportedDraft)
    return replace(draft, rows=tuple(map(locate, draft.rows)), rung=read_rung(draft.rung))


def parse_submission(node: Node) -> ImportedSubmission:
    """Return a submission. Its arm is the drawn one, even if the draft was missing."""
    submission = _parse(node, ImportedSubmission)
    problems = {
        "a person's name is empty or too long": not 0 < len(submission.person) <= MAX_PERSON_NAME,
        "the planted error is wrong": submission.planted not in ("", "score")
        or (submission.planted != "" and submission.arm is not Arm.ASSISTED),
        "the time is below 0": submission.active_ms is not None and submission.active_ms < 0,
        "the arm does not fit": (
            submission.arm not in (Arm.ASSISTED, Arm.FIRST) and submission.shown_score is not None
            or submission.arm is Arm.UNDRAFTED and submission.run != ""
        ),
    }  # fmt: skip
    if problem := next((text for text, occurs in problems.items() if occurs), ""):
        raise InputError(f"{node.place}: {CHANGED} ({problem}); export the study again.")
    if submission.arm is not Arm.UNDRAFTED:
        return submission
    return replace(submission, arm=Arm.ASSISTED if submission.first_score is None else Arm.FIRST)


def _parse(node: Node, kind: type[Record], **more: Any) -> Record:
    """Return the record as a value of this class; raise InputError with the place of an invalid record."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(node.value, dict) or not _is_plain(node.value) or set(node.value) - names:
        raise InputError(f"{node.place}: {CHANGED}; export the study again.")
    try:
        parsed: Record = _adapter(kind).validate_python({**node.value, **more})  # type: ignore[arg-type]
        return parsed
    except ValueError as error:
        told = " ".join(str(error).split())[:200]
        raise InputError(f"{node.place}: {CHANGED} ({told}); export the study again.") from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _is_plain(value: object, depth: int = 8) -> bool:
    """Return whether a value contains only texts and numbers that can be stored, without deep nesting."""
    if isinstance(value, str):
        return is_sound(value)
    if isinstance(value, Mapping):
        return depth > 0 and all(_is_plain(part, depth - 1) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return depth > 0 and all(_is_plain(part, depth - 1) for part in value)
    return not isinstance(value, int | float) or abs(value) < 2**53
