"""A server is killed, its disk wiped, and it comes back from a snapshot that lacks the last answers of a person:
their browser sends them again, says so, and nothing is lost or doubled."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coeval.domain import Ballot, Plan, Proposal, Study, StudyState
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import people
from coeval.usecases import criteria_rounds
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
from coeval.usecases.study_import import import_study
from tests.conftest import make_place, make_study
from tests.support.screens.ui_steps import confirm, wait_a_while
from tests.support.serving.live_server import LiveServer
from tests.support.studies.crowd_links import ARABIC_TERMS, import_one_criterion, query

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STUDY = make_study(3)
KEPT = "Object.keys(localStorage).filter(key => key.startsWith('coeval:sent:')).length"
"""Answers that the browser keeps although the server took them."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LiveServer]:
    db = tmp_path / "live" / "coeval.db"
    context = Context(Store(db), load_settings({}, db=db))
    import_study(context, OPERATOR, STUDY)
    import_study(context, OPERATOR, Study(replace(STUDY.task, slug="vote"), STUDY.instances))
    criteria_rounds.open_round(
        context, OPERATOR, "vote", [Proposal("Use simple words."), Proposal("Be true.")]
    )
    context.store.close()
    server = LiveServer(db, COEVAL_SNAPSHOT_DIR=str(make_place(tmp_path / "place")))
    yield server
    server.process.kill()


def sign_in(page: Page, host: LiveServer, name: str = "Olu") -> None:
    # to the screen of the work at once: what the first page told would be lost with it
    page.goto(f"{host.url}/?task=demo&tab=scrutiny")
    page.wait_for_url("**/signin**")
    type_name(page, name)
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()


def type_name(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text(name).wait_for()


def vote(page: Page, host: LiveServer) -> None:
    """Approve one criterion of the vote, delete the other, and wait until the ballot is saved."""
    page.goto(f"{host.url}/?task=vote")
    page.locator("#ballot .rt-row").nth(1).wait_for()
    page.keyboard.press("a")
    page.keyboard.press("d")
    page.keyboard.type("said before")
    with page.expect_response(lambda answer: answer.url.endswith("/ballot") and answer.ok):
        page.keyboard.press("Control+Enter")


def list_ballots(db: Path) -> list[Ballot]:
    """Olu's ballots of the vote."""
    store = Store(db, read_only=True)
    context = Context(store, load_settings({}, db=db))
    with store.read() as read:
        olu = people.get_person(read, "Olu")
    assert olu
    found = criteria_rounds.list_ballot_history(context, olu, "vote")
    store.close()
    return found


def list_saved(db: Path) -> list[tuple[int, int, int]]:
    """Instance, criterion and revision of every save, in their order."""
    store = Store(db, read_only=True)
    with store.read() as read:
        rows = read.conn.execute(
            "SELECT instance, criterion, revision FROM submission ORDER BY id"
        ).fetchall()
    store.close()
    return [tuple(row) for row in rows]


def list_named(db: Path) -> set[tuple[str, int, int, str]]:
    """Who saved which evaluation, with the key of the save."""
    store = Store(db, read_only=True)
    with store.read() as read:
        sql = "SELECT a.name, s.instance, s.criterion, s.uid FROM submission s JOIN annotator a ON a.id = s.annotator"
        rows = read.conn.execute(sql).fetchall()
    store.close()
    return {tuple(row) for row in rows}


def lose_disk(host: LiveServer, place: Path, aside: Path) -> None:
    """The server is killed, its disk wiped, and its place is back as it was before it failed."""
    host.kill9()
    for path in host.db.parent.iterdir():
        path.unlink()
    place.unlink()
    aside.rename(place)
    host.restart()


def test_newcomers_whose_sign_up_was_lost_get_their_answers_back_under_their_names(
    host: LiveServer, browser: Browser, tmp_path: Path
) -> None:
    """Ana and Ben share a browser, Cleo's page stays open; they come back in another order, so ids are swapped.

    Olu, whose sign-up was kept, lost a ballot.
    """
    size: Any = {"width": 1440, "height": 900}
    owner, shared, cleo = (browser.new_context(viewport=size).new_page() for _ in range(3))
    for page in (owner, shared, cleo):
        page.set_default_timeout(60_000)
    sign_in(owner, host)
    confirm(owner)
    owner.wait_for_function(f"{KEPT} === 0")
    place, aside = tmp_path / "place", tmp_path / "aside"
    place.rename(aside)
    place.write_text("the disk is gone")
    sign_in(shared, host, "Ana")
    confirm(shared)
    confirm(shared)
    shared.context.clear_cookies()
    sign_in(shared, host, "Ben")
    confirm(shared)
    sign_in(cleo, host, "Cleo")
    for _ in range(3):
        confirm(cleo)
    vote(owner, host)
    owner.wait_for_function(f"{KEPT} === 1")
    before, ballots = list_named(host.db), list_ballots(host.db)
    assert len(ballots) == 1
    assert sorted(name for name, *_ in before) == ["Ana"] * 2 + ["Ben"] + ["Cleo"] * 3 + ["Olu"]
    lose_disk(host, place, aside)
    assert len(list_named(host.db)) == 1 and not list_ballots(host.db)

    cleo.wait_for_url("**/signin**")  # nobody touched the page
    type_name(cleo, "Cleo")
    cleo.get_by_text("3 answers were missing, and this browser sent them again.").wait_for()
    sign_in(shared, host, "Ben")
    shared.get_by_text("1 answer was missing, and this browser sent it again.").wait_for()
    assert {name for name, *_ in list_named(host.db)} == {"Olu", "Cleo", "Ben"}, "Ana is not there yet"
    shared.context.clear_cookies()
    sign_in(shared, host, "Ana")
    shared.get_by_text("2 answers were missing, and this browser sent them again.").wait_for()
    assert list_named(host.db) == before
    shared.reload()
    confirm(shared)  # the work goes on where it was, and nothing is told or sent twice
    assert shared.get_by_text("were missing").count() == 0 and len(list_named(host.db)) == len(before) + 1

    sign_in(owner, host)
    owner.goto(f"{host.url}/?task=vote")  # the ballot is sent again from its own screen
    owner.locator("#ballot .wb-status").get_by_text(re.compile(r"^Saved \d")).wait_for()
    (again,) = list_ballots(host.db)
    assert (again.revision, again.votes) == (ballots[0].revision, ballots[0].votes)


def make_crowd_study(db: Path) -> str:
    """A study of one criterion that gives everybody two instances; gives the secret of its link."""
    context = Context(Store(db), load_settings({}, db=db))
    import_one_criterion(context, "demo", 3)
    plan = Plan(per_instance=1, batch=3, quota=3, terms=ARABIC_TERMS)
    plans.set_plan(context, OPERATOR, "demo", plan)
    plans.set_state(context, OPERATOR, "demo", StudyState.RUNNING)
    key = plans.get_link(context, OPERATOR, "demo")
    context.store.close()
    return key


def test_a_worker_is_led_back_to_the_study_after_the_disk_was_wiped(browser: Browser, tmp_path: Path) -> None:
    """Crowd people have no password: the page opens their link again by itself, and their answers are kept."""
    db = tmp_path / "live" / "coeval.db"
    key = make_crowd_study(db)
    place = make_place(tmp_path / "place")
    host = LiveServer(db, COEVAL_SNAPSHOT_DIR=str(place))
    try:
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(f"{host.url}/s/demo?{urllib.parse.urlencode(query(1) | {'key': key})}")
        page.get_by_role("button", name="I agree").click()
        page.get_by_role("link", name="Continue").click()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("link", name="Go to work").click()
        confirm(page)
        page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
        before = list_saved(db)
        assert len(before) == 1
        page.wait_for_function(f"{KEPT} === 0", timeout=60_000)
        host.kill9()
        for path in db.parent.iterdir():
            path.unlink()
        for press in ("a", "a", "a", "a", "Control+Enter"):
            page.keyboard.press(press)
        host.restart()

        page.get_by_text("Welcome back").wait_for()  # nobody typed the address
        assert "password" not in page.content().lower()
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("link", name="Go to work").click()
        page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
        for _ in wait_a_while(page):
            if len(saved := list_saved(db)) > 1:
                break
        assert saved[:1] == before and len(saved) == 2, "the answer that waited in the browser was sent"

        page.context.clear_cookies()
        page.reload()
        page.get_by_text("Open the study’s link again").wait_for()
        page.get_by_text("your answers are kept").wait_for()
        assert page.get_by_role("textbox").count() == 0 and page.get_by_role("link").count() == 0
    finally:
        host.process.kill()
