"""What stands before every route: the names we answer to, the origin of requests, sizes, times, and headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coeval.language import tr
from coeval.settings import Settings
from coeval.study.access import Context
from coeval.study.hosting.image_hosts import get_page_hosts
from coeval.study.people.sessions import get_signed_in
from coeval.ui.health import Draining
from coeval.ui.server import bodies
from coeval.ui.server.identity import COOKIE, build_sticky_cookie, cookie_name, read_session

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
HOST = re.compile(r"(?:(?P<name>[a-z0-9._-]+)|\[(?P<address>[0-9a-f:.]+)\])(?::\d{1,5})?")
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
HEALTH = ("/healthz", "/readyz")
"""Say nothing but whether the server is well: what watches a container may call it by any name."""

OWN_ONLY = ("/api/", "/gradio_api/", "/admin/gradio_api/")
"""What our pages ask for and nobody links to: not even a GET of another site may reach it."""

KEPT = ("/ui/", "/static/", "/assets/", "/admin/static/", "/admin/assets/")
"""Scripts and styles, which a browser may keep; everything else is somebody's own."""


class Guard:
    """ASGI middleware; plain, because Gradio's event streams must not be buffered."""

    def __init__(
        self,
        app: ASGIApp,
        context: Context,
        draining: Draining | None = None,
        body_seconds: float = bodies.BODY_SECONDS,
    ) -> None:
        self.app, self.context, self.body_seconds = app, context, body_seconds
        self.draining = draining or Draining()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        if scope["type"] != "http":  # nothing of ours speaks over a WebSocket
            return
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        headers = Headers(scope=scope)
        send = _with_headers(send, path, self._list_more(headers), partial(get_page_hosts, self.context))
        refusal = self._refuse(scope, path, headers)
        if refusal is None and bodies.has_body(headers):
            if path == bodies.UPLOAD:
                receive = bodies.bounded(receive, bodies.UPLOAD_BYTES, bodies.CHUNK_SECONDS)
            else:
                try:
                    receive = bodies.replay(await self._read(scope, receive, headers, path), receive)
                except bodies.TooLargeError:
                    refusal = _refusal(
                        413, "too_large", tr("This is more than can be sent here at once."), close=True
                    )
                except bodies.TooSlowError:
                    refusal = _refusal(408, "too_slow", tr("The request did not arrive in time."), close=True)
                except bodies.GoneError:
                    return
        await (refusal or self.app)(scope, receive, send)

    def _list_more(self, headers: Headers) -> list[tuple[str, str]]:
        """Headers for this answer alone: the balancer's cookie; the end of the connection where the server stops."""
        cookie = build_sticky_cookie(self.context.settings, headers)
        return [
            *([("Set-Cookie", cookie)] if cookie else []),
            *([("Connection", "close")] if self.draining.begun else []),
        ]

    async def _read(self, scope: Scope, receive: Receive, headers: Headers, path: str) -> bytes:
        def is_signed_in() -> bool:
            return get_signed_in(self.context, read_session(self.context, Request(scope))) is not None

        return await bodies.read_body(receive, headers, path, is_signed_in, self.body_seconds)

    def _refuse(self, scope: Scope, path: str, headers: Headers) -> Response | None:
        settings = self.context.settings
        if path in HEALTH and scope["method"] in SAFE_METHODS:
            return None
        if not is_our_name(settings, scope, headers):
            return _refusal(421, "not_allowed", _explain_name(headers))
        if has_two_sessions(settings, headers):
            message = tr(
                "This browser sends two sessions: delete its cookies for this site and sign in again."
            )
            return _refusal(400, "not_allowed", message)
        if scope["method"] not in SAFE_METHODS and not is_same_origin(settings, scope["scheme"], headers):
            message = tr("This request came from another site: open CoEval itself and try again.")
            return _refusal(403, "not_allowed", message)
        if path.startswith(OWN_ONLY) and not is_asked_by_us(headers):
            return _refusal(403, "not_allowed", tr("This is for CoEval's own pages: open CoEval itself."))
        if path == "/admin":
            # a mount answers below its path only
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(f"{scope.get('root_path', '')}/admin/{'?' + query if query else ''}", 307)
        return None


def _refusal(status: int, kind: str, message: str, *, close: bool = False) -> Response:
    # what was not read cannot be told from the next request: the connection ends
    headers = {"Connection": "close"} if close else None
    return JSONResponse({"error": kind, "message": message, "detail": message}, status, headers=headers)


def is_our_name(settings: Settings, scope: Scope, headers: Headers) -> bool:
    """Whether a request is for a name of ours: this machine's own, ``COEVAL_URL``'s, or the address it came to.

    Any other page can give its own name our address (DNS rebinding); its requests then carry that name.
    """
    named = headers.getlist("host")
    if len(named) != 1:
        return False
    server = scope.get("server") or ("",)
    ours = {*LOOPBACK, urlsplit(settings.public_url).hostname, settings.host, str(server[0]).lower()}
    return _host_name(named[0]) in ours - {None, "", "0.0.0.0", "::"}


def _host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None where it is written as no browser writes it."""
    match = HOST.fullmatch(host.lower())
    return match["name"] or match["address"] if match else None


def _explain_name(headers: Headers) -> str:
    return (
        f"CoEval does not answer to the name “{headers.get('host', '')[:80]}”. Open it by the address it printed "
        "at its start; to give it another, its owner sets COEVAL_URL."
    )


def has_two_sessions(settings: Settings, headers: Headers) -> bool:
    """Whether somebody has slipped a second session cookie into the browser: which is meant, nobody can tell."""
    name = cookie_name(settings, COOKIE)
    pairs = (pair for line in headers.getlist("cookie") for pair in line.split(";"))
    return sum(pair.partition("=")[0].strip() == name for pair in pairs) > 1


def is_same_origin(settings: Settings, scheme: str, headers: Headers) -> bool:
    """Whether a write comes from our own pages: browsers name the origin, programs may name none.

    Where the request is for the public address, its origin has to be that address with its scheme, whatever a
    proxy between has made of the connection.
    """
    origin = headers.get("origin")
    if origin is None:
        return is_asked_by_us(headers)
    host = headers.get("host", "")
    public = urlsplit(settings.public_url)
    ours = f"{public.scheme}://{public.netloc}" if public.netloc == host else f"{scheme}://{host}"
    return origin == ours


def is_asked_by_us(headers: Headers) -> bool:
    """Whether no browser says that another site asks."""
    return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")


def build_policy(hosts: Sequence[str]) -> str:
    """The policy of a page that may show images from these hosts as well.

    >>> build_policy(["a.example.org"]).split("; ")[3]
    "img-src 'self' data: blob: https://a.example.org"
    """
    own = "img-src 'self' data: blob:"
    return HEADERS["Content-Security-Policy"].replace(
        own, " ".join([own, *(f"https://{one}" for one in hosts)])
    )


def _with_headers(
    send: Send, path: str, more: Sequence[tuple[str, str]], list_hosts: Callable[[], Sequence[str]]
) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            is_page = headers.get("content-type", "").startswith("text/html")
            if is_page and headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]:
                headers["Content-Security-Policy"] = build_policy(list_hosts())
            if not path.startswith(KEPT):
                headers["Cache-Control"] = "no-store"
            for name, value in more:
                if name != "Set-Cookie" or is_page:
                    headers.append(name, value)
        await send(message)

    return send_with_headers
