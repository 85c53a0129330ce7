"""A task's seal: which documents judges may be fitted on, which are kept for the certificate, and who opened those."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """What a document is for: everything is fitted and chosen on ``dev``; ``certificate`` only proves the result."""

    DEV = "dev"
    CERTIFICATE = "certificate"


@dataclass(frozen=True, slots=True)
class Seal:
    """How the documents of a task were split, once: by a salted hash, so that nobody chose.

    ``share`` of the documents, above 0 and below 1, went to the certificate.
    """

    salt: str
    share: float
    sealed_by: str = ""
    sealed_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Opening:
    """The certificate's labels were read: ``number`` counts a seal's openings from 1, and none is ever taken back.

    ``certificate`` is the result as JSON; empty where computing it failed after the labels were read.
    """

    number: int
    judge_hash: str
    opened_by: str = ""
    opened_at: str = ""
    certificate: str = ""
    labels: str = "[]"
    """What people and judge said of each sealed line, by hashes, as JSON."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Label:
    """A person's score of an instance by a criterion, people by number.

    ``arm`` is how it was given; in the arm ``first`` the score is the one from before the draft was shown.
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
    """What a judge, by the label of its run, said of an instance by a criterion; ``score`` is None where unscored.

    ``samples`` and ``probabilities`` as in ``Draft``.
    """

    judge: str
    instance: str
    criterion: str
    score: float | None
    samples: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedJudge:
    """A judge as it was fitted on the dev part, as JSON; ``hash`` is that of the text."""

    json: str
    hash: str
    fitted_by: str = ""
    fitted_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class RunExample:
    """A worked example that a run's questions show, as JSON, from a ``document``; ``base`` is the run without it."""

    base: int
    document: str
    json: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A sharper wording that the model proposed for a criterion; ``taken`` is None until an owner decides."""

    criterion: int
    before: str
    """The criterion's text as it was."""
    text: str
    anchors: tuple[tuple[int, str], ...] = ()
    why: str = ""
    model: str = ""
    proposed_by: str = ""
    proposed_at: str = ""
    taken: bool | None = None
    id: int = 0
