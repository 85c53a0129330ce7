"""Identify the person of a request, by its session cookie or by Hugging Face.

Hugging Face uses OpenID Connect: OAuth's authorization code with PKCE (RFC 7636). A ten-minute cookie keeps the state
and the verifier, which must come back from the same browser. The profile is read from the provider over TLS, so no
signature has to be checked (OpenID Connect Core, 3.1.3.7).
"""

from __future__ import annotations

import hmac
import html
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any, Literal

import gradio as gr
import httpx2
from fastapi import Request
from fastapi.responses import Response
from starlette.datastructures import Headers

from coeval.domain import Person
from coeval.errors import CoevalError, NotAllowedError, OtherPersonError, SignedOutError
from coeval.language import later, tr
from coeval.settings import OAuth, Settings
from coeval.ui.server.payloads import tell
from coeval.usecases.access import Context
from coeval.usecases.accounts import Profile
from coeval.usecases.sessions import SESSION_DAYS, get_signed_in

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

# The person of a request, by its session cookie.

COOKIE = "coeval_session"
OF_PERSON = "coeval-person"
"""The header, and the query parameter of forms, with the uid of the person for whom a page was opened."""
LINK = "coeval_link"
"""The last study link that this browser followed. A restart that restores a snapshot ends every session."""
WORKER, WAITING = "coeval_worker", "coeval_waiting"
"""The pass of a crowd worker's browser, and the token of one that asks to be let in."""
KNOWN = "coeval_known"
"""The cookie that marks a browser with earlier sign-ins, so that attacks on the address do not slow it down."""
KNOWN_DAYS = 365
STICKY = "coeval_replica"
"""The cookie by which a balancer returns a browser to its server.

It has no prefix and no dash, so that nginx reads it as $cookie_coeval_replica.
"""
STICKY_SECONDS = 30 * 24 * 3600


def cookie_name(settings: Settings, name: str) -> str:
    """Return a cookie's name: with TLS, one that no other host and no plain page can set.

    Browsers take a ``__Host-`` cookie from this very host only, over TLS (RFC 6265bis, 4.1.3.2).
    """
    return f"__Host-{name}" if settings.public_url.startswith("https://") else name


def read_cookie(settings: Settings, request: Request | gr.Request, name: str) -> str | None:
    """Return the value of one of our cookies, if the browser sent it."""
    value: str | None = request.cookies.get(cookie_name(settings, name))
    return value


def read_session(context: Context, request: Request | gr.Request) -> str | None:
    """Return the token of the session that a request carries, if any."""
    return read_cookie(context.settings, request, COOKIE)


def get_person(context: Context, request: Request | gr.Request | None) -> Person:
    """Return the person whose session the request carries.

    Raises:
        SignedOutError: there is no session, or it has ended.
        OtherPersonError: the page that sends the request was opened for somebody else.
    """
    token = read_session(context, request) if request is not None else None
    person = get_signed_in(context, token)
    if person is None:
        raise SignedOutError(tr("You are signed out: sign in again. What you typed is kept in this browser."))
    assert request is not None
    stated = {request.headers.get(OF_PERSON), request.query_params.get(OF_PERSON)}
    if not stated <= {None, person.uid}:
        raise OtherPersonError(
            tr("You are signed in as another person now: reload the page to go on as that person.")
        )
    return person


def set_cookie(settings: Settings, answer: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie that scripts cannot read.

    A Space is shown inside huggingface.co's page. There, browsers return only SameSite=None cookies, which need Secure.
    The check of the origin (``coeval.ui.server.guard``) stops the requests from other sites that this allows.
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
    """Set the cookie of a new session in the browser."""
    set_cookie(context.settings, answer, COOKIE, token, SESSION_DAYS * 24 * 3600)


def drop_cookie(settings: Settings, answer: Response, name: str) -> None:
    """Delete a cookie in the browser."""
    set_cookie(settings, answer, name, "", 0)


def shown(error: CoevalError) -> gr.Error:
    """Return the error for Gradio to show: ``raise shown(error) from error``.

    Gradio's toasts interpret markup, and a message can contain typed text, so the message is escaped.
    """
    return gr.Error(html.escape(tell(error)), print_exception=False)


def build_sticky_cookie(settings: Settings, headers: Headers) -> str:
    """Return the Set-Cookie line for a browser without one; empty if only one server uses the database."""
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


PATIENCE = 10.0
AGAIN = later("Hugging Face did not confirm your identity: sign in again.")


def build_ticket() -> str:
    """Return a new state and verifier, to store in the browser's cookie."""
    return f"{secrets.token_urlsafe(24)}.{secrets.token_urlsafe(48)}"


def build_authorize_url(oauth: OAuth, ticket: str, redirect_uri: str) -> str:
    """Return the URL of the provider's authorization page."""
    state, _, verifier = ticket.partition(".")
    with _asking(oauth, redirect_uri) as client:
        page = _endpoint(client, oauth, "authorization_endpoint")
        address: str = client.create_authorization_url(page, state=state, code_verifier=verifier)[0]
        return address


def get_profile(oauth: OAuth, ticket: str, state: str, code: str, redirect_uri: str) -> Profile:
    """Return the profile that belongs to the returned code.

    Raises:
        NotAllowedError: the state is not this browser's, or the provider refuses the code.
    """
    expected, _, verifier = ticket.partition(".")
    if not expected or not code or not hmac.compare_digest(expected.encode(), state.encode()):
        raise NotAllowedError(tr("This sign-in started in another browser or too long ago: sign in again."))
    with _asking(oauth, redirect_uri) as client:
        client.fetch_token(_endpoint(client, oauth, "token_endpoint"), code=code, code_verifier=verifier)
        profile = _read(client, _endpoint(client, oauth, "userinfo_endpoint"))
        subject, name = profile.get("sub"), profile.get("preferred_username")
    if not isinstance(subject, str) or not isinstance(name, str) or not subject or not name:
        raise NotAllowedError(tr(AGAIN))
    return Profile(subject, name)


def check_refusal(error: str) -> None:
    """Raise NotAllowedError if the provider sent the browser back without a code (RFC 6749, 4.1.2.1)."""
    if error == "access_denied":
        raise NotAllowedError(
            tr(
                "You did not allow Hugging Face to share your identity, so you are not signed in. To take part, "
                "sign in again and choose “Authorize”."
            )
        )
    if error:
        code = f" ({error})" if re.fullmatch("[a-z_]{1,40}", error) else ""
        raise NotAllowedError(
            tr("Hugging Face did not sign you in{known}: try again in a moment.", known=code)
        )


@contextmanager
def _asking(oauth: OAuth, redirect_uri: str) -> Iterator[OAuth2Client]:
    """Provide a client for the provider; any fault of an answer becomes our error.

    The error shows neither an address nor an answer: they can hold a code or a token.
    """
    # only a server with this way to sign in needs the library
    from authlib.integrations.base_client import OAuthError
    from authlib.integrations.httpx_client import OAuth2Client

    try:
        with OAuth2Client(
            oauth.client_id,
            oauth.client_secret,
            scope="openid profile",
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=PATIENCE,
        ) as client:
            yield client
    except (httpx2.HTTPError, OAuthError, ValueError) as error:
        raise NotAllowedError(tr(AGAIN)) from error


def _endpoint(client: OAuth2Client, oauth: OAuth, name: str) -> str:
    configuration = _read(client, f"{oauth.provider}/.well-known/openid-configuration", withhold_token=True)
    address = configuration.get(name)
    if not isinstance(address, str):
        raise NotAllowedError(tr(AGAIN))
    return address


def _read(client: OAuth2Client, url: str, **options: bool) -> dict[str, Any]:
    answer = client.request("GET", url, **options)
    answer.raise_for_status()
    body = answer.json()
    if not isinstance(body, dict):
        raise NotAllowedError(tr(AGAIN))
    return body
