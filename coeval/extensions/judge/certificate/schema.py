"""The fields of a certificate. It contains no person's name and no text of the study.

Unless noted otherwise, intervals have 95% coverage and leave out whole documents. They generalise to other documents
with the same people.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from coeval.llm.prompting.questions import Part

VERSION: Literal[1] = 1

Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
"""A SHA-256 hash in hexadecimal digits, or "" if it is unknown."""


class Number(Part):
    """An estimate with its interval. If it is undefined, ``value`` is None and ``reason`` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    clusters: int = 0
    """The number of documents behind the interval; 0 if there is none."""
    reason: str = ""

    @property
    def bounded(self) -> bool:
        return self.low is not None and self.high is not None


class People(Part):
    """The people whose scores test the judge, and the way they gave these scores."""

    people: int
    scores: int
    arms: str
    """``blind``, ``first`` (before the draft was shown), both, or ``assisted`` (with the draft)."""
    leaned: bool
    """True if people saw a draft, towards which they tend to lean."""
    kind: Literal["expert", "skilled", "crowd"] = "skilled"


class Split(Part):
    """The seal: the number of documents in each part, and of certificate documents with scores."""

    share: float
    sealed_at: str
    dev: int
    sealed: int
    used: int
    systems: tuple[str, ...]
    outputs: int
    lines: int
    """Number of (output, criterion) pairs that both people and the judge scored."""
    unread: int
    """Number of lines that people scored and the judge did not. No figure includes them."""
    asked_again: int = 0
    """Number of lines that people scored, and the judge only when it was asked again."""
    asked_again_counted: bool = False
    """True if figures include these lines. Otherwise they are a part of ``unread``."""


class EarlierOpening(Part):
    """An earlier reading of these labels."""

    at: str
    judge: Hash


class Rival(Part):
    """A baseline, or the judge itself (``judge``), compared with people's mean score of each line.

    ``gain`` is the rival's mean squared error minus the judge's on the same lines: positive if the judge is closer.
    """

    name: str
    note: str
    lines: int
    rmse: Number
    mae: Number
    pearson: Number
    kendall: Number
    gain: Number


class Level(Part):
    """Correlations between judge and people at a level: ``dataset``, ``document`` (within each) or ``system`` (means).

    They are averaged over criteria. Pooled correlations would reward a judge that only knows each criterion's mean.
    """

    level: Literal["dataset", "document", "system"]
    criteria: int
    pearson: Number
    spearman: Number
    kendall: Number


class AltTest(Part):
    """The alternative annotator test (Calderon et al. 2025): may the judge replace a person?

    ``passed`` is None if the test is undefined.
    """

    passed: bool | None
    winning_rate: Number
    advantage: Number
    epsilon: float
    people: int
    reason: str = ""


class Equivalence(Part):
    """The test whether the judge's mean is within ``margin`` of people's: two one-sided tests at .05
    (Schuirmann 1987).

    ``bias`` has a 90% interval. ``p_value`` is adjusted over the criteria (Holm). ``equivalent`` is None if undefined.
    False means that equivalence was not shown, not that the means differ.
    """

    margin: float
    bias: Number
    p_value: float | None
    smallest_margin: Number
    equivalent: bool | None


class Flips(Part):
    """The rate at which the verdict "at least ``threshold``" changes between two answers, over ``lines``.

    It is estimated from ``answers`` per line, on average.
    """

    threshold: float
    share: Number
    lines: int
    answers: float


class OfCriterion(Part):
    """The judge on one criterion. ``constant`` is the error of a constant: people's mean on the dev part.

    ``slope`` is the change of the calibrated score per point of the judge's own score if it is small, or else None.
    ``flips`` is empty if every line has only one answer.
    """

    criterion: str
    lines: int
    rmse: Number
    constant: Number
    pearson: Number
    kendall: Number
    equivalence: Equivalence
    slope: float | None = None
    flips: tuple[Flips, ...] = ()


class Group(Part):
    """The judge's mean minus people's mean on the lines of one system, or on the lines with the same mean
    score from people.
    """

    name: str
    lines: int
    judge: float
    people: float
    bias: Number


class Bin(Part):
    """The judge's mean, and people's mean with its interval, on lines to which the judge gives similar scores."""

    judge: float
    people: Number
    lines: int


class Hashes(Part):
    """SHA-256 hashes of the frozen judge, the sealed labels, the judge's scores of them, and its prompts."""

    judge: Hash
    labels: Hash
    scores: Hash
    prompts: tuple[Hash, ...]
    code: str


class Certificate(Part):
    """A judge's agreement with people on documents that were not used for fitting or choosing."""

    model_config = ConfigDict(title="A judge's certificate (CoEval)")

    kind: Literal["coeval-certificate"] = "coeval-certificate"
    version: Literal[1] = VERSION
    made_at: str
    task: str
    criteria: tuple[str, ...]
    judge: str
    models: tuple[str, ...]
    steps: tuple[str, ...]
    """The steps that were learned on the dev part and kept."""
    opening: Annotated[int, Field(ge=1)]
    """How often these labels were read for a judge, including this time."""
    earlier: tuple[EarlierOpening, ...]
    people: People
    split: Split
    rivals: tuple[Rival, ...]
    levels: tuple[Level, ...]
    alt_test: AltTest
    margin_share: float
    """The margin of equivalence as a share of each scale's range, stated before the labels were read."""
    by_criterion: tuple[OfCriterion, ...]
    by_system: tuple[Group, ...]
    by_score: tuple[Group, ...]
    calibration: tuple[Bin, ...]
    hashes: Hashes
    findings: tuple[str, ...] = ()
    """The findings, in citable sentences.

    The first sentence says how the labels were given, the second how often they were read.
    """
    limits: tuple[str, ...] = ()
    """The uses for which the judge is not validated."""

    bridge: str = ""
    """A sentence on the newest bridge to this judge from an earlier one, added when the certificate is read."""

    def get_rival(self, name: str) -> Rival | None:
        return next((rival for rival in self.rivals if rival.name == name), None)
