"""The section on the effect of the draft: how far it moved the people who saw it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from coeval.stats.behaviour.assistance import CatchRates, arm_alphas, catch_rates, draft_effects
from coeval.stats.behaviour.first_scores import FirstEffect, first_effect
from coeval.stats.estimates.results import FLAT, Estimate, Spelled
from coeval.stats.frames import StudyFrames, once

COUNTS = ("n_assisted", "n_blind", "n_shifted", "n_instances", "replicates", "replicates_left_out")
OTHER_PEOPLE = ("people_ci_low", "people_ci_high", "people")


@dataclass(frozen=True)
class DraftEffectsSection:
    """Adoption, distance and pull alone, there much sooner than the rest of the section."""

    adoption: Spelled
    distance: Spelled
    pull: Spelled

    def of(self, name: str) -> Spelled:
        """One of the three."""
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
    """How far the draft moved people; ``first`` has those who scored before they saw it."""

    effects: DraftEffectsSection = field(metadata=FLAT)
    alpha_difference: Spelled
    alpha_assisted: Estimate
    alpha_blind: Estimate
    planted: CatchRates = field(metadata={"key": "sown"})
    first: FirstEffect


@once
def draft_effects_section(study: StudyFrames) -> DraftEffectsSection:
    """Adoption, distance and pull, over clusters for these people, and for people like these."""
    effects = draft_effects(_scored(study))
    names = ("p_value", *COUNTS, *OTHER_PEOPLE)
    return DraftEffectsSection(
        *(Spelled(effect, names) for effect in (effects.adoption, effects.distance, effects.pull))
    )


def assistance_section(study: StudyFrames) -> AssistanceSection:
    """How far the draft moved people: adoption, distance, pull, alphas by arm, catch rates of planted errors."""
    alphas = arm_alphas(_scored(study))
    return AssistanceSection(
        effects=draft_effects_section(study),
        alpha_difference=Spelled(alphas.alpha_difference, ("p_value", "n_units_a", "n_units_b")),
        alpha_assisted=alphas.alpha_assisted,
        alpha_blind=alphas.alpha_blind,
        planted=catch_rates(study.scored),
        first=first_effect(_scored(study)),
    )


def _scored(study: StudyFrames) -> pd.DataFrame:
    """What the effects rest on, of the columns of ``scored`` only those that they need."""
    scored = study.scored[[*OF_SCORED]]
    return scored.assign(cluster=study.clusters.code[study.scored["unit"].to_numpy()])
