"""Proofs of workers' identity: sealed links, signed tokens, browsers, and return codes.

The secret of a link is derived from the task's seed, which never leaves the server, so no other secret is
stored. Prolific's secure links contain a JSON Web Token with the ids in the claim ``prolific``, signed
(RS256) with one of its published keys
(https://docs.prolific.com/api-reference/well-known-endpoints/get-study-jwks).

An unsigned link proves at most the study, because anybody who knows an id could send it. We create the return
code, show it once, and store its hash. The hash signs the browser's pass, so a new code ends every earlier
pass.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from coeval.clock import time_from_now
from coeval.domain import Account, Person, Plan
from coeval.errors import NotAllowedError
from coeval.language import later, tr
from coeval.store import Database
from coeval.store.queries import people
from coeval.usecases.access import Context
from coeval.usecases.sessions import LINK_KINDS

# Proof of the worker in a link: the study's secret in its address, or a token that the service signed.

if TYPE_CHECKING:
    import jwt

ISSUER = "https://www.prolific.com"
LEEWAY_SECONDS = 60
REFRESH_SECONDS = 60
"""The shortest time between two look-ups of an unknown key, because any token can name a new key."""
PROLIFIC_QUERY = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
"""The parameters of the study's address on Prolific, with the placeholders that Prolific fills in."""
MTURK_QUERY = "workerId=…&assignmentId=…&hitId=…"
NOT_SIGNED = later("The study did not create this link: open the study from the crowd service's own page.")


@dataclass(frozen=True, slots=True)
class Link:
    """The content of a crowd service's link: the person, the study and the session.

    ``seal`` is our proof that the link was verified when its page was shown. ``code`` is the person's return
    code.
    """

    service: str
    worker: str
    study: str = ""
    session: str = ""
    seal: str = ""
    code: str = ""


def build_key(seed: str, version: int) -> str:
    """Return the secret part of a study's address; every version has a different one.

    >>> build_key("seed", 1) == build_key("seed", 1) != build_key("seed", 2)
    True
    """
    return _sign_text(seed, f"link:{version}")[:22]


def build_address(slug: str, plan: Plan, secret: str, public_url: str) -> str:
    """Return the address that an owner copies to the crowd service.

    >>> build_address("demo", Plan(), "", "https://a.example")
    'https://a.example/s/demo'
    """
    queries = {"prolific": PROLIFIC_QUERY, "mturk": MTURK_QUERY}
    query = [queries.get(plan.terms.service, ""), f"key={secret}" if secret else ""]
    joined = "&".join(part for part in query if part)
    base = f"{public_url}/s/{slug}" if public_url else f"s/{slug}"
    return f"{base}?{joined}" if joined else base


def seal_link(seed: str, link: Link, proof: str, version: int = 1) -> str:
    """Return a seal for the form of a proved link, so that it cannot be sent with other ids.

    ``proof`` names the kind of proof: if a study requires a stronger one later, earlier seals are void. So are
    those from before the study's secret was renewed, by its ``version``.
    """
    parts = ("seal", proof, str(version), link.service, link.worker, link.study, link.session)
    return _sign_text(seed, "\n".join(parts))


def hash_network(seed: str, address: str) -> str:
    """Return the stored hash of a new person's network. With IPv6, one home has 2^64 addresses.

    A proxy may write 10.0.0.1 as ::ffff:10.0.0.1. Read as IPv6, all such people would share one network.

    >>> hash_network("seed", "2001:db8::1") == hash_network("seed", "2001:db8::2") != hash_network("seed", "10.0.0.1")
    True
    >>> hash_network("seed", "::ffff:10.0.0.1") == hash_network("seed", "10.0.0.1") != hash_network("seed", "10.0.0.2")
    True
    """
    try:
        parsed = ip_address(address.removeprefix("::ffff:"))
        network = str(ip_network((parsed, 64 if parsed.version == 6 else 32), strict=False))
    except ValueError:
        network = address
    return _sign_text(seed, f"network:{network}")


def _sign_text(seed: str, text: str) -> str:
    digest = hmac.new(seed.encode(), text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def is_same(offered: str, expected: str) -> bool:
    """Return whether two secrets are equal, in constant time."""
    return hmac.compare_digest(offered.encode(), expected.encode())


class SigningKeys:
    """A service's published keys, fetched every day and when a token names an unknown key."""

    def __init__(self, url: str) -> None:
        import jwt

        self._client = jwt.PyJWKClient(url, lifespan=24 * 3600, timeout=7)
        self._asked_at = 0.0

    def get(self, token: str) -> jwt.PyJWK:
        """Return the key that signed a token.

        Raises:
            jwt.PyJWTError: the service does not publish the key, or does not answer.
        """
        import jwt

        kid = jwt.get_unverified_header(token).get("kid")
        keys = {key.key_id: key for key in self._client.get_signing_keys()}
        if kid not in keys and time.monotonic() - self._asked_at > REFRESH_SECONDS:
            self._asked_at = time.monotonic()
            keys = {key.key_id: key for key in self._client.get_signing_keys(refresh=True)}
        if kid not in keys:
            raise jwt.InvalidKeyError("the service publishes no such key")
        return keys[kid]


@cache
def get_keys(url: str) -> SigningKeys:
    return SigningKeys(url)


def read_token(token: str, keys_url: str, site: str) -> Link:
    """Return the link that a signed token of Prolific contains.

    Raises:
        NotAllowedError: the token is not signed by Prolific, has expired, or was made for another site.
    """
    import jwt

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
            tr("This link has expired: open the study from Prolific's page again.")
        ) from error
    except jwt.PyJWKClientConnectionError as error:
        raise NotAllowedError(
            tr("Prolific's keys cannot be read at the moment: try again in a minute.")
        ) from error
    except jwt.PyJWTError as error:
        raise NotAllowedError(tr(NOT_SIGNED)) from error
    ids = claims.get("prolific")
    if not isinstance(ids, dict) or not _is_for(claims["aud"], site):
        raise NotAllowedError(tr(NOT_SIGNED))
    return Link("prolific", *(str(ids.get(name, "")) for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")))


def _is_for(audience: object, site: str) -> bool:
    """Return whether a token was made for this site; its audience is a domain, or the study's whole address.

    >>> _is_for("https://a.example/s/demo", "https://a.example"), _is_for("a.example", "https://a.example:443")
    (True, True)
    >>> _is_for("http://a.example/s/demo", "https://a.example"), _is_for("https://a.example:8443", "a.example")
    (False, False)
    """
    named = audience if isinstance(audience, list) else [audience]
    return bool(site) and any(_read_origin(str(address)) == _read_origin(site) for address in named)


def _read_origin(address: str) -> tuple[str, str, int] | None:
    """Return an address's scheme, host and port; without a scheme it is a secure site."""
    try:
        parts = urlsplit(address if "://" in address else f"https://{address}")
        return parts.scheme, parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return None


# Proof of a returning worker: the browser in which they came, or the return code that they were shown once.

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Letters and digits that are not easily confused."""
GROUPS, GROUP = 3, 4
MAX_CODE = 80
PASS_DAYS = 400
"""The longest lifetime that browsers give a cookie."""
TRIES, WINDOW = {"pair": 5, "worker": 50}, timedelta(minutes=15)
"""Wrong codes in a window, per worker and network, and per worker, so that few people can lock others out."""
HASHER = PasswordHasher(time_cost=2, memory_cost=8192, parallelism=1)
"""A fast hash: anybody can request one, a code opens only one person's part, and attempts are few."""


def ensure_code(context: Context, person: Person, *, renew: bool = False) -> str:
    """Return a new code for a worker who has none, to show once; "" if they have one.

    ``renew`` always creates one, because the answer that showed the last code may have been lost.
    """
    with context.store.read() as db:
        if not _needs_code(people.get_account_of(db, person.id), renew):
            return ""
    code = _make_code()
    hashed = HASHER.hash(_normal(code))
    with context.store.write() as db:
        if not _needs_code(people.get_account_of(db, person.id), renew):
            return ""
        people.set_secret(db, person.id, hashed)
    return code


def _needs_code(account: Account | None, renew: bool) -> bool:
    return account is not None and account.kind in LINK_KINDS and (renew or not account.secret)


def _make_code() -> str:
    letters = "".join(secrets.choice(ALPHABET) for _ in range(GROUPS * GROUP))
    return "-".join(letters[at : at + GROUP] for at in range(0, len(letters), GROUP))


def forget_browsers(db: Database, person: int) -> None:
    """End a worker's code, passes and sessions, which another person may hold."""
    people.set_secret(db, person, "")
    people.revoke_all_sessions(db, person)


def is_their_code(
    context: Context, service: str, worker: str, code: str, network: str = "", *, signed_in: bool = False
) -> bool:
    """Return whether this is the worker's code; every attempt is counted before it is answered.

    Attempts from the worker's own session, ``signed_in``, are counted apart, so that strangers cannot keep a
    worker from withdrawing.

    Raises:
        NotAllowedError: too many codes were tried for this worker recently.
    """
    texts = {"pair": f"code\n{service}\n{worker}\n{network}", "worker": f"code\n{service}\n{worker}"}
    if signed_in:
        texts = {"pair": f"code of a session\n{service}\n{worker}"}
    keys = {kind: hashlib.sha256(text.encode()).hexdigest() for kind, text in texts.items()}
    with context.store.write() as db:
        people.prune_sign_in_tries(db, time_from_now(-WINDOW))
        if any(
            people.count_sign_in_tries(db, key, time_from_now(-WINDOW)) >= TRIES[kind]
            for kind, key in keys.items()
        ):
            minutes = round(WINDOW.total_seconds() / 60)
            raise NotAllowedError(
                tr("Too many tries: wait {minutes} minutes, then try again.", minutes=minutes)
            )
        tried = [people.add_sign_in_try(db, key) for key in keys.values()]
        account = people.get_account(db, service, worker)
    if account is None or not account.secret:
        return False
    if not _verify(account.secret, _normal(code)):
        return False
    with context.store.write() as db:
        people.remove_sign_in_tries(db, tried)
    return True


def _verify(secret: str, text: str) -> bool:
    try:
        return HASHER.verify(secret, text)
    except (VerificationError, InvalidHashError):
        return False


def _normal(code: str) -> str:
    return "".join(letter for letter in code[:MAX_CODE] if letter.isalnum()).upper()


def build_pass(context: Context, person: Person) -> str:
    """Return the pass for the worker's browser; "" if the person has no code to sign it."""
    with context.store.read() as db:
        account = people.get_account_of(db, person.id)
    return f"{person.id}.{_sign_account(account)}" if account and account.secret else ""


def is_pass(account: Account, offered: str) -> bool:
    """Return whether this is a valid pass of the worker."""
    if not account.secret:
        return False
    return hmac.compare_digest(offered.encode(), f"{account.person.id}.{_sign_account(account)}".encode())


def _sign_account(account: Account) -> str:
    digest = hmac.new(
        account.secret.encode(), f"browser:{account.person.id}".encode(), hashlib.sha256
    ).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
