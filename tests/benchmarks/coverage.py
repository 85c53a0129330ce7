"""How often intervals cover and tests err, by simulation: ``python -m tests.benchmarks coverage [--draws N]``.

Generated studies have documents by systems by criteria, scored by the same people: documents are what is drawn, so the
truth of a cell is its value over 20,000 documents. Plasmode studies draw the documents of the released ELI5 study anew,
whose own value is then the truth; they are left out where it is not here. Every cell says its goal; seeded.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats import (
    alt_test,
    bootstrap_test,
    draft_effects,
    fleiss_kappa,
    gwet_ac,
    jury_mean,
    permutation_test,
)
from coeval.stats.agreement.clustered import alpha_levels, mean_alpha, respread
from coeval.stats.estimates.clusters import DOCUMENTS, Clusters, sums_interval
from coeval.stats.judges.correlating import correlate
from coeval.stats.judges.equivalence import equivalence_test
from coeval.stats.judges.williams import williams_test
from coeval.stats.planning.sequence import FIRST, sequence_width
from coeval.stats.rating_matrix import Ratings, encode_ratings

COVERED, ERRED = (0.92, 0.97), (0.03, 0.07)
RARELY = (0.0, 0.05)
"""Of a bound that holds at all looks at once: it may err less than .05."""

SLACK = 2.0
"""Standard errors of the simulation that a rate may lie outside its goal before the benchmark fails."""

POINTS = np.arange(1.0, 6.0)
ELI5 = Path(__file__).resolve().parents[3] / "shared" / "data" / "coeval_release_eli5"


@dataclass(frozen=True)
class Design:
    """A study to be drawn: how many of each, and the spread of what each adds to a score."""

    documents: int
    systems: int = 4
    criteria: int = 5
    people: int = 5
    document: float = 0.7
    by_system: float = 0.4
    by_criterion: float = 0.4
    unit: float = 0.35
    noise: float = 0.6
    centre: float = 3.0

    def draw(self, rng: np.random.Generator, documents: int | None = None) -> np.ndarray:
        """Whole scores, documents x systems x criteria x people; systems, criteria and people have fixed levels."""
        d, (s, k, p) = documents or self.documents, (self.systems, self.criteria, self.people)
        fixed = np.random.default_rng(99)
        levels = (
            fixed.normal(0, 0.3, p)[None, None, None, :]
            + fixed.normal(0, 0.4, s)[None, :, None, None]
            + fixed.normal(0, 0.6, k)[None, None, :, None]
        )
        drawn = (
            rng.normal(0, self.document, (d, 1, 1, 1))
            + rng.normal(0, self.by_system, (d, s, 1, 1))
            + rng.normal(0, self.by_criterion, (d, 1, k, 1))
            + rng.normal(0, self.unit, (d, s, k, 1))
            + rng.normal(0, self.noise, (d, s, k, p))
        )
        return np.clip(np.rint(self.centre + levels + drawn), 1, 5)


Draw = Callable[[np.random.Generator], Iterator[tuple[str, bool]]]
"""One study: for each cell of the table, whether the interval covered, or whether the test erred."""


def as_ratings(scores: np.ndarray) -> Ratings:
    """Units x people of scores as ratings on five points."""
    units, people = scores.reshape(-1, scores.shape[-1]).shape
    unit, person = (place.ravel() for place in np.indices((units, people)))
    values = scores.reshape(units, people)
    return encode_ratings(person, unit, values.ravel(), tuple(range(people)), range(units), POINTS.tolist())


def alphas_of(scores: np.ndarray) -> dict[str, Any]:
    """The mean over criteria, the pooled alpha, and that of the first criterion, with their intervals."""
    d, s, k, _ = scores.shape
    of_criterion = Clusters(np.repeat(np.arange(d), s), DOCUMENTS)
    parts = [as_ratings(scores[:, :, place]) for place in range(k)]
    everything = Clusters(np.repeat(np.arange(d), s * k), DOCUMENTS)
    return {
        "mean over criteria": mean_alpha(parts, [of_criterion] * k),
        "pooled": alpha_levels(as_ratings(scores), everything, ("ordinal",), replicates=0)["ordinal"],
        "one criterion": alpha_levels(parts[0], of_criterion, ("ordinal",), replicates=0)["ordinal"],
    }


def system_mean(scores: np.ndarray) -> tuple[float, float]:
    """The interval of the first system's mean over all its criteria and people."""
    own = scores[:, 0]
    sums = np.column_stack([own.sum(axis=(1, 2)), np.full(len(own), own[0].size)])
    spread = sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], DOCUMENTS)
    return spread["ci_low"], spread["ci_high"]


def agreement_cells(name: str, design: Design) -> Draw:
    """Alpha three ways, and a system's mean, of studies of one design."""
    large = design.draw(np.random.default_rng(1), 20_000)
    truth = {what: float(value) for what, value in alphas_of(large).items()}
    middle = float(large[:, 0].mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        scores = design.draw(rng)
        for what, value in alphas_of(scores).items():
            yield f"alpha, {what}, {name}", covers(value.ci, truth[what])
        yield f"system mean, {name}", covers(system_mean(scores), middle)

    return draw


def covers(limits: tuple[float, float], truth: float) -> bool:
    return bool(limits[0] <= truth <= limits[1])


def plasmode_cells(folder: Path) -> Draw:
    """Documents of the released study drawn anew, half as many."""
    from coeval.datasets import load_study

    rows = load_study(folder, slug="eli5", format="auto", mapping=None)
    document = {one.external_id: one.document for one in rows.instances}
    system = {one.external_id: one.system for one in rows.instances}
    frame = pd.DataFrame(
        [
            (document[s.instance], system[s.instance], s.criterion, s.person, s.score)
            for s in rows.submissions
        ],
        columns=["d", "s", "k", "p", "score"],
    )
    codes = [pd.factorize(frame[column], sort=True)[0] for column in "dskp"]
    scores = np.full([int(code.max()) + 1 for code in codes], np.nan)
    scores[tuple(codes)] = frame["score"].to_numpy(dtype=float)
    scores = scores[~np.isnan(scores).any(axis=(1, 2, 3))]
    truth = {what: float(value) for what, value in alphas_of(scores).items()}
    middle = float(scores[:, 0].mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        drawn = scores[rng.integers(0, len(scores), 25)]
        for what, value in alphas_of(drawn).items():
            yield f"alpha, {what}, 25 documents of ELI5", covers(value.ci, truth[what])
        yield "system mean, 25 documents of ELI5", covers(system_mean(drawn), middle)

    return draw


def coefficient_cells(units: int) -> Draw:
    """AC1 and Fleiss' kappa of three raters on a yes-or-no scale with nine of ten yes."""

    def ratings(rng: np.random.Generator, size: int) -> Ratings:
        right = np.where(rng.random(size) < 0.9, 0.93, 0.35)
        scores = (rng.random((size, 3)) < right[:, None]).astype(float)
        unit, person = (place.ravel() for place in np.indices(scores.shape))
        return encode_ratings(person, unit, scores.ravel(), (0, 1, 2), range(size), [0.0, 1.0])

    large = ratings(np.random.default_rng(1), 300_000)
    truth = {"ac1": float(gwet_ac(large)), "fleiss": float(fleiss_kappa(large))}

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        data = ratings(rng, units)
        clusters = Clusters(np.arange(units))
        for name, value in (("ac1", gwet_ac(data)), ("fleiss", fleiss_kappa(data))):
            if value.defined:
                limits = respread({name: value}, data, clusters)[name].ci
                yield f"{name}, {units} units by 3 raters, skewed", covers(limits, truth[name])

    return draw


def prediction_cells(labels: int, per_document: int = 1) -> Draw:
    """The prediction-powered mean of few labels among 400 items, one judge that follows people at .7."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        documents = 400 // per_document
        document = np.repeat(np.arange(documents), per_document)
        truth = rng.normal(3, 1, documents)[document] * (per_document > 1) + 3 * (per_document == 1)
        y = truth + rng.normal(0, 1.0 if per_document == 1 else 0.5, len(document))
        judge = 0.7 * (y - 3) + rng.normal(0, 0.7, len(y)) + 3.2
        own = document < labels // per_document
        found = jury_mean(
            y[own],
            judge[own],
            judge[~own],
            clusters=document[own],
            clusters_unlabeled=document[~own],
        )
        shape = f"{labels} labels" + (f", {per_document} a document" if per_document > 1 else "")
        yield f"prediction-powered mean, {shape}", covers(found.ci, 3.0)

    return draw


def pull_cells(people: int) -> Draw:
    """Adoption, distance and pull where people differ in how far they follow: for these, and for others like them."""

    def study(rng: np.random.Generator, follows: np.ndarray, documents: int) -> pd.DataFrame:
        size = documents * len(follows)
        document, person = (place.ravel() for place in np.indices((documents, len(follows))))
        draft = np.clip(np.rint(rng.normal(3, 1, documents)), 2, 4)[document]
        shift = np.where(rng.random(size) < 0.3, rng.choice([-1.0, 1.0], size), 0.0)
        blind = rng.random(size) < 0.4
        own = draft + rng.normal(0, 0.6, documents)[document] + rng.normal(0, 0.8, size)
        seen = own + np.where(blind, 0.0, follows[person]) * (draft + shift - own)
        return pd.DataFrame(
            {
                "instance": document,
                "annotator": person,
                "arm": np.where(blind, "blind", "assisted"),
                "score": np.rint(seen),
                "draft_score": draft,
                "shown_score": np.where(blind, np.nan, draft + shift),
            }
        )

    def follow(rng: np.random.Generator, size: int) -> np.ndarray:
        return np.clip(rng.normal(0.4, 0.2, size), 0, 1)

    big = np.random.default_rng(5)
    whole = draft_effects(study(big, follow(big, 400), 400))
    truth = {name: float(getattr(whole, name)) for name in ("adoption", "distance", "pull")}

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        found = draft_effects(study(rng, follow(rng, people), 80))
        for name, value in truth.items():
            estimate = getattr(found, name)
            limits = estimate.people_ci_low, estimate.people_ci_high
            yield f"{name}, for people like these {people}", covers(limits, value)

    return draw


def judge_cells(documents: int, by: str) -> Draw:
    """Two judges equally good but for errors that a whole document, or a whole system, shares: no test should tell."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        systems = 4 if by == "document" else documents
        per = documents if by == "document" else 8
        document, system = (place.ravel() for place in np.indices((per, systems)))
        group = document if by == "document" else system
        human = rng.normal(0, 1, per)[document] * 0.5 + rng.normal(0, 1, len(document))
        a, b = (
            human + rng.normal(0, 1, group.max() + 1)[group] + rng.normal(0, 0.6, len(human))
            for _ in range(2)
        )
        gap = bootstrap_test(human, a, b, groups=group)
        permuted = permutation_test(human, a, b, groups=group, replicates=999, seed=int(rng.integers(1e6)))
        r = [correlate(x, y, "pearson") for x, y in ((human, a), (human, b), (a, b))]
        williams = williams_test(*r, len(human), n_effective=len(human) / gap.design_effect)
        where = f"errors by {by}, {documents} of them"
        yield f"permutation, {where}", permuted.p_value < 0.05
        yield f"interval of the difference, {where}", gap.p_value < 0.05
        yield f"Williams, {where}", williams.p_two_sided < 0.05

    return draw


def alt_cells(documents: int, criteria: int = 5, *, split: float = 10.0) -> Draw:
    """A model as much worse than a person as epsilon says: each person's test errs where it rejects.

    People score documents by criteria, and how the model fares on a document is shared by its criteria: the smaller
    ``split`` is, the more documents are either all right or all wrong.
    """

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        epsilon, size = 0.2, documents * criteria
        document = np.repeat(np.arange(documents), criteria)
        # how often the model misses differs by document; person's wins minus the model's average epsilon
        share = rng.beta(epsilon * split, (1 - epsilon) * split, documents)
        misses = rng.random(size) < share[document]
        people = {name: dict.fromkeys(range(size), 3.0) for name in "abc"}
        model = {k: 5.0 if miss else 3.0 for k, miss in enumerate(misses)}
        found = alt_test(model, people, epsilon, "rmse", clusters=dict(enumerate(document.tolist())))
        errors = "" if split > 1 else ", errors split by document"
        name = f"alt-test pooled over {criteria} criteria, {documents} documents{errors}"
        yield name, found.p_values[0] < 0.05

    return draw


def stopping_cells(planned: int) -> Draw:
    """A study looked at after every second document: how often the interval that rules rest on leaves out the truth."""
    design = Design(planned, 2, 3, 3)
    large = design.draw(np.random.default_rng(1), 20_000)
    truth = float(alphas_of(large)["mean over criteria"])
    apart = float((large[:, 0] - large[:, 1]).mean())

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        scores = design.draw(rng, 2 * planned)
        missed = {"alpha": False, "difference": False}
        for size in range(FIRST, 2 * planned + 1, 2):
            parts = [as_ratings(scores[:size, :, place]) for place in range(design.criteria)]
            code = Clusters(np.repeat(np.arange(size), design.systems), DOCUMENTS)
            alpha = mean_alpha(parts, [code] * design.criteria)
            missed["alpha"] |= abs(alpha - truth) > sequence_width(alpha.se, size, planned)
            gap = (scores[:size, 0] - scores[:size, 1]).mean(axis=(1, 2))
            se = float(gap.std(ddof=1) / np.sqrt(size))
            missed["difference"] |= abs(gap.mean() - apart) > sequence_width(se, size, planned)
        for what, wrong in missed.items():
            yield f"rule of {what}, wrong at any look, {planned} documents planned", wrong

    return draw


def equivalence_cells(documents: int, criteria: int = 5) -> Draw:
    """A judge whose mean is off by just the margin, items of a document alike: found equivalent it errs."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        margin, document = 0.5, np.repeat(np.arange(documents), criteria)
        people = rng.normal(3, 1, len(document))
        own = rng.normal(0, 0.5, documents)[document] + rng.normal(0, 0.6, len(document))
        found = equivalence_test(people + margin + own, people, margin, Clusters(document, DOCUMENTS))
        yield f"equivalence, {documents} documents of {criteria} items", found.p_value < 0.05

    return draw


def list_cells() -> list[tuple[tuple[float, float], Draw]]:
    """Every draw with the goal of its cells."""
    cells = [
        (COVERED, agreement_cells("20 documents x 4 x 5", Design(20))),
        (COVERED, agreement_cells("50 documents x 4 x 5", Design(50))),
        (COVERED, agreement_cells("10 documents x 4 x 5", Design(10))),
        (COVERED, agreement_cells("30 documents x 2 x 3, skewed", Design(30, 2, 3, 3, centre=4.3))),
        (COVERED, coefficient_cells(20)),
        (COVERED, coefficient_cells(40)),
        *[(COVERED, prediction_cells(n)) for n in (5, 10, 20)],
        (COVERED, prediction_cells(40, 4)),
        (COVERED, pull_cells(6)),
        (ERRED, judge_cells(30, "document")),
        (ERRED, judge_cells(12, "system")),
        (ERRED, alt_cells(40)),
        (ERRED, alt_cells(40, 7)),
        (ERRED, alt_cells(40, 5, split=0.5)),
        (ERRED, alt_cells(30, 7, split=0.1)),
        (ERRED, equivalence_cells(20)),
        (ERRED, equivalence_cells(50, 20)),
        (RARELY, stopping_cells(40)),
    ]
    return cells + ([(COVERED, plasmode_cells(ELI5))] if ELI5.is_dir() else [])


def simulate(draw: Draw, draws: int, seed: int = 20261121) -> dict[str, tuple[float, int]]:
    """The rate of each cell, and from how many draws."""
    rng, hits = np.random.default_rng(seed), dict[str, list[bool]]()
    for _ in range(draws):
        for cell, hit in draw(rng):
            hits.setdefault(cell, []).append(hit)
    return {cell: (float(np.mean(found)), len(found)) for cell, found in hits.items()}


def met(rate: float, n: int, goal: tuple[float, float]) -> bool:
    """Whether the rate is within its goal, the simulation's own error aside."""
    slack = SLACK * np.sqrt(max(rate * (1 - rate), 0.01) / n)
    return bool(goal[0] - slack <= rate <= goal[1] + slack)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether every rate met its goal."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000, help="studies drawn for each cell")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--only", default="", metavar="WORD", help="cells whose name has this word")
    options = parser.parse_args(argv)
    print("| what | rate | goal | draws | met |\n|---|---:|---:|---:|---|")
    fine = True
    for goal, draw in list_cells():
        for cell, (rate, n) in simulate(draw, options.draws, options.seed).items():
            if options.only in cell:
                good = met(rate, n, goal)
                fine = fine and good
                print(
                    f"| {cell} | {rate:.3f} | {goal[0]}-{goal[1]} | {n:,} | {'yes' if good else 'no'} |",
                    flush=True,
                )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
