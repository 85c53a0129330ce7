"""A server is killed, its disk wiped, and it comes back from a snapshot that lacks the last answers of a person:
their browser sends them again, says so, and nothing is lost or doubled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Ballot, Proposal, Study
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries.people import people
from coeval.study.access import OPERATOR, Context
from coeval.study.criteria import rounds
from coeval.study.importing.importing import import_study
from tests.conftest import make_study
from tests.support.serving.live_server import LiveServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STUDY = make_study(3)
KEPT = "Object.keys(localStorage).filter(key => key.startsWith('coeval:sent:')).length"
"""Answers that the browser keeps although the server took them."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LiveServer]:
    db = tmp_path / "live" / "coeval.db"
    context = Context(Store(db), load_settings({}, db=db))
    import_study(context, OPERATOR, STUDY)
    import_study(context, OPERATOR, Study(replace(STUDY.task, slug="vote"), STUDY.instances))
    rounds.open_round(context, OPERATOR, "vote", [Proposal("Use simple words."), Proposal("Be true.")])
    context.store.close()
    server = LiveServer(db, COEVAL_SNAPSHOT_DIR=str(tmp_path / "place"))
    yield server
    server.process.kill()


def sign_in(page: Page, host: LiveServer) -> None:
    page.goto(f"{host.url}/signin")
    page.get_by_label("Your name").fill("Olu")
    page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text("Olu").wait_for()
    page.goto(f"{host.url}/?task=demo&tab=scrutiny")
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()


def confirm(page: Page) -> None:
    """Approve every line of the evaluation on the screen, and wait until it is saved."""
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    with page.expect_response(lambda answer: answer.url.endswith("/submissions") and answer.ok):
        for key in ("a", "a", "a", "a", "Control+Enter"):
            page.keyboard.press(key)


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
    found = rounds.list_ballot_history(context, olu, "vote")
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


def test_what_was_lost_comes_back_from_the_browser(
    host: LiveServer, browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(30_000)
    sign_in(page, host)
    confirm(page)
    page.wait_for_function(
        f"{KEPT} === 0", timeout=60_000
    )  # it is shipped within seconds; then the browser asks

    place, aside = tmp_path / "place", tmp_path / "aside"
    place.rename(aside)
    place.write_text("the disk is gone")  # what is saved from here on reaches no snapshot
    for n in range(1, 4):
        confirm(page)
        page.wait_for_function(f"{KEPT} === {n}")
    vote(page, host)
    page.wait_for_function(f"{KEPT} === 4")
    before, ballots = list_saved(host.db), list_ballots(host.db)
    assert len(before) == 4 and len(ballots) == 1
    host.kill9()
    for path in host.db.parent.iterdir():
        path.unlink()
    place.unlink()
    aside.rename(place)
    host.restart()
    assert len(list_saved(host.db)) == 1 and not list_ballots(host.db)

    page.goto("about:blank")
    sign_in(page, host)
    page.get_by_text("3 answers of yours were missing, and this browser sent them again.").wait_for()
    assert list_saved(host.db) == before
    confirm(page)  # and the work goes on where it was
    assert len({(instance, criterion) for instance, criterion, _ in list_saved(host.db)}) == 5
    page.reload()
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    assert page.get_by_text("were missing").count() == 0 and len(list_saved(host.db)) == 5

    page.goto(f"{host.url}/?task=vote")  # the ballot is sent again from its own screen
    page.locator("#ballot .wb-status").get_by_text(re.compile(r"^Saved \d")).wait_for()
    (again,) = list_ballots(host.db)
    assert (again.revision, again.votes) == (ballots[0].revision, ballots[0].votes)
