"""What a balancer asks: whether the process is well (``/healthz``), and whether to send people to it (``/readyz``)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from coeval.errors import StorageError
from coeval.study.access import Context

log = logging.getLogger(__name__)

ANSWER_SECONDS = 3.0
"""How long the database may take to answer before people had better go to another server."""
ASKED_AT_ONCE = 2


@dataclass(slots=True)
class Draining:
    """Whether the server was told to stop: it answers until its time is up, and the balancer sends nobody new."""

    begun: bool = False


def add_health(app: FastAPI, context: Context, draining: Draining) -> None:
    """Add both routes. Strangers may ask: what is wrong is for whoever reads the log."""
    # threads of their own: all others may be waiting for a database that is away
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
        # a database on a server that is away is no reason to start this process anew
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
