"""A server whose disk is full: people read one sentence without a path of the server, and nothing typed is lost."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Plan, Terms
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import query

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    path = tmp_path / "full" / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    study = make_study(2)
    import_study(context, OPERATOR, study)
    import_study(context, OPERATOR, replace(study, task=replace(study.task, slug="crowd")))
    plans.set_plan(
        context, OPERATOR, "crowd", Plan(terms=Terms(service="prolific", consent="We ask.", code_done="D"))
    )
    yield context
    context.store.close()


@contextmanager
def full_disk(context: Context) -> Iterator[None]:
    """The file cannot grow any more, as on a full disk, and a save or a new person needs more room than it has."""
    connection = context.store._writer.conn
    connection.execute("CREATE TABLE filler (data BLOB)")
    for table in ("submission", "annotator"):
        connection.execute(
            f"CREATE TRIGGER fill_{table} AFTER INSERT ON {table} BEGIN INSERT INTO filler SELECT zeroblob(99999); END"
        )
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    yield
    connection.execute("PRAGMA max_page_count = 1073741823")


def test_no_page_names_a_path_and_a_save_is_sent_again_when_there_is_room(
    page: Page, context: Context, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    page.set_default_timeout(20_000)
    with Running(context) as server, caplog.at_level(logging.ERROR):
        page.goto(server.url)
        page.get_by_label("Your name").fill("Olu")
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{server.url}/?task=demo&tab=scrutiny")
        page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
        with full_disk(context):
            for key in ("a", "a", "a", "a", "Control+Enter"):
                page.keyboard.press(key)
            page.get_by_text("The server's disk is full, so nothing was saved.").wait_for()
            assert "Your answer is kept here" in page.inner_text("body")
            other = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
            other.goto(
                f"{server.url}/s/crowd?{'&'.join(f'{name}={value}' for name, value in query(1).items())}"
            )
            other.get_by_role("button", name="I agree").click()
            other.get_by_text("The server's disk is full, so nothing was saved.").wait_for()
            assert str(tmp_path) not in page.content() + other.content()
            other.context.close()
        assert str(context.store.path) in caplog.text
        page.get_by_role("button", name="Try now").click()
        page.get_by_text("Your answer is kept here").wait_for(state="detached")
        with context.store.read() as db:
            assert db.conn.execute("SELECT count(*) FROM submission").fetchone()[0] == 1
