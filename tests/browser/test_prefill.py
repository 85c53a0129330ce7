"""Set-up, Pre-fill in Chromium: the question can be read before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.serving.live_server import LiveServer, start_server

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    live = start_server(tmp_path_factory.mktemp("prefill") / "coeval.db")
    yield live
    live.stop()


def test_the_question_is_shown_with_its_sample_and_its_criterion(page: Any, server: LiveServer) -> None:
    page.set_default_timeout(20_000)
    page.goto(server.url)
    page.get_by_label("Your name").fill("Owner")
    page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text("Owner").wait_for()
    page.goto(f"{server.url}/admin/?task=demo&tab=prefill")
    page.locator("#prefill-protocol input").first.wait_for()
    page.locator("#prefill-question").click()
    question = page.locator("#prefill-note .question")
    question.get_by_text("Judge by this criterion and by nothing else").wait_for()
    text = question.inner_text()
    assert text.index("<sample_output") < text.index("## Criterion") < text.index("## How to answer")


def test_a_preset_fills_in_the_form_and_brings_its_criteria(page: Any, server: LiveServer) -> None:
    page.set_default_timeout(20_000)
    page.goto(f"{server.url}/admin/?task=demo&tab=prefill")
    if page.get_by_label("Your name").count():
        page.get_by_label("Your name").fill("Owner")
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{server.url}/admin/?task=demo&tab=prefill")
    preset = page.locator("#prefill-preset input").first
    preset.click()
    page.get_by_role("option", name="G-Eval, dialogue").click()
    page.locator("#preset-about").get_by_text("auto-CoT").first.wait_for()
    expect(page.locator("#prefill-protocol input").first).to_have_value("score-only: The score alone")
    expect(page.get_by_label("Samples (0: the protocol's own)")).to_have_value("20")
    expect(page.get_by_label("Temperature (empty: the model's own)")).to_have_value("1")
    page.get_by_role("button", name="More settings").click()
    expect(page.locator("#prefill-templates textarea, #prefill-templates input").first).to_have_value(
        "g-eval"
    )
    page.locator("#preset-criteria").click()
    page.locator("#preset-about").get_by_text("Groundedness, 0-1").wait_for()
    page.locator("#prefill-question").click()
    question = page.locator("#prefill-note .question")
    question.get_by_text("Your task is to rate the Reply on one criterion").wait_for()
    assert question.inner_text().endswith("Score: <number>")
