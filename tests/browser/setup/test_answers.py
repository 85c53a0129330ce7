"""Set-up in Chromium at 1280x720: the answer to a button is on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.ui.gradio_pages import SETUP_TABS
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, settle
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect
pytestmark = [pytest.mark.browser, pytest.mark.slow]

WATCH = """() => {
  window.answers = new Set();
  const watcher = new MutationObserver((changes) => {
    for (const { target } of changes) {
      const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
      const answer = element?.closest('.coeval-view, .toast-wrap, .toast-body')
        ?? element?.querySelector(':scope .toast-body');
      if (answer) window.answers.add(answer);
    }
  });
  watcher.observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
"""Notes which views and messages change from now on."""

ANSWERS = """() => {
  const seen = (node) => {
    const { top, bottom } = node.getBoundingClientRect();
    return top >= 40 && Math.min(bottom, top + 60) <= innerHeight + 1;
  };
  const shown = [...window.answers].filter((node) => node.isConnected && node.getClientRects().length);
  const told = shown.flatMap((node) => [...node.querySelectorAll('[role=alert], [role=status], .banner')]);
  const places = (told.length ? told : shown);
  return { changed: places.length, on_screen: places.filter(seen).length };
}"""
"""How many answers there are (refusals and notes before other changes), and how many of them are on the screen."""

FILE = "question,answer\nWhy is the sky blue?,It scatters light.\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(new_context(tmp_path_factory.mktemp("answers"), demo=True)) as live:
        yield live


@pytest.fixture
def owner(page: Any, server: Running) -> Any:
    page.set_default_timeout(20_000)
    expect.set_options(timeout=20_000)
    page.set_viewport_size({"width": 1280, "height": 720})
    enter(page, server.url, "Owner")
    return page


def open_tab(page: Any, server: Running, tab: str) -> list[str]:
    """Open a tab of Set-up with everything on it; gives the ids of its buttons."""
    page.goto(f"{server.url}/admin/?task=demo&tab={tab}")
    expect(page.locator("#task-picker input")).to_have_value("Reply to a neighbour's message")
    settle(page)
    page.evaluate(
        "document.querySelectorAll('.tabitem .label-wrap:not(.open)').forEach((one) => one.click())"
    )
    settle(page)
    script = """() => [...document.querySelectorAll('.tabitem button[id]')]
        .filter((one) => one.getClientRects().length && !one.disabled).map((one) => one.id)"""
    return list(page.evaluate(script))


def press(page: Any, button: str) -> dict[str, int]:
    """Press a button that stands at the foot of the screen; gives its answers after some seconds at most."""
    at = page.locator(f"#{button}")
    for close in page.locator(".toast-close").all():
        close.click()
    page.locator(".toast-body").first.wait_for(state="detached")
    at.evaluate("(one) => one.scrollIntoView({ block: 'end' })")
    page.evaluate(WATCH)
    at.click()
    found: dict[str, int] = {}
    for _ in range(40):
        page.wait_for_timeout(100)
        found = page.evaluate(ANSWERS)
        if found["on_screen"]:
            return found
    return found


@pytest.mark.parametrize("tab", [kind.id for kind in SETUP_TABS])
def test_the_answer_to_a_button_is_on_the_screen(owner: Any, server: Running, tab: str) -> None:
    unseen = []
    for button in open_tab(owner, server, tab):
        at = owner.locator(f"#{button}")
        if at.is_visible() and at.is_enabled():
            found = press(owner, button)
            if not found["changed"]:  # another button gave this answer before: the page does not change
                open_tab(owner, server, tab)
                found = press(owner, button)
            if not found["on_screen"]:
                unseen.append((button, found))
    assert not unseen


def test_refusal_and_success_of_an_import_are_on_the_screen(
    owner: Any, server: Running, tmp_path: Path
) -> None:
    page = owner
    path = tmp_path / "answers.csv"
    path.write_text(FILE, encoding="utf-8")
    open_tab(page, server, "import")
    page.locator("#import-file input[type=file]").set_input_files(path)
    page.locator("#import-note").get_by_text("Check under Columns which column holds what").wait_for()
    settle(page)
    assert press(page, "import-go")["on_screen"]
    expect(page.locator("#import-note [role=alert]")).to_be_in_viewport()
    page.locator("#import-description textarea").fill("Answer a question.")
    assert press(page, "import-go")["on_screen"]
    expect(page.locator("#import-note [role=status]")).to_be_in_viewport()
