"""The effect of the draft on the people who saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from coeval.stats.arm_contrasts import FirstEffect, FirstShares
from coeval.stats.estimates import Estimate, Spelled, section_notes
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
from coeval.ui.app.agreement.figures import Figure, Get, Page, banner, show_table, split_estimates, tile
from coeval.ui.components import charts
from coeval.ui.components.number_words import brief, number, numbered, percent, plural, shown
from coeval.ui.components.view import Node, el

MEASURES = ("adoption", "distance")
"""The measures of an arm in the chart of estimates, beside the pull."""


def build(get: Get) -> Iterator[Page]:
    section = get(draft_account_section, tables=("references",))
    effects, scope = get(draft_effects_section), _page_scope(section, get(arm_counts))
    words = describe_effects(effects)
    yield Page(
        answer=el("div.answer", el("p.verdict", words)) if words else None,
        banner=_missing_arm(section),
        tiles=[_pull_tile(effects), _adoption_tile(effects), _agreement_tile(section.main)],
        figures=_figures(section),
        tables=[
            *map(
                show_table, [*draft_account_tables(section), *pairwise_correlation_tables(get(mean_pairwise))]
            )
        ],
        notes=section_notes({"drafts": section}),
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
    return f"{n_shown:,} assisted and {n_other:,} blind scores with a readable draft, none planted"


def _figures(section: DraftAccount) -> list[Figure]:
    effects = _estimates(section)
    if not any(effect.value.defined for effect in effects.values()):
        return first_figures(section.first)
    return [estimators_figure(effects), *first_figures(section.first)]


def _estimates(section: DraftAccount) -> dict[str, Spelled]:
    """Return the estimates of the draft's effect by the names of ``TITLES``."""
    of_arm = {name: section.main.of(name).difference for name in MEASURES} if section.main else {}
    return of_arm | {"pull": section.pull}


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
    """Return the tile of the pull, or of the adoption of the draft's score if the pull is undefined. The
    Agreement section shows it too.
    """
    return _pull_tile(effects) or _adoption_tile(effects)


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


def estimators_figure(effects: Mapping[str, Spelled]) -> Figure:
    """Return the chart of the estimates of the draft's effect, with their intervals."""
    frame = pd.DataFrame([_estimator_row(name, effect) for name, effect in effects.items()])
    words = " ".join(f"{TITLES[name]}: {shown(effect.value)}." for name, effect in effects.items())
    drawn, undefined = split_estimates(frame, "estimator")
    return Figure(
        "assistance",
        "Estimates of the draft's effect",
        frame[["estimator", "meaning", "value", "low", "high", "p_value", "reason"]],
        lambda: charts.forest(drawn, words, lines={"no effect": 0.0}, domain=(-0.2, 0.4)),
        words if len(drawn) else undefined,
        note=undefined if len(drawn) else "assisted minus blind; the pull: from shifted scores",
        nothing=drawn.empty,
    )


def _estimator_row(name: str, effect: Spelled) -> dict[str, Any]:
    value = effect.value
    low, high = value.ci
    return {
        "estimator": name,
        "meaning": TITLES[name],
        "label": charts.wrapped(TITLES[name]),
        "value": float(value),
        "low": low,
        "high": high,
        "p_value": effect.get("p_value"),
        "reason": value.reason or "",
        "text": brief(value),
        "about": f"{TITLES[name]}: {shown(value)}",
    }


def first_figures(first: FirstEffect) -> list[Figure]:
    """Return the chart of how often first scores equal the draft's, before and after the draft is shown."""
    if not first.n:
        return []
    names = numbered([part.criterion for part in first.per_criterion])
    parts = [
        ("All criteria", first.n, first.shares),
        *((names[part.criterion], part.n, part.shares) for part in first.per_criterion),
    ]
    frame = pd.DataFrame(
        [
            {
                "label": charts.wrapped(label),
                "criterion": label,
                "series": series,
                "value": float(share),
                "low": float("nan"),
                "high": float("nan"),
                "n": n,
                "about": f"{percent(share, 1)} · n {n:,}",
            }
            for label, n, shares in parts
            for series, share in _moments(shares)
        ]
    )
    words = first_words(first)
    figure = Figure(
        "first-and-final",
        "First scores that equal the draft's, before and after it was shown",
        frame[["criterion", "series", "value", "n"]].rename(columns={"series": "moment", "value": "share"}),
        lambda: charts.pairs(frame, words, title="share of scores", percent=True, domain=(0.0, 1.0)),
        words,
        rows="first_scores.csv",
        basis=f"{plural(first.n, 'score')} in the “first” arm",
    )
    return [figure]


def _moments(shares: FirstShares) -> tuple[tuple[str, Estimate], ...]:
    return (("before the draft", shares.same_before), ("after it", shares.same_after))


def first_words(first: FirstEffect) -> str:
    """Return sentences on the changes that seeing the draft caused."""
    shares = first.shares
    return (
        f"Of {plural(first.n, 'score')} on {plural(first.n_instances, 'instance')}, {percent(shares.same_before, 1)} "
        f"equalled the draft's before it was shown and {percent(shares.same_after, 1)} after. The change is "
        f"{shown(first.adoption.value)} for these people. {percent(shares.towards)} moved towards the draft, "
        f"{percent(shares.away)} moved away, and {percent(shares.kept)} did neither."
    )
