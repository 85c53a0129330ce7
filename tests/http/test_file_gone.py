"""A server whose file was moved away acknowledges nothing and says so, to people and to whoever watches it."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.benchmarks import saves
from tests.support.serving.live_server import LiveServer, start_server

pytestmark = pytest.mark.slow


def ask_health(server: LiveServer) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{server.url}/healthz", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def save_around(server: LiveServer, away: Path) -> tuple[saves.Tally, saves.Tally]:
    """One save before the file is moved away, and one after."""
    before, after = saves.Tally(), saves.Tally()
    annotator = saves.Annotator(server, "Ana")
    await annotator.start()
    await annotator.confirm(before)
    server.db.rename(away)
    status, _, body = await annotator.ask(
        "POST", "/api/scrutiny/demo/submissions", json.dumps(saves.confirm_of(annotator.step)).encode()
    )
    after.errors.append(f"{status} {body.decode()}")
    annotator.stop()
    return before, after


def test_a_file_moved_away_takes_no_save_and_turns_health_red(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    saves.make_file(path, documents=2)
    server = start_server(path)
    try:
        assert ask_health(server) == (200, '{"status":"ok"}')
        before, after = asyncio.run(save_around(server, tmp_path / "away.db"))
        assert len(before.acknowledged) == 1
        (said,) = after.errors
        assert said.startswith("503") and "moved, deleted or replaced" in said and str(tmp_path) not in said
        status, body = ask_health(server)
        assert status == 503 and str(tmp_path) not in body
        assert str(path) in server.log.read_text()
    finally:
        server.stop()
