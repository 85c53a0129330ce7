"""A crowd study from its plan to its people in Chromium: saving, running, and excluding one of two submissions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Plan, Proof, Standing, Terms
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import entry, onboarding, overview, plans
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.ui_steps import enter, use_crowd
from tests.support.serving.server import Running, new_context
from tests.support.studies.crowd_links import link, sealed
from tests.usecases.crowd.test_assignment import work

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TERMS = Terms(service="prolific", code_done="DONE1", proof=Proof.TOKEN)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    context = new_context(tmp_path_factory.mktemp("run"))
    import_study(context, OPERATOR, make_study(3))
    return context


@pytest.fixture(scope="module")
def server(context: Context) -> Iterator[Running]:
    with Running(context) as server:
        yield server


def open_page(browser: Browser, server: Running, name: str) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    enter(page, server.url, name)
    return page


def test_saving_changes_nothing_for_the_team_and_run_asks_first(
    server: Running, context: Context, browser: Browser
) -> None:
    owner, member = (open_page(browser, server, name) for name in ("Olu", "Ana"))
    work_page = f"{server.url}/?task=demo&tab=scrutiny"

    def can_work(page: Page) -> bool:
        page.goto(work_page)
        page.locator(".wb[data-state=step]").or_(page.get_by_text("on the study's page")).first.wait_for()
        return page.locator(".wb[data-state=step]").count() == 1

    owner.goto(f"{server.url}/admin/?task=demo&tab=crowd")
    use_crowd(owner)
    owner.fill("#crowd-done textarea, #crowd-done input", "DONE1")
    owner.get_by_label("Prolific links", exact=True).check()
    owner.fill("#crowd-rate input", "12")
    owner.click("#crowd-save")
    owner.get_by_text("Nothing changes for the team until you press Run.").wait_for()
    assert owner.locator("#crowd-paused").is_hidden() and owner.locator("#crowd-closed").is_hidden()
    assert can_work(member)
    owner.click("#crowd-running")
    question = owner.locator("#crowd-question")
    question.get_by_text("Participants from Prolific can join by its address").wait_for()
    question.get_by_text("Ana now work on this task as the team").wait_for()
    question.get_by_text("at 12 GBP an hour").wait_for()
    owner.click("#crowd-leave")
    owner.locator("#crowd-sure").wait_for(state="hidden")
    assert can_work(member)
    owner.click("#crowd-running")
    owner.click("#crowd-running-yes")
    owner.locator("#crowd-status").get_by_text("The study is running.").wait_for()
    assert not can_work(member)
    assert can_work(owner)
    for page in (owner, member):
        page.context.close()


def test_an_owner_excludes_one_of_two_submissions(
    server: Running, context: Context, browser: Browser
) -> None:
    plans.set_plan(context, OPERATOR, "demo", Plan(per_instance=9, batch=2, quota=2, terms=TERMS))
    for session in ("one", "two"):
        arriving = sealed(context, "demo", link(1, study=session, session=session))
        person, _ = entry.arrive(context, "demo", arriving)
        if onboarding.is_at_start(context, person, "demo"):
            onboarding.begin(context, person, "demo")
        assert len(work(context, person)) == 2
    owner = open_page(browser, server, "Olu")
    owner.goto(f"{server.url}/admin/?task=demo&tab=crowd")
    owner.click("#crowd-who input")
    owner.get_by_role("option", name=f"{person.name} (all 2 submissions)").wait_for()
    owner.get_by_role("option", name=f"{person.name} (finished, study one)").click()
    owner.keyboard.press("Escape")
    owner.fill("#crowd-comment textarea, #crowd-comment input", "Did not read.")
    owner.click("#crowd-reject")
    owner.locator("#crowd-people-page").get_by_text("rejected").first.wait_for()
    states = [row.state for row in overview.get_overview(context, OPERATOR, "demo").people]
    assert states == [Standing.REJECTED, Standing.FINISHED]
    owner.context.close()


def test_cost_and_minutes_follow_the_form_and_warnings_look_like_warnings(
    server: Running, browser: Browser
) -> None:
    owner = open_page(browser, server, "Olu")
    owner.goto(f"{server.url}/admin/?task=demo&tab=crowd")
    use = owner.get_by_role("button", name="Use a crowd")
    owner.locator("#crowd-k input").or_(use).locator("visible=true").first.wait_for()
    if use.is_visible():
        use.click()
    estimate = owner.locator("#crowd-estimate")
    estimate.get_by_text("Still needed:").wait_for()
    owner.locator("#crowd-k input").fill("4")
    estimate.get_by_text("each of 4 people").wait_for()
    owner.locator("#crowd-rate input").fill("12")
    estimate.get_by_text("at 12 GBP an hour").wait_for()
    owner.get_by_role("button", name="Save the plan").click()
    warning = owner.locator("#crowd-status .warn").first
    warning.get_by_text("works on this machine only").wait_for()
    colours = (
        "node => [getComputedStyle(node).backgroundColor, getComputedStyle(document.body).backgroundColor]"
    )
    mine, page = warning.evaluate(colours)
    assert mine not in (page, "rgba(0, 0, 0, 0)")
