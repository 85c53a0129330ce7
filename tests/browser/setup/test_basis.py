"""The Agreement tab in Chromium: version and arm are chosen for the whole tab, and its links carry the choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.study.criteria.listed import establish_list
from coeval.study.importing.importing import import_study
from coeval.study.people.sessions import sign_in
from tests.support.screens.ui_steps import enter
from tests.support.serving.server import Running, new_context
from tests.support.studies.scored_study import scored

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    """Three people scored two criteria; a quarter of it blind; a second version keeps one of the two."""
    context = new_context(tmp_path)
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, scored(["Ann", "Ben", "Cid"], n_documents=8, blind=2))
    establish_list(context, owner, "demo", ["Use simple words.", "Name a source."])
    with Running(context) as live:
        yield live


def choose(page: Any, name: str, label: str) -> None:
    page.locator(f"#agreement-{name} input").click()
    page.get_by_role("option", name=label).click()


def test_version_and_arm_are_those_of_the_whole_tab(page: Any, server: Running) -> None:
    page.set_default_timeout(20_000)
    enter(page, server.url, "Olu")
    page.goto(f"{server.url}/?task=demo&tab=agreement")
    tiles = page.locator("#agreement-tiles")
    tiles.locator("[data-whole=yes]").wait_for()
    assert "criteria version 2 · all arms" in tiles.inner_text()
    choose(page, "version", "Criteria version 1")
    tiles.locator("[data-whole=yes]").get_by_text("criteria version 1 · all arms").first.wait_for()
    choose(page, "arm", "Blind scores")
    tiles.locator("[data-whole=yes]").get_by_text("criteria version 1 · blind scores").first.wait_for()
    page.locator("#agreement-charts").get_by_text("criteria version 1 · blind scores").first.wait_for()
    link = page.locator("#agreement-charts >> text=Data as CSV").first
    assert link.evaluate("a => a.href").endswith("?version=1&arm=blind")
    assert page.request.get(link.evaluate("a => a.href")).ok
    page.locator("#agreement-section label", has_text="Time").click()
    page.locator("#agreement-tiles [data-section=time][data-whole=yes]").wait_for()
    assert "criteria version 1 · blind scores" in tiles.inner_text()
    page.locator("#agreement-section label", has_text="Effect of the draft").click()
    page.locator("#agreement-tiles [data-section=draft][data-whole=yes]").wait_for()
    assert "criteria version 1 · all arms" in tiles.inner_text()
