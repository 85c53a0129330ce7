"""A file of every earlier schema, with somebody's work in it, is carried over to this one whole."""

from __future__ import annotations

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlite_utils import Database

from coeval import store as store_module
from coeval.domain import Person
from coeval.errors import StorageError
from coeval.extensions.judge import queries_seal
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import exports, reports
from coeval.store.soundness import examine_file
from coeval.store.steps import apply_steps, keep_earlier_groups, list_step_names
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.steps import Where, get_step, list_history, submit
from tests.support.studies.scrutiny_steps import sent_of

NAMES = list_step_names()
AT = "2026-01-31T09:30:00.000Z"
LATER = "2026-01-31T09:31:00.000Z"

PEOPLE = f"""
INSERT INTO annotator (id, name, role, created_at) VALUES (1, 'Olu', 'owner', '{AT}'),
  (2, 'Ana', 'annotator', '{AT}');
INSERT INTO session (token_hash, annotator, created_at, expires_at)
  VALUES ('abc', 2, '{AT}', '2099-01-01T00:00:00.000Z');
INSERT INTO task (id, slug, name, description, input_field, output_field, guidelines, scale_min, scale_max, origin,
  seed, created_at) VALUES (1, 'demo', 'Ä task', 'd', 'In', 'Out', 'g', 1, 5, '', 's', '{AT}');
INSERT INTO instance (id, task, position, external_id, document, system, input, output, reference, context_json)
  VALUES (1, 1, 1, 'x1', 'd1', 'a', 'Why?', 'So “it” is.', '', '{{}}'),
    (2, 1, 2, 'x2', 'd1', 'b', 'Why?', 'No.', '', '{{}}');
"""
CRITERIA = f"""
INSERT INTO criterion (id, task, name, text, origin, scale_min, scale_max) VALUES (1, 1, '', 'Be true.', 'human', 1, 5);
INSERT INTO criteria_set (id, task, version, established_at, established_by) VALUES (1, 1, 1, '{AT}', 'Olu');
INSERT INTO criteria_set_member (criteria_set, position, criterion) VALUES (1, 1, 1);
"""
DRAFTS = f"""
INSERT INTO run (id, task, criteria_set, protocol, model, prompt_hash, params_json, label, shown, created_at)
  VALUES (1, 1, 1, 'coeval', 'm', '', '{{}}', 'first', 1, '{AT}');
INSERT INTO draft (id, run, instance, criterion, attempt, score, status, reason, raw, samples_json, created_at)
  VALUES (1, 1, 1, 1, 1, 4, 'ok', '', '', '[]', '{AT}'), (2, 1, 2, 1, 1, 2, 'ok', '', '', '[]', '{AT}');
INSERT INTO draft_row (id, draft, position, kind, text) VALUES
  (1, 1, 0, 'conclusion', 'It is.'), (2, 1, 1, 'score', '4'),
  (3, 2, 0, 'conclusion', 'It is not.'), (4, 2, 1, 'score', '2');
"""
QUEUE = """
INSERT INTO assignment (annotator, task, position, instance, arm, state) VALUES
  (2, 1, 1, 1, 'assisted', 'finished'), (2, 1, 2, 2, 'assisted', 'open');
"""
QUEUE_NOW = f"""
INSERT INTO assignment (annotator, task, position, instance, arm, opened_at, state) VALUES
  (2, 1, 1, 1, 'assisted', '{AT}', 'finished'), (2, 1, 2, 2, NULL, NULL, 'open');
"""
WORK = f"""
INSERT INTO submission (id, uid, annotator, instance, criterion, revision, draft, arm, score,
  opened_at, submitted_at, active_ms)
  VALUES (1, 'uid-00000001', 2, 1, 1, 1, 1, 'assisted', 4, '{AT}', '{LATER}', 900),
         (2, 'uid-00000002', 2, 1, 1, 2, 1, 'assisted', 3, '{AT}', '{LATER}', 800);
INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text) VALUES
  (1, 0, 1, 'conclusion', 'approve', '', ''), (1, 1, 2, 'score', 'approve', '', ''),
  (2, 0, 1, 'conclusion', 'revise', 'too sure', 'It may be.'), (2, 1, 2, 'score', 'revise', '', '3');
"""


def parts(n: int) -> tuple[str, ...]:
    """What the first n steps made room for; the fifth draws arms later than the fourth did."""
    return (PEOPLE, CRITERIA, DRAFTS, WORK + (QUEUE if n == 4 else QUEUE_NOW))[:n]


KEPT = ("annotator", "task", "instance", "criterion", "draft", "draft_row", "submission", "submission_row")


def make_old(path: Path, n: int) -> dict[str, list[sqlite3.Row]]:
    """A file with the first n steps and rows in each of their tables; gives its rows by table."""
    connection = sqlite3.connect(path, isolation_level=None)
    db = Database(connection)
    apply_steps(db, NAMES[:n])
    for part in parts(n):
        connection.executescript(part)
    found = rows_of(connection, KEPT)
    connection.close()
    return found


def rows_of(connection: sqlite3.Connection, tables: tuple[str, ...]) -> dict[str, list[sqlite3.Row]]:
    connection.row_factory = sqlite3.Row
    known = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {
        name: list(connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2"))
        for name in tables
        if name in known
    }


@pytest.mark.slow
@pytest.mark.parametrize("n", range(len(NAMES) + 1), ids=["empty", *NAMES])
def test_a_file_of_every_earlier_schema_is_carried_over_whole(n: int, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    before = make_old(path, n)
    opened = Store(path)
    with opened.read() as db:
        health = examine_file(db)
        after = rows_of(db.conn, tuple(before))
    opened.close()
    assert health.sound, health.faults
    assert list(health.migrations) == NAMES
    for table, rows in before.items():
        assert len(after[table]) == len(rows) > 0 or (n, table) in empty_at(n)
        for old, new in zip(rows, after[table], strict=True):
            kept = set(old.keys()) & set(new.keys())
            assert {name: old[name] for name in kept} == {name: new[name] for name in kept}, table


def empty_at(n: int) -> set[tuple[int, str]]:
    """Tables that a schema has already and that ``parts`` fills by a later one."""
    filled = "".join(parts(n))
    return {(n, table) for table in KEPT if f"INSERT INTO {table} (" not in filled}


@pytest.mark.slow
@pytest.mark.parametrize("n", range(4, len(NAMES) + 1), ids=NAMES[3:])
def test_work_goes_on_in_a_file_carried_over(n: int, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_old(path, n)
    context, ana = Context(Store(path), load_settings({}, db=path)), Person("Ana", id=2)
    step = get_step(context, ana, "demo")
    assert (step.total, step.finished, step.instance and step.instance.id) == (2, 1, 2)
    assert submit(context, ana, "demo", sent_of(step, 2)).revision == 1
    first, second = list_history(context, ana, "demo", 1, 1)
    assert (first.score, second.score, second.rows[0].text) == (4, 3, "It may be.")
    again = get_step(context, ana, "demo", Where(instance=1))
    assert again.finished == 2 and again.saved and again.saved.revision == 2
    context.store.close()


def test_opening_a_file_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_old(path, 4)
    Store(path).close()
    first = list(sqlite3.connect(path).iterdump())
    Store(path).close()
    assert list(sqlite3.connect(path).iterdump()) == first


def test_a_file_is_copied_before_it_is_migrated_and_the_copy_is_the_way_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, copy = tmp_path / "old.db", tmp_path / f"old.db.before-{NAMES[4]}"
    make_old(path, 4)
    before = list(sqlite3.connect(path).iterdump())
    Store(path).close()
    assert list(sqlite3.connect(path).iterdump()) != before == list(sqlite3.connect(copy).iterdump())
    assert str(copy) in caplog.text
    made = copy.stat().st_mtime_ns
    Store(path).close()
    assert [one.name for one in tmp_path.iterdir() if ".before-" in one.name] == [copy.name]
    # going back, and forward again, which keeps the copy of the first time
    path.unlink()
    shutil.copy(copy, path)
    Store(path).close()
    assert copy.stat().st_mtime_ns == made


def test_of_two_that_open_an_old_file_at_once_one_copies_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_old(path, 4)
    before = list(sqlite3.connect(path).iterdump())
    with ThreadPoolExecutor(4) as pool:
        for opened in list(pool.map(Store, [path] * 4)):
            opened.close()
    (copy,) = tmp_path.glob("old.db.before-*")
    assert copy.name == f"old.db.before-{NAMES[4]}" and list(sqlite3.connect(copy).iterdump()) == before


def test_a_new_file_and_one_that_is_only_read_are_not_copied(tmp_path: Path) -> None:
    Store(tmp_path / "new.db").close()
    make_old(tmp_path / "old.db", 4)
    Store(tmp_path / "old.db", read_only=True).close()
    assert not list(tmp_path.glob("*.before-*"))


def test_a_file_that_cannot_be_copied_is_not_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    make_old(path, 4)
    before = list(sqlite3.connect(path).iterdump())

    def fill_up(store: Store, target: Path) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(Store, "_copy", fill_up)
    with pytest.raises(StorageError, match="disk is full"):
        Store(path)
    assert list(sqlite3.connect(path).iterdump()) == before


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_people_from_before_groups_keep_the_group_they_were_counted_in(context: Context) -> None:
    """Annotators were the crowd, owners and researchers experts; what owners have set since stays."""
    with context.store.write() as db:
        for name, role, group, at in (
            ("Olu", "owner", "", AT),
            ("Ana", "annotator", "", AT),
            ("Bo", "annotator", "team", AT),
            ("Cy", "annotator", "", "2026-06-02T00:00:00.000Z"),
        ):
            row = {"name": name, "role": role, "set_group": group, "created_at": at}
            db.table("annotator").insert(row)
        keep_earlier_groups(db)
        assert groups_of(db) == ["team"] * 4, "this database had groups from its beginning"
        when = "UPDATE _sqlite_migrations SET applied_at = ? WHERE name = ?"
        db.conn.execute(when, ["2026-01-01 10:00:00.000000+00:00", "m001_people_and_tasks"])
        db.conn.execute(when, ["2026-06-01T10:00:00.000Z", "m070_group"])
        keep_earlier_groups(db)
        assert groups_of(db) == ["expert", "crowd", "team", "team"]


def groups_of(db: store_module.Database) -> list[str]:
    return [row["group_name"] for row in db.query("SELECT * FROM annotator_group ORDER BY annotator")]


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """The fifth cannot add a column that is there already: nothing of it may stay."""
    path = tmp_path / "old.db"
    make_old(path, 4)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE design (oops TEXT)")
    connection.execute("CREATE TABLE first_score (oops TEXT)")
    connection.commit()
    dump = list(connection.iterdump())
    with pytest.raises(Exception, match="exists"):
        Store(path)
    assert list(connection.iterdump()) == dump


def test_every_reference_has_an_index() -> None:
    """Without one, deleting a row reads the whole table that refers to it, while everybody waits to save.

    PostgreSQL has the same indexes: ``test_postgres`` compares them.
    """
    db = Database(memory=True)
    apply_steps(db)
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
        reports.QUOTES,
        reports.COMPARISONS,
        exports.ANNOTATORS,
        queries_seal.COUNTS,
        queries_seal.JUDGED,
    ],
)
def test_whole_studies_are_not_read_by_the_index_on_the_criterion(sql: str) -> None:
    """SQLite takes a criterion to have ten rows; it has the whole study's, out of order."""
    db = Database(memory=True)
    apply_steps(db)
    names = ("task", "criteria_set", "seal", "part", "run")
    plan = [row["detail"] for row in db.query(f"EXPLAIN QUERY PLAN {sql}", dict.fromkeys(names, 1))]
    assert plan and not [step for step in plan if "_by_criterion" in step]
