"""The guard before every route: host names, origins, and headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coeval.language import tr
from coeval.settings import Settings
from coeval.ui.server.identity import COOKIE, build_sticky_cookie, cookie_name
from coeval.ui.server.readiness import Draining
from coeval.ui.server.request_limits import BODY_SECONDS, Bodies, Quota, refuse
from coeval.usecases.access import Context
from coeval.usecases.images import get_page_hosts

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
"""Routes that only report the server's health, which container monitors may call by any host name."""

OWN_ONLY = re.compile(r"/(?:api|gradio_api|admin/gradio_api|download)/.*|/s/[^/]+/[^/]+\.csv")
"""Routes of our own pages, including downloads, which other sites cannot reach even by GET."""

IMMUTABLE = "public, max-age=31536000, immutable"
STAMPED = ("/page.css", "/admin/page.css", "/assets/", "/admin/assets/", "/ui/bundle/")
"""Pages load these with a hash of their content in the address, so a browser keeps them."""
KEPT = ("/ui/", "/static/", "/assets/", "/admin/static/", "/admin/assets/")
"""Scripts and styles, which browsers may cache; everything else is private."""


class Guard:
    """ASGI middleware, not Starlette's base class, because Gradio's event streams must not be buffered."""

    def __init__(
        self,
        app: ASGIApp,
        context: Context,
        draining: Draining | None = None,
        body_seconds: float = BODY_SECONDS,
        quota: Quota | None = None,
    ) -> None:
        self.app, self.context = app, context
        self.bodies = Bodies(app, context, body_seconds, quota)
        self.draining = draining or Draining()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        if scope["type"] != "http":  # CoEval uses no WebSockets
            return
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        headers = Headers(scope=scope)
        list_more, list_hosts = partial(self._list_more, headers), partial(get_page_hosts, self.context)
        send = _with_headers(send, path, list_more, list_hosts)
        refusal = self._refuse(scope, path, headers)
        await (refusal or self.bodies)(scope, receive, send)

    def _list_more(self, headers: Headers, is_page: bool) -> Iterator[tuple[str, str]]:
        """Yield additional headers: the balancer's cookie for a page and, if the server is stopping, the end of the
        connection.
        """
        if is_page and (cookie := build_sticky_cookie(self.context.settings, headers)):
            yield "Set-Cookie", cookie
        if self.draining.begun:
            yield "Connection", "close"

    def _refuse(self, scope: Scope, path: str, headers: Headers) -> Response | None:
        settings = self.context.settings
        if path in HEALTH and scope["method"] in SAFE_METHODS:
            return None
        if not is_our_name(settings, scope, headers):
            return refuse(421, "not_allowed", _explain_name(headers))
        if has_two_sessions(settings, headers):
            message = tr(
                "This browser sends two sessions: delete its cookies for this site and sign in again."
            )
            return refuse(400, "not_allowed", message)
        if scope["method"] not in SAFE_METHODS and not is_same_origin(settings, scope["scheme"], headers):
            message = tr("This request came from another site: open CoEval itself and try again.")
            return refuse(403, "not_allowed", message)
        if OWN_ONLY.fullmatch(path) and not (
            is_asked_by_us(headers) and is_same_origin(settings, scope["scheme"], headers)
        ):
            return refuse(
                403, "not_allowed", tr("Only CoEval's own pages can use this address: open CoEval itself.")
            )
        if path == "/admin":
            # a mount answers only below its path
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(f"{scope.get('root_path', '')}/admin/{'?' + query if query else ''}", 307)
        return None


def is_our_name(settings: Settings, scope: Scope, headers: Headers) -> bool:
    """Return whether a request names our host: localhost, ``COEVAL_URL``'s host, or the address it came to.

    Any other page can give its own name our address (DNS rebinding); its requests then carry that name.
    """
    named = headers.getlist("host")
    if len(named) != 1:
        return False
    server = scope.get("server") or ("",)
    ours = {*LOOPBACK, urlsplit(settings.public_url).hostname, settings.host, str(server[0]).lower()}
    return _host_name(named[0]) in ours - {None, "", "0.0.0.0", "::"}


def _host_name(host: str) -> str | None:
    """Return the name in a Host header, without its port; None if no browser would send it."""
    match = HOST.fullmatch(host.lower())
    return match["name"] or match["address"] if match else None


def _explain_name(headers: Headers) -> str:
    return (
        f"CoEval does not answer to the name “{headers.get('host', '')[:80]}”. Open the address that it "
        "printed at startup. To use another address, set COEVAL_URL on the server."
    )


def has_two_sessions(settings: Settings, headers: Headers) -> bool:
    """Return whether a request has two session cookies, because somebody may have inserted one of them."""
    name = cookie_name(settings, COOKIE)
    pairs = (pair for line in headers.getlist("cookie") for pair in line.split(";"))
    return sum(pair.partition("=")[0].strip() == name for pair in pairs) > 1


def is_same_origin(settings: Settings, scheme: str, headers: Headers) -> bool:
    """Return whether a write comes from our own pages: browsers name the origin, programs may name none.

    If the request is for the public address, its origin must be that address with its scheme, whatever scheme a proxy
    uses to reach this server.
    """
    origin = headers.get("origin")
    if origin is None:
        return is_asked_by_us(headers)
    host = headers.get("host", "")
    public = urlsplit(settings.public_url)
    ours = f"{public.scheme}://{public.netloc}" if public.netloc == host else f"{scheme}://{host}"
    return origin == ours


def is_asked_by_us(headers: Headers) -> bool:
    """Return whether no other site caused this request."""
    return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")


def build_policy(hosts: Sequence[str]) -> str:
    """Return the policy of a page that may show images from these hosts as well.

    >>> build_policy(["a.example.org"]).split("; ")[3]
    "img-src 'self' data: blob: https://a.example.org"
    """
    sources = "img-src 'self' data: blob:"
    return HEADERS["Content-Security-Policy"].replace(
        sources, " ".join([sources, *(f"https://{host}" for host in hosts)])
    )


def _with_headers(
    send: Send,
    path: str,
    list_more: Callable[[bool], Iterator[tuple[str, str]]],
    list_hosts: Callable[[], Sequence[str]],
) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            is_page = headers.get("content-type", "").startswith("text/html")
            if is_page and headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]:
                headers["Content-Security-Policy"] = build_policy(list_hosts())
            if path.startswith(STAMPED) and message["status"] in (200, 206, 304):
                headers["Cache-Control"] = IMMUTABLE
            elif not path.startswith(KEPT):
                headers["Cache-Control"] = "no-store"
            for name, value in list_more(is_page):
                headers.append(name, value)
        await send(message)

    return send_with_headers
