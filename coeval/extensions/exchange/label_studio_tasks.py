"""Label Studio tasks, out (one task per instance and criterion, one annotation per submission), and JSON-MIN, in.

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
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from coeval.datasets.json_nodes import Node, decode
from coeval.datasets.study_records import render_record
from coeval.datasets.text import shorten
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
from coeval.extensions.exchange.records import (
    Results,
    count_utf16,
    load_records,
    name_person,
    peek_records,
    read_answer,
    slice_utf16,
)
from coeval.extensions.exchange.tool_files import Gathering, Judgment, read_number, tool_format
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


_MARKS = frozenset(("annotator", "annotation_id", "lead_time"))
_OWN = (*_MARKS, "id", "created_at", "updated_at", "agreement")
_UNREAD = ("annotation_id", "created_at", "agreement")
_KINDS = ("choices", "taxonomy", "text", "rating", "number", "selected", "ranker")
"""The names inside a value that is not one text or number."""
MAX_WORDS = 3
"""The most words of a choice. The files do not say what was typed and what was chosen."""
_HIGHEST, _MOST = 100, 11
"""The highest rating, and the largest number of different ratings, of a field that is taken for a control."""


def _is_short(path: Path) -> bool:
    return any(record.value.keys() >= _MARKS for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    given = list(load_records(path))
    records = [record for record in given if record.get("annotation_id", "annotator").value is not None]
    gathering.left["Records without an annotation, left out"] += len(given) - len(records)
    unread = sum(record.get(name).value is not None for record in records for name in _UNREAD)
    told = f"Values in fields that a study does not have ({', '.join(_UNREAD)}), left out"
    gathering.left[told] += unread
    controls = _find_controls(records, gathering)
    values = {
        name: [each.get(name) for each in records if each.get(name).value is not None] for name in controls
    }
    typed = {name for name, given in values.items() if _is_typed(given)}
    for number, record in enumerate(records, 1):
        name = record.get("id").name() or str(number)
        fields = {field: value for field, value in record.value.items() if field not in (*_OWN, *controls)}
        instance = read_answer(Node(fields, record.place), name)
        if not gathering.add_instance(instance, record.place):
            continue
        results = Results()
        for control in controls:
            _read_value(control, record.get(control), control in typed, instance.output, results, gathering)
        seconds = read_number(record.get("lead_time").text())
        shared = Judgment(
            instance=name, criterion="-", by=_name(record.get("annotator")), person=True,
            saved_at=record.get("updated_at", "created_at").time(),
            active_ms=None if seconds is None or not 0 <= seconds < 1e9 else round(seconds * 1000),
        )  # fmt: skip
        results.add_to(gathering, shared, set(controls), record.place)


def _name(who: Node) -> str:
    """Return an e-mail address as it is; the number of an account gets the tool's name."""
    return who.name() if "@" in who.name() else name_person(TOOL, who)


def _find_controls(records: list[Node], gathering: Gathering) -> list[str]:
    """Return the fields with people's values; a note names ratings that only their values show."""
    names = list(records[0].value) if records else []
    place = names.index("id") if "id" in names else 0
    values: dict[str, list[Node]] = defaultdict(list)
    of_task: dict[tuple[str, str], set[str]] = defaultdict(set)
    fields = dict.fromkeys(field for record in records for field in record.value if field not in _OWN)
    for record in records:
        for field in fields:
            of_task[record.get("id").name(), field].add(record.get(field).text())
            if record.get(field).value is not None:
                values[field].append(record.get(field))
    if place and names != sorted(names):
        return [field for field in values if field not in names[:place]]
    differ = {field for (_, field), values_of_task in of_task.items() if len(values_of_task) > 1}
    built = {field for field, cells in values.items() if any(map(_is_built, cells))}
    if differ | built:
        return [field for field in values if field in differ | built]
    ratings = [field for field, cells in values.items() if _is_scale(cells)]
    if ratings:
        gathering.left[f"Fields taken for ratings ({shorten(', '.join(ratings), 200)})"] += len(ratings)
    return ratings


def _is_built(value: Node) -> bool:
    """Return whether a value can only be a control's: an object with the name of its kind, or a list of objects."""
    inner = decode(value.value)
    first = inner[0] if isinstance(inner, list) and inner else inner
    return isinstance(first, dict) and bool(first.keys() & {*_KINDS, "start"})


def _decode(value: Node) -> tuple[str, Node]:
    """Return the kind and the first part of a value: a rating is a list with one object, and a cell has it as JSON."""
    inner = decode(value.value)
    node = Node(inner[0] if isinstance(inner, list) and len(inner) == 1 else inner, value.place)
    kind = next((kind for kind in _KINDS if isinstance(node.value, dict) and kind in node.value), "")
    if isinstance(node.value, dict) and "start" in node.value:
        return "", Node([node.value], value.place)
    return kind, node.get(kind) if kind else node


def _is_scale(given: list[Node]) -> bool:
    values = [_decode(v)[1] for v in given]
    ratings = {v.number() if isinstance(v.value, int | float) else read_number(v.text()) for v in values}
    return len(ratings) <= _MOST and all(rating is not None and 0 <= rating <= _HIGHEST for rating in ratings)


def _is_typed(given: list[Node]) -> bool:
    """Return whether people typed the values of a control: one is a list of texts, or has many words."""
    parts = [_decode(value) for value in given]
    return any(kind == "text" or isinstance(node.value, str) and len(node.value.split()) > MAX_WORDS
               for kind, node in parts)  # fmt: skip


def _read_value(
    control: str, value: Node, typed: bool, text: str, results: Results, gathering: Gathering
) -> None:
    kind, decoded = _decode(value)
    parts = decoded.items() if isinstance(decoded.value, list) else []
    if kind == "ranker":
        results.add_ranking(control, decoded)
    elif isinstance(decoded.value, int | float):
        results.scores[control] = float(decoded.value)
    elif typed and decoded.value not in (None, ""):
        results.texts += [(control, each.text()) for each in (parts or [decoded])]
    elif parts and all(isinstance(each.value, dict) and "start" in each.value for each in parts):
        for part in parts:
            labels = next((each.items() for _, each in part.entries() if isinstance(each.value, list)), [])
            words = part.get("text").text() or slice_utf16(
                text, int(part.get("start").number() or 0), int(part.get("end").number() or 0)
            )
            results.marks.setdefault(control, []).extend((label.name(), words) for label in labels)
    elif parts and all(isinstance(each.value, str | list) for each in parts):
        results.choices[control] = tuple(" / ".join(map(str, each.value)) if isinstance(each.value, list)
                                         else each.name() for each in parts)  # fmt: skip
    elif isinstance(decoded.value, str) and decoded.value.strip():
        results.choices[control] = (decoded.name(),)
    elif decoded.value not in (None, ""):
        gathering.left["Results that are not a score, choice or text, left out"] += 1


MIN_FORMAT = tool_format(
    "label-studio-min", "Label Studio short export (JSON-MIN, CSV)", TOOL, _is_short, _read
)
