"""The sections on what people did: actions, score changes, time, behaviour, systems, the effect of assistance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.behaviour.actions import action_rates, four_behaviours, score_changes
from coeval.stats.behaviour.assistance import arm_alphas, catch_rates, draft_effects
from coeval.stats.behaviour.first_scores import first_effect
from coeval.stats.behaviour.times import drift, time_spent
from coeval.stats.estimates.later import special
from coeval.stats.estimates.prediction import ppi_mean
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.frames import ASSISTED, BLIND, FIRST, StudyFrames, is_planted, once
from coeval.stats.report.agreement import spelled
from coeval.stats.report.alignment import LEANED, choose_labels
from coeval.stats.report.comparisons import human_means


def actions_section(study: StudyFrames) -> Result:
    """Action rates on the drafted lines of assisted submissions, overall and by kind of line."""
    return action_rates(study.actions[study.actions["arm"] == ASSISTED])


def score_change_section(study: StudyFrames) -> Result:
    """How assisted people moved the drafted scores; drafts that were wrong on purpose are left out."""
    assisted = study.scores[study.scores["arm"] == ASSISTED]
    planted = is_planted(assisted)
    genuine = assisted[~planted]
    found = score_changes(genuine["score"], genuine["draft_score"])
    parts = [
        Result({"criterion": criterion}, **score_changes(part["score"], part["draft_score"]))
        for criterion, part in genuine.groupby("criterion", sort=False)
    ]
    order = {criterion: place for place, criterion in enumerate(study.criteria)}
    return Result(
        found,
        n_sown_left_out=int(planted.sum()),
        per_criterion=sorted(parts, key=lambda part: order.get(part["criterion"], len(order))),
    )


def time_section(study: StudyFrames) -> Result:
    """Seconds a criterion and minutes a sample, with idle time in and out, and by annotator and arm."""
    found = time_spent(study.scores)
    order = {criterion: place for place, criterion in enumerate(study.criteria)}
    found["per_criterion"].sort(key=lambda part: order.get(part["criterion"], len(order)))
    for column in ("annotator", "arm"):
        found[f"per_{column}"] = [
            Result(
                {column: name},
                n=int(part["wall_seconds"].notna().sum()),
                mean_seconds=_mean(part["wall_seconds"]),
                median_seconds=_median(part["wall_seconds"]),
            )
            for name, part in study.scores.groupby(column)
        ]
    return found


def _mean(values: pd.Series[Any]) -> float:
    return float(values.astype(float).mean())


def _median(values: pd.Series[Any]) -> float:
    return float(values.astype(float).median())


def behaviour_section(study: StudyFrames) -> Result:
    """The four behaviours, score distributions by source, and drift over the course of the work.

    Returns
    -------
    Result
        ``assisted``, ``blind`` and ``first`` (four behaviours with counts), ``definitions``, ``distributions``
        (how often each score was given, by source: people by arm, in the arm first both before and after the
        draft was shown, and the shown run; overall and by system) and ``drift``.
    """
    found = four_behaviours(study.scores)
    scored, model = study.scored, study.shown_scores.rename("score").reset_index()
    by_arm = {arm: scored[scored["arm"] == arm] for arm in (ASSISTED, BLIND, FIRST)}
    before = by_arm[FIRST].assign(score=by_arm[FIRST]["first_score"].astype(float)).dropna(subset=["score"])
    sources = {
        "people": scored,
        "people_assisted": by_arm[ASSISTED],
        "people_blind": by_arm[BLIND],
        "people_first_before": before,
        "people_first_after": by_arm[FIRST],
        "llm": model,
    }
    distributions = [row for source, frame in sources.items() for row in _distributions(study, source, frame)]
    moved = drift(study.scored)
    return Result(found, distributions=distributions, drift=moved.to_dict(orient="records"))


def _distributions(study: StudyFrames, source: str, frame: pd.DataFrame) -> list[Result]:
    """How often each score was given, overall (system None) and by system."""
    if not len(frame):
        return []
    parts: list[tuple[str | None, pd.Series[float]]] = [(None, frame["score"])]
    systems = study.units["system"].replace("", None).to_numpy()[frame["unit"].to_numpy()]
    parts += [(str(name), part) for name, part in frame["score"].groupby(systems, sort=False)]
    return [
        Result(
            source=source, system=system, n=len(values), mean=Estimate(values.mean()), counts=_counts(values)
        )
        for system, values in parts
    ]


def _counts(values: pd.Series[float]) -> dict[str, int]:
    return {f"{score:g}": int(n) for score, n in values.value_counts().sort_index().items()}


def systems_section(study: StudyFrames) -> list[Result]:
    """The systems by mean score: of people, of the shown run, and prediction-powered.

    Returns
    -------
    list of Result
        In the order of the instances: ``system``, ``n`` (people's scores), ``human_mean`` with ``human``
        (interval over units), ``llm_mean``, ``n_llm``, ``n_units`` and ``prediction_powered``: people's mean
        corrected by the model's scores of the units nobody scored without the draft, undefined where drafts
        were in view.
    """
    scored, model = study.scored, study.shown_scores
    systems = study.units["system"].replace("", None)
    reference = choose_labels(study)
    labelled = human_means(reference.scored)
    by_system = (
        dict(iter(scored.groupby(systems.to_numpy()[scored["unit"]], sort=False))) if len(scored) else {}
    )
    found = []
    for name in systems.dropna().unique():
        units = np.flatnonzero((systems == name).to_numpy())
        own, drafted = by_system.get(name, scored.iloc[:0]), model[model.index.isin(units)]
        found.append(
            Result(
                {
                    "system": name,
                    "n": len(own),
                    "human_mean": _average(own["score"], "no person scored this system"),
                    "llm_mean": _average(drafted, "no shown draft of this system has a score"),
                    "n_llm": len(drafted),
                    "n_units": int(own["unit"].nunique()),
                    "human": _interval(own),
                },
                prediction_powered=_powered(reference.leaned, labelled[labelled.index.isin(units)], drafted),
            )
        )
    return found


def _average(values: pd.Series[float], reason: str) -> Estimate:
    return Estimate(values.astype(float).mean(), n=len(values)) if len(values) else Estimate.undefined(reason)


def _interval(own: pd.DataFrame) -> Result:
    """The people's mean over units, each unit counting once, with a t interval over units."""
    means = np.asarray(human_means(own), dtype=float)
    if len(means) < 2:
        return spelled(Estimate.undefined("fewer than two units were scored"))
    se = float(means.std(ddof=1) / np.sqrt(len(means)))
    half, middle = float(special.stdtrit(len(means) - 1, 0.975)) * se, float(means.mean())
    return spelled(
        Estimate(middle, ci_low=middle - half, ci_high=middle + half, se=se, interval_kind="over units, t")
    )


def _powered(leaned: bool, labelled: pd.Series[float], drafted: pd.Series[float]) -> Result:
    if leaned:
        return spelled(Estimate.undefined(LEANED))
    both = labelled.index.intersection(drafted.index)
    rest = drafted.index.difference(labelled.index)
    return spelled(
        ppi_mean(labelled[both].to_numpy(), drafted[both].to_numpy(), drafted[rest].to_numpy()),
        "lam",
        "n",
        "n_unlabeled",
        "classical",
    )


@once
def draft_effects_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> Result:
    """Adoption, distance and pull alone, as the assistance section has them, and there much sooner."""
    found = draft_effects(study.scored, replicates=replicates, seed=seed)
    counts = ("n_assisted", "n_blind", "n_shifted", "n_instances", "replicates", "replicates_left_out")
    return Result({name: spelled(value, "p_value", *counts) for name, value in found.items()})


def assistance_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> Result:
    """How far the draft moved people: adoption, distance, pull, alphas by arm, catch rates of planted errors.

    ``first`` has those who scored before they saw the draft (``first_effect``).
    """
    effects = draft_effects_section(study, replicates=replicates, seed=seed)
    found = Result(effects, **arm_alphas(study.scored, replicates=replicates, seed=seed))
    found["alpha_difference"] = spelled(found["alpha_difference"], "p_value", "n_units_a", "n_units_b")
    planted = catch_rates(study.scored)
    found["sown"] = Result(
        planted,
        caught=spelled(planted["caught"]),
        lines=Result(planted["lines"], caught=spelled(planted["lines"]["caught"])),
        per_annotator=[Result(row, caught=spelled(row["caught"])) for row in planted["per_annotator"]],
    )
    first = first_effect(study.scored, replicates=replicates, seed=seed)
    found["first"] = Result(first, adoption=spelled(first["adoption"], "p_value", "replicates"))
    return found


def quotes_section(study: StudyFrames) -> Result:
    """How many passages the drafts quote, and the share that is not in the text: over all runs, by run, by criterion.

    Returns
    -------
    Result
        ``n``, ``not_found``, ``share``; ``per_run``: a list of ``run``, ``label`` and the same, each with
        ``per_criterion``.
    """
    runs = [
        Result(
            {"run": str(run), "label": str(part["run_label"].iloc[0])},
            **_quoted(part),
            per_criterion=[
                Result({"criterion": criterion}, **_quoted(own))
                for criterion, own in part.groupby("criterion", sort=False)
            ],
        )
        for run, part in study.quotes.groupby("run", sort=False)
    ]
    return Result(_quoted(study.quotes), per_run=runs)


def _quoted(part: pd.DataFrame) -> dict[str, Any]:
    n, lost = int(part["n"].sum()), int(part["not_found"].sum())
    share = Estimate(lost / n, n=n) if n else Estimate.undefined("no draft quotes the text")
    return {"n": n, "not_found": lost, "share": share}
