"""Every page, form and link that a person meets outside Gradio, each opened in Chromium.

A test says by ``opens`` which routes it goes through, the browser's own requests prove it, and the last test holds
the list against the routes that the server has: a form that only works for an HTTP client is found here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from fastapi.routing import APIRoute

from coeval.domain import Plan, Role, Standing, Task, Terms
from coeval.settings import OAuth, Settings, SignIn, load_settings
from coeval.store import Store
from coeval.store.queries import enrolments, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import build_link, invite
from coeval.usecases.crowd import exams, plans
from coeval.usecases.scrutiny import steps
from coeval.usecases.sessions import list_members
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.hosting.oauth_provider import Provider
from tests.support.screens.ui_steps import agree, confirm
from tests.support.serving.live_server import free_port
from tests.support.serving.server import Running
from tests.support.studies.scrutiny_steps import sent_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


PASSWORD = "correct horse battery"
PROLIFIC = "?PROLIFIC_PID=5f0c1e2d3b4a59687766{:04}&STUDY_ID=S&SESSION_ID=A{}"
NOT_MET = {"GET /healthz", "GET /readyz", "GET /api/shipped", "GET /api/revision/{slug}"}
"""Asked by machines, or by the page itself (tests/e2e/test_restored.py, test_following.py)."""

OPENED_ELSEWHERE = {
    "GET /download/{slug}/judge/bridge.json",
    "GET /download/{slug}/judge/certificate.html",
    "GET /download/{slug}/judge/certificate.json",
    "GET /download/{slug}/judge/judge.json",
    "GET /download/{slug}/study.zip",
    "GET /download/{slug}/published",
    "GET /help/example.html",
    "POST /s/{slug}/ask",
    "POST /s/{slug}/end",
}
"""Links that are there once their work is done, opened in Chromium by tests/e2e/test_judge.py, test_moving.py and
test_published_study.py; forms that test_crowd_people.py and tests/e2e/test_whole_study.py send."""

Test = TypeVar("Test", bound=Callable[..., None])


def opens(*doors: str) -> Callable[[Test], Test]:
    """Say which routes a test goes through, as "GET /signin"."""

    def note(test: Test) -> Test:
        test.opens = doors  # type: ignore[attr-defined]
        return test

    return note


class Served:
    """A server of one kind of sign-in, on an address that its settings know."""

    def __init__(self, stack: ExitStack, folder: Path, **changes: Any) -> None:
        port = free_port()
        settings: Settings = replace(
            load_settings({}, db=folder / "coeval.db"), public_url=f"http://127.0.0.1:{port}", **changes
        )
        self.context = Context(Store(settings.db), settings)
        server = stack.enter_context(Running(self.context, port=port))
        self.url, self.app = server.url, server.app

    def invite(self, role: Role, name: str = "") -> str:
        return build_link(self.context.settings, invite(self.context, OPERATOR, role, name=name))


@pytest.fixture(scope="module")
def stack() -> Iterator[ExitStack]:
    with ExitStack() as found:
        yield found


@pytest.fixture(scope="module")
def by_account(stack: ExitStack, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """Accounts, the study “demo” for Prolific with the qualification “exam”, and “open” for whoever signs in."""
    served = Served(stack, tmp_path_factory.mktemp("accounts"), sign_in=SignIn.ACCOUNTS)
    for slug in ("demo", "open", "exam", "plain", "short"):
        made = make_study(1)
        import_study(served.context, OPERATOR, replace(made, task=Task(slug, slug)))
    exams.set_keys(served.context, OPERATOR, "exam", "instance,criterion,accepted\n1a,1,3\n")
    terms = Terms(consent="We ask.", guidelines="Page one.\n---\nPage two.", code_declined="NO1")
    plan = Plan(per_instance=9, batch=1, quota=9, terms=replace(terms, service="prolific"))
    plans.set_plan(served.context, OPERATOR, "demo", plan, exam="exam")
    plans.set_plan(served.context, OPERATOR, "open", replace(plan, terms=terms))
    short = Terms(consent="We ask.", service="prolific", code_done="DONE1", enough=1)
    plans.set_plan(served.context, OPERATOR, "short", replace(plan, terms=short))
    return served


@pytest.fixture(scope="module")
def by_name(stack: ExitStack, tmp_path_factory: pytest.TempPathFactory) -> Served:
    served = Served(stack, tmp_path_factory.mktemp("names"))
    import_study(served.context, OPERATOR, make_study(1))
    return served


@pytest.fixture(scope="module")
def provider(stack: ExitStack) -> Provider:
    return stack.enter_context(Provider().serve())


@pytest.fixture(scope="module")
def by_huggingface(stack: ExitStack, tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Served:
    oauth = OAuth(provider.url, "client", "secret")
    folder = tmp_path_factory.mktemp("space")
    return Served(stack, folder, sign_in=SignIn.HUGGINGFACE, owner="Julia-M", oauth=oauth)


@pytest.fixture(scope="module")
def served(by_name: Served, by_account: Served, by_huggingface: Served) -> tuple[Served, ...]:
    return by_name, by_account, by_huggingface


@pytest.fixture(autouse=True)
def watched(page: Page, request: pytest.FixtureRequest, served: tuple[Served, ...]) -> Iterator[None]:
    """Hold what the browser asked for, and was let in to, against what the test says it opens.

    A form that answers 422 was taken, and says on its page what to write otherwise.
    """
    asked: set[tuple[str, str]] = set()

    def note(response: Any) -> None:
        if response.status < 400 or response.status == 422:
            asked.add((response.request.method, re.sub(r"^https?://[^/]+|\?.*$", "", response.url)))

    page.context.on("response", note)
    page.on("download", lambda file: asked.add(("GET", re.sub(r"^https?://[^/]+|\?.*$", "", file.url))))
    yield
    known = {door: how for each in served for door, how in doors_of(each).items()}
    gone_through = {
        door
        for door, (method, path) in known.items()
        if any(method == asked_method and path.match(asked_path) for asked_method, asked_path in asked)
    }
    assert set(getattr(request.function, "opens", ())) <= gone_through


def doors_of(served: Served) -> dict[str, tuple[str, re.Pattern[str]]]:
    """The routes that give pages, take forms and hand out files, with what their addresses look like."""
    return {
        f"{method} {route.path}": (method, route.path_regex)
        for route in served.app.routes  # type: ignore[attr-defined]
        if isinstance(route, APIRoute)
        for method in route.methods
    }


# ---- coming in and going ------------------------------------------------------------------------------------------


@opens("GET /signin", "POST /signin", "POST /signout")
def test_by_name_in_and_out(page: Page, by_name: Served) -> None:
    page.goto(by_name.url)
    page.get_by_label("Your name").fill("Olu")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Olu · owner").wait_for()
    page.get_by_role("link", name="Sign out", exact=True).click()
    page.get_by_label("Your name").fill("olu")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("If that is you, type “Olu”").wait_for()


def accept(page: Page, served: Served, role: Role, name: str) -> None:
    """Take an invitation up; ends on the start page."""
    page.goto(served.invite(role))
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_text(f"{name} · {role}").wait_for()


@opens("GET /invite/{token}", "POST /invite/{token}", "POST /signout/everywhere", "POST /signin")
def test_an_invitation_makes_an_owner_who_leaves_everywhere_and_comes_back(
    page: Page, by_account: Served
) -> None:
    accept(page, by_account, Role.OWNER, "Ana")
    page.get_by_text("Ana · owner").click()
    page.get_by_role("link", name="Sign out on all devices").click()
    page.get_by_label("Your name").fill("Ana")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Ana · owner").wait_for()
    page.get_by_role("link", name="Set-up").click()
    page.get_by_role("tab", name="More tools").wait_for()


@opens("GET /invite/{token}", "POST /invite/{token}")
def test_a_weak_password_is_said_on_the_page_and_a_used_link_too(page: Page, by_account: Served) -> None:
    link = by_account.invite(Role.ANNOTATOR)
    page.goto(link)
    page.get_by_label("Your name").fill("Bea")
    page.get_by_label("Choose a password").fill("bea bea bea")
    page.evaluate("document.querySelector('#password').value = 'short'")
    page.evaluate("document.querySelector('form').noValidate = true")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("at least 10 characters.").first.wait_for()
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Bea · annotator").wait_for()
    page.goto(link)
    page.get_by_text("used or has expired").wait_for()
    page.get_by_role("link", name="Go to CoEval").click()
    page.get_by_text("Bea · annotator").wait_for()


@opens("GET /invite/{token}", "POST /invite/{token}")
def test_a_new_password_by_link(page: Page, by_account: Served) -> None:
    accept(page, by_account, Role.ANNOTATOR, "Cem")
    page.goto(by_account.invite(Role.ANNOTATOR, "Cem"))
    page.get_by_text("Choose a new password, Cem.").wait_for()
    page.get_by_label("Choose a password").fill("another horse battery")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Cem · annotator").wait_for()


@opens("GET /signin", "GET /login/huggingface", "GET /login/callback")
def test_by_hugging_face(page: Page, by_huggingface: Served) -> None:
    page.goto(by_huggingface.url)
    page.get_by_role("link", name="Sign in with Hugging Face").click()
    page.get_by_text("julia-m · owner").wait_for()
    assert [one.person.name for one in list_members(by_huggingface.context, OPERATOR)] == ["julia-m"]


@opens("GET /login/huggingface", "GET /login/callback")
def test_who_does_not_allow_hugging_face_is_told_so_and_can_try_again(
    page: Page, by_huggingface: Served, provider: Provider
) -> None:
    page.goto(by_huggingface.url)
    provider.denies = True
    page.get_by_role("link", name="Sign in with Hugging Face").click()
    page.get_by_text("You did not allow Hugging Face to share your identity").wait_for()
    provider.denies = False
    page.get_by_role("link", name="Sign in with Hugging Face").click()
    page.get_by_text("julia-m · owner").wait_for()


# ---- a study's own pages ------------------------------------------------------------------------------------------


def come(page: Page, served: Served, number: int) -> None:
    page.goto(f"{served.url}/s/demo{PROLIFIC.format(number, number)}")
    page.get_by_text("We ask.").wait_for()


@opens("GET /s/{slug}", "POST /s/{slug}/decline")
def test_who_declines_gets_the_code(page: Page, by_account: Served) -> None:
    come(page, by_account, 1)
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_text("NO1").wait_for()


@opens("POST /s/{slug}/consent", "POST /s/{slug}/begin", "GET /s/{slug}/work", "POST /s/{slug}/hand-in")
def test_a_worker_consents_reads_is_examined_and_hands_in(page: Page, by_account: Served) -> None:
    come(page, by_account, 2)
    agree(page)
    page.get_by_role("link", name="Next page").click()
    page.get_by_role("button", name="qualification").click()
    page.get_by_role("link", name="Open the qualification").click()
    hand_in = page.get_by_role("button", name="Hand in")
    while not hand_in.count():  # after the last item the page leads back by itself
        confirm(page)
        page.wait_for_timeout(500)
        page.locator(".wb[data-state=step][aria-busy=false]").or_(hand_in).first.wait_for()
    hand_in.click()
    page.get_by_text("Try 1: 0 of 1 right").wait_for()
    assert not hand_in.count(), "the same answers would only spend the last try"
    page.get_by_role("link", name="Review your answers first").click()
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    page.locator(".rt-step").filter(has_text="3").click()
    with page.expect_response(lambda answer: answer.url.endswith("/submissions") and answer.ok):
        page.keyboard.press("Control+Enter")
    page.goto(f"{by_account.url}/s/demo")
    hand_in.click()
    page.get_by_text("You passed the qualification: 1 of 1 items right.").wait_for()


@opens("POST /s/{slug}/withdraw")
def test_a_worker_withdraws_by_the_return_code(page: Page, by_account: Served) -> None:
    page.goto(f"{by_account.url}/s/short{PROLIFIC.format(4, 4)}")
    code = agree(page)
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("link", name="Go to work").click()
    page.click("#to-study")
    page.get_by_role("link", name="I no longer want to take part").click()
    page.get_by_label("Your return code").fill("ABCD-EFGH-JKMN")
    page.get_by_role("button", name="Withdraw and delete").click()
    page.get_by_text("That is not your return code").wait_for()
    page.get_by_label("Your return code").fill(code.lower())
    page.get_by_role("button", name="Withdraw and delete").click()
    page.get_by_text("your data is no longer part of the study").wait_for()


@opens("POST /s/{slug}/consent")
def test_a_worker_comes_back_in_another_browser_by_the_code(
    page: Page, by_account: Served, browser: Browser
) -> None:
    link = f"{by_account.url}/s/short{PROLIFIC.format(6, 6)}"
    first = browser.new_context().new_page()
    first.goto(link)
    code = agree(first)
    first.get_by_role("button", name="Begin").click()
    first.get_by_role("link", name="Go to work").wait_for()
    first.context.close()
    page.goto(link)
    page.get_by_label("Your return code").fill("WRNG-WRNG-WRNG")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("not the return code of this participant").wait_for()
    page.get_by_label("Your return code").fill(code)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Go to work").wait_for()


@opens("GET /s/", "POST /s/{slug}/go-on")
def test_a_warned_worker_goes_on(page: Page, by_account: Served) -> None:
    come(page, by_account, 3)
    agree(page)
    page.get_by_text("Page one.").wait_for()
    context = by_account.context
    with context.store.write() as db:
        task = tasks.get_task(db, "demo")
        assert task is not None
        enrolments.record_step(db, task.id, newest_person(context), Standing.WARNED, "test")
    page.goto(f"{by_account.url}/s/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Go to work").wait_for()


def newest_person(context: Context) -> int:
    return max(one.person.id for one in list_members(context, OPERATOR))


@opens("GET /s/{slug}", "POST /signin", "POST /s/{slug}/consent")
def test_a_study_without_a_service_leads_by_the_sign_in(page: Page, by_account: Served) -> None:
    accept(page, by_account, Role.ANNOTATOR, "Dan")
    page.context.clear_cookies()
    page.goto(f"{by_account.url}/s/open")
    page.get_by_label("Your name").fill("Dan")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="I agree").click()
    page.get_by_text("Page one.").wait_for()


# ---- files and help -----------------------------------------------------------------------------------------------


@opens("GET /help/{name}")
def test_help_and_its_pages(page: Page, by_account: Served) -> None:
    accept(page, by_account, Role.ANNOTATOR, "Eli")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Help", exact=True).click()
    opened.value.get_by_role("link", name="For researchers").click()
    opened.value.get_by_role("link", name="Who may do what").click()
    opened.value.get_by_role("heading", name="Who may do what").wait_for()


DOWNLOADS = {
    "GET /download/{slug}/export.zip": "download/demo/export.zip",
    "GET /download/{slug}/outline.zip": "download/demo/outline.zip",
    "GET /download/{slug}/paper-tables.zip": "download/demo/paper-tables.zip",
    "GET /download/{slug}/{name}": "download/demo/scores.csv",
    "GET /download/{slug}/as/{name}.zip": "download/plain/as/label-studio.zip",
    "GET /s/{slug}/participants.csv": "s/demo/participants.csv",
    "GET /s/{slug}/prolific.csv": "s/demo/prolific.csv",
}


@opens(*DOWNLOADS)
def test_an_owner_takes_files_away(page: Page, by_account: Served) -> None:
    """By links of the kind that the pages have; that the pages have them is their own tests' matter."""
    accept(page, by_account, Role.OWNER, "Fay")
    context = by_account.context
    fay = next(one.person for one in list_members(context, OPERATOR) if one.person.name == "Fay")
    steps.submit(context, fay, "plain", sent_of(steps.get_step(context, fay, "plain"), 3.0))
    for href in DOWNLOADS.values():
        page.evaluate(
            "(href) => { const a = document.createElement('a'); a.href = href; a.download = ''; a.id = 'file';"
            " a.textContent = 'file'; document.body.prepend(a); }",
            href,
        )
        with page.expect_download() as taken:
            page.click("#file")
        assert taken.value.failure() is None, href
        assert Path(taken.value.path()).stat().st_size > 0
        page.evaluate("document.querySelector('#file').remove()")


def test_the_list_is_whole(served: tuple[Served, ...]) -> None:
    """No route that a person meets is without a test above, and no test names one that is not there."""
    there = {door for each in served for door in doors_of(each)}
    tests = [value for value in vars(sys.modules[__name__]).values() if callable(value)]
    tested = {door for test in tests for door in getattr(test, "opens", ())}
    assert tested == there - NOT_MET - OPENED_ELSEWHERE
