"""The scrutiny screen by keyboard: deciding, confirming, moving about, and what is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from coeval.rules.arms import Design
from coeval.usecases.scrutiny.steps import get_aliases, mark_instance
from tests.support.screens.bench import CRITERIA
from tests.support.screens.ui_steps import at_step, focused, held_back, press, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.screens.bench import Bench


def test_what_is_sent_is_ids_actions_words_and_score_only(page: Page, bench: Bench) -> None:
    step = bench.step()
    bench.open_bench(page)
    press(page, "a", "3", "a", "r", "Control+A")
    page.keyboard.type("“herbs” is a plain word.")
    press(page, "Tab")
    page.keyboard.type(" wrong quote ")
    press(page, "Enter", "d")
    press(page, "e")
    page.keyboard.type("My own line")
    press(page, "Control+Enter")
    wait_saved(page, bench, 1)
    (body,) = bench.requests
    known = get_aliases(bench.context, bench.person(), bench.slug)
    assert step.draft and [row["id"] for row in body["rows"]] == [
        known.hide("row", row.id) for row in step.draft.rows
    ]
    assert [(row["action"], row["reason"], row["new_text"]) for row in body["rows"]] == [
        ("approve", "", ""),
        ("revise", "", ""),
        ("approve", "", ""),
        ("revise", "wrong quote", "“herbs” is a plain word."),
        ("delete", "", ""),
    ]
    assert body["added"] == [{"kind": "evidence", "new_text": "My own line", "reason": ""}]
    assert body["draft"] == known.hide("draft", step.draft.id)
    assert (body["score"], body["revision"], body["bulk"]) == (3, 0, False)
    assert set(body) == {
        *("uid", "instance", "criterion", "draft", "revision", "opened_at", "active_ms"),
        *("score", "bulk", "rows", "added", "filter"),
    }
    assert "condensed" not in str(body), "a drafted word left the page"


def test_focus_goes_to_the_next_decision_and_then_to_confirm(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    assert focused(page) == "Conclusion"
    press(page, "a")
    assert focused(page) == "Score"
    press(page, "4")
    assert focused(page) == "Evidence 1"
    press(page, "ArrowDown", "ArrowDown", "a")
    assert focused(page) == "Evidence 1"
    press(page, "d")
    assert focused(page) == "Evidence 2"
    press(page, "r")
    page.keyboard.type(" More.")
    press(page, "Enter")
    assert focused(page).startswith("Confirm and next"), "also after the words of the last revision"


def test_confirming_key_can_be_put_elsewhere_and_is_remembered(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, "?")
    page.get_by_role("button", name="change").click()
    press(page, "q", "Alt+s")
    assert page.locator(".ce-keys kbd").first.inner_text() == "Alt S"
    press(page, "Escape")
    page.reload()
    page.locator(".wb[data-state=step]").wait_for()
    assert page.locator(".wb-foot .is-primary kbd").inner_text() == "Alt S"
    press(page, "a", "a", "a", "a", "a", "Control+Enter", "Alt+s")
    wait_saved(page, bench, 1)


def test_an_undecided_line_stops_the_confirm_and_is_led_to(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, "a", "a", "r", "Control+A", "Delete", "Control+Enter")
    page.locator(".ce-toast").wait_for()
    assert "Evidence 1: write the new wording" in page.locator(".ce-toast").inner_text()
    assert bench.requests == [] and page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    assert page.locator(".wb-count .wb-long").inner_text() == "3 lines still need a decision"


def test_moving_by_jk_filter_jump_chips_and_back(page: Page, bench: Bench) -> None:
    third = bench.step(3).instance
    assert third
    mark_instance(bench.context, bench.person(), bench.slug, third.id, flagged=True)
    bench.open_bench(page)
    moves = page.locator(".wb-moves button")
    name = "nodes => nodes.map((node) => node.ariaLabel)"
    assert moves.evaluate_all(name) == ["Previous unjudged instance", "Next unjudged instance"]

    press(page, "j")
    at_step(page, "2", "1")
    press(page, "]")
    at_step(page, "2", "2")
    press(page, "k")
    at_step(page, "1", "1")
    press(page, "b")
    at_step(page, "2", "2")
    press(page, "/")
    page.keyboard.type("3")
    press(page, "Enter")
    at_step(page, "3", "1")
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("button", name="Flagged 1").click()
    at_step(page, "3", "1")
    assert moves.evaluate_all(name) == ["Previous flagged instance", "Next flagged instance"]
    assert page.locator("[data-filter=flagged]").get_attribute("aria-pressed") == "true"
    press(page, "/")
    page.keyboard.type("99")
    press(page, "Enter")
    assert "type a number from 1 to 3" in page.locator(".ce-toast").inner_text()


def test_going_back_shows_what_was_saved_and_changes_it_as_a_new_version(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, "a", "2", "a", "a", "d", "Control+Enter")
    wait_saved(page, bench, 1)
    assert page.locator(".wb-status").inner_text().startswith("Saved ")
    press(page, "b")
    at_step(page, "1", "1")
    assert page.locator(".rt-step[aria-checked=true]").inner_text() == "2"
    assert page.locator("[data-action=delete]").count() == 1
    press(page, "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "5", "Control+Enter")
    wait_saved(page, bench, 2)
    first, second = bench.saved()
    assert (first["score"], second["score"], second["revision"]) == (2, 5, 2)
    press(page, "b")
    at_step(page, "1", "1")
    page.get_by_role("button", name="Saved 2 times").wait_for()
    press(page, "h")
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Version 2").wait_for()
    scores = dialog.locator("dl").evaluate_all("lists => lists.map((one) => one.children[1].textContent)")
    assert scores == ["5", "2"]  # the newest first


def test_the_rest_is_approved_only_after_every_line_was_on_screen(page: Page, bench: Bench) -> None:
    page.set_viewport_size({"width": 1280, "height": 360})
    bench.open_bench(page)
    rest = page.get_by_role("button", name="Approve the rest")
    press(page, "Shift+A")
    assert rest.get_attribute("aria-disabled") == "true" and "further down" in (
        rest.get_attribute("title") or ""
    )
    assert page.locator("[data-action=approve]").count() == 0
    for _ in range(4):
        press(page, "ArrowDown")
        page.wait_for_timeout(80)
    page.locator(".wb-rest[aria-disabled=false]").wait_for()
    press(page, "d", "Shift+A", "Control+Enter")
    wait_saved(page, bench, 1)
    (body,) = bench.requests
    assert body["bulk"] is True and body["score"] == 4
    assert [row["action"] for row in body["rows"]] == ["approve", "approve", "approve", "approve", "delete"]
    page.locator(".wb-rest[aria-disabled=true]").wait_for()


def test_blind_shows_no_draft_and_takes_a_score_and_own_lines(page: Page, bench: Bench) -> None:
    bench.design = Design(blind_share=1)
    bench.open_bench(page)
    assert "You score this one without a draft" in page.locator(".wb-arm[data-kind]").inner_text()
    # the box for the reason is open beside the score, and does not stand in the way of it
    box = page.get_by_role("textbox", name="Added conclusion", exact=True)
    assert page.locator(".rt-row").count() == 2 and box.is_visible() and page.locator("mark").count() == 0
    # there is nothing to keep or to delete, so nothing speaks of it
    assert page.locator(".rt-head span:visible").all_inner_texts() == ["Line", "Your version"]
    assert page.locator(".wb-count .wb-long").inner_text() == "Choose a score."
    press(page, "Control+Enter")
    assert "Score: choose a score" in page.locator(".ce-toast").inner_text()
    press(page, "2")
    box.fill("It is hard.")
    press(page, "Enter", "n", "Enter", "e")
    page.keyboard.type("“condensed”")
    press(page, "Control+Enter")
    wait_saved(page, bench, 1)
    (body,) = bench.requests
    assert (body["score"], body["draft"], body["rows"]) == (2, None, [])
    assert [(one["kind"], one["new_text"]) for one in body["added"]] == [
        ("conclusion", "It is hard."),
        ("evidence", "“condensed”"),
    ]


def test_after_a_typed_conclusion_enter_leads_to_confirm_and_digits_score(page: Page, bench: Bench) -> None:
    bench.design = Design(blind_share=1)
    bench.open_bench(page)
    box = page.get_by_role("textbox", name="Added conclusion", exact=True)
    heads = page.get_by_role("columnheader")
    assert heads.all_inner_texts() == ["Line", "Your version", "Action", "Reason"][: heads.count()]
    assert not page.get_by_text("added", exact=True).is_visible()
    assert not page.get_by_role("button", name="Approve the rest").is_visible()
    box.click()
    page.keyboard.type("Leaves out the critics.")
    expect(page.get_by_text("added", exact=True)).to_be_visible()
    press(page, "Enter")
    assert focused(page).startswith("Score")
    press(page, "2")
    press(page, "n", "End", "Enter")
    assert focused(page).startswith("Confirm and next")
    press(page, "Enter")
    wait_saved(page, bench, 1)
    press(page, "5", "Enter")
    wait_saved(page, bench, 2)
    assert [(body["score"], body["added"]) for body in bench.requests] == [
        (2, [{"kind": "conclusion", "new_text": "Leaves out the critics.", "reason": ""}]),
        (5, []),
    ]


def test_evidence_only_marks_passages_and_leaves_the_score_row_empty(page: Page, bench: Bench) -> None:
    bench.design = Design(evidence_share=1)
    bench.open_bench(page)
    assert "Its verdict is hidden" in page.locator(".wb-arm[data-kind]").inner_text()
    page.locator("mark").first.wait_for()
    assert page.locator(".rt-row").count() == 2 and page.locator(".rt-score [aria-checked=true]").count() == 0
    assert page.locator("mark").all_inner_texts() == ["condensed"]
    for told in ("hard for a child", "does not satisfy", "smelly thinks"):
        assert told not in page.content()
    # a click on a mark leads to no line, as there is none
    page.locator("mark").click()
    press(page, "Control+Enter")
    assert "Score: choose a score" in page.locator(".ce-toast").inner_text()
    press(page, "2", "Control+Enter")
    wait_saved(page, bench, 1)
    (body,) = bench.requests
    assert (body["score"], body["draft"], body["rows"], body["added"]) == (2, None, [], [])


def test_unscored_says_so_and_asks_for_a_score(page: Page, bench: Bench) -> None:
    bench.unscored = True
    bench.open_bench(page)
    # the reason and its remedy are for owners
    told = page.locator(".wb-arm[data-kind]").inner_text()
    assert told == "The model’s answer contained no readable score: give your own."
    press(page, "Shift+A")
    assert focused(page) == "Score"
    press(page, "1", "Control+Enter")
    wait_saved(page, bench, 1)
    assert bench.requests[0]["score"] == 1


def test_flag_comment_and_skip(page: Page, bench: Bench) -> None:
    """The key that confirms saves a comment; it also confirmed the decided work behind the dialog."""
    bench.open_bench(page)
    press(page, "f")
    page.locator(".wb-marks [aria-pressed=true]").wait_for()
    press(page, "c")
    page.keyboard.type("Cut off.")
    page.reload()
    page.locator(".wb[data-state=step]").wait_for()
    press(page, "a", "3", "a", "a", "a", "c")
    assert page.locator("dialog textarea").input_value() == "Cut off."
    press(page, "Control+Enter")
    page.locator(".ce-toast").get_by_text("Comment saved.").wait_for()
    page.locator(".wb-marks .is-on").wait_for()
    assert bench.saved() == [] and page.get_by_role("dialog").count() == 0
    press(page, "s")
    at_step(page, "2", "1")
    mark = bench.step(1).mark
    assert (mark.flagged, mark.comment, mark.skipped) == (True, "Cut off.", True)


def test_end_and_empty_screens(page: Page, bench: Bench) -> None:
    bench.instances, bench.criteria = bench.instances[:1], CRITERIA[:1]
    bench.open_bench(page)
    press(page, "a", "a", "a", "a", "a", "Control+Enter")
    page.locator(".wb-end").wait_for()
    assert "last one" in page.locator(".wb-end").inner_text()
    press(page, "a", "Control+Enter", "e", "1")
    assert len(bench.requests) == 1
    page.get_by_role("button", name="Review all").click()
    page.locator(".wb[data-state=step]").wait_for()
    bench.start_over()
    bench.instances = []
    bench.open_bench(page, state="end")
    assert "has no instances yet" in page.locator(".wb-end").inner_text()


def test_guidelines_are_at_hand(page: Page, bench: Bench) -> None:
    bench.task = replace(bench.task, description="Explain it to a child.")
    bench.open_bench(page)
    press(page, "g")
    panel = page.get_by_role("region", name="Guidelines")
    assert panel.locator("strong").inner_text() == "everything" and panel.locator("li").count() == 2
    assert "You judge texts that were written for this task:\n\nExplain it to a child." in panel.inner_text()
    # they stand beside the work, which goes on: nothing covers it, and a second G or Esc puts them away
    assert page.locator("dialog[open]").count() == 0
    press(page, "a")
    assert page.locator("[data-action=approve]").count() >= 1
    press(page, "g")
    assert panel.count() == 0
    press(page, "g", "Escape")
    assert panel.count() == 0 and page.locator("[data-action=approve]").count() >= 1


def test_a_key_after_skip_is_for_the_next_instance(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    with held_back(page, "**/marks") as sent:
        press(page, "s", "s", "a")
        page.wait_for_timeout(50)
        assert len(sent) == 1
        assert page.locator("[data-kind=conclusion]").get_attribute("data-action") == "none"
    expect(page.locator(".wb-jump")).to_have_value("2")
    expect(page.locator("[data-kind=conclusion]")).to_have_attribute("data-action", "approve")
