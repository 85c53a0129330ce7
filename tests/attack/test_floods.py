"""Filling memory, disk and connections: bodies before the session, half-sent requests, and too many of them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn

from coeval.study.access import Context
from coeval.ui.app import build_app
from coeval.ui.server.bodies import STRANGER_BYTES
from coeval.ui.server.connections import build_protocol
from coeval.ui.server.guard import Guard
from tests.attack.conftest import Visit


async def _stub(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


class Sender:
    """A request that goes on and on; notes how much of it was taken."""

    def __init__(self, chunk: int, headers: dict[str, str]) -> None:
        self.chunk, self.taken, self.answer = chunk, 0, 0
        raw = [(name.encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()]
        self.scope = {
            "type": "http", "method": "POST", "path": "/signin", "headers": raw, "scheme": "http",
            "server": ("127.0.0.1", 80), "query_string": b"", "root_path": "",
        }  # fmt: skip

    async def receive(self) -> dict[str, Any]:
        self.taken += self.chunk
        return {"type": "http.request", "body": b"x" * self.chunk, "more_body": True}

    async def send(self, message: dict[str, Any]) -> None:
        self.answer = message.get("status", self.answer)


@pytest.mark.parametrize("headers", [{"transfer-encoding": "chunked"}, {"content-length": "400000000"}])
def test_a_stranger_s_body_is_read_to_64_kb_and_no_further(headers: dict[str, str], context: Context) -> None:
    import asyncio

    sender = Sender(4096, headers)
    asyncio.run(Guard(_stub, context)(sender.scope, sender.receive, sender.send))  # type: ignore[arg-type]
    assert sender.answer == 413 and sender.taken <= STRANGER_BYTES + 4096


def test_a_stranger_s_file_fills_no_disk(visit: Visit) -> None:
    form = {"name": (None, "Eve"), "x": ("x", b"x" * 100_000)}
    for path in ("/signin", "/admin/gradio_api/upload", "/gradio_api/queue/join", "/s/demo/consent"):
        assert visit().post(path, files=form).status_code in (401, 404, 413), path


def test_a_member_sends_a_table_but_not_100_mb(visit: Visit) -> None:
    browser = visit("Ana")
    mark = {"instance": 1, "comment": "x" * 100_000}
    assert (
        browser.post("/api/scrutiny/demo/marks", json=mark).status_code == 422
    )  # read, and judged by its words
    for path in ("/api/scrutiny/demo/marks", "/gradio_api/queue/join", "/gradio_api/upload", "/signout"):
        assert browser.post(path, content=b"x" * 5_000_000).status_code in (404, 413), path


def test_refused_events_leave_little_behind(visit: Visit, app: Any) -> None:
    """Gradio keeps what each page sent last, refused or not: neither many pages nor large ones add up."""
    browser = visit("Ana")
    blocks = [
        route.app.app for route in app.routes if type(getattr(route, "app", None)).__name__ == "GradioGate"
    ]
    assert len(blocks) == 2
    for gradio_app in blocks:
        assert gradio_app.get_blocks().state_session_capacity <= 25
        assert gradio_app.get_blocks().delete_cache
    big = {"data": ["x" * 3_000_000], "fn_index": 0, "session_hash": "s"}
    assert browser.post("/gradio_api/queue/join", content=json.dumps(big)).status_code == 413


# ---- what only a real connection shows ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def port(context: Context) -> Iterator[int]:
    """A server with limits small enough to be met in a test; no proxy is trusted, so loopback is counted."""
    protocol = build_protocol([], most=12, most_of_one=8, head_seconds=0.6)
    app = build_app(context)
    (guard,) = (one for one in app.user_middleware if one.cls is Guard)
    guard.kwargs["body_seconds"] = 0.6
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", http=protocol))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(10)


def talk(port: int, *parts: bytes, wait: float = 5.0) -> bytes:
    """What comes back until the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        answer = b""
        try:
            for part in parts:
                connection.sendall(part)
            while chunk := connection.recv(65536):
                answer += chunk
        except ConnectionError:
            pass
        return answer


HEAD = b"POST /signin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"


def test_half_a_head_ends(port: int) -> None:
    assert talk(port) == b""
    assert talk(port, HEAD) == b""


def test_a_head_without_end_ends(port: int) -> None:
    assert talk(port, HEAD, *[b"X-More: " + b"x" * 8000 + b"\r\n"] * 200) == b""


def test_half_a_body_ends_with_a_word(port: int) -> None:
    answer = talk(port, HEAD + b"Content-Length: 500\r\n\r\nname=E")
    assert answer.startswith(b"HTTP/1.1 408") and b"did not arrive in time" in answer


def test_what_is_too_large_is_said_before_it_is_sent(port: int) -> None:
    answer = talk(port, HEAD + b"Content-Length: 400000000\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")


ASKED = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def ask_beside(port: int, others: int) -> bytes:
    """What a request is answered while so many connections of its address are open."""
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(others)]
    try:
        return talk(port, ASKED)
    finally:
        for connection in held:
            connection.close()


def comes_to_be(asked: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether it is so before long: the server ends idle connections, and hears of closed ones, in its own time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if asked():
            return True
        time.sleep(0.05)
    return False


def test_one_address_does_not_take_every_connection(port: int) -> None:
    assert comes_to_be(lambda: ask_beside(port, 8) == b"")
    assert comes_to_be(lambda: talk(port, ASKED).startswith(b"HTTP/1.1 200"))
