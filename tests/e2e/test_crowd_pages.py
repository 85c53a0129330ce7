"""The endings of a crowd study in Chromium: full, paused, closed while working, blocked, timed out, withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Plan, StudyState
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import exams, plans
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.ui_steps import agree
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import ARABIC_TERMS, query

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TERMS = replace(
    ARABIC_TERMS, code_full="FULL1", code_part="PART1", code_blocked="BLOCK1", warn_after=5, block_after=1
)


class Host:
    """One running server; every test has a study of its own."""

    def __init__(self, context: Context, browser: Browser) -> None:
        self.context, self.browser, self.number = context, browser, 0

    def open_study(self, slug: str, plan: Plan, n_documents: int = 2) -> None:
        study = make_study(n_documents)
        one = study.criteria[:1]
        drafts = tuple(draft for draft in study.runs[0].drafts if draft.criterion == one[0].text)
        run = replace(study.runs[0], drafts=drafts)
        task = replace(study.task, slug=slug)
        import_study(self.context, OPERATOR, replace(study, task=task, criteria=one, runs=(run,)))
        plans.set_plan(self.context, OPERATOR, slug, replace(plan, terms=TERMS))
        self.code = ""

    def come(self, slug: str) -> Page:
        """A person of their own at the study's page, by the service's link."""
        self.number += 1
        page = self.browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.set_default_timeout(30_000)
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


def code_of(page: Page) -> str:
    page.locator(".code").wait_for()
    return page.locator(".code").inner_text()


def test_the_end_comes_by_itself_with_the_code_and_the_study_is_full(host: Host) -> None:
    host.open_study("full", Plan(per_instance=1, batch=2, quota=2), n_documents=1)
    page = host.begin("full")
    for _ in range(2):
        host.confirm(page)
        page.wait_for_timeout(300)
    assert code_of(page) == "DONE1" and page.url.endswith("/s/full")
    assert page.get_by_role("link", name="Return to Prolific").get_attribute("href").endswith("cc=DONE1")  # type: ignore[union-attr]
    page.get_by_role("link", name="Review your saved work").click()
    page.locator(".wb[data-state=step]").wait_for()  # saved work is shown, and not passed by
    late = host.come("full")
    late.get_by_text("This study is full").wait_for()
    assert code_of(late) == "FULL1" and late.get_by_role("button").count() == 0


def test_paused_after_a_batch_one_waits_or_ends_with_the_code(host: Host) -> None:
    host.open_study("paused", Plan(per_instance=2, batch=1, quota=4))
    page = host.begin("paused")
    plans.set_state(host.context, OPERATOR, "paused", StudyState.PAUSED)
    host.confirm(page)
    page.get_by_text("The study is paused").wait_for()
    page.get_by_role("link", name="Check again").click()
    page.get_by_role("button", name="Finish here and get my code").click()
    assert code_of(page) == "PART1"  # the full code is for four instances
    page.get_by_text("is for 4 instances; you finished 1").wait_for()


def test_closed_while_working_keeps_the_text_and_gives_the_code(host: Host) -> None:
    host.open_study("closed", Plan(per_instance=2, batch=2, quota=4))
    page = host.begin("closed")
    host.confirm(page)
    page.locator(".wb-jump").wait_for()
    page.wait_for_timeout(500)
    plans.set_state(host.context, OPERATOR, "closed", StudyState.CLOSED)
    host.confirm(page)
    page.get_by_text("is closed and accepts no more work").wait_for()
    assert page.locator(".rt-row").count() > 0  # what was decided still stands on the screen
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("The study is closed").wait_for()
    assert code_of(page) == "PART1"
    late = host.come("closed")
    late.get_by_text("This study is closed").wait_for()


def test_failed_checks_end_the_part_with_a_page_of_its_own(host: Host) -> None:
    host.open_study("blocked", Plan(per_instance=2, batch=1, quota=4), n_documents=3)
    keys = "instance,criterion,accepted\n" + "".join(f"{name},1,1\n" for name in ("1a", "1b", "2a"))
    exams.set_keys(host.context, OPERATOR, "blocked", keys)  # the drafts say 4, and are approved
    page = host.begin("blocked")
    for _ in range(3):  # the first instance alone, then one with a check
        host.confirm(page)
        page.wait_for_timeout(500)
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Your part in this study has ended").wait_for()
    assert code_of(page) == "BLOCK1"


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


def test_withdrawing_says_what_is_deleted_and_does_it(host: Host) -> None:
    host.open_study("leave", Plan(per_instance=2, batch=2, quota=4))
    page = host.begin("leave")
    host.confirm(page)
    page.wait_for_timeout(500)
    page.click("#to-study")
    page.get_by_role("link", name="I no longer want to take part").click()
    page.get_by_text("1 evaluation from you").wait_for()
    page.get_by_label("Your return code").fill(host.code)
    page.get_by_role("button", name="Withdraw and delete").click()
    page.get_by_text("your data is no longer part of the study").wait_for()
    assert code_of(page) == "NO1"
    other = host.come("leave")
    other.get_by_role("button", name="I do not agree").click()
    other.get_by_text("Nothing was saved about you").wait_for()
    assert code_of(other) == "NO1"


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
