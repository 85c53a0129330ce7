"""Tables of ratings: one rating per row, or one person per row and one criterion per column.

A long table has the columns (instance, criterion, annotator, score) for people or (instance, criterion, run, score) for
models. A wide table, such as LLM-Rubric's, is unfolded into these rows. A folder contains ``instances`` and any number
of rating tables (CSV, JSONL or Excel). A single rating table is for a task that already has its instances.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.rating_rows import MISSING, RATING_FIELDS, Rating, Survey, load_ratings, survey_ratings
from coeval.datasets.source import Rows, Seen, Source
from coeval.datasets.tables.instances import FIELDS, open_instances
from coeval.datasets.tables.table import Row, Table, find_column, guess_mapping, match_columns
from coeval.datasets.tables.table_files import is_table, open_table
from coeval.datasets.text import shorten
from coeval.domain import Arm, Criterion, Group, ImportedDraft, ImportedSubmission, Origin, Run, Task
from coeval.errors import InputError

# Wide tables: a person's row with one column per criterion, or a model's with one column per answer.

_ANSWER = re.compile(r"(?:answer|prob|p)[ _]?(\d{1,3})(?:[ _](?:prob|probability))?", re.I)
NEAR_ONE = 0.01


@dataclass(frozen=True, slots=True)
class Asked:
    """The criteria in the model tables of a folder, with their names and the lowest score."""

    criteria: frozenset[str]
    low: int


def unfold_answers(table: Table) -> Table:
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
            f"{table.place(row.line, column)}: contains '{shorten(text)}'; a probability is a number from "
            "0 to 1."
        )
    return share


def find_asked(tables: Sequence[Table]) -> Asked:
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


def unfold_people(table: Table, asked: Asked) -> Table:
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
                    row.line, who | {"criterion": name.strip(), "score": _applies(row.cells[name], asked.low)}
                )

    return Table(table.name, ("instance", "annotator", "criterion", "score"), rows, table.unit)


def _applies(text: str, low: int) -> str:
    return "" if low > 0 and re.fullmatch(r"\s*0(\.0*)?\s*", text) else text


def is_ratings(table: Table, mapping: Mapping[str, str] | None = None) -> bool:
    """Return whether a table has the columns of ratings, by name or by mapping."""
    fields = {*guess_mapping(table, RATING_FIELDS), *(mapping or {})}
    return {"instance", "criterion", "score"} <= fields and bool({"annotator", "run"} & fields)


def find_instances(path: Path) -> Path | None:
    """Return the table of instances in a folder of ratings, if it has one."""
    files = sorted(path.iterdir()) if path.is_dir() else []
    return next((file for file in files if is_table(file) and file.stem.lower() == "instances"), None)


def open_ratings(path: Path, slug: str, mapping: Mapping[str, str] | None) -> Source:
    """Return people's ratings as blind submissions, models' ratings as runs, and the instances, if any.

    Raises InputError for a folder without ratings, a duplicate rating, a rating of an instance that the folder lacks,
    or a broken table.
    """
    instances = find_instances(path)
    base = instances and open_table(instances)
    tables = _find_ratings(path, instances, mapping)
    fields = (*FIELDS, *RATING_FIELDS) if base else RATING_FIELDS
    _check_mapping(mapping or {}, dict.fromkeys(fields), [*tables, *([base] if base else [])])
    source = Source(Task(slug, slug))
    if base:
        source = open_instances(base, slug, _fitting(base, FIELDS, mapping), guess=True)
    ratings = Rows(
        lambda: (
            rating
            for table in tables
            for rating in load_ratings(table, _fitting(table, RATING_FIELDS, mapping))
        )
    )
    seen = Seen(instance.external_id for instance in source.instances) if base else None
    survey = survey_ratings(ratings, seen)
    return _add_ratings(source, ratings, survey)


def _find_ratings(path: Path, source: Path | None, mapping: Mapping[str, str] | None) -> list[Table]:
    if not path.is_dir():
        return [unfold_answers(open_table(path))]
    files = [file for file in sorted(path.iterdir()) if is_table(file) and file != source]
    answered = [unfold_answers(open_table(file)) for file in files]
    asked = find_asked(answered)
    tables = [unfold_people(table, asked) for table in answered]
    fitting = [table for table in tables if is_ratings(table, _fitting(table, RATING_FIELDS, mapping))]
    if not fitting:
        raise InputError(
            f"{path.name}: contains no table of ratings; a rating table has the columns instance, "
            "criterion, score, and annotator (a person) or run (a model)."
        )
    return fitting


def _fitting(table: Table, fields: Sequence[str], mapping: Mapping[str, str] | None) -> dict[str, str]:
    """Return the entries of a mapping that apply to this file."""
    pairs = (mapping or {}).items()
    return {name: col for name, col in pairs if name in fields and find_column(table.columns, (col,))}


def _check_mapping(mapping: Mapping[str, str], fields: Collection[str], tables: Sequence[Table]) -> None:
    for field, column in mapping.items():
        if field not in fields:
            raise InputError(
                f"'{shorten(field)}' is not a field that can be mapped; the fields are {', '.join(fields)}."
            )
        if not any(find_column(table.columns, (column,)) for table in tables):
            columns = "; ".join(f"{table.name}: {shorten(', '.join(table.columns), 200)}" for table in tables)
            raise InputError(
                f"no file has a column '{shorten(column)}' to map '{field}' to; the columns are {columns}."
            )


def _add_ratings(source: Source, ratings: Rows[Rating], survey: Survey) -> Source:
    scales, notes = survey.scales.choose()
    shared = set(scales.values())
    return replace(
        source,
        task=replace(source.task, scale=shared.pop()) if len(shared) == 1 else source.task,
        criteria=tuple(Criterion(text, origin=Origin.HUMAN, scale=scale) for text, scale in scales.items()),
        runs=tuple(_build_run(label, asked) for label, asked in survey.runs.items()),
        drafts=Rows(lambda: _read_drafts(ratings)) if survey.runs else (),
        submissions=Rows(lambda: _read_submissions(ratings, survey.groups)) if survey.people else (),
        notes=(*source.notes, *notes, *survey.tell(scales)),
        guessed=tuple(name for name, stated in survey.scales.stated.items() if stated is None),
    )


def _build_run(label: str, asked: Collection[float | None]) -> Run:
    n_samples = next(iter(asked)) if len(asked) == 1 else None
    params = {} if n_samples is None else {"n_samples": int(n_samples)}
    return Run(protocol="imported", model=label, label=label, params=params)


def _read_drafts(ratings: Iterable[Rating]) -> Iterator[tuple[str, ImportedDraft]]:
    for rating in ratings:
        if rating.run:
            reason = "" if rating.score is not None else "the file gives no score"
            yield (
                rating.run,
                ImportedDraft(
                    rating.instance, rating.criterion, rating.score, reason=reason, raw=rating.probabilities
                ),
            )


def _read_submissions(ratings: Iterable[Rating], groups: Mapping[str, Group]) -> Iterator[ImportedSubmission]:
    for rating in ratings:
        if rating.person and rating.score is not None:
            yield ImportedSubmission(
                rating.person,
                rating.instance,
                rating.criterion,
                rating.score,
                arm=Arm.BLIND,
                group=groups.get(rating.person),
            )


def _fits(path: Path, mapping: Columns) -> bool:
    if path.is_dir():
        return find_instances(path) is not None
    if not path.is_file():
        return False
    table = open_table(path)
    named = {*(mapping or {}), *match_columns(table, (*FIELDS, *RATING_FIELDS), None)}
    rated = {"instance", "criterion"} <= named and not {"input", "output"} & named
    return rated and is_ratings(table, mapping)


FORMAT = Format(
    "ratings-csv",
    "Table of ratings",
    fits=_fits,
    open=open_ratings,
    fields=RATING_FIELDS,
    table=open_table,
    folder="instances.csv with tables of ratings",
)
