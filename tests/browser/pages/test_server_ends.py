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
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_open_pages_do_not_keep_the_server(page: Any, tmp_path: Path) -> None:
    server = start_server(tmp_path / "study.db")
    try:
        enter(page, server.url, "Owner")
        page.goto(f"{server.url}/?task=demo")
        expect(page.get_by_role("tab", name="Scrutiny")).to_be_visible(timeout=30_000)
        other = page.context.new_page()
        other.goto(f"{server.url}/admin/?task=demo")
        expect(other.locator("#task-slug textarea, #task-slug input").first).to_have_value(
            "demo", timeout=30_000
        )
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0
        # what uvicorn says where it gave up waiting
        assert "timeout graceful shutdown exceeded" not in server.log.read_text(encoding="utf-8")
    finally:
        server.stop()
