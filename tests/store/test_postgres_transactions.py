"""Transactions on PostgreSQL: parts that are undone, prepared statements, the planner, and how often a save asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import Person, Study
from coeval.errors import UnreachableError
from coeval.store import IntegrityError
from coeval.store.engines.postgres import PostgresStore
from coeval.store.engines.postgres_database import MANY, SAVED, PostgresDatabase, find_saved
from coeval.store.engines.postgres_statements import Statements
from coeval.store.queries import tasks
from coeval.ui.app.scrutiny_tab import add_scrutiny_api
from coeval.ui.server.identity import COOKIE
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.steps import get_aliases, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.http.test_scrutiny import BASE, body
from tests.support.hosting.postgres import Server

MOST_ASKED = 38
"""Statements of a confirm: the session, the save, the opening of what comes next."""


@pytest.fixture
def address(postgres: Server) -> Iterator[str]:
    with postgres.lend_database() as lent:
        yield lent


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(address)) as opened:
        yield opened


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that goes to the server."""
    seen: list[str] = []
    for name in ("run", "run_simple"):
        real = getattr(Statements, name)

        def run(self: Statements, sql: str, *values: Any, real: Any = real) -> Any:
            seen.append(sql)
            return real(self, sql, *values)

        monkeypatch.setattr(Statements, name, run)
    return seen


def add_person(db: PostgresDatabase, name: str) -> None:
    db.table("annotator").insert({"name": name, "role": "annotator", "created_at": ""})


def test_a_part_is_undone_by_itself_however_deep_it_was_marked(store: PostgresStore, sent: list[str]) -> None:
    def names(db: PostgresDatabase) -> list[str]:
        return [row["name"] for row in db.query("SELECT name FROM annotator ORDER BY name")]

    with store.write() as db:
        with store.write(), store.write() as inner:
            add_person(inner, "A")
        with pytest.raises(ValueError), store.write():
            add_person(db, "B")
            with store.write() as inner:
                add_person(inner, "C")
            with pytest.raises(IntegrityError), store.write() as inner:
                add_person(inner, "C")
            assert names(db) == ["A", "B", "C"]
            raise ValueError
        with pytest.raises(ValueError), store.write():
            raise ValueError  # nothing was changed in it: there is nothing to mark, nor to undo
        with store.write() as inner:
            add_person(inner, "D")
        add_person(db, "E")
        assert names(db) == ["A", "D", "E"]
    with store.read() as db:
        assert names(db) == ["A", "D", "E"]
    assert sum(sql.count("SAVEPOINT part") for sql in sent) == 5  # A, B, both C, D


def test_parts_that_begin_with_the_same_change_share_a_savepoint(
    store: PostgresStore, sent: list[str]
) -> None:
    with store.write() as db:
        with store.write():
            with pytest.raises(ValueError), store.write() as inner:
                add_person(inner, "A")
                raise ValueError
            add_person(db, "B")
        with pytest.raises(ValueError), store.write(), store.write() as inner:
            add_person(inner, "C")
            raise ValueError
        with pytest.raises(ValueError), store.write():
            with store.write() as inner:
                add_person(inner, "D")
            with store.write() as inner:
                add_person(inner, "E")
            raise ValueError
    with store.read() as db:
        assert [row["name"] for row in db.query("SELECT name FROM annotator ORDER BY name")] == ["B"]
    assert sum(sql.count("SAVEPOINT part") for sql in sent) == 4  # A and B, C, D, E


def test_a_transaction_asks_again_only_what_may_have_changed(store: PostgresStore, sent: list[str]) -> None:
    def names(db: PostgresDatabase) -> list[str]:
        sent.clear()
        return [
            name for (name,) in db.conn.execute("SELECT name FROM annotator WHERE role = ?", ["annotator"])
        ]

    with store.write() as db:
        assert (names(db), len(sent), names(db), len(sent)) == ([], 1, [], 0)
        add_person(db, "A")
        assert (names(db), len(sent)) == (["A"], 1)
        db.conn.execute("UPDATE assignment SET flagged = 0")  # as a confirm does
        assert (names(db), len(sent)) == (["A"], 0)
        with pytest.raises(ValueError), store.write():
            add_person(db, "B")
            assert names(db) == ["A", "B"]
            raise ValueError
        assert (names(db), len(sent)) == (["A"], 1)
    with store.write() as db:
        assert (names(db), len(sent)) == (["A"], 1), "another server may have written meanwhile"


def test_a_view_of_what_a_confirm_writes_has_its_name(store: PostgresStore) -> None:
    with store.read() as db:
        views = list(db.query("SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'"))
    of_saved = re.compile(rf"\b(FROM|JOIN)\s+\(*(\w+_)?({'|'.join(SAVED)})\b")
    reads = [view for view in views if of_saved.search(view["definition"])]
    assert reads and all(find_saved(view["viewname"]) for view in reads)


def test_a_failure_that_was_passed_over_is_no_save(store: PostgresStore) -> None:
    with (
        pytest.raises(UnreachableError, match="a statement of the transaction had failed"),
        store.write() as db,
    ):
        add_person(db, "Ana")
        with pytest.raises(psycopg.Error):
            db.conn.execute("SELECT 1 / 0")
    with store.read() as db:
        assert list(db.query("SELECT name FROM annotator")) == []


def test_values_that_ask_the_database_leave_no_earlier_answer(store: PostgresStore) -> None:
    def count(db: PostgresDatabase) -> int:
        return int(db.conn.execute("SELECT count(*) FROM annotator").fetchone()[0])

    with store.write() as db:
        sql = "INSERT INTO annotator (name, role, created_at) VALUES (?, 'annotator', '')"
        db.conn.executemany(sql, ((f"Person {n + count(db)}",) for n in range(3)))
        assert count(db) == 3


def test_a_table_filled_at_once_is_known_to_the_planner_at_once(store: PostgresStore) -> None:
    def known() -> float:
        with store.read() as db:
            sql = "SELECT reltuples FROM pg_class WHERE oid = to_regclass('annotator')"
            return float(next(iter(db.conn.execute(sql)))[0])

    with store.write() as db:
        people = [{"name": f"Person {n}", "role": "annotator", "created_at": ""} for n in range(5 * MANY)]
        db.table("annotator").insert_all(people)
    assert known() == 5 * MANY
    with store.write() as db:
        add_person(db, "one more")
    assert known() == 5 * MANY


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_confirm_asks_the_database_few_times(
    context: Context, owner: Person, study: Study, sent: list[str]
) -> None:
    import_study(context, owner, study)
    app = FastAPI()
    add_scrutiny_api(app, context)
    person, token = sign_in(context, "Ana")
    browser = TestClient(app, cookies={COOKIE: token})
    step, counts = browser.post(f"{BASE}/step").json(), []
    while step["instance"]:
        sent.clear()
        answer = browser.post(f"{BASE}/submissions", json=body(step, 3.0))
        assert answer.status_code == 200, answer.text
        step = answer.json()["next"]
        counts.append(len(sent))
        assert sum(sql.startswith("BEGIN") for sql in sent) == 1, "one transaction reads who asks, and writes"
    assert len(counts) > 4 and min(counts) > 5 and max(counts[2:-1]) <= MOST_ASKED, counts
    assert get_step(context, person, "demo").finished == len(counts) / 2
    with context.store.read() as outer:
        with context.store.read() as inner:
            assert inner is outer, "reading inside reading sees the same moment"
        assert tasks.get_task(outer, "demo") and get_aliases(context, person, "demo")
