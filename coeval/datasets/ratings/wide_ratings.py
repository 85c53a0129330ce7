"""Ratings that are not one a row: a person's row with a column a criterion, and a model's with a column an answer.

Both are unfolded into rows of one rating each, which are then read as any other. LLM-Rubric's files are of this kind.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coeval.datasets.ratings.rating_rows import MISSING, RATING_FIELDS
from coeval.datasets.tables.table import Row, Table, find_column, guess_mapping
from coeval.datasets.text import shorten
from coeval.errors import InputError

_ANSWER = re.compile(r"(?:answer|prob|p)[ _]?(\d{1,3})(?:[ _](?:prob|probability))?", re.I)
NEAR_ONE = 0.01


@dataclass(frozen=True, slots=True)
class Asked:
    """What the models' tables of a folder say of the criteria: their names, and the lowest score."""

    criteria: frozenset[str]
    low: int


def unfold_answers(table: Table) -> Table:
    """A table with a column of probability for each answer, as ratings of a run; any other table as it is.

    The columns are named such as ``answer1_prob`` to ``answer4_prob``, which state the scale 1-4. The score is the
    expected answer, the run the file's name where no column names one, and the probabilities are kept with the draft.
    """
    answers = _answer_columns(table)
    if not answers:
        return table
    kept = [c for c in table.columns if c not in answers.values() and find_column([c], _MADE) is None]
    has_run = "run" in guess_mapping(table, RATING_FIELDS)
    columns = (*kept, *_MADE, *([] if has_run else ["run"]))

    def rows() -> Iterator[Row]:
        for row in table.rows():
            made = _expect(table, row, answers) | ({} if has_run else {"run": Path(table.name).stem})
            yield Row(row.line, {c: row.cells[c] for c in kept} | made)

    return Table(table.name, columns, rows, table.unit)


_MADE = ("score", "scale", "probabilities")


def _answer_columns(table: Table) -> dict[int, str]:
    """The column of each answer, where the answers follow each other without a gap; else none."""
    found = {int(m[1]): c for c in table.columns if (m := _ANSWER.fullmatch(c.strip()))}
    low, high = (min(found), max(found)) if found else (0, 0)
    whole = len(found) > 1 and sorted(found) == list(range(low, high + 1))
    return {answer: found[answer] for answer in sorted(found)} if whole else {}


def _expect(table: Table, row: Row, answers: dict[int, str]) -> dict[str, str]:
    """The cells of score, scale and probabilities; an empty score where the row gives no probability."""
    scale = f"{min(answers)}-{max(answers)}"
    texts = [row.cells[column].strip() for column in answers.values()]
    if all(text.casefold() in MISSING for text in texts):
        return {"score": "", "scale": scale, "probabilities": ""}
    shares = [_share(table, row, column) for column in answers.values()]
    total = math.fsum(shares)
    if abs(total - 1) > NEAR_ONE:
        raise InputError(
            f"{table.name}, {table.unit} {row.line}: the probabilities of {', '.join(answers.values())} add up to "
            f"{total:.3g}; they must add up to 1."
        )
    score = math.fsum(answer * share for answer, share in zip(answers, shares, strict=True)) / total
    named = {str(answer): share / total for answer, share in zip(answers, shares, strict=True)}
    return {"score": repr(score), "scale": scale, "probabilities": json.dumps(named)}


def _share(table: Table, row: Row, column: str) -> float:
    text = row.cells[column].strip()
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise InputError(
            f"{table.place(row.line, column)}: holds '{shorten(text)}'; a probability is a number from 0 to 1."
        )
    return share


def find_asked(tables: Sequence[Table]) -> Asked:
    """The criteria that models' unfolded tables name."""
    names: set[str] = set()
    lows: set[int] = set()
    for table in tables:
        column = guess_mapping(table, RATING_FIELDS).get("criterion")
        if column is None or "probabilities" not in table.columns:
            continue
        for row in table.rows():
            names.add(row.cells[column].strip())
            lows.add(int(row.cells["scale"].split("-")[0]))
    return Asked(frozenset(names - {""}), min(lows, default=1))


def unfold_people(table: Table, asked: Asked) -> Table:
    """A table of a person's ratings with a column for each criterion that the models were asked; else as it is.

    0 on a scale that begins above it means that the criterion does not apply, and is no rating.
    """
    columns = guess_mapping(table, ("instance", "criterion", "annotator", "score"))
    criteria = [name for name in table.columns if name.strip() in asked.criteria]
    if {"instance", "annotator"} - set(columns) or {"criterion", "score"} & set(columns) or not criteria:
        return table

    def rows() -> Iterator[Row]:
        for row in table.rows():
            who = {field: row.cells[columns[field]] for field in ("instance", "annotator")}
            for name in criteria:
                yield Row(
                    row.line, who | {"criterion": name.strip(), "score": _applies(row.cells[name], asked.low)}
                )

    return Table(table.name, ("instance", "annotator", "criterion", "score"), rows, table.unit)


def _applies(text: str, low: int) -> str:
    return "" if low > 0 and re.fullmatch(r"\s*0(\.0*)?\s*", text) else text
