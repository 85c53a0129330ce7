"""Export a study as Label Studio tasks: one task per instance and criterion, one annotation per submission.

Data that Label Studio can show and change (scores, conclusions, evidence, marked passages, times) is stored in
annotations and predictions in its own form. Other data (actions on drafted lines, arms, reasons) is stored under
``coeval`` in the task's data, which Label Studio keeps unchanged. So are people, because Label Studio rejects people
without accounts.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from coeval.datasets.study_records import render_record
from coeval.domain import (
    Action,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedSubmission,
    Instance,
    Quote,
    RowKind,
    Run,
    Scale,
    Study,
)
from coeval.extensions.exchange.records import count_utf16
from coeval.llm.reading.quotes import find_quotes

TOOL = "Label Studio"
OURS = "coeval"
VERSION = 1
_CONCLUSION, _SCORE, _EVIDENCE, _SPAN = "conclusion", "score", "evidence", "passages"
_LABEL = "evidence"


def render_tasks(study: Study) -> Iterator[dict[str, Any]]:
    """Return one Label Studio task per instance and criterion, or per instance if there are no criteria."""
    drafts: dict[tuple[str, str], list[tuple[Run, ImportedDraft]]] = defaultdict(list)
    for imported in study.runs:
        for draft in imported.drafts:
            drafts[draft.instance, draft.criterion].append((imported.run, draft))
    work: dict[tuple[str, str], list[ImportedSubmission]] = defaultdict(list)
    for submission in study.submissions:
        work[submission.instance, submission.criterion].append(submission)
    criteria: Sequence[Criterion | None] = study.criteria or (None,)
    for instance in study.instances:
        for criterion in criteria:
            key = instance.external_id, criterion.text if criterion else ""
            yield _render_task(instance, criterion, drafts[key], work[key])


def render_config(scales: Sequence[Scale]) -> str:
    """Return the labelling configuration for the settings of a project with such tasks."""
    low, high = (
        min((scale.low for scale in scales), default=1),
        max((scale.high for scale in scales), default=5),
    )
    return f"""<View>
  <Header value="$criterion"/>
  <Text name="input" value="$input"/>
  <Labels name="{_SPAN}" toName="output"><Label value="{_LABEL}"/></Labels>
  <Text name="output" value="$output"/>
  <Number name="{_SCORE}" toName="output" min={quoteattr(str(low))} max={quoteattr(str(high))} step="1"/>
  <TextArea name="{_CONCLUSION}" toName="output" placeholder="Conclusion" editable="true"/>
  <TextArea name="{_EVIDENCE}" toName="output" placeholder="Evidence, a line each" editable="true"/>
</View>
"""


def _render_task(
    instance: Instance,
    criterion: Criterion | None,
    drafts: Sequence[tuple[Run, ImportedDraft]],
    work: Sequence[ImportedSubmission],
) -> dict[str, Any]:
    lines = {run.label: draft.rows for run, draft in drafts}
    rest = {name: value for name, value in render_record(instance).items() if name not in ("input", "output")}
    kept = {
        "version": VERSION,
        "instance": rest,
        "criterion": render_record(criterion) if criterion else None,
        "runs": [render_record(run) for run, _ in drafts],
        "drafts": [render_record(draft) for _, draft in drafts],
        "submissions": [render_record(submission) for submission in work],
    }
    return {
        "data": {
            "instance": instance.external_id,
            "input": instance.input,
            "output": instance.output,
            "document": instance.document,
            "system": instance.system,
            "criterion": criterion.text if criterion else "",
            OURS: kept,
        },
        "annotations": [
            annotation
            for submission in work
            if (annotation := render_annotation(submission, instance, lines.get(submission.run, ())))[
                "result"
            ]
        ],
        "predictions": [
            {
                "model_version": run.label,
                "result": render_results(name_regions(draft), _draft_lines(draft), draft.score, instance),
            }
            for run, draft in drafts
        ],
    }


def render_annotation(
    submission: ImportedSubmission, instance: Instance, drafted: Sequence[EvaluationRow]
) -> dict[str, Any]:
    """Return one submission as an annotation, which will belong to the person who imports it."""
    name = name_regions(submission)
    seconds = None if submission.active_ms is None else submission.active_ms / 1000
    return {
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": submission.submitted_at or None,
        "updated_at": submission.submitted_at or None,
        "lead_time": seconds,
        "result": render_results(name, standing_lines(submission, drafted), submission.score, instance),
    }


def standing_lines(
    submission: ImportedSubmission, drafted: Sequence[EvaluationRow]
) -> list[tuple[RowKind, str]]:
    """Return the lines in a person's final version of an evaluation, including kept, revised and added lines."""
    lines: list[tuple[RowKind, str]] = []
    for row in submission.rows:
        is_drafted = row.draft_row is not None and 0 <= row.draft_row < len(drafted)
        text = drafted[row.draft_row or 0].text if row.action is Action.APPROVE and is_drafted else row.text
        if row.action is not Action.DELETE and row.kind is not RowKind.SCORE and text:
            lines.append((row.kind, text))
    return lines


def render_results(
    name: str, lines: Sequence[tuple[RowKind, str]], score: float | None, instance: Instance
) -> list[dict[str, Any]]:
    """Return Label Studio's regions: a score, texts, and a passage for each quotation in a line."""
    results = []
    if score is not None:
        results.append(_region(f"{name}-score", _SCORE, "number", {"number": score}))
    for kind, control in ((RowKind.CONCLUSION, _CONCLUSION), (RowKind.EVIDENCE, _EVIDENCE)):
        texts = [text for each, text in lines if each is kind]
        if texts:
            results.append(_region(f"{name}-{control}", control, "textarea", {"text": texts}))
    quotes = [
        quote
        for kind, text in lines
        if kind is RowKind.EVIDENCE
        for quote in find_quotes(text, instance.output)
        if quote.found
    ]
    for number, quote in enumerate(dict.fromkeys(quotes)):
        results.append(_region(f"{name}-{number}", _SPAN, "labels", _passage(quote, instance.output)))
    return results


def _passage(quote: Quote, output: str) -> dict[str, Any]:
    """Return a passage with offsets in UTF-16 units, which Label Studio uses."""
    start, end = quote.start or 0, quote.end or 0
    from_browser = count_utf16(output[:start])
    words = output[start:end]
    return {
        "start": from_browser,
        "end": from_browser + count_utf16(words),
        "text": words,
        "labels": [_LABEL],
    }


def _region(name: str, control: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": control, "to_name": "output", "type": kind, "value": dict(value)}


def _draft_lines(draft: ImportedDraft) -> list[tuple[RowKind, str]]:
    return [(row.kind, row.text) for row in draft.rows if row.kind is not RowKind.SCORE and row.text]


def name_regions(part: ImportedSubmission | ImportedDraft) -> str:
    """Return a name for the regions of one submission or draft, so that an import recognises them."""
    record = json.dumps(render_record(part), ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(record.encode()).hexdigest()[:16]
