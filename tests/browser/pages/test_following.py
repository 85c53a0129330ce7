"""Pages follow the state of their study in Chromium, without a reload and without losing what somebody writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from coeval.domain import Action, Origin, Proposal, Study, Vote
from coeval.store.queries import jobs
from coeval.usecases import criteria_rounds
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.jobs import draft_line, start_job
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.scrutiny import review
from coeval.usecases.scrutiny.steps import Where, get_step, mark_instance
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import start_stub
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import OPENED, enter, settle, unfold
from tests.support.serving.server import Running, new_context
from tests.support.studies.scrutiny_steps import save

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

WITHIN = 5_000
"""Milliseconds: a look every 2 s, and then what changed."""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    context = new_context(tmp_path_factory.mktemp("following"))
    sign_in(context, "Owner")
    return context


@pytest.fixture(scope="module")
def server(context: Context) -> Iterator[Running]:
    with Running(context) as live:
        yield live


def open_page(page: Any, server: Running, name: str, path: str) -> None:
    enter(page, server.url, name)
    page.goto(f"{server.url}/{path}")
    page.wait_for_function(OPENED)


def add_study(context: Context, slug: str) -> None:
    study = make_study()
    import_study(context, OPERATOR, Study(replace(study.task, slug=slug), study.instances))


def vote(context: Context, slug: str, name: str) -> None:
    person = sign_in(context, name)[0]
    round_ = criteria_rounds.get_round(context, person, slug)
    assert round_
    votes = [Vote(Action.APPROVE, proposal.id) for proposal in round_.proposals]
    criteria_rounds.cast_ballot(context, person, slug, 0, votes)


def test_an_annotator_who_waits_gets_the_vote_and_lands_on_the_work_when_it_ends(
    page: Any, server: Running, context: Context
) -> None:
    add_study(context, "waits")
    open_page(page, server, "Ana", "?task=waits&tab=scrutiny")
    page.locator(".wb-end").get_by_text("If a vote is open, vote in the Criteria tab.").wait_for()
    criteria = page.get_by_role("tab", name="Criteria")
    expect(criteria).to_have_count(0)
    proposals = [Proposal("Be true.", Origin.HUMAN), Proposal("Be short.", Origin.HUMAN)]
    criteria_rounds.open_round(context, OPERATOR, "waits", proposals)
    expect(criteria).to_be_visible(timeout=WITHIN)
    criteria.click()
    page.locator("#ballot .rt-row").first.wait_for()
    for name in ("Agreement", "Judge"):
        expect(page.get_by_role("tab", name=name)).to_have_count(0)
    vote(context, "waits", "Ben")
    criteria_rounds.establish(context, OPERATOR, "waits")
    page.locator("#workbench .rt-row").first.wait_for(timeout=2 * WITHIN)
    expect(page.get_by_role("tab", name="Scrutiny")).to_have_attribute("aria-selected", "true")
    expect(criteria).to_have_count(0, timeout=WITHIN)


def test_the_owners_tally_and_inbox_follow_and_typed_text_stays(
    page: Any, server: Running, context: Context
) -> None:
    add_study(context, "tally")
    proposals = [Proposal("Be true.", Origin.HUMAN), Proposal("Be short.", Origin.HUMAN)]
    criteria_rounds.open_round(context, OPERATOR, "tally", proposals)
    open_page(page, server, "Owner", "?task=tally&tab=criteria")
    page.locator("#ballot .rt-row").first.wait_for()
    unfold(page, "Draft or write criteria")
    page.locator("#criteria-lines textarea").fill("A criterion that is half")
    vote(context, "tally", "Ben")
    expect(page.locator("#tally")).to_contain_text(re.compile(r"1 of \d ballots"), timeout=WITHIN)
    page.locator("#decisions .rt-row").first.wait_for(timeout=WITHIN)
    expect(page.locator("#criteria-lines textarea")).to_have_value("A criterion that is half")
    vote(context, "tally", "Cleo")
    expect(page.locator("#tally")).to_contain_text(re.compile(r"2 of \d ballots"), timeout=WITHIN)
    criteria_rounds.establish(context, OPERATOR, "tally")
    expect(page.locator("#criteria-main")).to_contain_text("Final criteria", timeout=WITHIN)
    expect(page.locator("#criteria-lines textarea")).to_have_value("A criterion that is half")
    ben = sign_in(context, "Ben")[0]
    step = get_step(context, ben, "tally")
    assert step.instance
    mark_instance(context, ben, "tally", step.instance.id, flagged=True, skipped=False, comment="Odd.")
    expect(page.locator("#me")).to_contain_text("Inbox 1", timeout=WITHIN)


def test_an_idle_page_asks_for_one_number_and_nothing_else(
    page: Any, server: Running, context: Context
) -> None:
    add_study(context, "idle")
    open_page(page, server, "Dora", "?task=idle&tab=scrutiny")
    settle(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(5_000)
    ours = {url.split("?")[0].rsplit("/", 2)[1] for url in asked if "heartbeat" not in url}
    assert ours == {"revision"} and len(asked) <= 4, asked


def test_a_draft_appears_where_it_is_awaited_and_is_offered_to_those_who_write(page: Any) -> None:
    with start_stub() as stub, TemporaryDirectory() as folder, ThreadPoolExecutor() as thread:
        context = new_context(Path(folder), OPENAI_BASE_URL=stub.url, COEVAL_MODEL="m")
        import_study(context, OPERATOR, replace(make_study(1), runs=()))

        def note(**values: Any) -> None:
            with context.store.write() as db:
                jobs.update_job(db, job.id, **values)

        def draft(criterion: int) -> None:
            for instance in (1, 2):
                thread.submit(draft_line, context, OPERATOR, "demo", instance, criterion).result()
            note(done=1 + criterion)

        with Running(context) as live:
            job = start_job(context, OPERATOR, "demo", RunSettings())
            enter(page, live.url, "Ann")
            page.goto(f"{live.url}/?task=demo&tab=scrutiny")
            page.get_by_text("Drafts are being written: 0 of 4").wait_for()
            note(done=1)
            page.get_by_text("Drafts are being written: 1 of 4").wait_for(timeout=WITHIN)
            draft(1)
            page.get_by_text("The draft says").first.wait_for(timeout=WITHIN)
            page.locator(".wb-steps button").nth(1).click()
            page.get_by_text("Drafts are being written: 2 of 4").wait_for()
            box = page.locator(".wb textarea").first
            box.fill("My own words.")
            show = page.get_by_role("button", name="Show the draft")
            # what the person saves elsewhere is no draft
            ann = sign_in(context, "Ann")[0]
            at = get_step(context, ann, "demo", Where(position=1))
            assert at.instance
            second = Where(instance=at.instance.id, criterion=at.criteria[1].id)
            save(context, ann, get_step(context, ann, "demo", second), 4)
            note(done=3)
            page.get_by_text("Drafts are being written: 3 of 4").wait_for(timeout=WITHIN)
            expect(show).to_have_count(0)
            draft(2)
            show.wait_for(timeout=WITHIN)
            expect(box).to_have_value("My own words.")
            show.click()
            page.get_by_text("The draft was written after you began here.").wait_for()
            expect(page.get_by_text("My own words.").first).to_be_visible()
        context.store.close()


def test_an_answer_appears_on_its_authors_screen(page: Any, server: Running, context: Context) -> None:
    import_study(context, OPERATOR, replace(make_study(), task=replace(make_study().task, slug="asks")))
    eve = sign_in(context, "Eve")[0]
    step = get_step(context, eve, "asks")
    assert step.instance
    mark_instance(context, eve, "asks", step.instance.id, comment="Odd?")
    open_page(page, server, "Eve", "?task=asks&tab=scrutiny")
    page.locator(".wb[data-state=step]").wait_for()
    message = review.list_messages(context, OPERATOR, "asks")[0].id
    review.answer_message(context, OPERATOR, "asks", message, "It is meant so.")
    expect(page.locator(".wb-answer")).to_contain_text("It is meant so.", timeout=WITHIN)
    # the list of answers names the question, and no number that others do not have
    page.locator("summary", has_text="1 answer").click()
    expect(page.locator(".answers li")).to_contain_text("Odd?")
