"""The common part of tabular formats: tables of text cells, column matching, and checks."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from coeval.datasets.text import check_text, is_sound, reading, shorten
from coeval.errors import InputError

MAX_ROWS = 2_000_000
"""The largest number of rows in a table. They are read one at a time."""

MAX_COLUMNS = 200
"""The largest number of columns that an instance keeps."""
MAX_HEADER = 2_000
"""The largest number of columns in a table."""

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "instance": ("instance", "instance id", "id", "example id", "item", "item id", "sample id", "text id"),
    "input": ("input", "prompt", "question", "reddit question", "story requirement", "instruction", "query",
              "dialogue", "dialog", "conversation", "source", "article", "post", "request", "context"),
    "output": ("output", "response", "answer", "story", "summary", "reply", "completion", "generation",
               "prediction", "target", "hypothesis"),
    "document": ("document", "document id", "doc", "doc id", "dialogue id", "source id", "prompt id",
                 "question id", "query id", "qid", "group"),
    "system": ("system", "system id", "model", "model name", "model id", "method"),
    "reference": ("reference", "references", "ref", "ref output", "ref text", "ref summary", "ref answer",
                  "ref response", "ref translation", "ref 0", "ref 1"),
    "criterion": ("criterion", "criteria", "aspect", "dimension", "attribute"),
    "annotator": ("annotator", "annotator id", "rater", "rater id", "person", "worker", "worker id", "workerid",
                  "worker name", "rater name", "annotator name", "evaluator", "evaluator id", "coder", "coder id",
                  "participant", "participant id", "assessor", "reviewer", "reviewer id"),
    "group": ("annotator group", "rater group", "person group", "group"),
    "run": ("run", "mode", "judge", "protocol", "model"),
    "score": ("score", "mean score", "rating", "mean rating", "label"),
    "scale": ("scale",),
    "low": ("low", "scale min", "min score"),
    "high": ("high", "scale max", "max score"),
    "n_samples": ("n samples", "samples"),
    "n_valid": ("n valid", "valid"),
    "probabilities": ("probabilities",),
}  # fmt: skip
"""The synonyms of each field's name, the likeliest first."""


class Row(NamedTuple):
    """One row of a table, which begins in ``line`` of the file, counted from 1.

    ``nested`` are the columns whose cells contain a list or an object as JSON.
    """

    line: int
    cells: Mapping[str, str]
    nested: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Table:
    """A file with named columns and text cells. Each call of ``rows`` reads it from disk."""

    name: str
    columns: tuple[str, ...]
    records: Callable[[], Iterator[Row]]
    unit: str = "line"
    """The word for a place in the file: "line" in a text file, "row" in a spreadsheet."""
    notes: tuple[str, ...] = ()
    """What the preview says about the file, such as the sheets that are not read."""

    def rows(self) -> Iterator[Row]:
        """Yield every row that is not empty, with checked cells; raise InputError at the first bad row."""
        count = 0
        with reading(self.name):
            for row in self.records():
                text = "".join(row.cells.values())
                if text and not text.isspace():
                    count += 1
                    self._check(row, text, count)
                    yield row
        if not count:
            raise InputError(f"{self.name}: has no rows below its header; add at least one.")

    def _check(self, row: Row, text: str, count: int) -> None:
        if count > MAX_ROWS:
            raise InputError(
                f"{self.name}: has more than {MAX_ROWS:,} rows; split the file and import the parts."
            )
        if not is_sound(text):  # parts that are valid separately may be invalid together
            for column, cell in row.cells.items():
                check_text(cell, self.place(row.line, column))

    def place(self, line: int, column: str = "") -> str:
        """Return the place of a cell in the file; without ``column``, of the row."""
        return f"{self.name}, {self.unit} {line}" + (f", column '{shorten(column)}'" if column else "")


def check_header(name: str, unit: str, cells: Sequence[str], *, unnamed: bool = False) -> tuple[str, ...]:
    """Return the stripped column names of a header, without unnamed columns at its end.

    With ``unnamed``, other unnamed columns are allowed and named ""; ``fit_cells`` leaves them out.

    Raises InputError for no columns, too many, an unnamed one before the end, or a duplicate name.
    """
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError(f"{name}: is empty; its first {unit} must name the columns, such as input,output.")
    if len(names) > MAX_HEADER:
        raise InputError(
            f"{name}, {unit} 1: has {len(names):,} columns, and the limit is {MAX_HEADER:,}; remove the columns that "
            "nobody needs."
        )
    for position, column in enumerate(names):
        check_text(column, f"{name}, {unit} 1, column {position + 1}")
        if not column and not unnamed:
            raise InputError(f"{name}, {unit} 1: column {position + 1} has no name; name it or remove it.")
        if column and column in names[:position]:
            first = names.index(column) + 1
            raise InputError(
                f"{name}, {unit} 1: columns {first} and {position + 1} are both named '{shorten(column)}'; "
                "give each its own name."
            )
    return tuple(names)


QUOTES = "Put double quotes around any text that contains the separator, a quote or a new line."


def fit_cells(
    table: str, unit: str, line: int, columns: Sequence[str], cells: Sequence[str], remedy: str = QUOTES
) -> Row:
    """Return the cells of a row by column. Columns without a name are left out.

    A first column without a name may number the rows, as pandas writes it.

    Raises InputError for too many or too few cells, or a text in a column without a name.
    """
    width = len(columns)
    if len(cells) != width and (len(cells) < width or any(map(str.strip, cells[width:]))):
        raise InputError(
            f"{table}, {unit} {line}: has {len(cells)} cells, but the header has {width} "
            f"({shorten(', '.join(columns))}). {remedy}"
        )
    named = dict(zip(columns, cells, strict=False))
    if "" not in named:
        return Row(line, named)
    for position, (column, cell) in enumerate(zip(columns, cells, strict=False), start=1):
        if not column and cell.strip() and not (position == 1 and cell.strip().isdecimal()):
            raise InputError(
                f"{table}, {unit} {line}: column {position} contains '{shorten(cell)}' but has no name in "
                "the header; name it or remove it."
            )
    return Row(line, {column: cell for column, cell in named.items() if column})


QUALTRICS = '{"ImportId":'
"""The beginning of each cell in the last of the three heading rows that Qualtrics writes."""


def tell_headings(columns: Sequence[str], records: Iterator[Row]) -> tuple[int, tuple[str, ...]]:
    """Return the number of rows below the header that are headings too, with notes on what is left out."""
    first: list[Row] = []
    with suppress(InputError):  # a broken row is refused when the table is read
        first += islice(records, 2)
    cells = [cell for row in first[1:] for cell in row.cells.values() if cell]
    further = 2 if cells and all(cell.replace(" ", "").startswith(QUALTRICS) for cell in cells) else 0
    notes = (
        ("The two further heading rows of Qualtrics are left out.", further > 0),
        ("The first column has no name: it is left out, as a number of the row.", columns[0] == ""),
    )
    return further, tuple(note for note, applies in notes if applies)


def choose_columns(table: Table, text: str) -> tuple[str, ...]:
    """Return the columns in a text: one name, or names and patterns such as Answer.* with commas or lines between.

    Raises InputError for a name that fits no column.
    """
    names = [text] if text in table.columns else text.split("\n" if "\n" in text else ",")
    chosen: dict[str, None] = {}
    for name in map(str.strip, names):
        fitting = [name] if name in table.columns else fnmatch.filter(table.columns, name)
        if not fitting:
            raise InputError(
                f"{table.name}: has no column '{shorten(name)}'; it has {_listed(table.columns)}."
            )
        chosen |= dict.fromkeys(fitting)
    return tuple(chosen)


def keep_columns(table: Table, fields: Mapping[str, str], chosen: str = "") -> Table:
    """Return a table with the columns of the fields and those of ``chosen``, or as many as an instance can keep."""
    if len(table.columns) <= MAX_COLUMNS and not chosen:
        return table
    used = set(fields.values())
    named = choose_columns(table, chosen) if chosen else table.columns
    others = [column for column in named if column not in used][: MAX_COLUMNS - len(used)]
    kept = tuple(column for column in table.columns if column in used or column in set(others))
    left = [column for column in table.columns if column not in kept]
    if not left:
        return table
    why = "" if chosen else f", and an instance keeps {MAX_COLUMNS}"
    note = (
        f"The table has {len(table.columns):,} columns{why}: {len(left):,} are left "
        f"out, from “{shorten(left[0])}” to “{shorten(left[-1])}”. Choose others under Columns, or with --map context=."
    )

    def rows() -> Iterator[Row]:
        for row in table.records():
            yield Row(row.line, {column: row.cells[column] for column in kept}, row.nested & set(kept))

    return Table(table.name, kept, rows, table.unit, (*table.notes, note))


def match_columns(
    table: Table, fields: Sequence[str], mapping: Mapping[str, str] | None, *, guess: bool = False
) -> dict[str, str]:
    """Return the column of each field that has one.

    ``mapping`` (field to column) has priority, then columns with the field's name in any case, then, with ``guess``,
    its synonyms. Each column is matched by name only once. A field that is mapped to "" has no column.

    Raises InputError if ``mapping`` names an unknown field, or a column that the table lacks.
    """
    matched = {field: _find_mapped(table, fields, field, name) for field, name in (mapping or {}).items()}
    for field in fields:
        names = SYNONYMS[field] if guess else (field,)
        if field not in matched and (column := find_column(table.columns, names, taken=matched.values())):
            matched[field] = column
    return {field: column for field, column in matched.items() if column}


def guess_mapping(table: Table, fields: Sequence[str]) -> dict[str, str]:
    """Return the likeliest column for each field, by name or synonym. Fields without one are left out."""
    return match_columns(table, fields, None, guess=True)


def require_columns(table: Table, matched: Mapping[str, str], fields: Sequence[str]) -> None:
    """Raise InputError for the first field without a column, and propose a mapping."""
    for field in fields:
        if field not in matched:
            likely = guess_mapping(table, fields).get(field) or "COLUMN"
            lacks = (
                f"{table.name}, {table.unit} 1: has no column '{field}'; it has {_listed(table.columns)}; "
            )
            raise InputError(
                f"{lacks}rename a column to '{field}', or map one to it (--map {field}={shorten(likely)}).",
                told=f"{lacks}under Columns, choose the one that holds the {field}.",
            )


def normal_name(name: str) -> str:
    """Return a column name for comparison, in lower case, with blanks for underscores and hyphens.

    >>> normal_name(" Story_Requirement ")
    'story requirement'
    """
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _find_mapped(table: Table, fields: Sequence[str], field: str, column: str) -> str:
    if field not in fields:
        raise InputError(
            f"'{shorten(field)}' is not a field that can be mapped; the fields are {', '.join(fields)}."
        )
    matched = column if not column or column in table.columns else find_column(table.columns, (column,))
    if matched is None:
        raise InputError(
            f"{table.name}: has no column '{shorten(column)}' to map '{field}' to; it has {_listed(table.columns)}."
        )
    return matched


def find_column(columns: Sequence[str], names: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """Return the first column that has one of the names. Names are tried in order, and case is ignored."""
    free = [column for column in columns if column not in taken]
    for name in names:
        for column in free:
            if column == name or normal_name(column) == normal_name(name):
                return column
    return None


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(f"'{shorten(column)}'" for column in columns[:20])
    return f"{shown} and {len(columns) - 20} more" if len(columns) > 20 else shown
