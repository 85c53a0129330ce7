"""axe finds no serious fault on any tab of the study app and of Set-up, nor on the pages around them.

What surrounds the tabs is looked at with the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from coeval.extending import load_parts
from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui import gradio_pages
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import ensure_demo
from tests.support.screens.axe import PANEL, faults, faults_in_both_themes
from tests.support.screens.ui_steps import enter, settle
from tests.support.serving.server import Running
from tests.support.studies.scrutiny_steps import save, walk

STUDY = {tab.title: tab.id for tab in (*gradio_pages.STUDY_TABS, *load_parts("study_tabs"))}
SET_UP = {tab.title: tab.id for tab in (*gradio_pages.SETUP_TABS, *load_parts("setup_pages"))}
PAGES = ("signin", "help/annotate", "help/guide", "help/roles", "help/threats", "help/crowd")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The demo, of which two people scrutinised all there is: every chart has something to show."""
    db = tmp_path_factory.mktemp("axe") / "coeval.db"
    context = Context(Store(db), load_settings({}, db=db))
    sign_in(context, "Olu")
    ensure_demo(context)
    for n, name in enumerate(("Olu", "Ana")):
        person = sign_in(context, name)[0]
        for k, step in enumerate(walk(context, person)):
            save(context, person, step, 1 + (k + k % (2 + n)) % 5)
    with Running(context) as live:
        yield live


@dataclass(frozen=True)
class Owner:
    """The owner's page."""

    page: Any
    url: str

    def faults(self, within: str = "() => document") -> list[str]:
        settle(self.page)
        return faults_in_both_themes(self.page, within)

    def faults_opened_in_the_dark(self, address: str, wait_for: str) -> list[str]:
        """Those of a page that is dark from its start, once ``wait_for`` is there."""
        self.page.emulate_media(color_scheme="dark")
        self.page.goto(f"{self.url}/{address}")
        self.page.locator(f"body.dark {wait_for}").wait_for()
        settle(self.page)
        return faults(self.page, "dark")

    def open_tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()


@pytest.fixture
def owner(browser: Any, server: Running) -> Iterator[Owner]:
    context = browser.new_context(
        viewport={"width": 1440, "height": 1000}, color_scheme="light", reduced_motion="reduce"
    )
    page = context.new_page()
    enter(page, server.url, "Olu")
    yield Owner(page, server.url)
    context.close()


def test_every_tab_of_the_study(owner: Owner) -> None:
    page, by_tab = owner.page, {}
    for name, at in STUDY.items():
        page.goto(f"{owner.url}/?tab={at}")
        page.locator("#me").get_by_text("Olu").wait_for()
        owner.open_tab(name)
        if name == "Agreement":
            page.locator("#agreement-tiles [data-whole=yes]").wait_for()
        if name == "Judge":
            page.locator("#judge-seal p").first.wait_for()
        by_tab[name] = owner.faults(*([PANEL] if by_tab else []))
    owner.open_tab("Agreement")
    page.locator("#agreement-tiles [data-whole=yes]").wait_for()
    sections = page.locator("#agreement-bar input[type=radio]")
    for n in range(1, sections.count()):
        name = str(sections.nth(n).get_attribute("value"))
        sections.nth(n).check(force=True)
        page.locator(f"#agreement-tiles [data-section='{name}'][data-whole=yes]").wait_for(state="attached")
        by_tab[f"Agreement, {name}"] = owner.faults(PANEL)
    tiles = "#agreement-tiles [data-whole=yes]"
    by_tab["opened in the dark"] = owner.faults_opened_in_the_dark("?tab=agreement", tiles)
    assert not any(by_tab.values()), {name: told for name, told in by_tab.items() if told}


def test_every_tab_of_set_up(owner: Owner) -> None:
    owner.page.goto(f"{owner.url}/admin/")
    owner.page.get_by_role("tab", name="Tasks", exact=True).wait_for()
    by_tab = {}
    for name, at in SET_UP.items():
        tab = owner.page.get_by_role("tab", name=name, exact=True)
        if not tab.count():  # a tool: listed once it is turned on, or by its address
            owner.page.goto(f"{owner.url}/admin/?tab={at}")
            tab.wait_for()
        tab.click()
        by_tab[name] = owner.faults(*([PANEL] if by_tab else []))
    by_tab["opened in the dark"] = owner.faults_opened_in_the_dark("admin/?tab=tasks", "#task-state .card")
    assert not any(by_tab.values()), {name: told for name, told in by_tab.items() if told}


def test_the_pages_around(owner: Owner) -> None:
    for path in PAGES:
        owner.page.goto(f"{owner.url}/{path}")
        assert owner.faults() == [], path
