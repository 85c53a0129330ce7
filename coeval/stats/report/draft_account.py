"""The section "Effects of the drafts": time, distance, agreement, accuracy and catches, each arm minus blind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from coeval.stats.arm_contrasts import (
    Arms,
    Contrast,
    PersonContrast,
    contrast_alphas,
    contrast_catches,
    contrast_means,
    contrast_medians,
    find_pull,
    share_limits,
    spread_over_people,
)
from coeval.stats.clusters import Clusters, mean_interval
from coeval.stats.estimates import Estimate, Spelled
from coeval.stats.frames import ASSISTED, BLIND, SHOWN_ARMS, StudyFrames, once
from coeval.stats.report.first_scores import FirstEffect, first_effect
from coeval.stats.report.tables import Table
from coeval.stats.times import IDLE_SECONDS

OTHER_PEOPLE = ("p_value", "n_shown", "n_other", "people_ci_low", "people_ci_high", "people")
OF_PULL = ("p_value", "n_shifted", "n_planted", "n_instances", "people_ci_low", "people_ci_high", "people")
NO_BLIND = "no score was given without the draft (blind arm)"
NO_SHOWN = "no score was given with the draft (assisted arm)"
TITLES = {
    "seconds": "Seconds for an item by a criterion, mean",
    "seconds_median": "Seconds for an item by a criterion, median",
    "time_ratio": "Typical seconds (geometric mean), and their ratio",
    "seconds_per_line": "Seconds for a line",
    "adoption": "Share of scores equal to the draft's",
    "distance": "Points from the draft's score",
    "agreement": "Agreement (ordinal alpha)",
    "error": "Points from the reference",
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
    """One measure in an arm (``shown``) and in the blind arm, the difference, and each person's difference."""

    name: str
    title: str
    shown: Spelled
    blind: Spelled
    difference: Spelled
    within_person: bool
    more_blind: int | None
    """The number of further blind scores that would exclude 0 from the interval, if the difference stays the same."""
    per_annotator: list[PersonContrast]


@dataclass(frozen=True)
class ArmAccount:
    """The effects of one way of showing the draft, compared with no draft."""

    arm: str
    scores: int
    blind_scores: int
    measures: list[Measure]

    def of(self, name: str) -> Measure:
        return next(one for one in self.measures if one.name == name)


@dataclass(frozen=True)
class DraftEffects:
    """The two estimates that other pages show too: adoption (assisted minus blind) and pull."""

    adoption: Spelled
    pull: Spelled


@dataclass(frozen=True)
class PlantedErrors:
    """Planted errors: ``restored`` of ``n`` wrong scores were set to the draft's own score; ``lines_caught`` of
    ``n_lines`` wrong lines were revised or deleted. The share of wrong scores caught is a measure of the arm.
    """

    n: int
    restored: Spelled
    n_lines: int
    lines_caught: Spelled


@dataclass(frozen=True)
class DraftAccount:
    """The effects of the drafts: one account per arm, the limits of the design, and a paragraph for a paper.

    ``pull`` is how far people move to a shifted score. ``first`` is about people who scored before they saw the draft.
    """

    arms: list[ArmAccount]
    pull: Spelled
    planted: PlantedErrors
    first: FirstEffect
    reference: str
    cannot: list[str]
    paragraph: str

    @property
    def main(self) -> ArmAccount | None:
        """Return the account of the full draft, else of the first arm."""
        return next((one for one in self.arms if one.arm == ASSISTED), self.arms[0] if self.arms else None)


def draft_account_section(study: StudyFrames) -> DraftAccount:
    """Return the effects of a study's drafts on people's time, scores and care."""
    rows, reference = measured_rows(study)
    present = set(rows["arm"].unique())
    accounts = [_account(study, rows, arm, reference) for arm in SHOWN_ARMS if arm in present]
    pull = draft_effects_section(study).pull
    cannot = list(_cannot(study, rows, accounts, reference))
    paragraph = " ".join(_paragraph(study, accounts, pull.value, reference))
    planted = _planted(study, rows)
    return DraftAccount(accounts, pull, planted, first_effect(rows), reference, cannot, paragraph)


@once
def draft_effects_section(study: StudyFrames) -> DraftEffects:
    """Return adoption and pull, which are available much sooner than the rest of the section."""
    rows, arms = _drafted_rows(study), Arms(ASSISTED, BLIND, study.clusters.kind)
    adoption = _contrast(rows, "adoption", arms).difference
    return DraftEffects(Spelled(adoption, OTHER_PEOPLE), Spelled(find_pull(rows, arms), OF_PULL))


def _contrast(rows: pd.DataFrame, name: str, arms: Arms) -> Contrast:
    """Return the contrast of the means of a measure; the difference of shares is at most 1."""
    found = contrast_means(rows, name, arms)
    if not found.difference.defined:
        reason = NO_BLIND if (rows["arm"] == arms.shown).any() else NO_SHOWN
        return replace(found, difference=found.difference.having(reason=reason))
    if name not in SHARES:
        return found
    return replace(found, difference=found.difference.having(**share_limits(found.difference.details)))


def _planted(study: StudyFrames, rows: pd.DataFrame) -> PlantedErrors:
    """Return the shares of planted errors that people set right, with intervals over documents."""
    wrong = rows[rows["planted_score"].astype(bool) & (rows["arm"] == ASSISTED) & rows["shown_score"].notna()]
    restored = (wrong["score"] == wrong["draft_score"]).astype(float)
    caught = study.scored["line_caught"] if "line_caught" in study.scored else pd.Series(dtype=float)
    caught = caught.dropna().astype(float)
    lines = rows.loc[caught.index]
    return PlantedErrors(
        len(wrong),
        Spelled(_share(restored, wrong["cluster"], study, "no wrong score was shown on purpose")),
        len(caught),
        Spelled(_share(caught, lines["cluster"], study, "no wrong line was shown on purpose")),
    )


def _share(values: pd.Series[float], cluster: pd.Series[int], study: StudyFrames, reason: str) -> Estimate:
    if not len(values):
        return Estimate.undefined(reason)
    clusters = Clusters(pd.factorize(cluster)[0], study.clusters.kind)
    spread = mean_interval(np.asarray(values, dtype=np.float64), clusters, (0.0, 1.0))
    return Estimate(float(values.mean()), n=len(values), **spread)


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


def measured_rows(study: StudyFrames) -> tuple[pd.DataFrame, str]:
    """Return the scores with the measures of each score, and the name of the reference ("" without one)."""
    rows = _drafted_rows(study)
    wall = study.scored["wall_seconds"].astype(float)
    active = study.scored["active_seconds"].astype(float)
    seconds = active.where(active.notna(), wall.where(wall <= IDLE_SECONDS))
    values, reference = _references(study)
    error = (rows["score"] - rows["unit"].map(values)).abs().where(rows["genuine"])
    return rows.assign(
        seconds=seconds.where(seconds > 0),
        log_seconds=np.log(seconds.where(seconds > 0)),
        error=error,
        accurate=(error == 0).astype(float).where(error.notna()),
    ), reference


def _references(study: StudyFrames) -> tuple[pd.Series[float], str]:
    """Return the reference scores by unit, and their source."""
    known = study.references
    if len(known):
        units = study.units.assign(unit=np.arange(len(study.units)))[["instance", "criterion", "unit"]]
        found = known.astype({"instance": object, "criterion": object}).merge(
            units, on=["instance", "criterion"]
        )
        return found.groupby("unit")["score"].last().astype(float), " and ".join(sorted(set(known["source"])))
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
        "seconds_median": contrast_medians(rows, "seconds", arms),
        "time_ratio": _as_ratio(contrast_means(rows, "log_seconds", arms)),
        "seconds_per_line": _per_line(study, rows, arms),
        "adoption": _contrast(rows, "adoption", arms),
        "distance": _contrast(rows, "distance", arms),
        "agreement": contrast_alphas(rows, arms),
        "error": unknown or _contrast(others, "error", arms),
        "accurate": unknown or _contrast(others, "accurate", arms),
        "caught": contrast_catches(rows, arms),
    }
    measures = [
        Measure(
            name, TITLES[name], Spelled(one.shown), Spelled(one.other), Spelled(one.difference, OTHER_PEOPLE),
            one.within, one.needed, one.people,
        )
        for name, one in contrasts.items()
    ]  # fmt: skip
    sizes = rows["arm"].value_counts()
    return ArmAccount(arm, int(sizes.get(arm, 0)), int(sizes.get(BLIND, 0)), measures)


def _as_ratio(found: Contrast) -> Contrast:
    """Return differences of logarithms as a ratio: 0.7 means that the arm takes 70% of the blind time."""
    if not found.difference.defined:
        return found
    details = {
        name: float(np.exp(value)) if name.endswith(("ci_low", "ci_high")) else value
        for name, value in found.difference.details.items()
        if name not in ("se", "bias", "people_se", "reason")
    }
    ratio = Estimate(float(np.exp(found.difference)), **details)
    people = [
        replace(one, shown=float(np.exp(one.shown)), other=float(np.exp(one.other))) for one in found.people
    ]
    shown, other = (Estimate(float(np.exp(side)), n=side.n) for side in (found.shown, found.other))
    return Contrast(ratio, shown, other, found.within, found.needed, people)


def _per_line(study: StudyFrames, rows: pd.DataFrame, arms: Arms) -> Contrast:
    """Return seconds per line that people approved, revised, deleted or added, in each arm."""
    if not len(study.actions):
        return Contrast.undefined("no actions on lines are recorded")
    timed = rows.dropna(subset=["seconds"])
    lines = study.actions.groupby(["annotator", "arm"], observed=True)["n"].sum()
    spent = timed.groupby(["annotator", "arm"], observed=True)["seconds"].mean().to_dict()
    saved = rows[rows["genuine"]].groupby(["annotator", "arm"], observed=True).size().to_dict()
    cells: dict[str, dict[str, float]] = {arms.shown: {}, arms.other: {}}
    for key, n in lines.items():
        name, arm = key if isinstance(key, tuple) else (key, "")
        if arm in cells and key in spent and key in saved and n:
            # lines of all saves, but the mean time of timed saves
            cells[arm][str(name)] = float(spent[key]) * float(saved[key]) / float(n)
    both = [name for name in cells[arms.shown] if name in cells[arms.other]]
    if len(both) < 2:
        return Contrast.undefined("fewer than two people have timed lines in both arms")
    sides = [np.array([cells[arm][name] for name in both]) for arm in (arms.shown, arms.other)]
    spread = spread_over_people(sides[0] - sides[1], arms.confidence)
    limits = {
        "ci_low": spread["people_ci_low"],
        "ci_high": spread["people_ci_high"],
        "people": spread["people"],
    }
    difference = Estimate(float((sides[0] - sides[1]).mean()), **limits, interval_kind="t over people")
    shown, other = (Estimate(float(side.mean()), people=len(both)) for side in sides)
    return Contrast(difference, shown, other, True)


# The limits of the design.


def _cannot(
    study: StudyFrames, rows: pd.DataFrame, accounts: Sequence[ArmAccount], reference: str
) -> Iterator[str]:
    if not accounts:
        yield "No score was given with a draft in view, so there is nothing to compare."
        return
    if not (rows["arm"] == BLIND).any():
        yield (
            "No score was given without the draft, so the study cannot show what people would do alone. "
            "Set a blind share (Set-up, Tasks)."
        )
        return
    if study.planned is None:
        yield (
            "The file does not say that the arms were drawn at random. CoEval draws them for its own "
            "people; in imported scores they may differ in more than the draft."
        )
    if not reference:
        yield (
            "There is no reference score, so accuracy is unknown: people who copy one draft agree with "
            "each other whether it is right or wrong. Adjudicate some blind items, or let experts score "
            "without the draft."
        )
    elif reference.startswith("adjudicated"):
        yield "Adjudicated scores were decided by somebody who could see people's scores and the draft."
    if not rows["planted_score"].astype(bool).any():
        yield "No planted wrong score was shown, so the study cannot show whether people notice one."
    alone = len({name for name in rows["annotator"].unique()} - _in_both(rows))
    if alone:
        who = "1 person" if alone == 1 else f"{alone} people"
        yield f"{who} worked in only one of the arms; differences within person leave them out."
    kind = study.clusters.kind
    yield (
        f"Intervals apply to other {kind} judged by these people; wider intervals, for people like these, are in the "
        "JSON document."
    )
    for account in accounts:
        yield from _open_questions(account)


def _in_both(rows: pd.DataFrame) -> set[str]:
    shown = set(rows["annotator"][rows["arm"].isin(SHOWN_ARMS)])
    return shown & set(rows["annotator"][rows["arm"] == BLIND])


def _open_questions(account: ArmAccount) -> Iterator[str]:
    """Yield the measures whose interval includes 0, with the number of blind scores that would settle them."""
    settled, hopeless = [], []
    for name in ("seconds", "adoption", "error"):
        one = account.of(name)
        low, high = one.difference.value.ci
        if not one.difference.value.defined or math.isnan(low) or low > 0 or high < 0:
            continue
        title = one.title[0].lower() + one.title[1:]
        if one.more_blind:
            settled.append(f"{title}: about {one.more_blind:,} more blind scores")
        else:
            hopeless.append(title)
    arm = ARM_NAMES.get(account.arm, account.arm)
    if settled:
        yield f"Not settled for {arm}, and what would settle it if the difference stays: {'; '.join(settled)}."
    if hopeless:
        yield (
            f"Not settled for {arm}, and more blind scores alone would not settle it: {'; '.join(hopeless)}. The "
            "difference is too small for the scores with the draft."
        )


# The paragraph for a paper.


def _paragraph(
    study: StudyFrames, accounts: Sequence[ArmAccount], pull: Estimate, reference: str
) -> Iterator[str]:
    for account in accounts:
        if not account.blind_scores:
            continue
        yield (
            f"{account.scores:,} scores were given with {ARM_NAMES.get(account.arm, account.arm)} in view and "
            f"{account.blind_scores:,} without a draft{', drawn at random' if study.planned else ''}."
        )
        yield from _tell_time(account)
        yield from _tell(account, "adoption", "People gave the draft's score")
        agreement = account.of("agreement")
        if agreement.difference.value.defined:
            sides = [float(side.value) for side in (agreement.shown, agreement.blind)]
            yield (
                f"Agreement was {sides[0]:.2f} with it and {sides[1]:.2f} without "
                f"(ordinal alpha, mean over criteria, difference {_limits(agreement.difference.value)})."
            )
        accurate = account.of("accurate")
        if reference and accurate.difference.value.defined:
            yield from _tell(account, "accurate", f"They gave the reference score ({reference})")
        elif not reference:
            yield "The accuracy of the scores is unknown, because the study has no reference."
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
        span = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
        yield f"People moved {float(pull):.2f}{span} of the way to a shifted score that was shown{sure}."
    if accounts and any(one.blind_scores for one in accounts):
        yield (
            f"Intervals are 95%, over {study.clusters.kind}, for the people of this study; people who worked in both "
            "arms are compared with themselves."
        )


def _tell_time(account: ArmAccount) -> Iterator[str]:
    """Compare typical seconds, which are geometric means, by their ratio."""
    time = account.of("time_ratio")
    ratio = time.difference.value
    if not ratio.defined:
        return
    low, high = ratio.ci
    sure = "" if not (low <= 1 <= high) else ", which may be chance"
    how = f"{1 - ratio:.0%} less" if ratio < 1 else f"{ratio - 1:.0%} more"
    yield (
        f"An item took {how} time with it (geometric means {float(time.shown.value):.0f} and "
        f"{float(time.blind.value):.0f} seconds; ratio {float(ratio):.2f} [{low:.2f}, {high:.2f}]{sure})."
    )


def _tell(account: ArmAccount, name: str, what: str) -> Iterator[str]:
    one = account.of(name)
    if not one.difference.value.defined:
        return
    low, high = one.difference.value.ci
    sure = ", which may be chance" if low <= 0 <= high else ""
    yield (
        f"{what} {float(one.shown.value):z.0%} of the time with it and {float(one.blind.value):z.0%} without "
        f"(difference {_limits(one.difference.value)}{sure})."
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
    """Return tables of the drafts' effects, each person's differences, and the limits of the design."""
    rows = [
        {
            "shown": ARM_NAMES.get(account.arm, account.arm),
            "measure": one.title,
            "with": one.shown.value,
            "blind": one.blind.value,
            **_with_limits(one.difference.value),
            "compared": "within person" if one.within_person else "pooled",
        }
        for account in section.arms
        for one in account.measures
        if one.shown.value.defined or one.difference.value.defined
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
    people = [
        {
            "shown": ARM_NAMES.get(account.arm, account.arm),
            "annotator": person.annotator,
            "measure": one.title,
            "with": person.shown,
            "blind": person.other,
            "difference": person.difference,
        }
        for account in section.arms
        for one in account.measures
        if one.name in ("seconds", "adoption", "accurate")
        for person in one.per_annotator
        if not math.isnan(person.difference)
    ]
    found = []
    if rows:
        note = f"{section.paragraph} For typical seconds, the difference is a ratio: 1 means no change."
        found.append(Table("what_the_drafts_did", "Effects of the drafts", note, pd.DataFrame(rows)))
    if people:
        found.append(
            Table(
                "what_the_drafts_did_by_person",
                "Effects of the drafts on each person",
                "Each person's own means with and without the draft.",
                pd.DataFrame(people),
            )
        )
    if section.cannot and section.arms:
        cannot = pd.DataFrame({"what": section.cannot})
        title = "Limits of this design"
        found.append(
            Table("what_the_design_cannot_say", title, "Each limit, and what would remove it.", cannot)
        )
    return found
