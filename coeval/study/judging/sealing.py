"""The documents of a task are split once, before any judge is fitted."""

from __future__ import annotations

import secrets

from coeval.domain import Person
from coeval.domain.seals import Part, Seal
from coeval.errors import InputError, NotFoundError
from coeval.rules.splitting import split_documents
from coeval.store import Database
from coeval.store.queries.judging import seals
from coeval.study.access import OWNERS, Context, require_task, use_case

SHARE = 0.5
"""Half: a certificate's interval narrows with its documents, and a judge gains little from more corrections than some
dozens, so that neither part is starved. With fewer than about 60 labelled documents the alt-test wants this half."""

LEAST_SHARE, MOST_SHARE = 0.1, 0.9
FEWEST = 2
"""The fewest documents in a part: with one, nothing says how much documents differ."""


@use_case(OWNERS)
def seal_task(context: Context, person: Person, slug: str, share: float = SHARE) -> Seal:
    """Split a task's documents into those to fit a judge on and those sealed for its certificate, once.

    Args:
        share: of the documents that are sealed, from 0.1 to 0.9.

    Raises:
        InputError: the share cannot be, the task is sealed already, or it has too few documents.
    """
    if not LEAST_SHARE <= share <= MOST_SHARE:
        raise InputError(
            f"A share of {share:.0%} cannot be: choose from {LEAST_SHARE:.0%} to {MOST_SHARE:.0%} of the documents."
        )
    with context.store.write() as db:
        task = require_task(db, slug)
        known = seals.get_seal(db, task.id)
        if known is not None:
            raise InputError(
                f"“{slug}” was sealed by {known.sealed_by} on {known.sealed_at[:10]}, and a task is sealed once: "
                "another split after a look at the labels would prove nothing."
            )
        salt = secrets.token_hex(16)
        parts = split_documents(seals.list_strata(db, task.id), salt, share)
        for part, name in ((Part.DEV, "to fit a judge on"), (Part.CERTIFICATE, "for the certificate")):
            if (n := list(parts.values()).count(part)) < FEWEST:
                raise InputError(
                    f"Of {len(parts)} documents {n} would be {name}, which needs at least {FEWEST}: import more "
                    "documents, or choose another share."
                )
        seals.record_seal(db, task.id, Seal(salt, share, person.name), parts)
        return require_seal(db, task.id, slug)


def require_seal(db: Database, task: int, slug: str) -> Seal:
    """The task's seal.

    Raises:
        NotFoundError: it has none.
    """
    seal = seals.get_seal(db, task)
    if seal is None:
        raise NotFoundError(f"“{slug}” is not sealed yet: split its documents first, on the Judge tab.")
    return seal
