"""What stands before every route: security headers, the origin of writes, and the way to the sign-in page."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coeval.domain import Role
from coeval.study.access import Context
from coeval.study.people.sessions import get_member, get_signed_in
from coeval.ui.server.identity import COOKIE

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "base-uri 'self'; object-src 'none'; frame-ancestors 'self' https://huggingface.co"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
}
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
PAGES = {"/": None, "/admin/": Role.OWNER}
"""The pages that need a session, with the role that each asks for."""


class Guard:
    """ASGI middleware; plain, because Gradio's event streams must not be buffered."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self.app, self.context = app, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        await (refusal or self.app)(scope, receive, self._with_headers(send))

    def _refuse(self, scope: Scope) -> Response | None:
        if scope["method"] not in SAFE_METHODS and not is_same_origin(Headers(scope=scope)):
            message = "This request came from another site: open CoEval itself and try again."
            return JSONResponse({"error": "not_allowed", "message": message}, 403)
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        if path.removeprefix("/admin").startswith("/gradio_api/file"):
            # whoever is signed in and knows a path could read another's upload: nothing of ours needs this route
            return JSONResponse({"error": "not_found", "message": "There is no such file."}, 404)
        if path == "/admin":
            # a mount answers below its path only
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(f"{scope.get('root_path', '')}/admin/{'?' + query if query else ''}", 307)
        if scope["method"] == "GET" and path in PAGES:
            return self._page(Request(scope), path)
        return None

    def _page(self, request: Request, path: str) -> Response | None:
        """Where a page's visitor is sent instead; None where they may see it."""
        token = request.cookies.get(COOKIE)
        person = get_member(self.context, token)
        base = request.scope.get("root_path", "").rstrip("/")
        if person is None:
            guest = get_signed_in(self.context, token)
            return RedirectResponse(f"{base}/{'s/' if guest else 'signin'}", 303)
        if PAGES[path] not in (None, person.role):
            return RedirectResponse(f"{base}/", 303)
        return None

    @staticmethod
    def _with_headers(send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        return send_with_headers


def is_same_origin(headers: Headers) -> bool:
    """Whether a write comes from our own pages: browsers name the origin, programs may name none."""
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    return urlsplit(origin).netloc == headers.get("host", "")
