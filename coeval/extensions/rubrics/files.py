"""Import and export files with criteria: a column ``rubrics``, HealthBench's form, and long tables for statistics.

Every format gives each instance an extra column ``rubrics`` with its criteria as JSON. Like other extra columns, it is
hidden unless an owner shows it. ``reviews.ensure_taken`` reads it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.source import Rows, Source, source_of
from coeval.datasets.tables.instances import FIELDS, MAX_NAME, name_document, open_instances
from coeval.datasets.tables.table_files import is_table, open_table
from coeval.datasets.tables.text_tables import read_records
from coeval.datasets.text import check_text, shorten
from coeval.domain import Action, Instance, Person, Study, Task
from coeval.domain.tasks import is_chat, parse_messages, read_chat, render_chat
from coeval.errors import InputError
from coeval.extensions.rubrics.queries import COLUMN, Criterion, Submission
from coeval.extensions.rubrics.reports import RubricsStudy, read_rubrics_study
from coeval.extensions.rubrics.reviews import kept_rubrics, own_score
from coeval.extensions.rubrics.scoring import Rubric, instance_score, read_rubrics
from coeval.safe_csv import rows_to_csv
from coeval.usecases.access import TEAM, Context, use_case
from coeval.usecases.export import Files, OutFormat

ANSWERS = ("completion", "response", "output", "answer")
"""The keys for the answer to judge, which we add to HealthBench's form."""

MOST_WITHOUT = 100
"""The number of lines in which to look for a criterion, because some conversations have none."""

KEPT = ("example_tags", "ideal_completions_data")
"""Other keys that an instance keeps, so that its line can be exported again."""


def _read_columns(path: Path) -> tuple[str, ...]:
    try:
        return open_table(path).columns if path.is_file() and is_table(path) else ()
    except InputError:
        return ()


def _open_column(path: Path, slug: str, columns: Columns, *, empty_outputs: bool = False) -> Source:
    table = open_table(path)
    source = open_instances(table, slug, columns, guess=not columns, empty_outputs=empty_outputs)

    def checked() -> Iterator[Instance]:
        for instance in source.instances:
            cell = instance.context.get(COLUMN, "")
            if cell.strip():
                read_rubrics(
                    cell, f"{table.name}, instance “{shorten(instance.external_id)}”, column '{COLUMN}'"
                )
            yield instance

    for _ in checked():
        pass
    return replace(source, instances=Rows(checked))


COLUMN_FORMAT = Format(
    "rubrics",
    "Instances with their own criteria (a column “rubrics”)",
    fits=lambda path, columns: COLUMN in _read_columns(path),
    open=_open_column,
    fields=FIELDS,
    table=open_table,
    open_empty=lambda path, slug, columns: _open_column(path, slug, columns, empty_outputs=True),
)


def _is_healthbench(path: Path) -> bool:
    if not path.is_file() or path.suffix.lower() not in (".jsonl", ".ndjson", ".json"):
        return False
    try:
        for _, record in islice(read_records(path), MOST_WITHOUT):
            rubrics, prompt = record.get(COLUMN), record.get("prompt")
            if not isinstance(prompt, list) or not isinstance(rubrics, list):
                return False
            if rubrics:
                return isinstance(rubrics[0], Mapping) and {"criterion", "points"} <= set(rubrics[0])
    except InputError:
        pass
    return False


def _open_healthbench(path: Path, slug: str, columns: Columns) -> Source:
    lines: dict[str, int] = {}
    instances = []
    for line, record in read_records(path):
        place = f"{path.name}, line {line}"
        instance = _read_example(record, place)
        if instance.external_id in lines:
            raise InputError(
                f"{place}: has the same id '{shorten(instance.external_id)}' as line {lines[instance.external_id]}; "
                "give each answer its own completion_id."
            )
        lines[instance.external_id] = line
        instances.append(instance)
    if not instances:
        raise InputError(f"{path.name}: is empty; give a file with a line for each conversation.")
    task = Task(slug, slug, input_field="Conversation", output_field="Response")
    return source_of(Study(task, tuple(instances)))


def _read_example(record: Mapping[str, Any], place: str) -> Instance:
    """Parse one line of a HealthBench file as an instance; raise InputError if it has no prompt or no answer."""
    turns = parse_messages(record.get("prompt"))
    if not turns:
        raise InputError(
            f"{place}: has no prompt; it must be a list of messages, each with role and content."
        )
    answer = next((record[key] for key in ANSWERS if isinstance(record.get(key), str)), "")
    if not answer.strip():
        raise InputError(
            f"{place}: contains no answer to judge; add your model's text as “{ANSWERS[0]}” to every line."
        )
    check_text(answer, place)
    plain = len(turns) == 1 and turns[0].role == "user" and not is_chat(turns[0].content)
    prompt = turns[0].content if plain else render_chat(turns)
    check_text(prompt, place)
    names = {key: _read_name(record, key, place) for key in ("prompt_id", "completion_id", "system", "model")}
    system = names["system"] or names["model"]
    document = names["prompt_id"] or name_document(prompt)
    ideal = record.get("ideal_completions_data")
    reference = ideal.get("ideal_completion") if isinstance(ideal, Mapping) else None
    cell = json.dumps(record.get(COLUMN), ensure_ascii=False)
    rubrics = read_rubrics(cell, place)
    context = {COLUMN: json.dumps([rubric.to_healthbench() for rubric in rubrics], ensure_ascii=False)}
    context |= {key: json.dumps(record[key], ensure_ascii=False) for key in KEPT if record.get(key)}
    return Instance(
        external_id=names["completion_id"] or " · ".join(filter(None, (document, system))),
        input=prompt,
        output=answer,
        document=document,
        system=system,
        reference=reference if isinstance(reference, str) else "",
        context=context,
    )


def _read_name(record: Mapping[str, Any], key: str, place: str) -> str:
    value = record.get(key)
    name = "" if value is None else str(value).strip()
    check_text(name, place)
    if len(name) > MAX_NAME:
        raise InputError(f"{place}: has a {key} of {len(name):,} characters; shorten it to {MAX_NAME:,}.")
    return name


HEALTHBENCH_FORMAT = Format(
    "healthbench",
    "HealthBench (prompt, completion and rubrics as JSON Lines)",
    fits=lambda path, columns: _is_healthbench(path),
    open=_open_healthbench,
)


FORMATS = (COLUMN_FORMAT, HEALTHBENCH_FORMAT)
"""Formats from the most general to the most specific; a file is read with the last format that matches."""


# Exports: long tables for statistics, and lines in HealthBench's form for import.


CRITERIA_HEAD = (
    "instance", "document", "system", "input", "output", "criterion", "points", "axis", "tags", "origin",
)  # fmt: skip
JUDGMENTS_HEAD = (
    "instance", "document", "system", "by", "who", "arm", "draft_shown", "criterion", "points", "axis", "origin",
    "action", "new_text", "new_points", "reason", "value", "evidence", "explanation", "unscored", "saved_at",
)  # fmt: skip
SCORES_HEAD = ("instance", "document", "system", "by", "who", "score", "criteria")


@use_case(TEAM)
def export_rubrics(context: Context, person: Person, slug: str) -> RubricsStudy:
    """Export a task's rubrics with the judgments of people and the judge."""
    return read_rubrics_study(context, slug)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    return (rows_to_csv([row]) for row in chain([head], rows))


def _number(value: float | None) -> float | int | None:
    return int(value) if value is not None and float(value).is_integer() else value


def _names(instance: Instance) -> tuple[str, str, str]:
    return instance.external_id, instance.document, instance.system


def _origin(criterion: Criterion | None) -> str:
    if criterion is None:
        return "person"
    return "model" if criterion.run is not None else "file"


def list_criteria_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return a row for each criterion as it was imported or drafted."""
    for number, criteria in study.criteria.items():
        instance = study.instances[number]
        for criterion in criteria:
            rubric = criterion.rubric
            yield (
                *_names(instance), instance.input, instance.output, rubric.text, _number(rubric.points), rubric.axis,
                "|".join(rubric.tags), _origin(criterion),
            )  # fmt: skip


def list_judgment_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return one row per criterion and rater: the judge first, then people."""
    for criterion in study.by_id.values():
        names = _names(study.instances[criterion.instance])
        judgment = study.judgments.get(criterion.id)
        if judgment and study.run:
            rubric = criterion.rubric
            yield (
                *names, "judge", study.run.label, "", "", rubric.text, _number(rubric.points), rubric.axis,
                _origin(criterion), "", "", "", "", _number(judgment.value), " | ".join(judgment.evidence),
                judgment.explanation, judgment.reason, study.run.created_at,
            )  # fmt: skip
    by_id = study.by_id
    for submission in study.submissions:
        names = _names(study.instances[submission.instance])
        for line in submission.lines:
            stored = by_id.get(line.criterion or 0)
            rubric = stored.rubric if stored else Rubric(line.text, line.points or 0.0, line.axis)
            yield (
                *names, "person", study.names[submission.annotator], submission.arm, int(line.judgment is not None),
                rubric.text, _number(rubric.points), rubric.axis, _origin(stored), line.action,
                line.text if stored else "", _number(line.points) if stored else "", line.reason, _number(line.value),
                line.evidence, "", "", submission.submitted_at,
            )  # fmt: skip


def list_score_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return each instance's score from the judge and from each person, not clipped."""
    by_instance = study.by_instance
    for judged in study.list_judged():
        names, criteria = _names(study.instances[judged.instance]), study.criteria[judged.instance]
        if study.run:
            yield *names, "judge", study.run.label, instance_score(judged.judged), len(criteria)
        for submission in by_instance[judged.instance]:
            kept = kept_rubrics(criteria, submission)
            yield *names, "person", study.names[submission.annotator], instance_score(kept), len(kept)


def _build_long(context: Context, person: Person, slug: str) -> Files:
    study = export_rubrics(context, person, slug)
    if not study.criteria:
        return
    yield "criteria.csv", _csv(CRITERIA_HEAD, list_criteria_rows(study))
    yield "judgments.csv", _csv(JUDGMENTS_HEAD, list_judgment_rows(study))
    yield "scores.csv", _csv(SCORES_HEAD, list_score_rows(study))


def settle_criteria(criteria: Sequence[Criterion], submissions: Sequence[Submission]) -> list[Rubric]:
    """Return the criteria of an instance as a majority of people left them, then the criteria that people added.

    A criterion is removed if more than half of the people deleted it. It is reworded if more than half of them gave
    the same wording. Each added criterion appears once.
    """
    settled: list[Rubric] = []
    half = len(submissions) / 2
    saved = [line for submission in submissions for line in submission.lines]
    for criterion in criteria:
        lines = [line for line in saved if line.criterion == criterion.id]
        if sum(line.action == Action.DELETE for line in lines) > half:
            continue
        revised = Counter((line.text, line.points) for line in lines if line.action == Action.REVISE)
        rubric = criterion.rubric
        for (text, points), count in revised.most_common(1):
            if count > half:
                rubric = replace(rubric, text=text, points=rubric.points if points is None else points)
        settled.append(rubric)
    added = [Rubric(line.text, line.points or 0.0, line.axis) for line in saved if line.criterion is None]
    return [*settled, *(rubric for rubric in dict.fromkeys(added) if rubric not in settled)]


def build_example(study: RubricsStudy, number: int, submissions: Sequence[Submission]) -> dict[str, Any]:
    """Return an instance as a line of a HealthBench file, with both scores added."""
    instance, criteria = study.instances[number], study.criteria[number]
    turns = [{"role": turn.role, "content": turn.content} for turn in read_chat(instance.input)]
    example: dict[str, Any] = {
        "prompt_id": instance.document,
        "completion_id": instance.external_id,
        "prompt": turns or [{"role": "user", "content": instance.input}],
        "completion": instance.output,
        "rubrics": [rubric.to_healthbench() for rubric in settle_criteria(criteria, submissions)],
    }
    if instance.system:
        example["system"] = instance.system
    example |= {key: json.loads(instance.context[key]) for key in KEPT if key in instance.context}
    if study.run:
        values = [study.get_value(criterion) for criterion in criteria]
        points = [criterion.rubric.points for criterion in criteria]
        example["judge"] = {
            "label": study.run.label,
            "score": instance_score(zip(points, values, strict=True)),
            "values": list(map(_number, values)),
        }
    people = [
        {"name": study.names[submission.annotator], "score": own_score(criteria, submission)}
        for submission in submissions
    ]
    return example | ({"people": people} if people else {})


def _build_healthbench(context: Context, person: Person, slug: str) -> Files:
    study = export_rubrics(context, person, slug)
    by_instance = study.by_instance
    examples = (build_example(study, number, by_instance[number]) for number in study.criteria)
    yield "healthbench.jsonl", (json.dumps(example, ensure_ascii=False) + "\n" for example in examples)


EXPORTS = (
    OutFormat(
        "rubrics",
        "Criteria of single instances (CSV)",
        "Three tables: the criteria, the judgments of people and the judge, and the scores of the instances.",
        _build_long,
    ),
    OutFormat(
        "healthbench",
        "HealthBench (JSON Lines)",
        "A line for each instance with the final version of its criteria, for HealthBench’s code.",
        _build_healthbench,
    ),
)
