"""The ballot and the owner's decisions: the same table, outbox, conflict and history as scrutiny."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Action, Ballot, Origin, Proposal, Vote
from coeval.usecases import criteria_rounds
from tests.support.screens.ui_steps import focused, press

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.screens.bench import Bench


TEXTS = ["Use simple words.", "Use examples.", "Avoid jargon."]
NEW = "Avoid words a child may not know."
Start = Callable[..., "Bench"]


@pytest.fixture
def start(page: Page, bench: Bench) -> Start:
    """Opens the ballot of a vote on three criteria; the owner's decisions once Ben has voted."""
    bench.criteria = []
    bench.ensure_study()
    proposals = [Proposal(text, Origin.LLM, n, 3) for n, text in enumerate(TEXTS, 1)]
    criteria_rounds.open_round(bench.context, bench.person("Olu"), bench.slug, proposals)

    def open_(part: str = "ballot", name: str = "Ana") -> Bench:
        bench.open_table(page, part, name)
        return bench

    return open_


def vote(bench: Bench, *actions: Action, name: str = "Ana", revision: int = 0) -> Ballot:
    """Save a ballot as if from another device."""
    person = bench.person(name)
    state = criteria_rounds.get_round(bench.context, person, bench.slug)
    assert state
    votes = [
        Vote(action, proposal.id, "" if action is Action.APPROVE else "because", f"{proposal.text} Anew.")
        for action, proposal in zip(actions, state.proposals, strict=True)
    ]
    return criteria_rounds.cast_ballot(bench.context, person, bench.slug, revision, votes)


def finalise(page: Page) -> None:
    page.get_by_role("button", name="Finalise criteria").click()
    page.get_by_role("dialog").get_by_role("button", name="Finalise", exact=True).click()


def saved(bench: Bench, name: str = "Ana") -> Ballot | None:
    state = criteria_rounds.get_round(bench.context, bench.person(name), bench.slug)
    assert state
    return state.ballot


def decide(page: Page) -> None:
    """Approve the first, delete the second with a reason, revise the third with one."""
    press(page, "a", "d")
    page.keyboard.type("same as the first")
    press(page, "Enter")
    assert focused(page).startswith("3 "), "after the reason of a deletion the next line is in use"
    press(page, "r", "Control+A")
    page.keyboard.type(NEW)
    press(page, "Tab")
    page.keyboard.type("clearer")


def wait_status(page: Page, text: str = r"^Saved \d") -> None:
    page.locator(".wb-status").get_by_text(re.compile(text)).wait_for()


def actions(page: Page) -> list[str]:
    found: list[str] = page.locator(".rt-row").evaluate_all("rows => rows.map((row) => row.dataset.action)")
    return found


def test_a_ballot_by_keys_is_saved_as_ids_and_words(page: Page, start: Start) -> None:
    bench = start()
    assert page.locator(".wb-count .wb-long").inner_text() == "3 criteria still need a decision"
    decide(page)
    press(page, "Enter", "n")
    page.keyboard.type("Be true.")
    press(page, "Control+Enter")
    wait_status(page)
    (body,) = bench.requests
    assert set(body) == {"round", "revision", "rows", "added"}
    assert [(row["action"], row["reason"], row["new_text"]) for row in body["rows"]] == [
        ("approve", "", ""),
        ("delete", "same as the first", ""),
        ("revise", "clearer", NEW),
    ]
    assert body["added"] == [{"kind": "criterion", "new_text": "Be true.", "reason": ""}]
    assert page.evaluate("window.events") == ["submit"], "the rest of the page has to follow"
    ballot = saved(bench)
    assert ballot and [one.action for one in ballot.votes] == ["approve", "delete", "revise", "add"]


def test_a_saved_ballot_can_be_changed_and_its_versions_seen(page: Page, start: Start) -> None:
    bench = start()
    press(page, "a", "a", "a", "Control+Enter")
    wait_status(page)
    press(page, "ArrowUp", "ArrowUp", "ArrowUp", "d")
    assert page.locator(".wb-count .wb-long").inner_text() == "1 reason is missing"
    page.keyboard.type("too simple")
    press(page, "Control+Enter")
    wait_status(page, "version 2")
    page.locator(".rt-row").first.focus()
    press(page, "h")
    versions = page.locator("dialog[open] .ce-version")
    versions.first.wait_for()
    newest, oldest = versions.all_inner_texts()
    assert "Version 2" in newest and "deleted (too simple)" in newest and "Use simple words." in newest
    assert "Version 1" in oldest and "deleted" not in oldest and "Score" not in oldest
    ballot = saved(bench)
    assert ballot and ballot.revision == 2


def test_a_stale_save_shows_both_versions_and_may_go_on_with_its_own(page: Page, start: Start) -> None:
    bench = start()
    decide(page)
    vote(bench, Action.DELETE, Action.APPROVE, Action.APPROVE)
    press(page, "Control+Enter")
    page.get_by_role("heading", name="There are two versions").wait_for()
    here, there = page.locator(".ce-version").all_inner_texts()
    assert NEW in here and "deleted (because)" in there and "Use simple words." in there
    page.get_by_role("button", name="Continue with mine").click()
    assert saved(bench) and actions(page) == ["approve", "delete", "revise"]
    press(page, "Control+Enter")
    wait_status(page, "version 2")
    ballot = saved(bench)
    assert ballot and [one.action for one in ballot.votes] == ["approve", "delete", "revise"]


def test_the_page_hears_of_a_newer_ballot(page: Page, start: Start) -> None:
    bench = start()
    ballot = vote(bench, Action.APPROVE, Action.DELETE, Action.APPROVE)
    state = criteria_rounds.get_round(bench.context, bench.person(), bench.slug)
    assert state
    value = {
        "task": bench.slug,
        "person": bench.person().uid,
        "round": state.id,
        "revision": ballot.revision,
    }
    page.evaluate("(value) => push(value)", value)
    page.locator("[data-action=delete]").wait_for()
    assert actions(page) == ["approve", "delete", "approve"]


def test_a_vote_that_ended_meanwhile_loses_no_word(page: Page, start: Start) -> None:
    bench = start()
    decide(page)
    vote(bench, Action.APPROVE, Action.APPROVE, Action.APPROVE, name="Ben")
    criteria_rounds.establish(bench.context, bench.person("Olu"), bench.slug)
    press(page, "Control+Enter")
    alert = page.locator("[role=alert] .ce-toast")
    alert.wait_for()
    assert "This round of voting has ended" in alert.inner_text()
    assert NEW in [box.input_value() for box in page.locator("textarea:visible").all()]


def test_the_owner_settles_and_establishes(page: Page, bench: Bench, start: Start) -> None:
    vote(bench, Action.APPROVE, Action.DELETE, Action.REVISE, name="Ben")
    vote(bench, Action.DELETE, Action.DELETE, Action.REVISE, name="Ana")
    start("decisions", "Olu")
    assert actions(page) == ["none", "delete", "revise"]
    assert page.locator("textarea:visible").nth(1).input_value() == "Avoid jargon. Anew."
    page.get_by_role("button", name="Finalise criteria").click()
    assert "tie: approve, revise or delete it." in page.locator(".ce-toast").inner_text()
    press(page, "a", "Control+Enter")
    page.wait_for_timeout(150)
    assert bench.requests == [], "what cannot be taken back is not done by a key"
    finalise(page)
    page.get_by_text("The criteria are final as version 1").wait_for()
    found = criteria_rounds.get_criteria_set(bench.context, bench.person("Olu"), bench.slug)
    assert found and [one.text for one in found.criteria] == ["Use simple words.", "Avoid jargon. Anew."]


def test_the_set_is_shown_before_it_is_final_and_what_one_person_added_is_left_out(
    page: Page, bench: Bench, start: Start
) -> None:
    for name in ("Ben", "Cleo", "Ana"):
        state = criteria_rounds.get_round(bench.context, bench.person(name), bench.slug)
        assert state
        votes = [Vote(Action.APPROVE, proposal.id) for proposal in state.proposals]
        votes += [Vote(Action.ADD, None, "", "It is short.")] * (name != "Ana")
        votes += [Vote(Action.ADD, None, "", "It rhymes."), Vote(Action.ADD, None, "", NEW)] * (name == "Ana")
        criteria_rounds.cast_ballot(bench.context, bench.person(name), bench.slug, 0, votes)
    start("decisions", "Olu")
    assert [box.input_value() for box in page.locator(".rt-row[data-action=add] textarea").all()][
        0
    ] == "It is short."
    left = page.get_by_role("region", name="Left out")
    assert "It rhymes. (added by 1 of 3: Ana)" in left.inner_text()
    left.get_by_role("button", name=f"Keep: {NEW}").click()
    page.get_by_role("button", name="Finalise criteria").click()
    asked = page.get_by_role("dialog")
    asked.wait_for()
    assert asked.locator("li").all_inner_texts() == [*TEXTS, "It is short.", NEW]
    assert "Left out: “It rhymes.”" in asked.inner_text()
    assert "3 voted. Not voted yet: Olu." in asked.inner_text()
    assert "First set the share of blind" in asked.inner_text(), "the design is due now, and not later"
    assert f"task={bench.slug}&tab=tasks" in (asked.get_by_role("link").get_attribute("href") or "")
    asked.get_by_role("button", name="Not yet").click()
    assert bench.requests == []
    finalise(page)
    page.get_by_text("The criteria are final as version 1").wait_for()
    found = criteria_rounds.get_criteria_set(bench.context, bench.person("Olu"), bench.slug)
    assert found and [one.text for one in found.criteria] == [*TEXTS, "It is short.", NEW]


def test_votes_that_came_in_are_looked_at_before_the_set_is_established(
    page: Page, bench: Bench, start: Start
) -> None:
    vote(bench, Action.APPROVE, Action.APPROVE, Action.APPROVE, name="Ben")
    start("decisions", "Olu")
    vote(bench, Action.APPROVE, Action.DELETE, Action.APPROVE)
    page.get_by_role("button", name="Finalise criteria").click()
    page.get_by_text("New votes arrived since you opened this count").wait_for()
    assert actions(page) == ["approve", "none", "approve"] and page.get_by_role("dialog").count() == 0
    assert page.evaluate("() => window.events") == ["submit"], "the tally beside it is counted anew"
    page.locator(".rt-row[data-action=none]").click()
    press(page, "a")
    page.get_by_role("button", name="Finalise criteria").click()
    asked = page.get_by_role("dialog")
    assert "2 voted. Not voted yet: " in asked.inner_text()
    vote(bench, Action.DELETE, Action.DELETE, Action.APPROVE, revision=1)
    asked.get_by_role("button", name="Finalise", exact=True).click()
    page.get_by_role("heading", name="There are two versions").wait_for()
    words = page.locator("dialog[open]").inner_text()
    assert (
        "New votes arrived" in words
        and "Count with the new votes" in words
        and "saved version stays" not in words
    )
    page.get_by_role("button", name="Use the new count").click()
    assert actions(page) == ["none", "none", "approve"]
    assert criteria_rounds.get_criteria_set(bench.context, bench.person("Olu"), bench.slug) is None
