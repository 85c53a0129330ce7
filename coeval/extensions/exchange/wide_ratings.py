"""Import a table in which each row is one person's work: columns that an owner chose, or a batch of Mechanical Turk.

Each chosen column becomes a criterion. A batch (its results as CSV) has inputs, ``Input.NAME``, and answers: numbers,
words, ticked options (``Answer.NAME.OPTION``) or JSON (``Answer.taskAnswers``). If both are numbered, such as
``Input.text_2`` and ``Answer.score_2``, each number is a text of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.json_nodes import Node
from coeval.datasets.source import Source
from coeval.datasets.tables.instances import FIELDS, name_document
from coeval.datasets.tables.table import Table, choose_columns, find_column
from coeval.datasets.tables.table_files import open_table
from coeval.datasets.text import shorten
from coeval.errors import InputError
from coeval.extensions.exchange.records import Results, is_label, load_records, peek_records, read_answer
from coeval.extensions.exchange.tool_files import NOBODY, Gathering, Judgment, build_instance, read_number

TOOL = "table of scores"
_HIT, _WORKER, _STATUS, _JSON = "HITId", "WorkerId", "AssignmentStatus", "Answer.taskAnswers"
_INPUT, _ANSWER = "Input.", "Answer."
_NUMBERED = re.compile(r"(?P<name>.*?)[_.]?(?P<number>\d+)")
MAX_WORDS = 5
"""The most words of a choice; longer answers were typed."""
_TICKS = {"true": True, "false": False}


def _is_batch(path: Path) -> bool:
    return path.is_file() and any(
        {_HIT, _WORKER} <= record.value.keys() and any(name.startswith(_ANSWER) for name in record.value)
        for record in peek_records(path)[:1]
    )


def _open(path: Path, slug: str, columns: Columns) -> Source:
    table, gathering = open_table(path), Gathering(slug, TOOL)
    if not (columns or {}).get("scores"):
        _read_batch(path, table, gathering)
        return gathering.open()
    fields = {name: column for name, column in (columns or {}).items() if column}
    scores = choose_columns(table, fields.pop("scores"))
    kept = choose_columns(table, fields.pop("context")) if "context" in fields else ()
    for name, column in fields.items():
        fields[name] = find_column(table.columns, (column,)) or ""
        if not fields[name] or name not in (*FIELDS, "annotator"):
            raise InputError(
                f"{path.name}: has no field '{name}' or no column '{shorten(column)}'; choose another."
            )
    rest = [name for name in table.columns if name not in (*fields.values(), *scores, *kept)]
    gathering.left[f"Columns that were not chosen ({shorten(', '.join(rest), 300)}), left out"] = len(rest)
    for number, record in enumerate(load_records(path), 1):
        cells = dict.fromkeys((*FIELDS, "annotator"), "")
        cells |= {name: record.get(column).text() for name, column in fields.items()}
        texts = "\n".join(filter(None, (cells["input"], cells["output"], cells["system"])))
        name = cells["instance"] or (name_document(texts) if texts else str(number))
        context = {column: record.get(column).text() for column in kept}
        instance = build_instance(name, cells["input"], cells["output"], system=cells["system"],
                                  reference=cells["reference"], context=context)  # fmt: skip
        instance = replace(instance, document=cells["document"] or instance.document)
        if "output" not in fields or gathering.add_instance(instance, record.place):
            values = {column: record.get(column) for column in scores}
            _add(gathering, name, cells["annotator"], values, record)
    return gathering.open()


def _read_batch(path: Path, table: Table, gathering: Gathering) -> None:
    """Read a batch; the notes count its rejected assignments and the columns about the work."""
    used = (_HIT, _WORKER, _STATUS)
    rest = [name for name in table.columns if name not in used and not name.startswith((_INPUT, _ANSWER))]
    gathering.left[f"Columns about the work ({shorten(', '.join(rest), 300)}), left out"] = len(rest)
    inputs, answers = (
        {name: name.removeprefix(prefix) for name in table.columns if name.startswith(prefix)}
        for prefix in (_INPUT, _ANSWER)
    )
    numbers = _list_numbers(inputs.values()) & _list_numbers(answers.values())
    for record in load_records(path):
        if record.get(_STATUS).name().casefold() == "rejected":
            gathering.left["Assignments that were rejected, left out"] += 1
            continue
        for number in sorted(numbers, key=int) if len(numbers) > 1 else [""]:
            key = " · ".join(filter(None, (record.get(_HIT).name(), number)))
            texts, values = (
                {
                    name: record.get(column)
                    for column, full in given.items()
                    if (name := _take(full, number, numbers))
                }
                for given in (inputs, answers)
            )
            fields = Node({name: text.value for name, text in texts.items()}, record.place)
            if gathering.add_instance(read_answer(fields, key), record.place):
                _add(gathering, key, record.get(_WORKER).name(), values, record)


def _list_numbers(names: Iterable[str]) -> set[str]:
    return {match["number"] for name in names if (match := _NUMBERED.fullmatch(name))}


def _take(name: str, number: str, numbers: set[str]) -> str:
    """Return the name of a column without its number; empty if it is about a text with another number."""
    match = _NUMBERED.fullmatch(name)
    if not number or not match or match["number"] not in numbers:
        return name
    return match["name"] if match["number"] == number else ""


def _add(gathering: Gathering, instance: str, who: str, values: dict[str, Node], record: Node) -> None:
    """Add the answers in the cells of a row. Cells of true and false are the options of one choice."""
    shared = Judgment(instance=instance, criterion="-", by=who or NOBODY, person=True)
    results, ticked = Results(), defaultdict[str, list[str]](list)
    for name, value in values.items():
        words, (question, _, option) = value.text().strip(), name.rpartition(".")
        if name == _JSON.removeprefix(_ANSWER):
            for part in value.items():
                for question, ticks in part.entries():
                    options = ticks.entries() if isinstance(ticks.value, dict) else None
                    chosen = (name for name, tick in options or () if tick.value is True)
                    results.choices[question] = (ticks.text(),) if options is None else tuple(chosen)
        elif question and words.casefold() in _TICKS:
            ticked[question] += [option] if _TICKS[words.casefold()] else []
        elif words and (
            read_number(words) is not None or is_label(words) and len(words.split()) <= MAX_WORDS
        ):
            results.choices[name] = (words,)
        elif words:
            results.texts.append((name, words))
    results.choices |= {question: tuple(options) for question, options in ticked.items() if options}
    results.add_to(gathering, shared, set(values), record.place)


FORMAT = Format(
    "wide-ratings",
    "Table with a person's scores in each row (Mechanical Turk)",
    fits=lambda path, columns: path.is_file() and (bool((columns or {}).get("scores")) or _is_batch(path)),
    open=_open,
    fields=(*FIELDS, "annotator", "scores", "context"),
)
