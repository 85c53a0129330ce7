"""A word of a worker's own, by which they come back from another browser where links prove nothing."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from coeval.clock import time_from_now
from coeval.errors import InputError, NotAllowedError
from coeval.language import tr
from coeval.store.queries.people import accounts
from coeval.study.access import Context

MIN_WORD, MAX_WORD = 4, 80
TRIES, WINDOW = 5, timedelta(minutes=15)
HASHER = PasswordHasher(time_cost=2, memory_cost=8192, parallelism=1)
"""Light, for anybody can have words hashed: a word opens one person's part in studies, and tries are few."""


def hash_word(word: str) -> str:
    """What the file keeps of a word.

    Raises:
        InputError: it is too short or too long.
    """
    word = _normal(word)
    if not MIN_WORD <= len(word) <= MAX_WORD:
        raise InputError(
            tr(
                "The word has {length} characters: choose one of {least} to {most}.",
                length=len(word),
                least=MIN_WORD,
                most=MAX_WORD,
            )
        )
    return HASHER.hash(word)


def is_their_word(context: Context, service: str, worker: str, word: str) -> bool:
    """Whether it is the word that this worker chose; every try is counted before it is answered.

    Raises:
        NotAllowedError: too many words were tried for this worker of late.
    """
    key = hashlib.sha256(f"word\n{service}\n{worker}".encode()).hexdigest()
    with context.store.write() as db:
        if accounts.count_tries(db, key, time_from_now(-WINDOW)) >= TRIES:
            raise NotAllowedError(tr("That was tried too often: wait 15 minutes, then try again."))
        accounts.add_try(db, key)
        account = accounts.get_account(db, service, worker)
    if account is None or not account.secret:
        return False
    try:
        HASHER.verify(account.secret, _normal(word[: MAX_WORD + 1]))
    except (VerificationError, InvalidHashError):
        return False
    return True


def _normal(word: str) -> str:
    return " ".join(word.split()).casefold()
