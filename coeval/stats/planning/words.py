"""A plan, and where a study stands by its rule, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coeval.domain.studies import Measure, StoppingRule
from coeval.stats.planning.plan import Plan, Progress
from coeval.stats.planning.precision import MOST, POWER, Needed


def tell_plan(plan: Plan) -> Iterator[str]:
    """What a study needs, a sentence each."""
    pilot, wanted = plan.pilot, plan.wanted
    if pilot.source == "scores" and not pilot.scored:
        yield "Nobody has scored anything yet: plan from assumed spreads, or come back after a pilot."
        return
    yield (
        f"From the scores of {_count(pilot.scored, pilot.kind)} so far."
        if pilot.source == "scores"
        else "From the spreads that were assumed, not from scores."
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
            f"Alpha, the mean over criteria, is {pilot.alpha:.2f}; for ±{wanted.width:g} on it you need "
            f"{tell_needed(plan.alpha, pilot.kind)}."
        )
    for one in plan.differences:
        pair = one.difference
        told, width = tell_needed(one.told, pilot.kind), tell_needed(one.width, pilot.kind)
        yield (
            f"{pair.a} against {pair.b} ({float(pair.value):+.2f} points): to tell {wanted.points:g} points from none "
            f"with a chance of {POWER:.0%} you need {told}; for ±{wanted.points:g} points, {width}."
        )
    if plan.people is None and not pilot.documents:
        return  # the reason is told: it is the same one
    if plan.people is None:
        yield "How many people a dependable mean needs cannot be told: the items do not differ by more than chance."
    else:
        who = "1 person is" if plan.people == 1 else f"{plan.people:,} people are"
        yield f"For a mean dependable to {wanted.phi:g} (phi, a D-study), {who} needed for each item."


def _count(n: int, kind: str) -> str:
    return f"{n:,} {kind.removesuffix('s') if n == 1 else kind}"


def tell_needed(needed: Needed, kind: str) -> str:
    """
    >>> tell_needed(Needed(60, 44, 90), "documents")
    'about 60 documents (44 to 90, as the spread may be)'
    """
    if needed.documents is None:
        return f"more {kind} than can be told (over {MOST:,}, or they show no spread)"
    low, high = needed.low, needed.high
    span = "" if low is None or high is None else f" ({low:,} to {high:,}, as the spread may be)"
    return f"about {needed.documents:,} {kind}{span}"


def tell_rule(rule: StoppingRule) -> str:
    """What a rule says, and when it was declared."""
    what = (
        f"alpha is known to ±{rule.width:g}"
        if rule.measure is Measure.ALPHA
        else f"{rule.system_a} less {rule.system_b} is known to ±{rule.width:g} points, or one scores higher"
    )
    when = f"declared by {rule.declared_by} on {rule.declared_at[:16].replace('T', ' ')} UTC"
    before = (
        "before the first score" if not rule.scores_then else f"when {rule.scores_then:,} scores were there"
    )
    return f"Enough when {what}; {rule.planned:,} documents planned; {when}, {before}."


def tell_progress(progress: Progress | None, rules: Sequence[StoppingRule]) -> Iterator[str]:
    """Whether there is enough, by the newest rule."""
    if progress is None:
        yield "No rule says yet when there is enough. Declare one before you look at the scores."
        return
    yield tell_rule(progress.rule)
    if progress.rule.scores_then:
        yield "It was not said beforehand: its promise holds only if the scores that were there did not lead to it."
    if len(rules) > 1:
        yield f"This rule took the place of {len(rules) - 1} before it."
    if progress.value.defined and progress.width < float("inf"):
        low, high = float(progress.value) - progress.width, float(progress.value) + progress.width
        name = "Alpha" if progress.rule.measure is Measure.ALPHA else "The difference"
        yield (
            f"{name} is {float(progress.value):.2f}, from {low:.2f} to {high:.2f} by an interval that holds however "
            f"often one looks (95%, {progress.documents:,} documents)."
        )
    verdict = "You have enough" if progress.enough else "Not enough yet"
    yield f"{verdict}: {progress.reason}."
