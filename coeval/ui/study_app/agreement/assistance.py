"""Effect of the draft: how far what the model drafted pulled the people who saw it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.report.document import section_notes
from coeval.stats.report.work import assistance_section
from coeval.ui.components import charts
from coeval.ui.components.view import Node
from coeval.ui.components.words import number, numbered, p_value, percent, plural, shown
from coeval.ui.study_app.agreement.figures import Figure, Get, Page, banner, data_table, tile

ESTIMATORS = {
    "adoption": ("Draft's score taken over", "P(score = draft), assisted minus blind"),
    "distance": ("Distance from the draft", "mean |score − draft| in points, assisted minus blind"),
    "pull": (
        "Pull of the draft",
        "share of the way people move to a shown score, from scores shifted by one",
    ),
}


def build(get: Get) -> Iterator[Page]:
    section = get(assistance_section)
    yield Page(
        banner=_no_blind(section),
        tiles=[pull_tile(section), *_other_tiles(section), _alpha_tile(section)],
        figures=_figures(section),
        tables=[_table(section), *_caught_table(section)],
        notes=section_notes({"assistance": section}),
    )


def _figures(section: Result) -> list[Figure]:
    if not any(section[name].value.defined for name in ESTIMATORS):
        return first_figures(section.first)
    return [estimators_figure(section), alphas_figure(section), *first_figures(section.first)]


def _no_blind(section: Result) -> Node | None:
    if section.adoption.get("n_blind"):
        return None
    return banner(
        "Nobody has scored without the draft yet, so its pull cannot be told from agreement with it. Give the task "
        "a share of blind assignments in Set-up.",
        warn=True,
    )


def pull_tile(section: Result) -> Node:
    """The tile that the Agreement section shows too."""
    pull = section.pull
    if pull.value.defined:
        return tile(
            "Pull of the draft",
            pull.value,
            f"{plural(pull.n_shifted, 'score')} shifted",
            f"{pull.n_instances:,} instances resampled",
        )
    adoption = section.adoption
    if adoption.value.defined:
        return tile("Draft's score taken over", adoption.value, *_arms(adoption), "assisted minus blind")
    return tile("Pull of the draft", Estimate.undefined(f"{adoption.value.reason}; {pull.value.reason}"))


def _arms(found: Result) -> tuple[str, str]:
    total = found.n_assisted + found.n_blind
    return (f"blind arm {percent(found.n_blind / total)}", f"{total:,} scores")


def _other_tiles(section: Result) -> list[Node]:
    names = ("adoption", "distance") if section.pull.value.defined else ("distance",)
    return [
        tile(ESTIMATORS[name][0], section[name].value, *_arms_of(section[name]), ESTIMATORS[name][1])
        for name in names
    ]


def _arms_of(found: Result) -> tuple[str, ...]:
    return _arms(found) if found.value.defined else ()


def _alpha_tile(section: Result) -> Node:
    found = section.alpha_difference
    about = (f"assisted {number(section.alpha_assisted)} minus blind {number(section.alpha_blind)}",)
    return tile(
        "Difference of alphas", found.value, *(about if found.value.defined else ()), rows="reliability.csv"
    )


def estimators_figure(section: Result) -> Figure:
    """The three estimates of the draft's pull, with their intervals."""
    frame = pd.DataFrame([_estimator_row(name, section[name]) for name in ESTIMATORS])
    words = " ".join(
        f"{ESTIMATORS[name][0]} ({ESTIMATORS[name][1]}): {shown(section[name].value)}." for name in ESTIMATORS
    )
    return Figure(
        "assistance",
        "Three estimates of the draft's effect",
        frame[["estimator", "meaning", "value", "low", "high", "p_value", "reason"]],
        lambda: charts.forest(frame, words, lines=(0.0,), domain=(-0.2, 0.4)),
        words,
        width="wide",
        note="0: the draft moved nobody · instances resampled · agreement alone proves nothing, see the three together",
    )


def _estimator_row(name: str, found: Result) -> dict[str, Any]:
    title, meaning = ESTIMATORS[name]
    value: Estimate = found.value
    low, high = value.ci
    return {
        "estimator": name,
        "meaning": meaning,
        "label": charts.wrapped(title),
        "value": float(value),
        "low": low,
        "high": high,
        "p_value": found.get("p_value"),
        "reason": value.reason or "",
        "text": shown(value).split(":")[0],
        "about": f"{title}: {shown(value)}",
    }


def alphas_figure(section: Result) -> Figure:
    """Alpha of people with the draft in view, without, and, of those who scored first, before and after it."""
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
            "text": shown(alpha).split(":")[0],
            "about": f"{arm}: {shown(alpha)} · {plural(alpha.details.get('n_units', 0), 'unit')}",
        }
        for arm, alpha in arms.items()
    ]
    frame = pd.DataFrame(rows)
    words = " ".join(f"{row['about']}." for row in rows)
    return Figure(
        "alpha-by-arm",
        "Alpha by arm",
        frame[["arm", "value", "n_units", "reason"]],
        lambda: charts.alpha_forest(frame, words),
        words,
        rows="reliability.csv",
        width="narrow",
        note="ordinal · the interval of their difference is joint, see the table"
        + (" · before, after: the same people's first and final scores" if section.first.n else ""),
    )


def first_figures(first: Result) -> list[Figure]:
    """The arm that scores first and then sees the draft: how often its scores equal the draft's, before and after."""
    if not first.n:
        return []
    names = numbered([part.criterion for part in first.per_criterion])
    parts = [("All criteria", first), *((names[part.criterion], part) for part in first.per_criterion)]
    frame = pd.DataFrame(
        [
            {
                "label": charts.wrapped(label),
                "criterion": label,
                "series": series,
                "value": float(part[name]),
                "low": float("nan"),
                "high": float("nan"),
                "n": part.n,
                "about": f"{percent(part[name], 1)} · n {part.n:,}",
            }
            for label, part in parts
            for series, name in (("before the draft", "same_before"), ("after it", "same_after"))
        ]
    )
    words = first_words(first)
    figure = Figure(
        "first-and-final",
        "Scored first, then shown the draft: scores that equal the draft's",
        frame[["criterion", "series", "value", "n"]].rename(columns={"series": "moment", "value": "share"}),
        lambda: charts.pairs(frame, words, title="share of scores", percent=True, domain=(0.0, 1.0)),
        words,
        rows="first_scores.csv",
        note="the same people's first and final scores · the change with its interval is in the table",
    )
    return [figure]


def first_words(first: Result) -> str:
    """What seeing the draft changed, as sentences."""
    return (
        f"Of {plural(first.n, 'score')} on {plural(first.n_instances, 'instance')}, {percent(first.same_before, 1)} "
        f"equalled the draft's before it was shown and {percent(first.same_after, 1)} after, a change of "
        f"{shown(first.adoption.value)} (instances resampled). {percent(first.towards)} moved towards the draft, "
        f"{percent(first.away)} away from it, {percent(first.kept)} did neither."
    )


PLANTED_NOTE = " · planted errors are left out of all but the pull, which rests on the planted scores"


def _table(section: Result) -> Node | None:
    rows = [
        (
            ESTIMATORS[name][0],
            ESTIMATORS[name][1],
            shown(section[name].value),
            p_value(section[name].get("p_value")),
            _count(section[name], "n_assisted"),
            _count(section[name], "n_blind"),
            _count(section[name], "n_shifted"),
        )
        for name in ESTIMATORS
    ]
    found = section.alpha_difference
    if section.first.n:
        change = section.first.adoption
        rows.append(
            (
                "Scored first: draft's score taken over",
                "P(score = draft), after seeing it minus before, the same people",
                shown(change.value),
                p_value(change.get("p_value")),
                f"{section.first.n:,}",
                "",
                "",
            )
        )
    rows.append(
        (
            "Difference of alphas",
            "ordinal, assisted minus blind, joint interval over units",
            shown(found.value),
            p_value(found.get("p_value")),
            _count(found, "n_units_a"),
            _count(found, "n_units_b"),
            "",
        )
    )
    columns = ["Estimate", "What it is", "Value [95%]", "p", "Assisted", "Blind", "Shifted"]
    note = "scores counted by arm; for alphas, units"
    return data_table(
        "Estimates", pd.DataFrame(rows, columns=columns), note + PLANTED_NOTE * bool(section.sown.n)
    )


def _count(found: Result, name: str) -> str:
    return f"{found[name]:,}" if found.get(name) is not None else ""


def _caught_table(section: Result) -> list[Node | None]:
    """Catch rates of the planted errors, by annotator."""
    planted = section.sown
    if not planted.n and not planted.lines.n:
        return []
    everybody = [("wrong scores", planted), ("lines of another instance", planted.lines)]
    rows = [("everybody", what, *_caught(part)) for what, part in everybody if part.n]
    rows += [(row.annotator, "wrong scores", *_caught(row)) for row in planted.per_annotator]
    frame = pd.DataFrame(rows, columns=["Person", "What was planted", "Caught [95%]", "Planted"])
    note = "caught: a wrong score that was changed, a line that was revised or deleted"
    return [data_table("Planted errors caught", frame, note)]


def _caught(part: Result) -> tuple[str, str]:
    return shown(part.caught.value, percent), f"{part.n:,}"
