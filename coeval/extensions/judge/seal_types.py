"""A task's seal, each opening of it, and the split of documents into those for fitting and for the certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from math import floor


class Part(StrEnum):
    """The purpose of a document: ``dev`` to fit and choose a judge, ``certificate`` only to prove the result."""

    DEV = "dev"
    CERTIFICATE = "certificate"


@dataclass(frozen=True, slots=True)
class Seal:
    """The one split of a task's documents. A salted hash decides it, so that nobody can influence the split.

    ``share`` is the certificate's share of the documents, above 0 and below 1.
    """

    salt: str
    share: float
    sealed_by: str = ""
    sealed_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Opening:
    """One reading of the certificate's labels. ``number`` counts the openings of a seal from 1; none is ever deleted.

    ``certificate`` is the result as JSON; empty if computing it failed after the labels were read.
    """

    number: int
    judge_hash: str
    opened_by: str = ""
    opened_at: str = ""
    certificate: str = ""
    labels: str = "[]"
    """The scores of people and judge for each sealed line, identified by hashes, as JSON."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Label:
    """A person's score of an instance by a criterion; people are numbered.

    ``arm`` is the arm in which it was given; in the arm ``first`` it is the score from before the draft was
    shown.
    """

    person: int
    instance: str
    document: str
    system: str
    criterion: str
    arm: str
    score: float


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """A judge's score of an instance and a criterion, with the label of its run; None if unscored or left out.

    ``samples`` and ``probabilities`` are as in ``Draft``. ``asked_again`` is True if the judge gave the score only in a
    second question.
    """

    judge: str
    instance: str
    criterion: str
    score: float | None
    samples: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    asked_again: bool = False


@dataclass(frozen=True, slots=True)
class FittedJudge:
    """A judge that was fitted on the dev part, as JSON; ``hash`` is the hash of the text."""

    json: str
    hash: str
    fitted_by: str = ""
    fitted_at: str = ""
    id: int = 0


Stratum = tuple[str, ...]
"""The properties over which documents are balanced, such as the systems that answered them."""


def hash_document(document: str, salt: str) -> float:
    """Return a number from 0 (included) to 1 for the document: pseudo-random, but always the same.

    >>> 0 <= hash_document("d1", "salt") < 1, hash_document("d1", "salt") == hash_document("d1", "other salt")
    (True, False)
    """
    digest = sha256(f"{salt}\\0{document}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def split_documents(strata: Mapping[str, Stratum], salt: str, share: float) -> dict[str, Part]:
    """Return the part of each document, by systematic sampling in the order of stratum, then of salted hash.

    Each document goes to the certificate with the same probability, ``share``, and the number from each
    stratum is within one of its share (Cochran 1977, Sampling Techniques, section 8.2: systematic sampling of
    a stratified list).

    >>> parts = split_documents({f"d{n}": ("a",) if n < 4 else ("b",) for n in range(8)}, "salt", 0.5)
    >>> [sum(parts[f"d{n}"] == "certificate" for n in range(k, k + 4)) for k in (0, 4)]
    [2, 2]
    """
    listed = sorted(strata, key=lambda document: (strata[document], hash_document(document, salt), document))
    start = hash_document("", salt)
    ends = [floor(start + share * place) for place in range(len(listed) + 1)]
    return {
        document: Part.CERTIFICATE if ends[place + 1] > ends[place] else Part.DEV
        for place, document in enumerate(listed)
    }


def part_of_newcomer(document: str, salt: str, share: float) -> Part:
    """Return the part of a document that was added after the sealing.

    Only its hash decides, so nobody can choose.
    """
    return Part.CERTIFICATE if hash_document(document, salt) < share else Part.DEV
