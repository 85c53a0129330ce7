"""Agreement of people with each other and with the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from coeval.stats.agreement.alpha import ACCEPTABLE, TENTATIVE
from coeval.stats.agreement.two_raters import RaterPair
from coeval.stats.estimates import Estimate
from coeval.stats.frames import LLM, list_criteria
from coeval.stats.report.activity import actions_section, score_change_section
from coeval.stats.report.agreement import (
    AgreementSection,
    Headline,
    agreement_section,
    agreement_tables,
    people_alphas,
)
from coeval.stats.report.answer import build_answer, count_clusters
from coeval.stats.report.draft_account import draft_effects_section
from coeval.ui.app.agreement.assistance import pull_tile
from coeval.ui.app.agreement.changes import actions_figure, kept_tile
from coeval.ui.app.agreement.figures import (
    NO_PLANTED,
    Figure,
    Get,
    Page,
    answer_view,
    show_table,
    split_estimates,
    tile,
)
from coeval.ui.components import charts
from coeval.ui.components.number_words import (
    brief,
    natural,
    number,
    numbered,
    percent,
    plural,
    score_words,
    shown,
)
from coeval.ui.components.view import Node

MODEL = "Model"
"""The model's name on the page."""

LINES = (TENTATIVE, ACCEPTABLE)


def build(get: Get) -> Iterator[Page]:
    """Yield the answer and people's alphas first, then all other parts, and the actions last."""
    first, criteria = get(people_alphas), get(list_criteria)
    alphas = [levels["ordinal"] for levels in first.per_criterion]
    ordinal = dict(zip(criteria, map(_of_several, alphas), strict=True))
    effects = get(draft_effects_section, whole=True)
    page = Page(
        answer=answer_view(build_answer(first.of_all, ordinal, effects)),
        tiles=[_headline_tile(first.of_all)],
        figures=[forest_figure(ordinal)],
        whole=False,
    )
    yield page
    section = get(agreement_section)
    page = replace(
        page,
        tiles=[*page.tiles, _same_score_tile(section), pull_tile(effects)],
        figures=[*page.figures, heatmap_figure(section.pairwise)],
        tables=[*map(show_table, agreement_tables(section)[:2])],
    )
    yield page
    actions = get(actions_section, tables=("actions",))
    moved = get(score_change_section)
    # scores without a draft have no "kept" tile; the changes to drafts have their own section
    tiles = [*page.tiles[:2], kept_tile(moved), *page.tiles[2:]] if moved.overall.n else page.tiles
    acted = [actions_figure(actions)] if actions["overall"].n else []
    yield replace(page, tiles=tiles, figures=[*page.figures, *acted], whole=True)


def _of_several(alpha: Estimate) -> Estimate:
    """Return an alpha, undefined if its scores are of one document: alpha of one unit is never above 0."""
    if alpha.details.get("clusters") != 1:
        return alpha
    reason = f"the scores are of {count_clusters(1, alpha.details.get('resampled', 'documents'))}"
    return Estimate.undefined(reason, n_units=alpha.details.get("n_units", 0))


def _headline_tile(headline: Headline) -> Node | None:
    """Return the tile of the mean alpha over criteria."""
    mean = headline.mean.value
    clusters = mean.details.get("clusters")
    about = f"mean of {plural(headline.criteria, 'criterion', 'criteria')}"
    if clusters == 1:
        reason = _of_several(mean).reason or ""
        return tile("Alpha, people", None, reason, show=score_words, rows="reliability.csv")
    if clusters:
        about += f", {clusters:,} {mean.details.get('resampled', 'clusters')}"
    more = (f"pooled over criteria (tends to be higher) {shown(headline.pooled.value)}",)
    return tile("Alpha, people", mean, about, rows="reliability.csv", more=more, lines=LINES)


def _same_score_tile(section: AgreementSection) -> Node | None:
    """Return the tile of how often two people give a unit the same score."""
    counts = section.counts
    about = f"{plural(counts.n_units, 'unit')} · {plural(counts.n_annotators, 'person', 'people')}"
    same = section.coefficients.percent.value
    return tile("Same score", same, about, show=percent, rows="reliability.csv")


def forest_figure(alphas: Mapping[str, Estimate]) -> Figure:
    """Return the chart of alpha by criterion, with lines at .667 and .800."""
    names = numbered(list(alphas))
    frame = pd.DataFrame([_alpha_row(names[text], text, alpha) for text, alpha in alphas.items()])
    drawn, undefined = split_estimates(frame, "label")
    return Figure(
        "alpha-by-criterion",
        "Alpha by criterion, with 95% interval",
        drawn,
        lambda: charts.alpha_forest(_labelled(drawn), alpha_words(alphas)),
        alpha_words(alphas) if len(drawn) else undefined,
        rows="reliability.csv",
        note=undefined if len(drawn) else "",
    )


def _labelled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(label=[charts.wrapped(label) for label in frame["label"]])


def _alpha_row(label: str, about: str, alpha: Estimate) -> dict[str, Any]:
    low, high = alpha.ci
    return {
        "label": label,
        "value": float(alpha),
        "low": low,
        "high": high,
        "reason": alpha.reason or "",
        "text": brief(alpha),
        "about": f"{about} · {shown(alpha)} · {plural(alpha.details.get('n_units', 0), 'unit')}",
    }


def alpha_words(alphas: Mapping[str, Estimate]) -> str:
    """Describe the forest plot in sentences."""
    lines = "; ".join(f"{text.rstrip('.')}: {shown(alpha)}" for text, alpha in alphas.items())
    good = sum(alpha >= ACCEPTABLE for alpha in alphas.values())
    fair = sum(TENTATIVE <= alpha < ACCEPTABLE for alpha in alphas.values())
    return (
        f"Krippendorff's ordinal alpha of people for {plural(len(alphas), 'criterion', 'criteria')}: {good} at .800 or "
        f"above, {fair} between .667 and .800. {lines}."
    )


def heatmap_figure(pairs: Sequence[RaterPair]) -> Figure:
    """Return the chart of alpha by pair of raters, the model first; a model that shares no unit is left out."""
    pairs = [pair for pair in pairs if LLM not in (pair.a, pair.b) or pair.n]
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
        "Alpha of each pair of raters",
        rows,
        lambda: charts.heatmap(_cells(rows), words, names),
        words,
        rows="reliability.csv",
        width="wide",
        note="ordinal alpha over the units that both raters scored",
        basis=NO_PLANTED,
    )


def rater_names(pairs: Sequence[RaterPair]) -> list[str]:
    """Return the raters of the pairs, the model first."""
    names = list(dict.fromkeys(_rater(name) for pair in pairs for name in (pair.a, pair.b)))
    return sorted(names, key=lambda name: (name != MODEL, natural(name)))


def _rater(name: Any) -> str:
    return MODEL if name == LLM else str(name)


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return both halves of the matrix for the chart."""
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
    defined = rows.dropna(subset=["alpha"])
    if defined.empty:
        return "No two raters share units on which alpha is defined."
    worst, *_, best = defined.sort_values("alpha").iloc[[0, -1]].itertuples()
    if len(rows) == 1:
        return f"Ordinal alpha of {_pair_words(best)}."
    return (
        f"Ordinal alpha of {plural(len(rows), 'pair')} of raters. Highest: {_pair_words(best)}. "
        f"Lowest: {_pair_words(worst)}."
    )
