"""Wide tables of ratings, as LLM-Rubric releases them: a person's row has one column per criterion, and a model's row
one column per answer. They are unfolded into one rating per row.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.rating_rows import MISSING, RATING_FIELDS
from coeval.datasets.rating_tables import find_instances, open_ratings
from coeval.datasets.tables.table import Row, Table, find_column, guess_mapping
from coeval.datasets.tables.table_files import is_table, open_table
from coeval.datasets.text import shorten
from coeval.errors import InputError

_ANSWER = re.compile(r"(?:answer|prob|p)[ _]?(\d{1,3})(?:[ _](?:prob|probability))?", re.I)
NEAR_ONE = 0.01
"""The largest difference from 1 of the sum of rounded probabilities."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The criteria in the model tables of a folder, with their names and the lowest score."""

    criteria: frozenset[str]
    low: int


def _unfold_answers(table: Table) -> Table:
    """Return a table with a probability column per answer as ratings of a run, and any other table unchanged.

    Columns such as ``answer1_prob`` to ``answer4_prob`` also state the scale, here 1-4. The score is the expected
    answer. The run is the file's name unless a column names one. The probabilities are kept with the draft.
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
    """Return the column of each answer if the answers are numbered without gaps, else none."""
    columns = {int(m[1]): c for c in table.columns if (m := _ANSWER.fullmatch(c.strip()))}
    low, high = (min(columns), max(columns)) if columns else (0, 0)
    whole = len(columns) > 1 and sorted(columns) == list(range(low, high + 1))
    return {answer: columns[answer] for answer in sorted(columns)} if whole else {}


def _expect(table: Table, row: Row, answers: dict[int, str]) -> dict[str, str]:
    """Return the cells of score, scale and probabilities. Without probabilities, the score is empty."""
    scale = f"{min(answers)}-{max(answers)}"
    texts = [row.cells[column].strip() for column in answers.values()]
    if all(text.casefold() in MISSING for text in texts):
        return {"score": "", "scale": scale, "probabilities": ""}
    shares = [_share(table, row, column) for column in answers.values()]
    total = math.fsum(shares)
    if abs(total - 1) > NEAR_ONE:
        raise InputError(
            f"{table.place(row.line)}: the probabilities of {', '.join(answers.values())} add up to "
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
            f"{table.place(row.line, column)}: contains '{shorten(text)}'; a probability is a number from "
            "0 to 1."
        )
    return share


def _find_asked(tables: Sequence[Table]) -> Asked:
    """Return the criteria in models' unfolded tables."""
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


def _unfold_people(table: Table, asked: Asked) -> Table:
    """Return a person's table with one column per criterion of the models as ratings, and any other table unchanged.

    0 on a scale that begins above 0 means that the criterion does not apply, and is not a rating.
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
                    row.line,
                    who | {"criterion": name.strip(), "score": _read_score(row.cells[name], asked.low)},
                )

    return Table(table.name, ("instance", "annotator", "criterion", "score"), rows, table.unit)


def _read_score(text: str, low: int) -> str:
    """Return the text of a score; it is empty for a 0 if the scale begins above 0."""
    return "" if low > 0 and re.fullmatch(r"\s*0(\.0*)?\s*", text) else text


def unfold(tables: Sequence[Table]) -> list[Table]:
    """Return the tables of a folder as ratings: models' tables name the criteria of people's."""
    answered = [_unfold_answers(table) for table in tables]
    asked = _find_asked(answered)
    return [_unfold_people(table, asked) for table in answered]


def _fits(path: Path, columns: Columns) -> bool:
    """Return whether a folder with instances, or a file, has a table with a column for each answer."""
    files = [path]
    if path.is_dir():
        files = sorted(path.iterdir()) if find_instances(path) else []
    return any(_is_wide(file, columns) for file in files if is_table(file))


def _is_wide(path: Path, columns: Columns) -> bool:
    try:
        table = open_table(path)
    except InputError:  # it has another format, or is broken: the reader of the folder reports that
        return False
    return bool(_answer_columns(table)) and "criterion" in {
        **guess_mapping(table, RATING_FIELDS),
        **(columns or {}),
    }


FORMAT = Format(
    "wide-answers",
    "Tables with a column for each answer's probability (LLM-Rubric)",
    fits=_fits,
    open=lambda path, slug, columns: open_ratings(path, slug, columns, unfold),
    fields=RATING_FIELDS,
    table=open_table,
    folder="tables with a probability for each answer",
)
