"""Stored XSS: a study made of nothing but attacks is opened on every screen, and no script of it runs."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.app.agreement.sections import SECTIONS
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from tests.support.screens.ui_steps import enter, settle
from tests.support.serving.server import Running
from tests.support.studies.attack_texts import EVIL, XSS
from tests.support.studies.hostile_study import SLUG, fill


def test_the_payloads_are_many_and_each_is_another() -> None:
    assert len(set(XSS)) == len(XSS) >= 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path: Path = tmp_path_factory.mktemp("xss") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    fill(context, sign_in(context, "Olu")[0], XSS)
    with Running(context) as live:
        yield live


class Watch:
    """A signed-in page, and what an attack would have left behind."""

    def __init__(self, browser: Any, server: Running, name: str) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 900})
        self.url, self.page = server.url, self.context.new_page()
        self.dialogs: list[str] = []
        self.asked: list[str] = []
        self.page.on("dialog", self._on_dialog)
        self.context.on("request", lambda request: self.asked.append(request.url))
        enter(self.page, self.url, name)

    def _on_dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def poke(self) -> None:
        """Open what is folded and move over the page: some attacks wait for that."""
        self.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for x in range(100, 1400, 260):
            self.page.mouse.move(x, 100 + x // 2)
        self.page.wait_for_timeout(300)

    def assert_unharmed(self) -> None:
        self.poke()
        flags = [frame.evaluate("window.__xss ?? null") for frame in self.page.frames]
        assert flags == [None], "a script ran, or a frame was opened"
        assert not self.dialogs
        abroad = [url for url in self.asked if not url.startswith((self.url, "data:", "blob:"))]
        assert not abroad, abroad
        bad = "a[href^='javascript:' i], a[href^='data:' i], a[href^='vbscript:' i], iframe, object, embed, base[href]"
        assert self.page.locator(f"main :is({bad}), body :is({bad})").count() == 0
        handlers = "() => [...document.querySelectorAll('*')].flatMap((node) => [...node.attributes])" + (
            ".filter((one) => one.name.startsWith('on') && one.value.includes('__xss')).length"
        )
        assert self.page.evaluate(handlers) == 0
        assert self.page.locator(f"form[action*='{EVIL}'], img[src*='{EVIL}']").count() == 0


@pytest.fixture
def watch(browser: Any, server: Running) -> Iterator[Watch]:
    made = Watch(browser, server, "Olu")
    yield made
    made.context.close()


def test_the_watch_sees_a_script_that_runs(watch: Watch) -> None:
    """Without this the tests below could not fail."""
    watch.page.goto(f"{watch.url}/help/guide")
    watch.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.__xss=1\">')"
    )
    with pytest.raises(AssertionError, match="a script ran"):
        watch.assert_unharmed()


def test_criteria(watch: Watch) -> None:
    watch.page.goto(f"{watch.url}/?task={SLUG}")
    watch.page.locator("#ballot .rt-row").nth(len(XSS) - 1).wait_for()
    assert XSS[0] in watch.page.locator("#criteria, #tabs").first.inner_text()
    watch.assert_unharmed()


def test_scrutiny(watch: Watch) -> None:
    page = watch.page
    page.goto(f"{watch.url}/?task={SLUG}")
    page.get_by_role("tab", name="Scrutiny").click()
    page.locator("#workbench .rt-row").nth(20).wait_for()
    assert XSS[0] in page.locator("#workbench").inner_text()
    watch.assert_unharmed()
    # what was saved before, and its history
    page.keyboard.press("PageUp")
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    watch.assert_unharmed()


def test_agreement(watch: Watch) -> None:
    page = watch.page
    page.goto(f"{watch.url}/?task={SLUG}")
    page.wait_for_function("document.querySelector('#task-picker input')?.value")
    page.get_by_role("tab", name="Agreement").click()
    page.locator("#agreement-tiles [data-whole='yes']").first.wait_for(state="attached", timeout=60_000)
    for name, label in zip(SECTIONS, page.locator("#agreement-section label").all(), strict=True):
        label.click()
        page.locator(f"#agreement-tiles [data-section='{name}'][data-whole='yes']").wait_for(
            state="attached", timeout=60_000
        )
        watch.assert_unharmed()


def test_set_up(watch: Watch) -> None:
    page = watch.page
    page.goto(f"{watch.url}/admin/?task={SLUG}")
    page.locator("#task-state").get_by_text("instances imported").wait_for()
    tabs = page.locator("#tabs").get_by_role("tab")
    assert tabs.count() >= 5
    for tab in tabs.all():
        tab.click()
        settle(page)
        watch.assert_unharmed()


def test_a_hostile_file_and_its_column_names(watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "hostile <img src=x onerror=window.__xss=1>.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["input", "output", *XSS])
        writer.writerow([*XSS[:2], *XSS])
    page = watch.page
    page.goto(f"{watch.url}/admin/?task={SLUG}")
    page.get_by_role("tab", name="Import").click()
    page.locator("#import-file input[type=file]").set_input_files(path)
    page.locator("#import-note").get_by_text("1 row").wait_for()
    watch.assert_unharmed()


def test_a_name_that_is_a_script_is_only_a_name(browser: Any, server: Running) -> None:
    watch = Watch(browser, server, "<img src=x onerror=window.__xss=1>")
    watch.page.goto(server.url)
    watch.page.locator("#me").get_by_text("onerror").wait_for()
    watch.assert_unharmed()
    watch.page.goto(f"{server.url}/?task=<script>window.__xss=1</script>")
    watch.page.locator("#me").get_by_text("onerror").wait_for()
    watch.assert_unharmed()
    watch.context.close()
