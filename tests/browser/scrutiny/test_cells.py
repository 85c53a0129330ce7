"""A cell is a cell: what is typed, pasted or composed after a click goes into the cell, and is never a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from coeval.domain import Origin, Proposal
from coeval.rules.arms import Design, Layout
from coeval.usecases import criteria_rounds
from tests.support.screens.bench import evidence, make_rows
from tests.support.screens.ui_steps import focused, press, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.support.screens.bench import Bench


WORDS = "Add and revise the words"
"""Its letters are the commands of every table: A approves, D deletes, R revises."""
WIDE = {"width": 1600, "height": 900}
DRAFT = "“condensed” is hard for a child."


def line(page: Page, number: int) -> Locator:
    return page.locator(".rt-row").nth(number)


def actions(page: Page) -> list[str]:
    found: list[str] = page.locator(".rt-row").evaluate_all("rows => rows.map((row) => row.dataset.action)")
    return found


def version(page: Page, number: int) -> Locator:
    return line(page, number).locator(".rt-version textarea").first


@pytest.fixture
def scrutiny(page: Page, bench: Bench) -> None:
    """Conclusion, score and three lines of evidence, with room for all five columns."""
    page.set_viewport_size(WIDE)
    bench.open_bench(page)


@pytest.fixture
def ballot(page: Page, bench: Bench) -> None:
    page.set_viewport_size(WIDE)
    bench.criteria = []
    bench.ensure_study()
    texts = ["Use simple words.", "Use examples.", "Avoid jargon."]
    proposals = [Proposal(text, Origin.LLM, n, 4 - n) for n, text in enumerate(texts, 1)]
    criteria_rounds.open_round(bench.context, bench.person("Olu"), bench.slug, proposals)
    bench.open_table(page, "ballot")


@pytest.mark.usefixtures("scrutiny")
def test_what_is_typed_after_a_click_goes_into_the_version(page: Page, bench: Bench) -> None:
    line(page, 2).locator(".rt-version").click()
    assert actions(page) == ["none"] * 5, "to select a cell changes nothing"
    page.keyboard.type(WORDS)
    assert actions(page) == ["none", "none", "revise", "none", "none"]
    expect(version(page, 2)).to_have_value(WORDS)
    press(page, "Enter")
    page.keyboard.type("and the next")
    press(page, "ArrowUp", "ArrowUp")  # the score holds no words, and its cell takes digits alone
    page.keyboard.type("ad3")
    assert actions(page) == ["none", "revise", "revise", "revise", "none"]
    expect(version(page, 3)).to_have_value("and the next")
    expect(page.locator(".rt-step[aria-checked=true]")).to_have_text("3")
    press(page, "Control+Z", "Control+Z")
    assert actions(page) == ["none", "none", "revise", "none", "none"]


@pytest.mark.usefixtures("scrutiny")
def test_letters_in_a_reason_without_an_action_change_nothing_and_a_hint_says_why(page: Page) -> None:
    line(page, 2).locator(".rt-why").click()
    page.keyboard.type("Add revise 3 never joke")
    assert actions(page) == ["none"] * 5 and page.locator("textarea").count() == 0
    assert page.locator("dialog").count() == 0 and page.locator(".wb-jump").input_value() == "1"
    expect(page.locator(".ce-toast").filter(has_text="choose an action first")).to_have_count(1)
    press(page, "Escape", "d")
    assert actions(page)[2] == "delete", "after Esc the line is in use, and letters are commands"
    line(page, 4).locator(".rt-text").click()
    page.mouse.click(3, 500)  # beside the table
    page.keyboard.type("ad")
    assert actions(page)[3:] == ["none"] * 2, "letters after a click elsewhere are not for the chosen cell"


def test_the_hint_names_a_key_that_works_where_five_columns_do_not_fit(page: Page, bench: Bench) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    bench.open_bench(page)
    line(page, 2).locator(".rt-text").click()
    page.keyboard.type("a")
    page.locator(".ce-toast").filter(has_text="press F2").wait_for()
    press(page, "F2", "Control+A")
    page.keyboard.type(WORDS)
    expect(version(page, 2)).to_have_value(WORDS)


@pytest.mark.usefixtures("scrutiny")
def test_letters_are_commands_by_keyboard_and_in_the_action_cell(page: Page) -> None:
    press(page, "a")
    assert actions(page)[0] == "approve"
    box = line(page, 3).locator(".rt-approve").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] + 2, box["y"] + 10)  # between two buttons
    press(page, "d")
    assert actions(page)[3] == "delete"
    line(page, 4).locator(".rt-text").click()
    press(page, "ArrowUp", "ArrowUp", "a")
    assert actions(page)[2] == "approve"


@pytest.mark.usefixtures("scrutiny")
def test_a_deletion_stays_one_after_a_double_click_beside_its_buttons_and_a_tab_back(page: Page) -> None:
    box = line(page, 2).locator(".rt-delete").bounding_box()
    assert box
    page.mouse.dblclick(box["x"] - 2, box["y"] + 10)  # between two buttons
    assert actions(page) == ["none"] * 5
    press(page, "d", "Shift+Tab")
    assert actions(page)[2] == "delete" and page.evaluate("document.activeElement.tagName") != "TEXTAREA"


@pytest.mark.usefixtures("ballot")
def test_a_criterion_is_typed_where_it_was_clicked(page: Page, bench: Bench) -> None:
    line(page, 0).locator(".rt-version").click()
    page.keyboard.type(WORDS)
    press(page, "Tab")
    page.keyboard.type("a better reason")
    press(page, "Tab")
    page.keyboard.type("Double the words")
    assert actions(page) == ["revise", "revise", "none"]
    assert [version(page, n).input_value() for n in (0, 1)] == [WORDS, "Double the words"]
    expect(line(page, 0).locator(".rt-why textarea")).to_have_value("a better reason")
    press(page, "Shift+Tab")
    assert focused(page).startswith("Reason for 1")
    line(page, 2).locator(".rt-text").click()
    page.keyboard.type(WORDS)
    assert actions(page) == ["revise", "revise", "none"] and bench.requests == []
    line(page, 2).locator(".rt-version").click()
    page.keyboard.type(WORDS)
    press(page, "Enter")  # to the reason, as after R
    page.keyboard.type("clearer")
    expect(line(page, 2).locator(".rt-why textarea")).to_have_value("clearer")


@pytest.mark.usefixtures("scrutiny")
def test_f2_escape_and_arrows_work_as_in_a_spreadsheet(page: Page) -> None:
    line(page, 2).locator(".rt-version").click()
    press(page, "F2")
    expect(version(page, 2)).to_have_value(DRAFT)
    page.keyboard.type(" More.")
    press(page, "Escape")
    assert actions(page)[2] == "none" and page.locator(".ce-toast", has_text="Discarded").count() == 1
    page.keyboard.type("x")  # the cell is still selected
    expect(version(page, 2)).to_have_value("x")
    press(page, "ArrowDown")
    page.keyboard.type("y")
    press(page, "ArrowUp")
    page.keyboard.type("z")
    press(page, "Enter", "Enter", "Shift+Enter", "ArrowRight", "ArrowLeft", "Delete")
    assert [version(page, n).input_value() for n in (2, 3)] == ["z", ""], "Delete empties a cell"


@pytest.mark.usefixtures("scrutiny")
def test_three_rows_of_a_spreadsheet_go_where_the_cell_was_clicked(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    def paste(text: str) -> None:
        page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        press(page, "Control+V")

    line(page, 1).locator(".rt-body").click(position={"x": 260, "y": 10})
    paste('2\nsecond\tdelete\tmade up\n"third\nline"\trevise\tbetter\n')
    assert actions(page) == ["none", "revise", "delete", "revise", "none"]
    expect(version(page, 3)).to_have_value("third\nline")
    expect(line(page, 2).locator(".rt-why textarea")).to_have_value("made up")
    press(page, "Control+Z")
    assert actions(page) == ["none"] * 5
    line(page, 4).locator(".rt-version").click()
    paste("one cell")
    expect(version(page, 4)).to_have_value("one cell")
    line(page, 2).locator(".rt-label").click()
    paste("one\ntwo")
    assert actions(page) == ["none", "none", "none", "none", "revise"], "a draft is not overwritten"


@pytest.mark.usefixtures("ballot")
def test_headings_sort_and_a_third_press_restores_the_order(page: Page, bench: Bench) -> None:
    texts = page.locator(".rt-text")
    before = texts.all_inner_texts()
    head = page.get_by_role("columnheader", name="Draft")
    head.get_by_role("button").click()
    assert texts.all_inner_texts() == sorted(before) and head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert texts.all_inner_texts() == sorted(before, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    line(page, 0).focus()
    press(page, "a", "r")
    page.keyboard.type(" Yes.")
    press(page, "Enter")
    page.keyboard.type("why")
    head.get_by_role("button").click()
    assert texts.nth(0).inner_text() == before[0] and head.get_attribute("aria-sort") == "none"
    decided = dict(zip(sorted(before, reverse=True), ["approve", "revise", "none"], strict=True))
    assert actions(page) == [decided[text] for text in before], "what was decided went with its line"


@pytest.mark.usefixtures("scrutiny")
def test_a_sorted_evaluation_is_saved_as_ids_and_keeps_its_marks(page: Page, bench: Bench) -> None:
    page.get_by_role("columnheader", name="Line").get_by_role("button").click()
    page.get_by_role("columnheader", name="Line").get_by_role("button").click()
    assert line(page, 0).locator(".rt-label").inner_text().startswith("Score")
    page.locator("mark").first.click()
    assert focused(page) == "Evidence 1"
    line(page, 0).focus()
    press(page, "3", "d", "a", "a", "a", "Control+Enter")
    wait_saved(page, bench, 1)
    assert [row["action"] for row in bench.requests[0]["rows"]] == [
        "approve",
        "revise",
        "approve",
        "approve",
        "delete",
    ]


@pytest.mark.parametrize("layout", [Layout.ONE, Layout.ALL])
def test_the_table_is_a_grid_for_screen_readers(page: Page, bench: Bench, layout: Layout) -> None:
    page.set_viewport_size(WIDE)
    bench.design = Design(layout=layout)
    bench.open_bench(page)
    grid = page.get_by_role("grid", name="Lines of the evaluation")
    assert grid.get_by_role("columnheader").count() == 5
    rows = grid.get_by_role("row").all()[1:]
    assert rows and all(row.get_by_role("rowheader").count() == 1 for row in rows)
    assert all(row.get_by_role("gridcell").count() == 4 for row in rows)


LONG_LINE = evidence("“condensed” is hard for a child, and so is the whole sentence around it, because " * 2)


@pytest.mark.parametrize(("layout", "width"), [(Layout.ONE, 1180), (Layout.ALL, 1600)])
def test_a_long_text_is_edited_across_the_table_with_the_keys_of_a_cell(
    page: Page, bench: Bench, layout: Layout, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    bench.rows = lambda instance: (*make_rows(instance.output)[:3], LONG_LINE)
    bench.design = Design(layout=layout)
    bench.open_bench(page)
    row = page.locator(".rt-row", has_text="the whole sentence").first
    row.locator(".rt-revise").click()
    box, table = row.locator(".rt-version textarea").bounding_box(), page.locator(".rt").first.bounding_box()
    assert box and table and box["width"] > 0.9 * table["width"]
    page.keyboard.type("Mine: ")
    press(page, "Escape", "a")
    expect(row).to_have_attribute("data-action", "approve")
    box = row.locator(".rt-version").bounding_box()
    assert not box or box["width"] < 0.6 * table["width"], "an approved line needs no box"
    short = page.locator(".rt-row", has_text="is hard for a child.").first
    short.locator(".rt-revise").click()
    box = short.locator(".rt-version textarea").bounding_box()
    assert box and box["width"] < 0.6 * table["width"]
