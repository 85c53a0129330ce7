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
from tests.support.screens.ui_steps import held_back, press, wait_saved

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


def test_the_texts_stay_in_view_above_every_line(page: Page, bench: Bench) -> None:
    bench.criteria = CRITERIA
    bench.instances = make_instances(1, OUTPUT * 6)
    open_all(page, bench)
    rows = page.locator(".rt-row")
    for width, height in ((1440, 900), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
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
