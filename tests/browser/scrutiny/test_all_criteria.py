"""All criteria of an instance in one sheet: the same keys, rules, timing, conflicts and history as one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from coeval.domain import Criterion, ImportedRun, Run, Study
from coeval.rules.arms import Design, Layout
from coeval.usecases.study_import import import_study
from tests.support.screens.bench import CRITERIA, OUTPUT, make_instances
from tests.support.screens.ui_steps import focused, held_back, press, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.support.screens.bench import Bench


ONE = ("3", "a", "a", "a", "a")
"""Score 3 where the draft says 4; conclusion and three lines of evidence kept."""


def group(page: Page, number: int) -> Locator:
    return page.locator(".rg-row").nth(number - 1)


def lines(page: Page, number: int) -> list[str]:
    """What is decided on each line of a criterion, in the order of the page."""
    found: list[str] = (
        group(page, number).locator(".rt-row").evaluate_all("rows => rows.map((row) => row.dataset.action)")
    )
    return found


def number_in_use(page: Page) -> str:
    return str(
        page.evaluate("document.activeElement.closest('.rg-row').querySelector('.rg-number').textContent")
    )


def open_all(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    page.get_by_role("button", name="All criteria").click()
    page.locator(".wb.is-all[aria-busy=false] .rg-row").first.wait_for()


def test_a_sheet_is_decided_and_confirmed_from_the_keyboard(page: Page, bench: Bench) -> None:
    open_all(page, bench)
    heads = page.locator(".rg-head span").all_inner_texts()
    assert heads == ["Criterion", "Score", "Conclusion", "Evidence", "Action"]
    assert page.locator(".rg-row").count() == 2 and number_in_use(page) == "1"
    press(page, *ONE)
    assert number_in_use(page) == "2" and lines(page, 1) == ["revise"] + ["approve"] * 4
    assert group(page, 1).locator(".rg-state").inner_text() == "decided"
    press(page, "a", "d", "Enter", "ArrowDown", "r", "Control+A")
    page.keyboard.type("“condensed” is not a word of a child.")
    press(page, "Enter", "a", "a", "e")
    page.keyboard.type("my own line")
    press(page, "Control+Enter")
    wait_saved(page, bench, 2)
    saved = bench.saved()
    assert [(one["criterion"], one["score"]) for one in saved] == [
        (saved[0]["criterion"], 3.0),
        (saved[1]["criterion"], 4.0),
    ]
    body = bench.requests[-1]["evaluations"]
    assert [row["action"] for row in body[1]["rows"]] == ["delete", "approve", "revise", "approve", "approve"]
    assert [row["new_text"] for row in body[1]["added"]] == ["my own line"] and body[0]["added"] == []
    expect(page.locator(".wb-jump")).to_have_value("2")
    assert lines(page, 1) == ["none"] * 5


def test_what_is_open_is_said_and_nothing_is_sent(page: Page, bench: Bench) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    open_all(page, bench)
    press(page, *ONE, "2", "Control+Enter")
    assert "Criterion 2, conclusion: approve, revise or delete it." in page.locator(".ce-toast").inner_text()
    assert bench.saved() == [] and bench.requests == []
    group(page, 2).get_by_role("button", name="Approve rest").click()
    expect(page.locator(".ce-toast").last).to_contain_text("Read every line first")
    page.set_viewport_size({"width": 1440, "height": 1600})
    page.wait_for_timeout(200)
    group(page, 2).get_by_role("button", name="Approve rest").click()
    assert lines(page, 2) == ["revise"] + ["approve"] * 4
    press(page, "Control+Enter")
    wait_saved(page, bench, 2)
    assert all(one["bulk"] for one in bench.saved())


def test_words_are_kept_over_a_reload_and_in_the_other_view(page: Page, bench: Bench) -> None:
    open_all(page, bench)
    press(page, *ONE, "2", "r")
    page.keyboard.type(" and more")
    page.reload()
    page.locator(".wb.is-all .rg-row").first.wait_for()
    assert "is restored but not saved yet" in page.locator(".wb-banner").inner_text()
    assert lines(page, 1) == ["revise"] + ["approve"] * 4 and lines(page, 2)[:2] == ["revise", "revise"]
    page.get_by_role("button", name="One criterion at a time").click()
    page.locator(".wb:not(.is-all)[aria-busy=false] .rt-row").first.wait_for()
    page.locator(".wb-chip").nth(1).click()
    page.locator(".wb-chip[aria-current]", has_text="2").wait_for()
    expect(page.locator(".rt-version textarea").first).to_have_value(
        "It does not satisfy the criterion: it uses words a child may not know. and more"
    )


def test_undo_selection_and_the_clipboard_reach_over_criteria(page: Page, bench: Bench) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_all(page, bench)
    press(page, *ONE, "2")
    press(page, "Control+Z", "Control+Z")
    assert lines(page, 2)[0] == "none" and lines(page, 1)[-1] == "none"
    press(page, "Control+Shift+Z")
    assert lines(page, 1)[-1] == "approve"
    group(page, 1).locator(".rt-row").nth(3).focus()
    press(page, "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown", "d")
    page.keyboard.type("made up")
    assert lines(page, 1)[3:] == ["delete", "delete"] and lines(page, 2)[1] == "delete"
    press(page, "Escape", "Control+Z", "Control+Z")
    group(page, 2).locator(".rt-row").nth(2).focus()
    press(page, "Control+C")
    copied = str(page.evaluate("navigator.clipboard.readText()"))
    assert copied.startswith("Evidence 1\t“condensed” is hard for a child.")
    press(page, "ArrowRight", "ArrowRight")
    page.evaluate("navigator.clipboard.writeText('first\\nsecond\\nthird\\nfourth')")
    press(page, "Control+V")
    assert lines(page, 2)[2:] == ["revise", "revise", "revise", "add"]
    assert lines(page, 1)[2:] == ["approve", "approve", "approve"]


def test_cells_and_criteria_are_walked(page: Page, bench: Bench) -> None:
    open_all(page, bench)
    press(page, "ArrowDown", "ArrowDown")
    assert focused(page) == "Evidence 1" and number_in_use(page) == "1"
    press(page, "ArrowRight", "ArrowRight", "F2")
    assert page.evaluate("document.activeElement.value") == "“condensed” is hard for a child."
    press(page, "Escape", "Escape", "]")  # out of the words, and out of the cell
    assert number_in_use(page) == "2" and focused(page) == "Score"
    assert page.locator(".wb-chip[aria-current]").inner_text().split()[0] == "2"
    press(page, "[")
    assert number_in_use(page) == "1"
    page.locator(".wb-chip").nth(1).click()
    assert number_in_use(page) == "2"


def test_a_save_from_elsewhere_is_told_and_nothing_is_overwritten(page: Page, bench: Bench) -> None:
    open_all(page, bench)
    press(page, *ONE, *ONE)
    bench.save_elsewhere(2)
    press(page, "Control+Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("There are two versions").wait_for()
    assert len(bench.saved()) == 1, "nothing of the sheet was saved"
    expect(dialog.locator(".is-different").first).to_contain_text("score")
    dialog.get_by_role("button", name="Continue with mine").click()
    press(page, "Control+Enter")
    wait_saved(page, bench, 3)
    assert [(one["revision"], one["score"]) for one in bench.saved()] == [(1, 2.0), (2, 3.0), (1, 3.0)]


def test_only_what_changed_is_saved_again_and_history_is_of_the_criterion(
    page: Page, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coeval.usecases.scrutiny.steps.HISTORY_PAGE", 1)
    open_all(page, bench)
    press(page, *ONE, *ONE, "Control+Enter")
    wait_saved(page, bench, 2)
    expect(page.locator(".wb-jump")).to_have_value("2")
    page.locator(".wb-filters button", has_text="All").click()
    page.locator(".wb[aria-busy=false] [data-filter=all][aria-pressed=true]").wait_for()
    expect(page.locator(".wb-jump")).to_have_value("1")
    press(page, "]", "1", "Control+Enter")
    wait_saved(page, bench, 3)
    first, second, third = bench.saved()
    assert [one["revision"] for one in (first, second, third)] == [1, 1, 2]
    assert third["criterion"] == second["criterion"] != first["criterion"] and third["score"] == 1
    expect(page.locator(".wb-jump")).to_have_value("2")
    press(page, "k")
    expect(page.locator(".wb-jump")).to_have_value("1")
    press(page, "]", "h")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Version 2")
    assert "Version 1" not in dialog.inner_text(), "a history comes in pages"
    dialog.get_by_role("button", name="Show older versions").click()
    expect(dialog).to_contain_text("Version 1")
    expect(dialog.get_by_role("button", name="Show older versions")).to_be_hidden()


def test_time_is_that_of_the_criterion_in_use(page: Page, bench: Bench) -> None:
    open_all(page, bench)
    page.wait_for_timeout(600)
    press(page, *ONE, *ONE, "Control+Enter")
    wait_saved(page, bench, 2)
    first, second = (one["active_ms"] for one in bench.saved())
    assert first >= 500 and second < first


def test_the_score_comes_first_where_the_design_asks_for_it(page: Page, bench: Bench) -> None:
    bench.design = Design(first_share=1, layout=Layout.ALL)
    bench.open_bench(page)
    page.locator(".wb.is-all .rg-row").first.wait_for()
    assert [len(lines(page, n)) for n in (1, 2)] == [1, 1]
    press(page, "3", "4", "Control+Enter")
    group(page, 2).locator(".rt-row").nth(4).wait_for()
    assert bench.saved() == [] and "Your score before the draft was 3" in group(page, 1).inner_text()
    press(page, "a", "a", "a", "a", "a", "a", "a", "a", "Control+Enter")
    wait_saved(page, bench, 2)


def test_one_key_switches_the_view_that_the_owner_set_and_is_remembered(page: Page, bench: Bench) -> None:
    bench.design = Design(layout=Layout.ALL)
    bench.open_bench(page)
    assert page.locator(".rg-row").count() == 2
    press(page, "v")
    page.locator(".wb:not(.is-all)[aria-busy=false] .rt-row").first.wait_for()
    page.reload()
    page.locator(".wb:not(.is-all)[aria-busy=false] .rt-row").first.wait_for()
    press(page, "v")
    page.locator(".wb.is-all[aria-busy=false] .rg-row").first.wait_for()


def test_a_score_given_before_the_draft_is_shown_and_kept(page: Page, bench: Bench) -> None:
    owner, criteria = bench.person("Olu"), tuple(Criterion(text) for text in bench.criteria)
    bare = Study(replace(bench.task, slug=bench.slug), tuple(bench.instances), criteria, ())
    import_study(bench.context, owner, bare)
    bench.imported = True
    bench.save_elsewhere(2)
    drafts = tuple(bench._draft(one, text) for one in bench.instances for text in bench.criteria)
    run = ImportedRun(Run("imported", "test-model", "late", shown=True), drafts)
    import_study(bench.context, owner, replace(bare, runs=(run,)))
    open_all(page, bench)
    page.locator(".wb-jump").fill("1")
    page.keyboard.press("Enter")
    expect(group(page, 1)).to_contain_text("Your score before the draft was 2.")
    assert lines(page, 1) == ["revise", "none", "none", "none", "none"]
    expect(group(page, 1).get_by_role("radio", name="2", exact=True)).to_be_checked()
    for row in (
        group(page, 1).locator(".rt-row").all()
    ):  # approving in bulk is for who has looked at every line
        row.focus()
    page.keyboard.press("a")
    group(page, 1).get_by_role("button", name="Approve rest").click()
    expect(group(page, 1).get_by_role("radio", name="2", exact=True)).to_be_checked()
    for row in group(page, 2).locator(".rt-row").all():
        row.focus()
        page.keyboard.press("a")
    press(page, "Control+Enter")
    wait_saved(page, bench, 3)
    assert [one["score"] for one in bench.saved()] == [2.0, 2.0, 4.0]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720)])
def test_the_texts_stay_in_view_above_every_line(page: Page, bench: Bench, width: int, height: int) -> None:
    bench.criteria = CRITERIA
    bench.instances = make_instances(1, OUTPUT * 6)
    page.set_viewport_size({"width": width, "height": height})
    open_all(page, bench)
    rows = page.locator(".rt-row")
    for row in (rows.last, rows.first, rows.nth(rows.count() // 2)):
        row.focus()
        row.evaluate("(one) => one.scrollIntoView({ block: 'nearest' })")
        at, texts = row.bounding_box(), page.locator(".wb-texts").bounding_box()
        foot = page.locator(".wb-foot").bounding_box()
        assert at and texts and foot
        assert texts["y"] >= 0 and texts["height"] > 100
        assert at["y"] >= texts["y"] + texts["height"] - 1 and at["y"] + at["height"] <= foot["y"] + 1


def test_keys_typed_while_an_instance_is_on_its_way_are_for_that_instance(page: Page, bench: Bench) -> None:
    """They changed the instance before it, or another criterion."""
    open_all(page, bench)
    with held_back(page, "**/step?*") as asked:
        press(page, "j", "]", "2", "Control+Enter")
        page.wait_for_timeout(50)
        assert len(asked) == 1 and lines(page, 1) == lines(page, 2) == ["none"] * 5
    expect(page.locator(".wb-jump")).to_have_value("2")
    assert lines(page, 1) == ["none"] * 5 and lines(page, 2) == ["revise"] + ["none"] * 4
    assert bench.saved() == [] and page.locator(".ce-toast").count() == 0, (
        "the confirmation was for instance 1"
    )
    press(page, "k")
    expect(page.locator(".wb-jump")).to_have_value("1")
    assert lines(page, 1) == lines(page, 2) == ["none"] * 5


def test_keys_of_a_long_wait_are_dropped(page: Page, bench: Bench) -> None:
    open_all(page, bench)
    with held_back(page, "**/step?*"):
        press(page, "j", "2", "a", "a")
        page.wait_for_timeout(2100)
    expect(page.locator(".wb-jump")).to_have_value("2")
    assert lines(page, 1) == ["none"] * 5
    press(page, "2")
    assert lines(page, 1) == ["revise"] + ["none"] * 4


def test_keys_typed_while_an_instance_is_saved_are_for_the_next(page: Page, bench: Bench) -> None:
    open_all(page, bench)
    press(page, *ONE, *ONE)
    with held_back(page, "**/sheets*"):
        press(page, "Control+Enter", "]", "2")
    wait_saved(page, bench, 2)
    expect(page.locator(".wb-jump")).to_have_value("2")
    assert lines(page, 1) == ["none"] * 5 and lines(page, 2) == ["revise"] + ["none"] * 4
