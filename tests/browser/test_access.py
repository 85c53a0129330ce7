"""Usable by everyone: axe finds no serious fault, roles and states are there, a phone's width holds it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.ui_steps import press
from tests.support.ui_study import CRITERIA, make_instance

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.ui_harness import Harness

pytest_plugins = ["tests.support.ui_harness"]
pytestmark = pytest.mark.browser


def faults(page: Page) -> list[str]:
    """What axe calls serious or critical, with the nodes it names."""
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="pip install axe-core-python").Axe()
    found: list[dict[str, Any]] = axe.run(page)["violations"]
    return [
        f"{one['id']}: {[node['html'][:120] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def working(page: Page, harness: Harness) -> None:
    """Every kind of line: approved, scored anew, revised, deleted, added; a mark lit and one not."""
    harness.open_bench(page)
    press(page, "f", "a", "3", "r", "Control+A")
    page.keyboard.type("“herbs” is fine")
    press(page, "Escape", "ArrowDown", "d", "e")
    page.keyboard.type("“bottle”")
    page.wait_for_timeout(300)


def blind(page: Page, harness: Harness) -> None:
    harness.study.blind = {1}
    harness.open_bench(page)


def unscored(page: Page, harness: Harness) -> None:
    harness.study.unscored = {1}
    harness.open_bench(page)


def offline(page: Page, harness: Harness) -> None:
    harness.open_bench(page)
    press(page, "a", "a", "a", "a", "a")
    harness.study.fail = 503
    press(page, "Control+Enter")
    page.get_by_text("Offline, kept here").wait_for()


def conflict(page: Page, harness: Harness) -> None:
    harness.open_bench(page)
    press(page, "a", "3", "a", "a", "d")
    body = {
        "uid": "x",
        "instance": 1,
        "criterion": 1,
        "revision": 0,
        "filter": "all",
        "rows": [],
        "added": [],
        "score": 1,
    }
    harness.study.submit(body)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="There are two versions").wait_for()


def ended(page: Page, harness: Harness) -> None:
    harness.study.instances = []
    harness.open_bench(page, state="end")


def keys(page: Page, harness: Harness) -> None:
    harness.open_bench(page)
    press(page, "?")


def guidelines(page: Page, harness: Harness) -> None:
    harness.study.display = "markdown"
    harness.open_bench(page)
    press(page, "g")


STATES = [working, blind, unscored, offline, conflict, ended, keys, guidelines]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_axe_finds_no_serious_fault(
    page: Page, harness: Harness, state: Callable[..., None], theme: str
) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
    state(page, harness)
    assert faults(page) == []


def test_the_theme_of_gradio_wins_over_the_systems(page: Page, harness: Harness) -> None:
    ground = "() => getComputedStyle(document.querySelector('.ce-card')).backgroundColor"
    harness.open_bench(page)
    light = page.evaluate(ground)
    page.evaluate("document.body.classList.add('dark')")
    dark = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    page.evaluate("document.body.classList.remove('dark')")
    assert page.evaluate(ground) == dark != light
    page.evaluate("document.body.append(document.createElement('gradio-app'))")
    assert page.evaluate(ground) == light


def test_roles_states_and_announcements(page: Page, harness: Harness) -> None:
    harness.open_bench(page)
    live = page.locator(".wb > .ce-sr[role=status]")
    assert live.inner_text() == f"Instance 1 of 3, criterion 1 of 2: {CRITERIA[0]}"
    open_ = page.get_by_role("group", name="Conclusion to decide: It does not satisfy")
    open_.get_by_role("radiogroup", name="Decision on Conclusion").get_by_role(
        "radio", name="Approve"
    ).click()
    decided = page.get_by_role("group", name="Conclusion approved: It does not satisfy")
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


def test_every_line_has_one_tab_stop_for_its_decision(page: Page, harness: Harness) -> None:
    harness.open_bench(page)
    stops = page.locator(".rt-row .rt-group").evaluate_all(
        "groups => groups.map((group) => group.querySelectorAll('[role=radio][tabindex=\"0\"]').length)"
    )
    assert stops == [
        1,
        0,
        1,
        1,
        1,
    ]  # the score's decision is the score itself; its two buttons are plain ones


def test_a_phone_holds_it_all(page: Page, harness: Harness) -> None:
    harness.study.instances = [make_instance(1, "Long" * 400 + " word " * 300)]
    page.set_viewport_size({"width": 390, "height": 844})
    working(page, harness)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = """() => [...document.querySelectorAll('.rt-act, .rt-step, .wb-foot button')]
        .filter((node) => node.getClientRects().length)
        .filter((node) => node.getBoundingClientRect().width < 40 || node.getBoundingClientRect().height < 34)
        .map((node) => node.outerHTML.slice(0, 80))"""
    assert page.evaluate(small) == []
    confirm = page.get_by_role("button", name="Confirm and next").bounding_box()
    assert confirm and confirm["y"] + confirm["height"] <= 844
