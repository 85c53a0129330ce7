"""A whole hosted study in Chromium, with accounts: an owner comes by an invitation link and gives the study out, and
people come by Prolific's links or by invitation; it ends as full, paused, closed while working and blocked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Plan, Role, Terms
from coeval.settings import SignIn, load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import build_link, invite
from coeval.usecases.crowd import exams, plans
from tests.support.screens.ui_steps import agree, use_crowd
from tests.support.serving.live_server import free_port
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import import_one_criterion, query

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PASSWORD = "correct horse battery"
CODES = Terms(consent="We ask.", code_done="DONE1", code_full="FULL1", code_blocked="BLOCK1")


class Host:
    """A server with accounts; each person has a browser of their own."""

    def __init__(self, context: Context, browser: Browser) -> None:
        self.context, self.browser, self.number = context, browser, 0
        self.url = context.settings.public_url

    def open_page(self) -> Page:
        page = self.browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(90_000)
        return page

    def take_up(self, role: Role, name: str) -> Page:
        """Somebody who took up an invitation."""
        page = self.open_page()
        page.goto(build_link(self.context.settings, invite(self.context, OPERATOR, role)))
        page.get_by_label("Your name").fill(name)
        page.get_by_label("Choose a password").fill(PASSWORD)
        page.get_by_role("button", name="Continue").click()
        page.get_by_text(f"{name} · {role}").wait_for()
        return page

    def come(self, slug: str, service: str) -> Page:
        """Somebody new at the study's page, by Prolific's link, or by an invitation and the study's address."""
        self.number += 1
        if service:
            page = self.open_page()
            sent = "&".join(f"{name}={value}" for name, value in query(self.number).items())
            page.goto(f"{self.url}/s/{slug}?{sent}&key={plans.get_link(self.context, OPERATOR, slug)}")
            return page
        page = self.take_up(Role.ANNOTATOR, f"Worker {self.number}")
        page.goto(f"{self.url}/s/{slug}")
        return page

    def begin(self, slug: str, service: str) -> Page:
        page = self.come(slug, service)
        if service:
            agree(page)
        else:
            page.get_by_role("button", name="I agree").click()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("link", name="Go to work").click()
        return page


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Host]:
    port, path = free_port(), tmp_path_factory.mktemp("whole") / "coeval.db"
    settings = replace(
        load_settings({}, db=path), sign_in=SignIn.ACCOUNTS, public_url=f"http://127.0.0.1:{port}"
    )
    context = Context(Store(path), settings)
    with Running(context, port=port):
        yield Host(context, browser)


def confirm(page: Page) -> None:
    """Approve every line of an evaluation that nobody decided yet, and confirm it; waits until it was answered."""
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    page.locator(".rt-row[data-action=none]").nth(3).wait_for()  # the next evaluation, and not the last still
    with page.expect_response(lambda answer: answer.url.endswith("/submissions")):
        for key in ("a", "a", "a", "a", "Control+Enter"):
            page.keyboard.press(key)


def code_of(page: Page) -> str:
    page.locator(".code").wait_for()
    return page.locator(".code").inner_text()


def set_up(owner: Page, host: Host, slug: str) -> None:
    """Fill in the plan as an owner does: one person an instance, one instance a batch."""
    owner.goto(f"{host.url}/admin/?task={slug}&tab=crowd")
    use_crowd(owner)
    for name, value in {"k": 1, "batch": 1, "quota": 4, "enough": 1}.items():
        owner.fill(f"#crowd-{name} input", str(value))
    for name, text in {"done": "DONE1", "full": "FULL1", "consent": "We ask."}.items():
        owner.fill(f"#crowd-{name} textarea, #crowd-{name} input", text)
    owner.get_by_label("Prolific links").check()
    owner.get_by_label("A secret in the address", exact=True).check()
    owner.click("#crowd-save")
    owner.get_by_text("Nothing changes for the team until you press Run.").wait_for()
    press(owner, "running")


def press(owner: Page, state: str) -> None:
    """The owner runs, pauses or closes the study that Set-up shows."""
    owner.click(f"#crowd-{state}")
    owner.click(f"#crowd-{state}-yes")
    owner.get_by_text(f"The study is {state}.").wait_for()


def test_a_whole_study_with_every_ending(host: Host) -> None:
    """People come by Prolific's links; whoever is careless was invited."""
    main, checked, service = "main", "checked", "prolific"
    for slug in (main, checked):
        import_one_criterion(host.context, slug)
    owner = host.take_up(Role.OWNER, f"Owner of {main}")
    set_up(owner, host, main)

    stopped = host.begin(main, service)  # paused after a batch: the code for what was done
    stopped.locator(".wb[data-state=step]").wait_for()
    press(owner, "paused")
    confirm(stopped)
    stopped.get_by_text("The study is paused").first.wait_for()  # the banner of the page may say it too
    stopped.get_by_role("button", name="Finish here and get my code").click()
    assert code_of(stopped) == "DONE1"

    press(owner, "running")
    worker = host.begin(main, service)  # to the end; then the study is full
    for _ in range(3):
        confirm(worker)
    assert code_of(worker) == "DONE1"
    late = host.come(main, service)
    late.get_by_text("This study is full").wait_for()
    assert code_of(late) == "FULL1"
    owner.goto(f"{host.url}/admin/?task={main}&tab=crowd")
    owner.get_by_text("because it has all it needs").wait_for()

    owner.fill("#crowd-k input", "2")  # more people are wanted: it goes on, until the owner closes it
    owner.click("#crowd-save")
    owner.get_by_text("The plan is saved.").wait_for()
    shut = host.begin(main, service)
    confirm(shut)
    shut.locator(".rt-row[data-action=none]").nth(3).wait_for()
    press(owner, "closed")
    confirm(shut)
    shut.locator(".wb").get_by_text("is closed and accepts no more work").wait_for()
    shut.get_by_role("button", name="Continue").click()
    assert code_of(shut) == "DONE1"

    terms = replace(CODES, warn_after=5, block_after=1)
    plans.set_plan(host.context, OPERATOR, checked, Plan(per_instance=2, batch=1, quota=4, terms=terms))
    keys = "instance,criterion,accepted\n1a,1,1\n"
    exams.set_keys(host.context, OPERATOR, checked, keys)  # the drafts say 4, and are approved
    careless = host.begin(checked, "")
    ended = careless.get_by_text("Your part in this study has ended")
    go_on = careless.get_by_role("button", name="Continue")
    for _ in range(4):
        careless.locator(".rt-row[data-action=none]").nth(3).or_(go_on).or_(ended).first.wait_for()
        if go_on.count() or ended.count():
            break
        confirm(careless)
        careless.wait_for_timeout(300)
    if go_on.count():
        go_on.click()
    ended.wait_for()
    assert code_of(careless) == "BLOCK1"
    for page in (owner, stopped, worker, late, shut, careless):
        page.context.close()
