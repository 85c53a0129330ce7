"""Cells of the coverage benchmark for few documents, rare scores and shared documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import special

from coeval.extensions.facets.rasch import fit
from coeval.extensions.facets.ruler import ERRATIC
from coeval.extensions.labelling.chances import allot, chances_so_far, drawn_mean, places
from coeval.stats.arm_contrasts import contrast_catches
from coeval.stats.clusters import DOCUMENTS, Clusters, mean_interval
from tests.benchmarks.parts.labels_cells import RulerDesign
from tests.support.studies.alt_labels import alt_test

Draw = Callable[[np.random.Generator], Iterator[tuple[str, float]]]
Goal = tuple[float, float]
AT_LEAST: Goal = (0.92, 1.0)
AT_MOST: Goal = (0.0, 0.07)


def _share(rng: np.random.Generator, mean: float, alike: float, size: int) -> np.ndarray:
    """Return a chance for each document, with this intraclass correlation of the outcomes."""
    split = (1 - alike) / alike
    return rng.beta(mean * split, (1 - mean) * split, size)


def _draw_scores(
    rng: np.random.Generator, shape: str, documents: int
) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Return scores, their documents, and the scale."""
    if shape == "failures of 8%":
        document = np.arange(documents)
        return (rng.random(documents) < 0.08).astype(float), document, (0.0, 1.0)
    if shape == "failures of 8%, 1-20 outputs":
        document = np.repeat(np.arange(documents), rng.integers(1, 21, documents))
        chance = _share(rng, 0.08, 0.3, documents)[document]
        return (rng.random(len(document)) < chance).astype(float), document, (0.0, 1.0)
    document = np.repeat(np.arange(documents), 2)
    if shape == "5, 4 or rarely 1":
        return rng.choice([5.0, 4.0, 1.0], 2 * documents, p=[0.75, 0.2, 0.05]), document, (1.0, 5.0)
    centre = 5.3 if shape == "at the ceiling" else 3.0
    own = centre + rng.normal(0, 0.7, documents)[document] + rng.normal(0, 0.7, len(document))
    return np.clip(np.rint(own), 1, 5), document, (1.0, 5.0)


SHAPES = (
    "failures of 8%", "failures of 8%, 1-20 outputs", "5, 4 or rarely 1", "at the ceiling", "in the middle",
)  # fmt: skip


def bounded_cells(documents: int, shape: str) -> Draw:
    """A mean of rare or skewed scores over documents, and its width over that of value -+ t se."""
    truth = float(_draw_scores(np.random.default_rng(1), shape, 200_000)[0].mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        scores, document, scale = _draw_scores(rng, shape, documents)
        clusters = Clusters(document, DOCUMENTS)
        spread, before = mean_interval(scores, clusters, scale), mean_interval(scores, clusters)
        name = f"mean of bounded scores, {shape}, {documents} documents"
        yield name, spread["ci_low"] <= truth <= spread["ci_high"]
        if not np.isnan(before["ci_low"]):
            yield f"before: {name}", before["ci_low"] <= truth <= before["ci_high"]
            width = min(before["ci_high"], scale[1]) - max(before["ci_low"], scale[0])
            yield f"width over that before: {name}", (spread["ci_high"] - spread["ci_low"]) / width
        yield f"before, undecided: {name}", np.isnan(before["ci_low"])

    return draw


def planted_cells(documents: int, people: int) -> Draw:
    """Planted errors that are easy or hard to catch for everybody who sees the document."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        document, person = (place.ravel() for place in np.indices((documents, people)))
        caught = rng.random(len(document)) < _share(rng, 0.7, 0.4, documents)[document]
        frame = pd.DataFrame(
            {
                "annotator": person,
                "cluster": document,
                "criterion": "c",
                "arm": "assisted",
                "draft_score": 3.0,
                "shown_score": 4.0,
                "planted_score": True,
                "score": np.where(caught, 3.0, 4.0),
            }
        )
        low, high = contrast_catches(frame).shown.ci
        yield f"planted errors caught, {documents} documents shared by {people} people", low <= 0.7 <= high

    return draw


def active_cells(labels: int, shape: str) -> Draw:
    """A mean of rare or skewed scores from labels of known chances, one for each of 300 documents."""

    def world(
        rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[float, float]]:
        if shape == "failures of 8%":
            chance = special.expit(rng.normal(-3.0, 1.2, n))
            y = (rng.random(n) < chance).astype(float)
            return y, chance, np.sqrt(chance * (1 - chance)), (0.0, 1.0)
        f = np.clip(np.rint(5.0 + rng.normal(0, 0.8, n)), 1, 5)
        return np.clip(np.rint(f + rng.normal(0, 0.7, n)), 1, 5), f, np.where(f < 4, 0.8, 0.3), (1.0, 5.0)

    truth = float(world(np.random.default_rng(1), 1_000_000)[0].mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        y, f, spread, scale = world(rng, 300)
        chance = allot("active", spread).chances(labels)
        place = places(chance, rng.random(300))
        labelled = np.zeros(300, dtype=bool)
        labelled[np.argsort(place)[:labels]] = True
        found = drawn_mean(y, f, *chances_so_far(chance, place, labelled), scale=scale)
        name = f"known chances, {shape}, {labels} of 300 documents"
        yield f"undecided: {name}", not found.defined or np.isnan(found.ci[0])
        if found.defined and not np.isnan(found.ci[0]):
            yield name, found.ci[0] <= truth <= found.ci[1]

    return draw


def few_alt_cells(documents: int, criteria: int) -> Draw:
    """A model as much worse than a person as epsilon says, where the items of a document are alike."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        document = np.repeat(np.arange(documents), criteria)
        misses = rng.random(len(document)) < _share(rng, 0.2, 0.6, documents)[document]
        people = {name: dict.fromkeys(range(len(document)), 3.0) for name in "abc"}
        model = {k: 5.0 if miss else 3.0 for k, miss in enumerate(misses)}
        found = alt_test(model, people, 0.2, clusters=dict(enumerate(document.tolist())))
        yield f"alt-test at epsilon, {documents} documents of {criteria} items", found.p_values[0] < 0.05

    return draw


def rater_cells(documents: int, *, random: bool) -> Draw:
    """Severities of 8 people, of whom two score each output, and tests of drift where nobody drifts.

    With ``random``, one more person gives random scores. Draws in which the ruler does not warn of this person count.
    """
    design = RulerDesign(documents, people=8, each=2)
    shape = f"{documents} documents x 2, 2 of 8 people" + (", one at random" if random else "")

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        scores, severity = design.draw(rng)
        if random:
            scattered = np.where(scores.rater == 3, rng.integers(0, 5, len(scores.rater)), scores.category)
            scores = replace(scores, category=scattered)
            found = fit(scores)
            warned = found.fit_of(found.model.rater, scores.n_raters)[0][3] > ERRATIC
            yield f"undecided, with a warning: ruler, {shape}", warned
        else:
            found = fit(scores, drift=True)
            warned = False
            values, errors, freedom = found.by_rater("drift", used=2)
            for value, error, df in zip(values, errors, freedom, strict=True):
                yield f"ruler, drift of nobody, {shape}", abs(value) <= special.stdtrit(df, 0.975) * error
        values, errors, freedom = found.by_rater("rater", used=1)
        for k in set(range(design.people)) - ({3} if random else set()):
            reach = special.stdtrit(freedom[k], 0.975) * errors[k]
            if not warned:
                yield f"ruler, severity, {shape}", abs(values[k] - severity[k]) <= reach
            else:
                yield f"before the warning: ruler, severity, {shape}", abs(values[k] - severity[k]) <= reach

    return draw


def list_interval_cells() -> list[tuple[Goal, partial[Draw]]]:
    """Return what makes each draw, with the goal of its cells."""
    return [
        *[(AT_LEAST, partial(bounded_cells, n, shape)) for shape in SHAPES for n in (8, 12, 20, 40)],
        *[(AT_LEAST, partial(planted_cells, n, people)) for n, people in ((10, 8), (20, 4), (30, 10))],
        *[
            (AT_LEAST, partial(active_cells, labels, shape))
            for shape in ("failures of 8%", "at the ceiling")
            for labels in (12, 20, 40)
        ],
        *[(AT_MOST, partial(few_alt_cells, n, criteria)) for n in (10, 15) for criteria in (5, 7)],
        (AT_LEAST, partial(rater_cells, 20, random=False)),
        (AT_LEAST, partial(rater_cells, 40, random=False)),
        (AT_LEAST, partial(rater_cells, 20, random=True)),
    ]
