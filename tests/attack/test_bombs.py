"""What a model's server sends is bounded while it arrives: a bomb of gzip, a body without end, an unknown packing."""

from __future__ import annotations

import gzip
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice, repeat

import pytest

from coeval.llm.client.client import KEPT_OF_TOO_LONG, MAX_BODY, Client
from coeval.llm.client.failures import CallError, Failure
from coeval.settings import Settings
from tests.support.models.single_question import QUESTION, run

MEGABYTE = 1_000_000
ENDLESS = 300
"""Megabytes of a body: far more than may ever be in memory."""
ANSWER = b'{"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}'

Body = Callable[[], Iterator[bytes]]


class Bomber(ThreadingHTTPServer):
    """Answers every request with one body, and counts how much of it was taken."""

    def __init__(self, body: Body, encoding: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.encoding, self.sent = body, encoding, 0


class Handler(BaseHTTPRequestHandler):
    server: Bomber

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if self.server.encoding:
            self.send_header("Content-Encoding", self.server.encoding)
        self.end_headers()
        try:
            for block in self.server.body():
                self.wfile.write(block)
                self.server.sent += len(block)
        except OSError:
            pass  # the client has had enough

    def log_message(self, *_: object) -> None:
        pass


def ask(body: Body, encoding: str) -> tuple[str, CallError | None, int, int]:
    """The answer or the failure, the most memory that asking took, and how many bytes were sent."""

    server = Bomber(body, encoding)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    text, failure = "", None
    tracemalloc.start()
    try:
        client = Client(Settings(base_url=f"http://127.0.0.1:{server.server_port}/v1", timeout=60.0))
        text = run(client, lambda client: client.ask(QUESTION)).text
    except CallError as error:
        failure = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        server.shutdown()
        server.server_close()
    return text, failure, peak, server.sent


def bomb() -> Iterator[bytes]:
    """300 MB of zeros in 300 kB, which arrive as one block."""
    yield pack_bomb()


@cache
def pack_bomb() -> bytes:
    return gzip.compress(ANSWER[:40] + bytes(ENDLESS * MEGABYTE), 6)


def endless() -> Iterator[bytes]:
    return islice(repeat(b"4" * MEGABYTE), ENDLESS)


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """The package is loaded and the bomb is packed, so that their memory is not counted."""
    pack_bomb()
    assert ask(lambda: iter([ANSWER]), "")[0] == "4"


@pytest.mark.slow
@pytest.mark.parametrize(("body", "encoding"), [(bomb, "gzip"), (endless, "")])
def test_a_body_that_is_too_long_is_refused_while_it_arrives(body: Body, encoding: str) -> None:
    _, failure, peak, sent = ask(body, encoding)
    assert failure is not None and failure.kind is Failure.UNREADABLE
    assert f"more than {MAX_BODY:,} bytes" in str(failure)
    assert 0 < len(failure.received) <= KEPT_OF_TOO_LONG
    assert peak < 30 * MEGABYTE
    assert sent < 100 * MEGABYTE


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_what_is_packed_as_was_asked_for_is_read(encoding: str) -> None:
    packed = gzip.compress(ANSWER) if encoding == "gzip" else zlib.compress(ANSWER)
    assert ask(lambda: iter([packed[:9], packed[9:]]), encoding)[0] == "4"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "gzip"])
def test_another_packing_or_a_broken_one_is_told(encoding: str) -> None:
    _, failure, _, _ = ask(lambda: iter([ANSWER]), encoding)
    assert failure is not None and failure.kind is Failure.UNREADABLE
    assert "packed as" in str(failure) or "cannot be unpacked" in str(failure)
