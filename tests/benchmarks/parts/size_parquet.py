"""A Parquet file of a million rows imported, beside a tenth of it: its memory must not grow with its rows."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.parts.size_run import Ran, coeval

GROUP = 100_000
"""Rows of a row group, as the writers of data sets have them."""


def write_parquet(path: Path, rows: int) -> Path:
    """So many instances, about 380 characters each."""
    import pyarrow as pa
    from pyarrow import parquet

    answer = "It rains where the air rises and cools. " * 5
    schema = pa.schema([(name, pa.string()) for name in ("instance", "input", "output", "system")])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, GROUP):
            numbers = range(start, min(start + GROUP, rows))
            columns = [
                [f"x{n}" for n in numbers],
                [f"Question {n // 2}? {answer}" for n in numbers],
                [f"{answer}{n}" for n in numbers],
                ["ab"[n % 2] for n in numbers],
            ]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema))
    return path


def import_parquet(folder: Path, rows: int) -> Ran:
    """The command's import of such a file, in a process of its own."""
    folder.mkdir(parents=True)
    path = write_parquet(folder / "instances.parquet", rows)
    return coeval("import", path, "--task", "parquet", db=folder / "parquet.db")
