"""Commands in processes of their own: how long each took, and the most memory it held."""

from __future__ import annotations

import csv
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coeval.store.queries import exports
from coeval.usecases.export import TABLES

ROOT = Path(__file__).resolve().parents[3]
QUERIES = {name: getattr(exports, name.removesuffix(".csv").upper(), exports.UNITS) for name in TABLES}


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command took."""

    seconds: float
    peak_mb: float


def coeval(*arguments: object, db: Path) -> Ran:
    """``python -m coeval``; raises RuntimeError where it fails."""
    with tempfile.NamedTemporaryFile() as told:
        command = [sys.executable, "-m", "tests.benchmarks.parts.peak", told.name, *map(str, arguments)]
        seconds = _run([*command, "--db", str(db)])
        return Ran(seconds, float(Path(told.name).read_text()))


def _run(command: list[str], feed: str = "") -> float:
    """How many seconds it took."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "COEVAL_"))}
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=kept, text=True, input=feed, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}")
    return time.perf_counter() - started


def import_plainly(folder: Path) -> tuple[str, float]:
    """The file of instances into one table; by the ``sqlite3`` shell, else by Python's module of that name."""
    source, target = folder / "instances.csv", folder / "plain.db"
    shell = shutil.which("sqlite3")
    if shell:
        return "sqlite3", _run([shell, str(target)], f'.mode csv\n.import "{source}" instance\n')
    return "Python's sqlite3", _timed(lambda: _import_here(source, target))


def export_plainly(db: Path, folder: Path) -> tuple[str, float]:
    """The queries of the export as CSV files; by the ``sqlite3`` shell, else by Python's module and csv.writer."""
    folder.mkdir()
    shell = shutil.which("sqlite3")
    if shell:
        wanted = (f'.once "{folder / name}"\n{sql.strip()};\n' for name, sql in QUERIES.items())
        head = ".mode csv\n.headers on\n.parameter init\n.parameter set :task 1\n"
        return "sqlite3", _run([shell, str(db)], head + "".join(wanted))
    return "Python's sqlite3", _timed(lambda: _export_here(db, folder))


def _timed(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def _import_here(source: Path, target: Path) -> None:
    db = sqlite3.connect(target)
    with source.open(encoding="utf-8", newline="") as file, db:
        rows = csv.reader(file)
        names = next(rows)
        db.execute(f"CREATE TABLE instance ({', '.join(names)})")
        db.executemany(f"INSERT INTO instance VALUES ({', '.join('?' * len(names))})", rows)
    db.close()


def _export_here(path: Path, folder: Path) -> None:
    db = sqlite3.connect(path)
    for name, sql in QUERIES.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            cursor = db.execute(sql, {"task": 1})
            writer = csv.writer(file)
            writer.writerow([column[0] for column in cursor.description])
            writer.writerows(cursor)
    db.close()
