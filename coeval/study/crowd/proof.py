"""How a link proves whom it names: the study's own secret in its address, or a token that the service signed.

The secret is made from the task's seed, which leaves the server in no other form, so that nothing more has to be
kept. Prolific's secure links carry a JSON Web Token with the ids in the claim ``prolific``, signed (RS256) by a
key of its published set (https://docs.prolific.com/api-reference/well-known-endpoints/get-study-jwks).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from coeval.domain import Plan
from coeval.errors import NotAllowedError
from coeval.language import later, tr
from coeval.stats.estimates.later import Later

if TYPE_CHECKING:
    import jwt
else:
    jwt = Later("jwt")

ISSUER = "https://www.prolific.com"
LEEWAY_SECONDS = 60
REFRESH_SECONDS = 60
"""An unknown key is asked for again no more often: anybody can send a token that names one."""
PROLIFIC_QUERY = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
"""What Prolific fills in, to be copied into the study's address there."""
MTURK_QUERY = "workerId=…&assignmentId=…&hitId=…"
NOT_SIGNED = later(
    "This link is not one that the study gave out: open the study from the crowd service's own page."
)


@dataclass(frozen=True, slots=True)
class Link:
    """What a crowd service's link says: whose it is, of which study, at which coming.

    ``seal`` is ours: that this link was proved when its page was shown. ``word`` is the person's own.
    """

    service: str
    worker: str
    study: str = ""
    session: str = ""
    seal: str = ""
    word: str = ""


def build_key(seed: str, version: int) -> str:
    """The secret part of a study's address; another one for every version.

    >>> build_key("seed", 1) == build_key("seed", 1) != build_key("seed", 2)
    True
    """
    return _sign(seed, f"link:{version}")[:22]


def build_address(slug: str, plan: Plan, secret: str, public_url: str) -> str:
    """What an owner copies to the crowd service.

    >>> build_address("demo", Plan(), "", "https://a.example")
    'https://a.example/s/demo'
    """
    queries = {"prolific": PROLIFIC_QUERY, "mturk": MTURK_QUERY}
    query = [queries.get(plan.terms.service, ""), f"key={secret}" if secret else ""]
    joined = "&".join(part for part in query if part)
    base = f"{public_url}/s/{slug}" if public_url else f"s/{slug}"
    return f"{base}?{joined}" if joined else base


def seal_link(seed: str, link: Link) -> str:
    """What the form of a proved link carries, so that it can be sent for these ids and for no others."""
    return _sign(seed, "\n".join(("seal", link.service, link.worker, link.study, link.session)))


def _sign(seed: str, text: str) -> str:
    digest = hmac.new(seed.encode(), text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def is_same(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing."""
    return hmac.compare_digest(given.encode(), expected.encode())


class SigningKeys:
    """A service's published keys, read again every day, or when an unknown one is named."""

    def __init__(self, url: str) -> None:
        self._client = jwt.PyJWKClient(url, lifespan=24 * 3600, timeout=7)
        self._asked_at = 0.0

    def get(self, token: str) -> jwt.PyJWK:
        """The key that signed a token.

        Raises:
            jwt.PyJWTError: the service publishes no such key, or does not answer.
        """
        kid = jwt.get_unverified_header(token).get("kid")
        known = {key.key_id: key for key in self._client.get_signing_keys()}
        if kid not in known and time.monotonic() - self._asked_at > REFRESH_SECONDS:
            self._asked_at = time.monotonic()
            known = {key.key_id: key for key in self._client.get_signing_keys(refresh=True)}
        if kid not in known:
            raise jwt.InvalidKeyError("the service publishes no such key")
        return known[kid]


@cache
def get_keys(url: str) -> SigningKeys:
    return SigningKeys(url)


def read_token(token: str, keys_url: str, host: str) -> Link:
    """The link that a token of Prolific's speaks for.

    Raises:
        NotAllowedError: it is not signed by Prolific, has run out, or was made for another site.
    """
    try:
        claims = jwt.decode(
            token,
            get_keys(keys_url).get(token),
            algorithms=["RS256"],
            issuer=ISSUER,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud"], "verify_aud": False},
        )
    except jwt.ExpiredSignatureError as error:
        raise NotAllowedError(
            tr("This link has run out: open the study from Prolific's page again.")
        ) from error
    except jwt.PyJWKClientConnectionError as error:
        raise NotAllowedError(
            tr("Prolific's keys cannot be read just now: try again in a minute.")
        ) from error
    except jwt.PyJWTError as error:
        raise NotAllowedError(tr(NOT_SIGNED)) from error
    ids = claims.get("prolific")
    if not isinstance(ids, dict) or not _is_for(claims["aud"], host):
        raise NotAllowedError(tr(NOT_SIGNED))
    return Link("prolific", *(str(ids.get(name, "")) for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")))


def _is_for(audience: object, host: str) -> bool:
    """Whether a token was made for this site; its audience is a domain, or the study's whole address."""
    named = audience if isinstance(audience, list) else [audience]
    return any(host and (urlsplit(str(address)).netloc or str(address)) == host for address in named)
