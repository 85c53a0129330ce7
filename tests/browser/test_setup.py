"""Set-up in Chromium: the task stays, a new task starts clean, and nothing is written elsewhere than the page says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import HOW_TO_GET_IT
from tests.support.live_server import LiveServer, start_server

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    live = start_server(tmp_path_factory.mktemp("setup") / "coeval.db")
    yield live
    live.stop()


@pytest.fixture
def owner(page: Any, server: LiveServer) -> Any:
    page.set_default_timeout(20_000)
    expect.set_options(timeout=20_000)
    page.goto(server.url)
    page.get_by_label("Your name").fill("Owner")
    page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text("Owner").wait_for()
    return page


def field(page: Any, elem_id: str) -> Any:
    return page.locator(f"#{elem_id} textarea, #{elem_id} input").first


def open_tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def add_task(page: Any, name: str) -> None:
    """A new task by the form, from whatever Set-up shows."""
    open_tab(page, "Tasks")
    page.get_by_role("button", name="New task").click()
    expect(field(page, "task-slug")).to_be_enabled()
    expect(field(page, "task-name")).to_have_value("")
    fill_in(page, name)


def fill_in(page: Any, name: str) -> None:
    """The form of a new task, filled in and saved."""
    field(page, "task-name").fill(name)
    field(page, "task-description").fill("Answer a question.")
    page.get_by_role("button", name="Save task").click()
    page.locator("#task-state").get_by_text("0 instances imported").wait_for()


def test_task_and_tab_stay_by_link_reload_and_tab(owner: Any, server: LiveServer) -> None:
    page = owner
    page.get_by_role("link", name="Set-up").click()
    add_task(page, "Letters")
    expect(page.locator("#task-picker input")).to_have_value("Letters")
    open_tab(page, "People")
    page.locator("#progress").get_by_text("Owner").first.wait_for()
    page.reload()
    expect(page.get_by_role("tab", name="People", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#task-picker input")).to_have_value("Letters")
    page.locator("#progress").get_by_text("Owner").first.wait_for()
    page.get_by_role("link", name="Back to the study").click()
    expect(page.locator("#task-picker input")).to_have_value("Letters")
    open_tab(page, "Scrutiny")
    page.reload()
    expect(page.get_by_role("tab", name="Scrutiny")).to_have_attribute("aria-selected", "true")
    page.get_by_role("link", name="Set-up").click()
    expect(page.locator("#task-picker input")).to_have_value("Letters")
    expect(field(page, "task-name")).to_have_value("Letters")


def test_a_new_task_has_a_design_of_its_own(owner: Any, server: LiveServer) -> None:
    page = owner
    page.goto(f"{server.url}/admin/?task=demo")
    page.locator("#design-heading").get_by_text("Study design of demo").wait_for()
    page.locator("#design-blind input[type=number]").fill("30")
    page.get_by_role("button", name="Save design").click()
    page.locator("#design-state").get_by_text("Last changed").wait_for()
    page.get_by_role("button", name="New task").click()
    expect(page.locator("#design-blind input[type=number]")).to_have_value("0")
    expect(page.get_by_role("button", name="Save design")).to_be_disabled()
    fill_in(page, "Recipes")
    page.locator("#design-heading").get_by_text("Study design of recipes").wait_for()
    expect(page.locator("#design-blind input[type=number]")).to_have_value("0")
    page.goto(f"{server.url}/admin/?task=demo")
    expect(page.locator("#design-blind input[type=number]")).to_have_value("30")
