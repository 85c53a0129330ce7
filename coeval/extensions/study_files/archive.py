"""A whole study in one file: a zip with a manifest and one JSON line per row.

``manifest.json`` records the schema of the rows, and each table's columns, number of rows, bytes and SHA-256.
``tables/NAME.jsonl`` has one list of values per line, in the order of the columns.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coeval.errors import InputError
from coeval.extensions.study_files.queries_schema import Schema, get_schema
from coeval.store.steps import list_steps, refuse_development

FORMAT, VERSION = "coeval-study", 1
MANIFEST = "manifest.json"

MOST_MANIFEST = 1_000_000
MOST_LINE = 64_000_000
"""The largest size of one row in bytes."""

FREE_BYTES, MOST_RATIO = 100_000_000, 100
"""Unpacked files up to this size are always accepted; larger ones only up to this ratio to the packed size."""

NOT_OURS = (
    "This is not a study file: create one with “python -m coeval study export study.zip --task SLUG --people names”, "
    "or in Set-up under Hosting."
)


@dataclass(frozen=True, slots=True)
class TableNote:
    """The entry of a table in the manifest."""

    columns: tuple[str, ...]
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a study file; ``schema`` lists the schema steps of its rows."""

    task: str
    name: str
    exam: str
    people: str
    ledger: bool
    schema: tuple[str, ...]
    exported_at: str
    tables: Mapping[str, TableNote]
    format: str = FORMAT
    version: int = VERSION

    @property
    def rows(self) -> int:
        return sum(note.rows for note in self.tables.values())


def write_table(
    archive: zipfile.ZipFile, name: str, columns: Sequence[str], lines: Iterable[Sequence[Any]]
) -> TableNote:
    """Write one table, row by row."""
    digest, n_rows, n_bytes = hashlib.sha256(), 0, 0
    with archive.open(_path(name), "w", force_zip64=True) as raw:
        for line in lines:
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            data = text.encode() + b"\n"
            raw.write(data)
            digest.update(data)
            n_rows, n_bytes = n_rows + 1, n_bytes + len(data)
    return TableNote(tuple(columns), n_rows, n_bytes, digest.hexdigest())


def write_manifest(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    archive.writestr(MANIFEST, json.dumps(asdict(manifest), ensure_ascii=False, indent=1))


def _path(table: str) -> str:
    return f"tables/{table}.jsonl"


class StudyFile:
    """A checked study file: its manifest, and its tables, which are read row by row."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest, schema: Schema) -> None:
        self.archive, self.manifest, self.schema = archive, manifest, schema

    def read_tables(self) -> Iterator[tuple[str, Sequence[str], Iterator[list[Any]]]]:
        """Yield each table with its columns and rows; read them before the next table.

        Raises:
            InputError: a table does not match the manifest, or a row cannot be read.
        """
        for name, note in self.manifest.tables.items():
            yield name, note.columns, self._read(name, note)

    def _read(self, name: str, note: TableNote) -> Iterator[list[Any]]:
        digest, n = hashlib.sha256(), 0
        try:
            with self.archive.open(_path(name)) as raw:
                while data := raw.readline(MOST_LINE + 1):
                    n += 1
                    if len(data) > MOST_LINE:
                        raise InputError(
                            f"Row {n:,} of {_path(name)} is longer than {MOST_LINE:,} bytes. Nothing was written."
                        )
                    digest.update(data)
                    yield _parse_line(data, name, n, len(note.columns))
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise InputError(f"{_path(name)} cannot be unpacked ({error}). {DAMAGED}") from None
        if n != note.rows or digest.hexdigest() != note.sha256:
            raise InputError(f"{_path(name)} does not match the manifest. {DAMAGED}")


DAMAGED = "The file was damaged or changed after its export: export the study again. Nothing was written."


def _parse_line(data: bytes, name: str, n: int, width: int) -> list[Any]:
    try:
        line = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        line = None
    if (
        not isinstance(line, list)
        or len(line) != width
        or any(isinstance(value, list | dict | bool) for value in line)
    ):
        raise InputError(f"Row {n:,} of {_path(name)} is not a list of {width} values. {DAMAGED}")
    return line


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a study file as a zip file.

    Raises:
        InputError: it is not a zip file, or cannot be read.
    """
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}: check the path.") from None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise InputError(NOT_OURS) from None


def read_study_file(archive: zipfile.ZipFile, size: int) -> StudyFile:
    """Check a study file of this size before any row is read.

    Raises:
        InputError: it is another kind of file, comes from a newer version, is too large when unpacked, or has
        unknown parts.
    """
    entries = {entry.filename: entry for entry in archive.infolist()}
    if MANIFEST not in entries:
        raise InputError(_tell_other(set(entries)))
    manifest = _read_manifest(archive, entries[MANIFEST])
    schema = _find_schema(manifest)
    _check_tables(manifest, schema)
    expected = {MANIFEST, *map(_path, manifest.tables)}
    strange = set(entries) ^ expected
    if strange or len(archive.infolist()) != len(entries):
        raise InputError(
            f"The file contains parts that its manifest does not name: {_name(strange)}. {DAMAGED}"
        )
    for name, note in manifest.tables.items():
        entry = entries[_path(name)]
        if entry.flag_bits & 1 or entry.file_size != note.bytes:
            raise InputError(f"{_path(name)} does not match the manifest. {DAMAGED}")
    _check_size(sum(note.bytes for note in manifest.tables.values()), size)
    return StudyFile(archive, manifest, schema)


def _tell_other(names: set[str]) -> str:
    if {"scores.csv", "instances.csv"} <= names:
        return (
            "This is the CSV export of a study, for spreadsheets and statistics: it lacks data that only a "
            "database needs, and cannot be imported. Create a file that can be imported with “python -m "
            "coeval study export study.zip --task "
            "SLUG --people names”, or in Set-up under Hosting."
        )
    return NOT_OURS


def _name(names: set[str]) -> str:
    return ", ".join(repr(name[:60]) for name in sorted(names)[:3]) or "one of them twice"


def _read_manifest(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Manifest:
    try:
        if entry.file_size > MOST_MANIFEST or entry.flag_bits & 1:
            raise ValueError("its size")
        with archive.open(entry) as raw:
            values = json.loads(raw.read(MOST_MANIFEST))
        if values["format"] != FORMAT:
            raise ValueError("its format")
        if values["version"] != VERSION:
            raise InputError(
                f"This study file has version {str(values['version'])[:20]}, and this CoEval reads "
                f"version {VERSION}: update CoEval."
            )
        notes = {str(name): _read_note(note) for name, note in values["tables"].items()}
        task, name, exam, people, at = (
            str(values[key]) for key in ("task", "name", "exam", "people", "exported_at")
        )
        return Manifest(
            task, name, exam, people, bool(values["ledger"]), tuple(map(str, values["schema"])), at, notes
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, zipfile.BadZipFile, OSError,
            NotImplementedError):  # fmt: skip
        raise InputError(f"The manifest of this file cannot be read. {NOT_OURS}") from None


def _read_note(note: Mapping[str, Any]) -> TableNote:
    rows, size = note["rows"], note["bytes"]
    if not (isinstance(rows, int) and isinstance(size, int) and rows >= 0 and size >= 0):
        raise ValueError("a count")
    return TableNote(tuple(map(str, note["columns"])), rows, size, str(note["sha256"]))


def _find_schema(manifest: Manifest) -> Schema:
    """Return the schema with which a file was written.

    Raises:
        InputError: it is newer than this version.
        StorageError: it is older than the first version.
    """
    refuse_development(manifest.schema, "The study")
    had, steps = set(manifest.schema), list_steps()
    newer = [name for name in manifest.schema if name not in {step.name for step in steps}]
    if newer or not had:
        raise InputError(
            f"The study comes from a newer CoEval, or uses an extension that is not installed (it has "
            f"{(newer or ['nothing'])[-1][:60]}): update CoEval, or install the extension."
        )
    return get_schema(tuple(step.name for step in steps if step.name in had))


def _check_tables(manifest: Manifest, schema: Schema) -> None:
    strange = set(manifest.tables) - schema.names
    if strange:
        raise InputError(f"The file has unknown tables: {_name(strange)}. Nothing was written.")
    for name, note in manifest.tables.items():
        if note.columns != schema.get(name).columns:
            raise InputError(f"The table {name} does not have the columns of its schema. {DAMAGED}")


def _check_size(unpacked: int, size: int) -> None:
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if unpacked > FREE_BYTES and unpacked > MOST_RATIO * size:
        raise InputError(
            f"The file has {size:,} bytes but unpacks to {unpacked:,}, which is too many for a study. Nothing "
            "was written."
        )
    if 3 * unpacked > free:
        raise InputError(
            f"Checking this study needs {3 * unpacked:,} bytes in {tempfile.gettempdir()}, but only {free:,} "
            "are free: set TMPDIR to another folder. Nothing was written."
        )
