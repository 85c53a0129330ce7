"""The next step is on screen before the save behind it is answered, and a refusal brings the person back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.screens.ui_steps import at_step, current, press, wait_a_while, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.support.screens.bench import Bench

DECIDE_ALL = ["a", "3", "a", "a", "a"]


def open_with_next(page: Page, bench: Bench) -> None:
    """Open the first step, and wait until the one after it is here."""
    with page.expect_response("**/step?*ahead=true*") as fetched:
        bench.open_bench(page)
    fetched.value.finished()
    page.wait_for_timeout(50)


def shows(page: Page, position: str, criterion: str) -> None:
    """Wait until that step is on screen, while the save before it has no answer."""
    for _ in wait_a_while(page):
        if current(page) == (position, criterion):
            return
    raise AssertionError(f"the screen shows {current(page)}")


def hold_saves(page: Page) -> list[Route]:
    held: list[Route] = []
    page.route("**/submissions", lambda route: held.append(route))
    return held


def test_the_next_step_does_not_wait_for_the_save(page: Page, bench: Bench) -> None:
    open_with_next(page, bench)
    held = hold_saves(page)
    press(page, *DECIDE_ALL, "Control+Enter")
    shows(page, "1", "2")
    assert bench.saved() == [] and len(held) == 1
    page.get_by_text("Saving…").wait_for()
    press(page, *DECIDE_ALL, "Control+Enter")
    page.wait_for_timeout(200)
    shows(page, "1", "2")
    assert len(held) == 1, "the second save has to wait for the first"
    page.unroute("**/submissions")
    held[0].continue_()
    wait_saved(page, bench, 2)
    at_step(page, "2", "1")
    assert page.locator(".wb-status").inner_text().startswith("Saved ")
    assert [save["revision"] for save in bench.saved()] == [1, 1]


def test_a_refused_save_brings_the_person_back(page: Page, bench: Bench) -> None:
    """What was typed into the next step meanwhile is there again when it comes."""
    open_with_next(page, bench)
    held = hold_saves(page)
    press(page, *DECIDE_ALL, "Control+Enter")
    shows(page, "1", "2")
    press(page, "a", "5")
    bench.fail = 422
    page.unroute("**/submissions")
    held[0].fallback()
    alert = page.locator("[role=alert] .ce-toast")
    alert.get_by_text("Refused with 422. Nothing you typed is lost.").wait_for()
    at_step(page, "1", "1")
    assert page.locator(".rt-step[aria-checked=true]").inner_text() == "3"
    bench.fail = 0
    press(page, "Control+Enter")
    wait_saved(page, bench, 1)
    at_step(page, "1", "2")
    assert alert.count() == 0 and page.locator(".rt-step[aria-checked=true]").inner_text() == "5"
    page.get_by_text("is restored but not saved yet").wait_for()


def test_a_move_waits_for_the_save(page: Page, bench: Bench) -> None:
    open_with_next(page, bench)
    held = hold_saves(page)
    press(page, *DECIDE_ALL, "Control+Enter")
    shows(page, "1", "2")
    press(page, "j")
    page.wait_for_timeout(200)
    shows(page, "1", "2")
    page.unroute("**/submissions")
    held[0].continue_()
    at_step(page, "2", "1")
    assert len(bench.saved()) == 1
