"""The gate before a mounted Gradio app: it passes only the routes of its pages, and only permitted people.

Every event of Gradio is an endpoint, and Gradio has about sixty routes of its own. Routes that our pages never use are
not served. Gradio fetches a file that an event names before any of our checks, so such events are refused here.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from anyio import to_thread
from gradio import queueing
from gradio import routes as gradio_routes
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from coeval.domain import Person, Role
from coeval.ui.server.first_page import FirstPage
from coeval.ui.server.identity import read_session
from coeval.ui.server.request_limits import replay
from coeval.ui.server.signin import check_next
from coeval.usecases.access import Context
from coeval.usecases.sessions import get_member, get_signed_in

log = logging.getLogger(__name__)

READ = re.compile(
    r"/|/config|/(theme|page)\.css|/favicon\.ico|/(static|assets)/.+"
    r"|/gradio_api/(app_id|queue/data|heartbeat/[a-z0-9]{1,40})"
)
WRITE = re.compile(r"/gradio_api/(queue/join|run/predict|cancel|reset)")
UPLOADS = {"GET": "/gradio_api/upload_progress", "POST": "/gradio_api/upload"}
QUEUED, DIRECT, ANSWERS = "/gradio_api/queue/join", "/gradio_api/run/predict", "/gradio_api/queue/data"
DEEPEST = 60
"""Largest depth of an event's JSON; our tables have six levels."""

MOST_NODES = 10_000, 1_000_000
"""Largest number of values in one event, of the study app and of Set-up, where whole tables are typed in."""


class GradioGate:
    """ASGI middleware around a mounted Gradio app, for people with ``role``; None admits every member."""

    def __init__(
        self, app: ASGIApp, context: Context, role: Role | None, page: FirstPage, *, takes_files: bool
    ) -> None:
        self.app, self.context, self.role, self.page, self.takes_files = app, context, role, page, takes_files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        admitted = self._admit(scope, path)
        refusal: ASGIApp | None = admitted if isinstance(admitted, Response) else None
        if refusal is None and path == ANSWERS and not self._has_session(scope):
            # Gradio would begin an answer, fail in it, and write a traceback
            refusal = JSONResponse({"error": "not_found", "message": "This page has no open events."}, 404)
        if refusal is None and path in (QUEUED, DIRECT):
            body = (await receive()).get("body", b"")  # already complete: the guard has read it
            # a large event takes long to parse, so parse it outside the event loop
            refusal = await to_thread.run_sync(self._check_event, body, scope, path == DIRECT)
            receive = replay(body, receive)
        if isinstance(admitted, Person) and path == "/":
            send = await to_thread.run_sync(self.page.fill, send, Request(scope), admitted.uid)
        if refusal is None and path == "/page.css":
            refusal = self.page.build_styles(Headers(scope=scope).get("accept-encoding", ""))
        await (refusal or self.app)(scope, receive, send)

    def _admit(self, scope: Scope, path: str) -> Person | Response:
        """Return the person who may use the page, or the refusal."""
        if not self._has(scope["method"], path):
            return JSONResponse({"error": "not_found", "message": "There is no such page."}, 404)
        token = read_session(self.context, Request(scope))
        person = get_member(self.context, token)
        if person is not None and self.role in (None, person.role):
            return person
        if path != "/":
            message = "You are signed out: sign in again."
            return JSONResponse({"error": "sign_in", "message": message, "detail": message}, 401)
        base = scope.get("app_root_path", "")
        if person is not None:
            return RedirectResponse(f"{base}/", 303)
        if get_signed_in(self.context, token) is not None:
            return RedirectResponse(f"{base}/s/", 303)
        mount = scope.get("root_path", "").removeprefix(base).strip("/")
        place = check_next(f"{mount and mount + '/'}?{scope['query_string'].decode('latin-1')}")
        return RedirectResponse(f"{base}/signin" + (f"?{urlencode({'next': place})}" if place else ""), 303)

    def _has(self, method: str, path: str) -> bool:
        if self.takes_files and UPLOADS.get(method) == path:
            return True
        routes = READ if method in ("GET", "HEAD") else WRITE if method == "POST" else None
        return bool(routes and routes.fullmatch(path))

    def _check_event(self, body: bytes, scope: Scope, direct: bool) -> Response | None:
        """Refuse an event that Gradio does not know, that sends a forbidden file, or bypasses the queue."""
        try:
            event = json.loads(body)
            files = find_files(event, MOST_NODES[self.takes_files])
        except (ValueError, RecursionError):
            return _unreadable("This event cannot be read: reload the page and try again.")
        if not self._is_known(event, direct):
            # Gradio would write a traceback for every such event
            log.warning("an event was refused: the page has no such function")
            return _unreadable("This page has changed: reload it and try again.")
        if files and not self.takes_files:
            return _unreadable("This page accepts no files: remove the dropped file and try again.")
        host = Headers(scope=scope).get("host", "")
        if not all(is_uploaded(file, host) for file in files):
            return _unreadable("Upload the file: CoEval does not fetch it from an address.")
        return None

    def _has_session(self, scope: Scope) -> bool:
        session = Request(scope).query_params.get("session_hash", "")
        return session in self.app.get_blocks()._queue.pending_messages_per_session  # type: ignore[attr-defined]

    def _is_known(self, event: Any, direct: bool) -> bool:
        functions = self.app.get_blocks().fns  # type: ignore[attr-defined]
        index = event.get("fn_index") if isinstance(event, dict) else None
        if type(index) is not int or index not in functions or not isinstance(event.get("data"), list):
            return False
        if direct and functions[index].queue is not False:  # its limit holds in the queue alone
            return False
        return len(event["data"]) >= len(functions[index].inputs)


class _ShortTraceback:
    """Stands for ``traceback`` in Gradio, which writes kilobytes for every event with wrong inputs.

    A fault in our own code keeps its traceback.
    """

    @staticmethod
    def print_exc() -> None:
        _, error, trace = sys.exc_info()
        if any("coeval" in Path(frame.filename).parts for frame in traceback.extract_tb(trace)):
            traceback.print_exc()
        else:
            log.warning(
                "an event was refused: %s: %s", type(error).__name__, " ".join(str(error).split())[:200]
            )


def shorten_tracebacks() -> None:
    """Let Gradio write one line for an event whose inputs are wrong."""
    queueing.traceback = gradio_routes.traceback = _ShortTraceback  # type: ignore[assignment]


def _unreadable(message: str) -> Response:
    return JSONResponse({"error": "input", "message": message, "detail": message}, 422)


def find_files(sent: Any, most: int = MOST_NODES[0]) -> list[dict[str, Any]]:
    """Return every object in an event that Gradio could take for a file.

    >>> find_files({"data": [[{"path": "http://x.example/a"}], {"rows": []}]})
    [{'path': 'http://x.example/a'}]

    Raises:
        RecursionError: the event is nested deeper, or has more values, than any of ours.
    """
    files: list[dict[str, Any]] = []
    level, seen = [sent], 0
    for _ in range(DEEPEST):
        seen += len(level)
        if not level:
            return files
        if seen > most:
            break
        files += [node for node in level if isinstance(node, dict) and ("path" in node or "meta" in node)]
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    raise RecursionError


def is_uploaded(file: dict[str, Any], host: str) -> bool:
    """Return whether a file object names only an upload, and nothing that would be fetched.

    >>> is_uploaded({"path": "/tmp/gradio/ab/x.csv", "url": None}, "localhost:7860")
    True
    >>> is_uploaded({"path": "http://10.0.0.1/x"}, ""), is_uploaded({"path": "/a", "url": "ftp://b/c"}, "b")
    (False, False)
    """
    path, url = file.get("path"), file.get("url")
    if not isinstance(path, str) or not path.startswith("/") or path.startswith("//") or "://" in path:
        return False
    if not url:
        return True
    if not isinstance(url, str):
        return False
    parts = urlsplit(url)
    here = parts.scheme in ("", "http", "https") and parts.netloc in ("", host)
    return here and not parts.query and unquote(parts.path).endswith(f"/gradio_api/file={path}")
