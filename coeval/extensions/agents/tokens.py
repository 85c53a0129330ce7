"""Tokens of agents: owners make and revoke them, a secret leads to its person, and a limit holds the spending."""

from __future__ import annotations

import math
import secrets
from datetime import timedelta
from typing import NamedTuple

from coeval.clock import time_from_now
from coeval.domain import Person
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.extensions.agents import queries
from coeval.extensions.agents.queries import Token
from coeval.llm.running.ledger import Prices
from coeval.store import Database
from coeval.store.queries import people
from coeval.usecases.access import OPERATOR, OWNERS, TEAM, Context, use_case
from coeval.usecases.sessions import hash_token
from coeval.usecases.tasks import check_slug

PREFIX = "coeval-agent-"
"""The beginning of every secret, so that scanners of leaked secrets recognise it."""
LIFE = timedelta(days=30)
"""A token works for this long; an owner makes the next one."""
FREE = Prices()
REFUSED = "This token is unknown, has expired or was revoked: ask an owner for a new one (Set-up, Hosting)."


@use_case(OWNERS)
def make_token(
    context: Context,
    person: Person,
    slug: str,
    *,
    budget: float = 0.0,
    prices: Prices = FREE,
    takes_scores: bool = False,
) -> str:
    """Return the secret of a new token for one task; only its hash is stored.

    It has the rights of its maker. ``budget`` is what its drafts together may cost, 0 for no drafts. With
    ``takes_scores``, its files may hold people's scores.

    Raises:
        InputError: the limit or the short name cannot be used.
    """
    if not (math.isfinite(budget) and budget >= 0):
        raise InputError(f"The limit is {budget}: choose an amount from 0.")
    if budget and not (prices.prompt and prices.completion):
        raise InputError(
            "A limit needs the model's prices: give both prices per million tokens. For a free model, give 1 and 1."
        )
    secret = PREFIX + secrets.token_urlsafe(32)
    with context.store.write() as db:
        queries.add_token(
            db,
            secret_hash=hash_token(secret),
            task=check_slug(slug),
            annotator=person.id or None,
            budget=budget,
            price_in=prices.prompt,
            price_out=prices.completion,
            takes_scores=int(takes_scores),
            made_by=person.name,
            expires_at=time_from_now(LIFE),
        )
    return secret


@use_case(OWNERS)
def list_tokens(context: Context, person: Person) -> list[Token]:
    """Return every token that works, oldest first."""
    with context.store.read() as db:
        return queries.list_tokens(db)


@use_case(OWNERS)
def revoke_token(context: Context, person: Person, key: str) -> list[Token]:
    """End a token at once; return those that still work.

    Raises:
        NotFoundError: no token that works has this key.
    """
    with context.store.write() as db:
        token = next((each for each in queries.list_tokens(db) if each.cells[0] == key.strip()), None)
        if token is None:
            raise NotFoundError(f"There is no token “{key[:20]}”: use a key of the list.")
        queries.revoke_token(db, token.id)
        return queries.list_tokens(db)


class Agent(NamedTuple):
    """The bearer of a token, and the person whose rights it has."""

    token: Token
    person: Person


def find_agent(context: Context, secret: str) -> Agent:
    """Return the agent with this secret.

    Raises:
        NotAllowedError: the token does not work, or its person is disabled or only an annotator by now.
    """
    with context.store.read() as db:
        token = _require_token(db, hash_token(secret) if secret.isascii() else "")
        person = OPERATOR if token.annotator is None else people.get_person_by_id(db, token.annotator)
        if person is None or person.role not in TEAM or people.is_disabled(db, person.id):
            raise NotAllowedError(REFUSED)
        return Agent(token, person)


def reserve(context: Context, agent: Agent, estimate: float) -> int:
    """Return the number of a drafting run, whose estimate counts as spent until it is settled.

    Two runs at once cannot exceed the limit together.

    Raises:
        NotAllowedError: the estimate is above what the token may still spend.
    """
    with context.store.write() as db:
        token = _require_token(db, agent.token.secret_hash)
        if not token.budget or estimate > token.left:
            raise NotAllowedError(
                f"These drafts cost about {estimate:.4f}, and {token.left:.4f} of the token's limit of "
                f"{token.budget:.4f} are left. Draft fewer (at_most), or ask an owner for a higher limit."
            )
        return queries.add_spending(db, token.id, estimate)


def _require_token(db: Database, secret_hash: str) -> Token:
    for token in queries.list_tokens(db):
        if token.secret_hash == secret_hash:
            return token
    raise NotAllowedError(REFUSED)
