"""A large task, each step timed beside an obvious baseline: ``python -m tests.benchmarks size``.

100,000 instances and 1,000,000 submission rows (lines of submissions), unless told otherwise. The export is
timed beside the same queries run by the ``sqlite3`` module and written by ``csv.writer`` as they come.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from coeval.domain import Criterion, Instance, Person, Study, Task
from coeval.export import SIMPLE, export_folder
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.assignments import Filter
from coeval.study.access import Context
from coeval.study.importing import import_study
from coeval.study.people import sign_in
from coeval.study.scrutiny import Where, get_step
from coeval.study.statistics import get_statistic
from coeval.ui.agreement import count_submissions

GOAL = 3.0
LINES = 4
"""Lines of one submission."""


def timed(name: str, step: Callable[[], object], baseline: float = 0.0) -> float:
    """Run a step and print its time, the peak memory so far (Linux: megabytes), and its baseline."""
    started = time.perf_counter()
    step()
    took = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    beside = f"  baseline {baseline:8.2f} s  ratio {took / baseline:5.2f}" if baseline else ""
    print(f"{name:34} {took:8.3f} s  peak {peak:6.0f} MB{beside}", flush=True)
    return took


def make_study(instances: int) -> Study:
    made = tuple(
        Instance(f"x{n}", f"Question {n // 2}?", f"The answer number {n}. " * 10, f"d{n // 2}", "ab"[n % 2])
        for n in range(instances)
    )
    return Study(Task("big", "A large task"), made, (Criterion("Be true."), Criterion("Be brief.")))


def add_submissions(path: Path, rows: int) -> None:
    """Saves of people who are not there: each of a blind instance by a criterion, with ``LINES`` lines."""
    db = sqlite3.connect(path)
    n_instances = db.execute("SELECT count(*) FROM instance").fetchone()[0]
    wanted = rows // LINES
    for n in range(-(-wanted // (2 * n_instances))):
        db.execute(
            "INSERT INTO annotator (name, role, created_at) VALUES (?, 'annotator', 'T')", [f"past {n}"]
        )
        db.execute(PAST, [f"past{n}-", n, wanted - 2 * n_instances * n])
    db.execute(PAST_LINES)
    db.commit()
    db.close()


PAST = """
INSERT INTO submission (uid, annotator, instance, criterion, revision, arm, score, submitted_at, active_ms)
SELECT ? || i.id || '-' || c.id, (SELECT max(id) FROM annotator), i.id, c.id, 1, 'blind',
  1 + (i.id * 7 + c.id * 3 + ? * (i.id % 3)) % 5, '2026-01-31T09:30:00.000Z', 4000
FROM instance i CROSS JOIN criterion c LIMIT ?
"""
PAST_LINES = f"""
INSERT INTO submission_row (submission, position, kind, action, reason, text)
SELECT s.id, n.value, 'evidence', 'add', '', 'A line of evidence, as long as such lines are.'
FROM submission s, (VALUES {", ".join(f"({n})" for n in range(LINES))}) AS n(value)
""".replace("n(value)", "n").replace("n.value", "n.column1")


def write_plainly(path: Path, folder: Path) -> None:
    """The same queries by the sqlite3 module, written as they come."""
    folder.mkdir()
    db = sqlite3.connect(path)
    for name, sql in SIMPLE.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            cursor = db.execute(sql, {"task": 1})
            writer = csv.writer(file)
            writer.writerow([column[0] for column in cursor.description])
            writer.writerows(cursor)
    db.close()


def insert_plainly(path: Path, study: Study) -> None:
    """The texts alone into one table, by executemany."""
    db = sqlite3.connect(path)
    db.execute(
        "CREATE TABLE instance (id TEXT PRIMARY KEY, input TEXT, output TEXT, document TEXT, system TEXT)"
    )
    values = ((i.external_id, i.input, i.output, i.document, i.system) for i in study.instances)
    db.executemany("INSERT INTO instance VALUES (?, ?, ?, ?, ?)", values)
    db.commit()
    db.close()


def walk(context: Context, person: Person, total: int) -> None:
    """Open the queue, jump to its middle and its end, and look at it under every filter."""
    timed("open for the first time", lambda: get_step(context, person, "big"))
    timed("open again", lambda: get_step(context, person, "big"))
    timed("jump to the middle", lambda: get_step(context, person, "big", Where(position=total // 2)))
    timed("jump to the end", lambda: get_step(context, person, "big", Where(position=total)))
    for which in Filter:
        timed(f"filter: {which}", lambda which=which: get_step(context, person, "big", Where(which)))  # type: ignore[misc]


def measure(folder: Path, instances: int, rows: int) -> float:
    """Every step in turn; gives the export's ratio to its baseline."""
    path, study = folder / "big.db", make_study(instances)
    context = Context(Store(path), load_settings({}, db=path))
    owner = sign_in(context, "Olu")[0]
    plain = timed("(plain inserts)", lambda: insert_plainly(folder / "plain.db", study))
    timed("import", lambda: import_study(context, owner, study), plain)
    add_submissions(path, rows)
    walk(context, owner, instances)
    timed("count for the statistics", lambda: get_statistic(context, owner, "big", count_submissions))
    plain = timed("(plain export)", lambda: write_plainly(path, folder / "plain"))
    took = timed("export", lambda: export_folder(context, owner, "big", folder / "out"), plain)
    context.store.close()
    return took / plain


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks size", description=__doc__)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000_000, help="submission rows")
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        ratio = measure(Path(folder), options.instances, options.rows)
    print(f"export / plain export: {ratio:.2f}; the goal is {GOAL:g}")
    return 0 if ratio <= GOAL else 1
