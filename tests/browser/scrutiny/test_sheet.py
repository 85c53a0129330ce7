"""The table as a spreadsheet: headings, cells, edits that begin and end as they do there, undoing, bulk, clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.screens.ui_steps import focused, press, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.support.screens.bench import Bench


DRAFT = "“condensed” is hard for a child."


def line(page: Page, name: str) -> Locator:
    """The line of that label."""
    return page.locator(".rt-row").filter(has=page.locator(".rt-label", has_text=name))


def cell(page: Page) -> str:
    """The class of the cell that has the focus."""
    return str(page.evaluate("document.activeElement.className.split(' ')[0]"))


def actions(page: Page) -> list[str]:
    found: list[str] = page.locator(".rt-row").evaluate_all("rows => rows.map((row) => row.dataset.action)")
    return found


def box(page: Page) -> str:
    return str(page.evaluate("document.activeElement.value ?? null"))


def test_the_columns_are_named_and_stand_under_their_names(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    assert page.locator(".rt-head span").all_inner_texts() == [
        "Line",
        "Draft",
        "Your version",
        "Action",
        "Reason",
    ]
    line(page, "Evidence 1").focus()
    press(page, "r")
    script = """() => {
        const left = (node) => node.getBoundingClientRect().left;
        const row = document.querySelector('[data-action=revise]');
        const heads = [...document.querySelectorAll('.rt-head span')].map(left);
        const parts = ['label', 'body', 'version', 'actions', 'why'];
        const cells = parts.map((name) => left(row.querySelector(`.rt-${name}`)));
        return heads.map((x, n) => Math.abs(x - cells[n]));
    }"""
    assert max(page.evaluate(script)) <= 3


def test_arrows_walk_through_the_cells(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    line(page, "Evidence 1").focus()
    way = []
    for _ in range(5):
        press(page, "ArrowRight")
        way.append(cell(page))
    assert way == ["rt-body", "ce-in", "rt-actions", "rt-why", "rt-why"]
    press(page, "ArrowLeft", "ArrowLeft", "ArrowDown")
    assert focused(page) == "New wording of Evidence 2"
    press(page, "ArrowUp", "ArrowUp")
    assert cell(page) == "rt-body" and "Score" in page.locator(".is-current").inner_text()
    press(page, "ArrowUp")
    assert focused(page) == "New wording of Conclusion", "the column is kept over the score"
    press(page, "ArrowDown", "ArrowRight", "a")
    assert actions(page)[1] == "approve", "a letter decides in the cells that hold no words"


@pytest.mark.parametrize("how", ["Enter", "dblclick"])
def test_an_edit_of_the_version_is_a_revise(page: Page, bench: Bench, how: str) -> None:
    bench.open_bench(page)
    line(page, "Evidence 1").focus()
    if how == "dblclick":
        line(page, "Evidence 1").locator(".rt-text").dblclick(position={"x": 60, "y": 8})
    else:
        press(page, "Enter")
    assert actions(page)[2] == "revise" and box(page) == DRAFT
    page.keyboard.type(" new")
    press(page, "Enter")
    assert focused(page) == "Evidence 2", "from the line, the edit leads to the next line"
    assert actions(page)[2] == "revise"
    assert line(page, "Evidence 1").locator("textarea").first.input_value().endswith(" new")


def test_escape_takes_the_edit_back_and_undo_brings_it_again(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    line(page, "Evidence 1").focus()
    press(page, "a", "ArrowUp", "ArrowRight", "ArrowRight", "F2", "Control+A")
    page.keyboard.type("quite other words")
    press(page, "Escape")
    assert focused(page) == "New wording of Evidence 1" and actions(page)[2] == "approve"
    assert line(page, "Evidence 1").locator(".rt-text").inner_text() == DRAFT
    told = page.locator(".ce-toast", has_text="Discarded: quite other words")
    told.get_by_role("button", name="Undo").click()
    assert actions(page)[2] == "revise"
    assert line(page, "Evidence 1").locator("textarea").first.input_value() == "quite other words"


def test_decisions_are_undone_and_done_again(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, "a", "2", "d", "e")
    page.keyboard.type("mine")
    press(page, "Enter")
    done = ["approve", "revise", "delete", "none", "none", "add"]
    assert actions(page) == done
    press(page, "Control+Z", "Control+Z")  # the words, then the line that held them
    assert actions(page) == done[:5]
    press(page, "Control+Z", "Control+Z")
    assert actions(page) == ["approve", "none", "none", "none", "none"]
    assert page.locator(".rt-step[aria-checked=true]").count() == 0
    press(page, "Control+Shift+Z", "Control+Shift+Z", "Control+Shift+Z", "Control+Y")
    assert actions(page) == done
    assert line(page, "Evidence 4").locator("textarea").first.input_value() == "mine"
    assert page.locator(".rt-step[aria-checked=true]").inner_text() == "2"
    for _ in range(9):
        press(page, "Control+Z")
    assert actions(page) == ["none"] * 5
    assert "nothing to undo" in page.locator(".ce-toast").last.inner_text()
    page.reload()
    page.locator(".wb[data-state=step]").wait_for()
    assert actions(page) == ["none"] * 5, "what was undone is not kept"


def test_several_lines_are_approved_or_deleted_with_one_reason(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    line(page, "Evidence 1").focus()
    press(page, "Shift+ArrowDown", "Shift+ArrowDown")
    assert page.locator(".rt-bulk-count").inner_text() == "3 lines selected"
    press(page, "d")
    page.keyboard.type("all made up")
    assert actions(page) == ["none", "none", "delete", "delete", "delete"]
    press(page, "Enter")
    page.locator(".rt-bulk").wait_for(state="hidden")
    assert [box.input_value() for box in page.locator(".rt-why textarea:visible").all()] == [
        "all made up"
    ] * 3
    press(page, "Control+Z", "Control+Z")
    assert actions(page) == ["none"] * 5, "one change for all lines, and one for the reason"
    line(page, "Conclusion").focus()
    press(page, "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowUp", "a")
    assert actions(page) == ["approve", "approve", "none", "none", "none"]
    press(page, "Escape")
    page.locator(".rt-bulk").wait_for(state="hidden")


def test_what_nobody_saw_is_not_approved_with_others_and_bulk_is_said(page: Page, bench: Bench) -> None:
    page.set_viewport_size({"width": 1280, "height": 360})
    bench.open_bench(page)
    line(page, "Conclusion").locator(".rt-label").click()
    page.evaluate(
        "for (const name of ['pointerdown', 'click']) document.querySelectorAll('.rt-row')[4]"
        ".dispatchEvent(new MouseEvent(name, { bubbles: true, shiftKey: true }))"
    )
    press(page, "a")
    assert "Read every line first" in page.locator(".ce-toast").last.inner_text()
    assert actions(page) == ["none"] * 5
    page.set_viewport_size({"width": 1280, "height": 1400})
    page.wait_for_timeout(200)
    press(page, "a", "Control+Enter")
    wait_saved(page, bench, 1)
    assert bench.requests[0]["bulk"] is True


@pytest.fixture
def clipboard(page: Page, bench: Bench) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])


def copied(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_lines_and_cells_are_copied_as_a_spreadsheet_takes_them(
    page: Page, bench: Bench, clipboard: None
) -> None:
    bench.open_bench(page)
    line(page, "Evidence 1").focus()
    press(page, "r", "Control+A")
    page.keyboard.type('a "new" word')
    press(page, "Enter", "ArrowUp", "Control+C")
    assert copied(page) == f'Evidence 1\t{DRAFT}\t"a ""new"" word"\trevise\t'
    press(page, "ArrowRight", "Control+C")
    assert copied(page) == DRAFT
    press(page, "ArrowLeft", "Shift+ArrowDown", "Control+C")
    assert [len(row.split("\t")) for row in copied(page).split("\n")] == [5, 5]
