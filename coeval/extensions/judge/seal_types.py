"""A task's seal: the documents for fitting judges, the documents for the certificate, and each opening."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
    """A judge's score of an instance and a criterion, with the label of its run; None if unscored.

    ``samples`` and ``probabilities`` are as in ``Draft``.
    """

    judge: str
    instance: str
    criterion: str
    score: float | None
    samples: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedJudge:
    """A judge that was fitted on the dev part, as JSON; ``hash`` is the hash of the text."""

    json: str
    hash: str
    fitted_by: str = ""
    fitted_at: str = ""
    id: int = 0
