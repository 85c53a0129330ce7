"""A G-study: Brennan's equations on planted components, what to buy next, and grids of runs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from coeval.stats.agreement.components import variance_components
from coeval.stats.error_sources import (
    DOCUMENT,
    MODEL,
    WORDING,
    FindSources,
    error_of,
    find_sources,
    list_purchases,
    tell_sources,
)
from tests.support.studies.stats_frames import make_frames


def test_two_facets_are_the_components_of_the_core() -> None:
    """Shrout and Fleiss's judges: the same mean squares by another way."""
    judges = np.array(
        [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]], dtype=float
    )
    known, found = variance_components(judges), find_sources(judges.T[:, :, None], (DOCUMENT, "run"))
    assert found.components[DOCUMENT] == pytest.approx(float(known.item))
    assert found.components["run"] == pytest.approx(float(known.person))
    assert found.components["document x run"] == pytest.approx(float(known.residual))
    assert error_of(found, {DOCUMENT: 6, "run": 4}) == pytest.approx(found.mean.se)


def test_planted_components_are_found() -> None:
    rng = np.random.default_rng(8)
    y = (
        rng.normal(0, 1.0, (400, 1, 1, 1))
        + rng.normal(0, 0.8, (1, 12, 1, 1))
        + rng.normal(0, 0.5, (400, 1, 12, 1))
    )
    found = find_sources(y + rng.normal(0, 0.6, (400, 12, 12, 2)), (DOCUMENT, MODEL, WORDING)).components
    assert found[DOCUMENT] == pytest.approx(1.0, rel=0.2) and found[MODEL] == pytest.approx(0.64, rel=0.6)
    assert found["document x wording"] == pytest.approx(0.25, rel=0.1) and found[WORDING] < 0.01
    assert found["document x model x wording x repeat"] == pytest.approx(0.36, rel=0.02)


def test_a_second_wording_buys_more_than_any_number_of_documents() -> None:
    rng = np.random.default_rng(9)
    y = rng.normal(0, 0.5, (50, 1, 1, 1)) + np.array([-0.5, 0.0, 0.5])[None, None, :, None]
    sources = find_sources(y + rng.normal(0, 0.3, (50, 1, 3, 2)), (DOCUMENT, MODEL, WORDING))
    assert sources.facets == (DOCUMENT, WORDING), "one model has no spread"
    best, *others = list_purchases(sources, {DOCUMENT: 100, WORDING: 1, "repeat": 1})
    assert best.source == WORDING and best.documents is None
    assert best.se == pytest.approx(error_of(sources, {DOCUMENT: 100, WORDING: 2, "repeat": 1}))
    assert {one.source for one in others} == {DOCUMENT, "repeat"}


def test_what_a_repeat_buys_is_told_in_documents() -> None:
    rng = np.random.default_rng(10)
    sources = find_sources(rng.normal(0, 0.3, (80, 1, 1)) + rng.normal(0, 1, (80, 1, 4)), (DOCUMENT, "run"))
    repeat = next(
        one for one in list_purchases(sources, {DOCUMENT: 50, "repeat": 1}) if one.source == "repeat"
    )
    more = {DOCUMENT: 50 + (repeat.documents or 0), "repeat": 1}
    fewer = {DOCUMENT: 49 + (repeat.documents or 0), "repeat": 1}
    assert error_of(sources, more) <= repeat.se < error_of(sources, fewer)


def test_a_judge_that_gives_one_score_has_no_spread() -> None:
    found = find_sources(np.full((6, 2, 1), 4.0), (DOCUMENT, "run"))
    assert (found.mean.ci_low, float(found.mean), found.mean.ci_high) == (4, 4, 4)


def test_tables_that_cannot_be_are_refused() -> None:
    for table in (np.zeros((3, 2)), np.zeros((1, 2, 2)), np.full((3, 2, 2), math.nan)):
        with pytest.raises(ValueError, match="The table has the shape"):
            find_sources(table, (DOCUMENT, "run"))


def make_study(labels: tuple[str, ...], documents: int = 12) -> object:
    rng = np.random.default_rng(1)
    drafts = [
        {"instance": n, "criterion": "clear", "score": 3 + k % 2 + rng.normal(0, 0.3), "run": k, "run_label": label,
         "shown": not k, "samples": (3.0 + k % 2, 3.5 + k % 2)}
        for n in range(documents)
        for k, label in enumerate(labels)
    ]  # fmt: skip
    return make_frames([], pd.DataFrame(drafts))


def test_runs_of_models_by_wordings_are_a_grid() -> None:
    runs = tuple((f"{model}{wording}", model, wording) for model in "ab" for wording in "xy")
    found = FindSources(runs)(make_study(("ax", "ay", "bx", "by")))  # type: ignore[arg-type]
    assert found.sources and found.sources.facets == (DOCUMENT, MODEL, WORDING)
    assert (
        found.sources.components[WORDING] == pytest.approx(0.5, abs=0.01)
        and found.sources.counts["repeat"] == 2
    )
    part = FindSources(runs[:3])(make_study(("ax", "ay", "bx")))  # type: ignore[arg-type]
    assert part.sources and part.sources.facets == (DOCUMENT, "run")


def test_a_study_without_runs_says_so() -> None:
    assert next(tell_sources(FindSources(())(make_study(())))) == "No judge has scored this study."  # type: ignore[arg-type]
    few = FindSources((("ax", "a", "x"),))(make_study(("ax",), 4))  # type: ignore[arg-type]
    assert "Every run scored 4 documents" in few.reason
