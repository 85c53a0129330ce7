"""axe finds no serious fault on any tab of the study app and of Set-up, nor on the pages around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coeval.settings import load_settings
from coeval.store import Store
from coeval.study.access import Context
from coeval.study.importing.demo import ensure_demo
from coeval.study.people.sessions import sign_in
from coeval.ui.setup import setup_page
from coeval.ui.study_app import study_page
from tests.browser.test_access import faults
from tests.support.serving.live_server import LiveServer, start_server
from tests.support.studies.scrutiny_steps import save, walk

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STUDY = tuple(tab.title for tab in study_page.TABS)
SET_UP = tuple(tab.title for tab in setup_page.TABS)
PAGES = ("help/guide", "help/roles", "help/threats", "help/measured")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """The demo, of which two people scrutinised all there is: every chart has something to show."""
    db = tmp_path_factory.mktemp("axe") / "coeval.db"
    context = Context(Store(db), load_settings({}, db=db))
    sign_in(context, "Olu")
    ensure_demo(context)
    for n, name in enumerate(("Olu", "Ana")):
        person = sign_in(context, name)[0]
        for k, step in enumerate(walk(context, person)):
            save(context, person, step, 1 + (k + k % (2 + n)) % 5)
    context.store.close()
    live = start_server(db)
    yield live
    live.stop()


@pytest.fixture(params=["light", "dark"])
def owner(browser: Any, server: LiveServer, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The owner's page, in either theme."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 1000}, color_scheme=request.param, reduced_motion="reduce"
    )
    context.set_default_timeout(20_000)
    page = context.new_page()
    page.goto(f"{server.url}/signin")
    assert faults(page) == []
    page.get_by_label("Your name").fill("Olu")
    page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text("Olu").wait_for()
    yield page
    context.close()


def settle(page: Any) -> None:
    """The stream of events stays open and Set-up asks for progress: the network is never idle."""
    page.wait_for_timeout(800)


def test_every_tab_of_the_study(owner: Any) -> None:
    found = {}
    for name in STUDY:
        owner.get_by_role("tab", name=name, exact=True).click()
        if name == "Agreement":
            owner.locator("#agreement-tiles [data-whole=yes]").wait_for()
        settle(owner)
        found[name] = faults(owner)
    sections = owner.locator("#agreement-bar input[type=radio]")
    for n in range(1, sections.count()):
        name = str(sections.nth(n).get_attribute("value"))
        sections.nth(n).check(force=True)
        owner.locator(f"#agreement-tiles [data-section='{name}'][data-whole=yes]").wait_for(state="attached")
        settle(owner)
        found[f"Agreement, {name}"] = faults(owner)
    assert not any(found.values()), {name: one for name, one in found.items() if one}


def test_every_tab_of_set_up(owner: Any, server: LiveServer) -> None:
    owner.goto(f"{server.url}/admin/")
    owner.get_by_role("tab", name="Tasks", exact=True).wait_for()
    found = {}
    for name in SET_UP:
        owner.get_by_role("tab", name=name, exact=True).click()
        settle(owner)
        found[name] = faults(owner)
    assert not any(found.values()), {name: one for name, one in found.items() if one}


def test_the_pages_of_help(owner: Any, server: LiveServer) -> None:
    for path in PAGES:
        owner.goto(f"{server.url}/{path}")
        assert faults(owner) == []
