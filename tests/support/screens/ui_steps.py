"""What the browser tests do and look at again and again."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.support.screens.bench import Bench


def enter(page: Page, url: str, name: str) -> None:
    """Sign in by name without opening a page: the form itself is tested in ``test_doors``."""
    answer = page.context.request.post(f"{url}/signin", form={"name": name}, max_redirects=0)
    assert answer.status == 303, answer.text()


def agree(page: Page) -> str:
    """Agree to take part, read the return code that is shown this once, and go on; gives the code."""
    page.get_by_role("button", name="I agree").click()
    page.get_by_text("it is shown only now").wait_for()
    code = page.locator(".code").inner_text()
    page.get_by_role("link", name="Continue").click()
    return code


def confirm(page: Page) -> None:
    """Approve every line of the evaluation on the screen, and wait until it is saved."""
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    with page.expect_response(lambda answer: answer.url.endswith("/submissions") and answer.ok):
        press(page, "a", "a", "a", "a", "Control+Enter")


OPENED = """() => {
    const tab = new URL(location.href).searchParams.get('tab');
    const chosen = document.querySelector('#tabs [role=tab][aria-selected=true]');
    return window.coevalStarted && chosen && (!tab || chosen.dataset.tabId === tab);
}"""
"""Whether the page shows the tab of its address: before that it shows the first."""


def unfold(page: Page, name: str = "More settings") -> None:
    """Open what a page has folded away; what is open stays so."""
    page.wait_for_function(OPENED)
    fold = page.get_by_role("button", name=name, exact=True).locator("visible=true").first
    fold.wait_for()
    if "open" not in str(fold.get_attribute("class")).split():
        fold.click()
        settle(page)  # what is typed into a field that is just being drawn is lost


def use_crowd(page: Page) -> None:
    """Turn the crowd on for a task without a plan, with every setting in sight."""
    page.get_by_role("button", name="Use a crowd").click()
    page.get_by_text("Everyone on the team gets every instance").wait_for()
    unfold(page)


def settle(page: Page) -> None:
    """Wait until the page has not changed for a while, at most some seconds: Set-up's clocks tick on."""
    page.evaluate(
        """() => new Promise((resolve) => {
        let quiet = setTimeout(resolve, 250);
        const watcher = new MutationObserver(() => { clearTimeout(quiet); quiet = setTimeout(resolve, 250) });
        watcher.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
        setTimeout(resolve, 3000);
    })"""
    )


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


@contextmanager
def held_back(page: Page, address: str) -> Iterator[list[Any]]:
    """Hold the requests to an address back until the block has ended, and then send the first; gives all of them."""
    asked: list[Any] = []
    page.route(address, lambda route: asked.append(route))
    yield asked
    page.wait_for_timeout(50)
    page.unroute(address)
    asked[0].fallback()


def wait_a_while(page: Page) -> Iterator[None]:
    """Yield again and again, as long as a busy machine may take to change a page."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        yield
        page.wait_for_timeout(10)


def wait_saved(page: Page, bench: Bench, count: int) -> None:
    """Wait until ``count`` submissions are saved, and the screen says so and takes decisions again, or is at its end.

    The next instance is on screen before its save is answered, so the file alone tells a test nothing of the page.
    """
    for _ in wait_a_while(page):
        locked = page.locator(".wb[data-state=step] .rt-act:disabled").count()
        told = page.locator(".wb[data-state=end], .wb-status:text-matches('^Saved ')").count()
        if len(bench.saved()) >= count and not locked and told:
            return
    raise AssertionError(f"{len(bench.saved())} of {count} submissions were saved")


def focused(page: Page) -> str:
    """The label of the row, box or button that has the focus."""
    script = """() => {
        const at = document.activeElement;
        const row = at.matches('.rt-row') && at.querySelector('.rt-label span');
        return row ? row.textContent : at.ariaLabel ?? at.textContent;
    }"""
    return str(page.evaluate(script))


def current(page: Page) -> tuple[str, str]:
    """Position and criterion on screen."""
    return page.locator(".wb-jump").input_value(), page.locator(
        ".wb-chip[aria-current]"
    ).inner_text().split()[0]


def at_step(page: Page, position: str, criterion: str) -> None:
    """Wait until that position and criterion are on screen, and the save before them is answered."""
    for _ in wait_a_while(page):
        if current(page) == (position, criterion) and not page.locator(".wb[data-saving]").count():
            return
    raise AssertionError(f"the screen shows {current(page)}, not {(position, criterion)}")
