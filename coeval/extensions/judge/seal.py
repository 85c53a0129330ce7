"""Split a task's documents once, before any judge is fitted, and describe the seal for judge.json."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import pandas as pd

from coeval.domain import Instance, Person, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.learning.cross_validation import KEYS, people_lines
from coeval.extensions.judge.model.file_schema import Label, mark_output
from coeval.extensions.judge.model.labels import Labels
from coeval.extensions.judge.seal_types import Part, Seal, split_documents
from coeval.llm.prompting.questions import mark_document
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case

SHARE = 0.5
"""Half of the documents are sealed. A certificate's intervals narrow with more documents, while a judge gains little
from more than some dozens of corrections. With fewer than about 60 labelled documents, the alt-test needs half.
"""

LEAST_SHARE, MOST_SHARE = 0.1, 0.9
FEWEST = 2
"""Smallest number of documents in a part. One document does not show how documents differ."""


@use_case(OWNERS)
def seal_task(context: Context, person: Person, slug: str, share: float = SHARE) -> Seal:
    """Split a task's documents permanently: one part to fit a judge, the other sealed for its certificate.

    Args:
        share: the share of sealed documents, from 0.1 to 0.9.

    Raises:
        InputError: the share is out of range, the task is already sealed, or it has too few documents.
    """
    if not LEAST_SHARE <= share <= MOST_SHARE:
        raise InputError(
            f"The share is {share:.0%}: choose from {LEAST_SHARE:.0%} to {MOST_SHARE:.0%} of the documents."
        )
    with context.store.write() as db:
        task = require_task(db, slug)
        earlier = queries_seal.get_seal(db, task.id)
        if earlier is not None:
            raise InputError(
                f"“{slug}” was sealed by {earlier.sealed_by} on {earlier.sealed_at[:10]}. A task can be "
                "sealed only once: a new split after somebody saw the labels would prove nothing."
            )
        salt = secrets.token_hex(16)
        parts = split_documents(queries_seal.list_strata(db, task.id), salt, share)
        for part, name in ((Part.DEV, "to fit a judge on"), (Part.CERTIFICATE, "for the certificate")):
            if (n := list(parts.values()).count(part)) < FEWEST:
                raise InputError(
                    f"{n} of {len(parts)} documents would be {name}, which needs at least {FEWEST}: "
                    "import more documents, or choose another share."
                )
        queries_seal.record_seal(db, task.id, Seal(salt, share, person.name), parts)
        return require_seal(db, task.id, slug)


@use_case(TEAM)
def has_seal(context: Context, person: Person, slug: str) -> bool:
    """Return whether documents of a task are sealed."""
    with context.store.read() as db:
        return queries_seal.get_seal(db, require_task(db, slug).id) is not None


def require_seal(db: Database, task: int, slug: str) -> Seal:
    """Return the task's seal.

    Raises:
        NotFoundError: the task is not sealed.
    """
    seal = queries_seal.get_seal(db, task)
    if seal is None:
        raise NotFoundError(f"“{slug}” is not sealed yet: split its documents first, on the Judge tab.")
    return seal


def get_file_salt(seal: Seal) -> str:
    """Return the fixed salt of the hashes in a task's judge.json. It does not reveal the seal's salt."""
    return hashlib.sha256(f"{seal.salt}\x1fjudge.json".encode()).hexdigest()


def document_of(instance: Instance) -> str:
    """Return the document of an instance. An instance without one is its own document."""
    return instance.document or instance.external_id


def describe_lines(
    db: Database, task: Task, seal: Seal, labels: Labels, scores: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the scores of people and the judge for each line that both scored."""
    lines = (
        people_lines(labels).merge(scores[[*KEYS, "score", "raw"]], on=KEYS).dropna(subset=["score", "raw"])
    )
    instances = tasks.get_instances_by_external_id(db, task.id, dict.fromkeys(lines["instance"]))
    salt = get_file_salt(seal)
    marks = {
        name: (mark_document(document_of(item), salt), mark_output(item, salt))
        for name, item in instances.items()
    }
    return [
        Label(
            document=marks[line["instance"]][0],
            output=marks[line["instance"]][1],
            system=line["system"],
            criterion=line["criterion"],
            people=line["human"],
            n_people=line["people"],
            raw=line["raw"],
            score=line["score"],
        ).model_dump(mode="json")
        for line in lines.to_dict("records")
        if line["instance"] in marks
    ]
