"""Having the server fetch an address: an event that names a file makes Gradio download it before any check."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from tests.attack.conftest import Visit

META = {"_type": "gradio.FileData"}
ADDRESSES = (
    "http://127.0.0.1:{port}/x.csv",
    "https://example.org/x.csv",
    "HTTP://100.64.0.1/x",
    "//127.0.0.1:{port}/x",
    "ftp://127.0.0.1:{port}/x",
    "file:///etc/passwd",
    "http:/127.0.0.1:{port}/x",
)


class Target(HTTPServer):
    """A server that notes who asks it for something."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        target = self

        class Note(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                target.asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Note)


@pytest.fixture
def target() -> Iterator[Target]:
    server = Target()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()


def shapes(file: dict[str, Any]) -> Iterator[Any]:
    """The same file wherever an event can hold it."""
    yield file
    yield [file]
    yield {"rows": [], "added": [], "rev": 0, "score": file}
    yield {"deep": [[{"er": file}]]}


@pytest.mark.slow
@pytest.mark.parametrize("mount", ["", "/admin"])
def test_no_event_makes_the_server_fetch(mount: str, visit: Visit, target: Target) -> None:
    browser = visit("Olu" if mount else "Ana")
    for address in ADDRESSES:
        address = address.format(port=target.server_port)
        for file in ({"path": address, "meta": META}, {"path": "/tmp/x", "url": address, "meta": META}):
            for number, sent in enumerate(shapes(file)):
                body = {"data": [sent, sent], "fn_index": 0, "session_hash": f"s{number}"}
                answer = browser.post(f"{mount}/gradio_api/queue/join", json=body)
                assert answer.status_code == 422, (address, sent)
    assert target.asked == []


def test_the_study_s_own_pages_take_no_file_at_all(visit: Visit) -> None:
    browser = visit("Ana")
    file = {"path": "/tmp/gradio/abc/x.csv", "meta": META}
    body = {"data": [file], "fn_index": 0, "session_hash": "s"}
    assert browser.post("/gradio_api/queue/join", json=body).status_code == 422
    sent = browser.post("/gradio_api/upload", files={"files": ("x.csv", b"input,output\n")})
    assert sent.status_code == 404


def test_what_an_owner_uploads_can_still_be_named(visit: Visit) -> None:
    owner = visit("Olu")
    sent = owner.post("/admin/gradio_api/upload", files={"files": ("x.csv", b"input,output\n1,2\n")})
    path = sent.json()[0]
    file = {"path": path, "url": f"http://testserver/admin/gradio_api/file={path}", "meta": META}
    body = {"data": [file], "fn_index": 0, "session_hash": "s"}
    assert owner.post("/admin/gradio_api/queue/join", json=body).status_code == 200


def test_an_event_nested_without_end_is_refused(visit: Visit) -> None:
    body = b'{"data": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"
    answer = visit("Ana").post(
        "/gradio_api/queue/join", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
