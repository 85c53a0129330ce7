"""Set-up's Crowd people in Chromium: exams that wait, found and admitted together; an owner's preview of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Plan, Standing, StudyState, Terms
from coeval.store.queries import people
from coeval.ui.setup import crowd_people
from coeval.ui.setup.crowd_views import PAGE
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import entry, exams, onboarding, overview, plans
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.ui_steps import enter, settle
from tests.support.serving.server import Running, new_context
from tests.support.studies.crowd_links import link, pid, query
from tests.support.studies.scrutiny_steps import save

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Response

WAITING = 12


class Host:
    """A server with a study whose exam an owner reviews, and twelve people who handed it in."""

    def __init__(self, context: Context, url: str) -> None:
        self.context, self.url, self.number = context, url, 0

    def hand_in(self) -> str:
        """Somebody comes by a link of their own and hands in the exam; gives their name."""
        self.number += 1
        person, _ = entry.arrive(self.context, "demo", link(self.number))
        onboarding.begin(self.context, person, "demo")
        save(self.context, person, get_step(self.context, person, "exam"), 4)
        onboarding.hand_in(self.context, person, "demo", 1)
        return person.name

    def list_states(self) -> list[Standing]:
        return [row.state for row in overview.get_overview(self.context, OPERATOR, "demo").people]


def open_study(context: Context, slug: str = "demo", exam: str = "exam") -> None:
    study = make_study(1)
    run = replace(study.runs[0], drafts=study.runs[0].drafts[:1])
    one = replace(study, criteria=study.criteria[:1], instances=study.instances[:1], runs=(run,))
    for name in (slug, exam):
        import_study(context, OPERATOR, replace(one, task=replace(study.task, slug=name)))
    exams.set_keys(context, OPERATOR, exam, "instance,criterion,accepted\n1a,1,4\n")
    terms = Terms(consent="We ask.", service="prolific", code_done="DONE1", code_declined="NO1", review=True)
    plans.set_plan(context, OPERATOR, slug, Plan(per_instance=50, terms=terms), exam=exam)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    context = new_context(tmp_path_factory.mktemp("people"))
    open_study(context)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowd_people, "REFRESH_SECONDS", 2)
        server = Running(context)
    with server:
        host = Host(context, server.url)
        for _ in range(WAITING):
            host.hand_in()
        yield host


@pytest.fixture(scope="module")
def owner(host: Host, browser: Browser) -> Page:
    """The owner's page at the study's people; the tests go on from each other."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    enter(page, host.url, "Olu")
    page.goto(f"{host.url}/admin/?task=demo&tab=crowd")
    page.get_by_text(f"{WAITING} people wait for a decision").wait_for()
    return page


def test_twelve_exams_that_wait_fit_a_screen_with_what_to_do_about_them(owner: Page) -> None:
    waiting, admit = owner.locator("#crowd-reviews"), owner.locator("#crowd-admit")
    assert waiting.locator("table.compact > tbody > tr").count() == WAITING
    top, bottom = waiting.bounding_box(), admit.bounding_box()
    assert top and bottom and 0 < bottom["y"] + bottom["height"] - top["y"] < 860
    assert owner.evaluate("document.documentElement.scrollWidth <= innerWidth")
    waiting.locator("summary").first.click()
    waiting.get_by_text("Try 1: 1 of 1 right").first.wait_for()
    with owner.expect_response(lambda answer: "/run/predict" in answer.url):
        pass  # the people are read again
    settle(owner)
    assert waiting.locator("details[open]").count() == 1, "who reads the answers is not disturbed"


def test_a_search_by_the_services_id_finds_one(owner: Page) -> None:
    owner.fill("#crowd-find input, #crowd-find textarea", pid(7).upper())
    owner.get_by_text("1 person waits for a decision").wait_for()
    assert owner.locator("#crowd-people-page tbody tr").count() == 1
    owner.fill("#crowd-find input, #crowd-find textarea", "nobody of that name")
    owner.get_by_text("No person matches.").wait_for()
    owner.fill("#crowd-find input, #crowd-find textarea", "")
    owner.get_by_text(f"{WAITING} people wait for a decision").wait_for()


def test_who_begins_to_wait_is_shown_without_a_reload(host: Host, owner: Page) -> None:
    name = host.hand_in()
    owner.get_by_text(f"{WAITING + 1} people wait for a decision").wait_for()
    owner.locator("#crowd-reviews").get_by_text(name, exact=True).wait_for()


def test_all_who_wait_are_chosen_and_admitted_together(host: Host, owner: Page) -> None:
    owner.click("#crowd-waiting")
    owner.locator("#crowd-who .token").nth(WAITING).wait_for()
    owner.fill("#crowd-comment input, #crowd-comment textarea", "read them")
    owner.click("#crowd-admit")
    owner.locator("#crowd-reviews tr").first.wait_for(state="detached")
    assert host.list_states() == [Standing.ADMITTED] * (WAITING + 1)
    assert owner.locator("#crowd-who .token").count() == 0


def test_an_owner_lets_somebody_in_who_asks(host: Host, owner: Page, browser: Browser) -> None:
    worker = browser.new_context().new_page()
    sent = "&".join(f"{name}={value}" for name, value in query(3).items())
    worker.goto(f"{host.url}/s/demo?{sent}")
    worker.get_by_role("button", name="ask to be let in").click()
    number = worker.locator(".code").inner_text()
    owner.locator("#crowd-returning").get_by_text(number).wait_for()  # without a reload
    owner.click("#crowd-let-in")
    owner.locator("#crowd-returning").get_by_text(number).wait_for(state="detached")
    worker.get_by_role("button", name="Check again").click()
    worker.get_by_text("it is shown only now").wait_for()
    worker.get_by_role("link", name="Continue").click()
    worker.get_by_role("link", name="Go to work").wait_for()
    worker.get_by_text("You passed the qualification: 1 of 1 items right.").wait_for()
    worker.context.close()


def test_an_owner_undoes_a_withdrawal(host: Host, owner: Page) -> None:
    with host.context.store.read() as db:
        account = people.get_account(db, "prolific", pid(5))
    assert account
    onboarding.withdraw(host.context, account.person, "demo")
    owner.fill("#crowd-find input, #crowd-find textarea", pid(5))
    owner.locator("#crowd-people-page").get_by_text("withdrawn", exact=True).wait_for()
    owner.click("#crowd-who input")
    owner.get_by_role("option", name=account.person.name).click()
    owner.click("#crowd-undo")
    owner.locator("#crowd-people-page").get_by_text("withdrawn", exact=True).wait_for(state="detached")
    owner.fill("#crowd-find input, #crowd-find textarea", "")
    assert Standing.WITHDRAWN not in host.list_states()


def test_people_stand_in_pages_and_a_tick_sends_changes_only(host: Host, owner: Page) -> None:
    rows = owner.locator("#crowd-people-page tbody tr")
    while len(host.list_states()) <= PAGE:
        host.hand_in()
    owner.get_by_text(f"{len(host.list_states())} submissions, page 1 of 2").wait_for()
    assert rows.count() == PAGE and "review" in rows.first.inner_text(), (
        "who waits for a decision stands first"
    )
    owner.fill("#crowd-page input", "2")
    owner.get_by_text("page 2 of 2").wait_for()
    assert rows.count() == len(host.list_states()) - PAGE
    owner.fill("#crowd-page input", "1")
    owner.get_by_text("page 1 of 2").wait_for()
    settle(owner)
    names = [row.name for row in overview.get_overview(host.context, OPERATOR, "demo").people]
    sizes: list[int] = []

    def weigh(answer: Response) -> None:
        if "/run/predict" in answer.url:
            body = answer.text()
            sizes.append(sum(body.count(name) for name in names))

    owner.on("response", weigh)
    for _ in range(2):  # two ticks, in which nothing happens
        with owner.expect_response(lambda answer: "/run/predict" in answer.url):
            pass
    owner.wait_for_timeout(500)
    owner.remove_listener("response", weigh)
    assert sizes and not any(sizes), "what stands on the page is not sent again"


def test_the_plan_names_its_exam_from_a_list_and_closing_asks_first(host: Host, owner: Page) -> None:
    page = owner
    status = page.locator("#crowd-status")
    status.get_by_text("works on this machine only").wait_for()  # there is no COEVAL_URL
    assert status.locator("code").inner_text().startswith("http://")
    assert "(exam)" in page.locator("#crowd-exam input").input_value()
    page.click("#crowd-exam input")
    page.get_by_role("option", name="None").wait_for()
    page.keyboard.press("Escape")
    page.click("#crowd-closed")
    page.locator("#crowd-question").get_by_text("Close the study? After that, nobody can save").wait_for()
    assert page.locator("#crowd-paused-yes").is_hidden()
    page.click("#crowd-leave")
    page.locator("#crowd-sure").wait_for(state="hidden")
    page.get_by_text("People who do not qualify get no code").wait_for()
    plan = plans.get_plan(host.context, OPERATOR, "demo")
    assert plan and plan.state is StudyState.RUNNING


def list_rows(context: Context) -> list[str]:
    """All that the file holds."""
    with context.store.read() as db:
        return list(db.conn.iterdump())


def test_an_owners_preview_leaves_no_trace(host: Host, browser: Browser) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    enter(page, host.url, "Olu")
    page.goto(f"{host.url}/s/demo")
    rows, cookies = list_rows(host.context), page.context.cookies()
    sent = "&".join(f"{name}={value}" for name, value in query(99).items())
    for address in ("demo", f"demo?{sent}"):  # the page, and the link that people will follow
        page.goto(f"{host.url}/s/{address}")
        page.get_by_text("This is a preview.").wait_for()
        page.get_by_text("You judge texts that were written for this task:").wait_for()
        assert page.locator("main form").count() == 0
    assert list_rows(host.context) == rows and page.context.cookies() == cookies
    page.context.close()


def test_the_right_answers_of_a_failed_exam_fit_a_phone(host: Host, browser: Browser) -> None:
    context = host.context
    open_study(context, "open", "quiz")
    reason = "The reply names each cause of the flood and its place."
    keys = f"instance,criterion,accepted,explanation\n1a,1,4,{reason}\n"
    exams.set_keys(context, OPERATOR, "quiz", keys)
    plan = Plan(per_instance=50, terms=Terms(consent="We ask.", max_tries=1))
    plans.set_plan(context, OPERATOR, "open", plan, exam="quiz")
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    enter(page, host.url, "Bo")
    person, _ = sign_in(context, "Bo")
    onboarding.consent(context, person, "open")
    onboarding.begin(context, person, "open")
    page.goto(f"{host.url}/s/open/work")
    page.locator("#study-help").get_by_text("Skip").wait_for()
    assert not page.get_by_text("shows every key").is_visible()
    save(context, person, get_step(context, person, "quiz"), 1)
    onboarding.hand_in(context, person, "open", 1)
    page.goto(f"{host.url}/s/open")
    box = page.get_by_text(reason).bounding_box()
    assert box and box["width"] > 200 and box["x"] + box["width"] < 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.context.close()
