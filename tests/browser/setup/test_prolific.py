"""Set-up's Prolific tab in Chromium: a study from its draft to the last decision, against the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Task
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.hosting.prolific_stub import TOKEN, ProlificStub, serving_prolific
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context
from tests.support.studies.prolific_study import PLAN, PUBLIC, open_study, take_part

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

WHY = "The conclusions do not fit the texts: in all four of them the first line was kept, which is on another text."


@pytest.fixture
def stub() -> Iterator[ProlificStub]:
    with serving_prolific() as running:
        yield running


@pytest.fixture
def context(stub: ProlificStub, tmp_path: Path) -> Context:
    context = new_context(tmp_path, PROLIFIC_TOKEN=TOKEN, COEVAL_PROLIFIC_API=stub.url)
    open_study(context, replace(PLAN, per_instance=6))
    import_study(context, OPERATOR, replace(make_study(1), task=Task("other", "Other")))
    return context


@pytest.fixture
def owner(page: Any, context: Context) -> Iterator[Any]:
    # the address is where Prolific sends people; the test itself goes to the server's own
    server = Running(context)
    with server:
        object.__setattr__(context.settings, "public_url", PUBLIC)
        enter(page, server.url, "Olu")
        page.goto(f"{server.url}/admin/?task=demo&tab=prolific")
        yield page


def fill(page: Any, name: str, text: str) -> None:
    page.locator(f"#prolific-{name}").locator("textarea, input").first.fill(text)


def act(page: Any, name: str, says: str, *, box: str = "") -> str:
    """Press a button and wait for its report; gives what has to be typed to confirm, where it says so."""
    dry = page.locator(f"#prolific-{box or name}-dry input")
    shams = dry.count() and dry.is_checked()
    page.locator(f"#prolific-{name}").click()
    note = page.locator(f"#prolific-{box or name}-note")
    # a dry run's report stands until the next has come, and says much the same
    if not shams:
        expect(note).not_to_contain_text("Dry run")
    expect(note).to_contain_text(says)
    words = note.locator("strong").all_inner_texts()
    return words[0].partition("type: ")[2] if words else ""


def untick(page: Any, name: str) -> None:
    page.locator(f"#prolific-{name}-dry input").uncheck()


def choose(page: Any, submission: str) -> None:
    page.locator("#prolific-who input").click()
    page.get_by_role("option", name=f"· {submission} (").click()
    page.keyboard.press("Escape")


def test_a_study_from_its_draft_to_the_last_decision(
    owner: Any, context: Context, stub: ProlificStub
) -> None:
    page, live = owner, owner.locator("#prolific-live")
    live.get_by_text("There is no study on Prolific for this task yet").wait_for()

    unfold(page, "Create a draft")
    fill(page, "minutes", "20")
    act(page, "draft", "Dry run: nothing was sent. In all 18.00 GBP.")
    assert not stub.studies
    untick(page, "draft")
    act(page, "draft", "The draft was created")
    (study,) = stub.studies

    unfold(page, "Publish")
    words = act(page, "publish", "Dry run: nothing was sent")
    untick(page, "publish")
    page.locator("#prolific-publish").click()
    page.get_by_text("To confirm, type “publish demo for 6 people”").first.wait_for()
    assert stub.studies[study]["status"] == "UNPUBLISHED"
    fill(page, "publish-confirm", words)
    act(page, "publish", "The study was published")
    live.get_by_text("active, 0 of 6 places taken").wait_for()

    for number in (1, 2):
        take_part(context, stub, study, number)
    page.locator("#prolific-refresh").click()
    expect(live.locator("tbody tr")).to_have_count(2)
    unfold(page, "Approve, ask to return, reject")
    page.locator("#prolific-all").click()
    expect(page.locator("#prolific-who")).to_contain_text("a2 (awaiting review)")
    act(page, "approve", "would be approved", box="review")
    assert stub.approved == []
    untick(page, "review")
    act(page, "approve", "approved, and paid the reward", box="review")
    assert sorted(stub.approved) == ["a1", "a2"]
    # a worker's random name can hold "a2" as well
    expect(live.get_by_role("row").filter(has=page.get_by_text("a2", exact=True))).to_contain_text("approved")

    page.locator("#prolific-who").get_by_role("button", name="Clear").or_(
        page.locator("#prolific-who .remove-all")
    ).first.click()
    for number in (3, 4):
        take_part(context, stub, study, number)
    page.locator("#prolific-refresh").click()
    expect(live.locator("tbody tr")).to_have_count(4)
    choose(page, "a3")
    page.locator("#prolific-category input").click()
    page.get_by_role("option", name="low effort").click()
    fill(page, "reason", WHY)
    act(page, "reject", "rejected, and not paid", box="review")
    assert stub.submissions["a3"]["status"] == "REJECTED"
    page.locator("#prolific-who .remove-all").click()
    choose(page, "a4")
    act(page, "return", "asked to return the submission", box="review")
    assert stub.submissions["a4"]["return_requested"]

    unfold(page, "More places")
    fill(page, "more", "2")
    fill(page, "places-confirm", act(page, "places", "Dry run: nothing was sent"))
    untick(page, "places")
    stub.fail(f"PATCH /studies/{study}/", "cut after", 4)
    page.locator("#prolific-places").click()
    page.get_by_text("The result is unknown: look up request").first.wait_for()
    page.locator("#prolific-refresh").click()
    unfold(page, "Look up an unanswered request")
    page.locator("#prolific-request input").click()
    page.get_by_role("option", name="places").click()
    act(page, "settle", "the study has 8 places")
    assert stub.studies[study]["total_available_places"] == 8

    record = page.locator("#prolific-record")
    expect(record.locator("tbody tr")).to_have_count(7)
    expect(record.locator("tbody tr").first).to_contain_text("places")
    expect(record.locator("tbody tr").first).to_contain_text("done")
    with page.expect_download() as taken:
        record.get_by_role("link", name="Record as CSV").click()
    text = taken.value.path().read_text()
    assert "Olu,places" in text and TOKEN not in text and TOKEN not in page.content()

    # what was typed for one task's people does not stand there for another's
    page.locator("#task-picker input").click()
    page.get_by_role("option", name="Other").click()
    live.get_by_text("This task is not assigned to a crowd").wait_for()
    page.locator("#task-picker input").click()
    page.get_by_role("option", name="A task").click()
    live.get_by_text("places taken").wait_for()
    for name in ("publish-confirm", "places-confirm", "reason"):
        expect(page.locator(f"#prolific-{name}").locator("textarea, input").first).to_have_value("")
    expect(page.locator("#prolific-places-dry input")).to_be_checked()
    expect(page.locator("#prolific-places-note")).to_have_text("")
