"""The fields of a bridge. It contains no person's name and no text of the study.

Intervals have 95% coverage and leave out whole documents. They apply to other documents with the same people.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import numpy as np
from pydantic import ConfigDict

from coeval.extensions.judge.certificate.schema import Hash, Number
from coeval.extensions.judge.model.fitted import Numbers
from coeval.llm.prompting.questions import Part

Side = Literal["old", "new"]


class Design(StrEnum):
    """The way in which the judges are connected."""

    PEOPLE = "people"
    """People scored outputs of both judges: each judge is linked to people's scale."""
    COMMON = "common items"
    """Both judges scored the same outputs, without people: the old judge is linked to the new judge's scale."""
    NONE = "none"


class Verdict(StrEnum):
    """What the restated means say about the order of two systems."""

    HOLDS = "holds"
    FLIPS = "flips"
    UNTOLD = "cannot be told"


class Point(Part):
    """The link at one score of the judge."""

    score: float
    linked: Number


class Favour(Part):
    """The mean error of a link (linked minus target) on a system's anchors, minus that on all others.

    ``p_value`` is adjusted over the systems of both links (Holm).
    """

    system: str
    anchors: int
    excess: Number
    p_value: float | None


class Link(Part):
    """A monotone map from a judge's uncalibrated score to the target scale, linear between its knots.

    ``without`` has the values at the knots when one group of documents is left out: the link's error follows from them.
    ``spread`` is the typical error of the linked mean of a system without anchors of its own, from the mean residuals
    of ``systems`` systems; None if there are fewer than three.
    """

    side: Side
    kind: str
    anchors: int
    documents: int
    scores: tuple[float, ...]
    linked: tuple[float, ...]
    without: tuple[tuple[float, ...], ...]
    spread: float | None
    systems: int
    points: tuple[Point, ...]
    favours: tuple[Favour, ...] = ()

    def apply(self, scores: Numbers, without: int | None = None) -> Numbers:
        """Return the linked scores, by the whole link or by the one without a group of documents."""
        values = self.linked if without is None else self.without[without]
        return np.asarray(np.interp(scores, self.scores, values), dtype=float)


class SystemMean(Part):
    """A system's mean on the target scale. ``before`` is the plain mean of the judge that scored it then.

    ``side`` is the judge whose scores are linked. ``corrected`` is True if the system's own anchors correct the link.
    """

    system: str
    side: Side
    items: int
    anchors: int
    """Number of documents with anchors of this system."""
    corrected: bool
    before: float
    before_side: Side
    restated: Number


class Pair(Part):
    """Two systems. ``before`` and ``restated`` are the first system's mean minus the second's.

    ``p_value`` is adjusted over all pairs of the bridge (Holm). ``enough`` is the number of anchor documents of both
    systems that would show a difference of this size, None if no number would.
    """

    first: str
    second: str
    before: float
    restated: Number
    p_value: float | None = None
    verdict: Verdict = Verdict.UNTOLD
    enough: int | None = None


class CriterionBridge(Part):
    """The bridge for a criterion, or the ``reason`` for its absence."""

    criterion: str
    design: Design
    reason: str = ""
    links: tuple[Link, ...] = ()
    systems: tuple[SystemMean, ...] = ()
    pairs: tuple[Pair, ...] = ()

    def get_link(self, side: Side) -> Link | None:
        return next((link for link in self.links if link.side == side), None)


class BridgedJudge(Part):
    """A judge of the bridge, by its name, its models, and the hash that its certificate also has."""

    name: str
    models: tuple[str, ...]
    hash: Hash


class Bridge(Part):
    """The links of two judges, and the old results on the new scale."""

    model_config = ConfigDict(title="A bridge between judges (CoEval)")

    kind: Literal["coeval-bridge"] = "coeval-bridge"
    version: Literal[1] = 1
    made_at: str
    task: str
    old: BridgedJudge
    new: BridgedJudge
    by_criterion: tuple[CriterionBridge, ...]
    findings: tuple[str, ...] = ()
    paragraph: str = ""
    """Methods and result, for a paper."""

    def count(self, verdict: Verdict) -> int:
        """Return the number of pairs with this verdict, over all criteria."""
        return sum(pair.verdict is verdict for part in self.by_criterion for pair in part.pairs)
