"""A study's plan: the documents and people that it needs, its progress, and sentences about them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coeval.domain.studies import StoppingRule
from coeval.stats.clusters import FEW
from coeval.stats.estimates import Estimate
from coeval.stats.report.agreement import ALL_SCORES
from coeval.stats.sample_size import (
    MOST,
    POWER,
    Difference,
    Needed,
    Pilot,
    betting_interval,
    documents_for_difference,
    documents_for_width,
    people_for,
)

# The plan: documents for an interval and for differences, people for a dependable mean; and the progress.


@dataclass(frozen=True)
class Wanted:
    """The goals of a study: alpha to +-``width``, differences of ``points``, and a mean dependable to ``phi``."""

    width: float = 0.05
    points: float = 0.3
    phi: float = 0.8


@dataclass(frozen=True)
class PlannedDifference:
    """A pair of systems, with the documents that detect ``points`` and that give +-``points``."""

    difference: Difference
    told: Needed
    width: Needed


@dataclass(frozen=True)
class Plan:
    """The numbers of documents and people that a study needs, computed from the data so far."""

    wanted: Wanted
    pilot: Pilot
    alpha: Needed
    differences: list[PlannedDifference]
    people: int | None


@dataclass(frozen=True)
class Progress:
    """The progress of a study under its rule. The interval from ``low`` to ``high`` is valid at every look.

    ``width`` is half of the interval. All planned ``people`` finished ``documents``; ``begun`` documents have a score.
    """

    rule: StoppingRule
    value: Estimate
    width: float
    documents: int
    enough: bool
    reason: str
    low: float = -math.inf
    high: float = math.inf
    people: int = 0
    begun: int = 0


def plan_study(pilot: Pilot, wanted: Wanted) -> Plan:
    """Return the numbers of documents and people that reach the goals.

    Raises
    ------
    ValueError
        If a width or difference is not above 0, or phi is not between 0 and 1.
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


def follow_rule(rule: StoppingRule, pilot: Pilot, *, people: int = 0, begun: int = 0) -> Progress:
    """Return the progress under the rule, including whether the scores suffice. It is valid after every score.

    Parameters
    ----------
    pilot : the data of the documents that all planned people finished (``Finished``).
    people, begun : the number of planned people and of documents with a score, for the page.
    """
    value, low, high, documents = _difference_so_far(rule, pilot)
    width = (high - low) / 2
    narrow = width <= rule.width
    told = not low <= 0 <= high
    if not documents:
        reason = value.reason or "no document has scores of both systems"
    elif narrow:
        reason = "the interval is as narrow as the rule requires"
    elif told:
        reason = "the interval excludes 0: one system scores higher"
    else:
        reason = "the interval is wider than the rule requires"
    enough = bool(documents) and (narrow or told)
    return Progress(rule, value, width, documents, enough, reason, low, high, people, begun)


def _difference_so_far(rule: StoppingRule, pilot: Pilot) -> tuple[Estimate, float, float, int]:
    """Return the mean difference within documents, its interval, and the number of documents."""
    pair = next((one for one in pilot.differences if {one.a, one.b} == {rule.system_a, rule.system_b}), None)
    if pair is None or not len(pair.gaps):
        nothing = Estimate.undefined("no finished document has scores of both systems")
        return nothing, -math.inf, math.inf, 0
    gaps = pair.gaps if pair.a == rule.system_a else -pair.gaps
    low, high = betting_interval(gaps, -pilot.reach, pilot.reach)
    return Estimate(float(gaps.mean())), low, high, len(gaps)


# A plan, and a study's progress by its rule, in sentences.


def tell_plan(plan: Plan, *, differences: bool = True) -> Iterator[str]:
    """Yield one sentence for each requirement of a study, with or without those for pairs of systems."""
    pilot, wanted = plan.pilot, plan.wanted
    if pilot.source == "scores" and not pilot.scored:
        yield "Nobody has scored anything yet: plan from assumed spreads, or come back after a pilot."
        return
    if pilot.source == "scores" and 0 < pilot.documents < FEW:
        yield (
            f"It is too early to plan: agreement rests on {_count(pilot.documents, pilot.kind)}, and at least {FEW} "
            "are needed. The numbers below are rough."
        )
    yield (
        f"From the scores of {_count(pilot.scored, pilot.kind)} so far."
        if pilot.source == "scores"
        else "From assumed spreads, not from scores."
    )
    if not pilot.alpha.defined or plan.alpha.documents is None and not pilot.alpha.details.get("se"):
        reason = pilot.alpha.reason or f"{pilot.documents} {pilot.kind} show no spread"
        remedy = (
            ""
            if pilot.documents
            else " Have two people score the same outputs, or plan from assumed spreads."
        )
        yield f"Nothing can be planned from these scores for agreement: {reason}.{remedy}"
    else:
        yield (
            f"Alpha, the mean over criteria, is {pilot.alpha:.2f}; to know it to ±{wanted.width:g}, you need "
            f"{tell_needed(plan.alpha, pilot.kind)}."
        )
    if pilot.scores and pilot.documents:
        yield _tell_scores(pilot)
    for one in plan.differences if differences else ():
        pair = one.difference
        told, width = tell_needed(one.told, pilot.kind), tell_needed(one.width, pilot.kind)
        yield (
            f"{pair.a} against {pair.b} ({float(pair.value):+.2f} points): to detect {wanted.points:g} points "
            f"with a probability of {POWER:.0%}, you need {told}; for ±{wanted.points:g} points, {width}."
        )
    if plan.people is None and not pilot.documents:
        return  # the reason is the same for all, so it is reported once
    if plan.people is None:
        yield (
            "The number of people for a dependable mean cannot be computed: the items do not differ by "
            "more than chance."
        )
    else:
        who = "1 person is" if plan.people == 1 else f"{plan.people:,} people are"
        yield f"For a mean with dependability {wanted.phi:g} (phi, from a D-study), {who} needed per item."


def _tell_scores(pilot: Pilot) -> str:
    """Say which scores the numbers use."""
    rest = "differences between systems and variance components"
    if pilot.scores == ALL_SCORES:
        seen = ", with or without a draft in view" if pilot.drafts_in_view else ""
        return f"Alpha, {rest} use all scores{seen}."
    if not pilot.drafts_in_view:
        return f"Alpha, {rest} use {pilot.scores}."
    return f"Alpha uses {pilot.scores}; {rest} use all scores, including those given with the draft in view."


def _count(n: int, kind: str) -> str:
    return f"{n:,} {kind.removesuffix('s') if n == 1 else kind}"


def tell_needed(needed: Needed, kind: str) -> str:
    """Describe the needed number of documents in words.

    >>> tell_needed(Needed(60, 44, 90), "documents")
    'about 60 documents (44 to 90, depending on the true spread)'
    """
    if needed.documents is None:
        return f"more {kind} than can be estimated (over {MOST:,}, or they show no spread)"
    low, high = needed.low, needed.high
    span = "" if low is None or high is None else f" ({low:,} to {high:,}, depending on the true spread)"
    return f"about {needed.documents:,} {kind}{span}"


def tell_rule(rule: StoppingRule) -> str:
    """Return a rule in words, with the time when it was declared."""
    what = f"{rule.system_a} minus {rule.system_b} is known to ±{rule.width:g} points, or one scores higher"
    when = f"declared by {rule.declared_by} on {rule.declared_at[:16].replace('T', ' ')} UTC"
    before = (
        "before the first score"
        if not rule.scores_then
        else (f"when {rule.scores_then:,} scores already existed")
    )
    planned = "1 document" if rule.planned == 1 else f"{rule.planned:,} documents"
    return f"Enough when {what}; {planned} planned; {when}, {before}."


def tell_progress(progress: Progress | None, rules: Sequence[StoppingRule]) -> Iterator[str]:
    """Yield sentences on whether there is enough data under the newest rule."""
    if progress is None:
        yield "No stopping rule is declared. Declare one before you look at the scores."
        return
    yield tell_rule(progress.rule)
    if progress.rule.scores_then:
        yield (
            "The rule was not declared beforehand: its error rate holds only if the existing scores "
            "did not lead to it."
        )
    if len(rules) > 1:
        yield f"This rule replaced {len(rules) - 1} earlier ones."
    if progress.begun:
        whom = "the 1 planned person" if progress.people == 1 else f"all {progress.people:,} planned people"
        yield (
            f"Of {progress.begun:,} documents with scores, {progress.documents:,} count: those that {whom} finished. "
            "If fewer people are planned, choose them in Set-up, under People."
        )
    if progress.value.defined and progress.width < float("inf"):
        yield (
            f"The mean difference per document is {float(progress.value):.2f}, from {progress.low:.2f} to "
            f"{progress.high:.2f}, by an interval that is valid at every look (95%, a betting sequence for bounded "
            f"scores, {progress.documents:,} documents)."
        )
    verdict = "You have enough" if progress.enough else "Not enough yet"
    yield f"{verdict}: {progress.reason}."
