"""Cells of the coverage benchmark for the bridge between two judges: known links, systems, and orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from coeval.extensions.judge.bridge.restated import Items, bridge_criterion, tell_orders
from coeval.extensions.judge.bridge.schema import CriterionBridge, Number, Verdict

Draw = Callable[[np.random.Generator], Iterator[tuple[str, float]]]
COVERED = (0.93, 1.0)
FLIPPED_STUDY, FAVOURED = (0.0, 0.10), (0.0, 0.08)


@dataclass(frozen=True)
class Bridged:
    """A study with two judges: each follows an output's quality by its own link, with noise of its own.

    ``centres`` are the systems' mean qualities on people's scale. The old judge favours the first system by ``favour``.
    In ``common`` designs, people score nothing. ``unanchored`` systems have no anchors.
    """

    documents: int
    anchors: int
    centres: tuple[float, ...] = (2.4, 2.8, 3.0, 3.0, 3.3)
    curved: bool = False
    favour: float = 0.0
    common: bool = False
    unanchored: int = 0

    @property
    def name(self) -> str:
        words = [f"{self.anchors} of {self.documents} documents", f"{len(self.centres)} systems"]
        words += ["common items"] * self.common + ["curved"] * self.curved
        words += [f"{self.unanchored} without anchors"] * bool(self.unanchored)
        words += [f"one favoured by {self.favour:g}"] * bool(self.favour)
        return ", ".join(words)

    def draw(self, rng: np.random.Generator, documents: int = 0) -> dict[str, np.ndarray]:
        """Return documents x systems of people's scores and of both judges'."""
        size = documents or self.documents, len(self.centres)
        quality = np.array(self.centres) + rng.normal(0, 0.6, (size[0], 1)) + rng.normal(0, 0.5, size)
        people = np.mean([_rounded(quality + rng.normal(0, 0.6, size)) for _ in range(2)], axis=0)
        shared = rng.normal(0, 0.3, (size[0], 1))
        seen = quality + self.favour * (np.arange(size[1]) == 0) + shared
        old = _rounded((1 + 4 / (1 + np.exp(-1.8 * (seen - 2.7)))) if self.curved else 1.2 + 0.75 * seen
                       + rng.normal(0, 0.4, size))  # fmt: skip
        new = _rounded(0.2 + 1.15 * quality + rng.normal(0, 0.5, size))
        return {"people": people, "old": old, "new": new}


def _rounded(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), 1, 5)


def bridge_study(design: Bridged, rng: np.random.Generator) -> tuple[CriterionBridge, np.ndarray]:
    """Return a drawn study's bridge, and the old judge's means of its systems."""
    scores = design.draw(rng)
    anchored = np.zeros(scores["old"].shape, dtype=bool)
    anchored[rng.permutation(design.documents)[: design.anchors]] = True
    anchored[:, len(design.centres) - design.unanchored :] = False
    document, system = np.indices(anchored.shape)
    items = Items(
        [f"d{number}" for number in document.ravel()],
        [f"s{number}" for number in system.ravel()],
        scores["old"].ravel(),
        np.where(anchored, scores["new"], np.nan).ravel(),
        np.where(anchored & (not design.common), scores["people"], np.nan).ravel(),
    )
    (told,) = tell_orders([bridge_criterion("c", items)])
    return told, scores["old"].mean(axis=0)


def find_truth(design: Bridged) -> np.ndarray:
    """Return the systems' true means on the target scale; systems of one centre are exactly alike."""
    large = design.draw(np.random.default_rng(1), 200_000)
    truth = large["new" if design.common else "people"].mean(axis=0)
    for level in set(design.centres):
        alike = np.array(design.centres) == level
        truth[alike] = truth[alike].mean()
    return truth


def restated_cells(design: Bridged) -> Draw:
    """Restated means, and differences of systems that have anchors, that cover."""
    truth = find_truth(design)

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        found, _ = bridge_study(design, rng)
        for mean in found.systems:
            basis = "" if mean.corrected else " without anchors"
            yield f"restated mean{basis}, {design.name}", covers(mean.restated, truth[int(mean.system[1:])])
        for pair in found.pairs if not design.unanchored else ():
            apart = truth[int(pair.first[1:])] - truth[int(pair.second[1:])]
            yield f"restated difference, {design.name}", covers(pair.restated, apart)

    return draw


def flip_cells(design: Bridged) -> Draw:
    """A study in which the order of any pair is called flipped though it holds, or there is none."""
    truth = find_truth(design)

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        found, before = bridge_study(design, rng)
        yield f"flipped wrongly, any pair, {design.name}", any(find_wrong(found, before, truth))

    return draw


def find_wrong(found: CriterionBridge, before: np.ndarray, truth: np.ndarray) -> list[bool]:
    """Return for each pair whether it is called flipped although people's order is the old judge's, or is none."""
    places = [(pair, int(pair.first[1:]), int(pair.second[1:])) for pair in found.pairs]
    return [
        pair.verdict is Verdict.FLIPS and (before[a] - before[b]) * (truth[a] - truth[b]) >= 0
        for pair, a, b in places
    ]


def favour_cells(design: Bridged) -> Draw:
    """A study in which any link is said to favour a system, though none does."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        found, _ = bridge_study(design, rng)
        p = [favour.p_value for link in found.links for favour in link.favours]
        yield (
            f"a system favoured wrongly, any, {design.name}",
            any(one is not None and one <= 0.05 for one in p),
        )

    return draw


def covers(number: Number, truth: float) -> bool:
    return bool(number.low is not None and number.high is not None and number.low <= truth <= number.high)


def link_cells(anchors: int) -> Draw:
    """The link's values, for a judge whose noise is known, so that people's mean at each of its scores is too."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        document = np.repeat(np.arange(anchors), 4)
        judge = rng.uniform(1, 5, len(document))
        people = 0.5 + 0.8 * judge + rng.normal(0, 0.4, anchors)[document] + rng.normal(0, 0.5, len(document))
        items = Items(document.tolist(), [f"s{n % 4}" for n in range(len(document))], judge, judge, people)
        link = bridge_criterion("c", items).links[0]
        for point in link.points[1:-1]:  # a step map is off at its ends
            yield (
                f"link of {anchors} documents x 4, {link.kind}",
                covers(point.linked, 0.5 + 0.8 * point.score),
            )

    return draw


def list_bridge_cells() -> list[tuple[tuple[float, float], partial[Draw]]]:
    """Return what makes each draw, with the goal of its cells."""
    coverage = [
        Bridged(60, 20),
        Bridged(100, 12),
        Bridged(200, 50, curved=True),
        Bridged(150, 40, favour=0.6),
        Bridged(150, 40, common=True),
        Bridged(150, 40, (2.0, 2.5, 2.8, 3.0, 3.2, 3.5, 3.0, 2.7), unanchored=2),
    ]
    wrong = [Bridged(100, 20, (3.0,) * 8), Bridged(150, 40, favour=0.6)]
    fair = [Bridged(100, 20), Bridged(200, 50, curved=True), Bridged(150, 40, common=True)]
    return [
        *[(COVERED, partial(restated_cells, design)) for design in coverage],
        *[(FLIPPED_STUDY, partial(flip_cells, design)) for design in wrong],
        *[(FAVOURED, partial(favour_cells, design)) for design in fair],
        *[(COVERED, partial(link_cells, anchors)) for anchors in (15, 20)],
    ]
