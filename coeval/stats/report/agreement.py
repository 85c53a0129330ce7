"""The agreement section: how far people agree, with each other and with the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import counted
from coeval.stats.agreement.coefficients import fleiss_kappa, gwet_ac, percent_agreement
from coeval.stats.agreement.disagreement import Level
from coeval.stats.agreement.icc import icc
from coeval.stats.agreement.patterns import MANY
from coeval.stats.agreement.resampling import bootstrap_levels, leave_one_out
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.frames import ASSISTED, BLIND, FIRST, LLM, UNDRAFTED, StudyFrames, once
from coeval.stats.rating_matrix import Ratings
from coeval.stats.report.rater_pairs import SHOWN, list_pairs

COUNTS = ("n_units", "n_units_left_out", "n_ratings", "n_annotators")
OTHERS = ("ac1", "ac2", "percent", "fleiss")
"""The coefficients beside alpha."""


@once
def people_alphas(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> Result:
    """Alpha of people at three levels over all units (``humans``), and ``per_criterion``, a list in their order.

    It is there long before the rest of the section, which rests on it.
    """
    everybody = study.ratings(study.rated)
    parts = [
        bootstrap_levels(data, SHOWN, replicates, seed=seed)
        for data in (study.ratings(_of_criterion(study.rated, study, k)) for k in range(len(study.criteria)))
    ]
    return Result(humans=bootstrap_levels(everybody, SHOWN, replicates, seed=seed), per_criterion=parts)


def _of_criterion(scored: pd.DataFrame, study: StudyFrames, position: int) -> pd.DataFrame:
    return scored[scored["unit"] % max(len(study.criteria), 1) == position]


def agreement_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> Result:
    """Agreement over all units, an instance by a criterion each, and over parts of them.

    Where the model stands beside people, submissions shown a draft that was wrong on purpose are left out.

    Returns
    -------
    Result
        ``humans`` and ``humans_and_llm`` (alpha at three levels over all criteria's units), ``intervals`` (of
        both), ``p_below_667``, ``ac1``, ``ac2``, ``percent``, ``fleiss``, ``icc``, ``pairwise``,
        ``per_criterion`` (``ci_low`` and ``ci_high`` are of ordinal alpha), ``by_system``, ``by_group``,
        ``by_arm``, ``leave_one_out``, and the counts.
    """
    people, everyone = study.ratings(study.rated), study.ratings(study.genuine, llm=True)
    alone = people_alphas(study, replicates=replicates, seed=seed).humans
    whole = _part(people, alone)
    joined = bootstrap_levels(everyone, SHOWN, _affordable(everyone, replicates), seed=seed)
    return Result(
        humans=Result(**alone),
        humans_and_llm=Result(**joined),
        intervals=Result(humans=_intervals(alone), humans_and_llm=_intervals(joined)),
        p_below_667=whole["p_below_667"],
        **{name: whole[name] for name in (*COUNTS, *OTHERS)},
        icc=_icc(people),
        pairwise=list(list_pairs(study.ratings(study.genuine), everyone)),
        per_criterion=_per_criterion(study, replicates, seed),
        by_system=_parts(study, "system", whole, replicates, seed),
        by_group=_parts(study, "group", whole, replicates, seed),
        by_arm=_parts(study, "arm", whole, replicates, seed),
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
        return {name: spelled(nothing) for name in OTHERS}
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
    return {name: found[name] for name in COUNTS}


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
    model, alphas = study.shown_scores, people_alphas(study, replicates=replicates, seed=seed).per_criterion
    found = []
    for position, criterion in enumerate(study.criteria):
        part = _part(study.ratings(_of_criterion(study.rated, study, position)), alphas[position])
        genuine = study.ratings(_of_criterion(study.genuine, study, position))
        joined = with_llm(genuine, model[model.index % len(study.criteria) == position])
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


def _parts(
    study: StudyFrames, column: str, whole: dict[str, Any], replicates: int, seed: int
) -> list[Result]:
    """Agreement within each system, group of annotators, or arm; ``whole`` is that of all scores together."""
    scored = study.scored
    if column == "system":
        values = study.units["system"].to_numpy(dtype=object)[scored["unit"]]
    else:
        values = scored[column].to_numpy(dtype=object)
    names = list(pd.Series(values, dtype=object).replace("", None).dropna().unique())
    if column == "arm":
        names = [arm for arm in (ASSISTED, BLIND, FIRST, UNDRAFTED) if arm in names]
    found = []
    for name in names:
        own = values == name
        data = study.ratings(study.rated[own])
        part = whole if own.all() else _part(data, bootstrap_levels(data, SHOWN, replicates, seed=seed))
        found.append(Result({column: name, "name": name}, **part))
    return found


def _part(data: Ratings, levels: dict[Level, Estimate]) -> dict[str, Any]:
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
