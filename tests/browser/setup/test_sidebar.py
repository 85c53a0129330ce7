"""Set-up's side bar in Chromium: groups, keys, a phone, tools that are turned on, and what annotators see."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from coeval.domain import Criterion, Plan, Study, Task
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import OPENED, enter, settle
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

GROUPS = {
    "Study": ["Tasks", "Import", "Pre-fill", "Data"],
    "People": ["People", "Review"],
    "More": ["More tools"],
}
"""The pages of a new owner: at most seven."""
LIST_GROUPS = """() => {
    const groups = {};
    let at = '';
    for (const one of document.querySelectorAll('#tabs [role=tablist] > *')) {
        if (one.matches('.tab-group')) groups[(at = one.textContent)] = [];
        else if (one.checkVisibility()) groups[at].push(one.textContent.trim());
    }
    return groups;
}"""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return new_context(tmp_path_factory.mktemp("sidebar"), demo=True)


@pytest.fixture(scope="module")
def server(context: Context) -> Iterator[Running]:
    sign_in(context, "Owner")
    with Running(context) as live:
        yield live


@pytest.fixture
def owner(page: Any, server: Running) -> Any:
    page.set_default_timeout(40_000)
    enter(page, server.url, "Owner")
    return page


@pytest.fixture
def slug(context: Context) -> str:
    """A task of its own for every attempt, with a criterion and no crowd."""
    task = Task(f"try-{time.monotonic_ns()}", "Try", "Answer the question.")
    import_study(context, OPERATOR, Study(task, (), (Criterion("It is clear."),)))
    return task.slug


def tab(page: Any, name: str) -> Any:
    return page.get_by_role("tab", name=name, exact=True)


def test_a_new_owner_sees_seven_pages_and_three_tabs(owner: Any, server: Running, slug: str) -> None:
    page = owner
    page.goto(f"{server.url}/admin/?task={slug}")
    expect(tab(page, "Tasks")).to_have_attribute("aria-selected", "true")
    page.locator("#task-state .card").wait_for()
    assert page.evaluate(LIST_GROUPS) == GROUPS
    page.goto(f"{server.url}/?task={slug}")
    page.wait_for_function(OPENED)
    assert list_study_tabs(page) == ["Criteria", "Scrutiny", "Agreement"]


def list_study_tabs(page: Any) -> list[str]:
    titles = page.locator("#tabs > .tab-wrapper [role=tab]")
    return [one.inner_text().strip() for one in titles.all() if one.is_visible()]


def test_more_tools_says_what_each_is_for_and_turns_it_on(owner: Any, server: Running, slug: str) -> None:
    page = owner
    page.goto(f"{server.url}/admin/?task={slug}&tab=tools")
    for tool, purpose in {"plan": "how many documents", "judge": "judge.json", "spans": "MQM"}.items():
        box = page.locator(f"#tool-{tool}")
        expect(box).to_contain_text(purpose)
        box.get_by_role("checkbox").check()
        page.get_by_text("is on for this study.").first.wait_for()
        settle(page)
    tab(page, "Plan").click()
    page.locator("#plan-view p").first.wait_for()
    page.goto(f"{server.url}/?task={slug}")
    page.wait_for_function(OPENED)
    assert list_study_tabs(page) == ["Criteria", "Scrutiny", "Agreement", "Judge", "Spans"]
    page.goto(f"{server.url}/admin/?task={slug}&tab=tools")
    expect(page.locator("#tool-plan").get_by_role("checkbox")).to_be_checked()
    page.locator("#tool-plan").get_by_role("checkbox").uncheck()
    page.get_by_text("Plan is off for this study.").first.wait_for()
    expect(tab(page, "Plan")).to_be_hidden()


def test_a_tool_in_use_stays_on(owner: Any, server: Running, context: Context, slug: str) -> None:
    page = owner
    plans.set_plan(context, OPERATOR, slug, Plan(per_instance=1, batch=1, quota=4))
    page.goto(f"{server.url}/admin/?task={slug}&tab=tools")
    box = page.locator("#tool-crowd").get_by_role("checkbox")
    expect(box).to_be_checked()
    expect(box).to_be_disabled()
    tab(page, "Crowd").wait_for()


def test_the_keys_of_the_side_bar(owner: Any, server: Running) -> None:
    page = owner
    page.goto(f"{server.url}/admin/?task=demo")
    page.locator("#task-state .card").wait_for()
    expect(page.locator("#tabs [role=tablist]")).to_have_attribute("aria-orientation", "vertical")
    tab(page, "Tasks").focus()
    page.keyboard.press("ArrowDown")
    expect(tab(page, "Import")).to_be_focused()
    # nothing opens before it is chosen: a page asks the server
    expect(tab(page, "Tasks")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(tab(page, "Import")).to_have_attribute("aria-selected", "true")
    page.locator("#import-into").get_by_text("(the task chosen above)").wait_for()
    page.keyboard.press("End")
    expect(tab(page, "More tools")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(tab(page, "Tasks")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(tab(page, "More tools")).to_be_focused()
    # the list is one stop of the tab key
    stops = page.locator("#tabs [role=tab]:not([tabindex='-1'])")
    expect(stops).to_have_count(1)
    tab(page, "Import").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('[role=tabpanel]') !== null")


def test_an_owner_makes_a_token_for_an_agent_and_revokes_it(owner: Any, server: Running, slug: str) -> None:
    page = owner
    page.goto(f"{server.url}/admin/?task={slug}&tab=hosting")
    page.get_by_role("button", name="Agents").click()
    for label in ("Limit", "Price in", "Price out"):
        page.get_by_label(label).fill("2")
    page.locator("#agents-make").click()
    row = page.locator("#agents-tokens tbody tr").filter(has_text=slug)
    row.wait_for()
    secret = page.get_by_label("It is shown only once").input_value()
    ask = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    assert httpx.post(f"{server.url}/agent", json=ask, headers=headers).status_code == 200
    page.locator("#agents-key").get_by_role("textbox").fill(row.inner_text().split()[0])
    page.locator("#agents-revoke").click()
    row.wait_for(state="detached")
    assert httpx.post(f"{server.url}/agent", json=ask, headers=headers).status_code == 404
