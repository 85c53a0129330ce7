"""A server that is asked to stop does not wait for pages that are still open in a browser."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter
from tests.support.serving.live_server import start_server

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect


def count_answers(context: Any) -> set[Any]:
    """The requests by which Gradio's answers come, as long as they are open."""
    open_ones: set[Any] = set()
    context.on("request", lambda request: "queue/data" in request.url and open_ones.add(request))
    for ended in ("requestfinished", "requestfailed"):
        context.on(ended, lambda request: open_ones.discard(request))
    return open_ones


def wait_for_answers(page: Any, open_ones: set[Any]) -> None:
    """Wait until the pages ask for nothing more: a server waits for answers under way, and may."""
    quiet = 0
    for _ in range(300):
        quiet = 0 if open_ones else quiet + 1
        if quiet == 10:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"still open: {[one.url for one in open_ones]}")


def test_open_pages_do_not_keep_the_server(page: Any, tmp_path: Path) -> None:
    server = start_server(tmp_path / "study.db")
    try:
        enter(page, server.url, "Owner")
        asking = count_answers(page.context)
        page.goto(f"{server.url}/?task=demo")
        expect(page.get_by_role("tab", name="Scrutiny")).to_be_visible(timeout=30_000)
        other = page.context.new_page()
        other.goto(f"{server.url}/admin/?task=demo")
        expect(other.locator("#task-name textarea, #task-name input").first).not_to_have_value(
            "", timeout=30_000
        )
        wait_for_answers(other, asking)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0
        # what uvicorn says where it gave up waiting
        assert "timeout graceful shutdown exceeded" not in server.log.read_text(encoding="utf-8")
    finally:
        server.stop()
