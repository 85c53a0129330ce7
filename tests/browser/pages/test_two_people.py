"""Two people in one browser: a page that was opened for one of them never saves or shows the work of the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.settings import load_settings, on_this_machine
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_outlines import open_review
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import at_step, enter
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect
TOLD = "You are signed in as another person now"


@pytest.fixture
def review(tmp_path: Path) -> tuple[Context, list[str]]:
    """Return a file that two people review, and the tokens of their links."""
    table = tmp_path / "answers.csv"
    table.write_text("input,output\n" + "".join(f"Why {n}?,Because of {n}.\n" for n in range(4)))
    path = tmp_path / "answers.coeval.db"
    context = Context(Store(path), on_this_machine(load_settings({}, db=path)))
    return context, list(open_review(context, OPERATOR, table, ["Clear"], {}).tokens.values())


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(new_context(tmp_path_factory.mktemp("team"), demo=True)) as live:
        yield live


def saved_by(context: Context) -> list[str]:
    with context.store.read() as db:
        rows = db.conn.execute("SELECT p.name FROM submission s JOIN annotator p ON p.id = s.annotator")
        return [name for (name,) in rows.fetchall()]


def open_tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def test_a_second_link_in_the_same_browser_saves_nothing_from_the_first_page(
    page: Any, review: tuple[Context, list[str]]
) -> None:
    context, (mine, theirs) = review
    with Running(context) as server:
        page.goto(f"{server.url}/open/{mine}")
        page.locator(".wb[data-state=step]").wait_for()
        page.context.new_page().goto(f"{server.url}/open/{theirs}")
        open_tab(page, "Agreement")
        expect(page.get_by_text(TOLD).first).to_be_visible()
        open_tab(page, "Scrutiny")
        page.keyboard.press("4")
        with page.expect_response(lambda answer: answer.url.endswith("/submissions")) as saving:
            page.keyboard.press("Control+Enter")
        assert saving.value.status == 401
        strip = page.locator(".wb-banner")
        expect(strip).to_contain_text(TOLD)
        expect(strip).to_contain_text("Your answer is kept here")
        assert saved_by(context) == []
        page.get_by_role("button", name="Reload").click()
        expect(page.locator("#me")).to_contain_text("Reviewer 2")
        page.locator(".wb[data-state=step]").wait_for()
        # the kept answer is that of Reviewer 1, and is saved when that person comes back
        assert saved_by(context) == []
        page.goto(f"{server.url}/open/{mine}")
        expect(page.locator("#me")).to_contain_text("Reviewer 1")
        expect(page.get_by_text(": a waiting answer").first).to_be_visible()
        assert saved_by(context) == ["Reviewer 1"]


def test_a_page_says_by_itself_that_another_person_signed_in(page: Any, team: Running) -> None:
    enter(page, team.url, "Ana")
    page.goto(f"{team.url}/?tab=scrutiny")
    page.locator(".wb[data-state=step]").wait_for()
    enter(page, team.url, "Ben")
    expect(page.get_by_text(TOLD).first).to_be_visible()  # nobody pressed anything


def test_a_link_to_a_file_serves_no_other_person(page: Any, team: Running) -> None:
    enter(page, team.url, "Ana")
    page.goto(f"{team.url}/admin/?tab=people")
    link = page.get_by_role("link", name="Everything as CSV")
    plain = link.evaluate("node => node.href")
    address = link.evaluate("node => (node.onclick = () => false, node.click(), node.href)")
    page.wait_for_timeout(50)
    assert link.evaluate("node => node.href") == plain != address, "what a person copies names nobody"
    assert page.request.get(address).ok
    enter(page, team.url, "Ben")
    assert page.request.get(address).status == 401


def test_set_up_of_an_owner_changes_nothing_for_the_next_owner(page: Any, team: Running) -> None:
    enter(page, team.url, "Ana")
    page.goto(f"{team.url}/admin/?tab=tasks")
    page.locator("#me").get_by_text("Ana").wait_for()
    name = page.locator("#task-name input, #task-name textarea").first
    expect(name).not_to_have_value("")
    enter(page, team.url, "Ben")
    page.get_by_role("tab", name="People").click()
    expect(page.get_by_text(TOLD).first).to_be_visible()
    with page.expect_request(lambda sent: "/signout/everywhere" in sent.url):
        page.locator(".who summary").click()
        page.get_by_text("Sign out on all devices").click()
    expect(page.get_by_text(TOLD).first).to_be_visible()
    page.goto(team.url)
    expect(page.locator("#me")).to_contain_text("Ben · annotator")


def test_the_last_item_leads_an_owner_to_the_agreement(page: Any, review: tuple[Context, list[str]]) -> None:
    context, (mine, _) = review
    with Running(context) as server:
        page.goto(f"{server.url}/open/{mine}")
        for at in "1234":
            at_step(page, at, "1")
            page.keyboard.press("4")
            page.keyboard.press("Control+Enter")
        page.locator(".wb-end").get_by_role("link", name="Agreement").click()
        expect(page.get_by_role("tab", name="Agreement")).to_have_attribute("aria-selected", "true")
        page.goto("about:blank")  # before the server ends
