"""Acknowledge saves only after they are in a snapshot place, if the owner wants that (``COEVAL_SHIP_FIRST``).

A save is stored at once, and its answer waits until its change is in a snapshot place. The saving thread does not
wait, so one shipped file answers all saves of that time. If shipping takes too long, the answer says so, and the
browser keeps the save and sends it again; a stored save gets its original answer. The forms of a crowd study's pages,
such as consent, also wait. Actions in Set-up are Gradio events and do not wait.
"""

from __future__ import annotations

import asyncio
import re
import time

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coeval.errors import StorageError
from coeval.language import later, tr
from coeval.ui.server.payloads import tell
from coeval.ui.server.plain_pages import render_page
from coeval.usecases.access import Context
from coeval.usecases.hosting.replication import needs_shipping

LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 8.0
"""Longest wait in seconds; a browser gives up after ten."""

OPENS = "/step"
"""Endings of POST paths that save no work of a person."""

SLOW = later(
    "Your answer is saved, but its backup is not complete after {seconds} seconds. This "
    "browser keeps the answer and sends it again until the backup is complete."
)
SLOW_FORM = later(
    "Your change is saved, but its backup is not complete after {seconds} seconds. Wait a moment, then reload "
    "this page and let the browser send it again."
)

STUDY_FORM = re.compile(r"/s/[^/]+/[a-z-]+")


class ShipFirst:
    """ASGI middleware around the routes that save people's work."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self.app, self.context = app, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = _path(scope) if scope["type"] == "http" and scope["method"] == "POST" else ""
        is_form = STUDY_FORM.fullmatch(path) is not None
        if not (is_form or _is_api_save(path)):
            await self.app(scope, receive, send)
            return
        held: list[Message] = []

        async def hold(message: Message) -> None:
            held.append(message)

        await self.app(scope, receive, hold)
        done = held and held[0].get("status", 500) < (400 if is_form else 300)  # a form leads to a page
        refusal = await self._await_shipping(SLOW_FORM if is_form else SLOW) if done else ""
        if refusal:
            answer = _refuse_form(refusal, held[0]) if is_form else _refuse(refusal)
            await answer(scope, receive, send)
            return
        for message in held:
            await send(message)

    async def _await_shipping(self, slow: str) -> str:
        """Return the reason why the save cannot be acknowledged; return "" once it can be."""
        moment = time.monotonic()
        try:
            while needs_shipping(self.context, moment):
                if time.monotonic() - moment > PATIENCE_SECONDS:
                    return tr(slow, seconds=f"{PATIENCE_SECONDS:g}")
                await asyncio.sleep(LOOK_SECONDS)
        except StorageError as error:
            return tell(error)
        return ""


def _refuse(said: str) -> Response:
    return JSONResponse({"error": "storage", "message": said}, 503)


def _refuse_form(said: str, held: Message) -> Response:
    """Return a page with the refusal; it keeps the session of a consent, so that the browser may return."""
    page = render_page("waiting", 503, title=tr("Wait a moment"), text=said, base="../../")
    for name, value in held["headers"]:
        if name.lower() == b"set-cookie":
            page.raw_headers.append((name, value))
    return page


def _path(scope: Scope) -> str:
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _is_api_save(path: str) -> bool:
    return path.startswith("/api/") and not path.endswith(OPENS)
