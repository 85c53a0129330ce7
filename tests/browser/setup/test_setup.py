"""Set-up in Chromium: the task stays, a new task starts clean, and nothing is written elsewhere than the page says."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import make_slug
from tests.conftest import make_study
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return new_context(tmp_path_factory.mktemp("setup"), demo=True)


@pytest.fixture(scope="module")
def server(context: Context) -> Iterator[Running]:
    with Running(context) as live:
        yield live


@pytest.fixture
def name() -> str:
    """The name of a new task: a second try of a test would meet the task of the first."""
    return f"Letters {time.monotonic_ns()}"


@pytest.fixture
def owner(page: Any, server: Running) -> Any:
    enter(page, server.url, "Owner")
    return page


def field(page: Any, elem_id: str) -> Any:
    return page.locator(f"#{elem_id} textarea, #{elem_id} input").first


def open_tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def add_task(page: Any, name: str) -> None:
    """A new task by the form, from whatever Set-up shows."""
    open_tab(page, "Tasks")
    page.get_by_role("button", name="New task").click()
    unfold(page)
    expect(field(page, "task-slug")).to_be_enabled()
    expect(field(page, "task-name")).to_have_value("")
    fill_in(page, name)


def fill_in(page: Any, name: str) -> None:
    """The form of a new task, filled in and saved."""
    field(page, "task-name").fill(name)
    field(page, "task-description").fill("Answer a question.")
    page.get_by_role("button", name="Save task").click()
    page.locator("#task-state").get_by_text("0 instances imported").wait_for()


def test_task_and_tab_stay_by_link_reload_and_tab(owner: Any, server: Running, name: str) -> None:
    page = owner
    page.goto(server.url)
    page.get_by_role("link", name="Set-up").click()
    add_task(page, name)
    expect(page.locator("#task-picker input")).to_have_value(name)
    open_tab(page, "People")
    page.locator("#progress").get_by_text("Owner").first.wait_for()
    page.reload()
    expect(page.get_by_role("tab", name="People", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#task-picker input")).to_have_value(name)
    page.locator("#progress").get_by_text("Owner").first.wait_for()
    page.get_by_role("link", name="← Study").click()
    expect(page.locator("#task-picker input")).to_have_value(name)
    open_tab(page, "Scrutiny")
    page.wait_for_url("**tab=scrutiny*")
    page.reload()
    expect(page.get_by_role("tab", name="Scrutiny")).to_have_attribute("aria-selected", "true")
    page.get_by_role("link", name="Set-up").click()
    expect(page.locator("#task-picker input")).to_have_value(name)
    expect(field(page, "task-name")).to_have_value(name)
    # the language of the annotators' screens is chosen with the task
    unfold(page)
    expect(field(page, "task-language")).to_have_value("English")
    field(page, "task-language").click()
    page.get_by_role("option", name="العربية").click()
    page.get_by_role("button", name="Save task").click()
    page.get_by_text(f"Saved: {name}").wait_for()
    page.reload()
    unfold(page)
    expect(field(page, "task-language")).to_have_value("العربية")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Help", exact=True).click()
    opened.value.get_by_role("heading", level=1).first.wait_for()
    page.get_by_role("link", name="Sign out", exact=True).click()
    page.get_by_role("button", name="Sign in").wait_for()


def test_archive_and_restore_move_the_whole_page(owner: Any, server: Running, name: str) -> None:
    page, slug = owner, make_slug(name)
    page.goto(f"{server.url}/admin/?task=demo")
    add_task(page, name)
    page.locator("#task-state").get_by_text("Progress").wait_for()
    for part in ("More settings", "Study design", "Export or archive"):
        unfold(page, part)
    with page.expect_download() as outline:
        page.get_by_role("link", name="Download the study outline").click()
    assert outline.value.suggested_filename == f"{slug}-outline.zip"
    field(page, "archive-typed").fill(slug)
    page.get_by_role("button", name="Archive the task").click()
    # the first of the team's own takes its place, or, without one, the first example
    expect(page.locator("#design-heading")).not_to_contain_text(slug)
    expect(page.locator("#task-picker input")).not_to_have_value(name)
    page.locator("#archived input").click()
    page.get_by_role("option", name=name).click()
    page.get_by_role("button", name="Restore it").click()
    page.locator("#design-heading").get_by_text(f"of {slug}").wait_for()
    expect(page.locator("#task-picker input")).to_have_value(name)


def test_the_data_of_a_task(owner: Any, server: Running) -> None:
    page = owner
    page.goto(f"{server.url}/admin/?task=demo&tab=data")
    page.locator("#data-count").get_by_text("15 instances").wait_for()
    page.set_viewport_size({"width": 1280, "height": 720})
    last = page.locator("#data-rows th").filter(has_text="Notes").locator("visible=true").first
    expect(last).to_be_in_viewport(ratio=0.95)  # nothing is cut on the right
    page.locator("#data-rows").get_by_text("parcel-A").locator("visible=true").first.click()
    page.locator("#data-view").get_by_text("Instance 1 · parcel-A").wait_for()
    expect(page.locator("#data-view").get_by_text("Instance 1 · parcel-A")).to_be_in_viewport()
    field(page, "data-search").fill("parcel-B")
    field(page, "data-search").press("Enter")
    page.locator("#data-count").get_by_text("1 instance.").wait_for()
    page.locator("#data-instance input").click()
    page.get_by_role("option", name="2 · parcel-B").click()
    view = page.locator("#data-view")
    view.get_by_text("its lines").first.wait_for()
    expect(view).to_contain_text("Instance 2 · parcel-B")
    # its number shows which system wrote it, which the study hides from all who judge
    page.goto(f"{server.url}/?task=demo&tab=scrutiny&item=parcel-B")
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()
    assert page.locator(".wb-name").count() == 0


def test_a_plan_and_a_rule_that_was_said_beforehand(owner: Any, server: Running, name: str) -> None:
    page = owner
    page.goto(server.url)
    page.get_by_role("link", name="Set-up").click()
    add_task(page, name)
    open_tab(page, "More tools")
    page.locator("#tool-plan").get_by_role("checkbox").check()
    open_tab(page, "Plan")
    page.locator("#plan-view").get_by_text("Nobody has scored anything yet").wait_for()
    unfold(page)
    field(page, "plan-width").fill("0.1")
    page.locator("#plan-work").click()
    page.get_by_text("The plan uses these numbers").first.wait_for()
    page.goto(f"{server.url}/admin/?task=demo&tab=plan")
    page.locator("#plan-view p").first.wait_for()
    unfold(page, "Stopping rule")
    expect(field(page, "rule-documents")).to_have_value("5")
    expect(page.locator("#rule-width")).to_contain_text("points")
    field(page, "rule-width").fill("0.1")
    page.locator("#rule-declare").click()
    page.locator("#rule-view").get_by_text("is known to ±0.1 points, or one scores higher").wait_for()
    page.locator("#rule-view").get_by_text("Not enough yet").wait_for()
    field(page, "rule-width").fill("0")
    page.locator("#rule-declare").click()
    page.get_by_text("The width is 0").first.wait_for()
    # a coefficient is written as on the tiles of Agreement
    page.goto(f"{server.url}/admin/?task=finished-example&tab=plan")
    expect(page.locator("#plan-view")).to_contain_text(re.compile(r"is −?\.\d\d; to know it to ±\.05"))


def comment(page: Any, text: str) -> None:
    page.get_by_role("button", name="Comment", exact=True).click()
    page.get_by_label("Comment on this instance").fill(text)
    page.get_by_role("button", name="Save comment").click()
    page.get_by_role("dialog").wait_for(state="detached")
    page.reload()


def test_a_comment_reaches_the_inbox_and_its_answer_the_instance(
    owner: Any, server: Running, context: Context, name: str
) -> None:
    page, study, slug = owner, make_study(), make_slug(name)
    import_study(context, OPERATOR, replace(study, task=replace(study.task, slug=slug, name=name)))
    page.goto(f"{server.url}/?task={slug}&tab=scrutiny")
    page.locator(".wb[data-state=step]").wait_for()
    comment(page, "The answer ends too soon.")
    where = page.url
    page.locator("summary", has_text="Inbox 1").click()
    asked = page.locator("#me .message")
    asked.get_by_text("The answer ends too soon.").wait_for()
    instance = asked.get_by_role("link").inner_text().removeprefix("instance ")
    asked.get_by_label("Answer").fill("It does, in the source too.")
    asked.get_by_role("button", name="Answer").click()
    # its author, on the same page, sees the answer without a reload
    page.locator(".wb-answer", has_text="Owner answered: It does, in the source too.").wait_for()
    expect(page.locator("summary", has_text="Inbox")).to_have_count(0)
    assert page.url == where
    page.goto(f"{server.url}/admin/?task={slug}&tab=review")
    page.locator("#review-differing").get_by_text("None yet: two people must score the same item.").wait_for()
    page.locator("#inbox-state label", has_text="answered").click()
    card = page.locator("#inbox-messages .message")
    card.get_by_text("Answered by Owner").wait_for()
    with page.expect_popup() as opened:
        card.get_by_role("link", name=f"instance {instance}").click()
    bench = opened.value
    bench.locator(".wb-answer", has_text="Owner answered: It does, in the source too.").wait_for()
    assert "item=" not in bench.url
    # the answer stays with both when the comment changes
    comment(bench, "The source goes on.")
    bench.locator(".wb-answer", has_text="Owner answered: It does, in the source too.").wait_for()
    bench.close()
    page.locator("#inbox-state label", has_text="open").click()
    card.get_by_text("The source goes on.").wait_for()
    card.get_by_text("Earlier answer by Owner").wait_for()
    card.get_by_role("button", name="Close").click()
    page.locator("#inbox-messages").get_by_text("There are no open flags or comments").wait_for()


def test_a_vote_on_the_next_version_is_opened_and_cancelled(owner: Any, server: Running) -> None:
    page = owner
    page.goto(f"{server.url}/?task=finished-example&tab=criteria")
    page.get_by_role("button", name="Vote on a new version").click()
    page.locator("#ballot-title").get_by_text("version 2").wait_for()
    page.get_by_role("button", name="Cancel this vote").click()
    page.locator("#cancel-box").get_by_text("Version 1 stays in use.").wait_for()
    page.get_by_role("button", name="Cancel the vote", exact=True).click()
    page.locator("#criteria-main").get_by_text("Final criteria · version 1").wait_for()
    expect(page.locator("#cancel-box")).to_be_hidden()
    expect(page.get_by_role("button", name="Vote on a new version")).to_be_visible()
