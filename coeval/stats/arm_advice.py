"""Advice on how to show drafts: find the fastest arm whose pull is reliably below the team's limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.domain.studies import StoppingRule
from coeval.stats.arm_contrasts import Arms, contrast_means
from coeval.stats.frames import BLIND, SHOWN_ARMS, StudyFrames
from coeval.stats.report.draft_account import ARM_NAMES, measured_rows

ERROR = 0.05
"""The largest probability of keeping an arm whose pull is above the limit."""


@dataclass(frozen=True)
class ArmVerdict:
    """One arm: its pull, the pull's upper bound, the mean time, and whether the arm may be kept."""

    arm: str
    pull: float
    bound: float
    seconds: float
    documents: int
    admitted: bool


@dataclass(frozen=True)
class Advice:
    """The rule's advice: the arm to keep ("" before it decides), and a verdict on each arm."""

    keep: str
    limit: float
    planned: int
    documents: int
    arms: list[ArmVerdict]


@dataclass(frozen=True, slots=True)
class AdviseArm:
    """A team's rule as a statistic, computed once, when the planned documents have scores.

    An arm's pull is the increase in people giving the draft's score, compared with blind people. Its upper bound is
    one-sided, over documents, with the error divided among the arms (Bonferroni): the chance that the rule keeps any
    arm above the limit is at most 5%. The rule keeps the arm with the shortest mean time whose bound is under the
    limit, or else the blind arm, which has no pull.
    """

    rule: StoppingRule

    def __call__(self, study: StudyFrames) -> Advice:
        """Return the advice of the rule for the scores so far."""
        rows, _ = measured_rows(study)
        return advise_arm(rows, self.rule.width, self.rule.planned, kind=study.clusters.kind)


def advise_arm(rows: pd.DataFrame, limit: float, planned: int, *, kind: str = "documents") -> Advice:
    """Return the fastest arm whose pull is reliably below the limit.

    Parameters
    ----------
    rows : ``annotator, cluster, arm, adoption`` (True if the score equals the draft's) and ``seconds``.
    limit : the largest pull that the team accepts, such as .1.
    planned : the number of documents to wait for before any advice.
    """
    known = rows[rows["arm"].isin((*SHOWN_ARMS, BLIND))]
    shown = [arm for arm in SHOWN_ARMS if (known["arm"] == arm).any()]
    documents = int(known["cluster"].nunique())
    seconds = _mean_times(known)
    verdicts = [_judge(known, arm, limit, len(shown), seconds, kind) for arm in shown]
    blind = known["arm"] == BLIND
    verdicts.append(
        ArmVerdict(
            BLIND, 0.0, 0.0, seconds.get(BLIND, math.nan), int(known["cluster"][blind].nunique()), True
        )
    )
    ready = documents >= planned and blind.any()
    admitted = [one for one in verdicts if one.admitted]
    cheapest = min(admitted, key=lambda one: math.inf if math.isnan(one.seconds) else one.seconds)
    return Advice(cheapest.arm if ready else "", limit, planned, documents, verdicts)


def _mean_times(known: pd.DataFrame) -> dict[str, float]:
    """Return each arm's typical time for the same people, from a regression of log time on arm and person."""
    timed = known[known["seconds"] > 0]
    if not len(timed):
        return {}
    arms, people = pd.factorize(timed["arm"]), pd.factorize(timed["annotator"])[0]
    level = np.log(timed["seconds"].to_numpy(dtype=float))
    dummies = np.eye(len(arms[1]))[arms[0]]
    inside = np.column_stack([np.bincount(people, column) for column in (*dummies.T, level)])
    apart = np.column_stack([dummies, level]) - (inside / np.bincount(people)[:, None])[people]
    effects, *_ = np.linalg.lstsq(apart[:, :-1], apart[:, -1], rcond=None)
    middle = float(level.mean() - (dummies @ effects).mean())
    return {str(arm): math.exp(middle + float(effect)) for arm, effect in zip(arms[1], effects, strict=True)}


def _judge(
    known: pd.DataFrame, arm: str, limit: float, arms: int, seconds: dict[str, float], kind: str
) -> ArmVerdict:
    confidence = 1 - 2 * ERROR / max(arms, 1)
    found = contrast_means(known, "adoption", Arms(arm, BLIND, kind, confidence)).difference
    bound = found.ci[1]
    documents = int(known["cluster"][known["arm"] == arm].nunique())
    admitted = found.defined and not math.isnan(bound) and bound < limit
    return ArmVerdict(arm, float(found), bound, seconds.get(arm, math.nan), documents, admitted)


def tell_advice(advice: Advice, rule: StoppingRule) -> Iterator[str]:
    """Return the rule's advice, one sentence per item."""
    when = f"declared by {rule.declared_by} on {rule.declared_at[:16].replace('T', ' ')} UTC"
    yield (
        f"Keep the cheapest way to show drafts whose pull is surely under {advice.limit:g}; decided once, at "
        f"{advice.planned:,} documents; {when}."
    )
    if rule.scores_then:
        yield (
            f"{rule.scores_then:,} scores already existed when it was declared: its error rate holds only "
            "if they did not lead to it."
        )
    for one in advice.arms:
        name = ARM_NAMES.get(one.arm, one.arm)
        time = "no time measured" if math.isnan(one.seconds) else f"{one.seconds:.0f} s per item"
        if one.arm == BLIND:
            yield f"{name}: {time}."
        elif math.isnan(one.bound):
            yield f"{name}: its pull is not known yet; {time}."
        else:
            verdict = "may be kept" if one.admitted else "may not be kept"
            yield f"{name}: pull {one.pull:+.2f}, surely under {one.bound:.2f}; {time}; {verdict}."
    if advice.keep:
        yield f"Keep: {ARM_NAMES.get(advice.keep, advice.keep)}."
    else:
        yield f"Not yet: {advice.documents:,} of {advice.planned:,} documents have scores."
