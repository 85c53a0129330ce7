"""Systems: whose outputs people, and the model, score higher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from coeval.stats.estimates.results import Estimate
from coeval.stats.report.activity import Distribution, behaviour_section
from coeval.stats.report.notes import section_notes
from coeval.stats.report.systems import SystemRow, systems_section
from coeval.ui.components import charts
from coeval.ui.components.estimate_words import interval, percent, plain_number, plural, shares_words, shown
from coeval.ui.components.view import Node
from coeval.ui.study_app.agreement.figures import Figure, Get, Page, data_table, message, tile

PEOPLE, MODEL, POWERED = "People", "Model", "Prediction-powered"


def build(get: Get) -> Iterator[Page]:
    systems = get(systems_section)
    if not systems:
        text = (
            "Instances that say who wrote the output (their “system”) are compared here: import them with a "
            "system column."
        )
        yield Page(banner=message("No system is named", text))
        return
    shares = get(behaviour_section).distributions
    yield Page(
        tiles=_tiles(systems),
        figures=[means_figure(systems), distributions_figure(shares)],
        tables=[_table(systems), _beats_table(systems)],
        notes=section_notes({"systems": systems}),
    )


def _tiles(systems: Sequence[SystemRow]) -> list[Node]:
    known = [row for row in systems if row.human_mean.defined]
    if not known:
        return [tile("Highest mean, people", Estimate.undefined("no person has scored a system"))]
    best, worst = max(known, key=lambda row: row.human_mean), min(known, key=lambda row: row.human_mean)
    tiles = [_mean_tile("Highest mean, people", best), _mean_tile("Lowest mean, people", worst)]
    judged = [row for row in systems if row.llm_mean.defined]
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


def _mean_tile(title: str, row: SystemRow) -> Node:
    best = f"highest in {percent(row.ranked.p_best)} of draws of the documents" if row.ranked.p_best else ""
    return tile(title, row.human_mean, row.system, plural(row.n_units, "unit"), best, show=plain_number)


def means_figure(systems: Sequence[SystemRow]) -> Figure:
    """Mean score of each system, by people, by the model, and prediction-powered."""
    rows = [row for system in systems for row in _means(system)]
    frame = pd.DataFrame(rows, columns=["label", "series", "value", "low", "high", "n", "about"])
    words = " ".join(f"{row['label']}, {row['series'].lower()}: {row['about']}." for row in rows)
    return Figure(
        "system-means",
        "Mean score by system",
        frame.rename(columns={"label": "system", "series": "source", "value": "mean"}).drop(columns="about"),
        lambda: charts.pairs(frame, words, title="mean score"),
        words or "No system has a score.",
        note="intervals leave out whole documents: other documents, these people and systems",
    )


def _means(row: SystemRow) -> Iterator[dict[str, Any]]:
    powered = row.prediction_powered.value
    sources = (
        (PEOPLE, row.human_mean, row.human_mean.ci, row.n),
        (MODEL, row.llm_mean, (float("nan"),) * 2, row.n_llm),
        (POWERED, powered, powered.ci, row.prediction_powered.get("n") or 0),
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


def distributions_figure(distributions: Sequence[Distribution]) -> Figure:
    """What share of its scores people gave to each score, by system."""
    people = [row for row in distributions if row.source == "people" and row.system is not None]
    rows = [
        {"series": row.system, "score": score, "n": n, "share": n / row.n}
        for row in people
        for score, n in row.counts.items()
    ]
    frame = pd.DataFrame(rows, columns=["series", "score", "n", "share"])
    words = " ".join(f"{row.system}: {shares_words(row.n, row.counts)}." for row in people)
    return Figure(
        "system-distributions",
        "Scores by system",
        frame.rename(columns={"series": "system"}),
        lambda: charts.distribution(frame, words),
        words or "No person has scored a system.",
        note="people, all criteria",
    )


def _beats_table(systems: Sequence[SystemRow]) -> Node | None:
    """How often each system has the higher mean when the documents are drawn anew."""
    known = [row for row in systems if row.ranked.rank is not None]
    rows = [
        (
            row.system,
            *("" if other is row else percent(row.ranked.beats[other.system]) for other in known),
        )
        for row in known
    ]
    frame = pd.DataFrame(rows, columns=["Higher than", *(row.system for row in known)])
    return data_table(
        "Who scores higher", frame, "share of draws of the documents · a tie counts half", half=True
    )


def _place(row: SystemRow) -> str:
    ranked = row.ranked
    if ranked.rank is None:
        return ""
    return f"{ranked.rank} [{ranked.rank_low:.0f}, {ranked.rank_high:.0f}]"


def _draw(row: SystemRow) -> str:
    """How the labelled units were chosen, and whether the prediction-powered mean is valid."""
    powered = row.prediction_powered
    if not powered.value.defined:
        return ""
    return str(powered.get("draw")) if powered.get("valid") else f"not valid: {powered.get('draw')}"


def _worth(row: SystemRow) -> str:
    """How many labels one label is worth with the judges' help."""
    times = row.prediction_powered.get("multiplier")
    return "" if times is None or times != times else plain_number(times)


def _table(systems: Sequence[SystemRow]) -> Node | None:
    rows = [
        (
            row.system,
            _place(row),
            shown(row.human_mean, plain_number),
            f"{row.human_mean.details.get('clusters', 0):,}",
            f"{row.n:,}",
            f"{row.n_units:,}",
            shown(row.llm_mean, plain_number),
            f"{row.n_llm:,}",
            shown(row.prediction_powered.value, plain_number).split(":")[0],
            _draw(row),
            _worth(row),
        )
        for row in systems
    ]
    columns = [
        "System",
        "Rank [95%]",
        "People [95%]",
        "Documents",
        "Scores",
        "Units",
        "Model",
        "Drafts",
        "Prediction-powered [95%]",
        "Labels chosen by",
        "A label counts as",
    ]
    note = (
        "ranks are of the people's means · prediction-powered: the people's mean of units scored without the draft, "
        "corrected by all judges' scores of the others; not valid unless chance chose the scored ones · a label counts "
        "as at most 2 where the judges are no better than the system they judge"
    )
    return data_table("Systems", pd.DataFrame(rows, columns=columns), note)
