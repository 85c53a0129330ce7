"""Data sets of the Hub in Chromium: one is found, looked at and imported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.hosting.hub_stub import HubStub, serving_hub
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

TABLE = b"question,answer,topic\nWhy is the sky blue?,It scatters light.,physics\nWhy is grass green?,Leaves.,NA\n"


@pytest.fixture(scope="module")
def hub() -> Iterator[HubStub]:
    with serving_hub(TABLE) as stub:
        yield stub


@pytest.fixture(scope="module")
def server(hub: HubStub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    context = new_context(tmp_path_factory.mktemp("hub"), demo=True, HF_ENDPOINT=hub.url, HF_TOKEN=hub.token)
    with Running(context) as live:
        yield live


def be_patient(page: Any) -> None:
    """Wait as long as a busy machine takes to build the page: 20 seconds were too short for its first wait."""
    page.set_default_timeout(60_000)


def test_a_data_set_is_found_looked_at_and_imported(page: Any, server: Running, hub: HubStub) -> None:
    be_patient(page)
    enter(page, server.url, "Owner")
    page.goto(f"{server.url}/admin/?task=demo&tab=import")
    page.locator("#import-into").get_by_text("(the task chosen above)").wait_for()
    page.locator("#import-into").get_by_text("A new task").click()
    unfold(page, "From the Hugging Face Hub")
    words = page.locator("#hub-words").locator("textarea, input").first
    words.fill("nothing like it")
    page.locator("#hub-find").click()
    page.locator("#import-note").get_by_text("is not a data set of the Hub").wait_for()
    words.fill("team/study")
    words.press("Enter")
    page.locator("#import-note").get_by_text("A public data set at commit").wait_for()
    page.locator("#hub-show").click()
    page.locator("#import-note").get_by_text("csv · 2 rows").wait_for()
    expect(page.locator("#import-note")).to_contain_text(f"team/study@{hub.sha}/default/train")
    expect(page.get_by_label("Use of question")).to_have_value("input")
    expect(page.locator("#import-roles tr", has_text="topic")).to_contain_text("physics")
    expect(page.locator("#import-name textarea, #import-name input").first).to_have_value("Study")
    page.locator("#import-description textarea").fill("Answer a question.")
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("#import-note").get_by_text("added 2 instances").wait_for()
    expect(page.locator("#import-sources")).to_contain_text("hf://datasets/team/study/default/train")
    expect(page.locator("#import-sources")).to_contain_text(hub.sha[:12])


def test_a_study_is_looked_at_sent_and_taken_in_again(page: Any, server: Running, hub: HubStub) -> None:
    hub.files.clear(), hub.commits.clear()
    hub.exists = False
    be_patient(page)
    enter(page, server.url, "Owner")
    page.goto(f"{server.url}/admin/?task=demo&tab=hosting")
    note, send = page.locator("#publish-note"), page.locator("#publish-send")
    unfold(page, "Publish on the Hugging Face Hub")
    page.locator("#publish-look").click()
    expect(note).to_contain_text("is not a data set of the Hub")
    expect(send).to_be_hidden()
    page.locator("#publish-name").locator("textarea, input").first.fill("team/study")
    page.locator("#publish-licence input").click()
    page.get_by_role("option", name="Creative Commons Attribution 4.0").click()
    page.locator("#publish-look").click()
    expect(note).to_contain_text("Preview of team/study")
    expect(note).to_contain_text("a new one will be created, private")
    expect(note.locator("tr", has_text="instances")).to_contain_text("15")
    typed = page.locator("#publish-typed").locator("textarea, input").first
    typed.fill("team/other")
    send.click()
    expect(note).to_contain_text("Type the full name of the data set, team/study")
    assert not hub.exists
    typed.fill("team/study")
    send.click()
    expect(note).to_contain_text("team/study contains the study at commit")
    expect(send).to_be_hidden()
    assert hub.private and len(hub.commits) == 1 and "README.md" in hub.files

    page.goto(f"{server.url}/admin/?task=demo&tab=import")
    page.locator("#import-into").get_by_text("(the task chosen above)").wait_for()
    unfold(page, "From the Hugging Face Hub")
    page.locator("#hub-words").locator("textarea, input").first.fill("team/study")
    page.locator("#hub-find").click()
    expect(page.locator("#hub-part input")).to_have_value(re.compile("the whole study"))
    page.locator("#hub-show").click()
    page.locator("#import-note").get_by_text("coeval-hub · 15 rows").wait_for()
