"""Sign-in by Hugging Face: OAuth's authorization code with PKCE (RFC 7636), as OpenID Connect has it.

What has to come back to the same browser, the state and the verifier, waits in a cookie of ten minutes. The
person is read from the provider itself over TLS, so no signature has to be checked (OpenID Connect Core,
3.1.3.7).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import Any
from urllib.parse import urlencode

import httpx

from coeval.errors import NotAllowedError
from coeval.language import later, tr
from coeval.settings import OAuth
from coeval.study.people.accounts import Profile

PATIENCE = 10.0
AGAIN = later("Hugging Face did not confirm who you are: sign in again.")


def build_ticket() -> str:
    """A fresh state and verifier, to wait in the browser's cookie."""
    return f"{secrets.token_urlsafe(24)}.{secrets.token_urlsafe(48)}"


def build_authorize_url(oauth: OAuth, ticket: str, redirect_uri: str) -> str:
    """Where the browser goes to be asked."""
    state, _, verifier = ticket.partition(".")
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": oauth.client_id,
        "redirect_uri": redirect_uri,
        "scope": "openid profile",
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    return f"{_endpoint(oauth, 'authorization_endpoint')}?{urlencode(query)}"


def get_profile(oauth: OAuth, ticket: str, state: str, code: str, redirect_uri: str) -> Profile:
    """Who the code that came back stands for.

    Raises:
        NotAllowedError: the state is not this browser's, or the provider refuses the code.
    """
    expected, _, verifier = ticket.partition(".")
    if not expected or not code or not hmac.compare_digest(expected.encode(), state.encode()):
        raise NotAllowedError(tr("This sign-in was begun in another browser or too long ago: sign in again."))
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "client_id": oauth.client_id,
        "code_verifier": verifier,
    }
    basic = (oauth.client_id, oauth.client_secret)
    tokens = _ask("POST", _endpoint(oauth, "token_endpoint"), data=form, auth=basic)
    bearer = {"Authorization": f"Bearer {tokens.get('access_token', '')}"}
    profile = _ask("GET", _endpoint(oauth, "userinfo_endpoint"), headers=bearer)
    subject, name = profile.get("sub"), profile.get("preferred_username")
    if not isinstance(subject, str) or not isinstance(name, str) or not subject or not name:
        raise NotAllowedError(tr(AGAIN))
    return Profile(subject, name)


def check_refusal(error: str) -> None:
    """Say why the provider sent the browser back without a code (RFC 6749, 4.1.2.1).

    Raises:
        NotAllowedError: it did.
    """
    if error == "access_denied":
        raise NotAllowedError(
            tr(
                "You did not allow Hugging Face to say who you are, so you are not signed in. To take part, "
                "sign in again and choose “Authorize”."
            )
        )
    if error:
        known = f" ({error})" if re.fullmatch("[a-z_]{1,40}", error) else ""
        raise NotAllowedError(
            tr("Hugging Face did not sign you in{known}: try again in a moment.", known=known)
        )


def _endpoint(oauth: OAuth, name: str) -> str:
    address = _ask("GET", f"{oauth.provider}/.well-known/openid-configuration").get(name)
    if not isinstance(address, str):
        raise NotAllowedError(tr(AGAIN))
    return address


def _ask(method: str, url: str, **options: Any) -> dict[str, Any]:
    try:
        answer = httpx.request(method, url, timeout=PATIENCE, **options)
        answer.raise_for_status()
        body = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        # neither the address nor the answer is shown: they can hold a code or a token
        raise NotAllowedError(tr(AGAIN)) from error
    if not isinstance(body, dict):
        raise NotAllowedError(tr(AGAIN))
    return body
