"""PostgreSQL in SQLite's place: the same schema, the same transactions, several servers on one database."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlite_utils import Database as SqliteDatabase

from coeval.cli.commands import main
from coeval.datasets.example_studies import SLUG
from coeval.domain import Call, Person, Plan
from coeval.errors import BusyError, InputError, StorageError, UnreachableError
from coeval.settings import load_settings, show_address
from coeval.store import Database, IntegrityError, Storage, open_store, steps
from coeval.store.engines import postgres as postgres_engine
from coeval.store.engines.database import insert
from coeval.store.engines.database_copy import create_schema
from coeval.store.engines.postgres import PostgresStore
from coeval.store.engines.postgres_database import PostgresDatabase
from coeval.store.queries.calls import StoredLedger
from coeval.store.soundness import Soundness, examine_file
from coeval.store.steps import STEPS, apply_steps, begin_use, create_database, empty_before_use, read_steps
from coeval.usecases import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.export import export_zip
from coeval.usecases.hosting.maintenance import check_file, transfer
from coeval.usecases.hosting.startup import open_kept
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import add_finished_example
from tests.support.hosting.postgres import Server
from tests.support.studies.attack_texts import SCRIPTS
from tests.support.studies.hostile_study import fill
from tests.support.studies.whole_study import use_every_extension
from tests.usecases.crowd.test_assignment import join, open_study, places


@pytest.fixture
def address(postgres: Server) -> Iterator[str]:
    with postgres.lend_database() as lent:
        yield lent


@pytest.fixture
def empty(postgres: Server) -> str:
    return postgres.get_address(postgres.add_database())


# ---- the schema -----------------------------------------------------------------------------------------------------

COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
WHERE table_schema = current_schema()
"""
KEYS = """
SELECT t.relname AS table_name, i.indisunique, i.indpred IS NOT NULL AS partial, (
    SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY AS k(number, n)
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number) AS columns
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace
WHERE s.nspname = current_schema()
"""
VIEWS = "SELECT viewname FROM pg_views WHERE schemaname = current_schema()"
REFERENCES = """
SELECT c.conrelid::regclass::text, c.confrelid::regclass::text FROM pg_constraint c
JOIN pg_namespace s ON s.oid = c.connamespace WHERE c.contype = 'f' AND s.nspname = current_schema()
"""
TYPES = {"INTEGER": "bigint", "TEXT": "text", "REAL": "double precision", "BLOB": "bytea"}

Described = tuple[set[Any], Counter[Any], Counter[Any]]


def describe_postgres(db: PostgresDatabase) -> Described:
    """Columns with types, keys and indexes, references."""
    raw = db.conn.raw
    columns = set(raw.execute(COLUMNS))
    views = {name for (name,) in raw.execute(VIEWS)}
    # of views the names alone: SQLite gives what they compute no type
    columns = {row if row[0] not in views else (*row[:2], "", "") for row in columns}
    return columns, Counter(raw.execute(KEYS)), Counter(raw.execute(REFERENCES))


def describe_sqlite(db: SqliteDatabase) -> Described:
    columns, keys, references = set(), Counter[Any](), Counter[Any]()
    views = db.view_names()
    for table in [*db.table_names(), *views]:
        info = list(db.query(f"PRAGMA table_info({table})"))
        if table in views:
            columns |= {(table, column["name"], "", "") for column in info}
            continue
        for column in info:
            required = "NO" if column["notnull"] or column["pk"] else "YES"
            columns.add((table, column["name"], TYPES[column["type"]], required))
        for index in db.query(f"PRAGMA index_list({table})"):
            names = ",".join(part["name"] for part in db.query(f"PRAGMA index_info({index['name']})"))
            keys[table, bool(index["unique"]), bool(index["partial"]), names] += 1
        own_id = [column["name"] for column in info if column["pk"]]
        if len(own_id) == 1 and not any(i["origin"] == "pk" for i in db.query(f"PRAGMA index_list({table})")):
            # what SQLite finds by its own number has no index there
            keys[table, True, False, own_id[0]] += 1
        for reference in db.query(f"PRAGMA foreign_key_list({table})"):
            if not reference["seq"]:  # one reference, however many columns it has
                references[table, reference["table"]] += 1
    return columns, keys, references


@pytest.mark.slow
def test_the_schema_is_that_of_sqlite_table_by_table(address: str) -> None:
    with closing(PostgresStore(address)) as store, store.write() as db:
        use_every_extension(db)
        columns, keys, references = describe_postgres(db)
    wanted_columns, wanted_keys, wanted_references = describe_sqlite(create_database())
    assert columns == wanted_columns and len(columns) > 300
    assert keys == wanted_keys and references == wanted_references


def test_an_older_database_runs_the_migrations_it_lacks(
    empty: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = SqliteDatabase(memory=True)
    apply_steps(older)
    later = read_steps(
        "-- step tried: to try\nALTER TABLE annotator ADD COLUMN tried TEXT NOT NULL DEFAULT 'so';\n"
    )
    monkeypatch.setattr(steps, "STEPS", [*STEPS, *later])
    with psycopg.connect(empty, autocommit=True) as connection:
        create_schema(PostgresDatabase(connection), older)
        connection.execute("INSERT INTO annotator (name, role, created_at) VALUES ('Olu', 'owner', '')")
    # two servers that start together: one of them migrates, the other waits
    with ThreadPoolExecutor(2) as pool:
        stores = list(pool.map(PostgresStore, [empty, empty]))
    with stores[0].read() as db, closing(PostgresStore(address)) as new, new.read() as fresh:
        assert describe_postgres(db) == describe_postgres(fresh)
        found = examine_file(db)
        assert (
            found.pending == ()
            and list(found.migrations) == [step.name for step in steps.STEPS]
            and found.sound
        )
        assert found.totals["annotator"] == 1
    for store in stores:
        store.close()


NOTES = read_steps(
    "-- step notes_tables: to try\nCREATE TABLE notes_note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\n"
)


def test_every_server_uses_an_extension_once_one_has_begun(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @empty_before_use("notes", list)
    def list_notes(db: PostgresDatabase) -> list[tuple[int, str]]:
        return [(row["id"], row["text"]) for row in db.query("SELECT * FROM notes_note ORDER BY id")]

    monkeypatch.setattr(steps, "load_named_parts", lambda kind: [("notes", NOTES)])
    with closing(PostgresStore(empty)) as first, closing(PostgresStore(empty)) as second:
        with second.read() as db:
            assert list_notes(db) == []
        for store, text in ((first, "one"), (second, "two")):
            with store.write() as db:
                begin_use(db, "notes")
                added = insert(db, "notes_note", text=text)
        with first.read() as db:
            assert list_notes(db) == [(1, "one"), (2, "two")] and added == 2
        more = [*NOTES, steps.Step("notes_more", "more", "CREATE TABLE notes_more (x TEXT);")]
        monkeypatch.setattr(steps, "load_named_parts", lambda kind: [("notes", more)])
        PostgresStore(empty).close()
        with pytest.raises(StorageError, match="newer CoEval has changed"), first.write():
            pass


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_what_cannot_be_opened_is_refused_in_one_sentence(
    postgres: Server, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("mysql://me:secret@host/db", "sqlite:///x.db"):
        with pytest.raises(
            InputError, match="not a database that CoEval can use: name a file, or"
        ) as refused:
            load_settings({"COEVAL_DB": other})
        assert "secret" not in str(refused.value)
    with pytest.raises(StorageError, match="nobody.? does not exist|cannot be used") as wrong:
        open_store(postgres.get_address("nobody").replace("coeval@", "coeval:secret@"))
    assert "secret" not in str(wrong.value) and "\n" not in str(wrong.value)
    with pytest.raises(StorageError, match="holds no CoEval study"):
        open_store(empty, read_only=True)
    with psycopg.connect(empty) as connection:
        connection.execute("CREATE TABLE invoice (id int)")
    with pytest.raises(StorageError, match="tables of another program .invoice."):
        open_store(empty)
    with pytest.raises(InputError, match="leave out --start-empty"):
        open_kept(load_settings({}, db=empty), start_empty=True)
    monkeypatch.setitem(sys.modules, "coeval.store.engines.postgres", None)
    with pytest.raises(StorageError, match="pip install 'psycopg"):
        open_store(empty)


def test_a_database_of_a_newer_version_is_left_alone(address: str) -> None:
    with psycopg.connect(address) as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('coeval', 'v9_x', '')"
        )
    with pytest.raises(StorageError, match="newer CoEval .it has v9_x.: update CoEval"):
        open_store(address)


def test_a_server_that_runs_while_a_newer_one_migrates_writes_nothing_more(address: str) -> None:
    with closing(PostgresStore(address)) as old, psycopg.connect(address, autocommit=True) as newer:
        newer.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('coeval', 'v9_x', '')"
        )
        with (
            pytest.raises(StorageError, match="stop this one and start the newer") as refused,
            old.write() as db,
        ):
            add_person(db, "Ana")
        assert "being updated" in refused.value.told
        with pytest.raises(StorageError, match="stop this one"):
            old.ping()
        assert list_names(old) == []


def test_a_server_whose_clock_is_wrong_does_not_start(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    for shift, said in ((60, "60 s ahead of"), (-60, "60 s behind")):
        monkeypatch.setattr(postgres_engine, "time", SimpleNamespace(time=lambda by=shift: real() + by))
        with pytest.raises(StorageError, match=f"{said} that of postgresql://.*set both with a time server"):
            PostgresStore(address)


SPELLINGS = (
    "x7s3cret", "x7/s3cret", "x7@s3cret", "x7%s3cret", "x7 s3cret", "x7:s3cret", "x7?s3cret", "x7#s3cret", "x7&s3cret",
    "x7%40s3cret", "12/s3cret", "x7%zzs3cret", "[x7s3cret", "x7\\s3cret", "12?password=s3cret", "12/s3cret@x7",
)  # fmt: skip


@pytest.mark.parametrize("password", SPELLINGS)
def test_a_password_is_shown_in_no_message_however_it_is_spelt(password: str, tmp_path: Path) -> None:
    for address in (
        f"postgresql://me:{password}@127.0.0.1:1/study",
        f"postgres://127.0.0.1:1/study?user=me&password={password}",
    ):
        shown = [show_address(address), show_address(address.replace("postgresql", "https"))]
        try:
            settings = load_settings({"COEVAL_DB": address, "OPENAI_BASE_URL": address})
            shown += [repr(settings)]
            open_kept(settings, start_empty=True)
        except (InputError, StorageError) as refused:
            shown += [str(refused), refused.told]
        with pytest.raises(StorageError) as error:
            open_store(address)
        shown += [str(error.value), error.value.told]
        assert not any("s3cret" in text or "x7" in text for text in shown), shown
    with pytest.raises(InputError) as keywords:
        load_settings({"COEVAL_DB": f"host=127.0.0.1 port=1 password={password}"})
    assert "s3cret" not in str(keywords.value)


def test_the_command_that_backup_names_works(address: str, tmp_path: Path) -> None:
    with closing(PostgresStore(address)) as store, pytest.raises(StorageError, match="pg_dump") as refused:
        store.backup(tmp_path / "a copy.db")
    (command,) = re.findall("“python -m (.+)”", str(refused.value))
    environment = {**os.environ, "COEVAL_DB": address}
    done = subprocess.run(f"{sys.executable} -m {command}", shell=True, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    with closing(open_store(tmp_path / "a copy.db", read_only=True)) as copy, copy.read() as db:
        assert examine_file(db).sound


def test_the_password_is_shown_nowhere(address: str) -> None:
    secret = address.replace("coeval@", "coeval:secret@")
    settings = load_settings({"COEVAL_DB": secret})
    assert "secret" not in repr(settings) and settings.server == secret
    with closing(PostgresStore(secret)) as store:
        assert "secret" not in store.shown_address
        with pytest.raises(StorageError, match="pg_dump") as refused:
            store.backup(settings.db)
        assert "secret" not in str(refused.value)


# ---- transactions ---------------------------------------------------------------------------------------------------


def add_person(db: Database, name: str) -> None:
    db.table("annotator").insert({"name": name, "role": "annotator", "created_at": ""})


def list_names(store: Storage) -> list[str]:
    with store.read() as db:
        return [row["name"] for row in db.query("SELECT name FROM annotator ORDER BY name")]


def test_rules_of_the_schema_hold_and_a_broken_one_undoes_its_part(address: str) -> None:
    with closing(PostgresStore(address)) as store:
        with store.write() as db:
            add_person(db, "Ana")
            for name, role in (("Ana", "owner"), ("", "owner"), ("Bo", "king")):
                with pytest.raises(IntegrityError), store.write() as part:
                    part.table("annotator").insert({"name": name, "role": role, "created_at": ""})
            add_person(db, "Zoë")
        assert list_names(store) == ["Ana", "Zoë"]
        with pytest.raises(StorageError, match="cannot store a value"), store.write() as db:
            add_person(db, "a\0b")
        with (
            pytest.raises(StorageError, match="reading only"),
            closing(open_store(address, read_only=True)) as other,
        ):
            other.write().__enter__()


@pytest.mark.slow
def test_what_was_paid_for_waits_until_others_have_written(address: str) -> None:
    call = Call("a" * 64, 0, "m", "", "{}", response="Rating: 1")
    with ExitStack() as stack:
        other, store = (stack.enter_context(closing(PostgresStore(address, patience=n))) for n in (30, 1))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        with other.write():
            with pytest.raises(BusyError, match="Other processes have been writing"), store.write():
                pass
            recorded = pool.submit(StoredLedger(store).record_calls, [call])
            with pytest.raises(TimeoutError):
                recorded.result(1.5)
            assert not list_answers(other), "nothing was written"
        recorded.result(60)
        assert list_answers(store) == ["Rating: 1"]


def list_answers(store: Storage) -> list[str]:
    with store.read() as db:
        return [row["response"] for row in db.query("SELECT response FROM call")]


@pytest.mark.slow
def test_an_outage_costs_those_who_save_meanwhile_no_more_than_it_lasts(
    postgres: Server, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool has given up by itself when the server is back: only who asks again gets a connection."""
    monkeypatch.setattr(postgres_engine, "RECONNECT_SECONDS", 0.1)
    monkeypatch.setattr(postgres_engine, "TURN_SECONDS", 0.2)
    with closing(PostgresStore(address, patience=20)) as store, ThreadPoolExecutor(1) as pool:
        with pytest.raises(StorageError, match="cannot be used"), store.write():
            postgres.stop()

        def save() -> None:
            with store.write() as db:
                add_person(db, "meanwhile")

        saved = pool.submit(save)
        time.sleep(2)
        postgres.start()
        saved.result(60)
        assert list_names(store) == ["meanwhile"]


@pytest.mark.parametrize("begun_before", [True, False])
def test_a_database_that_turns_read_only_says_so_and_takes_saves_once_it_can(
    postgres: Server, address: str, begun_before: bool
) -> None:
    """As a managed service does it: for every session, or for those that begin from then on."""
    name = address.split("/")[3].split("?")[0]

    def set_read_only(value: str) -> None:
        postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}")
        if begun_before:
            sql = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            postgres.execute(sql)

    with closing(PostgresStore(address)) as store:
        with store.write() as db:
            add_person(db, "before")
        set_read_only("on")
        if not begun_before:  # sessions of before go on writing: here they end one by one
            with pytest.raises(StorageError), store.write() as db:
                db.conn.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        for _ in range(3):
            with pytest.raises(UnreachableError, match="is read-only: wait until") as refused, store.write():
                pytest.fail("a transaction began that cannot write")
            assert "read-only just now, so nothing was saved" in refused.value.told
            with pytest.raises(UnreachableError, match="is read-only"):
                store.ping()
        assert list_names(store) == ["before"]
        set_read_only("off")
        store.ping()
        with store.write() as db:
            add_person(db, "after")
        store.ping()
        assert list_names(store) == ["after", "before"]


def test_read_only_in_the_middle_of_a_transaction_and_errors_nobody_thought_of(address: str) -> None:
    with closing(PostgresStore(address)) as store:
        with pytest.raises(UnreachableError, match="is read-only: wait until"), store.write() as db:
            db.conn.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
            db.conn.execute("SET transaction_read_only = on")
            add_person(db, "Ana")
        with (
            pytest.raises(StorageError, match="cannot be used: .*no_such_table") as refused,
            store.write() as db,
        ):
            db.conn.execute("DELETE FROM no_such_table")
        assert "no_such_table" not in refused.value.told
        with store.write() as db:
            add_person(db, "Bo")
        assert list_names(store) == ["Bo"]


def read_everything(address: str) -> tuple[dict[str, bytes], dict[str, Any], Soundness]:
    """Every file of the export of every task, the statistics of the one that is finished, and the totals."""
    store = open_store(address, read_only=True)
    context = Context(store, load_settings({}, db=address))
    files = {}
    with closing(store):
        for task in tasks.list_tasks(context, OPERATOR):
            target = io.BytesIO()
            export_zip(context, OPERATOR, task.slug, target)
            with zipfile.ZipFile(target) as archive:
                files |= {f"{task.slug}/{name}": archive.read(name) for name in archive.namelist()}
        return files, get_report(context, OPERATOR, SLUG), check_file(context, OPERATOR)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_everything_moves_to_a_server_and_back(
    context: Context, owner: Person, empty: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_finished_example(context)
    fill(context, owner, SCRIPTS)
    there, back = context.store.address, str(tmp_path / "back.db")
    context.store.close()
    before = read_everything(there)
    assert len(before[0]) > 20 and before[2].sound and before[2].totals["submission"] > 100
    main(["move", "--from", there, "--to", empty])
    assert "rows are the same in both" in capsys.readouterr().out
    assert read_everything(empty) == before
    with closing(open_store(empty)) as store, store.write() as db:
        # what is new gets numbers after those that came along
        add_person(db, "New")
        db.conn.execute("DELETE FROM annotator WHERE name = 'New'")
    main(["move", "--from", empty, "--to", back])
    assert read_everything(back) == before
    for source, target, why in (
        (there, empty, "already holds a study: name a new database"),
        (there, back, "exists already: name a new file"),
        (str(tmp_path / "none.db"), str(tmp_path / "new.db"), "There is no file"),
    ):
        with pytest.raises(StorageError, match=why):
            transfer(source, target)


def test_two_servers_give_each_place_once(address: str) -> None:
    contexts = [Context(PostgresStore(address), load_settings({}, db=address)) for _ in range(2)]
    owner = sign_in(contexts[0], "Olu")[0]
    open_study(contexts[0], owner, Plan(per_instance=3, batch=4, quota=4), n_documents=5)  # 30 places
    people = [join(contexts[0], number) for number in range(12)]  # 12 x 4 = 48 are wanted

    def ask(number: int) -> None:
        get_step(contexts[number % 2], people[number], "demo")

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(ask, range(12)))
    assert Counter(places(contexts[0]).values()) == {3: 10}
    for context in contexts:
        context.store.close()
