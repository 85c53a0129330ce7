"""Import files with criteria: a column ``rubrics``, or HealthBench's form.

Every format gives each instance an extra column ``rubrics`` with its criteria as JSON. Like other extra columns, it is
hidden unless an owner shows it. ``reviews.ensure_taken`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.source import Rows, Source, source_of
from coeval.datasets.tables.instances import FIELDS, MAX_NAME, name_document, open_instances
from coeval.datasets.tables.table_files import is_table, open_table
from coeval.datasets.tables.text_tables import read_records
from coeval.datasets.text import check_text, shorten
from coeval.domain import Instance, Study, Task
from coeval.domain.tasks import is_chat, parse_messages, render_chat
from coeval.errors import InputError
from coeval.extensions.rubrics.queries import COLUMN
from coeval.extensions.rubrics.scoring import read_rubrics

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
