"""A judge's input files: outputs to score, people's scores, and results of batch services."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.datasets.tables.instances import open_instances
from coeval.datasets.tables.table import match_columns, require_columns
from coeval.datasets.tables.table_files import open_table
from coeval.datasets.text import parse_number
from coeval.domain import Instance, Request
from coeval.errors import InputError
from coeval.extensions.judge.model.file_schema import JudgeFile, mark_output
from coeval.extensions.judge.runtime.judge import open_askers
from coeval.llm.running.batch_files import BatchWriter, Results, write_batch
from coeval.llm.running.ledger import Prices
from coeval.store import Store
from coeval.store.queries.calls import StoredLedger

if TYPE_CHECKING:
    import pandas as pd


LABELS = ("instance", "criterion", "score")
"""Columns of people's scores."""


def load_outputs(path: Path, columns: Mapping[str, str] | None = None) -> list[Instance]:
    """Return the outputs in a CSV, JSONL or Excel file, in the same format as an import.

    Args:
        columns: the column of each field that has another name.

    Raises:
        InputError: the file is broken, or has no input or output.
    """
    return list(open_instances(open_table(path), "outputs", columns, guess=True).instances)


def load_labels(path: Path) -> dict[tuple[str, str], float]:
    """Return people's mean scores by instance and criterion, from a table with one row per person's score.

    Raises:
        InputError: the file is broken or lacks a column, or a score is not a number.
    """
    table = open_table(path)
    columns = match_columns(table, LABELS, None, guess=True)
    require_columns(table, columns, LABELS)
    scores: dict[tuple[str, str], list[float]] = {}
    for row in table.rows():
        instance, criterion, text = (row.cells[columns[name]].strip() for name in LABELS)
        if text:
            place = table.place(row.line, columns["score"])
            scores.setdefault((instance, criterion), []).append(read_score(text, place))
    return {key: math.fsum(numbers) / len(numbers) for key, numbers in scores.items()}


def read_score(text: str, place: str) -> float:
    """Return the number in a cell.

    Raises:
        InputError: it is no finite number; the message names the place.
    """
    score = parse_number(text)
    if score is None:
        raise InputError(
            f"{place}: contains “{text[:40]}”, which is not a number; write the score, or leave it empty."
        )
    return score


def add_people(
    table: pd.DataFrame,
    judge: JudgeFile,
    instances: Sequence[Instance],
    labels: Mapping[tuple[str, str], float] | None = None,
) -> pd.DataFrame:
    """Add ``output``, the text, and ``people``: people's mean score of the same output, from ``labels`` or the study.

    An output is matched to the study by its text. Labels of other criteria or instances are ignored.
    """
    studied = {(label.output, label.criterion): label.people for label in judge.labels}
    marks = {item.external_id: mark_output(item, judge.salt) for item in instances} if studied else {}
    ratings = labels or {}
    people = [
        ratings.get((instance, criterion), studied.get((marks.get(instance, ""), criterion), math.nan))
        for instance, criterion in zip(table["instance"], table["criterion"], strict=True)
    ]
    texts = {item.external_id: item.output for item in instances}
    return table.assign(people=people, output=table["instance"].map(texts))


def write_judge_questions(
    judge: JudgeFile, instances: Sequence[Instance], out: Path, ledger: Path
) -> BatchWriter:
    """Write the questions about these instances that have no batch answer in the ledger.

    Raises:
        InputError: a file with this name already exists.
    """
    return write_batch(_list_questions(judge, instances), out, ledger=StoredLedger(Store(ledger)))


def _list_questions(judge: JudgeFile, instances: Sequence[Instance]) -> Iterator[tuple[Request, int]]:
    numbers = range(1, len(judge.criteria) + 1)
    with open_askers(judge) as askers:
        for asker in askers.values():
            for place, instance in enumerate(instances, 1):
                protocol = asker.beside(instance)
                for item in protocol.group((place, number) for number in numbers):
                    yield from protocol.render_calls(item, replace(instance, id=place))


def read_judge_results(paths: Sequence[Path], ledger: Path, prices: Prices) -> Results:
    """Store the answers from results files in the ledger.

    Raises:
        InputError: a file cannot be opened.
    """
    results = Results()
    results.keep(paths, StoredLedger(Store(ledger)), prices)
    return results
