"""The Criteria tab of an owner in Chromium: nothing that somebody voted on is replaced without consent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from coeval.domain import Action, Origin, Proposal, Study, Vote
from coeval.usecases import criteria_rounds
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.model_requests import MAX_TOKENS
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

TEXTS = ["Use simple words.", "Be true."]


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with start_stub() as live:
        yield live


@pytest.fixture(scope="module")
def context(stub: Stub, tmp_path_factory: pytest.TempPathFactory) -> Context:
    env = {"OPENAI_BASE_URL": stub.url, "COEVAL_MODEL": "m"}
    return new_context(tmp_path_factory.mktemp("votes"), **env)


@pytest.fixture(scope="module")
def server(context: Context) -> Iterator[Running]:
    with Running(context) as live:
        yield live


def open_vote(context: Context, slug: str, *names: str) -> int:
    """Open a vote in a new study, let these people vote, and return the id of the round.

    Its description makes the model's answers its own: the ledger would repeat those of another study.
    """
    study = make_study()
    import_study(
        context,
        OPERATOR,
        Study(replace(study.task, slug=slug, description=f"Answer: {slug}."), study.instances),
    )
    if criteria_rounds.get_round(context, OPERATOR, slug):  # of the first try of the same test
        criteria_rounds.cancel_vote(context, OPERATOR, slug)
    opened = criteria_rounds.open_round(
        context, OPERATOR, slug, [Proposal(text, Origin.HUMAN) for text in TEXTS]
    )
    votes = [Vote(Action.APPROVE, proposal.id) for proposal in opened.proposals]
    for name in names:
        criteria_rounds.cast_ballot(context, sign_in(context, name)[0], slug, 0, votes)
    return opened.id


def count_ballots(context: Context, slug: str) -> tuple[int, int]:
    """Return the open round and its number of ballots."""
    round_ = criteria_rounds.get_round(context, OPERATOR, slug)
    tally = criteria_rounds.get_tally(context, OPERATOR, slug)
    assert round_ and tally
    return round_.id, tally.n_ballots


def open_criteria(page: Any, server: Running, slug: str) -> None:
    enter(page, server.url, "Owner")
    page.goto(f"{server.url}/?task={slug}")
    page.locator("#ballot .rt-row").first.wait_for()


def test_a_draft_or_a_list_beside_a_vote_is_offered_and_replaces_nothing(
    page: Any, server: Running, context: Context
) -> None:
    sign_in(context, "Owner")
    before = open_vote(context, "late", "Ana", "Ben", "Cleo"), 3
    open_criteria(page, server, "late")
    unfold(page, "Draft or write criteria")
    page.locator("#draft-criteria").click()
    page.locator("#criteria-job").wait_for()
    offered = page.locator("#suggested label").filter(has_text="(drafted)")
    offered.first.wait_for()
    assert count_ballots(context, "late") == before
    expect(page.locator("#tally")).to_contain_text("Tally · 3 of 4 ballots")
    expect(page.locator("#use-unvoted")).to_have_count(0)
    unfold(page, "Draft or write criteria")
    page.locator("#criteria-lines textarea").fill("Be funny.")
    page.locator("#open-vote").click()
    page.locator("#replace-vote").get_by_text("Round 1 has 3 ballots").wait_for()
    page.locator("#keep-vote").click()
    expect(page.locator("#replace-vote")).to_have_count(0)
    expect(page.locator("#criteria-lines textarea")).to_have_value("Be funny.")
    assert count_ballots(context, "late") == before
    page.locator("#criteria-lines textarea").fill("")
    # a suggestion joins the vote only after the owner agreed, and the old vote can be taken up again
    offered.first.click()
    page.locator("#reopen").click()
    page.locator("#replace-vote").get_by_text("Round 1 has 3 ballots").wait_for()
    page.locator("#keep-vote").click()
    expect(page.locator("#replace-vote")).to_have_count(0)
    assert count_ballots(context, "late") == before
    page.locator("#reopen").click()
    page.locator("#replace-vote-go").click()
    expect(page.locator("#ballot .rt-row")).to_have_count(3)
    assert count_ballots(context, "late") == (count_ballots(context, "late")[0], 0)
    unfold(page, "Other votes")
    page.locator("#other-vote input").click()
    page.get_by_role("option", name="Round 1: 2 criteria, 3 ballots").click()
    page.locator("#take-up-vote").click()
    page.locator("#replace-vote-go").click()
    expect(page.locator("#tally")).to_contain_text("Tally · 3 of 4 ballots")
    assert count_ballots(context, "late") == before
    unfold(page, "Cancel this vote")
    page.locator("#cancel-vote").click()
    expect(page.locator("#ballot .rt-row")).to_have_count(0)
    page.locator("#take-up-vote").click()  # the newest vote with ballots is chosen
    page.locator("#ballot .rt-row").first.wait_for()
    assert count_ballots(context, "late") == before
    page.get_by_role("link", name="invite people").click()
    page.get_by_text("Send them this address").wait_for()


def test_choices_of_a_round_that_ended_are_shown_beside_the_new_vote(
    page: Any, server: Running, context: Context
) -> None:
    sign_in(context, "Owner")
    ended = open_vote(context, "again")
    open_criteria(page, server, "again")
    rows = page.locator("#ballot .rt-row")
    rows.nth(1).locator(".rt-act.rt-delete").click()
    page.keyboard.type("Nobody can check it.")
    texts = ["Be new.", *reversed(TEXTS)]
    proposals = [Proposal(text, Origin.HUMAN) for text in texts]
    criteria_rounds.open_round(context, OPERATOR, "again", proposals, instead_of=ended)
    dialog = page.get_by_role("dialog", name="Two versions")  # the page follows the new vote by itself
    dialog.get_by_text("A new vote began while you voted.").wait_for()
    expect(dialog.locator(".ce-version").first).to_contain_text("deleted (Nobody can check it.)")
    page.reload()  # nothing is lost before the person has chosen
    dialog.get_by_role("button", name="Continue with mine").click()
    expect(rows).to_have_count(3)
    reason = rows.nth(1).get_by_label(re.compile("reason", re.IGNORECASE))
    expect(reason).to_have_value("Nobody can check it.")
    assert "Be true." in rows.nth(1).inner_text()


def test_how_a_draft_failed_stays_until_it_is_dismissed_and_another_shows_its_progress_and_stops(
    page: Any, server: Running, context: Context, stub: Stub
) -> None:
    sign_in(context, "Owner")
    before = open_vote(context, "fails", "Ana"), 1
    open_criteria(page, server, "fails")
    default = stub.reply
    stub.reply = lambda body: Reply(status=401, message="This key is wrong.")
    unfold(page, "Draft or write criteria")
    page.locator("#draft-criteria").click()
    job = page.locator("#criteria-job")
    job.get_by_text("This key is wrong").wait_for()
    page.reload()
    job.get_by_text("This key is wrong").wait_for()
    page.locator("#criteria-dismiss").click()
    expect(job.get_by_text("This key is wrong")).to_have_count(0)
    stub.reply, stub.latency = default, 60.0
    unfold(page, "Draft or write criteria")
    page.locator("#draft-criteria").click()
    job.get_by_text("0 of 10").wait_for()
    for head in ("Done", "Unreadable answers"):
        expect(job.get_by_role("columnheader", name=head)).to_be_visible()
    page.locator("#criteria-stop").click()
    job.get_by_text("cancelled", exact=True).wait_for()
    stub.latency = 0.0
    page.locator("#criteria-dismiss").click()
    expect(job.get_by_text("cancelled", exact=True)).to_have_count(0)
    page.reload()
    page.locator("#ballot .rt-row").first.wait_for()
    expect(job.get_by_text("This key is wrong")).to_have_count(0)
    assert count_ballots(context, "fails") == before
    assert all(body["max_tokens"] == MAX_TOKENS for body in stub.bodies), "no answer is without a limit"


def test_criteria_are_drafted_as_in_the_paper(
    page: Any, server: Running, context: Context, stub: Stub
) -> None:
    sign_in(context, "Owner")
    open_vote(context, "paper")
    open_criteria(page, server, "paper")
    unfold(page, "Draft or write criteria")
    unfold(page, "More settings")
    page.locator("#ideation-paper").click()
    expect(page.locator("#ideation-temperature textarea, #ideation-temperature input")).to_have_value("0")
    expect(page.locator("#ideation-templates textarea, #ideation-templates input")).to_have_value(
        "coeval-paper"
    )
    before = len(stub.bodies)
    page.locator("#draft-criteria").click()
    page.locator("#suggested label").filter(has_text="(drafted)").first.wait_for()
    (body,) = stub.bodies[before:]
    assert (body["temperature"], body["top_p"]) == (0, 1)
    asked = body["messages"][-1]["content"]
    assert "List them directly." in asked and "Propose" not in asked


def test_criteria_are_used_without_a_vote_by_one_click(page: Any, server: Running, context: Context) -> None:
    sign_in(context, "Owner")
    open_vote(context, "direct")
    open_criteria(page, server, "direct")
    page.locator("#use-unvoted").click()
    expect(page.locator("#criteria-main")).to_contain_text("Final criteria · version 1")
    made = criteria_rounds.get_criteria_set(context, OPERATOR, "direct")
    assert made and [one.text for one in made.criteria] == TEXTS


def test_a_changed_ballot_is_saved_before_the_vote_can_be_closed(
    page: Any, server: Running, context: Context
) -> None:
    """The bar that finalises covered the bar that saves, and said that everything was decided."""
    open_vote(context, "changed", "Owner")
    open_criteria(page, server, "changed")
    finalise = page.locator("#decisions .wb-foot")
    expect(finalise).to_be_visible()
    page.locator("#ballot .rt-act.rt-delete").first.click()
    expect(finalise).to_be_hidden()
    page.keyboard.type("It is vague.")
    page.locator("#ballot").get_by_role("button", name="Save ballot").click()
    expect(finalise).to_be_visible()
    page.reload()
    expect(finalise).to_be_visible()
    # a click on what is covered would never arrive
    page.locator("#ballot .wb-status", has_text="Saved ").click()
