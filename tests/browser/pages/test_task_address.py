"""The task in the address, in Chromium: keys pass the picker, a link outlives a sign-in, an unknown task is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, settle
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect
pytestmark = [pytest.mark.browser, pytest.mark.slow]

DEMO, FINISHED = "Reply to a neighbour's message", "Finished example (simulated)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(new_context(tmp_path_factory.mktemp("address"), demo=True)) as live:
        yield live


@pytest.fixture
def owner(page: Any, server: Running) -> Any:
    enter(page, server.url, "Owner")
    return page


def picker(page: Any) -> Any:
    return page.locator("#task-picker input")


def test_keys_pass_the_picker_and_only_a_choice_opens_a_task(owner: Any, server: Running) -> None:
    page = owner
    page.goto(f"{server.url}/?task=demo&tab=criteria")
    expect(picker(page)).to_have_value(DEMO)
    settle(page)
    opened: list[str] = []
    page.on("framenavigated", lambda frame: opened.append(frame.url))
    for keys in (["Tab"], ["ArrowDown", "Tab"], ["f", "Tab"], ["Escape", "Shift+Tab"]):
        picker(page).focus()
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(100)
        page.wait_for_timeout(700)
        assert not opened, keys
        expect(picker(page)).to_have_value(DEMO)
        expect(picker(page)).not_to_be_focused()
    picker(page).focus()
    page.keyboard.press("ArrowDown")
    with page.expect_event("load"):
        page.keyboard.press("Enter")
    expect(picker(page)).to_have_value(FINISHED)
    assert "task=finished-example&tab=criteria" in page.url
    settle(page)
    picker(page).click()
    page.get_by_role("option", name=DEMO).click()
    page.wait_for_url("**/?task=demo&tab=criteria")


def test_an_unknown_task_in_the_address_is_named(owner: Any, server: Running) -> None:
    page = owner
    for address in ("?task=gone-away", "admin/?task=gone-away"):
        page.goto(f"{server.url}/{address}")
        expect(page.locator(".ce-toast.is-warning")).to_contain_text("You cannot open the task “gone-away”")


def test_every_message_is_a_notice_in_the_same_corner(owner: Any, server: Running) -> None:
    page = owner
    page.goto(f"{server.url}/admin/?task=gone-away&tab=tasks")
    notice = page.locator(".ce-corner .ce-toast")
    expect(notice).to_have_class("ce-toast is-warning")
    places = [notice.bounding_box()]
    page.get_by_role("button", name="Save task").click()
    expect(notice).to_have_class("ce-toast")
    expect(notice).to_contain_text("Saved:")
    places.append(notice.bounding_box())
    page.get_by_role("button", name="New task").click()
    expect(notice).to_have_count(0)
    page.get_by_role("button", name="Save task").click()
    expect(notice).to_have_class("ce-toast is-error")
    places.append(notice.bounding_box())
    page.goto(f"{server.url}/?task=demo&tab=scrutiny")
    page.locator(".wb[data-state=step]").wait_for()
    page.get_by_role("button", name="Confirm and next").click()
    places.append(notice.bounding_box())
    assert len({round(place["x"] + place["width"]) for place in places if place}) == 1
    assert not page.locator(".toast-wrap").is_visible()
