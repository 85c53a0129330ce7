"""A newcomer's whole study in Chromium: an owner and two annotators follow what the pages name as next.

Nobody reloads a page, types a short name or an address but the first, or clicks where nothing happens. Every view is
looked at by axe on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.models.openai_stub import Stub, start_stub
from tests.support.models.stub_answers import default_reply
from tests.support.screens.axe import faults
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import settle
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

FILE = """question,answer,model
Why is the sky blue?,Air scatters blue light most.,first
Why is the sky blue?,Because it is.,second
Why is grass green?,Chlorophyll reflects green light.,first
Why is the sea salty?,Rivers bring salt into it.,second
"""
WORDS = "Is the last word of this one missing?"
REPLY = "It ends so in the source: judge it as it is."


class Visitor:
    """Somebody at a page of their own, who does what the page offers; ``told`` is what axe found, by view."""

    def __init__(self, browser: Any, url: str, name: str) -> None:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(30_000)
        expect.set_options(timeout=30_000)
        self.page = context.new_page()
        self.told: dict[str, list[str]] = {}
        self.page.goto(url)
        self.page.get_by_label("Your name").fill(name)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator("#me").get_by_text(name).wait_for()

    def see(self, view: str) -> None:
        expect(self.page.locator(".toast-body")).to_have_count(0)
        assert not self.page.locator("[title^='common.']:visible").count(), (
            "a key of Gradio stands there for words"
        )
        settle(self.page)
        self.told[view] = faults(self.page)

    def field(self, elem_id: str) -> Any:
        return self.page.locator(f"#{elem_id} textarea, #{elem_id} input").first

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def unfold(self, name: str) -> None:
        self.page.get_by_role("button", name=name).first.click()

    def follow(self, link: str) -> None:
        """The link that the page names as next."""
        self.page.get_by_role("link", name=link, exact=True).locator("visible=true").first.click()

    def choose(self, elem_id: str, option: str) -> None:
        self.page.locator(f"#{elem_id} input").first.click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def said(self, elem_id: str, text: str | re.Pattern[str]) -> None:
        self.page.locator(f"#{elem_id}").get_by_text(text).locator("visible=true").first.wait_for()


@pytest.fixture
def stub() -> Iterator[Stub]:
    with start_stub() as running:
        yield running


@pytest.fixture
def url(stub: Stub, tmp_path: Path) -> Iterator[str]:
    """A server over an empty folder, as ``python app.py`` starts it: with the demo."""
    env = {"OPENAI_BASE_URL": stub.url, "COEVAL_MODEL": "m"}
    context = new_context(tmp_path, demo=True, **env)
    with Running(context) as live:
        yield live.url
    context.store.close()


def describe_and_import(owner: Visitor, folder: Path) -> None:
    page = owner.page
    owner.tab("Tasks")
    page.locator("#task-state").get_by_text("Progress").wait_for()
    owner.press("New task")
    expect(owner.field("task-name")).to_have_value("")
    owner.field("task-name").fill("Everyday science")
    owner.field("task-description").fill("Answer a question of natural science in one sentence.")
    owner.press("Save task")
    owner.follow("import its instances")
    owner.said("import-into", "Everyday science (the task chosen above)")
    expect(page.get_by_role("radio", name="Everyday science (the task chosen above)")).to_be_checked()
    path = folder / "my_answers.csv"
    path.write_text(FILE, encoding="utf-8")
    page.locator("#import-file input[type=file]").set_input_files(path)
    owner.said("import-note", "4 rows")
    owner.see("Import, a file chosen")
    owner.press("Import")
    owner.said("import-note", "added 4 instances")


def agree_on_criteria(owner: Visitor, others: list[Visitor], stub: Stub) -> None:
    """A junk answer is told and the page goes on; three vote, the set stands, and version 2 is called off."""
    page = owner.page
    owner.follow("draft or write criteria, vote, and establish them")
    page.locator("#samples").get_by_role("radio", name="1", exact=True).check()
    stub.reply = lambda body: "No idea."
    owner.press("Draft criteria")
    owner.said("criteria-job", "failed")
    stub.reply = default_reply
    owner.press("Draft criteria")
    page.locator("#ballot .rt-row").nth(4).wait_for()
    owner.said("tabs", "decide on each criterion below, save your ballot, and have the others vote")
    owner.see("Criteria, a ballot")
    for one in others:
        one.choose("task-picker", "Everyday science")
    for one in (*others, owner):
        vote(one)
    owner.said("tally", "3 ballots")
    owner.press("Finalise criteria")
    owner.press("Finalise")
    owner.said("criteria-main", "Final criteria · version 1")
    owner.press("Start a new version")
    owner.said("ballot-title", "version 2")
    owner.unfold("Cancel this vote")
    owner.press("Cancel the vote")
    owner.said("criteria-main", "Final criteria · version 1")
    owner.see("Criteria, established")


def vote(one: Visitor) -> None:
    rows = one.page.locator("#ballot .rt-row")
    rows.first.wait_for()
    for _ in range(rows.count()):
        one.page.keyboard.press("a")
    one.page.keyboard.press("Control+Enter")
    one.page.locator("#ballot .wb-status").get_by_text(re.compile(r"^Saved \d")).wait_for()


def prefill(owner: Visitor, stub: Stub) -> None:
    """Counts move while the model answers; what it answered with junk is shown, and sent again."""
    page = owner.page
    owner.follow("pre-fill the evaluations")
    owner.said("jobs", "Nothing has been pre-filled yet")
    owner.press("Estimate")
    owner.said("prefill-note", "20 calls")
    owner.unfold("More settings")
    page.get_by_role("textbox", name="Run label").fill("first try")
    page.locator("#prefill-concurrency input").fill("1")
    stub.latency = 1.5
    stub.reply = lambda body: "No idea." if "Rivers bring salt" in str(body) else default_reply(body)
    owner.press("Start")
    owner.said("jobs", re.compile(r"^([1-9]|1\d) of 20"))
    stub.latency = 0
    owner.said("jobs", "20 of 20 drafted")
    run = page.locator("#runs tr", has_text="first try")
    expect(run).to_contain_text("155shown")
    owner.unfold("How scores were obtained")
    owner.said("rungs-forms", "25% in no form; 25% after asking again")
    owner.said("rungs-answers", "5 drafts without a score")
    owner.see("Pre-fill, unscored")
    stub.reply = default_reply
    owner.press("Retry unscored")
    expect(run).to_contain_text("200shown")


def share_out(owner: Visitor) -> None:
    """Two people, one for each instance."""
    page = owner.page
    owner.tab("People")
    for name in ("Ana", "Ben"):
        owner.field("team-names").fill(name)
        page.get_by_role("option", name=name, exact=True).click()
    owner.field("team-names").press("Escape")
    page.locator("#team-each input").fill("1")
    owner.press("Save people")
    shares = page.locator("#team-state td:nth-child(2)")
    expect(shares).to_have_text(["2", "2"])
    owner.see("People, shared out")


def score(one: Visitor, first: str) -> None:
    """Both instances by every criterion; the first gets a flag and a comment."""
    page = one.page
    one.tab("Scrutiny")
    page.locator(".wb[data-state=step]").wait_for()
    one.press("Flag")
    one.press("Comment")
    page.get_by_label("Comment on this instance").fill(WORDS)
    one.press("Save comment")
    page.get_by_role("dialog").wait_for(state="detached")
    for n in range(10):
        page.locator("#workbench .rt-step:enabled:visible").first.wait_for()
        page.keyboard.press(first if n == 0 else str(1 + n % 5))
        page.locator(".wb-rest[aria-disabled=false]").wait_for()  # every line was in view
        page.keyboard.press("Shift+A")
        with page.expect_response(lambda answer: answer.url.endswith("/submissions")) as answer:
            page.keyboard.press("Control+Enter")
        assert answer.value.ok, answer.value.text()
    page.locator(".wb-end").get_by_text("That was the last one").wait_for()


def answer_message(owner: Visitor, writer: Visitor) -> None:
    """From the inbox to the step, and the reply back to who wrote."""
    page = owner.page
    owner.tab("Inbox")
    card = page.locator("#inbox-messages .message", has_text="Ana")
    card.get_by_text(WORDS).wait_for()
    owner.see("Inbox, messages")
    page.locator("#inbox-message input").click()
    page.get_by_role("option", name="Ana").click()
    owner.field("inbox-text").fill(REPLY)
    owner.press("Send answer")
    expect(card).to_have_count(0)
    writer.press("Review all")
    writer.page.locator(".wb-answer", has_text=REPLY).wait_for()
    writer.see("Scrutiny, a reply")


def look_through(owner: Visitor) -> None:
    page = owner.page
    owner.tab("Data")
    owner.said("data-count", "4 instances")
    owner.choose("data-system", "second")
    owner.said("data-count", "2 instances")
    owner.field("data-search").fill("salt")
    owner.field("data-search").press("Enter")
    owner.said("data-count", "1 instance.")
    owner.field("data-search").fill("")
    owner.field("data-search").press("Enter")
    owner.said("data-count", "2 instances")
    owner.choose("data-system", "all systems")
    owner.said("data-count", "4 instances")
    page.locator("#data-rows").get_by_text("Rivers bring salt").locator("visible=true").first.click()
    owner.said("data-view", "Rivers bring salt into it.")
    owner.see("Data, an instance")
    with page.expect_popup() as opened:
        owner.follow("Open in Scrutiny")
    text = opened.value.locator(".wb[data-state=step] .wb-pane-output")
    text.get_by_text("Rivers bring salt").first.wait_for()  # a closed passage bar above it holds the text too
    opened.value.close()


def put_away(owner: Visitor) -> None:
    """The run and the task are archived by their names, and a copy of the set-up stays."""
    page = owner.page
    owner.tab("Pre-fill")
    owner.unfold("Archive a run")
    owner.said("run-offer", "export everything as CSV")
    owner.field("run-typed").fill("first try")
    owner.press("Archive the run")
    expect(page.locator("#runs tr", has_text="first try")).to_have_count(0)
    owner.tab("Tasks")
    owner.unfold("Copy or archive")
    owner.field("copy-name").fill("Second round")
    owner.press("Copy the set-up")
    expect(owner.field("task-name")).to_have_value("Second round")
    owner.said("task-state", "criteria set version 1, 5 criteria")
    owner.choose("task-picker", "Everyday science")
    owner.said("archive-offer", "Everyday science")
    with page.expect_download() as export:
        owner.follow("export everything as CSV")
    assert export.value.suggested_filename.endswith(".zip")
    owner.field("archive-typed").fill("Everyday science")
    owner.press("Archive the task")
    expect(page.locator("#task-picker input")).not_to_have_value("Everyday science")
    owner.see("Tasks, archived")


def test_a_newcomer_runs_a_whole_study_without_a_wrong_turn(
    browser: Any, url: str, stub: Stub, tmp_path: Path
) -> None:
    owner, ana, ben = (Visitor(browser, url, name) for name in ("Olu", "Ana", "Ben"))
    describe_and_import(owner, tmp_path)
    agree_on_criteria(owner, [ana, ben], stub)
    prefill(owner, stub)
    look_through(owner)
    share_out(owner)
    stranger = Visitor(browser, url, "Cy")
    stranger.page.locator("#task-picker input").click()
    expect(stranger.page.get_by_role("option")).to_have_count(2)  # the examples, and not this task
    score(ana, "2")
    score(ben, "4")
    answer_message(owner, ana)
    put_away(owner)
    told = {name: found for one in (owner, ana) for name, found in one.told.items() if found}
    assert not told, told
