"""The sources of error in a judge's mean (documents, models, wordings, repeats), and ways to reduce it.

This is a G-study of a complete pilot: every model scores every document with every wording, equally often. All
sources are random. An interval that counts only documents is too short, especially with many documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from coeval.stats.agreement.components import variance_components
from coeval.stats.estimates import Estimate, listed, t_limits, tell_estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Numbers

DOCUMENT, MODEL, WORDING, RUN, REPEAT = "document", "model", "wording", "run", "repeat"
FEWEST = 5
"""The fewest documents, scored by every run, for a G-study."""

BY = " x "
"""The separator of facets in a component's name."""

Part = tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """The components of variance by facet, in squared points, and the mean they describe."""

    facets: tuple[str, ...]
    counts: Mapping[str, int]
    components: Mapping[str, float]
    """Components by name, such as ``document x wording``; negative estimates are 0. The last one is the difference
    between repeats (``repeat`` in its name), or the residual."""
    mean: Estimate
    documents_only: Estimate
    """The same mean, with an interval for documents alone."""


def find_sources(scores: Numbers, facets: Sequence[str], *, confidence: float = 0.95) -> Sources:
    """Return the variance components of a complete table of scores, documents x further facets x repeats.

    Each component is a signed sum of mean squares (Brennan 2001, Generalizability Theory, chapter 3). The mean has a
    Student's t interval with Satterthwaite's degrees of freedom.

    Raises
    ------
    ValueError
        If the table has other dimensions, fewer than two documents, or a missing score.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(0, 2, (200, 1, 1)) + rng.normal(0, 1, (1, 3, 1)) + rng.normal(0, 0.5, (200, 3, 2))
    >>> found = find_sources(scores, ("document", "run"))
    >>> {part: round(value, 1) for part, value in found.components.items()}
    {'document': 3.7, 'run': 0.3, 'document x run': 0.0, 'document x run x repeat': 0.2}
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != len(facets) + 1 or table.shape[0] < 2 or np.isnan(table).any():
        raise ValueError(
            f"The table has the shape {table.shape}; give documents x {len(facets) - 1} facets x repeats."
        )
    sizes, repeats = dict(zip(facets, table.shape[:-1], strict=True)), table.shape[-1]
    levels = [name for name in facets if sizes[name] > 1]
    cells = table.mean(axis=-1)
    squares = _mean_squares(cells, facets, levels, repeats)
    size = float(np.prod([sizes[name] for name in levels]))
    within = float(((table - cells[..., None]) ** 2).sum()) / (size * (repeats - 1)) if repeats > 1 else 0.0
    components: dict[str, float] = {}
    for k in range(1, len(levels) + 1):
        for part in combinations(levels, k):
            others = [name for name in levels if name not in part]
            signed = sum(
                (-1) ** n * squares[tuple(sorted((*part, *more), key=levels.index))][0]
                for n in range(len(others) + 1)
                for more in combinations(others, n)
            )
            if len(part) == len(levels):
                signed -= within
            divisor = math.prod(sizes[name] for name in others) * repeats
            components[BY.join(part)] = max(0.0, signed / divisor)
    if repeats > 1:
        components[BY.join((*levels, REPEAT))] = within
    mean = float(table.mean())
    t = _Spread(squares, levels, sizes, repeats)
    counts = {**sizes, REPEAT: repeats}
    return Sources(
        tuple(levels), counts, components, t.interval(mean, confidence), t.of_documents(mean, confidence)
    )


def _mean_squares(
    cells: Numbers, facets: Sequence[str], levels: Sequence[str], repeats: int
) -> dict[Part, tuple[float, float]]:
    """Return the mean square and degrees of freedom of each effect."""
    axis = {name: k for k, name in enumerate(facets)}
    found: dict[Part, tuple[float, float]] = {}
    for k in range(1, len(levels) + 1):
        for part in combinations(levels, k):
            effect = np.zeros_like(cells)
            for n in range(k + 1):
                for kept in combinations(part, n):
                    away = tuple(axis[name] for name in facets if name not in kept)
                    effect = effect + (-1) ** (k - n) * cells.mean(axis=away, keepdims=True)
            df = math.prod(cells.shape[axis[name]] - 1 for name in part)
            found[part] = float((effect**2).sum()) * repeats / df, float(df)
    return found


@dataclass(frozen=True)
class _Spread:
    """The error of the mean as a signed sum of mean squares."""

    squares: Mapping[Part, tuple[float, float]]
    levels: Sequence[str]
    sizes: Mapping[str, int]
    repeats: int

    def interval(self, mean: float, confidence: float) -> Estimate:
        """Return the interval for all sources. The variance of the mean over random facets is a signed sum of mean
        squares.
        """
        total = math.prod(self.sizes[name] for name in self.levels) * self.repeats
        signs = {part: (-1) ** (len(part) + 1) for part in self.squares}
        variance = sum(signs[part] * square for part, (square, _) in self.squares.items()) / total
        alone = max(self.squares[name,][0] for name in self.levels) / total
        # a difference of noisy squares can be too small, so the variance is at least that of the largest source
        if variance < alone:
            part = max(((name,) for name in self.levels), key=lambda one: self.squares[one][0])
            return self._spread(mean, alone, self.squares[part][1], confidence, "all sources")
        shares = sum((square / total) ** 2 / df for square, df in self.squares.values())
        # a judge that always gives the same score has no spread
        df = variance**2 / shares if shares > 0 else self.squares[DOCUMENT,][1]
        return self._spread(mean, variance, df, confidence, "all sources")

    def of_documents(self, mean: float, confidence: float) -> Estimate:
        total = math.prod(self.sizes[name] for name in self.levels) * self.repeats
        square, df = self.squares[DOCUMENT,]
        return self._spread(mean, square / total, df, confidence, "documents alone")

    def _spread(self, mean: float, variance: float, df: float, confidence: float, of: str) -> Estimate:
        spread = t_limits(mean, math.sqrt(variance), max(df, 1.0), confidence)
        return Estimate(mean, **spread, df=df, interval_kind=f"G-study, {of}, t")


def error_of(sources: Sources, counts: Mapping[str, int]) -> float:
    """Return the standard error of a mean over these numbers of documents, models, wordings and repeats.

    >>> parts = {"document": 1.0, "run": 0.5, "document x run": 1.0}
    >>> found = Sources(("document", "run"), {}, parts, Estimate(3.0), Estimate(3.0))
    >>> round(error_of(found, {"document": 100, "run": 2}), 3)
    0.515
    """
    return math.sqrt(
        sum(
            value / math.prod(counts.get(name, 1) for name in part.split(BY))
            for part, value in sources.components.items()
        )
    )


@dataclass(frozen=True)
class Purchase:
    """The effect of one more model, wording or repeat, or of twice the documents. ``se`` is the new error.
    The number of additional documents with the same effect is None if there is no such number.
    """

    source: str
    counts: Mapping[str, int]
    se: float
    documents: int | None


def list_purchases(sources: Sources, counts: Mapping[str, int]) -> list[Purchase]:
    """Return the effect on the error of one more model, wording or repeat, and of twice the documents."""
    found = []
    now = dict(counts)
    for source in (*sources.facets, REPEAT):
        if source == REPEAT and not any(REPEAT in part.split(BY) for part in sources.components):
            continue
        more = now | {source: now.get(source, 1) * 2 if source == DOCUMENT else now.get(source, 1) + 1}
        se = error_of(sources, more)
        needed = more[DOCUMENT] - now[DOCUMENT] if source == DOCUMENT else _documents_for(sources, now, se)
        found.append(Purchase(source, more, se, needed))
    return sorted(found, key=lambda one: one.se)


def _documents_for(sources: Sources, counts: Mapping[str, int], se: float) -> int | None:
    """Return the number of additional documents that give this error; None if there is no such number."""
    floor = error_of(sources, {**counts, DOCUMENT: 10**12})
    if floor >= se:
        return None
    by_document = error_of(sources, counts) ** 2 - floor**2  # in proportion to 1 / documents
    return max(0, math.ceil(counts[DOCUMENT] * (by_document / (se**2 - floor**2) - 1)))


@dataclass(frozen=True)
class PeopleSources:
    """The variance components of people's scores (mean over criteria), in squared points."""

    item: float
    person: float
    residual: float


@dataclass(frozen=True)
class SystemMean:
    """The judges' mean score of a system over all criteria, with an interval for all sources and one for
    documents alone.
    """

    system: str
    mean: Estimate
    documents_only: Estimate


@dataclass(frozen=True)
class ErrorStudy:
    """The G-study of a study's judges, with people's components. ``reason`` explains a missing result."""

    task: str
    reason: str = ""
    sources: Sources | None = None
    purchases: tuple[Purchase, ...] = ()
    people: PeopleSources | None = None
    runs: tuple[str, ...] = ()
    systems: tuple[SystemMean, ...] = ()


@dataclass(frozen=True)
class FindSources:
    """The statistic for some runs, given as (label, model, wording)."""

    runs: tuple[tuple[str, str, str], ...]

    def __call__(self, study: StudyFrames) -> ErrorStudy:
        people = _people_sources(study)
        drafted = study.model_scores
        labels = set(drafted["run_label"].astype(str))
        known = [run for run in self.runs if run[0] in labels]
        if not known:
            return ErrorStudy(study.task, "No judge has scored this study.", people=people)
        facets, grid = _grid(known)
        names = tuple(str(name) for name in np.ravel(grid))
        own = _complete(drafted, names)
        table = _table(study, own, names)
        if len(table) < FEWEST:
            reason = f"Every run scored {len(table)} documents: a G-study needs {FEWEST}, and 20 are better."
            return ErrorStudy(study.task, reason, people=people, runs=tuple(run[0] for run in known))

        def shaped(scores: Numbers) -> Numbers:
            return scores.reshape(len(scores), *np.shape(grid), scores.shape[-1])

        sources = find_sources(shaped(table), (DOCUMENT, *facets))
        systems = []
        system = study.units["system"].replace("", None)
        for name in system.dropna().unique():
            scores = _table(study, own[own["unit"].isin(np.flatnonzero(system == name))], names)
            if len(scores) >= FEWEST:
                of = find_sources(shaped(scores), (DOCUMENT, *facets))
                systems.append(SystemMean(str(name), of.mean, of.documents_only))
        found = list_purchases(sources, {name: sources.counts[name] for name in (*sources.facets, REPEAT)})
        return ErrorStudy(study.task, "", sources, tuple(found), people, names, tuple(systems))


def _grid(runs: Sequence[tuple[str, str, str]]) -> tuple[tuple[str, ...], Numbers]:
    """Return models x wordings if every pair has a run; else the runs themselves."""
    at = {(model, wording): label for label, model, wording in runs}
    models, wordings = (list(dict.fromkeys(run[k] for run in runs)) for k in (1, 2))
    if len(at) == len(models) * len(wordings):
        return (MODEL, WORDING), np.array([[at[m, w] for w in wordings] for m in models], dtype=object)
    return (RUN,), np.array([run[0] for run in runs], dtype=object)


def _complete(drafted: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the scores of the units that every run scored, one score per run."""
    own = drafted[drafted["run_label"].astype(str).isin(labels)]
    own = own.assign(run_label=own["run_label"].astype(str)).drop_duplicates(
        ["run_label", "unit"], keep="last"
    )
    complete = own.groupby("unit")["run_label"].nunique()
    return own[own["unit"].isin(complete.index[complete == len(labels)])]


def _table(study: StudyFrames, own: pd.DataFrame, labels: Sequence[str]) -> Numbers:
    """Return mean scores over instances and criteria, as documents x runs x repeats."""
    sizes = [len(one) if isinstance(one, tuple) else 1 for one in own["samples"]]
    repeats = min(sizes, default=1)
    values = np.array(
        [
            one[:repeats] if repeats > 1 else (score,)
            for one, score in zip(own["samples"], own["score"], strict=True)
        ],
        dtype=float,
    ).reshape(-1, repeats)
    frame = pd.DataFrame(values).assign(
        run=pd.Index(labels).get_indexer(pd.Index(own["run_label"])),
        document=study.clusters.code[own["unit"].to_numpy()],
    )
    means = frame.groupby(["document", "run"]).mean()
    return means.to_numpy().reshape(-1, len(labels), repeats)


def _people_sources(study: StudyFrames) -> PeopleSources | None:
    found = [variance_components(part, ()) for part in study.by_criterion if part.n_annotators > 1]
    parts = [one for one in found if one.item.defined]
    if not parts:
        return None
    return PeopleSources(
        *(float(np.mean([getattr(one, name) for one in parts])) for name in ("item", "person", "residual"))
    )


def tell_sources(found: ErrorStudy) -> Iterator[str]:
    """Yield lines of text that describe the G-study."""
    if found.sources is None:
        yield found.reason
    else:
        sources = found.sources
        counts = ", ".join(f"{n:,} {name}{'s' if n != 1 else ''}" for name, n in sources.counts.items())
        yield f"{found.task}: {counts}"
        for part, value in sources.components.items():
            yield f"  {part}: {value:.3f}"
        for what, mean in (("documents alone", sources.documents_only), ("all sources", sources.mean)):
            yield f"Mean {tell_estimate(mean)}, counting {what}"
        for system in found.systems:
            alone = f"{tell_estimate(system.documents_only)} counting documents alone"
            yield f"{system.system}: {tell_estimate(system.mean)}; {alone}"
        for one in found.purchases:
            yield tell_purchase(one)
    if found.people is not None:
        p = found.people
        yield f"People: item {p.item:.3f}, person {p.person:.3f}, rest {p.residual:.3f}"


def tell_purchases(found: ErrorStudy | None) -> Iterator[str]:
    """Yield the judge's mean with its interval, then ways to reduce its error, the best first."""
    if found is not None and found.sources is not None:
        yield f"The judge's mean is {tell_estimate(found.sources.mean)}, counting {_counted(found.sources)}."
        for one in found.purchases:
            yield tell_purchase(one)


def _counted(sources: Sources) -> str:
    """Return the names of the facets in the plural.

    >>> _counted(Sources(("document", "wording"), {}, {}, Estimate(3.0), Estimate(3.0)))
    'documents and wordings'
    """
    names = [f"{name}s" for name in sources.facets]
    return listed(names)


def tell_purchase(one: Purchase) -> str:
    """Return a sentence about one purchase.

    >>> tell_purchase(Purchase("wording", {"wording": 2}, 0.05, None))
    'A mean over 2 wordings has the error 0.050: a larger gain than any number of documents.'
    """
    n = one.counts[one.source]
    head = f"A mean over {n:,} {one.source}{'s' if n != 1 else ''} has the error {one.se:.3f}"
    if one.source == DOCUMENT:
        return f"{head}."
    if one.documents is None:
        return f"{head}: a larger gain than any number of documents."
    return f"{head}: the same gain as {one.documents:,} more documents."
