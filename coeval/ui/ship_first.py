"""Acknowledging only what is in a snapshot place, where the owner wants that (``COEVAL_SHIP_FIRST``).

A save is stored at once, and its answer is held back until its change was shipped; the thread that saved does not wait,
so that all who save meanwhile are answered by one file. Where that takes too long the answer says so, and the browser
keeps the save and sends it again: what is stored already is answered as it was.
"""

from __future__ import annotations

import asyncio
import time

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coeval.errors import StorageError
from coeval.language import later, tr
from coeval.study.access import Context
from coeval.study.hosting.shipped import needs_shipping
from coeval.ui.server.answers import tell

LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 8.0
"""A browser gives up after ten."""

OPENS = "/step"
"""How the path ends of what is asked for by POST and saves nothing of a person's."""

SLOW = later(
    "Your answer is stored, and after {seconds} seconds not yet in its snapshot place. It is kept in this "
    "browser and sent again until it is there."
)


class ShipFirst:
    """ASGI middleware around the routes that pages save by."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self.app, self.context = app, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        saves = scope["type"] == "http" and scope["method"] == "POST" and _is_saving(scope)
        if not saves:
            await self.app(scope, receive, send)
            return
        held: list[Message] = []

        async def hold(message: Message) -> None:
            held.append(message)

        await self.app(scope, receive, hold)
        refusal = await self._await_shipping() if held and held[0].get("status", 500) < 300 else ""
        if refusal:
            answer = JSONResponse({"error": "storage", "message": refusal}, 503)
            await answer(scope, receive, send)
            return
        for message in held:
            await send(message)

    async def _await_shipping(self) -> str:
        """Why the save cannot be acknowledged; empty once it can."""
        moment = time.monotonic()
        try:
            while needs_shipping(self.context, moment):
                if time.monotonic() - moment > PATIENCE_SECONDS:
                    return tr(SLOW, seconds=f"{PATIENCE_SECONDS:g}")
                await asyncio.sleep(LOOK_SECONDS)
        except StorageError as error:
            return tell(error)
        return ""


def _is_saving(scope: Scope) -> bool:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.startswith("/api/") and not path.endswith(OPENS)
