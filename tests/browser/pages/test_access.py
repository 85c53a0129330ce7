"""Usable by everyone: axe finds no serious fault, roles and states are there, a phone's width holds it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Proposal
from coeval.domain.tasks import Turn, render_chat
from coeval.rules.arms import Design, Display
from coeval.usecases.criteria_rounds import open_round
from tests.support.screens.axe import faults_in_both_themes
from tests.support.screens.bench import CRITERIA, OUTPUT, make_instances
from tests.support.screens.ui_steps import press

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.support.screens.bench import Bench


def decide_every_kind(page: Page) -> None:
    """Every kind of line: approved, scored anew, revised, deleted, added; a mark lit and one not."""
    press(page, "f", "a", "3", "r", "Control+A")
    page.keyboard.type("“herbs” is fine")
    press(page, "Enter", "ArrowDown", "d", "e")
    page.keyboard.type("“bottle”")
    page.wait_for_timeout(300)


def all_criteria(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    page.get_by_role("button", name="All criteria").click()
    page.locator(".wb.is-all[aria-busy=false] .rg-row").first.wait_for()
    press(page, "3", "a", "r", "e")
    page.keyboard.type("“bottle”")
    press(page, "Enter", "d")
    page.wait_for_timeout(300)


def unscored(page: Page, bench: Bench) -> None:
    bench.unscored = True
    bench.open_bench(page)


def offline(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, "a", "a", "a", "a", "a")
    bench.fail = 503
    press(page, "Control+Enter")
    page.get_by_text(" kept here").wait_for()


def conflict(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    press(page, "a", "3", "a", "a", "d")
    bench.save_elsewhere(1)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="There are two versions").wait_for()


def conversation(page: Page, bench: Bench) -> None:
    step = Turn("tool result: look up", "It evaporates. " * 200)
    talk = render_chat([Turn("user", "Why is perfume dear?"), step, Turn("assistant", OUTPUT)])
    bench.instances = make_instances(1, talk)
    bench.open_bench(page)


STATES = [all_criteria, unscored, offline, conflict, conversation]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_axe_finds_no_serious_fault(page: Page, bench: Bench, state: Callable[..., None]) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    state(page, bench)
    assert faults_in_both_themes(page) == []


def test_axe_finds_none_in_the_work_its_keys_and_its_guidelines(page: Page, bench: Bench) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    bench.design = Design(display=Display.MARKDOWN)
    bench.open_bench(page)
    decide_every_kind(page)
    assert faults_in_both_themes(page) == []
    press(page, "Enter", "?")
    page.get_by_role("dialog", name="Keys").wait_for()
    assert faults_in_both_themes(page) == []
    press(page, "Escape", "g")
    page.get_by_role("region", name="Guidelines").wait_for()
    assert faults_in_both_themes(page) == []


def test_axe_finds_none_without_a_draft_and_at_the_end(page: Page, bench: Bench) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    bench.design = Design(blind_share=1)
    bench.open_bench(page)
    assert faults_in_both_themes(page) == []
    page.get_by_role("button", name="Flagged", exact=True).click()
    page.get_by_role("heading", name="No flags").wait_for()
    assert faults_in_both_themes(page) == []


def test_the_theme_of_gradio_wins_over_the_systems(page: Page, bench: Bench) -> None:
    bench.criteria = []
    bench.ensure_study()
    open_round(bench.context, bench.person("Olu"), bench.slug, [Proposal("Be true.")])
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    bench.open_table(page)
    ground = "() => getComputedStyle(document.querySelector('.ce-btn:not(.is-primary)')).backgroundColor"
    light = page.evaluate(ground)
    page.evaluate("document.body.classList.add('dark')")
    dark = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    page.evaluate("document.body.classList.remove('dark')")
    assert page.evaluate(ground) == dark != light
    page.evaluate("document.body.append(document.createElement('gradio-app'))")
    assert page.evaluate(ground) == light


def test_roles_states_and_announcements(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    stops = page.locator(".rt-row .rt-group").evaluate_all(
        "groups => groups.map((group) => group.querySelectorAll('[role=radio][tabindex=\"0\"]').length)"
    )
    # the score's decision is the score itself; its two buttons are plain ones
    assert stops == [1, 0, 1, 1, 1], "every line has one tab stop for its decision"
    live = page.locator(".wb > .ce-sr[role=status]")
    assert live.inner_text() == f"1 of 3, criterion 1 of 2: {CRITERIA[0]}"
    open_ = page.get_by_role("row", name="Conclusion to decide: It does not satisfy")
    open_.get_by_role("radiogroup", name="Decision on Conclusion").get_by_role(
        "radio", name="Approve"
    ).click()
    decided = page.get_by_role("row", name="Conclusion approved: It does not satisfy")
    assert decided.get_by_role("radio", checked=True).get_attribute("aria-label") == "Approve"
    score = page.get_by_role("radiogroup", name="Score")
    assert score.get_by_role("radio", name="4, the draft's score").count() == 1
    score.get_by_role("radio", name="4, the draft's score").focus()
    press(page, "ArrowLeft", "Enter")
    assert score.get_by_role("radio", checked=True).inner_text() == "3"
    bar = page.get_by_role("separator", name="Width of the texts")
    bar.focus()
    press(page, "ArrowRight")
    assert bar.get_attribute("aria-valuenow") == "48"
    page.reload()
    page.locator(".wb[data-state=step]").wait_for()
    assert bar.get_attribute("aria-valuenow") == "48"


OVER = """() => [...document.querySelectorAll('.ce-card')].flatMap((card) => [...card.querySelectorAll('*')]
  .filter((node) => node.getClientRects().length && !node.closest('.ce-sr, svg'))
  .filter((node) => node.getBoundingClientRect().right > card.getBoundingClientRect().right + 1)
  .map((node) => node.outerHTML.slice(0, 80)))"""
"""What runs over its card."""
SMALL = """() => [...document.querySelectorAll('.rt-act, .rt-step, .wb-foot button')]
  .filter((node) => node.getClientRects().length)
  .filter((node) => node.getBoundingClientRect().width < 40 || node.getBoundingClientRect().height < 34)
  .map((node) => node.outerHTML.slice(0, 80))"""


def test_a_phone_holds_it_all_and_names_no_key(browser: Browser, bench: Bench) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page = context.new_page()
    bench.instances = make_instances(1, "Long" * 400 + " word " * 300)
    bench.open_bench(page)
    assert not page.locator("kbd:visible").count()
    words = page.locator("body").inner_text()
    assert "press" not in words.lower() and "All keys" not in words
    assert "keep it with" in words
    assert page.evaluate(OVER) == []
    decide_every_kind(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(SMALL) == []
    confirm = page.get_by_role("button", name="Confirm and next").bounding_box()
    assert confirm and confirm["y"] + confirm["height"] <= 844
    context.close()


def test_at_200_percent_the_controls_of_a_line_are_in_sight_beside_the_text(
    browser: Browser, bench: Bench
) -> None:
    """A window of 1440x900 pixels at 200% zoom has 720x450."""
    bench.ensure_study()
    context = browser.new_context(viewport={"width": 720, "height": 450}, device_scale_factor=2)
    page = context.new_page()
    bench.sign_in(page)
    page.goto(f"{bench.root}/?task={bench.slug}&tab=scrutiny")
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    page.get_by_role("button", name="Confirm and next").wait_for()
    press(page, "a")  # the conclusion; the score is next
    score = page.locator(".rt-row.is-current[data-kind=score]")
    score.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    foot = page.locator(".wb-foot").bounding_box()
    assert foot
    approve = score.locator(".rt-act").first
    for control in (*score.get_by_role("radio").all(), approve):
        box = control.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 720
        assert box["y"] >= 0 and box["y"] + box["height"] <= foot["y"]
    confirm = page.get_by_role("button", name="Confirm and next").bounding_box()
    assert confirm and confirm["x"] + confirm["width"] <= 720 and confirm["y"] + confirm["height"] <= 450
    text = page.locator(".wb-pane").first.bounding_box()
    assert text and text["y"] < foot["y"] and text["x"] + text["width"] <= 720
    context.close()
