"""The agreement section: how far people agree, with each other and with the model."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.alpha import counted, plain_alpha
from coeval.stats.coefficients import fleiss_kappa, gwet_ac, percent_agreement
from coeval.stats.disagreement import Level
from coeval.stats.frames import ASSISTED, BLIND, FIRST, LLM, StudyFrames
from coeval.stats.icc import icc
from coeval.stats.intervals import JACKKNIFE
from coeval.stats.pairs import pair_tables
from coeval.stats.patterns import MANY, sample_units
from coeval.stats.ratings import Ratings
from coeval.stats.resampling import bootstrap_levels, leave_one_out
from coeval.stats.results import Estimate, Result

SHOWN: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MANY_PAIRS = 2000
"""Beyond this many pairs of annotators, only those who share a unit are listed."""


def agreement_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> Result:
    """Agreement over all units, an instance by a criterion each, and over parts of them.

    Returns
    -------
    Result
        ``humans`` and ``humans_and_llm`` (alpha at three levels over all criteria's units), ``intervals`` (of
        both), ``p_below_667``, ``ac1``, ``ac2``, ``percent``, ``fleiss``, ``icc``, ``pairwise``,
        ``per_criterion`` (``ci_low`` and ``ci_high`` are of ordinal alpha), ``by_system``, ``by_group``,
        ``by_arm``, ``leave_one_out``, and the counts.
    """
    people, everyone = study.ratings(), study.ratings(llm=True)
    alone = bootstrap_levels(people, SHOWN, replicates, seed=seed)
    joined = bootstrap_levels(everyone, SHOWN, _affordable(everyone, replicates), seed=seed)
    return Result(
        humans=Result(**alone),
        humans_and_llm=Result(**joined),
        intervals=Result(humans=_intervals(alone), humans_and_llm=_intervals(joined)),
        p_below_667=alone["ordinal"].details.get("p_below_667", np.nan),
        **_counts(people),
        **other_coefficients(people),
        icc=_icc(people),
        pairwise=list(_pairwise(people, everyone)),
        per_criterion=_per_criterion(study, replicates, seed),
        by_system=_parts(study, "system", replicates, seed),
        by_group=_parts(study, "group", replicates, seed),
        by_arm=_parts(study, "arm", replicates, seed),
        leave_one_out=[
            _left_out(row) for row in leave_one_out(people, "ordinal", replicates=replicates, seed=seed)
        ],
    )


def _affordable(data: Ratings, replicates: int) -> int:
    """Fewer replicates for near-continuous scores, where each costs much more; the result says how many."""
    return replicates if len(data.categories) <= MANY else min(replicates, 200)


def other_coefficients(data: Ratings) -> dict[str, Any]:
    """AC1, quadratic AC2, percent agreement and Fleiss' kappa with their intervals, beside alpha."""
    if len(data.categories) > MANY:
        nothing = Estimate.undefined(
            f"more than {MANY} different scores; these coefficients are for categories"
        )
        return {name: spelled(nothing) for name in ("ac1", "ac2", "percent", "fleiss")}
    return {
        "ac1": spelled(gwet_ac(data)),
        "ac2": spelled(gwet_ac(data, "quadratic")),
        "percent": spelled(percent_agreement(data)),
        "fleiss": spelled(fleiss_kappa(data)),
    }


def spelled(estimate: Estimate, *more: str) -> Result:
    """An estimate as a small table: its value, interval and error, and what else is asked for."""
    names = ("ci_low", "ci_high", "se", "interval_kind", *more)
    return Result(
        value=estimate, **{name: estimate.details[name] for name in names if name in estimate.details}
    )


def _counts(data: Ratings) -> dict[str, int]:
    found = counted(data)
    return {name: found[name] for name in ("n_units", "n_units_left_out", "n_ratings", "n_annotators")}


def _intervals(levels: dict[Level, Estimate]) -> Result:
    names = (
        "ci_low",
        "ci_high",
        "se",
        "interval_kind",
        "replicates",
        "replicates_left_out",
        "p_below_667",
        "p_below_800",
    )
    return Result(
        {
            level: Result({name: found.details[name] for name in names if name in found.details})
            for level, found in levels.items()
        }
    )


def _icc(data: Ratings) -> Result:
    forms = icc(data)
    assert isinstance(forms, Result)
    return Result({name: spelled(value, "f", "df1", "df2", "p_value") for name, value in forms.items()})


def _left_out(row: Result) -> Result:
    return Result(
        annotator=row.annotator,
        n_ratings=row.n_ratings,
        ordinal=row.alpha,
        difference=spelled(row.difference, "p_value"),
    )


def _per_criterion(study: StudyFrames, replicates: int, seed: int) -> list[Result]:
    scored, width = study.scored, max(len(study.criteria), 1)
    model = study.shown_scores
    found = []
    for position, criterion in enumerate(study.criteria):
        own = scored[scored["unit"] % width == position]
        part = _part(study, own, replicates, seed)
        joined = with_llm(study.ratings(own), model[model.index % width == position])
        levels = bootstrap_levels(joined, SHOWN, 0, seed=seed)
        found.append(Result({"criterion": criterion}, **part, humans_and_llm=Result(**levels)))
    return found


def with_llm(people: Ratings, model: pd.Series[Any]) -> Ratings:
    """The people's ratings with the model as one more annotator."""
    own, shown = np.asarray(people.units, dtype=np.int64), model.index.to_numpy(dtype=np.int64)
    place = np.union1d(own, shown)
    units = np.concatenate([np.searchsorted(place, own)[people.unit], np.searchsorted(place, shown)])
    annotator = np.concatenate([people.annotator, np.full(len(model), people.n_annotators)])
    values = np.concatenate([people.numbers[people.code], model.to_numpy(dtype=float)])
    categories = np.union1d(people.numbers, model.to_numpy(dtype=float))
    return Ratings(
        (*people.annotators, LLM),
        list(place),
        categories,
        annotator,
        units,
        np.searchsorted(categories, values),
    )


def _parts(study: StudyFrames, column: str, replicates: int, seed: int) -> list[Result]:
    """Agreement within each system, group of annotators, or arm."""
    scored = study.scored
    if column == "system":
        scored = scored.assign(
            system=study.units["system"].to_numpy()[scored["unit"]] if len(scored) else None
        )
    names = list(scored[column].replace("", None).dropna().unique())
    if column == "arm":
        names = [arm for arm in (ASSISTED, BLIND, FIRST) if arm in names]
    return [
        Result({column: name, "name": name}, **_part(study, scored[scored[column] == name], replicates, seed))
        for name in names
    ]


def _part(study: StudyFrames, scored: pd.DataFrame, replicates: int, seed: int) -> dict[str, Any]:
    data = study.ratings(scored)
    levels = bootstrap_levels(data, SHOWN, replicates, seed=seed)
    ordinal = levels["ordinal"].details
    interval = {name: ordinal.get(name, np.nan) for name in ("ci_low", "ci_high", "p_below_667")}
    return {
        **_counts(data),
        "humans": Result(**levels),
        **interval,
        "interval_kind": ordinal.get("interval_kind"),
        "replicates_left_out": ordinal.get("replicates_left_out", 0),
        **other_coefficients(data),
    }


def _pairwise(people: Ratings, everyone: Ratings) -> Iterator[Result]:
    """Every two raters, the model last: the three alphas, a jackknife interval of the ordinal one, kappas."""
    everybody = people.n_annotators * (people.n_annotators - 1) / 2 <= MANY_PAIRS
    for a, b, n, alphas, details in _listed(people, everyone):
        if n or everybody:
            reason = "every score of both is the same" if n else "they share no unit"
            names: dict[str, Hashable] = {"a": a, "b": b}
            values = {
                level: Estimate.undefined(reason) if np.isnan(value) else Estimate(value)
                for level, value in alphas.items()
            }
            yield Result(names, n=n, **values, **details)


Listed = Iterator[tuple[Hashable, Hashable, int, dict[Level, float], dict[str, Any]]]


def _listed(people: Ratings, everyone: Ratings) -> Listed:
    """From tables; where the model's scores are near-continuous, its pairs without."""
    if len(everyone.categories) <= MANY:
        yield from _from_tables(everyone)
        return
    yield from _from_tables(people) if len(people.categories) <= MANY else _without_tables(people)
    if everyone.n_annotators > people.n_annotators:
        model = everyone.n_annotators - 1
        for k in range(model):
            yield from _without_tables(everyone.where(np.isin(everyone.annotator, (k, model))), (k, model))


def _from_tables(data: Ratings) -> Listed:
    names = data.annotators
    for block in pair_tables(data):
        alphas = {level: block.alphas(level) for level in SHOWN}
        low, high = block.alpha_limits("ordinal")
        more = {
            "percent": block.percents(),
            "cohen": block.kappas("identity"),
            "cohen_quadratic": block.kappas("quadratic"),
            "ci_low": low,
            "ci_high": high,
        }
        for k, n in enumerate(block.sizes):
            yield (
                names[block.a],
                names[block.a + 1 + k],
                int(n),
                {level: alphas[level][k] for level in SHOWN},
                {name: float(values[k]) for name, values in more.items()} | {"interval_kind": JACKKNIFE},
            )


def _without_tables(data: Ratings, only: tuple[int, int] | None = None) -> Listed:
    """The same for near-continuous scores, which have no tables: the alphas alone."""
    for a, b in [only] if only else combinations(range(data.n_annotators), 2):
        sample = sample_units(data.where(np.isin(data.annotator, (a, b))))
        yield (
            data.annotators[a],
            data.annotators[b],
            len(sample.times),
            {level: plain_alpha(sample, level) for level in SHOWN},
            dict.fromkeys(("percent", "cohen", "cohen_quadratic", "ci_low", "ci_high")),
        )
