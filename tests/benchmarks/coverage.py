"""How often intervals cover and tests err, by simulation: ``python -m tests.benchmarks coverage [--draws N]``.

Generated studies have documents by systems by criteria, scored by the same people: documents are what is drawn, so the
truth of a cell is its value over 20,000 documents. Plasmode studies draw the documents of the released ELI5 study anew,
whose own value is then the truth; they are left out where it is not here. Every cell says its goal; seeded.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coeval.extensions.judge.model.equivalence import equivalence_test
from coeval.extensions.judge.runtime.system_differences import powered_mean
from coeval.stats import (
    correlation_difference,
    fleiss_kappa,
    gwet_ac,
    icc,
)
from coeval.stats.agreement.alpha import alpha_levels, mean_alpha
from coeval.stats.arm_contrasts import contrast_means, find_pull
from coeval.stats.clusters import DOCUMENTS, Clusters, sums_interval
from coeval.stats.estimates import t_limits
from coeval.stats.judges.correlation import Correlations, LevelCorrelations, correlations
from coeval.stats.judges.vector_correlation import METHODS, correlate, williams_test
from coeval.stats.plan import betting_interval
from coeval.stats.rating_matrix import Ratings, encode_ratings
from coeval.stats.report.draft_account import draft_account_section
from coeval.stats.report.systems import compare_pairs, systems_section
from tests.benchmarks.parts.bridge_cells import list_bridge_cells
from tests.benchmarks.parts.interval_cells import list_interval_cells
from tests.benchmarks.parts.labels_cells import list_label_cells
from tests.support.studies.alt_labels import alt_test
from tests.support.studies.stats_frames import make_frames

COVERED, ERRED = (0.92, 0.97), (0.03, 0.07)
RARELY = (0.0, 0.05)
"""Of a bound that holds at all looks at once: it may err less than .05."""

SLACK = 2.0
"""Standard errors of the simulation that a rate may lie outside its goal before the benchmark fails."""

BESIDE = "before", "undecided", "width"
"""How a cell begins that is shown beside others and has no goal."""

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


Draw = Callable[[np.random.Generator], Iterator[tuple[str, float]]]
"""One study: for each cell of the table, whether the interval covered, or whether the test erred."""


def as_ratings(scores: np.ndarray) -> Ratings:
    """Units x people of scores as ratings on five points."""
    units, people = scores.reshape(-1, scores.shape[-1]).shape
    unit, person = (place.ravel() for place in np.indices((units, people)))
    values = scores.reshape(units, people)
    return encode_ratings(person, unit, values.ravel(), tuple(range(people)), range(units))


def alphas_of(scores: np.ndarray) -> dict[str, Any]:
    """The mean over criteria, the pooled alpha, and that of the first criterion, with their intervals."""
    d, s, k, _ = scores.shape
    of_criterion = Clusters(np.repeat(np.arange(d), s), DOCUMENTS)
    parts = [as_ratings(scores[:, :, place]) for place in range(k)]
    everything = Clusters(np.repeat(np.arange(d), s * k), DOCUMENTS)
    return {
        "mean over criteria": mean_alpha(parts, [of_criterion] * k),
        "pooled": alpha_levels(as_ratings(scores), everything, ("ordinal",))["ordinal"],
        "one criterion": alpha_levels(parts[0], of_criterion, ("ordinal",))["ordinal"],
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


def unequal_cells(documents: int, centre: float) -> Draw:
    """The first system's mean where each document has the outputs of one to five systems, as the report gives it."""
    design = Design(documents, 5, 2, 3, centre=centre)

    def study(rng: np.random.Generator, size: int) -> np.ndarray:
        scores = design.draw(rng, size)
        there = rng.permuted(np.tile(np.arange(5), (size, 1)), axis=1) < rng.integers(1, 6, (size, 1))
        scores[~there] = np.nan
        return scores

    truth = float(np.nanmean(study(np.random.default_rng(1), 20_000)[:, 0]))

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        scores = study(rng, documents)
        d, s, k, p = (place[~np.isnan(scores)] for place in np.indices(scores.shape))
        instance = d * 5 + s
        frames = make_frames(
            pd.DataFrame(
                {
                    "annotator": p,
                    "instance": instance,
                    "criterion": np.array(["a", "b"])[k],
                    "score": scores[~np.isnan(scores)],
                }
            ),
            criteria=("a", "b"),
            instances=pd.DataFrame({"instance": instance, "document": d, "system": [f"s{one}" for one in s]})
            .drop_duplicates()
            .astype({"document": str}),
        )
        first = next((row for row in systems_section(frames) if row.system == "s0"), None)
        if first is not None and first.interval["ci_low"] is not None:
            limits = first.interval["ci_low"], first.interval["ci_high"]
            yield (
                f"system mean, {documents} documents of 1-5 outputs, centre {centre:g}",
                covers(limits, truth),
            )

    return draw


def pairs_cells(documents: int) -> Draw:
    """Whether any two of five systems without a difference are told apart, by Holm's rule over the ten pairs."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        drawn = rng.normal(0, 0.7, (documents, 1, 1)) + rng.normal(0, 0.4, (documents, 5, 1))
        scores = np.clip(np.rint(3 + drawn + rng.normal(0, 0.6, (documents, 5, 6))), 1, 5)
        sums = np.stack([scores.sum(axis=2), np.full(scores.shape[:2], 6.0)], axis=2).reshape(documents, 10)
        smallest = min(gap.p_value for gap in compare_pairs(sums, DOCUMENTS).values())
        yield f"any of 10 pairs of systems, Holm, {documents} documents", smallest < 0.05

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
        return encode_ratings(person, unit, scores.ravel(), (0, 1, 2), range(size))

    large = ratings(np.random.default_rng(1), 300_000)
    truth = {"ac1": float(gwet_ac(large)), "fleiss": float(fleiss_kappa(large))}

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        data = ratings(rng, units)
        for name, value in (("ac1", gwet_ac(data)), ("fleiss", fleiss_kappa(data))):
            if value.defined:
                yield f"{name}, {units} units by 3 raters, skewed", covers(value.ci, truth[name])

    return draw


def intraclass_cells(units: int, values: int) -> Draw:
    """ICC(2,1) of three raters: nine of ten units are "no" of two values, or most are 1 or 2 of seven points."""

    def scores(rng: np.random.Generator, size: int) -> np.ndarray:
        if values == 2:
            yes = np.where(rng.random(size) < 0.9, 0.07, 0.65)
            return (rng.random((size, 3)) < yes[:, None]).astype(float)
        drawn = 1 + rng.gamma(1.0, 1.0, (size, 1)) + rng.normal(0, 0.6, (size, 3)) + np.array([0, 0.2, -0.2])
        return np.clip(np.rint(drawn), 1, values)

    truth = float(icc(scores(np.random.default_rng(1), 100_000).T)["ICC(2,1)"])
    what = "binary scale" if values == 2 else f"{values} skewed points"

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        found = icc(scores(rng, units).T, clusters=range(units))["ICC(2,1)"]
        if found.defined:
            yield f"ICC(2,1), {units} units by 3 raters, {what}", covers(found.ci, truth)

    return draw


def prediction_cells(labels: int) -> Draw:
    """The prediction-powered mean of few labels among 400 documents, one judge that follows people at .7."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        people = 3 + rng.normal(0, 1, 400)
        judge = 0.7 * (people - 3) + rng.normal(0, 0.7, 400) + 3.2
        value, se = powered_mean(people[:labels], judge[:labels], judge[labels:])
        limits = t_limits(value, se, labels - 1)
        yield f"prediction-powered mean, {labels} labels", covers((limits["ci_low"], limits["ci_high"]), 3.0)

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

    def effects(rows: pd.DataFrame) -> dict[str, Any]:
        plain = (rows["shown_score"].isna() | (rows["shown_score"] == rows["draft_score"])).to_numpy()
        gap = (rows["score"] - rows["draft_score"]).abs().where(plain)
        rows = rows.assign(
            cluster=rows["instance"], unit=rows["instance"], planted_score=~plain, planted_error="",
            distance=gap, adoption=(gap == 0).astype(float).where(gap.notna()),
        )  # fmt: skip
        found = {name: contrast_means(rows, name).difference for name in ("adoption", "distance")}
        return found | {"pull": find_pull(rows)}

    def follow(rng: np.random.Generator, size: int) -> np.ndarray:
        return np.clip(rng.normal(0.4, 0.2, size), 0, 1)

    big = np.random.default_rng(5)
    truth = {name: float(value) for name, value in effects(study(big, follow(big, 400), 400)).items()}

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        found = effects(study(rng, follow(rng, people), 80))
        for name, value in truth.items():
            estimate = found[name]
            limits = estimate.people_ci_low, estimate.people_ci_high
            yield f"{name}, for people like these {people}", covers(limits, value)

    return draw


@dataclass(frozen=True)
class Drafted:
    """A study with drafts: how often people adopt what they see, and what share of the blind time they then take."""

    documents: int = 40
    people: int = 8
    criteria: int = 2
    pull: float = 0.3
    time: float = 0.7
    blind: float = 0.3
    planted: float = 0.25
    scattered: float = 0.0
    """How far people differ in their pull and in the time that they save."""

    def rows(
        self, rng: np.random.Generator, documents: int | None = None, people: int | None = None
    ) -> pd.DataFrame:
        """Scores of all people for all documents, as the section on drafts takes them."""
        d, k, p = documents or self.documents, self.criteria, people or self.people
        document, criterion, person = (place.ravel() for place in np.indices((d, k, p)))
        size = len(document)
        # "for these people": the same few in every study, unless people are drawn too
        whom = rng if self.scattered else np.random.default_rng(99)
        slowness = whom.normal(0, 0.3, p)
        pull = np.clip(rng.normal(self.pull, self.scattered, p), 0, 1)[person]
        saved = np.exp(rng.normal(np.log(self.time), self.scattered, p))[person]
        right = np.clip(np.rint(rng.normal(3, 0.9, (d, k))), 1, 5)
        draft = np.clip(right + rng.choice([-1, 0, 1], (d, k), p=[0.2, 0.6, 0.2]), 2, 4)[document, criterion]
        # two people of an instance share an arm, as CoEval draws it
        drawn = rng.random((d, (p + 1) // 2)) < self.blind
        blind = drawn[document, person // 2]
        wrong = ~blind & (rng.random(size) < self.planted)
        shown = draft + np.where(wrong, rng.choice([-1, 1], size), 0)
        own = np.clip(np.rint(right[document, criterion] + rng.normal(0, 0.7, size)), 1, 5)
        score = np.where(~blind & (rng.random(size) < pull), shown, own)
        slow = slowness[person] + rng.normal(0, 0.2, d)[document] + rng.normal(0, 0.5, size)
        return pd.DataFrame(
            {
                "annotator": [f"p{one:03d}" for one in person],
                "instance": [f"i{one:05d}" for one in document],
                "criterion": [f"c{one}" for one in criterion],
                "arm": np.where(blind, "blind", "assisted"),
                "score": score,
                "draft_score": draft,
                "shown_score": np.where(blind, np.nan, shown),
                "planted_score": wrong,
                "planted_error": np.where(wrong, "score", ""),
                "active_seconds": 40 * np.exp(slow) * np.where(blind, 1, saved),
                "right": right[document, criterion],
            }
        )

    def account(self, rows: pd.DataFrame) -> Any:
        """The section's estimates by name: each with its interval."""
        frames = make_frames(
            rows.drop(columns="right"), criteria=tuple(f"c{k}" for k in range(self.criteria))
        )
        known = rows.drop_duplicates(["instance", "criterion"])
        references = known[["instance", "criterion"]].assign(
            score=known["right"], source="adjudicated scores"
        )
        found = draft_account_section(replace(frames, references=references))
        return {one.name: one.difference.value for one in found.arms[0].measures} | {"pull": found.pull.value}


ACCOUNTED = (
    "seconds",
    "adoption",
    "distance",
    "accurate",
    "caught",
    "pull",
)


def drafts_cells(name: str, design: Drafted, *, others: bool = False) -> Draw:
    """What the drafts did (pull, time, accuracy, catches), beside its value over very many documents.

    ``others``: the intervals for people like these, who differ in how far they follow.
    """
    rng = np.random.default_rng(11)
    whole = design.account(design.rows(rng, *((60, 400) if others else (12_000, design.people))))
    truth = {what: float(whole[what]) for what in ACCOUNTED}
    if not others:
        truth |= {"pull": design.pull}

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        found = design.account(design.rows(rng))
        for what in ACCOUNTED:
            value = found[what]
            if others and math.isnan(value.details.get("people_ci_low", math.nan)):
                continue
            limits = (value.people_ci_low, value.people_ci_high) if others else value.ci
            yield f"drafts, {what}, {name}", covers(limits, truth[what])

    return draw


def judge_cells(documents: int, by: str, *, unequal: bool = False) -> Draw:
    """Two judges equally good but for errors that a whole document, or a whole system, shares: no test should tell.

    ``unequal`` documents have 1 to 20 items.
    """

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        systems = 4 if by == "document" else documents
        per = documents if by == "document" else 8
        document, system = (place.ravel() for place in np.indices((per, systems)))
        if unequal:
            document = np.repeat(np.arange(per), rng.integers(1, 21, per))
        group = document if by == "document" else system
        human = rng.normal(0, 1, per)[document] * 0.5 + rng.normal(0, 1, len(document))
        a, b = (
            human + rng.normal(0, 1, group.max() + 1)[group] + rng.normal(0, 0.6, len(human))
            for _ in range(2)
        )
        gap = correlation_difference(human, a, b, Clusters(pd.factorize(group)[0]))
        r = [correlate(x, y, "pearson") for x, y in ((human, a), (human, b), (a, b))]
        williams = williams_test(*r, len(human), n_effective=len(human) / gap.design_effect)
        where = f"errors by {by}, {documents} of them" + (" of 1-20 items" if unequal else "")
        yield f"interval of the difference, {where}", gap.p_value < 0.05
        yield f"Williams, {where}", williams.p_two_sided < 0.05

    return draw


def alt_cells(documents: int, criteria: int = 5, *, split: float = 10.0, unequal: bool = False) -> Draw:
    """A model as much worse than a person as epsilon says: each person's test errs where it rejects.

    People score documents by criteria, and how the model fares on a document is shared by its criteria: the smaller
    ``split`` is, the more documents are either all right or all wrong. ``unequal`` documents have 1 to 20 items.
    """

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        epsilon = 0.2
        sizes = rng.integers(1, 21, documents) if unequal else criteria
        document = np.repeat(np.arange(documents), sizes)
        size = len(document)
        # how often the model misses differs by document; person's wins minus the model's average epsilon
        share = rng.beta(epsilon * split, (1 - epsilon) * split, documents)
        misses = rng.random(size) < share[document]
        people = {name: dict.fromkeys(range(size), 3.0) for name in "abc"}
        model = {k: 5.0 if miss else 3.0 for k, miss in enumerate(misses)}
        found = alt_test(model, people, epsilon, clusters=dict(enumerate(document.tolist())))
        errors = "" if split > 1 else ", errors split by document"
        items = (
            f"{documents} documents of 1-20 items"
            if unequal
            else f"{criteria} criteria, {documents} documents"
        )
        name = f"alt-test pooled over {items}{errors}"
        yield name, found.p_values[0] < 0.05

    return draw


def correlation_cells(documents: int, systems: int = 4) -> Draw:
    """A judge's correlations with people within documents and over all items, on five points."""
    levels = np.random.default_rng(9).normal(0, 0.5, systems)

    def study(rng: np.random.Generator, size: int) -> Correlations:
        shape = size, systems
        own = 3 + levels + rng.normal(0, 0.6, (size, 1)) + rng.normal(0, 0.8, shape)
        errors = rng.normal(0, 0.6, shape) * np.exp(rng.normal(0, 0.5, (size, 1)))
        judged = own + rng.normal(0, 0.6, (size, 1)) + errors
        document = np.repeat(np.arange(size), systems)
        human, judge = (np.clip(np.rint(side), 1, 5).ravel() for side in (own, judged))
        return correlations(human, judge, document, clusters=document)

    large = study(np.random.default_rng(1), 20_000)

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        found = study(rng, documents)
        for level in ("document", "dataset"):
            for method in METHODS:
                name = f"{method} at {level} level, {documents} documents x {systems} systems"
                yield (
                    name,
                    covers(
                        getattr(getattr(found, level), method).ci,
                        float(getattr(getattr(large, level), method)),
                    ),
                )

    return draw


def system_level_cells(documents: int, systems: int) -> Draw:
    """Correlations of systems' means over so many documents: the truth is the mean over 4,000 such studies.

    Judge and people agree perfectly on the systems' levels; means over few documents hide it. The interval is of what
    another study with as many documents would find on average, and not of what endless documents would.
    """
    levels = np.linspace(-0.25, 0.25, systems)

    def study(rng: np.random.Generator, *, clusters: bool) -> LevelCorrelations:
        shape = documents, systems
        own = 3 + levels + rng.normal(0, 0.6, (documents, 1)) + rng.normal(0, 0.8, shape)
        judged = 3 + levels + rng.normal(0, 0.6, (documents, 1)) + 0.5 * (own - 3 - levels)
        judged += rng.normal(0, 0.8, shape)
        document, system = (place.ravel() for place in np.indices(shape))
        human, judge = (np.clip(np.rint(side), 1, 5).ravel() for side in (own, judged))
        return correlations(human, judge, system=system, clusters=document if clusters else None).system

    rng = np.random.default_rng(1)
    repeated = [study(rng, clusters=False) for _ in range(4_000)]
    truth = {method: float(np.nanmean([getattr(one, method) for one in repeated])) for method in METHODS}

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        found = study(rng, clusters=True)
        for method in METHODS:
            name = f"{method} of means over {documents} documents, {systems} systems, as stated"
            yield name, covers(getattr(found, method).ci, truth[method])

    return draw


def stopping_cells(planned: int, care: Sequence[float] = ()) -> Draw:
    """A study looked at after every second document: how often the interval that rules rest on leaves out the truth.

    Parameters
    ----------
    care : how much noise each person adds; people then finish one after another, and the study is also looked at while
        the documents of the last ones are unfinished. Without it, everybody finishes a document before the next.
    """
    design = Design(planned, 2, 3, len(care) or 3, noise=0.0 if care else 0.6)

    def scores_of(rng: np.random.Generator, documents: int) -> np.ndarray:
        scores = design.draw(rng, documents)
        if not care:
            return scores
        return np.clip(scores + np.rint(rng.normal(0, 1, scores.shape) * np.array(care)), 1, 5)

    large = scores_of(np.random.default_rng(1), 20_000)
    apart = float((large[:, 0] - large[:, 1]).mean())
    how = ", people of unequal care one after another" if care else ""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        whole = scores_of(rng, 2 * planned)
        missed = False
        for scores in _looks(whole, one_by_one=bool(care)):
            scores = scores[~np.isnan(scores).any(axis=(1, 2, 3))]  # as ``Finished`` keeps them
            if not len(scores):
                continue
            gaps = (scores[:, 0] - scores[:, 1]).mean(axis=(1, 2))
            missed |= not covers(betting_interval(gaps, -4, 4), apart)
        yield f"rule of difference, wrong at any look, {planned} documents planned{how}", missed

    return draw


def _looks(whole: np.ndarray, *, one_by_one: bool) -> Iterator[np.ndarray]:
    """The scores that there are after every second document; nan where the person has not come to it."""
    documents, people = len(whole), whole.shape[-1]
    if not one_by_one:
        yield from (whole[:size] for size in range(2, documents + 1, 2))
        return
    scores = np.full(whole.shape, np.nan)
    for person in range(people):
        for start in range(0, documents, 2):
            scores[start : start + 2, ..., person] = whole[start : start + 2, ..., person]
            yield scores


def rare_loss_cells(planned: int) -> Draw:
    """One system is usually as good, sometimes a little better and rarely much worse: the truth is 0."""

    def draw(rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
        gaps = rng.choice([-4.0, 0.0, 1.0], 2 * planned, p=[0.05, 0.75, 0.20])
        wrong = any(not covers(betting_interval(gaps[:size], -4, 4), 0.0) for size in range(2, len(gaps) + 1))
        yield f"rule of difference, wrong at any look, rare large losses, {planned} documents planned", wrong

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


def list_cells() -> list[tuple[tuple[float, float], partial[Draw]]]:
    """Return what makes each draw, with the goal of its cells."""
    cells = [
        (COVERED, partial(agreement_cells, "20 documents x 4 x 5", Design(20))),
        (COVERED, partial(agreement_cells, "50 documents x 4 x 5", Design(50))),
        (COVERED, partial(agreement_cells, "10 documents x 4 x 5", Design(10))),
        (COVERED, partial(agreement_cells, "30 documents x 2 x 3, skewed", Design(30, 2, 3, 3, centre=4.3))),
        *[(COVERED, partial(unequal_cells, 20, centre)) for centre in (3.0, 4.0)],
        (COVERED, partial(coefficient_cells, 20)),
        (COVERED, partial(coefficient_cells, 40)),
        *[(COVERED, partial(intraclass_cells, units, values)) for values in (2, 7) for units in (20, 40, 80)],
        *[(COVERED, partial(prediction_cells, n)) for n in (5, 10, 20)],
        (COVERED, partial(pull_cells, 6)),
        (COVERED, partial(drafts_cells, "40 documents x 2 x 8 people", Drafted())),
        (
            COVERED,
            partial(
                drafts_cells,
                "15 documents x 3 x 6 people, 15% blind",
                Drafted(15, 6, 3, blind=0.15, pull=0.5),
            ),
        ),
        (
            COVERED,
            partial(
                drafts_cells, "no effect, 30 documents x 2 x 6 people", Drafted(30, 6, pull=0.0, time=1.0)
            ),
        ),
        (ERRED, partial(judge_cells, 30, "document")),
        (ERRED, partial(judge_cells, 12, "system")),
        (ERRED, partial(judge_cells, 15, "document", unequal=True)),
        (ERRED, partial(alt_cells, 40)),
        (ERRED, partial(alt_cells, 40, 7)),
        (ERRED, partial(alt_cells, 40, 5, split=0.5)),
        (ERRED, partial(alt_cells, 30, 7, split=0.1)),
        *[(COVERED, partial(correlation_cells, n)) for n in (8, 12, 20)],
        (COVERED, partial(system_level_cells, 12, 10)),
        *[
            (ERRED, partial(alt_cells, n, split=split, unequal=True))
            for n in (15, 25, 50)
            for split in (10, 0.5)
        ],
        *[((0.02, 0.07), partial(pairs_cells, n)) for n in (10, 20, 40)],
        (ERRED, partial(equivalence_cells, 20)),
        (ERRED, partial(equivalence_cells, 50, 20)),
        (RARELY, partial(stopping_cells, 40)),
        (RARELY, partial(stopping_cells, 40, (0.3, 0.8, 1.5))),
        (RARELY, partial(rare_loss_cells, 40)),
        *list_label_cells(),
        *list_interval_cells(),
        *list_bridge_cells(),
    ]
    return cells + ([(COVERED, partial(plasmode_cells, ELI5))] if ELI5.is_dir() else [])


def simulate(draw: Draw, draws: int, seed: int = 20261121) -> dict[str, tuple[float, int]]:
    """The rate of each cell, and from how many draws."""
    rng, hits = np.random.default_rng(seed), dict[str, list[float]]()
    for _ in range(draws):
        for cell, hit in draw(rng):
            hits.setdefault(cell, []).append(hit)
    return {cell: (float(np.mean(found)), len(found)) for cell, found in hits.items()}


def _simulate_cell(number: int, draws: int, seed: int) -> dict[str, tuple[float, int]]:
    return simulate(list_cells()[number][1](), draws, seed)


def _has(make: Callable[[], Draw], word: str) -> bool:
    return any(word in cell for cell in simulate(make(), 1))


def met(rate: float, n: int, goal: tuple[float, float]) -> bool:
    """Whether the rate is within its goal, the simulation's own error aside."""
    slack = SLACK * np.sqrt(max(rate * (1 - rate), 0.01) / n)
    return bool(goal[0] - slack <= rate <= goal[1] + slack)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether every rate met its goal."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000, help="studies drawn for each cell")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument(
        "--only",
        default="",
        metavar="WORD",
        help="groups of cells, such as alt_cells, or cells with this word",
    )
    options = parser.parse_args(argv)
    cells = list_cells()
    chosen = [n for n, (_, make) in enumerate(cells) if options.only in make.func.__name__]
    if not chosen:  # no group of cells is called so: look into each
        chosen = [n for n, (_, make) in enumerate(cells) if _has(make, options.only)]
    print("| what | rate | goal | draws | met |\n|---|---:|---:|---:|---|")
    fine = True
    with ProcessPoolExecutor() as pool:
        rates = pool.map(partial(_simulate_cell, draws=options.draws, seed=options.seed), chosen)
        for n, found in zip(chosen, rates, strict=True):
            goal = cells[n][0]
            for cell, (rate, draws) in found.items():
                if cell.startswith(BESIDE):
                    print(f"| {cell} | {rate:.3f} | – | {draws:,} | – |", flush=True)
                    continue
                good = met(rate, draws, goal)
                fine = fine and good
                print(
                    f"| {cell} | {rate:.3f} | {goal[0]}-{goal[1]} | {draws:,} | {'yes' if good else 'no'} |",
                    flush=True,
                )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
