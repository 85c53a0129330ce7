"""A whole hosted study in the browser: set up, three arrivals, codes, and a restart from an empty disk."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.study_import import import_study
from tests.conftest import make_place, make_study
from tests.support.screens.ui_steps import agree, use_crowd
from tests.support.serving.live_server import LiveServer
from tests.support.studies.crowd_links import query

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


KEYS = "instance,criterion,accepted,must,explanation\n1a,1,4,,The draft is right here."


def context_of(host: LiveServer) -> Context:
    return Context(Store(host.db), load_settings({}, db=host.db))


def end(host: LiveServer) -> None:
    """As a Space stops a container."""
    host.process.send_signal(signal.SIGTERM)
    assert host.process.wait(30) == 0, host.log.read_text()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LiveServer]:
    db = tmp_path / "live" / "coeval.db"
    study = make_study(1)  # two instances
    one = study.criteria[:1]
    drafts = tuple(draft for draft in study.runs[0].drafts if draft.criterion == one[0].text)
    run = replace(study.runs[0], drafts=drafts)
    context = Context(Store(db), load_settings({}, db=db))
    import_study(context, OPERATOR, replace(study, criteria=one, runs=(run,)))
    exam = replace(study.task, slug="exam", name="The exam")
    run = replace(run, drafts=drafts[:1])
    import_study(
        context, OPERATOR, replace(study, task=exam, criteria=one, instances=study.instances[:1], runs=(run,))
    )
    context.store.close()
    found = LiveServer(db, COEVAL_SNAPSHOT_DIR=str(make_place(tmp_path / "place")))
    yield found
    found.process.kill()


def open_page(browser: Browser) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    return page


def sign_in(page: Page, host: LiveServer) -> None:
    page.goto(f"{host.url}/signin")
    page.fill("#name", "Olu")
    page.click("button")
    page.locator("#me").get_by_text("Olu").wait_for()


def set_up(page: Page, host: LiveServer) -> str:
    """The owner signs in by name, writes the exam's key, and gives the task out; the address for Prolific."""
    sign_in(page, host)
    page.goto(f"{host.url}/admin/?task=exam&tab=crowd")
    use_crowd(page)
    page.get_by_text("Answer keys").click()
    page.fill("#crowd-keys textarea", KEYS)
    page.click("#crowd-keys-save")
    page.get_by_text("1 answer keys are set").wait_for()
    page.goto(f"{host.url}/admin/?task=demo&tab=crowd")
    use_crowd(page)
    numbers = {"k": 2, "batch": 2, "quota": 2, "tries": 1, "rate": 9}
    for name, value in numbers.items():
        page.fill(f"#crowd-{name} input", str(value))
    page.click("#crowd-exam input")
    page.get_by_role("option", name="(exam)").click()
    texts = {"done": "DONE1", "screened": "OUT1", "declined": "NO1"}
    for name, text in texts.items():
        page.fill(f"#crowd-{name} textarea, #crowd-{name} input", text)
    page.fill("#crowd-consent textarea", "We keep what you decide.")
    page.fill("#crowd-guidelines textarea", "Read each text before you decide.")
    page.get_by_label("Prolific links").check()
    page.get_by_label("A secret in the address").check()
    page.click("#crowd-save")
    page.get_by_text("This study is running").wait_for()
    return page.locator("#crowd-status code").inner_text()


def arrive(page: Page, host: LiveServer, address: str, number: int) -> None:
    """Come by the study's address, which is shown in full, as Prolific fills it in."""
    for name, value in query(number).items():
        address = address.replace(f"{{{{%{name}%}}}}", value)
    page.goto(address)
    page.get_by_text("We keep what you decide.").wait_for()
    agree(page)
    page.get_by_role("button", name="qualification").click()


def judge(page: Page, host: LiveServer, score: str | None = None) -> None:
    """Approve every line of what is on the screen, with another score where one is given, and confirm."""
    # the save before this one may be stored and not answered yet: until then its lines are locked
    page.locator(".wb[data-state=step][aria-busy=false] .rt-row button:enabled").first.wait_for()
    before = count_saves(host)
    for key in ("a", score or "a", "a", "a", "Control+Enter"):
        page.keyboard.press(key)
    for _ in range(100):
        if count_saves(host) > before:
            return
        page.wait_for_timeout(100)
    raise AssertionError("the save did not arrive: " + page.locator("main").inner_text()[-800:])


def count_saves(host: LiveServer) -> int:
    store = Store(host.db)
    with store.read() as db:
        found: int = db.conn.execute("SELECT count(*) FROM submission").fetchone()[0]
    store.close()
    return found


def take_exam(page: Page, host: LiveServer, score: str | None = None) -> None:
    page.get_by_role("link", name="Open the qualification").click()
    page.get_by_text("Qualification", exact=True).wait_for()
    judge(page, host, score)
    page.get_by_text("1 of 1 item confirmed").wait_for()  # the page comes back by itself
    page.get_by_role("button", name="Hand in").click()


def work(page: Page, host: LiveServer) -> None:
    page.get_by_role("link", name="Go to work").click()
    for _ in range(2):
        judge(page, host)
    page.locator(".code").wait_for()  # the end comes by itself, with the code


def numbers_of(host: LiveServer, owner: Page) -> tuple[Any, ...]:
    """What a study comes to: the report, and the files an owner takes away."""
    context = context_of(host)
    report = get_report(context, OPERATOR, "demo")
    context.store.close()
    files = [
        owner.request.get(f"{host.url}{path}").text()
        for path in ("/download/demo/scores.csv", "/download/demo/rows.csv", "/s/demo/participants.csv")
    ]
    return (report, *files)


def test_a_hosted_study_from_set_up_to_a_restart_on_an_empty_disk(host: LiveServer, browser: Browser) -> None:
    owner = open_page(browser)
    address = set_up(owner, host)
    one, two, three = (open_page(browser) for _ in range(3))
    arrive(one, host, address, 1)
    take_exam(one, host, score="2")  # the key says 4
    one.get_by_text("You did not pass the qualification").wait_for()
    assert one.locator(".code").inner_text() == "OUT1"
    for number, page in ((2, two), (3, three)):
        arrive(page, host, address, number)
        take_exam(page, host)
        work(page, host)
        assert page.locator(".code").inner_text() == "DONE1"
        assert (
            page.get_by_role("link", name="Return to Prolific with")
            .get_attribute("href")
            .endswith("cc=DONE1")
        )  # type: ignore[union-attr]
    owner.goto(f"{host.url}/admin/?task=demo&tab=crowd-people")
    owner.get_by_text("2 of 2 instances have all 2 people").wait_for()
    owner.get_by_text("Agreement so far: ").wait_for()
    before = numbers_of(host, owner)
    assert before[3].count("approve") == 2 and before[3].count("screen out") == 1

    for page in (one, two, three):
        page.context.close()
    owner.goto("about:blank")  # an open page would call the stopped server all the time
    end(host)
    for path in host.db.parent.iterdir():
        path.unlink()
    host.restart()
    sign_in(owner, host)  # what came back from a snapshot lets nobody in by an old cookie
    owner.goto(f"{host.url}/admin/?task=demo&tab=hosting")
    owner.get_by_text("This file was restored from").wait_for()
    assert numbers_of(host, owner) == before
    end(host)
