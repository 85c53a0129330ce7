"""A plan: documents for an interval and for differences, people for a dependable mean; and whether it is enough."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain.studies import Measure, StoppingRule
from coeval.stats.estimates.results import Estimate
from coeval.stats.planning.pilot import Difference, Pilot
from coeval.stats.planning.precision import Needed, documents_for_difference, documents_for_width, people_for
from coeval.stats.planning.sequence import FIRST, sequence_width


@dataclass(frozen=True)
class Wanted:
    """What a study shall tell: alpha to +-``width``, differences of ``points``, and a mean dependable to ``phi``."""

    width: float = 0.05
    points: float = 0.3
    phi: float = 0.8


@dataclass(frozen=True)
class PlannedDifference:
    """A pair of systems, and the documents that tell ``points`` from none, and that give +-``points``."""

    difference: Difference
    told: Needed
    width: Needed


@dataclass(frozen=True)
class Plan:
    """What a study needs, by what is known so far."""

    wanted: Wanted
    pilot: Pilot
    alpha: Needed
    differences: list[PlannedDifference]
    people: int | None


@dataclass(frozen=True)
class Progress:
    """Where a study stands by its rule; ``width`` is half of the interval that holds at every look."""

    rule: StoppingRule
    value: Estimate
    width: float
    documents: int
    enough: bool
    reason: str


def plan_study(pilot: Pilot, wanted: Wanted) -> Plan:
    """How many documents and people do what is wanted.

    Raises
    ------
    ValueError
        For a width or difference that is not above 0, or a phi that is not between 0 and 1.
    """
    if not 0 < wanted.phi < 1:
        raise ValueError(f"A dependability of {wanted.phi:g} cannot be reached; choose one between 0 and 1.")
    se = float(pilot.alpha.details.get("se", float("nan")))
    return Plan(
        wanted,
        pilot,
        documents_for_width(se, pilot.documents, wanted.width),
        [_planned(one, wanted.points) for one in pilot.differences],
        people_for(pilot.item, pilot.person, pilot.residual, wanted.phi),
    )


def _planned(one: Difference, points: float) -> PlannedDifference:
    se = float(one.value.se)
    return PlannedDifference(
        one,
        documents_for_difference(se, one.documents, points),
        documents_for_width(se, one.documents, points),
    )


def follow_rule(rule: StoppingRule, pilot: Pilot) -> Progress:
    """Whether the rule says that the scores so far are enough; it may be asked after every score."""
    value, documents = pilot.alpha, pilot.documents
    if rule.measure is Measure.DIFFERENCE:
        pair = next(
            (one for one in pilot.differences if {one.a, one.b} == {rule.system_a, rule.system_b}), None
        )
        if pair is None:
            nothing = Estimate.undefined("no person scored both systems")
            return Progress(rule, nothing, float("inf"), 0, False, nothing.reason or "")
        value, documents = pair.value, pair.documents
        if pair.a != rule.system_a:
            value = Estimate(-float(value), **value.details)
    se = float(value.details.get("se", float("nan")))
    width = sequence_width(se, documents, rule.planned)
    narrow = width <= rule.width
    told = rule.measure is Measure.DIFFERENCE and abs(float(value)) > width
    if documents < FIRST:
        reason = f"{documents} {pilot.kind} are too few to look at; the rule begins at {FIRST}"
    elif narrow:
        reason = "the interval is as narrow as the rule asks"
    elif told:
        reason = "the interval leaves out 0: one system scores higher"
    else:
        reason = "the interval is wider than the rule asks"
    return Progress(rule, value, width, documents, narrow or told, reason)
