"""Pages of a crowd study in Chromium that no other walk opens: timed out, and the texts before the work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from coeval.domain import Plan, StudyState
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
from tests.support.screens.ui_steps import agree, enter
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import ARABIC_TERMS, import_one_criterion, query

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TERMS = replace(ARABIC_TERMS, code_full="FULL1", code_part="PART1")


class Host:
    """One running server; every test has a study of its own."""

    def __init__(self, context: Context, browser: Browser) -> None:
        self.context, self.browser, self.number = context, browser, 0

    def open_study(self, slug: str, plan: Plan) -> None:
        import_one_criterion(self.context, slug)
        plans.set_plan(self.context, OPERATOR, slug, replace(plan, terms=TERMS))
        self.code = ""

    def come(self, slug: str) -> Page:
        """A person of their own at the study's page, by the service's link."""
        self.number += 1
        page = self.browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        key = plans.get_link(self.context, OPERATOR, slug)
        sent = "&".join(f"{name}={value}" for name, value in query(self.number).items())
        page.goto(f"{self.url}/s/{slug}?{sent}&key={key}")
        return page

    def begin(self, slug: str) -> Page:
        page = self.come(slug)
        self.code = agree(page)
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("link", name="Go to work").click()
        page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
        return page

    def confirm(self, page: Page) -> None:
        """Approve every line of what is on the screen, and confirm."""
        page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
        for key in ("a", "a", "a", "a", "Control+Enter"):
            page.keyboard.press(key)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Host]:
    path = tmp_path_factory.mktemp("pages") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    found = Host(context, browser)
    with Running(context) as server:
        found.url = server.url
        yield found


def test_the_pages_of_a_worker_follow_the_study(host: Host) -> None:
    host.open_study("follows", Plan(per_instance=2, batch=2, quota=4))
    page = host.begin("follows")
    news = page.locator("#study-news")
    for state, said in (
        (StudyState.PAUSED, "The study is paused"),
        (StudyState.RUNNING, ""),
        (StudyState.CLOSED, "accepts no more work"),
    ):
        plans.set_state(host.context, OPERATOR, "follows", state)
        expect(news).to_have_text(re.compile(said or "^$"), timeout=5_000)
    host.confirm(page)  # it is refused, and what was decided stays on the screen
    page.locator(".wb").get_by_text("is closed and accepts no more work").wait_for()
    assert page.locator(".rt-row").count() > 0
    page.get_by_role("link", name="To the study’s page").click()
    page.get_by_text("The study is closed").wait_for()
    plans.set_state(host.context, OPERATOR, "follows", StudyState.RUNNING)
    expect(page.get_by_role("link", name="Go to work")).to_be_visible(timeout=5_000)


def test_a_time_out_is_told_with_a_way_on(host: Host) -> None:
    host.open_study("late", Plan(per_instance=1, batch=2, quota=8))
    page = host.begin("late")
    with host.context.store.write() as db:
        db.conn.execute(
            "UPDATE reservation SET reserved_until = '2020-01-01T00:00:00.000Z' WHERE outcome = ''"
        )
    host.begin("late")  # somebody else asks for work, and the time that ran out is noted
    host.confirm(page)
    page.get_by_text("ran out, and it was given to another person").wait_for()
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Your time for 1 instance ran out").wait_for()


def test_consent_and_guidelines_run_in_their_own_direction_and_are_a_key_away(host: Host) -> None:
    host.open_study("arabic", Plan(per_instance=2, batch=2, quota=4))
    page = host.come("arabic")
    line = page.get_by_text("نحتفظ بما تقرره.")
    assert line.evaluate("node => getComputedStyle(node).direction") == "rtl"
    agree(page)
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("link", name="Go to work").click()
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    page.keyboard.press("g")
    page.get_by_role("region", name="Guidelines").get_by_text("اقرأ كل نص").wait_for()


def test_a_page_of_a_worker_shows_and_does_nothing_for_another_person(host: Host) -> None:
    """The work page became that of the other person, whose score the next key gave; a form dropped the click."""
    told = "You are signed in as another person now"
    host.open_study("mine", Plan(per_instance=2, batch=2, quota=4))
    work = host.begin("mine")
    page = host.come("mine")
    agree(page)
    enter(work, host.url, "Ben")
    host.confirm(work)
    expect(work.locator(".wb-banner")).to_contain_text(told)
    expect(work.locator(".wb-banner")).to_contain_text("Your answer is kept here")
    expect(work.locator("#study-news")).to_contain_text(told)
    enter(page, host.url, "Ben")
    expect(page.locator(".error")).to_contain_text(told)
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("p.lead")).to_contain_text(f"{told}, so nothing was done")
    page.get_by_role("link", name="Go to CoEval").click()
    expect(page.locator("#me")).to_contain_text("Ben")
