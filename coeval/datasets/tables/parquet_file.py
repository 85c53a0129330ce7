"""Parquet files, read batch by batch with pyarrow, which is an extra: ``pip install "coeval[hub]"``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.datasets.tables.table import MAX_ROWS, Row, Table, check_header
from coeval.datasets.text import check_size
from coeval.errors import CoevalError, InputError

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

BATCH = 500
"""The number of rows in memory at a time."""

BUFFER = 1 << 20
"""The number of bytes of a column that are read ahead."""

MAX_UNPACKED = 8_000_000_000
"""The largest unpacked size of a file, in bytes, as its footer states it."""

MOST_TEXT, MOST_TIMES = 100_000_000, 100
"""Texts of more characters in all, and of more times the file's bytes, are refused: a small file can repeat them."""

INSTALL = (
    'Parquet files need pyarrow, which is not installed: pip install "coeval[hub]", or pip install pyarrow.'
)


def open_table(path: Path) -> Table:
    """Return a Parquet file as a table. Only the schema is read at first.

    As in JSON Lines, numbers, dates and booleans become text, and null an empty cell. Lists, structs and maps become
    JSON and are named in ``Row.nested``. Bytes (pictures, sound) are replaced by their number.

    Raises InputError if pyarrow is not installed, for a file that is damaged or not Parquet, a bad header, or too many
    rows or bytes; the rows raise it for text that is not UTF-8.
    """
    check_size(path)
    with _opened(path) as file:
        columns = check_header(path.name, "row", file.schema_arrow.names)
        _check_footer(path, file)

    def rows() -> Iterator[Row]:
        with _opened(path) as file:
            renders = [_choose_render(field.type) for field in file.schema_arrow]
            line, length, size = 0, 0, path.stat().st_size
            for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
                for values in _read_batch(path, batch, line):
                    line += 1
                    row = _build_row(line, columns, values, renders)
                    # a dictionary holds a long text once, however many rows repeat it
                    length += sum(map(len, row.cells.values()))
                    if length > max(MOST_TEXT, MOST_TIMES * size):
                        raise InputError(
                            f"{path.name}, row {line}: the texts so far have {length:,} characters, over {MOST_TIMES} "
                            "times the file; import a table with fewer repeated texts."
                        )
                    yield row

    return Table(path.name, columns, rows, unit="row")


@contextmanager
def _opened(path: Path) -> Iterator[parquet.ParquetFile]:
    """Open the file, and turn every error of pyarrow into an InputError."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise InputError(INSTALL) from error
    try:
        # dictionaries stay packed, so a long text that a million rows share is in memory only once
        texts = _list_texts(path)
        with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False, read_dictionary=texts) as file:
            yield file
    except CoevalError:
        raise
    except (ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise InputError(
            f"{path.name}: cannot be read as Parquet ({_first_words(error)}); download or write the file "
            "again."
        ) from error


def _list_texts(path: Path) -> list[str]:
    """Return the columns with plain text."""
    import pyarrow
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    is_text = (pyarrow.types.is_string, pyarrow.types.is_large_string)
    return [field.name for field in schema if any(check(field.type) for check in is_text)]


def _check_footer(path: Path, file: parquet.ParquetFile) -> None:
    """Raise InputError for files with too many rows or bytes, before any row is read."""
    footer = file.metadata
    if footer.num_rows > MAX_ROWS:
        raise InputError(
            f"{path.name}: has {footer.num_rows:,} rows, and the limit is {MAX_ROWS:,}; split the file "
            "and import the parts."
        )
    groups = (footer.row_group(place) for place in range(footer.num_row_groups))
    unpacked = sum(group.total_byte_size for group in groups)
    if unpacked > MAX_UNPACKED:
        raise InputError(
            f"{path.name}: contains {unpacked:,} bytes when unpacked, and the limit is {MAX_UNPACKED:,}; "
            "split the file and import the parts."
        )


def _read_batch(path: Path, batch: pyarrow.RecordBatch, before: int) -> Iterator[tuple[Any, ...]]:
    try:
        yield from zip(*(_unpack(column) for column in batch.columns), strict=True)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name}, rows {before + 1} to {before + batch.num_rows}: contain text that is not "
            "UTF-8; write the file again from its source."
        ) from error


def _unpack(column: pyarrow.Array) -> list[Any]:
    """Return a column's values; rows with the same entry of a dictionary share one text in memory."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        return list(column.to_pylist())
    entries = column.dictionary.to_pylist()
    return [None if at is None else entries[at] for at in column.indices.to_pylist()]


def _build_row(line: int, columns: tuple[str, ...], values: tuple[Any, ...], renders: list[Render]) -> Row:
    cells: dict[str, str] = {}
    nested: list[str] = []
    for column, value, render in zip(columns, values, renders, strict=False):
        cells[column] = "" if value is None else render(value)
        if value is not None and render is _render_nested:
            nested.append(column)
    return Row(line, cells, frozenset(nested))


Render = Callable[[Any], str]


def _choose_render(kind: pyarrow.DataType) -> Render:
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        return str
    return _render_nested if pyarrow.types.is_nested(kind) else _render_plain


def _render_plain(value: Any) -> str:
    plain = _simplify(value)
    return plain if isinstance(plain, str) else "" if plain is None else json.dumps(plain)


def _render_nested(value: Any) -> str:
    return json.dumps(_simplify(value), ensure_ascii=False)


def _simplify(value: Any) -> Any:
    """Return a value in JSON types."""
    if isinstance(value, Mapping):
        return {str(name): _simplify(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_simplify(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if isinstance(value, str | int | bool | None) else str(value)


def _first_words(error: Exception) -> str:
    """Return the error message of a library up to its advice."""
    return " ".join(str(error).split()).partition(". ")[0][:120].rstrip(".") or type(error).__name__
