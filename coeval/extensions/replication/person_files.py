"""Export a study as a file for each person, in the form of the public CoEval release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from coeval.domain import Action, EvaluationRow, ImportedSubmission, Instance, Person, ScrutinyRow, Study
from coeval.usecases.access import Context
from coeval.usecases.export import Files, OutFormat, read_standing_study

Rows = list[list[str]]
"""Rows of five texts: the drafted line, a mark if it was approved or deleted, a reason, and the new line."""


def _build(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        study = read_standing_study(db, slug)
    people = sorted({work.person for work in study.submissions})
    width = max(2, len(str(len(people))))
    for number, name in enumerate(people, 1):
        entries = render_person(study, name)
        yield f"A{number:0{width}}.json", [json.dumps({name: entries}, ensure_ascii=False, indent=1), "\n"]


def render_person(study: Study, person: str) -> dict[str, Any]:
    """Return one person's work by instance and criterion, with the rows of the draft that they saw."""
    names = study.task.input_field, study.task.output_field
    if names[0] == names[1]:  # one key cannot hold two texts
        names = "Input", "Output"
    instances = {instance.external_id: instance for instance in study.instances}
    drafted = {
        (run.run.label, draft.instance, draft.criterion): draft.rows
        for run in study.runs
        for draft in run.drafts
    }
    entries: dict[str, dict[str, Any]] = {}
    for work in study.submissions:
        if work.person == person:
            instance = instances[work.instance]
            entry = entries.setdefault(work.instance, _begin(instance, names))
            rows = drafted.get((work.run, work.instance, work.criterion), ())
            entry["criteria"][work.criterion] = _record(work, rows)
    return entries


def _begin(instance: Instance, names: tuple[str, str]) -> dict[str, Any]:
    texts = dict(zip(names, (instance.input, instance.output), strict=True))
    return {**texts, "criteria": {}, "model": instance.system}


def _record(work: ImportedSubmission, drafted: tuple[EvaluationRow, ...]) -> Mapping[str, object]:
    return {
        "final_score": work.score,
        "start_time": work.opened_at or 0,
        "end_time": work.submitted_at or 0,
        "eval_result": list_rows(drafted, work.rows),
    }


def list_rows(drafted: tuple[EvaluationRow, ...], rows: tuple[ScrutinyRow, ...]) -> Rows:
    """Return the drafted lines in order with the person's actions, then the added lines.

    >>> from coeval.domain import RowKind
    >>> seen = EvaluationRow(RowKind.CONCLUSION, "It is clear.")
    >>> list_rows((seen,), (ScrutinyRow(RowKind.CONCLUSION, Action.DELETE, 0, "it is not"),))
    [['It is clear.', '', '1,it is not', '', '']]
    """
    acted = {row.draft_row: row for row in rows if row.draft_row is not None}
    lines = [_row(line.text, acted.get(place)) for place, line in enumerate(drafted)]
    return lines + [_row("", row) for row in rows if row.draft_row is None]


def _row(drafted: str, row: ScrutinyRow | None) -> list[str]:
    if row is None:
        return [drafted, "", "", "", ""]
    mark = f"1,{row.reason}" if row.reason else "1"
    if row.action is Action.APPROVE:
        return [drafted, mark, "", "", ""]
    if row.action is Action.DELETE:
        return [drafted, "", mark, "", ""]
    return [drafted, "", "", row.reason, row.text]


FORMAT = OutFormat(
    "coeval-release",
    "A file for each person, as in the CoEval release (JSON)",
    "One person's work in each file, with the drafted lines and the actions on them. People who judge apart can be "
    "joined again: import the folder.",
    _build,
)
