"""Error spans marked with and without a model's draft (Kocmi et al. 2024; Zouhar, Kocmi and Sachan 2025)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coeval.errors import InputError
from coeval.extensions.replication.cells import Cell, Replication, load_published
from coeval.extensions.replication.esa_campaigns import read_campaigns
from coeval.stats import correlations, krippendorff_alpha
from coeval.stats.arm_contrasts import Arms, Contrast, contrast_means
from coeval.stats.clusters import PEOPLE, Clusters, OfSums, gap_of, ratio_of, sums_interval
from coeval.stats.estimates import Estimate, t_limits
from coeval.stats.frames import ASSISTED, BLIND
from coeval.stats.judges.vector_correlation import correlate
from coeval.stats.rating_matrix import Numbers

ARMS = Arms()
FEWEST = 5
"""The smallest number of scores for a person's own correlation."""


def contrast_correlations(rows: pd.DataFrame, x: str, y: str) -> Contrast:
    """Return the difference of Pearson's r between two arms: the mean over criteria, jackknifed over clusters.

    Parameters
    ----------
    rows : ``arm``, ``cluster``, the columns, and ``criterion`` if there are several: one row per unit and arm.

    >>> rows = pd.DataFrame({"arm": ["assisted"] * 4 + ["blind"] * 4, "cluster": [0, 1, 2, 3] * 2,
    ...                      "x": [1, 2, 3, 4, 1, 2, 3, 4], "y": [1, 2, 3, 4, 4, 3, 2, 1]})
    >>> float(contrast_correlations(rows, "x", "y").difference)
    2.0
    """
    pairs = rows[rows["arm"].isin((ARMS.shown, ARMS.other))].dropna(subset=[x, y])
    if not len(pairs):
        return Contrast.undefined("these arms have no measured values")
    cluster = Clusters(pd.factorize(pairs["cluster"])[0], ARMS.kind)
    names = pairs["criterion"] if "criterion" in pairs else pd.Series(0, pairs.index)
    blocks, counts = [], []
    for criterion in names.unique():
        of_criterion = (names == criterion).to_numpy()
        for arm in (ARMS.shown, ARMS.other):
            kept = of_criterion & (pairs["arm"] == arm).to_numpy()
            a, b = (pairs[name].to_numpy(dtype=float) for name in (x, y))
            # centred, so that sums of squares keep their precision
            a, b = (np.where(kept, side - side[kept].mean() if kept.any() else 0.0, 0.0) for side in (a, b))
            blocks.append(np.column_stack([kept, a, b, a * a, b * b, a * b]))
            counts.append(int(kept.sum()))
    sums = cluster.sums(np.hstack(blocks))
    values: list[Estimate] = []
    of: list[OfSums] = [
        lambda table: _mean_known(_pearsons(table)[:, ::2] - _pearsons(table)[:, 1::2]),
        lambda table: _mean_known(_pearsons(table)[:, ::2]),
        lambda table: _mean_known(_pearsons(table)[:, 1::2]),
    ]
    for statistic in of:
        point = float(statistic(sums.sum(axis=0)[None, :])[0])
        if math.isnan(point):
            return Contrast.undefined("the scores of an arm are all the same, or too few")
        values.append(Estimate(point, **sums_interval(sums, statistic, ARMS.kind)))
    n = {"n_shown": sum(counts[::2]), "n_other": sum(counts[1::2])}
    return Contrast(values[0].having(**n), values[1], values[2])


def _pearsons(rows: Numbers) -> Numbers:
    """Return replicates x blocks: Pearson's r from the sums of each block."""
    n, a, b, aa, bb, ab = np.moveaxis(rows.reshape(len(rows), -1, 6), 2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (aa - a * a / n) * (bb - b * b / n)
        return np.asarray((ab - a * b / n) / np.sqrt(np.where(spread > 1e-9, spread, np.nan)))


def _mean_known(values: Numbers) -> Numbers:
    """Return the mean of each row over its defined values; nan if it has none."""
    there = ~np.isnan(values)
    means = np.full(len(values), np.nan)
    np.divide(np.where(there, values, 0.0).sum(axis=1), there.sum(axis=1), out=means, where=there.any(axis=1))
    return means


def contrast_people(rows: pd.DataFrame, column: str) -> Contrast:
    """Return how much the mean correlation of people's scores with a column differs between two arms.

    People with both arms are compared with themselves (paired t). If fewer than two have both, Welch's t compares
    people.
    """
    scored = rows[rows["arm"].isin((ARMS.shown, ARMS.other))].dropna(subset=["score", column])
    by_arm: dict[str, dict[Any, float]] = {ARMS.shown: {}, ARMS.other: {}}
    for key, part in scored.groupby(["annotator", "arm"], observed=True):
        name, arm = key[0], str(key[1])
        if len(part) < FEWEST:
            continue
        r = correlate(part["score"].to_numpy(dtype=float), part[column].to_numpy(dtype=float), "spearman")
        if not np.isnan(r):
            by_arm[arm][name] = r
    in_both = [name for name in by_arm[ARMS.shown] if name in by_arm[ARMS.other]]
    sides = [
        np.array([of_arm[name] for name in (in_both if len(in_both) > 1 else of_arm)])
        for of_arm in (by_arm[ARMS.shown], by_arm[ARMS.other])
    ]
    if min(map(len, sides)) < 2:
        return Contrast.undefined(f"fewer than two people have {FEWEST} scores that differ in each arm")
    means = [float(side.mean()) for side in sides]
    if len(in_both) > 1:
        gaps = sides[0] - sides[1]
        spread = t_limits(float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(len(gaps)), len(gaps) - 1)
        low, high = spread["ci_low"], spread["ci_high"]
        how = "Student's t over people's own differences"
    else:
        low, high = _welch(sides[0], sides[1])
        how = "Welch's t over people"
    details = {"ci_low": low, "ci_high": high, "interval_kind": how, "resampled": PEOPLE}
    difference = Estimate(
        means[0] - means[1],
        **details,
        clusters=len(in_both) if len(in_both) > 1 else len({*by_arm[ARMS.shown], *by_arm[ARMS.other]}),
    )
    shown, other = (Estimate(mean, people=len(side)) for mean, side in zip(means, sides, strict=True))
    return Contrast(difference, shown, other, len(in_both) > 1)


def _welch(a: Numbers, b: Numbers) -> tuple[float, float]:
    """Return the confidence limits of the difference between two means with unequal variances (Welch 1947)."""
    parts = [float(side.var(ddof=1)) / len(side) for side in (a, b)]
    total = sum(parts)
    middle = float(a.mean() - b.mean())
    if not total > 0:
        return math.nan, math.nan
    df = total**2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
    spread = t_limits(middle, math.sqrt(total), df)
    return spread["ci_low"], spread["ci_high"]


STUDY = "ESA and ESA^AI"
MEASURED = ("seconds", "n_spans", "n_kept")

CAVEATS = (
    "The arms are campaigns and were not randomized, so differences between arms include all other "
    "differences between the campaigns.",
    "The draft's scale differs from people's, so nearness is measured as a correlation. Adoption, distance "
    "and the influence of shifted scores, which CoEval reports for its own studies, cannot be computed from "
    "these files.",
    "The files do not contain the pre-filled spans. A span without an error_type counts as kept from the draft.",
    "Of two saves of an item, the later one counts, as the data's README says. The independent figure for planted "
    "errors in the second campaign without drafts (.833) uses the earlier saves.",
)

PAPER = "the paper"
INDEPENDENT = "an independent analysis of the same files"


PRINTED = {("blind", 71.0), ("draft", 31.0)}
"""Seconds per span, as printed in the paper."""


@cache
def _load_figures() -> dict[tuple[str, str, str, str], float]:
    """Return the results of the independent analysis; ``low`` and ``high`` are intervals of differences."""
    return load_published("esa")


def replicate_esa(data: Path) -> Replication:
    """Return the effects of the drafts on people in a folder's campaigns, next to the published figures.

    Raises:
        InputError: a file or a column is missing, or a value cannot be read.
    """
    campaigns = read_campaigns(data)
    replication = Replication("Error span annotation with and without a draft", notes=list(CAVEATS))
    segments = campaigns.segments
    units = _units(segments)
    for part in (
        _time(segments),
        _agreement(units),
        _nearness(units, segments),
        _accuracy(units, segments),
        _planted(campaigns.pairs),
        _design(units),
    ):
        replication.cells += part
    replication.notes += _conclude(segments, campaigns.pairs)
    return replication


def _conclude(segments: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[str]:
    """Yield the conclusions that hold for the campaigns in this folder."""
    people = [set(part["annotator"]) for _, part in segments.groupby("arm")]
    if len(people) == 2 and not people[0] & people[1]:
        yield "No person worked in both arms: within-person differences compare different people, with Welch's t."
    noticed = pairs.groupby(["place", "arm"])["lower"].mean().unstack()
    if {BLIND, ASSISTED} <= set(noticed):
        falls = (noticed[BLIND] - noticed[ASSISTED]).dropna()
        if len(falls) > 1 and falls.sum() > 0 and falls.max() > falls.sum() / 2:
            yield f"Campaign {falls.idxmax()} with drafts causes most of the fall in noticed errors."


def _units(segments: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each translation that all campaigns, the draft and the experts scored, with one column
    per campaign.
    """
    scores = segments.pivot_table(index="unit", columns="campaign", values="score", aggfunc="mean")
    others = segments.drop_duplicates("unit").set_index("unit")[["cluster", "system", "draft", "reference"]]
    units = others.join(scores, how="right").dropna()
    if not len(units):
        raise InputError("No translation has scores from every campaign, the draft and the experts.")
    for arm in (BLIND, ASSISTED):
        units[f"mean {arm}"] = units[[name for name in scores if str(name).startswith(arm)]].mean(axis=1)
    return units


def _cells(table: str, row: str, population: str, **values: Any) -> Iterator[Cell]:
    """Yield one cell per column, with our value and interval and the published ones."""
    for column, value in values.items():
        published = _load_figures().get((STUDY, table, row, column))
        seconds = row.startswith("seconds")
        # 500 resamples estimate a variance, and so a design effect, to about 6%
        within = 0.06 if seconds else 0.03 * (published or 0) + 0.05 if table == "design" else 0.006
        yield Cell(
            STUDY, table, row, column,
            float(value) if not math.isnan(value) else None,
            published,
            f"{population}{_tell_interval(table, row, column, value)}",
            within=within, source=INDEPENDENT if published is not None else "", published=published is not None,
        )  # fmt: skip


def _tell_interval(table: str, row: str, column: str, value: Any) -> str:
    if not isinstance(value, Estimate) or math.isnan(value.ci[0]):
        return ""
    text = f"; [{value.ci[0]:.3f}, {value.ci[1]:.3f}], {value.details.get('interval_kind', '')}"
    if not math.isnan(wide := value.details.get("people_ci_low", math.nan)):
        text += f"; for people like these too [{wide:.3f}, {value.people_ci_high:.3f}]"
    theirs = [_load_figures().get((STUDY, table, row, end)) for end in ("low", "high")]
    if column != "difference" or None in theirs:
        return text
    return f"{text}; theirs [{theirs[0]:.3f}, {theirs[1]:.3f}], by resampling"


def _contrast_cells(table: str, row: str, population: str, contrast: Contrast) -> Iterator[Cell]:
    yield from _cells(
        table, row, population, blind=contrast.other, draft=contrast.shown, difference=contrast.difference
    )


def _time(segments: pd.DataFrame) -> Iterator[Cell]:
    of_people = segments.groupby(["arm", "annotator"])[["seconds", "n_spans", "n_kept"]].mean()
    columns = of_people.groupby("arm").mean().to_dict()
    seconds, marked, kept = ({str(k): float(v) for k, v in columns[name].items()} for name in MEASURED)
    people = of_people.groupby("arm").size()
    who = f"means over {people[BLIND]} and {people[ASSISTED]} people"
    arms = {"blind": BLIND, "draft": ASSISTED}
    spans = {name: seconds[arm] / marked[arm] for name, arm in arms.items()}
    row = "seconds for each span"
    yield from _cells("time", row, f"{who}, a person's mean time by mean spans", **spans)
    for column, printed in sorted(PRINTED):
        yield Cell(STUDY, "time", f"{row}, as printed", column, spans[column], printed, who, 0.51, PAPER)
    yield from _cells("time", "spans for each segment", who, **{k: marked[a] for k, a in arms.items()})
    yield from _cells("time", "of them kept from the draft", who, draft=kept[ASSISTED])
    yield from _cells("time", "of them added by people", who, draft=marked[ASSISTED] - kept[ASSISTED])
    per = "seconds for each segment"
    people_means = {k: seconds[a] for k, a in arms.items()}
    yield from _cells("time", f"{per}, mean over annotators", who, **people_means)
    timed = segments.dropna(subset=["seconds"])
    contrast = contrast_means(timed, "seconds", Arms())
    population = f"{len(timed):,} timed segments of {timed['cluster'].nunique()} documents"
    yield from _contrast_cells("time", f"{per}, mean over segments", population, contrast)
    medians = timed.groupby("arm")["seconds"].median()
    yield from _cells("time", f"{per}, median", population, **{k: medians[a] for k, a in arms.items()})


def _agreement(units: pd.DataFrame) -> Iterator[Cell]:
    rows, alphas = [], {}
    for name, arm in (("blind", BLIND), ("draft", ASSISTED)):
        campaigns = [column for column in units if str(column).startswith(f"{arm} ")]
        for k, (a, b) in enumerate(combinations(campaigns, 2)):
            rows.append(pd.DataFrame({"arm": arm, "criterion": k, "cluster": units["cluster"],
                                      "x": units[a], "y": units[b]}))  # fmt: skip
        alphas[name] = krippendorff_alpha(units[campaigns].to_numpy(dtype=float).T, "interval")
    population = _population(units)
    contrast = contrast_correlations(pd.concat(rows), "x", "y")
    yield from _contrast_cells("agreement", "Pearson's r of two campaigns", population, contrast)
    difference = alphas["draft"] - alphas["blind"]
    yield from _cells(
        "agreement", "interval alpha of two campaigns", population, **alphas, difference=difference
    )


def _population(units: pd.DataFrame) -> str:
    return f"{len(units):,} translations of {units['cluster'].nunique()} documents with every campaign and experts"


def _against(units: pd.DataFrame, column: str) -> Contrast:
    """Return the correlation of each arm's mean score with a column."""
    rows = pd.concat(
        [units[["cluster", column]].assign(arm=arm, score=units[f"mean {arm}"]) for arm in (BLIND, ASSISTED)]
    )
    return contrast_correlations(rows, "score", column)


def _nearness(units: pd.DataFrame, segments: pd.DataFrame) -> Iterator[Cell]:
    yield from _contrast_cells(
        "nearness", "r of the mean score with the draft's score", _population(units), _against(units, "draft")
    )
    yield from _of_people("nearness", "within person, Spearman's rho with the draft", segments, "draft")


def _of_people(table: str, row: str, segments: pd.DataFrame, column: str) -> Iterator[Cell]:
    contrast = contrast_people(segments, column)
    n = [int(value.details.get("people", 0)) for value in (contrast.other, contrast.shown)]
    yield from _contrast_cells(table, row, f"{n[0]} and {n[1]} people, each by all own segments", contrast)


def _accuracy(units: pd.DataFrame, segments: pd.DataFrame) -> Iterator[Cell]:
    population = _population(units)
    yield from _contrast_cells(
        "accuracy", "r of the mean score with experts", population, _against(units, "reference")
    )
    alone = correlations(
        units["reference"].to_numpy(), units["draft"].to_numpy(), clusters=units["cluster"].tolist()
    )
    yield from _cells(
        "accuracy", "r of the draft alone with experts", population, draft=alone.dataset.pearson
    )
    yield from _of_people("accuracy", "within person, Spearman's rho with experts", segments, "reference")
    taus = {}
    for name, arm in (("blind", BLIND), ("draft", ASSISTED)):
        levels = correlations(
            units["reference"].to_numpy(), units[f"mean {arm}"].to_numpy(), system=units["system"].tolist()
        )
        taus[name] = float(levels.system.kendall)
    systems = f"{units['system'].nunique()} systems' means over {population}"
    yield from _cells("accuracy", "Kendall's tau of systems with experts", systems, **taus)


def _planted(pairs: pd.DataFrame) -> Iterator[Cell]:
    for row, column in (("scored below the clean twin", "lower"), ("a span on the changed words", "marked")):
        for place, part in pairs.groupby("place"):
            means, n = part.groupby("arm")[column].mean(), part.groupby("arm").size()
            values = {k: means[a] for k, a in (("blind", BLIND), ("draft", ASSISTED)) if a in means}
            population = f"{' and '.join(f'{size:,}' for size in n)} pairs"
            yield from _cells("planted errors", f"{row}, campaign {place}", population, **values)
        contrast = contrast_means(pairs, column, Arms())
        seen = (pairs["arm"] == ASSISTED).to_numpy(dtype=float)
        value = pairs[column].to_numpy(dtype=float)
        sums = np.column_stack([value * seen, seen, value * (1 - seen), 1 - seen])
        people = Clusters(pd.factorize(pairs["annotator"])[0], PEOPLE)
        by_people = sums_interval(people.sums(sums), gap_of, PEOPLE)
        difference = Estimate(float(contrast.difference), **by_people)
        population = f"{len(pairs):,} pairs, {people.n} people"
        yield from _cells(
            "planted errors",
            row,
            population,
            blind=contrast.other,
            draft=contrast.shown,
            difference=difference,
        )


def _design(units: pd.DataFrame) -> Iterator[Cell]:
    """Return the factor by which dependence within documents increases the error of a mean."""
    population = _population(units)
    for name, arm in (("blind", BLIND), ("draft", ASSISTED)):
        campaigns = [str(column) for column in units if str(column).startswith(f"{arm} ")]
        for campaign in campaigns:
            row = f"design effect of documents, campaign {campaign.split()[-1]}"
            yield from _cells("design", row, population, **{name: _design_effect(units, campaign)})
    row = "design effect of documents, the expert score"
    yield from _cells("design", row, population, reference=_design_effect(units, "reference"))


def _design_effect(rows: pd.DataFrame, column: str) -> float:
    sums = np.column_stack([rows[column].to_numpy(dtype=float), np.ones(len(rows))])
    of = Clusters(pd.factorize(rows["cluster"])[0]).sums(sums)
    by_document, alone = (sums_interval(part, ratio_of, "documents")["se"] for part in (of, sums))
    return float((by_document / alone) ** 2) if alone > 0 else math.nan
