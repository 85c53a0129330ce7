"""The fields of a certificate. It contains no person's name and no text of the study.

Intervals are of 95% unless said otherwise and leave out whole documents: they speak of other documents and the same
people.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from coeval.llm.prompting.worked_examples import Part

VERSION: Literal[1] = 1

Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
"""SHA-256 in hexadecimal digits; empty if it is unknown."""


class Number(Part):
    """An estimate with its interval. If undefined, ``value`` is None and ``reason`` explains it."""

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
    """The people whose scores test the judge, and how these scores were given."""

    people: int
    scores: int
    arms: str
    """``blind``, ``first`` (before the draft was shown), both, or ``assisted``: people saw the draft."""
    leaned: bool
    """True if a draft was in view, towards which people lean."""
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
    """Outputs by criteria that both people and the judge scored."""
    unread: int
    """Lines with scores of people but no score of the judge; no figure includes them."""


class EarlierOpening(Part):
    """An earlier reading of these labels."""

    at: str
    judge: Hash


class Rival(Part):
    """A baseline, or the judge itself (``judge``), compared with people's mean score of each line.

    ``gain`` is the rival's mean squared error less the judge's on the same lines: above 0 if the judge is nearer.
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
    """Correlations of judge and people at a level: ``dataset``, ``document`` (within each) or ``system`` (of means).

    Means over criteria, since pooled ones reward a judge that knows no more than how high each criterion scores.
    """

    level: Literal["dataset", "document", "system"]
    criteria: int
    pearson: Number
    spearman: Number
    kendall: Number


class AltTest(Part):
    """The test whether the judge may replace a person (Calderon et al. 2025); ``passed`` is None if undefined."""

    passed: bool | None
    winning_rate: Number
    advantage: Number
    epsilon: float
    people: int
    reason: str = ""


class Equivalence(Part):
    """Tests whether the judge's mean is within ``margin`` of people's: two one-sided tests at .05
    (Schuirmann 1987).

    ``bias`` has an interval of 90%; ``p_value`` is adjusted over the criteria (Holm). ``equivalent`` is None if
    undefined, and False if it was not shown, which is not the same as different.
    """

    margin: float
    bias: Number
    p_value: float | None
    smallest_margin: Number
    equivalent: bool | None


class Flips(Part):
    """The rate at which the verdict "at least ``threshold``" changes between two runs of one answer, over
    ``lines``.

    ``answers`` is the mean number of answers of a line, from which it is estimated.
    """

    threshold: float
    share: Number
    lines: int
    answers: float


class OfCriterion(Part):
    """The judge on one criterion; ``constant`` is the error of people's mean on the dev part for that
    criterion.

    ``slope`` says how far the calibrated score moves where the judge's own moves by a point, if it hardly does; else it
    is None. ``flips`` is empty if every line has one answer.
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
    """Lines of one system, or of one score of people: the judge's mean minus people's."""

    name: str
    lines: int
    judge: float
    people: float
    bias: Number


class Bin(Part):
    """Lines with about the same score from the judge: its mean, and people's mean with its interval."""

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
    """The steps that were learned on the dev part and kept; empty if there are none."""
    opening: Annotated[int, Field(ge=1)]
    """The number of times that these labels were read for a judge, this time included."""
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
    """The findings, in sentences to cite.

    The first says how the labels were given, the second how often they were read.
    """
    limits: tuple[str, ...] = ()
    """The uses for which the judge is not validated."""

    def get_rival(self, name: str) -> Rival | None:
        return next((rival for rival in self.rivals if rival.name == name), None)
