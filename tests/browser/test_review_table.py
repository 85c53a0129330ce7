"""The review table as the Criteria tab uses it: pushes from the server, edits, and what goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.ui_steps import focused, press

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.ui_harness import Harness

pytest_plugins = ["tests.support.ui_harness"]
pytestmark = pytest.mark.browser

TEXTS = ["Use simple words.", "Use examples.", "Avoid jargon."]


def make_sheet(rev: int = 0, **fields: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {"quotes": [], "note": "", "action": None, "reason": "", "new_text": ""}
    rows = [
        {"id": n, "kind": "criterion", "label": f"{n} of 3", "text": text, **blank}
        for n, text in enumerate(TEXTS, 1)
    ]
    return {
        "rev": rev,
        "key": "ballot:1",
        "readonly": False,
        "reason_required": True,
        "add": {"label": "Add a criterion", "key": "N", "kind": "criterion"},
        "scale": None,
        "draft_score": None,
        "score": None,
        "confirm": {"label": "Save ballot"},
        "counted": ["criterion", "criteria"],
        "rows": rows,
        "added": [],
        **fields,
    }


def sent(page: Page) -> list[dict[str, Any]]:
    """Every value the table handed to Gradio."""
    return list(page.evaluate("window.sent"))


def start(page: Page, harness: Harness, **fields: Any) -> None:
    harness.sheet = make_sheet(**fields)
    harness.open_table(page)


def decide(page: Page) -> None:
    """Approve the first, delete the second with a reason, revise the third with one."""
    press(page, "a", "d")
    page.keyboard.type("same as the first")
    press(page, "Escape", "ArrowDown", "r", "Control+A")
    page.keyboard.type("Avoid words a child may not know.")
    press(page, "Tab")
    page.keyboard.type("clearer")


def test_a_ballot_by_keys_goes_back_as_ids_and_words(page: Page, harness: Harness) -> None:
    start(page, harness)
    assert page.locator(".wb-count").inner_text() == "3 criteria still need a decision"
    decide(page)
    press(page, "Escape", "n")
    page.keyboard.type("Be true.")
    press(page, "Control+Enter")
    assert page.evaluate("window.events") == ["submit"]
    assert sent(page)[-1] == {
        "rev": 0,
        "score": None,
        "rows": [
            {"id": 1, "action": "approve", "reason": "", "new_text": ""},
            {"id": 2, "action": "delete", "reason": "same as the first", "new_text": ""},
            {
                "id": 3,
                "action": "revise",
                "reason": "clearer",
                "new_text": "Avoid words a child may not know.",
            },
        ],
        "added": [{"kind": "criterion", "new_text": "Be true.", "reason": ""}],
    }


def test_delete_and_revise_ask_for_a_reason(page: Page, harness: Harness) -> None:
    start(page, harness)
    press(page, "a", "d")
    assert focused(page) == "Reason for 2 of 3"
    press(page, "Escape", "ArrowDown", "a", "Control+Enter")
    assert "2 of 3: say why." in page.locator(".ce-toast").inner_text()
    assert focused(page) == "Reason for 2 of 3" and page.evaluate("window.events") == []


def test_leaving_a_box_hands_the_words_over_at_once(page: Page, harness: Harness) -> None:
    start(page, harness)
    press(page, "r", "Control+A")
    page.keyboard.type("Short words.")
    assert all(row["new_text"] != "Short words." for value in sent(page) for row in value["rows"])
    page.evaluate("document.activeElement.blur()")
    assert sent(page)[-1]["rows"][0]["new_text"] == "Short words."


def test_typing_hands_over_in_pauses_and_keeps_the_focus(page: Page, harness: Harness) -> None:
    start(page, harness)
    press(page, "r", "Control+A")
    page.keyboard.type("x" * 60)
    page.wait_for_timeout(400)
    assert len(sent(page)) <= 3 and sent(page)[-1]["rows"][0]["new_text"] == "x" * 60
    assert focused(page) == "New wording of 1 of 3"


def test_a_push_of_the_same_state_forgets_what_was_kept(page: Page, harness: Harness) -> None:
    start(page, harness)
    decide(page)
    rows = [{**row, **back} for row, back in zip(make_sheet()["rows"], sent_rows(page), strict=True)]
    page.evaluate("(sheet) => push(sheet)", make_sheet(rev=1, rows=rows))
    assert page.evaluate("localStorage.getItem('coeval:table:ballot:1')") is None
    assert page.locator("dialog").count() == 0 and page.locator("[data-action=revise]").count() == 1


def sent_rows(page: Page) -> list[dict[str, Any]]:
    page.evaluate("document.activeElement.blur()")
    return list(sent(page)[-1]["rows"])


def test_a_reload_brings_the_ballot_back(page: Page, harness: Harness) -> None:
    start(page, harness)
    decide(page)
    page.reload()
    page.get_by_text("is back; it is not saved yet").wait_for()
    boxes = [box.input_value() for box in page.locator("textarea:visible").all()]
    assert boxes == ["same as the first", "Avoid words a child may not know.", "clearer"]
    assert sent(page)[-1]["rows"][1]["action"] == "delete", "what came back must be known to Gradio too"
    page.get_by_role("button", name="Discard it").click()
    assert page.locator("[data-action=none]").count() == 3 and sent(page)[-1]["rows"][1]["action"] is None


def test_a_push_over_newer_work_shows_both_versions(page: Page, harness: Harness) -> None:
    start(page, harness)
    decide(page)
    page.evaluate("(sheet) => push(sheet)", make_sheet(rev=4))
    page.get_by_role("heading", name="There are two versions").wait_for()
    page.get_by_role("button", name="Go on with mine").click()
    page.wait_for_timeout(400)
    assert sent(page)[-1]["rev"] == 4 and sent(page)[-1]["rows"][2]["reason"] == "clearer"


def test_an_added_line_can_be_removed_and_brought_back(page: Page, harness: Harness) -> None:
    start(page, harness)
    press(page, "n")
    page.keyboard.type("Be true.")
    press(page, "Escape", "d")
    assert page.locator("[data-action=add]").count() == 0
    page.get_by_role("button", name="Undo").click()
    assert page.locator("[data-action=add] textarea").first.input_value() == "Be true."


def test_a_changed_mind_keeps_the_words(page: Page, harness: Harness) -> None:
    start(page, harness)
    press(page, "r", "Control+A")
    page.keyboard.type("My wording")
    press(page, "Escape", "a", "ArrowUp")
    assert sent_rows(page)[0] == {"id": 1, "action": "approve", "reason": "", "new_text": ""}
    page.locator(".rt-row").first.focus()
    press(page, "r")
    assert page.locator("textarea").first.input_value() == "My wording"


def test_a_readonly_sheet_takes_nothing(page: Page, harness: Harness) -> None:
    start(page, harness, readonly=True)
    press(page, "a", "r", "d", "n", "Control+Enter")
    assert page.locator("[data-action=none]").count() == 3
    assert page.locator(".rt-act:enabled").count() == 0 and page.evaluate("window.events") == []


def test_a_scale_in_a_table(page: Page, harness: Harness) -> None:
    rows = [{"id": 9, "kind": "score", "label": "", "text": "2", "quotes": [], "note": "", "action": None}]
    start(page, harness, rows=rows, scale=[1, 2, 3], draft_score=2, confirm=None)
    press(page, "3")
    assert sent_rows(page) == [{"id": 9, "action": "revise", "reason": "", "new_text": ""}]
    assert sent(page)[-1]["score"] == 3
    assert page.locator(".rt-body .ce-note").inner_text() == "The draft said 2. Yours is 3."


def test_bare_keys_go_to_the_table_in_use(page: Page, harness: Harness) -> None:
    start(page, harness)
    second = """(sheet) => {
        const place = document.body.appendChild(document.createElement('div'));
        place.id = 'second';
        window.coeval.reviewTable(place, { value: sheet }, () => {}, () => {});
    }"""
    page.evaluate(second, make_sheet(key="other", confirm=None))
    page.locator("#second .rt-row").nth(1).focus()
    press(page, "d")
    assert page.locator("#second [data-action=delete]").count() == 1
    assert page.locator("#place [data-action=delete]").count() == 0
