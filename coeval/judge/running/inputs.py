"""Files that a judge is given: outputs to score, and what people said of some of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.datasets.tables.formats import open_table
from coeval.datasets.tables.instances import open_instances
from coeval.datasets.tables.table import match_columns, require_columns
from coeval.domain import Instance
from coeval.errors import InputError
from coeval.judge.artifact.building import mark_output
from coeval.judge.artifact.schema import JudgeFile

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("instance", "criterion", "score")
"""Columns of people's scores."""


def load_outputs(path: Path, columns: Mapping[str, str] | None = None) -> list[Instance]:
    """The outputs of a CSV, JSONL or Excel file, as an import reads it.

    Args:
        columns: the column of a field, where it has another name.

    Raises:
        InputError: the file is broken, or lacks input or output.
    """
    return list(open_instances(open_table(path), "outputs", columns, guess=True).instances)


def load_labels(path: Path) -> dict[tuple[str, str], float]:
    """People's mean scores by instance and criterion, from a table of instance, criterion and score, a person a row.

    Raises:
        InputError: the file is broken, lacks a column, or a score is no number.
    """
    table = open_table(path)
    columns = match_columns(table, LABELS, None, guess=True)
    require_columns(table, columns, LABELS)
    scores: dict[tuple[str, str], list[float]] = {}
    for row in table.rows():
        instance, criterion, text = (row.cells[columns[name]].strip() for name in LABELS)
        if text:
            place = table.place(row.line, columns["score"])
            scores.setdefault((instance, criterion), []).append(_read_score(text, place))
    return {key: math.fsum(given) / len(given) for key, given in scores.items()}


def _read_score(text: str, place: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InputError(
            f"{place}: is “{text[:40]}”, which is no number; write the score, or leave it empty."
        )
    return score


def add_people(
    table: pd.DataFrame,
    judge: JudgeFile,
    instances: Sequence[Instance],
    labels: Mapping[tuple[str, str], float] | None = None,
) -> pd.DataFrame:
    """The scored outputs with ``people``: what people gave this very output, in the study or in ``labels``.

    An output of the study is known by its text. A label of a criterion or an instance that is not here is passed over.
    """
    studied = {(label.output, label.criterion): label.people for label in judge.labels}
    marks = {one.external_id: mark_output(one, judge.salt) for one in instances} if studied else {}
    given = labels or {}
    people = [
        given.get((instance, criterion), studied.get((marks.get(instance, ""), criterion), math.nan))
        for instance, criterion in zip(table["instance"], table["criterion"], strict=True)
    ]
    return table.assign(people=people)
