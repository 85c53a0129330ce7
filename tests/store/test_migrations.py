"""A file of an earlier version is carried over whole, and one of a development version is refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from coeval import __version__
from coeval.errors import StorageError
from coeval.extensions.judge import queries_seal
from coeval.store import Store, steps
from coeval.store.queries import exports, reports
from coeval.store.soundness import examine_file
from coeval.store.steps import LAST_COMMIT, STEPS, apply_steps, create_database, read_steps
from coeval.usecases.access import OPERATOR
from coeval.usecases.scrutiny.steps import Where, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.serving.server import new_context
from tests.support.studies.scrutiny_steps import save

AT = "2026-01-31T09:30:00.000Z"
LATER = "-- step tried_notes: to try\nALTER TABLE annotator ADD COLUMN tried TEXT NOT NULL DEFAULT 'so';\n"
FAULTY = (
    LATER
    + "-- step tried_more: to try\nCREATE TABLE tried (x TEXT) STRICT;\nCREATE TABLE task (x TEXT) STRICT;\n"
)


def make_old(path: Path) -> list[str]:
    """Write a file of this version with a person, and return its content."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        apply_steps(Database(connection))
        connection.execute("INSERT INTO annotator (name, role, created_at) VALUES ('Olu', 'owner', ?)", [AT])
        return list(connection.iterdump())


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.fixture
def update(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give CoEval further steps, as a later version has them."""
    return lambda text: monkeypatch.setattr(steps, "STEPS", [*STEPS, *read_steps(text)])


def test_an_earlier_file_is_carried_over_and_its_copy_is_the_way_back(
    tmp_path: Path, update: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    path, copy = tmp_path / "old.db", tmp_path / "old.db.before-tried_notes"
    before = make_old(path)
    update(LATER)
    store = Store(path)
    with store.read() as db:
        health = examine_file(db)
        assert (
            health.sound
            and list(health.migrations) == [step.name for step in steps.STEPS]
            and not health.pending
        )
        assert [(row["name"], row["tried"]) for row in db.query("SELECT * FROM annotator")] == [("Olu", "so")]
    store.close()
    assert dump(path) != before == dump(copy) and str(copy) in caplog.text
    made = copy.stat().st_mtime_ns
    Store(path).close()
    # going back, and forward again, which keeps the copy of the first time
    path.unlink()
    shutil.copy(copy, path)
    Store(path).close()
    assert copy.stat().st_mtime_ns == made


RELEASED = Path(__file__).parents[1] / "data" / "released"
"""A database with one score by each version, as SQL. A released one is never written again."""


def describe_schema(path: Path) -> list[tuple[str, str, str]]:
    """Return the table, the name and the type of every column, and the SQL of every index, view and trigger."""
    columns = "SELECT t.name, c.name, c.type FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
    others = "SELECT type, name, coalesce(sql, '') FROM sqlite_master WHERE type <> 'table'"
    with closing(sqlite3.connect(path)) as connection:
        return sorted([*connection.execute(columns), *connection.execute(others)])


def test_a_database_of_every_released_version_opens_with_its_work(tmp_path: Path) -> None:
    newest = RELEASED / f"{__version__}.sql"
    new = new_context(tmp_path)
    import_study(new, OPERATOR, make_study())
    olu, _ = sign_in(new, "Olu")
    save(new, olu, get_step(new, olu, "demo", Where(position=1)), 4)
    new.store.close()
    if os.environ.get("COEVAL_GOLDEN") == "write":
        newest.write_text("\n".join(dump(tmp_path / "coeval.db")), encoding="utf-8")
    assert newest.is_file(), "a version is released with its database: write it with COEVAL_GOLDEN=write"
    for released in RELEASED.glob("*.sql"):
        path = tmp_path / f"{released.stem}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(released.read_text(encoding="utf-8"))
        store = Store(path)
        with store.read() as db:
            health = examine_file(db)
            assert health.sound and not health.pending, released.name
            (score,) = db.query(exports.LATEST_SCORES, {"task": 1})
            assert (score["annotator"], score["score"], score["arm"]) == ("Olu", 4, "assisted")
        store.close()
        told = "the schema changed: add a step, or before the release write the file with COEVAL_GOLDEN=write"
        assert describe_schema(path) == describe_schema(tmp_path / "coeval.db"), f"{released.name}: {told}"


def test_opening_a_file_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    before = make_old(path)
    Store(path).close()
    Store(path).close()
    assert dump(path) == before and not list(tmp_path.glob("*.before-*"))


def test_of_two_that_open_an_old_file_at_once_one_copies_it(
    tmp_path: Path, update: Callable[[str], None]
) -> None:
    path = tmp_path / "old.db"
    before = make_old(path)
    update(LATER)
    with ThreadPoolExecutor(4) as pool:
        for opened in list(pool.map(Store, [path] * 4)):
            opened.close()
    (copy,) = tmp_path.glob("old.db.before-*")
    assert dump(copy) == before


def test_a_new_file_and_one_that_is_only_read_are_not_copied(
    tmp_path: Path, update: Callable[[str], None]
) -> None:
    make_old(tmp_path / "old.db")
    update(LATER)
    Store(tmp_path / "new.db").close()
    Store(tmp_path / "old.db", read_only=True).close()
    assert not list(tmp_path.glob("*.before-*"))


def test_a_file_that_cannot_be_copied_is_not_migrated(
    tmp_path: Path, update: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    before = make_old(path)
    update(LATER)

    def fill_up(store: Store, target: Path) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(Store, "_copy", fill_up)
    with pytest.raises(StorageError, match="disk is full"):
        Store(path)
    assert dump(path) == before


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, update: Callable[[str], None]
) -> None:
    """The second step makes a table that exists: nothing of either step may stay."""
    path = tmp_path / "old.db"
    before = make_old(path)
    update(FAULTY)
    with pytest.raises(StorageError, match="already exists"):
        Store(path)
    assert dump(path) == before


def test_a_file_of_a_development_version_is_refused_with_the_commit_that_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_old(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE _sqlite_migrations SET name = 'm001_people_and_tasks' WHERE name = 'v1_schema'"
        )
        connection.commit()
    before = dump(path)
    for read_only in (False, True):
        with pytest.raises(StorageError, match=f"development version of CoEval.*Commit {LAST_COMMIT}"):
            Store(path, read_only=read_only)
    assert dump(path) == before


def test_every_reference_has_an_index() -> None:
    """Without one, deleting a row reads the whole table that refers to it, while everybody waits to save.

    PostgreSQL has the same indexes: ``test_postgres`` compares them.
    """
    db = create_database()
    without = []
    for table in db.table_names():
        first = {row["name"] for row in db.query(f"PRAGMA table_info({table})") if row["pk"] == 1}
        for index in db.query(f"PRAGMA index_list({table})"):
            name = next(db.query(f"PRAGMA index_info({index['name']})"))["name"]
            made = db.conn.execute("SELECT sql FROM sqlite_master WHERE name = ?", [index["name"]]).fetchone()
            # an index of the rows that refer to something at all serves as well
            if not index["partial"] or made[0].endswith(f"WHERE {name} IS NOT NULL"):
                first.add(name)
        without += [
            f"{table}({row['from']})"
            for row in db.query(f"PRAGMA foreign_key_list({table})")
            if row["from"] not in first
        ]
    assert without == []


@pytest.mark.parametrize(
    "sql",
    [
        reports.DRAFTS,
        reports.COMPARISONS,
        exports.ANNOTATORS,
        queries_seal.COUNTS,
        queries_seal.JUDGED,
    ],
)
def test_whole_studies_are_not_read_by_the_index_on_the_criterion(sql: str) -> None:
    """SQLite takes a criterion to have ten rows; it has the whole study's, out of order."""
    db = create_database()
    names = ("task", "criteria_set", "seal", "part", "run")
    plan = [row["detail"] for row in db.query(f"EXPLAIN QUERY PLAN {sql}", dict.fromkeys(names, 1))]
    assert plan and not [step for step in plan if "_by_criterion" in step]
