"""Who is asking: the session cookie of a request, to a person."""

from __future__ import annotations

import html
import secrets
from http.cookies import SimpleCookie
from typing import Literal

import gradio as gr
from fastapi import Request
from fastapi.responses import Response
from starlette.datastructures import Headers

from coeval.domain import Person
from coeval.errors import CoevalError, SignedOutError
from coeval.language import tr
from coeval.settings import Settings
from coeval.study.access import Context
from coeval.study.people.sessions import SESSION_DAYS, get_signed_in
from coeval.ui.server.error_answers import tell

COOKIE = "coeval_session"
STICKY = "coeval_replica"
"""By this a balancer sends a browser back to the server that has its Gradio events; without a prefix and a dash, so
that nginx reads it as $cookie_coeval_replica."""
STICKY_SECONDS = 30 * 24 * 3600


def cookie_name(settings: Settings, name: str) -> str:
    """What a cookie of ours is called: where TLS is, by a name that no other host and no plain page can set.

    Browsers take a ``__Host-`` cookie from this very host only, over TLS (RFC 6265bis, 4.1.3.2).
    """
    return f"__Host-{name}" if settings.public_url.startswith("https://") else name


def read_cookie(settings: Settings, request: Request | gr.Request, name: str) -> str | None:
    """The value of a cookie of ours, if the browser sent it."""
    value: str | None = request.cookies.get(cookie_name(settings, name))
    return value


def read_session(context: Context, request: Request | gr.Request) -> str | None:
    """The token of the session that a request carries, if any."""
    return read_cookie(context.settings, request, COOKIE)


def get_person(context: Context, request: Request | gr.Request | None) -> Person:
    """The person whose session the request carries.

    Raises:
        SignedOutError: there is no session, or it has ended.
    """
    token = read_session(context, request) if request is not None else None
    person = get_signed_in(context, token)
    if person is None:
        raise SignedOutError(tr("You are signed out: sign in again. What you typed is kept in this browser."))
    return person


def set_cookie(settings: Settings, answer: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie that scripts cannot read.

    A Space is shown inside huggingface.co's page: there only SameSite=None comes back, which needs Secure.
    What that lets through is stopped by the check of the origin (``coeval.ui.server.guard``).
    """
    secure = settings.public_url.startswith("https://")
    same_site: Literal["none", "lax"] = "none" if settings.behind_proxy and secure else "lax"
    answer.set_cookie(
        cookie_name(settings, name),
        value,
        max_age=seconds,
        httponly=True,
        secure=secure,
        samesite=same_site,
        path="/",
    )


def keep_session(context: Context, answer: Response, token: str) -> None:
    """Have the browser keep a session that was just opened."""
    set_cookie(context.settings, answer, COOKIE, token, SESSION_DAYS * 24 * 3600)


def drop_cookie(settings: Settings, answer: Response, name: str) -> None:
    """Have the browser forget a cookie."""
    set_cookie(settings, answer, name, "", 0)


def shown(error: CoevalError) -> gr.Error:
    """The error as Gradio shows it, at the edge: ``raise shown(error) from error``.

    Gradio's toasts read markup, and a message can repeat what somebody typed: so it is escaped.
    """
    return gr.Error(html.escape(tell(error)), title=tr("That did not work"), print_exception=False)


def build_sticky_cookie(settings: Settings, headers: Headers) -> str:
    """The Set-Cookie line for a browser that has none yet; empty where one server alone uses the database."""
    if not settings.server or f"{STICKY}=" in headers.get("cookie", ""):
        return ""
    cookie: SimpleCookie = SimpleCookie({STICKY: secrets.token_hex(8)})
    secure = settings.public_url.startswith("https://")
    cookie[STICKY]["path"] = "/"
    cookie[STICKY]["max-age"] = STICKY_SECONDS
    cookie[STICKY]["httponly"] = True
    # a Space is shown inside another site's page
    cookie[STICKY]["samesite"] = "None" if settings.behind_proxy and secure else "Lax"
    if secure:
        cookie[STICKY]["secure"] = True
    return cookie[STICKY].OutputString()
