"""Agreement: how far people agree with each other, and with the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from coeval.stats.agreement.resampling import ACCEPTABLE, TENTATIVE
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.frames import LLM, StudyFrames
from coeval.stats.report.agreement import agreement_section, people_alphas
from coeval.stats.report.document import section_notes
from coeval.stats.report.work import actions_section, draft_effects_section, score_change_section
from coeval.ui.components import charts
from coeval.ui.components.view import Node
from coeval.ui.components.words import natural, number, numbered, p_value, percent, plural, shown
from coeval.ui.study_app.agreement.assistance import pull_tile
from coeval.ui.study_app.agreement.changes import actions_figure, kept_tile
from coeval.ui.study_app.agreement.figures import Figure, Get, Page, data_table, tile

MODEL = "Model"
"""What the model is called on the page."""


def build(get: Get) -> Iterator[Page]:
    """First the alphas of people, which are there at once; then everything; then what other sections say."""
    first = get(first_alphas)
    page = Page(tiles=[_alpha_tile(first.humans)], figures=[forest_figure(first.per_criterion)], whole=False)
    yield page
    section = get(agreement_section)
    page = replace(
        page,
        tiles=[*page.tiles, _ac2_tile(section)],
        figures=[*page.figures, heatmap_figure(section.pairwise)],
        tables=[_coefficients_table(section), _left_out_table(section), _parts_table(section)],
        notes=section_notes({"agreement": section}),
    )
    yield page
    actions = get(actions_section, tables=("actions",))
    yield replace(
        page,
        tiles=[*page.tiles, kept_tile(get(score_change_section)), pull_tile(get(draft_effects_section))],
        figures=[*page.figures, *_acted(actions)],
        whole=True,
    )


def _acted(actions: Result) -> list[Figure]:
    return [actions_figure(actions)] if actions.overall.n else []


def first_alphas(study: StudyFrames) -> Result:
    """Ordinal alpha of people over everything and by criterion."""
    found = people_alphas(study)
    parts = {
        criterion: levels["ordinal"]
        for criterion, levels in zip(study.criteria, found.per_criterion, strict=True)
    }
    return Result(humans=found.humans["ordinal"], per_criterion=parts)


def _alpha_tile(alpha: Estimate) -> Node:
    below = alpha.details.get("p_below_667")
    odds = "" if below is None or not alpha.defined else f"P(α < .667) {number(below)}"
    return tile("Alpha, people", alpha, odds, rows="reliability.csv")


def _ac2_tile(section: Result) -> Node:
    about = (
        "quadratic weights",
        "read beside alpha where scores are skewed",
        f"same score {percent(section.percent.value)}",
    )
    return tile("AC2, people", section.ac2.value, *about, rows="reliability.csv")


def forest_figure(alphas: Mapping[str, Estimate]) -> Figure:
    """Alpha by criterion with the lines at .667 and .800."""
    names = numbered(list(alphas))
    frame = pd.DataFrame([_alpha_row(names[text], text, alpha) for text, alpha in alphas.items()])
    return Figure(
        "alpha-by-criterion",
        "Alpha by criterion, with 95% interval",
        frame.drop(columns=["text", "about", "label", "value"], errors="ignore"),
        lambda: charts.alpha_forest(_labelled(frame), alpha_words(alphas)),
        alpha_words(alphas),
        rows="reliability.csv",
        width="wide",
        note="ordinal · over people · the lines are .667 (tentative) and .800 (acceptable)",
    )


def _labelled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(label=[charts.wrapped(label) for label in frame["label"]])


def _alpha_row(label: str, about: str, alpha: Estimate) -> dict[str, Any]:
    low, high = alpha.ci
    details = alpha.details
    return {
        "label": label,
        "criterion": about,
        "alpha": float(alpha),
        "value": float(alpha),
        "low": low,
        "high": high,
        "n_units": details.get("n_units"),
        "n_annotators": details.get("n_annotators"),
        "reason": alpha.reason or "",
        "text": shown(alpha).split(":")[0],
        "about": f"{about} · {shown(alpha)} · {plural(details.get('n_units', 0), 'unit')}",
    }


def alpha_words(alphas: Mapping[str, Estimate]) -> str:
    """The forest as sentences."""
    lines = "; ".join(f"{text.rstrip('.')}: {shown(alpha)}" for text, alpha in alphas.items())
    good = sum(alpha >= ACCEPTABLE for alpha in alphas.values())
    fair = sum(TENTATIVE <= alpha < ACCEPTABLE for alpha in alphas.values())
    return (
        f"Krippendorff's ordinal alpha of people for {plural(len(alphas), 'criterion', 'criteria')}: {good} at .800 or "
        f"above, {fair} between .667 and .800. {lines}."
    )


def heatmap_figure(pairs: Sequence[Result]) -> Figure:
    """Alpha of every two raters, the model first."""
    pairs = [pair for pair in pairs if pair.n or LLM not in (pair.a, pair.b)]
    names = rater_names(pairs)
    rows = pd.DataFrame(
        [
            {
                "a": a,
                "b": b,
                "n_units": pair.n,
                "alpha": float(pair.ordinal),
                "low": pair.ci_low,
                "high": pair.ci_high,
                "reason": pair.ordinal.reason or "",
            }
            for pair in pairs
            for a, b in [(_rater(pair.a), _rater(pair.b))]
        ],
        columns=["a", "b", "n_units", "alpha", "low", "high", "reason"],
    )
    words = heatmap_words(rows)
    return Figure(
        "pairwise-alpha",
        "Pairwise alpha",
        rows,
        lambda: charts.heatmap(_cells(rows), words, names),
        words,
        rows="reliability.csv",
        width="narrow",
        note="ordinal · over the units both scored · intervals on hover: items left out one by one (jackknife)",
    )


def rater_names(pairs: Sequence[Result]) -> list[str]:
    """The raters of the pairs, the model first."""
    names = list(dict.fromkeys(_rater(name) for pair in pairs for name in (pair.a, pair.b)))
    return sorted(names, key=lambda name: (name != MODEL, natural(name)))


def _rater(name: Any) -> str:
    return MODEL if name == LLM else str(name)


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Both halves of the matrix, as the chart takes them."""
    half = rows.assign(
        value=rows["alpha"],
        text=[number(value) if value == value else "–" for value in rows["alpha"]],
        about=[_pair_words(row) for row in rows.itertuples()],
    )
    return pd.concat([half, half.rename(columns={"a": "b", "b": "a"})])[["a", "b", "value", "text", "about"]]


def _pair_words(row: Any) -> str:
    names = f"{row.a} and {row.b}"
    if row.reason:
        return f"{names}: undefined, {row.reason}"
    return f"{names}: {number(row.alpha)} [{number(row.low)}, {number(row.high)}] over {plural(row.n_units, 'unit')}"


def heatmap_words(rows: pd.DataFrame) -> str:
    known = rows.dropna(subset=["alpha"])
    if known.empty:
        return "No two raters share units on which alpha is defined."
    worst, *_, best = known.sort_values("alpha").iloc[[0, -1]].itertuples()
    return (
        f"Ordinal alpha of {plural(len(rows), 'pair')} of raters. Highest: {_pair_words(best)}. "
        f"Lowest: {_pair_words(worst)}."
    )


def _coefficients_table(section: Result) -> Node | None:
    values: dict[str, Any] = {
        f"Alpha, {level}, people": section.humans[level] for level in ("nominal", "ordinal", "interval")
    }
    values |= {
        f"Alpha, {level}, people and model": section.humans_and_llm[level]
        for level in ("nominal", "ordinal", "interval")
    }
    values |= {
        "AC1": section.ac1.value,
        "AC2, quadratic": section.ac2.value,
        "Fleiss' kappa": section.fleiss.value,
    }
    values |= {name: form.value for name, form in section.icc.items()}
    frame = pd.DataFrame(
        [
            (name, shown(value), _count(value, "n_units", "n"), _count(value, "n_annotators"))
            for name, value in values.items()
        ],
        columns=["Coefficient", "Value [95%]", "Units", "People"],
    )
    return data_table("Coefficients", frame, "over all criteria's units", rows="reliability.csv", half=True)


def _count(value: Any, *names: str) -> str:
    details = value.details if isinstance(value, Estimate) else {}
    return next((f"{details[name]:,.0f}" for name in names if details.get(name) is not None), "")


def _parts_table(section: Result) -> Node | None:
    parts = [
        (kind, part[key], part)
        for kind, key, found in (
            ("Criterion", "criterion", section.per_criterion),
            ("System", "system", section.by_system),
            ("Group", "group", section.by_group),
            ("Arm", "arm", section.by_arm),
        )
        for part in found
    ]
    frame = pd.DataFrame(
        [
            (
                kind,
                name,
                shown(part.humans.ordinal),
                number(part.p_below_667),
                shown(part.ac2.value),
                percent(part.percent.value),
                f"{part.n_units:,}",
                f"{part.n_annotators:,}",
            )
            for kind, name, part in parts
        ],
        columns=[
            "",
            "Part",
            "Alpha, ordinal [95%]",
            "P(α < .667)",
            "AC2 [95%]",
            "Same score",
            "Units",
            "People",
        ],
    )
    return data_table("By criterion, system, group and arm", frame, "over people", rows="reliability.csv")


def thousandth(value: float) -> str:
    return number(value, 3)


def _left_out_table(section: Result) -> Node | None:
    frame = pd.DataFrame(
        [
            (
                row.annotator,
                f"{row.n_ratings:,}",
                shown(row.ordinal),
                shown(row.difference.value, thousandth),
                p_value(row.difference.get("p_value")),
            )
            for row in sorted(section.leave_one_out, key=lambda row: natural(row.annotator))
        ],
        columns=["Without", "Their scores", "Alpha, ordinal", "Change [95%]", "p"],
    )
    note = "a change above 0: the others agree better without this person · joint interval"
    return data_table("Leaving one person out", frame, note, rows="reliability.csv", half=True)
