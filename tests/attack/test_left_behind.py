"""What is left on the disk and in the log: files for others to read, uploads, and all that was refused."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import make_place
from tests.support.serving.live_server import LiveServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("left")
    running = LiveServer(
        folder / "coeval.db",
        GRADIO_TEMP_DIR=str(folder / "uploads"),
        COEVAL_SNAPSHOT_DIR=str(make_place(folder / "shelf")),
    )
    yield running
    running.stop()


@contextmanager
def signed_in(server: LiveServer, name: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as browser:
        assert browser.post("/signin", data={"name": name}).status_code == 303
        yield browser


@pytest.mark.slow
def test_what_is_refused_leaves_no_file_and_a_short_log(server: LiveServer) -> None:
    with signed_in(server, "Olu"), signed_in(server, "Ana") as browser:
        config = browser.get("/config").json()
        picker = next(
            one["id"] for one in config["components"] if one["props"].get("elem_id") == "task-picker"
        )
        fires = [one for one in config["dependencies"] if picker in one["inputs"]]
        for one in fires[:3]:
            data = ["x" * 20_000 if number == picker else None for number in one["inputs"]]
            body = {"data": data, "fn_index": one["id"], "session_hash": "s"}
            assert browser.post("/gradio_api/queue/join", json=body).status_code == 200
            with browser.stream("GET", "/gradio_api/queue/data", params={"session_hash": "s"}) as answer:
                assert any("process_completed" in line for line in answer.iter_lines())
        for path in ("/gradio_api/upload", "/admin/gradio_api/upload"):
            sent = browser.post(path, files={"files": ("x.csv", b"x" * 50_000)})
            assert sent.status_code in (401, 404, 413)
    uploads = server.db.parent / "uploads"
    assert not [path for path in uploads.rglob("*") if path.is_file()]
    assert server.log.stat().st_size < 100_000
    assert max(map(len, server.log.read_text().splitlines()), default=0) < 2_000


@pytest.mark.slow
def test_what_no_page_sends_is_one_line_in_the_log(server: LiveServer) -> None:
    """Unknown sessions, and events with too few or wrong inputs: each wrote 7.6 kB of traceback."""
    before, sent = server.log.stat().st_size, 0
    with signed_in(server, "Olu") as owner:
        answers = "/admin/gradio_api/queue/data"
        for number in range(5):
            sent += 1
            assert owner.get(answers, params={"session_hash": f"nobody{number}"}).status_code == 404
        fires = sorted(owner.get("/admin/config").json()["dependencies"], key=lambda one: -len(one["inputs"]))
        for one in fires[:8]:
            for data in ([], [{"nested": [None]}] * len(one["inputs"])):
                sent += 1
                session = f"wrong{sent}"
                event = {"data": data, "fn_index": one["id"], "session_hash": session}
                if owner.post("/admin/gradio_api/queue/join", json=event).status_code == 200:
                    with owner.stream("GET", answers, params={"session_hash": session}) as answer:
                        assert any("process_completed" in line for line in answer.iter_lines())
    said = server.log.read_text()[before:]
    assert "Traceback" not in said and len(said) < 400 * sent


@pytest.mark.slow
def test_the_files_are_nobody_else_s_to_read(server: LiveServer) -> None:
    with signed_in(server, "Olu") as owner:
        sent = owner.post("/admin/gradio_api/upload", files={"files": ("x.csv", b"input,output\n")})
        assert sent.status_code == 200
        written = [*server.db.parent.glob("coeval.db*"), Path(sent.json()[0])]
    server.stop()  # which takes a last snapshot
    snapshots = list((server.db.parent / "shelf").iterdir())
    assert snapshots
    for path in [*written, *snapshots]:
        if path.exists() and path != server.log:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
