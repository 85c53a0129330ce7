"""The section on the influence of the draft, and the comparison of first and final scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.clusters import DOCUMENTS, INSTANCES, parse_clusters, sums_interval
from coeval.stats.draft_effects import CatchRates, arm_alphas, catch_rates, draft_effects, share_limits
from coeval.stats.estimates import FLAT, Estimate, Spelled
from coeval.stats.frames import FIRST, StudyFrames, once
from coeval.stats.rating_matrix import Codes, encode_ratings

# The effect of the draft: each first score compared with the same person's final score.

NO_FIRST = "nobody has scored before seeing the draft (arm first)"


@dataclass(frozen=True)
class FirstShares:
    """Shares of scores: equal to the draft's before and after it was shown; moved towards it, away, or neither."""

    same_before: Estimate
    same_after: Estimate
    towards: Estimate
    away: Estimate
    kept: Estimate


@dataclass(frozen=True)
class FirstCriterion:
    """The shares of one criterion's ``n`` scores."""

    criterion: str
    n: int
    shares: FirstShares = field(metadata=FLAT)


@dataclass(frozen=True)
class FirstEffect:
    """The effect of the draft on people who scored first. ``adoption`` is P(score = draft), after minus before."""

    n: int
    n_instances: int
    shares: FirstShares = field(metadata=FLAT)
    adoption: Spelled
    alpha_before: Estimate
    alpha_after: Estimate
    per_criterion: list[FirstCriterion]


def first_effect(scores: pd.DataFrame, *, confidence: float = 0.95) -> FirstEffect:
    """Return how people who scored first changed their scores after they saw the draft.

    Parameters
    ----------
    scores : ``annotator, instance, criterion, arm, score, draft_score, first_score``; rows of the arm ``first``
        with all three scores are used. Optionally ``unit``, a code of instance and criterion, and ``cluster``, the
        sampling unit (default: the instance).

    >>> rows = pd.DataFrame({"annotator": list("abab"), "instance": [1, 1, 2, 2], "criterion": "x", "arm": "first",
    ...                      "first_score": [2, 3, 4, 1], "score": [3, 3, 4, 2], "draft_score": 3})
    >>> found = first_effect(rows)
    >>> [float(share) for share in (found.shares.same_before, found.shares.same_after, found.adoption.value)]
    [0.25, 0.5, 0.25]
    """
    known = scores[scores["arm"] == FIRST].dropna(subset=["score", "draft_score", "first_score"])
    if not len(known):
        nothing = Estimate.undefined(NO_FIRST)
        shares = FirstShares(nothing, nothing, nothing, nothing, nothing)
        return FirstEffect(0, 0, shares, Spelled(nothing), nothing, nothing, [])
    return FirstEffect(
        n=len(known),
        n_instances=int(known["instance"].nunique()),
        shares=_shares(known),
        adoption=Spelled(_adoption(known, confidence), ("p_value", "replicates")),
        alpha_before=_alpha(known, "first_score"),
        alpha_after=_alpha(known, "score"),
        per_criterion=[
            FirstCriterion(str(name), len(part), _shares(part))
            for name, part in known.groupby("criterion", sort=False)
        ],
    )


def _shares(known: pd.DataFrame) -> FirstShares:
    draft, first, final = (known[name].astype(float) for name in ("draft_score", "first_score", "score"))
    nearer = (first - draft).abs() - (final - draft).abs()
    shares = (first == draft, final == draft, nearer > 0, nearer < 0, nearer == 0)
    return FirstShares(*(Estimate(float(share.mean()), n=len(known)) for share in shares))


def _adoption(known: pd.DataFrame, confidence: float) -> Estimate:
    """Return P(score = draft) after minus before."""
    draft, first, final = (
        known[name].to_numpy(dtype=float) for name in ("draft_score", "first_score", "score")
    )
    names = known["cluster"] if "cluster" in known else known["instance"]
    kind = DOCUMENTS if names.nunique() < known["instance"].nunique() else INSTANCES
    clusters = parse_clusters(names, len(known), kind)
    gain = (final == draft).astype(float) - (first == draft)
    sums = clusters.sums(np.column_stack([gain, np.ones(len(known))]))
    spread = sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], kind, confidence=confidence)
    return Estimate(gain.mean(), n=len(known), **share_limits(spread))


def _alpha(known: pd.DataFrame, column: str) -> Estimate:
    """Return ordinal alpha of the scores in a column."""
    places = known["unit"] if "unit" in known else known.groupby(["instance", "criterion"]).ngroup()
    (unit, units), (who, people) = pd.factorize(places), pd.factorize(known["annotator"])
    values: Any = known[column].to_numpy(dtype=float)
    return krippendorff_alpha(encode_ratings(who, unit, values, tuple(people), list(units)), "ordinal")


# The section on the draft's influence on people who saw it.

COUNTS = (
    "n_assisted",
    "n_blind",
    "n_shifted",
    "n_planted",
    "n_instances",
    "replicates",
    "replicates_left_out",
)
OTHER_PEOPLE = ("people_ci_low", "people_ci_high", "people")


@dataclass(frozen=True)
class DraftEffectsSection:
    """Adoption, distance and pull, which are available much sooner than the rest of the section."""

    adoption: Spelled
    distance: Spelled
    pull: Spelled

    def of(self, name: str) -> Spelled:
        """Return one of the three estimates."""
        return {"adoption": self.adoption, "distance": self.distance, "pull": self.pull}[name]


OF_SCORED = (
    *(
        "annotator",
        "instance",
        "criterion",
        "arm",
        "unit",
        "score",
        "draft_score",
        "shown_score",
        "first_score",
    ),
    *("planted_score", "planted_error"),
)


@dataclass(frozen=True)
class AssistanceSection:
    """The influence of the draft on people. ``first`` is about people who scored before they saw it."""

    effects: DraftEffectsSection = field(metadata=FLAT)
    alpha_difference: Spelled
    alpha_assisted: Estimate
    alpha_blind: Estimate
    planted: CatchRates = field(metadata={"key": "sown"})
    first: FirstEffect


@once
def draft_effects_section(study: StudyFrames) -> DraftEffectsSection:
    """Return adoption, distance and pull, with intervals for these people and for similar people."""
    effects = draft_effects(scored_with_clusters(study))
    names = ("p_value", *COUNTS, *OTHER_PEOPLE)
    return DraftEffectsSection(
        *(Spelled(effect, names) for effect in (effects.adoption, effects.distance, effects.pull))
    )


def assistance_section(study: StudyFrames) -> AssistanceSection:
    """Return the influence of the draft: adoption, distance, pull, alphas by arm, catch rates of planted errors."""
    alphas = arm_alphas(scored_with_clusters(study))
    return AssistanceSection(
        effects=draft_effects_section(study),
        alpha_difference=Spelled(alphas.alpha_difference, ("p_value", "n_units_a", "n_units_b")),
        alpha_assisted=alphas.alpha_assisted,
        alpha_blind=alphas.alpha_blind,
        planted=catch_rates(study.scored.assign(cluster=_clusters_of_scores(study))),
        first=first_effect(scored_with_clusters(study)),
    )


def scored_with_clusters(study: StudyFrames) -> pd.DataFrame:
    """Return the columns of ``scored`` that the effects need, and ``cluster``."""
    scored = study.scored[[*OF_SCORED]]
    return scored.assign(cluster=_clusters_of_scores(study))


def _clusters_of_scores(study: StudyFrames) -> Codes:
    return study.clusters.code[study.scored["unit"].to_numpy()]
