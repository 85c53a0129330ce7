"""Drafts, and what people made of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.domain.criteria import Action


class RowKind(StrEnum):
    """The kinds of line in an evaluation."""

    CONCLUSION = "conclusion"
    SCORE = "score"
    EVIDENCE = "evidence"


class Arm(StrEnum):
    """How an instance is shown to an annotator: with the draft, without it, or only after a first score.

    ``undrafted`` is never drawn: it is what became of a save where there was no draft to show yet.
    """

    ASSISTED = "assisted"
    BLIND = "blind"
    FIRST = "first"
    UNDRAFTED = "undrafted"


class DraftStatus(StrEnum):
    """Whether a score could be read from the model's answer."""

    OK = "ok"
    UNSCORED = "unscored"


class QuotePlace(StrEnum):
    """The text in which a quotation stands."""

    OUTPUT = "output"
    NEAR = "nearly in the output"
    INPUT = "input"


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted span; ``start`` and ``end`` are None where it was found nowhere.

    Offsets count Unicode code points of the output, or of the input where ``place`` says so, end exclusive.
    """

    text: str
    start: int | None = None
    end: int | None = None
    place: QuotePlace = QuotePlace.OUTPUT

    @property
    def found(self) -> bool:
        """Whether it stands in the output, word for word or nearly."""
        return self.start is not None and self.place is not QuotePlace.INPUT

    @property
    def located(self) -> bool:
        """Whether it stands anywhere in the sample."""
        return self.start is not None


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """One line of an evaluation, with the spans it quotes."""

    kind: RowKind
    text: str
    quotes: tuple[Quote, ...] = ()
    id: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """The model's evaluation of one instance by one criterion: immutable, with its provenance.

    ``score`` is None exactly when ``status`` is unscored; ``reason`` then says why and ``raw`` holds the
    model's own words. ``samples`` are the scores of the single answers where more than one was asked for;
    ``probabilities`` those of the scale's steps, where log-probabilities were.
    """

    instance: int
    criterion: int
    score: float | None
    rows: tuple[EvaluationRow, ...] = ()
    status: DraftStatus = DraftStatus.OK
    reason: str = ""
    raw: str = ""
    samples: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    attempt: int = 1
    run: int = 0
    id: int = 0


@dataclass(frozen=True, slots=True)
class UnscoredDraft:
    """A judgment that no score could be read from: of what, why, and ``raw``, the model's own words.

    ``instance`` is an external id; of a comparison, both of them, as they were shown.
    """

    instance: str
    criterion: str
    attempt: int
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class ScrutinyRow:
    """What a person did to one line: ``draft_row`` is None for a line they added."""

    kind: RowKind
    action: Action
    draft_row: int | None = None
    reason: str = ""
    text: str = ""
    """The new wording for ``revise`` and ``add``; empty otherwise. For the score row: the new score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How a save was made, as the browser tells it and as it is stored: a further such field is written here once."""

    opened_at: str = ""
    active_ms: int | None = None
    bulk: bool = False
    """Whether some lines were approved all at once, with "Approve the rest"."""


@dataclass(frozen=True, slots=True)
class Submission(Conduct):
    """One person's saved scrutiny of one instance by one criterion; append-only, latest revision counts."""

    person: int
    instance: int
    criterion: int
    score: float | None
    rows: tuple[ScrutinyRow, ...]
    draft: int | None = None
    arm: Arm = Arm.ASSISTED
    submitted_at: str = ""
    revision: int = 1
    uid: str = ""
    """A key made by the browser, so that a save sent twice is kept once."""
    shown_score: float | None = None
    """The score that stood on the screen: the draft's, or the wrong one planted; None where none was shown."""
    planted: str = ""
    """What was wrong on purpose in the draft shown: ``score``, ``evidence`` or, as a rule, nothing."""
    id: int = 0

    @property
    def outcome(self) -> Arm:
        """The arm as it came out: of the one drawn, or undrafted."""
        return Arm.UNDRAFTED if self.draft is None and self.arm is not Arm.BLIND else self.arm
