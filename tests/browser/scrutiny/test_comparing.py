"""Outputs compared two at a time, and a fusion with its assistants, from Pre-fill to the Agreement tab, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.models.openai_stub import start_stub
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with start_stub() as stub:
        env = {"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "key"}
        with Running(new_context(tmp_path_factory.mktemp("comparing"), demo=True, **env)) as live:
            yield live


def choose(page: Any, box: str, option: str) -> None:
    page.locator(f"{box} input").first.click()
    page.get_by_role("option", name=re.compile(option)).click()


def test_outputs_are_compared_and_a_fusion_is_held_against_its_assistants(page: Any, server: Running) -> None:
    enter(page, server.url, "Owner")
    page.goto(f"{server.url}/admin/?task=demo&tab=prefill")
    unfold(page)
    choose(page, "#prefill-protocol", "pairwise:")
    page.locator("#prefill-start").click()
    page.locator("#jobs").get_by_text("150 drafted, 150 calls").wait_for(timeout=60_000)
    choose(page, "#prefill-protocol", "fusion:")
    page.locator("#fusion").get_by_role("button").first.click()
    page.locator("#draft-plan").click()
    expect(page.locator("#fusion-plan textarea")).to_have_value(re.compile("1. Read the sample"))
    page.locator("#prefill-start").click()
    page.locator("#jobs").get_by_text("75 drafted").wait_for(timeout=60_000)
    page.reload()
    unfold(page)
    page.get_by_role("button", name="Fusion: assistants and plan").click()
    choose(page, "#fused-run", "fusion")
    page.locator("#fused-tables").get_by_text("TF-IDF cosine").first.wait_for()
    assert "pairwise" not in page.locator("#shown-run").inner_text()
    page.goto(f"{server.url}/?task=demo&tab=agreement")
    page.get_by_text("Systems", exact=True).first.click()
    page.get_by_text("Pairwise comparisons of systems, Effect of the or").click()
    page.get_by_role("heading", name="Pairwise comparisons of systems", exact=True).wait_for()
    page.get_by_role("heading", name="Effect of the order", exact=True).wait_for()
    assert (
        page.get_by_role("cell", name="all criteria", exact=True).count() == 4
    )  # three systems, and the order
