"""Systems: whose outputs people, and the model, score higher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.report.document import section_notes
from coeval.stats.report.work import behaviour_section, systems_section
from coeval.ui.components import charts
from coeval.ui.components.view import Node
from coeval.ui.components.words import interval, number, plain_number, plural, shares_words, shown
from coeval.ui.study_app.agreement.figures import Figure, Get, Page, data_table, message, tile

PEOPLE, MODEL, POWERED = "People", "Model", "Prediction-powered"


def build(get: Get) -> Iterator[Page]:
    found = get(systems_section)
    if not found:
        text = (
            "Instances that say who wrote the output (their “system”) are compared here: import them with a "
            "system column."
        )
        yield Page(banner=message("No system is named", text))
        return
    shares = get(behaviour_section).distributions
    yield Page(
        tiles=_tiles(found),
        figures=[means_figure(found), distributions_figure(shares)],
        tables=[_table(found)],
        notes=section_notes({"systems": found}),
    )


def _tiles(found: Sequence[Result]) -> list[Node]:
    known = [row for row in found if row.human_mean.defined]
    if not known:
        return [tile("Highest mean, people", Estimate.undefined("no person has scored a system"))]
    best, worst = max(known, key=lambda row: row.human_mean), min(known, key=lambda row: row.human_mean)
    tiles = [_mean_tile("Highest mean, people", best), _mean_tile("Lowest mean, people", worst)]
    judged = [row for row in found if row.llm_mean.defined]
    if judged:
        pick = max(judged, key=lambda row: row.llm_mean)
        same = "the people's choice too" if pick is best else f"people's choice: {best.system}"
        tiles.append(
            tile(
                "Highest mean, model",
                pick.llm_mean.having(n=pick.n_llm),
                pick.system,
                same,
                show=plain_number,
                rows="drafts.csv",
            )
        )
    return tiles


def _mean_tile(title: str, row: Result) -> Node:
    spread = interval(row.human.value, plain_number)
    about = (row.system, f"95% {spread} over units" if spread else "", plural(row.n_units, "unit"))
    return tile(title, row.human_mean, *about, show=plain_number)


def means_figure(found: Sequence[Result]) -> Figure:
    """Mean score of each system, by people, by the model, and prediction-powered."""
    rows = [row for system in found for row in _means(system)]
    frame = pd.DataFrame(rows, columns=["label", "series", "value", "low", "high", "n", "about"])
    words = " ".join(f"{row['label']}, {row['series'].lower()}: {row['about']}." for row in rows)
    return Figure(
        "system-means",
        "Mean score by system",
        frame.rename(columns={"label": "system", "series": "source", "value": "mean"}).drop(columns="about"),
        lambda: charts.pairs(frame, words, title="mean score"),
        words or "No system has a score.",
        note="intervals: over units, t; prediction-powered ones are normal",
    )


def _means(row: Result) -> Iterator[dict[str, Any]]:
    human, powered = row.human.value, row.prediction_powered.value
    sources = (
        (PEOPLE, row.human_mean, human.ci, row.n),
        (MODEL, row.llm_mean, (float("nan"),) * 2, row.n_llm),
        (POWERED, powered, powered.ci, row.prediction_powered.get("n", 0)),
    )
    for source, value, (low, high), n in sources:
        if value.defined:
            about = f"{plain_number(value)} {interval(value.having(ci_low=low, ci_high=high), plain_number)}".strip()
            yield {
                "label": row.system,
                "series": source,
                "value": float(value),
                "low": low,
                "high": high,
                "n": n,
                "about": f"{about} · n {n:,}",
            }


def distributions_figure(distributions: Sequence[Result]) -> Figure:
    """What share of its scores people gave to each score, by system."""
    people = [row for row in distributions if row.source == "people" and row.system is not None]
    rows = [
        {"series": row.system, "score": score, "n": n, "share": n / row.n}
        for row in people
        for score, n in row.counts.items()
    ]
    frame = pd.DataFrame(rows, columns=["series", "score", "n", "share"])
    words = " ".join(f"{row.system}: {shares_words(row)}." for row in people)
    return Figure(
        "system-distributions",
        "Scores by system",
        frame.rename(columns={"series": "system"}),
        lambda: charts.distribution(frame, words),
        words or "No person has scored a system.",
        note="people, all criteria",
    )


def _table(found: Sequence[Result]) -> Node | None:
    rows = [
        (
            row.system,
            shown(row.human_mean, plain_number),
            interval(row.human.value, plain_number),
            f"{row.n:,}",
            f"{row.n_units:,}",
            shown(row.llm_mean, plain_number),
            f"{row.n_llm:,}",
            shown(row.prediction_powered.value, plain_number).split(":")[0],
            number(row.prediction_powered.get("lam")),
        )
        for row in found
    ]
    columns = [
        "System",
        "People",
        "95% over units",
        "Scores",
        "Units",
        "Model",
        "Drafts",
        "Prediction-powered [95%]",
        "λ",
    ]
    note = (
        "prediction-powered: the people's mean of units scored without the draft, corrected by the model's scores of "
        "the others"
    )
    return data_table("Systems", pd.DataFrame(rows, columns=columns), note)
