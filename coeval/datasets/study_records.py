"""The parts of a study as plain records, for tools that keep unknown data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from coeval.datasets.json_nodes import Node
from coeval.datasets.rating_rows import MAX_STEPS
from coeval.datasets.tables.instances import MAX_NAME
from coeval.datasets.text import is_sound
from coeval.domain import (
    Action,
    Arm,
    Criterion,
    EvaluationRow,
    Group,
    Guide,
    ImportedDraft,
    ImportedSubmission,
    Instance,
    Origin,
    RowKind,
    Run,
    Scale,
    ScrutinyRow,
    read_rung,
)
from coeval.domain.people import MAX_PERSON_NAME
from coeval.errors import InputError
from coeval.llm.reading.quotes import find_quotes


def render_record(part: Any) -> dict[str, Any]:
    """Return a part of a study as JSON, without ids and derived values."""
    record = {name: value for name, value in asdict(part).items() if name not in ("id", "created_at")}
    for row in record.get("rows", ()):
        row.pop("id", None)
        row.pop("quotes", None)
    return record


def parse_criterion(node: Node) -> Criterion:
    return _parse(node, _criterion)


def parse_run(node: Node) -> Run:
    return _parse(node, _run)


def parse_instance(node: Node, texts: Node) -> Instance:
    """Return an instance, with its input and output from ``texts``."""
    words = {field: texts.get(field).text() for field in ("input", "output")}
    return _parse(node, lambda record: _instance({**record, **words}))


def parse_draft(node: Node, instance: Instance) -> ImportedDraft:
    """Return a draft, with the positions of the passages that its evidence quotes."""
    return _parse(node, lambda record: _draft(record, instance))


def parse_submission(node: Node) -> ImportedSubmission:
    return _parse(node, _submission)


def _parse(node: Node, build: Any) -> Any:
    """Return ``build(record)``; raise InputError with the place of an invalid record."""
    if not isinstance(node.value, dict) or not _is_plain(node.value):
        raise InputError(f"{node.place}: was changed after CoEval wrote it; export the study again.")
    try:
        return build(dict(node.value))
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise InputError(
            f"{node.place}: was changed after CoEval wrote it ({exc}); export the study again."
        ) from exc


def _is_plain(value: object, depth: int = 8) -> bool:
    """Return whether a value contains only texts and numbers that can be stored, without deep nesting."""
    if isinstance(value, str):
        return is_sound(value)
    if isinstance(value, Mapping):
        return depth > 0 and all(_is_plain(part, depth - 1) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return depth > 0 and all(_is_plain(part, depth - 1) for part in value)
    return not isinstance(value, int | float) or abs(value) < 2**53


def _criterion(record: dict[str, Any]) -> Criterion:
    guide = record.pop("guide")
    scale = Scale(int(record["scale"]["low"]), int(record["scale"]["high"]))
    if not 0 < scale.high - scale.low < MAX_STEPS:
        raise ValueError(f"the scale {scale} cannot be used")
    anchors = tuple((int(score), _text(meaning)) for score, meaning in guide["anchors"])
    return Criterion(
        text=_text(record["text"]),
        name=_text(record["name"]),
        origin=Origin(record["origin"]),
        scale=scale,
        question=_text(record["question"]),
        guide=Guide(_text(guide["definition"]), anchors, _text(guide["examples"])),
    )


def _run(record: dict[str, Any]) -> Run:
    words: dict[str, Any] = {
        name: _text(record[name]) for name in ("protocol", "model", "label", "prompt_hash")
    }
    return Run(**words, params=dict(record["params"]), shown=bool(record["shown"]))


def _instance(record: dict[str, Any]) -> Instance:
    context = {_text(name): _text(text) for name, text in record.pop("context").items()}
    words: dict[str, Any] = {name: _text(text) for name, text in record.items()}
    instance = Instance(**words, context=context)
    if any(len(name) > MAX_NAME for name in (instance.external_id, instance.document, instance.system)):
        raise ValueError("a name is too long")
    return instance


def _draft(record: dict[str, Any], instance: Instance) -> ImportedDraft:
    def build(row: Mapping[str, Any]) -> EvaluationRow:
        kind, text = RowKind(row["kind"]), _text(row["text"])
        quotes = find_quotes(text, instance.output, instance.input) if kind is RowKind.EVIDENCE else ()
        return EvaluationRow(kind, text, quotes)

    return ImportedDraft(
        instance=_text(record["instance"]),
        criterion=_text(record["criterion"]),
        score=_number(record["score"]),
        rows=tuple(map(build, record["rows"])),
        reason=_text(record["reason"]),
        raw=_text(record["raw"]),
        samples=tuple(float(sample) for sample in record["samples"]),
        probabilities=tuple(float(share) for share in record.get("probabilities", ())),
        rung=read_rung(record.get("rung", "")),
    )


def _submission(record: dict[str, Any]) -> ImportedSubmission:
    rows = tuple(
        ScrutinyRow(
            RowKind(row["kind"]),
            Action(row["action"]),
            None if row["draft_row"] is None else int(row["draft_row"]),
            _text(row["reason"]),
            _text(row["text"]),
        )
        for row in record["rows"]
    )
    group = record["group"]
    if not 0 < len(record["person"]) <= MAX_PERSON_NAME:
        raise ValueError("a person's name is empty or too long")
    if (
        record["planted"] not in ("", "score", "evidence")
        or record["planted"]
        and record["arm"] != Arm.ASSISTED
    ):
        raise ValueError("the planted error cannot be")
    if record["active_ms"] is not None and int(record["active_ms"]) < 0:
        raise ValueError("the time cannot be")
    unshown = (
        record["arm"] in (Arm.BLIND, Arm.EVIDENCE, Arm.REASONS, Arm.UNDRAFTED)
        and record["shown_score"] is not None
    )
    if unshown or record["arm"] == Arm.UNDRAFTED and record["run"]:
        raise ValueError("the arm cannot be")
    return ImportedSubmission(
        person=_text(record["person"]),
        instance=_text(record["instance"]),
        criterion=_text(record["criterion"]),
        score=_number(record["score"]),
        rows=rows,
        opened_at=_text(record["opened_at"]),
        submitted_at=_text(record["submitted_at"]),
        arm=_drawn(record),
        run=_text(record["run"]),
        shown_score=_number(record["shown_score"]),
        planted=_text(record["planted"]),
        active_ms=None if record["active_ms"] is None else int(record["active_ms"]),
        first_score=_number(record["first_score"]),
        group=None if group is None else Group(group),
    )


def _drawn(record: Mapping[str, Any]) -> Arm:
    """Return the arm that was drawn, even if the draft was missing."""
    arm = Arm(record["arm"])
    if arm is not Arm.UNDRAFTED:
        return arm
    return Arm.ASSISTED if record["first_score"] is None else Arm.FIRST


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
