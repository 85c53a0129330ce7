"""Filling memory, disk and connections: bodies before the session, half-sent requests, and too many of them."""

from __future__ import annotations

import asyncio
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from coeval.ui.run import build_app
from coeval.ui.server import gradio_gate
from coeval.ui.server.connection_limits import build_protocol
from coeval.ui.server.guard import Guard
from coeval.ui.server.request_limits import STRANGER_BYTES, Quota
from coeval.usecases.access import Context
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
    sender = Sender(4096, headers)
    asyncio.run(Guard(_stub, context)(sender.scope, sender.receive, sender.send))  # type: ignore[arg-type]
    assert sender.answer == 413 and sender.taken <= STRANGER_BYTES + 4096


def test_a_member_sends_a_table_but_not_100_mb(visit: Visit) -> None:
    browser = visit("Ana")
    mark = {"instance": 1, "comment": "x" * 100_000}
    assert (
        browser.post("/api/scrutiny/demo/marks", json=mark).status_code == 422
    )  # read, and judged by its words
    for path in ("/api/scrutiny/demo/marks", "/gradio_api/queue/join", "/gradio_api/upload", "/signout"):
        assert browser.post(path, content=b"x" * 5_000_000).status_code in (404, 413), path


def test_a_person_saves_so_many_bytes_in_an_hour(context: Context) -> None:
    """Every save is kept for good: 1 MB each, without a limit, filled the disk and slowed everybody's reading."""
    app = build_app(context)
    (guard,) = (one for one in app.user_middleware if one.cls is Guard)
    guard.kwargs["quota"] = Quota(most=3 << 20)

    def sign_in(name: str) -> TestClient:
        browser = TestClient(app, follow_redirects=False, raise_server_exceptions=False)
        assert browser.post("/signin", data={"name": name}).status_code == 303
        return browser

    def save(browser: TestClient, size: int, path: str = "marks") -> Any:
        return browser.post(f"/api/scrutiny/demo/{path}", json={"instance": 1, "text": "x" * size})

    olu, ana, ben = sign_in("Olu"), sign_in("Ana"), sign_in("Ben")
    assert save(ana, 300_000).status_code == 413, "an annotator's save is small"
    answers = [save(ana, 200_000, path) for path in ("marks", "answers", "submissions") * 6]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(refused) == 3 and refused[0].json()["error"] == "quota"
    assert "3 MB within an hour" in refused[0].json()["message"]
    assert "This browser keeps what you typed" in refused[0].json()["message"]
    assert save(sign_in("Ana"), 10).status_code == 429, "another browser of the same person"
    assert save(ben, 10).status_code == 422 and save(olu, 200_000).status_code == 422


def test_an_annotator_s_event_is_small_and_has_few_values(visit: Visit) -> None:
    """Gradio parses every event on the loop that answers everybody: 2 MB of it stop all others for a second."""
    ana, olu = visit("Ana"), visit("Olu")
    known = ana.get("/config").json()["dependencies"][0]["id"]

    def send(browser: Any, data: list[Any], path: str = "") -> int:
        event = {"data": data, "fn_index": known, "session_hash": "s"}
        status: int = browser.post(f"{path}/gradio_api/queue/join", json=event).status_code
        return status

    assert send(ana, ["x" * 70_000]) == 413 and send(olu, ["x" * 70_000]) == 200
    assert send(ana, ["x" * 50_000]) == 200
    assert send(ana, [[]] * 12_000) == 422 and send(olu, [[]] * 12_000) == 422
    assert send(olu, [[[]] * 12_000], "/admin") == 200


def test_a_large_event_is_parsed_beside_the_loop(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    find = gradio_gate.find_files

    def note(*what: Any) -> Any:
        names.append(threading.current_thread().name)
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return find(*what)

    monkeypatch.setattr(gradio_gate, "find_files", note)
    visit("Ana").post("/gradio_api/queue/join", json={"data": [], "fn_index": 0, "session_hash": "s"})
    assert len(names) == 1


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


LARGE = 30_000_000
"""Bytes of an answer that no connection holds by itself."""


@pytest.fixture(scope="module")
def port(context: Context) -> Iterator[int]:
    """A server with limits small enough to be met in a test; no proxy is trusted, so loopback is counted."""
    protocol = build_protocol([], most_of_one=8, head_seconds=0.6, write_seconds=0.6)
    app = build_app(context)
    app.router.routes.insert(0, Route("/large", lambda request: Response(b"x" * LARGE)))
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


@pytest.mark.slow
def test_half_a_head_ends(port: int) -> None:
    assert talk(port) == b""
    assert talk(port, HEAD) == b""


def test_a_head_without_end_ends(port: int) -> None:
    assert talk(port, HEAD, *[b"X-More: " + b"x" * 8000 + b"\r\n"] * 200) == b""


def test_half_a_body_ends_with_a_word(port: int) -> None:
    answer = talk(port, HEAD + b"Content-Length: 500\r\n\r\nname=E")
    assert answer.startswith(b"HTTP/1.1 408") and b"did not arrive in time" in answer


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


@pytest.mark.slow
def test_an_answer_that_nobody_reads_ends(port: int) -> None:
    """Who asks for more than the connection holds, and reads nothing, keeps it for a second and not for minutes."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        state = select.poll()
        state.register(connection, 0)  # what went wrong with it is told all the same
        assert comes_to_be(lambda: bool(state.poll(0)))


@pytest.mark.slow
def test_who_reads_slowly_gets_the_whole_answer(port: int) -> None:
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        got, ends = bytearray(), time.monotonic() + 4  # seven times as long as an answer may wait unread
        while chunk := connection.recv(65536):
            got += chunk
            if time.monotonic() < ends:
                time.sleep(0.02)
    assert len(got.partition(b"\r\n\r\n")[2]) == LARGE


def test_one_address_does_not_take_every_connection(port: int) -> None:
    assert comes_to_be(lambda: ask_beside(port, 8) == b"")
    assert comes_to_be(lambda: talk(port, ASKED).startswith(b"HTTP/1.1 200"))
