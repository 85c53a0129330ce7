"""A crowd study from its plan to its people in Chromium: saving, running, and excluding one of two submissions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Plan, Proof, Standing, Terms
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import entry, onboarding, overview, plans
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import set_tool
from tests.conftest import make_study
from tests.support.screens.ui_steps import OPENED, enter, unfold, use_crowd
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
        page.locator(".wb[data-state=step]").or_(page.get_by_text("the team's part is over")).first.wait_for()
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
    question.get_by_text("Ana now works on this task as the team").wait_for()
    question.get_by_text("The team's part then ends").wait_for()
    question.get_by_text("at 12 GBP an hour").wait_for()
    owner.click("#crowd-leave")
    owner.locator("#crowd-sure").wait_for(state="hidden")
    assert can_work(member)
    owner.click("#crowd-running")
    owner.click("#crowd-running-yes")
    owner.get_by_text("The study is running.").wait_for()
    assert not can_work(member)
    assert can_work(owner)
    # with a sign-in, the same page leads the member to the study, where the work goes on
    running = plans.get_plan(context, OPERATOR, "demo")
    assert running is not None
    terms = replace(running.terms, service="", proof=Proof.NONE)
    plans.set_plan(context, OPERATOR, "demo", replace(running, per_instance=2, terms=terms))
    member.reload()
    member.get_by_role("link", name="To the study’s page").click()
    member.get_by_role("button", name="I agree to take part").click()
    begin = member.get_by_role("button", name="Begin").or_(member.locator(".wb[data-state=step]"))
    begin.first.wait_for()
    plans.set_plan(context, OPERATOR, "demo", running)
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
    owner.get_by_text(re.compile(r"once for each person: \d+\. Pay")).wait_for()
    owner.click("#crowd-who input")
    owner.get_by_role("option", name=f"{person.name} (all 2 submissions)").wait_for()
    owner.get_by_role("option", name=f"{person.name} (finished, study one)").click()
    owner.keyboard.press("Escape")
    owner.fill("#crowd-comment textarea, #crowd-comment input", "Did not read.")
    owner.click("#crowd-reject")
    owner.locator("#crowd-people-page").get_by_text("rejected").first.wait_for()
    rows = overview.get_overview(context, OPERATOR, "demo").people
    states = [row.state for row in rows if row.participant.name == person.name]
    assert states == [Standing.REJECTED, Standing.FINISHED]
    owner.context.close()


def test_cost_and_minutes_follow_the_form_and_warnings_look_like_warnings(
    server: Running, context: Context, browser: Browser
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
    # only Prolific signs its links: with other links, a secret takes the place of that in the closed settings
    owner.locator("#crowd-service").get_by_text("Mechanical Turk").wait_for()
    owner.get_by_label("Links with ids", exact=True).check()
    owner.get_by_role("button", name="Save the plan").click()
    owner.locator("#crowd-status").get_by_text("workerId=").wait_for()
    stored = plans.get_plan(context, OPERATOR, "demo")
    assert stored is not None and stored.terms.proof == Proof.LINK
    warning = owner.locator("#crowd-status .warn").first
    warning.get_by_text("works on this machine only").wait_for()
    colours = (
        "node => [getComputedStyle(node).backgroundColor, getComputedStyle(document.body).backgroundColor]"
    )
    mine, page = warning.evaluate(colours)
    assert mine not in (page, "rgba(0, 0, 0, 0)")


def test_answer_keys_belong_to_the_chosen_task_and_need_no_plan(
    server: Running, context: Context, browser: Browser
) -> None:
    """The keys of an exam stayed in the box of the next task, and "Use a crowd" had to be pressed for an exam."""
    study = make_study(2)
    import_study(context, OPERATOR, replace(study, task=replace(study.task, slug="exam", name="Exam")))
    owner = open_page(browser, server, "Olu")
    set_tool(context, OPERATOR, "exam", "crowd", on=True)
    owner.goto(f"{server.url}/admin/?task=exam&tab=crowd")
    owner.get_by_role("button", name="Use a crowd").wait_for()
    unfold(owner, "Answer keys")
    box = owner.locator("#crowd-keys textarea")
    assert "The summary names each cause" in (box.get_attribute("placeholder") or "")
    owner.get_by_text("the numbers of the drafted lines that a person has to delete").wait_for()
    named = study.instances[0].external_id
    box.fill(f"instance,criterion,accepted,must,explanation\n{named},1,4 5,,Both causes.\n")
    owner.click("#crowd-keys-save")
    owner.get_by_text("1 answer key is set.").wait_for()
    owner.goto(f"{server.url}/admin/?task=demo&tab=crowd")
    owner.wait_for_function(OPENED)
    unfold(owner, "Answer keys")
    assert box.input_value() == ""
    owner.locator("#task-picker input").click()
    owner.get_by_role("option", name="Exam").click()
    owner.wait_for_function(
        "document.querySelector('#crowd-keys textarea').value.includes('1,4 5,,Both causes.')"
    )
    owner.context.close()
