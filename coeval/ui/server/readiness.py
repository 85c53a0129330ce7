"""Tell balancers whether this server is ready, and show a page while it waits for the previous server."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from coeval.errors import StorageError
from coeval.usecases.access import Context

log = logging.getLogger(__name__)

ANSWER_SECONDS = 3.0
"""Seconds after which a silent database makes the server unready."""
ASKED_AT_ONCE = 2


@dataclass(slots=True)
class Draining:
    """The state of a stopping server: it still answers, but the balancer sends it no new requests."""

    begun: bool = False


def add_health(app: FastAPI, context: Context, draining: Draining) -> None:
    """Add both routes. Strangers may call them; details are only in the log."""
    # own threads, because all others may be waiting for an unreachable database
    limiter = CapacityLimiter(ASKED_AT_ONCE)

    async def is_reachable() -> bool:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await to_thread.run_sync(context.store.ping, limiter=limiter, abandon_on_cancel=True)
        except (StorageError, TimeoutError) as error:
            log.error("%s", error or f"the database did not answer within {ANSWER_SECONDS:g} s")
            return False
        return True

    @app.get("/healthz")
    async def check_health() -> JSONResponse:
        # an unreachable database server is no reason to restart this process
        if context.settings.server or await is_reachable():
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "failing"}, 503)

    @app.get("/readyz")
    async def check_ready() -> JSONResponse:
        if draining.begun:
            return JSONResponse({"status": "draining"}, 503)
        if await is_reachable():
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "failing"}, 503)


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<title>CoEval is starting</title><p>CoEval is starting. This page reloads by itself.</p></html>"""


class Standby:
    """``with Standby(host, port) as standby``: answer on the address from the first ``standby.say`` to the end.

    ``/healthz`` reports success, so that a host that replaces servers one by one stops the old one.
    """

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self._said = ""
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Standby:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    def say(self, why: str) -> None:
        """Log the reason why the start takes long, once for each reason, and answer visitors meanwhile."""
        if why != self._said:
            print(why, flush=True)
            self._said = why
        if self._server is None:
            self._server = _Server(self.address, _Answer)
            threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()


class _Server(ThreadingHTTPServer):
    def __init__(self, address: tuple[str, int], answer: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, answer)


class _Answer(BaseHTTPRequestHandler):
    timeout = 5

    def do_GET(self) -> None:
        healthy = self.path == "/healthz"
        body = b'{"status": "waiting"}' if healthy else PAGE.encode()
        self.send_response(200 if healthy else 503)
        self.send_header("Content-Type", "application/json" if healthy else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "5")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing about visitors who wait."""
