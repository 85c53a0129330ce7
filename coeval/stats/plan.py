"""A study's plan: the documents that it needs, its progress under a stopping rule, and sentences about them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy

from coeval.domain.studies import StoppingRule
from coeval.stats.clusters import VERDICT_FROM, gap_of
from coeval.stats.estimates import FLAT, Estimate, short, t_quantile
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Numbers
from coeval.stats.report.agreement import ALL_SCORES, people_alphas
from coeval.stats.report.answer import count_clusters
from coeval.stats.report.systems import compare_pairs, sum_systems

# The number of documents for an interval of a given width, or a difference of a given size.

MOST = 100_000
"""Largest number of documents in an answer."""

POWER = 0.8


@dataclass(frozen=True)
class Needed:
    """The approximate number of documents. ``low`` and ``high`` allow for a pilot's spread that was too high or low.

    ``documents`` is None if more than ``MOST`` are needed.
    """

    documents: int | None
    low: int | None
    high: int | None


def documents_for_width(se: float, documents: int, width: float) -> Needed:
    """Return the number of documents for an interval of +-``width``, from the standard error in a pilot.

    The error falls with the square root of the number of documents. The interval is Student's t.

    Parameters
    ----------
    se, documents : the standard error in the pilot, and its number of documents.
    width : half of the desired interval, above 0.

    >>> documents_for_width(0.05, 25, 0.05)
    Needed(documents=99, low=72, high=150)
    """
    return _needed(se, documents, width, t_quantile)


def documents_for_difference(se: float, documents: int, points: float) -> Needed:
    """Return the number of documents needed to detect a difference of ``points`` with probability ``POWER``.

    The test is two-sided.

    Parameters
    ----------
    se, documents : the standard error of the difference in the pilot, and its number of documents.

    >>> documents_for_difference(0.1, 20, 0.3).documents
    20
    """
    return _needed(se, documents, points, lambda df: t_quantile(df) + scipy.special.stdtrit(df, POWER))


def _needed(se: float, documents: int, width: float, reach: Callable[[Any], Any]) -> Needed:
    """Return the needed number. ``reach`` maps degrees of freedom to the number of standard errors in ``width``."""
    if not width > 0:
        raise ValueError(f"A width of {width:g} needs endless documents; choose one above 0.")
    if documents < 2 or not se > 0:
        return Needed(None, None, None)
    sizes = np.arange(2, MOST + 1)
    steps = reach(sizes - 1) / np.sqrt(sizes)
    df = documents - 1
    spread = [np.sqrt(df / scipy.special.chdtri(df, tail)) for tail in (0.1, 0.9)]

    def smallest(error: float) -> int | None:
        enough = np.flatnonzero(steps * error * np.sqrt(documents) <= width)
        return int(sizes[enough[0]]) if len(enough) else None

    return Needed(smallest(se), smallest(se * spread[0]), smallest(se * spread[1]))


# An interval that is valid at every look, for a study that stops when it knows enough.

BETS = np.array([0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99])
"""The shares of capital that gamblers bet. Large shares learn from few documents, small shares from varied ones."""

HALVINGS = 30
"""The number of halvings in the search for a limit, far more than any displayed number needs."""


def betting_interval(values: Numbers, low: float, high: float) -> tuple[float, float]:
    """Return a confidence sequence for the mean of bounded values, valid at every look.

    A gambler bets that the mean is above (or below) m. If m is the true mean, the probability that the capital ever
    grows by the inverse of the error rate is at most the error rate, at any number of looks. The limits are the means
    against which nobody wins that much. This needs no normal distribution and no minimum number of values. (An
    asymptotic sequence is far too narrow for ten nearly equal values, because rare large ones are still to come.)

    Parameters
    ----------
    values : independent values from one distribution, in any order.
    low, high : the bounds of the values.

    Source: Waudby-Smith and Ramdas 2024, Estimating means of bounded random variables by betting, section 5 and
    appendix B (a mixture of gamblers who stake constant shares, one side at a time).

    >>> values = np.repeat([0.0, 1.0], [30, 10])
    >>> [round(limit, 3) for limit in betting_interval(values, -4, 4)]
    [-0.269, 0.715]
    """
    if not len(values):
        return low, high
    scaled = np.clip((np.asarray(values, dtype=float) - low) / (high - low), 0.0, 1.0)
    tail = 0.025
    lower, upper = _lower_limit(scaled, tail), 1 - _lower_limit(1 - scaled, tail)
    return low + (high - low) * lower, low + (high - low) * upper


def _lower_limit(values: Numbers, tail: float) -> float:
    """Return the smallest mean in [0, 1] that the bets do not rule out at the error rate ``tail``."""
    distinct, times = np.unique(values, return_counts=True)
    low, high = 0.0, float(values.mean())
    for _ in range(HALVINGS):
        mean = (low + high) / 2
        if not mean > 0:
            return low
        # each gambler's capital falls as the mean rises, so a single point separates won from lost bets
        capital = np.log1p(BETS[:, None] * (distinct / mean - 1)) @ times
        most = float(capital.max())
        won = most + np.log(np.exp(capital - most).mean()) >= -np.log(tail)
        low, high = (mean, high) if won else (low, mean)
    return low


# The basis of a plan: the spread in a pilot's scores.


@dataclass(frozen=True)
class Difference:
    """The difference between systems ``a`` and ``b``, with its error over ``documents``.

    ``gaps`` are the differences within each document that has both systems, one per document.
    """

    a: str
    b: str
    value: Estimate
    documents: int
    gaps: Numbers


@dataclass(frozen=True)
class Pilot:
    """The data for planning.

    ``scored`` documents (of kind ``kind``) have a score. ``documents`` of them have scores of two people; they give
    alpha (mean over criteria) and the differences between systems.
    """

    kind: str
    scored: int
    documents: int
    alpha: Estimate
    differences: list[Difference]
    reach: float
    """The largest difference between two scores on the scale."""
    scores: str = ""
    """A description of the scores behind alpha. The differences use all scores."""
    drafts_in_view: int = 0
    """The number of scores given with the draft in view."""


def pilot_of(study: StudyFrames) -> Pilot:
    """Return the pilot from a study's scores so far."""
    alphas = people_alphas(study)
    headline = alphas.headline
    alpha = headline.mean.value
    scored, documents = study.clusters.of(study.scored["unit"]).n, int(alpha.details.get("clusters", 0))
    reach = max((high - low for low, high in study.scales.values()), default=np.nan)
    return Pilot(
        study.clusters.kind,
        scored,
        documents,
        alpha,
        _differences(study),
        reach,
        headline.scores,
        alphas.of_all.drafts_in_view.n,
    )


@dataclass(frozen=True, slots=True)
class Finished:
    """The pilot of the documents that all planned people have finished.

    People differ in care. If they work one after another, each of them changes a document's mean, so no interval of
    unfinished documents is valid. ``asked`` are the instances that people should score; empty means all.
    """

    people: int
    asked: frozenset[str] = frozenset()

    def __call__(self, study: StudyFrames) -> Pilot:
        """Return the pilot from the scores of these documents alone."""
        names = study.units["instance"]
        wanted = names.isin(self.asked).to_numpy() if self.asked else np.ones(len(names), dtype=bool)
        raters = np.bincount(study.scored["unit"], minlength=len(names))
        lacking = study.clusters.code[wanted & (raters < max(self.people, 1))]
        begun = study.clusters.code[study.scored["unit"].to_numpy(dtype=np.int64)]
        # ``scored`` has the rows of ``scores`` with a score, in the same order
        kept = study.scores[study.scores["score"].notna()][~np.isin(begun, lacking)]
        return pilot_of(replace(study, scores=kept.reset_index(drop=True)))


def _differences(study: StudyFrames) -> list[Difference]:
    names, sums = sum_systems(study)
    differences = []
    for (a, b), gap in compare_pairs(sums, study.clusters.kind).items():
        of_pair = sums[:, [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]]
        scored = of_pair[:, [1, 3]] > 0
        documents, gaps = int(scored.any(axis=1).sum()), gap_of(of_pair[scored.all(axis=1)])
        differences.append(Difference(names[a], names[b], gap, documents, gaps))
    return differences


# The plan: documents for an interval and for differences; and the progress.


@dataclass(frozen=True)
class Wanted:
    """The goals of a study: alpha to +-``width``, and differences of ``points``."""

    width: float = 0.05
    points: float = 0.3


@dataclass(frozen=True)
class PlannedPair:
    """The number of documents that detects the wanted difference between systems ``a`` and ``b``."""

    a: str
    b: str
    needed: Needed = field(metadata=FLAT)


@dataclass(frozen=True)
class Plan:
    """The numbers of documents that a study needs, computed from the data so far.

    ``differences`` has a number for each difference of the pilot.
    """

    wanted: Wanted
    pilot: Pilot
    alpha: Needed
    differences: list[PlannedPair]


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
    """Return the numbers of documents that reach the goals.

    Raises
    ------
    ValueError
        If a width or difference is not above 0.
    """
    se = float(pilot.alpha.details.get("se", float("nan")))
    return Plan(
        wanted,
        pilot,
        documents_for_width(se, pilot.documents, wanted.width),
        [
            PlannedPair(
                pair.a, pair.b, documents_for_difference(float(pair.value.se), pair.documents, wanted.points)
            )
            for pair in pilot.differences
        ],
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
    pair = next(
        (
            difference
            for difference in pilot.differences
            if {difference.a, difference.b} == {rule.system_a, rule.system_b}
        ),
        None,
    )
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
    if not pilot.scored:
        yield "Nobody has scored anything yet: come back after a pilot."
        return
    if 0 < pilot.documents < VERDICT_FROM:
        yield (
            f"It is too early to plan: agreement rests on {count_clusters(pilot.documents, pilot.kind)}, and at least "
            f"{VERDICT_FROM} are needed. The numbers below are rough."
        )
    yield _tell_more(plan)
    if not pilot.alpha.defined or plan.alpha.documents is None and not pilot.alpha.details.get("se"):
        reason = pilot.alpha.reason or f"{pilot.documents} {pilot.kind} show no spread"
        remedy = "" if pilot.documents else " Have two people score the same outputs."
        yield f"Nothing can be planned from these scores for agreement: {reason}.{remedy}"
    else:
        yield (
            f"Alpha, the mean over criteria, is {short(float(pilot.alpha))}; to know it to ±{short(wanted.width)}, "
            f"you need {tell_needed(plan.alpha, pilot.kind)}."
        )
    if pilot.scores and pilot.documents:
        yield _tell_scores(pilot)
    for pair, planned in zip(pilot.differences, plan.differences, strict=True) if differences else ():
        yield (
            f"{pair.a} against {pair.b} ({float(pair.value):+.2f} points): to detect {wanted.points:g} points "
            f"with a probability of {POWER:.0%}, you need {tell_needed(planned.needed, pilot.kind)}."
        )


def _tell_more(plan: Plan) -> str:
    """Say how many documents have scores, and how many more reach every goal that can be planned."""
    goals = [plan.alpha, *(planned.needed for planned in plan.differences)]
    needed = max((goal.documents for goal in goals if goal.documents), default=0)
    has = "has" if plan.pilot.scored == 1 else "have"
    enough = f"{count_clusters(plan.pilot.scored, plan.pilot.kind)} {has} scores"
    more = needed - plan.pilot.scored
    if not needed:
        return f"So far, {enough}."
    if more > 0:
        return f"You need about {more:,} more {plan.pilot.kind}: {needed:,} in all, and {enough}."
    return f"You need no more {plan.pilot.kind}: {needed:,} reach these goals, and {enough}."


def _tell_scores(pilot: Pilot) -> str:
    """Say which scores the numbers use."""
    if pilot.scores == ALL_SCORES:
        seen = ", with or without a draft in view" if pilot.drafts_in_view else ""
        return f"Alpha and differences between systems use all scores{seen}."
    if not pilot.drafts_in_view:
        return f"Alpha and differences between systems use {pilot.scores}."
    return (
        f"Alpha uses {pilot.scores}; differences between systems use all scores, including those given with the draft "
        "in view."
    )


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
