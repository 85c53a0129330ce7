"""“What is new in your numbers” in Chromium: an upgraded file shows it once, and only to the team."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.rules.method_changes import CHANGES
from tests.support.screens.ui_steps import enter
from tests.support.serving.server import Running
from tests.support.studies.old_file import open_old_file


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with Running(open_old_file(tmp_path)) as live:
        yield live


def open_agreement(page: Any, server: Running) -> Any:
    page.goto(f"{server.url}/?task=demo&tab=agreement")
    page.locator("#agreement-tiles [data-whole=yes]").wait_for()
    return page.locator("#agreement-news")


def test_an_owner_of_an_upgraded_file_reads_once_what_changed(page: Any, server: Running) -> None:
    page.set_default_timeout(30_000)
    enter(page, server.url, "Olu")
    news = open_agreement(page, server)
    said = news.inner_text()
    assert "What is new in your numbers" in said and "old.db.before-m024_planted_error" in said
    assert all(one.what in said and one.why in said for one in CHANGES)
    # until it is read, it is there again
    assert open_agreement(page, server).inner_text() == said
    page.get_by_role("button", name="I have read this").click()
    news.get_by_text("What is new in your numbers").wait_for(state="detached")
    page.get_by_role("button", name="I have read this").wait_for(state="hidden")
    assert "What is new" not in open_agreement(page, server).inner_text()
    assert page.get_by_role("button", name="I have read this").count() == 0


def test_an_annotator_sees_nothing_of_it(page: Any, server: Running) -> None:
    page.set_default_timeout(30_000)
    enter(page, server.url, "annotator 1")
    page.goto(f"{server.url}/?task=demo&tab=agreement")
    page.get_by_role("tab", name="Scrutiny").wait_for()
    page.get_by_role("tab", name="Agreement").wait_for(state="hidden")
    assert "What is new" not in page.content() and CHANGES[0].what not in page.content()
    assert page.get_by_role("button", name="I have read this").count() == 0
