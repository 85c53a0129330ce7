"""Headless Chromium for the tests of what people see: import the fixtures, or name this module as a plugin."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Chromium without its windows comes first: it takes two thirds of the processor time."""
HOW_TO_GET_IT = (
    "browser tests need playwright and Chromium: apt-get install chromium-headless-shell (or chromium)"
)


def find_chromium() -> str | None:
    """The first Chromium on the PATH; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch_chromium() -> Iterator[object]:
    """A Chromium until the generator ends; tests are skipped, saying how to get it, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT)
    path = find_chromium()
    if path is None:
        pytest.skip(HOW_TO_GET_IT)
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        # as long as Playwright's own waits: the default of 5 s is short where two browsers share a busy machine
        playwright.expect.set_options(timeout=30_000)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    """One Chromium for a module; the folders of browser tests have one for all of their modules.

    Not for the session: Playwright keeps an event loop running, in which other modules could start none.
    """
    yield from launch_chromium()


@pytest.fixture(scope="module")
def browser(chromium) -> Iterator[object]:  # type: ignore[no-untyped-def]
    """Chromium, without the pages of the module before."""
    yield chromium
    for context in chromium.contexts:
        context.close()


@pytest.fixture
def page(browser) -> Iterator[object]:  # type: ignore[no-untyped-def]
    """A page in a context of its own (storage, cookies). An error the page does not catch fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context.new_page()
    context.close()
    assert not errors, f"the page threw: {errors}"
