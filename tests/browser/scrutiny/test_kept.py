"""Nothing typed is lost and nothing is saved twice: reloads, cut lines, sign-outs, two tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.screens.ui_steps import at_step, press, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.screens.bench import Bench


DECIDE_ALL = ["a", "3", "a", "a", "a"]


def type_some(page: Page) -> None:
    """An approval, a score, a revised line with a reason, and an added line."""
    press(page, "a", "2", "r", "Control+A")
    page.keyboard.type("“condensed” — слово 🦊")
    press(page, "Tab")
    page.keyboard.type("why not")
    press(page, "Enter", "e")
    page.keyboard.type("half a sen")


def typed(page: Page) -> dict[str, Any]:
    return {
        "boxes": [box.input_value() for box in page.locator("textarea:visible").all()],
        "score": page.locator(".rt-step[aria-checked=true]").all_inner_texts(),
        "actions": page.locator(".rt-row").evaluate_all("rows => rows.map((row) => row.dataset.action)"),
    }


TYPED = {
    "boxes": ["“condensed” — слово 🦊", "why not", "half a sen", ""],
    "score": ["2"],
    "actions": ["approve", "revise", "revise", "none", "none", "add"],
}


def test_a_reload_brings_back_what_was_typed(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, "j")
    at_step(page, "2", "1")
    type_some(page)
    assert typed(page) == TYPED
    page.reload()
    at_step(page, "2", "1")
    assert typed(page) == TYPED
    assert "is restored but not saved yet" in page.locator(".wb-banner").inner_text()
    page.get_by_role("button", name="Discard it").click()
    assert typed(page) == {"boxes": [], "score": [], "actions": ["none"] * 5}


def test_offline_it_is_kept_and_online_it_is_saved_once(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, *DECIDE_ALL)
    page.context.set_offline(True)
    press(page, "Control+Enter")
    page.get_by_text(" kept here").wait_for()
    assert page.locator(".wb-status").inner_text() == "Not saved yet"
    page.context.set_offline(False)
    at_step(page, "1", "2")
    assert page.locator(".wb-status").inner_text().startswith("Saved ")
    assert [one["score"] for one in bench.saved()] == [3]
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('outbox'))") == []


def test_an_answer_lost_after_the_save_does_not_save_twice(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, *DECIDE_ALL)
    bench.drop = True
    press(page, "Control+Enter")
    page.get_by_text(" kept here").wait_for()
    bench.drop = False
    page.get_by_role("button", name="Try now").click()
    at_step(page, "1", "2")
    assert len(bench.saved()) == 1


def test_signed_out_says_so_and_saves_after_signing_in(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, *DECIDE_ALL)
    bench.fail = 401
    press(page, "Control+Enter")
    page.get_by_text("You are signed out. Your answer is kept here").wait_for()
    bench.fail = 0
    page.get_by_role("button", name="Sign in").click()
    wait_saved(page, bench, 1)
    at_step(page, "1", "2")


def open_two(page: Page, bench: Bench) -> Page:
    """Two tabs on one step; the other saves a 5, this one is about to save a 3."""
    other = page.context.new_page()
    bench.open_bench(page)
    bench.open_bench(other)
    press(other, "a", "5", "a", "a", "a", "Control+Enter")
    wait_saved(other, bench, 1)
    page.bring_to_front()
    page.locator("[data-kind=conclusion]").focus()
    press(page, "a", "3", "a", "a", "d", "Control+Enter")
    page.get_by_role("heading", name="There are two versions").wait_for()
    return other


def test_the_stale_tab_shows_both_versions_and_may_go_on_with_its_own(page: Page, bench: Bench) -> None:
    open_two(page, bench)
    here, saved = page.locator(".ce-version").all_inner_texts()
    assert "score 3" in here and "deleted" in here and "score 5" in saved
    press(page, "Escape")
    assert page.locator("dialog[open]").count() == 1, "Esc must not choose"
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.reload()
    page.get_by_role("heading", name="There are two versions").wait_for()
    assert "score 3" in page.locator(".ce-version").first.inner_text(), (
        "a reload while choosing lost the words"
    )
    page.get_by_role("button", name="Continue with mine").click()
    assert len(bench.saved()) == 1
    press(page, "Control+Enter")
    wait_saved(page, bench, 2)
    first, second = bench.saved()
    assert (first["score"], first["revision"], second["score"], second["revision"]) == (5, 1, 3, 2)


def test_the_stale_tab_may_take_the_saved_version(page: Page, bench: Bench) -> None:
    open_two(page, bench)
    page.get_by_role("button", name="Use the saved version").click()
    assert page.locator(".rt-step[aria-checked=true]").inner_text() == "5"
    page.reload()
    at_step(page, "1", "1")
    assert page.locator("dialog[open]").count() == 0 and page.locator(".wb-banner").inner_text() == ""
