"""The section "Effects of the drafts": time, distance, agreement, accuracy and catches, each arm minus blind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from coeval.stats.actions import IDLE_SECONDS
from coeval.stats.arm_contrasts import (
    Arms,
    Contrast,
    FirstEffect,
    contrast_alphas,
    contrast_catches,
    contrast_means,
    find_pull,
    first_effect,
    share_limits,
)
from coeval.stats.estimates import Estimate, Spelled, short
from coeval.stats.frames import ASSISTED, BLIND, SHOWN_ARMS, StudyFrames, once
from coeval.stats.report.tables import Table, make_table

OTHER_PEOPLE = ("p_value", "n_shown", "n_other", "people_ci_low", "people_ci_high", "people")
OF_PULL = ("p_value", "n_shifted", "n_planted", "n_instances", "people_ci_low", "people_ci_high", "people")
NO_BLIND = "no score was given without the draft (blind arm)"
NO_SHOWN = "no score was given with the draft (assisted arm)"
TITLES = {
    "seconds": "Seconds for an item by a criterion, mean",
    "adoption": "Share of scores equal to the draft's",
    "distance": "Points from the draft's score",
    "agreement": "Agreement (ordinal alpha)",
    "accurate": "Share of scores equal to the reference",
    "caught": "Share of planted scores not given",
    "pull": "Pull of the draft (share of the way to a shifted score)",
}
"""The measures in order, with their titles."""

SHARES = ("adoption", "accurate", "caught")
"""The measures that are shares; their differences are from -1 to 1."""

ARM_NAMES = {
    "assisted": "the full draft",
    "evidence": "the evidence only",
    "reasons": "evidence and reasons",
}


@dataclass(frozen=True)
class Measure:
    """One measure in an arm (``shown``) and in the blind arm, and the difference."""

    name: str
    title: str
    shown: Spelled
    blind: Spelled
    difference: Spelled
    within_person: bool


@dataclass(frozen=True)
class ArmAccount:
    """The effects of one way of showing the draft, compared with no draft."""

    arm: str
    scores: int
    blind_scores: int
    measures: list[Measure]

    def of(self, name: str) -> Measure:
        return next(measure for measure in self.measures if measure.name == name)


@dataclass(frozen=True)
class DraftEffects:
    """The two estimates that other pages show too: adoption (assisted minus blind) and pull."""

    adoption: Spelled
    pull: Spelled


@dataclass(frozen=True)
class DraftAccount:
    """The effects of the drafts: one account per arm, and a paragraph for a paper.

    ``pull`` is how far people move to a shifted score. ``first`` is about people who scored before they saw the draft.
    """

    arms: list[ArmAccount]
    pull: Spelled
    first: FirstEffect
    reference: str
    paragraph: str

    @property
    def main(self) -> ArmAccount | None:
        """Return the account of the full draft, else of the first arm."""
        return next(
            (account for account in self.arms if account.arm == ASSISTED), self.arms[0] if self.arms else None
        )


def draft_account_section(study: StudyFrames) -> DraftAccount:
    """Return the effects of a study's drafts on people's time, scores and care."""
    rows, reference = _measured_rows(study)
    present = set(rows["arm"].unique())
    accounts = [_account(study, rows, arm, reference) for arm in SHOWN_ARMS if arm in present]
    pull = draft_effects_section(study).pull
    paragraph = " ".join(_paragraph(study, accounts, pull.value, reference))
    return DraftAccount(accounts, pull, first_effect(rows), reference, paragraph)


@once
def draft_effects_section(study: StudyFrames) -> DraftEffects:
    """Return adoption and pull, which are available much sooner than the rest of the section."""
    rows, arms = _drafted_rows(study), Arms(ASSISTED, BLIND, study.clusters.kind)
    adoption = _contrast(rows, "adoption", arms).difference
    return DraftEffects(Spelled(adoption, OTHER_PEOPLE), Spelled(find_pull(rows, arms), OF_PULL))


def _contrast(rows: pd.DataFrame, name: str, arms: Arms) -> Contrast:
    """Return the contrast of the means of a measure; the difference of shares is at most 1."""
    contrast = contrast_means(rows, name, arms)
    if not contrast.difference.defined:
        reason = NO_BLIND if (rows["arm"] == arms.shown).any() else NO_SHOWN
        return replace(contrast, difference=contrast.difference.having(reason=reason))
    if name not in SHARES:
        return contrast
    return replace(
        contrast, difference=contrast.difference.having(**share_limits(contrast.difference.details))
    )


OF_SCORED = (
    *("annotator", "group", "instance", "criterion", "arm", "unit", "score", "draft_score", "shown_score"),
    *("first_score", "planted_score", "planted_error", "genuine"),
)


def _drafted_rows(study: StudyFrames) -> pd.DataFrame:
    """Return the scores with their clusters, and each score's distance from a draft without a planted error."""
    rows = study.scored[[*OF_SCORED]]
    rows = rows.assign(cluster=study.clusters.code[rows["unit"].to_numpy()])
    gap = (rows["score"] - rows["draft_score"].astype(float).where(rows["genuine"])).abs()
    return rows.assign(distance=gap, adoption=(gap == 0).astype(float).where(gap.notna()))


def _measured_rows(study: StudyFrames) -> tuple[pd.DataFrame, str]:
    """Return the scores with the measures of each score, and the name of the reference ("" without one)."""
    rows = _drafted_rows(study)
    wall = study.scored["wall_seconds"].astype(float)
    active = study.scored["active_seconds"].astype(float)
    seconds = active.where(active.notna(), wall.where(wall <= IDLE_SECONDS))
    values, reference = _references(study)
    error = (rows["score"] - rows["unit"].map(values)).abs().where(rows["genuine"])
    return rows.assign(
        seconds=seconds.where(seconds > 0),
        accurate=(error == 0).astype(float).where(error.notna()),
    ), reference


def _references(study: StudyFrames) -> tuple[pd.Series[float], str]:
    """Return the reference scores by unit, and their source."""
    references = study.references
    if len(references):
        units = study.units.assign(unit=np.arange(len(study.units)))[["instance", "criterion", "unit"]]
        matched = references.astype({"instance": object, "criterion": object}).merge(
            units, on=["instance", "criterion"]
        )
        return matched.groupby("unit")["score"].last().astype(float), " and ".join(
            sorted(set(references["source"]))
        )
    experts = study.unaided[study.unaided["group"] == "expert"]
    if len(experts):
        return experts.groupby("unit")["score"].median(), "scores that experts gave without the draft"
    return pd.Series(dtype=float), ""


def _account(study: StudyFrames, rows: pd.DataFrame, arm: str, reference: str) -> ArmAccount:
    arms = Arms(arm, BLIND, study.clusters.kind)
    # experts whose own scores are the reference cannot be compared with it
    others = rows[rows["group"] != "expert"]
    unknown = None if reference else Contrast.undefined("the study has no reference scores")
    contrasts = {
        "seconds": contrast_means(rows, "seconds", arms),
        "adoption": _contrast(rows, "adoption", arms),
        "distance": _contrast(rows, "distance", arms),
        "agreement": contrast_alphas(rows, arms),
        "accurate": unknown or _contrast(others, "accurate", arms),
        "caught": contrast_catches(rows, arms),
    }
    measures = [
        Measure(
            name, TITLES[name], Spelled(gap.shown), Spelled(gap.other), Spelled(gap.difference, OTHER_PEOPLE),
            gap.within,
        )
        for name, gap in contrasts.items()
    ]  # fmt: skip
    sizes = rows["arm"].value_counts()
    return ArmAccount(arm, int(sizes.get(arm, 0)), int(sizes.get(BLIND, 0)), measures)


# The paragraph for a paper.


def _paragraph(
    study: StudyFrames, accounts: Sequence[ArmAccount], pull: Estimate, reference: str
) -> Iterator[str]:
    drawn = "drawn" if study.drawn else "not known to be drawn"
    for account in accounts:
        if not account.blind_scores:
            continue
        yield (
            f"{account.scores:,} scores were given with {ARM_NAMES.get(account.arm, account.arm)} in view and "
            f"{account.blind_scores:,} without a draft, {drawn} at random."
        )
        yield from _tell_time(account.of("seconds"))
        yield from _tell(account, "adoption", "People gave the draft's score")
        agreement = account.of("agreement")
        if agreement.difference.value.defined:
            sides = [float(side.value) for side in (agreement.shown, agreement.blind)]
            yield (
                f"Agreement was {short(sides[0])} with it and {short(sides[1])} without "
                f"(ordinal alpha, mean over criteria, difference {_limits(agreement.difference.value)})."
            )
        accurate = account.of("accurate")
        if reference and accurate.difference.value.defined:
            yield from _tell(account, "accurate", f"They gave the reference score ({reference})")
        elif not reference:
            yield "The accuracy of the scores is unknown, because the study has no reference scores."
        caught = account.of("caught")
        if caught.shown.value.defined:
            text = f"They kept {1 - float(caught.shown.value):.0%} of the deliberately wrong scores"
            if caught.difference.value.defined:
                alone = 1 - float(caught.blind.value)
                text += f"; blind people gave these wrong scores {alone:.0%} of the time by themselves"
            yield f"{text}."
    if pull.defined:
        low, high = pull.ci
        sure = ", which may be chance" if not (low > 0 or high < 0) else ""
        span = "" if math.isnan(low) else f" [{short(low)}, {short(high)}]"
        yield f"People moved {short(float(pull))}{span} of the way to a shifted score that was shown{sure}."
    if accounts and any(account.blind_scores for account in accounts):
        yield (
            f"Intervals are 95%, over {study.clusters.kind}, for the people of this study; people who worked in both "
            "arms are compared with themselves."
        )


def _tell_time(seconds: Measure) -> Iterator[str]:
    difference = seconds.difference.value
    if difference.defined:
        yield (
            f"An item took {float(seconds.shown.value):.0f} seconds by a criterion with it and "
            f"{float(seconds.blind.value):.0f} without (means, difference {_limits(difference)}"
            f"{_by_chance(difference)})."
        )


def _by_chance(difference: Estimate) -> str:
    low, high = difference.ci
    return ", which may be chance" if low <= 0 <= high else ""


def _tell(account: ArmAccount, name: str, what: str) -> Iterator[str]:
    measure = account.of(name)
    if not measure.difference.value.defined:
        return
    adjusted = "adjusted for the person, " if measure.within_person else ""
    yield (
        f"{what} {float(measure.shown.value):z.0%} of the time with it and {float(measure.blind.value):z.0%} without "
        f"({adjusted}difference {_limits(measure.difference.value)}{_by_chance(measure.difference.value)})."
    )


def _limits(value: Estimate) -> str:
    low, high = value.ci
    return f"{float(value):+.2f}" + ("" if math.isnan(low) else f" [{low:+.2f}, {high:+.2f}]")


def _with_limits(value: Estimate) -> dict[str, float]:
    low, high = value.ci
    p_value = value.details.get("p_value", math.nan)
    return {"difference": float(value), "ci_low": low, "ci_high": high, "p_value": p_value}


# Tables for the Agreement tab and the downloads.


def draft_account_tables(section: DraftAccount) -> list[Table]:
    """Return the table of the drafts' effects."""
    rows = [
        {
            "shown": ARM_NAMES.get(account.arm, account.arm),
            "measure": measure.title,
            "with": measure.shown.value,
            "blind": measure.blind.value,
            **_with_limits(measure.difference.value),
            "compared": "within person" if measure.within_person else "pooled",
        }
        for account in section.arms
        for measure in account.measures
        if measure.shown.value.defined or measure.difference.value.defined
    ]
    others = (
        (section.pull.value, "the full draft", TITLES["pull"], "shifts of one score"),
        (
            section.first.adoption.value,
            "the draft after a first score",
            TITLES["adoption"],
            "after less before",
        ),
    )
    rows += [
        {"shown": shown, "measure": title, **_with_limits(value), "compared": how}
        for value, shown, title, how in others
        if value.defined
    ]
    columns = ("shown", "measure", "with", "blind", "difference", "ci_low", "ci_high", "p_value", "compared")
    return [make_table("what_the_drafts_did", "Effects of the drafts", section.paragraph, rows, columns)]
