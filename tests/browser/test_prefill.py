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
