"""What a balancer is told of a server: whether it is well, and whether to send people to it."""

from __future__ import annotations

import signal
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from coeval.usecases.access import Context
from tests.support.hosting.postgres import Server
from tests.support.serving.live_server import LiveServer


def ask(server: LiveServer, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(server.url + path, timeout=30) as answer:
            return answer.status, str(answer.headers.get("set-cookie", ""))
    except urllib.error.HTTPError as error:
        return error.code, ""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_balancer_hears_when_a_server_cannot_be_used(
    context: Context, postgres: Server, tmp_path: Path
) -> None:
    server = LiveServer(context.store.address, log=tmp_path / "one.log")
    try:
        status, cookie = ask(server, "/signin")
        assert status == 200 and cookie.startswith("coeval_replica=") and "HttpOnly" in cookie
        assert ask(server, "/readyz") == (200, "") and ask(server, "/healthz")[0] == 200
        postgres.stop()
        assert ask(server, "/readyz")[0] == 503 and ask(server, "/healthz")[0] == 200
        postgres.start()
        assert until_ready(server)
        set_read_only(postgres, context, "on")
        assert ask(server, "/readyz")[0] == 503 and ask(server, "/healthz")[0] == 200
        refused = sign_in(server)
        assert refused[0] != 200 and "read-only just now, so nothing was saved" in refused[1]
        set_read_only(postgres, context, "off")
        assert until_ready(server) and sign_in(server)[0] == 200
        assert "Traceback" not in server.log.read_text()
        server.process.send_signal(signal.SIGTERM)
        # it answers people who come to it for a while, and says that no more should come
        while ask(server, "/readyz")[0] == 200:
            time.sleep(0.05)
        assert ask(server, "/signin")[0] == 200
        assert server.process.wait(60) == 0
    finally:
        server.stop()


def set_read_only(postgres: Server, context: Context, value: str) -> None:
    """As a managed service does it where it fails over: sessions end, and new ones cannot write."""
    name = context.store.address.split("/")[3].split("?")[0]
    postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}")
    postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def sign_in(server: LiveServer) -> tuple[int, str]:
    """The answer to somebody who signs in, which writes a session."""
    body = urllib.parse.urlencode({"name": "Ana"}).encode()
    try:
        with urllib.request.urlopen(f"{server.url}/signin", body, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def until_ready(server: LiveServer) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if ask(server, "/readyz")[0] == 200:
            return True
        time.sleep(0.1)
    return False
