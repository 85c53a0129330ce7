"""The effect of the draft on the people who saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from coeval.stats.draft_effects import Caught, CaughtLines
from coeval.stats.estimates import Estimate, Spelled
from coeval.stats.report.agreement import arm_counts, describe_arms
from coeval.stats.report.answer import describe_effects
from coeval.stats.report.assistance import (
    AssistanceSection,
    DraftEffectsSection,
    FirstEffect,
    FirstShares,
    assistance_section,
)
from coeval.stats.report.document import section_notes
from coeval.stats.report.model_vs_model import mean_pairwise
from coeval.ui.app.agreement.figures import (
    Figure,
    Get,
    Page,
    banner,
    data_table,
    split_estimates,
    tile,
)
from coeval.ui.app.agreement.judge_tables import pairwise_table
from coeval.ui.components import charts
from coeval.ui.components.number_words import brief, number, numbered, p_value, percent, plural, shown
from coeval.ui.components.view import Node, el

ESTIMATORS = {
    "adoption": ("Draft's score adopted", "P(score = draft), assisted minus blind"),
    "distance": ("Distance from the draft", "mean |score − draft| in points, assisted minus blind"),
    "pull": (
        "Pull of the draft",
        "how far people move towards a shown score, measured with scores shifted by one",
    ),
}


def build(get: Get) -> Iterator[Page]:
    section = get(assistance_section)
    effects, scope = section.effects, _page_scope(section, get(arm_counts))
    words = describe_effects(effects)
    yield Page(
        answer=el("div.answer", el("p.verdict", words)) if words else None,
        banner=_missing_arm(section),
        tiles=[_pull_tile(effects), _adoption_tile(effects), _alpha_tile(section)],
        figures=_figures(section),
        tables=[_table(section), pairwise_table(get(mean_pairwise)), *_caught_table(section)],
        notes=section_notes({"assistance": section}),
        scope=scope,
    )


def _page_scope(section: AssistanceSection, arms: Mapping[str, int]) -> str:
    """Return the scores of the study by what people saw, and how planted errors count."""
    planted = section.effects.pull.get("n_planted")
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
    """Return the scores behind a difference between the arms."""
    return f"{effect.get('n_assisted') or 0:,} assisted and {effect.get('n_blind') or 0:,} blind scores, none planted"


def _figures(section: AssistanceSection) -> list[Figure]:
    if not any(section.effects.of(name).value.defined for name in ESTIMATORS):
        return first_figures(section.first)
    return [estimators_figure(section.effects), alphas_figure(section), *first_figures(section.first)]


def _missing_arm(section: AssistanceSection) -> Node | None:
    adoption = section.effects.adoption
    if adoption.get("n_blind"):
        return None
    if not adoption.get("n_assisted") and not section.first.n:
        return banner("Nobody has scored with the draft in view yet, so there is no effect to measure.")
    return banner(
        "Nobody has scored without the draft yet, so its pull cannot be separated from "
        "agreement. Set a share of blind assignments under Study design in Set-up.",
        warn=True,
    )


def pull_tile(section: DraftEffectsSection) -> Node | None:
    """Return the tile of the pull, or of the adoption of the draft's score if the pull is undefined. The
    Agreement section shows it too.
    """
    return _pull_tile(section) or _adoption_tile(section)


def _pull_tile(section: DraftEffectsSection) -> Node | None:
    pull = section.pull
    return tile(
        "Pull of the draft",
        pull.value,
        "share of the distance to its score",
        more=(_other_people(pull),),
        basis=pull_scope(pull),
    )


def _adoption_tile(section: DraftEffectsSection) -> Node | None:
    adoption = section.adoption
    return tile(
        "Draft's score adopted",
        adoption.value,
        "assisted minus blind",
        more=(_other_people(adoption),),
        basis=_arms_scope(adoption),
        axis=(-1.0, 1.0),
    )


def _other_people(effect: Spelled) -> str:
    """Return the interval that also covers other people."""
    found = _people_interval(effect)
    return f"for a new sample of people {found}" if found else ""


def _alpha_tile(section: AssistanceSection) -> Node | None:
    about = f"assisted {number(section.alpha_assisted)} minus blind {number(section.alpha_blind)}"
    return tile(
        "Difference in alpha",
        section.alpha_difference.value,
        about,
        rows="reliability.csv",
        axis=(-1.0, 1.0),
    )


def estimators_figure(section: DraftEffectsSection) -> Figure:
    """Return the chart of the estimates of the draft's effect, with their intervals."""
    frame = pd.DataFrame([_estimator_row(name, section.of(name)) for name in ESTIMATORS])
    words = " ".join(
        f"{ESTIMATORS[name][0]} ({ESTIMATORS[name][1]}): {shown(section.of(name).value)}."
        for name in ESTIMATORS
    )
    drawn, undefined = split_estimates(frame, "estimator")
    return Figure(
        "assistance",
        "Estimates of the draft's effect",
        frame[["estimator", "meaning", "value", "low", "high", "p_value", "reason"]],
        lambda: charts.forest(drawn, words, lines={"no effect": 0.0}, domain=(-0.2, 0.4)),
        words if len(drawn) else undefined,
        note=undefined if len(drawn) else "",
        nothing=drawn.empty,
    )


def _estimator_row(name: str, effect: Spelled) -> dict[str, Any]:
    title, meaning = ESTIMATORS[name]
    value = effect.value
    low, high = value.ci
    return {
        "estimator": name,
        "meaning": meaning,
        "label": charts.wrapped(title),
        "value": float(value),
        "low": low,
        "high": high,
        "p_value": effect.get("p_value"),
        "reason": value.reason or "",
        "text": brief(value),
        "about": f"{title}: {shown(value)}",
    }


def alphas_figure(section: AssistanceSection) -> Figure:
    """Return the chart of people's alpha with and without the draft, and of first scores before and after it."""
    arms = {"With the draft": section.alpha_assisted, "Blind": section.alpha_blind}
    if section.first.n:
        arms |= {"Before the draft": section.first.alpha_before, "After it": section.first.alpha_after}
    rows = [
        {
            "arm": arm,
            "label": arm,
            "value": float(alpha),
            "low": float("nan"),
            "high": float("nan"),
            "n_units": alpha.details.get("n_units"),
            "reason": alpha.reason or "",
            "text": brief(alpha),
            "about": f"{arm}: {shown(alpha)} · {plural(alpha.details.get('n_units', 0), 'unit')}",
        }
        for arm, alpha in arms.items()
    ]
    frame = pd.DataFrame(rows)
    words = " ".join(f"{row['about']}." for row in rows)
    drawn, undefined = split_estimates(frame, "arm")
    about = "before, after: the same people's first and final scores" if section.first.n else ""
    return Figure(
        "alpha-by-arm",
        "Alpha by arm",
        frame[["arm", "value", "n_units", "reason"]],
        lambda: charts.alpha_forest(drawn, words),
        words if len(drawn) else undefined,
        rows="reliability.csv",
        width="wide",
        note=f"{undefined} {about}".strip() if len(drawn) else "",
        nothing=drawn.empty,
    )


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


PLANTED_NOTE = " · planted errors count only for the pull"


def _table(section: AssistanceSection) -> Node | None:
    rows = [
        (
            *ESTIMATORS[name],
            shown(effect.value),
            p_value(effect.get("p_value")),
            _people_interval(effect),
            _count(effect, "n_assisted"),
            _count(effect, "n_blind"),
            _count(effect, "n_shifted"),
        )
        for name in ESTIMATORS
        for effect in [section.effects.of(name)]
    ]
    effect = section.alpha_difference
    if section.first.n:
        change = section.first.adoption
        rows.append(
            (
                "Scored first: draft's score adopted",
                "P(score = draft), after seeing it minus before, the same people",
                shown(change.value),
                p_value(change.get("p_value")),
                "",
                f"{section.first.n:,}",
                "",
                "",
            )
        )
    rows.append(
        (
            "Difference in alpha",
            "ordinal, assisted minus blind, joint interval",
            shown(effect.value),
            p_value(effect.get("p_value")),
            "",
            _count(effect, "n_units_a"),
            _count(effect, "n_units_b"),
            "",
        )
    )
    columns = [
        "Estimate",
        "Definition",
        "Value [95%], these people",
        "p",
        "People like these",
        "Assisted",
        "Blind",
        "Shifted",
    ]
    note = "counts are scores in each arm, or units for alpha"
    return data_table(
        "Estimates", pd.DataFrame(rows, columns=columns), note + PLANTED_NOTE * bool(section.planted.scores.n)
    )


def _people_interval(effect: Spelled) -> str:
    low, high = effect.get("people_ci_low"), effect.get("people_ci_high")
    return "" if low is None or low != low else f"[{number(low)}, {number(high)}]"


def _count(effect: Spelled, name: str) -> str:
    n = effect.get(name)
    return "" if n is None else f"{n:,}"


def _caught_table(section: AssistanceSection) -> list[Node | None]:
    """Return the table of caught planted errors, by annotator."""
    planted = section.planted
    if not planted.scores.n and not planted.lines.n:
        return []
    everybody: list[tuple[str, Caught | CaughtLines]] = [
        ("wrong scores", planted.scores),
        ("lines of another instance", planted.lines),
    ]
    rows = [("everybody", what, *_caught(part)) for what, part in everybody if part.n]
    rows += [(row.annotator, "wrong scores", *_caught(row.scores)) for row in planted.per_annotator]
    frame = pd.DataFrame(rows, columns=["Person", "Planted error", "Caught [95%]", "Planted"])
    note = "caught: the wrong score was changed, or the line was revised or deleted"
    return [data_table("Planted errors caught", frame, note)]


def _caught(part: Caught | CaughtLines) -> tuple[str, str]:
    return shown(part.caught.value, percent), f"{part.n:,}"
