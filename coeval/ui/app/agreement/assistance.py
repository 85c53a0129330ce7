"""The effect of the draft on the people who saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coeval.stats.arm_contrasts import FirstEffect
from coeval.stats.estimates import Spelled
from coeval.stats.report.agreement import arm_counts, describe_arms
from coeval.stats.report.answer import describe_effects
from coeval.stats.report.draft_account import (
    TITLES,
    ArmAccount,
    DraftAccount,
    DraftEffects,
    draft_account_section,
    draft_account_tables,
    draft_effects_section,
)
from coeval.stats.report.model_vs_model import mean_pairwise, pairwise_correlation_tables
from coeval.ui.app.agreement.figures import Get, Page, banner, show_table, tile
from coeval.ui.components.number_words import number, percent, plural, shown
from coeval.ui.components.view import Node, el


def build(get: Get) -> Iterator[Page]:
    section = get(draft_account_section, tables=("references",))
    effects, scope = get(draft_effects_section), _page_scope(section, get(arm_counts))
    words, first = describe_effects(effects), section.first
    yield Page(
        answer=el("div.answer", el("p.verdict", words)) if words else None,
        banner=_missing_arm(section),
        tiles=[_pull_tile(effects), _adoption_tile(effects), _agreement_tile(section.main)],
        tables=[
            el("div.card", el("h4", "First and final scores"), el("p", first_words(first)))
            if first.n
            else None,
            *map(
                show_table, [*draft_account_tables(section), *pairwise_correlation_tables(get(mean_pairwise))]
            ),
        ],
        scope=scope,
    )


def _page_scope(section: DraftAccount, arms: Mapping[str, int]) -> str:
    """Return the scores of the study by what people saw, and how planted errors count."""
    planted = section.pull.get("n_planted")
    used = f"{plural(planted, 'score')} with a planted error, used only for the pull" if planted else ""
    return " · ".join(text for text in (describe_arms(arms), used) if text)


def pull_scope(pull: Spelled) -> str:
    """Return the number of scores behind the pull, and how many of them were given with a planted error."""
    shifted, planted = pull.get("n_shifted") or 0, pull.get("n_planted") or 0
    if planted == shifted:
        return f"from {plural(planted, 'score')} with a planted error"
    return (
        f"from {plural(shifted, 'score')} given when a different score was shown, {planted:,} of them with "
        "a planted error"
    )


def _arms_scope(effect: Spelled) -> str:
    """Return the scores behind a difference between the arms: those that can equal a draft's."""
    n_shown, n_other = effect.get("n_shown") or 0, effect.get("n_other") or 0
    return f"{n_shown:,} assisted and {n_other:,} blind scores saved after a readable draft, none planted"


def _missing_arm(section: DraftAccount) -> Node | None:
    if section.main and section.main.blind_scores:
        return None
    if not section.main and not section.first.n:
        return banner("Nobody has scored with the draft in view yet, so there is no effect to measure.")
    return banner(
        "Nobody has scored without the draft yet, so its pull cannot be separated from "
        "agreement. Set a share of blind assignments under Study design in Set-up.",
        warn=True,
    )


def pull_tile(effects: DraftEffects) -> Node | None:
    """Return the Agreement section's tile: the pull, or else the adoption of the draft's score; None if undefined."""
    if effects.pull.value.defined:
        return _pull_tile(effects)
    return _adoption_tile(effects) if effects.adoption.value.defined else None


def _pull_tile(effects: DraftEffects) -> Node | None:
    pull = effects.pull
    return tile(
        "Pull of the draft",
        pull.value,
        "share of the way to a shifted score",
        more=(_other_people(pull),),
        basis=pull_scope(pull),
    )


def _adoption_tile(effects: DraftEffects) -> Node | None:
    adoption = effects.adoption
    return tile(
        TITLES["adoption"],
        adoption.value,
        "assisted minus blind",
        more=(_other_people(adoption),),
        basis=_arms_scope(adoption),
        axis=(-1.0, 1.0),
    )


def _other_people(effect: Spelled) -> str:
    """Return the interval that also covers other people."""
    low, high = effect.get("people_ci_low"), effect.get("people_ci_high")
    return "" if low is None or low != low else f"for a new sample of people [{number(low)}, {number(high)}]"


def _agreement_tile(account: ArmAccount | None) -> Node | None:
    if account is None:
        return None
    agreement = account.of("agreement")
    about = f"with it {number(agreement.shown.value)} minus blind {number(agreement.blind.value)}, means over criteria"
    return tile(
        TITLES["agreement"], agreement.difference.value, about, rows="reliability.csv", axis=(-1.0, 1.0)
    )


def first_words(first: FirstEffect) -> str:
    """Return sentences on the changes that seeing the draft caused."""
    return (
        f"Of {plural(first.n, 'score')} on {plural(first.n_instances, 'instance')}, {percent(first.same_before, 1)} "
        f"equalled the draft's before it was shown and {percent(first.same_after, 1)} after. The change is "
        f"{shown(first.adoption.value)} for these people. {percent(first.towards)} moved towards the draft, "
        f"{percent(first.away)} moved away, and {percent(first.kept)} did neither."
    )
