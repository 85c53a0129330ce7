"""Cells of the coverage benchmark for labels that are worth more: corrected judges, known probabilities, one ruler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from coeval.extensions.facets.rasch import FacetScores, fit
from coeval.extensions.labelling.chances import allot, chances_so_far, drawn_mean, places
from coeval.extensions.labelling.corrected_judge import corrected_mean, corrected_share

Draw = Callable[[np.random.Generator], Iterator[tuple[str, bool]]]
Goal = tuple[float, float]
COVERED: Goal = (0.92, 0.97)
AT_LEAST: Goal = (0.92, 1.0)
"""Of rates from so few labels that a test inverted over whole counts has to be wide."""


def covers(limits: tuple[float, float], truth: float) -> bool:
    return bool(limits[0] <= truth <= limits[1])


def _expit(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def share_cells(documents: int, outputs: int, shift: float, sensitivity: float, specificity: float) -> Draw:
    """A corrected share: the labelled system passes half, the new one passes more; documents share truth and errors."""

    def draw_verdicts(
        rng: np.random.Generator, worth: np.ndarray, ease: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        truth = worth + rng.normal(0, 1, worth.shape) > 0
        right = np.where(truth, sensitivity, specificity)
        right = _expit(np.log(right / (1 - right)) + ease)
        return truth, np.where(rng.random(worth.shape) < right, truth, ~truth)

    large = np.random.default_rng(1)
    truth = float((shift + large.normal(0, 0.7, 2_000_000) + large.normal(0, 1, 2_000_000) > 0).mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        worth, ease = rng.normal(0, 0.7, 300), rng.normal(0, 0.4, 300)
        own = np.repeat(np.arange(documents), outputs)
        y, f = draw_verdicts(rng, worth[own], ease[own])
        _, new = draw_verdicts(rng, worth + shift, ease)
        found = corrected_share(y, f, new, clusters=own.astype(str), clusters_new=np.arange(300).astype(str))
        if found.defined:
            shape = f"{documents} documents x {outputs} labelled, judge {sensitivity:g}/{specificity:g}"
            yield f"corrected share, {shape}, shifted by {shift:g}", covers(found.ci, truth)

    return draw


def mean_cells(documents: int, outputs: int, points: int, shift: float) -> Draw:
    """A corrected mean: the judge is harsh, flat and noisy, and the new system scores higher than the labelled one."""

    def scores(rng: np.random.Generator, size: tuple[int, int], centre: float) -> np.ndarray:
        drawn = centre + rng.normal(0, 0.8, (size[0], 1)) + rng.normal(0, 0.8, size)
        return np.clip(np.rint(drawn), 1, points)

    def judge(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        drawn = 0.2 + 0.8 * y + rng.normal(0, 0.3, (len(y), 1)) + rng.normal(0, 0.7, y.shape)
        return np.clip(np.rint(drawn), 1, points)

    middle = (points + 1) / 2
    truth = float(scores(np.random.default_rng(1), (1_000_000, 1), middle + shift).mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        y, t = scores(rng, (documents, outputs), middle), scores(rng, (150, 1), middle + shift)
        found = corrected_mean(
            y.ravel(), judge(rng, y).ravel(), judge(rng, t).ravel(), np.arange(1.0, points + 1), replicates=200,
            clusters=[f"a{d}" for d in range(documents) for _ in range(outputs)],
        )  # fmt: skip
        if found.defined:
            shape = f"{documents} documents x {outputs} labelled, {points} points"
            yield f"corrected mean, {shape}, shifted by {shift:g}", covers(found.ci, truth)

    return draw


@dataclass(frozen=True)
class RulerDesign:
    """Scores by the model itself, where documents share a part of theta: people, then one judge."""

    documents: int
    systems: int = 2
    people: int = 3
    each: int = 0
    """How many people score an instance; 0 is all."""

    def draw(self, rng: np.random.Generator) -> tuple[FacetScores, np.ndarray]:
        """The scores, and the severities of people and judge, those of people with mean 0."""
        raters, criteria, points = self.people + 1, 3, 5
        severity = np.linspace(-0.8, 0.8, raters)
        severity -= severity[: self.people].mean()
        difficulty, threshold = np.array([-0.5, 0.1, 0.4]), np.array([-1.8, -0.6, 0.5, 1.9])
        d, s = (place.ravel() for place in np.indices((self.documents, self.systems)))
        theta = np.linspace(-0.4, 0.5, self.systems)[s] + rng.normal(0, 0.7, self.documents)[d]
        theta = theta + rng.normal(0, 0.7, len(theta))
        n, i, j = (place.ravel() for place in np.indices((len(theta), criteria, raters)))
        steps = np.concatenate([[0.0], np.cumsum(threshold)])
        chance = special.softmax(
            (theta[n] - difficulty[i] - severity[j])[:, None] * np.arange(points) - steps, axis=1
        )
        category = (rng.random(len(n))[:, None] > np.cumsum(chance, axis=1)).sum(axis=1).clip(max=points - 1)
        kept = np.ones(len(n), dtype=bool)
        if self.each:
            dealt = rng.permuted(np.tile(np.arange(self.people), (len(theta), 1)), axis=1)[:, : self.each]
            kept = (j >= self.people) | (dealt[n] == j[:, None]).any(axis=1)
        parts = (part[kept] for part in (n, i, j, category))
        when = rng.uniform(-0.5, 0.5, int(kept.sum()))
        return FacetScores(*parts, s, d, (points,) * criteria, self.people, raters, when), severity


def ruler_cells(design: RulerDesign) -> Draw:
    """Severities of people and judge, and tests of drift where there is none."""
    shape = f"{design.documents} documents x {design.systems}, {design.each or design.people} of {design.people} people"

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        scores, severity = design.draw(rng)
        larger = fit(scores, drift=True)
        for value, error, df, true in zip(*larger.by_rater("rater", used=1), severity, strict=True):
            yield f"ruler, severity, {shape}", bool(abs(value - true) <= special.stdtrit(df, 0.975) * error)
        for value, error, df in zip(*larger.by_rater("drift", used=2), strict=True):
            yield f"ruler, drift of nobody, {shape}", bool(abs(value) <= special.stdtrit(df, 0.975) * error)

    return draw


def chance_cells(labels: int, shape: str, kind: str) -> Draw:
    """A mean from labels of known chances that stop at their planned number, of 1,000 items in documents of two.

    Failures are rare and mostly where the judge is unsure; or its errors differ in size; or its uncertainty says
    nothing; or scores crowd at the top.
    """

    def world(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
        document = np.repeat(np.arange(n // 2), 2)
        shared = rng.normal(0, 1, n // 2)[document]
        if shape == "rare failures":
            chance = _expit(rng.normal(-3.2, 1.6, n) + 0.5 * shared)
            return (rng.random(n) < chance).astype(float), chance, np.sqrt(chance * (1 - chance)), document
        if shape == "skewed":
            f = np.clip(np.rint(4.4 + 0.6 * shared + rng.normal(0, 0.7, n)), 1, 5)
            return np.clip(np.rint(f + rng.normal(0, 0.6, n)), 1, 5), f, np.where(f < 4, 0.8, 0.3), document
        spread = np.exp(rng.normal(-0.7, 0.8, n))
        f = 3 + 0.8 * shared + rng.normal(0, 0.5, n)
        own = spread if shape == "unequal errors" else np.full(n, 0.7)
        return f + 0.2 + own * rng.normal(0, 1, n), f, spread, document

    truth = float(world(np.random.default_rng(1), 1_000_000)[0].mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        y, f, spread, document = world(rng, 1000)
        chance = allot(kind, spread).chances(labels)
        place = places(chance, rng.random(len(y)))
        labelled = np.zeros(len(y), dtype=bool)
        labelled[np.argsort(place)[:labels]] = True
        found = drawn_mean(y, f, *chances_so_far(chance, place, labelled), clusters=document)
        if found.defined:
            yield f"known chances, {kind}, {shape}, {labels} labels", covers(found.ci, truth)

    return draw


CHANCES = [
    (labels, shape, kind)
    for shape in ("rare failures", "unequal errors", "useless uncertainty", "skewed")
    for labels, kind in ((50, "uniform"), (50, "active"), (200, "active"))
]


def list_label_cells() -> list[tuple[Goal, partial[Draw]]]:
    """Return what makes each draw, with the goal of its cells."""
    return [
        (AT_LEAST, partial(share_cells, 20, 1, 0.8, 0.9, 0.85)),
        *[(COVERED, partial(share_cells, n, m, 0.8, 0.85, 0.8)) for n, m in ((20, 3), (40, 2), (50, 4))],
        *[(COVERED, partial(share_cells, 100, 1, shift, 0.75, 0.8)) for shift in (-1.2, 0.0, 0.8)],
        *[
            (COVERED, partial(mean_cells, n, m, k, 0.8))
            for n, m in ((20, 1), (20, 3), (50, 4))
            for k in (3, 5)
        ],
        *[(COVERED, partial(chance_cells, *one)) for one in CHANCES],
        (AT_LEAST, partial(chance_cells, 20, "rare failures", "active")),
        (COVERED, partial(chance_cells, 20, "skewed", "active")),
        (COVERED, partial(ruler_cells, RulerDesign(20))),
        (COVERED, partial(ruler_cells, RulerDesign(40, people=6, each=2))),
    ]
