"""The alignment section: every judge against people, and the judges against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.frames import ASSISTED, BLIND, CROWD, FIRST, RESEARCHER, StudyFrames, once
from coeval.stats.judges.alternative import EPSILONS, Labels, run_alt_test
from coeval.stats.judges.closeness import median_confusion, pairwise_accuracy
from coeval.stats.judges.correlation import correlations
from coeval.stats.rating_matrix import Ratings
from coeval.stats.report.comparisons import (
    Judge,
    compare_runs,
    competence_section,
    human_means,
    list_judges,
    mean_pairwise,
)

LEANED = "every score was given with the draft in view, and this needs scores given without it (blind or first arm)"
NO_LABELS = "no person has scored anything"


@dataclass(frozen=True)
class Reference:
    """The people's scores that judges are held against: ``kind`` says which, ``leaned`` if a draft was in view."""

    scored: pd.DataFrame
    kind: str
    leaned: bool

    def count(self, arm: str) -> int:
        """How many of the scores were given in an arm; of ``first`` these are the first scores, where not leaned."""
        return int((self.scored["arm"] == arm).sum())


@once
def choose_labels(study: StudyFrames) -> Reference:
    """The scores no draft can have led, blind and first ones, wherever there are any; else those of genuine drafts.

    A person counts once for a unit.
    """
    unaided = study.unaided
    if len(unaided):
        arms = set(unaided["arm"])
        return Reference(unaided, " and ".join(arm for arm in (BLIND, FIRST) if arm in arms), False)
    genuine = study.genuine
    return Reference(genuine, ASSISTED if len(genuine) else "none", len(genuine) > 0)


def alignment_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> Result:
    """Every run of drafts against people.

    People's score of a unit (an instance by a criterion) is the mean of theirs; ``labels`` says which were
    used: "blind", "first" (scores given before the draft was shown) or "blind and first" wherever there are any,
    since the draft pulls those who see it. Without them the descriptive figures use assisted scores, ``leaned``
    is true, and the alt-test is undefined. Drafts that were wrong on purpose are left out of all of it.

    Returns
    -------
    Result
        ``labels``, ``leaned``, ``n_labels`` with ``n_blind`` and ``n_first`` of them, ``epsilon``, ``runs`` (each
        with correlations, pairwise accuracy, confusion with the people's median, alt-test, consistency over
        samples, overall and ``per_criterion``), ``comparisons`` (Williams, permutation and bootstrap tests of
        every two runs by criterion), ``mean_pairwise_correlations`` (people and the model) and ``competence``
        (Dawid and Skene).
    """
    reference = choose_labels(study)
    people = study.ratings(reference.scored)
    epsilon, kind = _epsilon(reference.scored)
    judges = list_judges(study)
    return Result(
        labels=reference.kind,
        leaned=reference.leaned,
        n_labels=len(reference.scored),
        n_blind=reference.count(BLIND),
        n_first=0 if reference.leaned else reference.count(FIRST),
        human_score="mean of the people's scores of a unit",
        annotator_kind=kind,
        epsilon=epsilon,
        runs=[_judge(study, reference, people, judge, epsilon) for judge in judges],
        comparisons=compare_runs(study, reference.scored, judges, replicates, seed),
        mean_pairwise_correlations=mean_pairwise(study),
        competence=competence_section(study, people),
    )


def _epsilon(scored: pd.DataFrame) -> tuple[float, str]:
    groups = set(scored["group"])
    kind = {frozenset({RESEARCHER}): "expert", frozenset({CROWD}): "crowd"}.get(frozenset(groups), "skilled")
    return EPSILONS[kind], kind


def _judge(study: StudyFrames, reference: Reference, people: Ratings, judge: Judge, epsilon: float) -> Result:
    model, width = judge.scores, max(len(study.criteria), 1)
    parts = [
        Result(
            {"criterion": criterion},
            **_against(study, reference, people, model[model.index % width == k], epsilon, k),
        )
        for k, criterion in enumerate(study.criteria)
    ]
    return Result(
        {"run": judge.run, "label": judge.label, "shown": judge.shown},
        **_against(study, reference, people, model, epsilon),
        consistency=_consistency(study, judge.run),
        per_criterion=parts,
    )


def _against(
    study: StudyFrames,
    reference: Reference,
    people: Ratings,
    model: pd.Series[float],
    epsilon: float,
    criterion: int | None = None,
) -> dict[str, Any]:
    """One run against people, over all criteria or one."""
    items = human_means(reference.scored)
    both = items.index.intersection(model.index)
    named = study.units.iloc[both]
    human, machine = items[both].to_numpy(), model[both].to_numpy(dtype=float)
    found = correlations(human, machine, named["document"], named["system"])
    levels = {name: _trimmed(level) for name, level in found.items()}
    groups = None if named["document"].replace("", None).isna().all() else _document_of(named)
    return {
        "n_units": len(both),
        "correlations": Result(levels),
        "pairwise_accuracy": pairwise_accuracy(human, machine, groups),
        "confusion": _confusion(study, people, model, criterion),
        **_alt_tests(study, reference, model, epsilon),
    }


def _trimmed(level: Result) -> Result:
    return Result({name: value for name, value in level.items() if name != "kendall_tau_b"})


def _document_of(named: pd.DataFrame) -> list[Any]:
    """Pairs are compared within a document and a criterion."""
    return [
        None if document in (None, "") else (document, criterion)
        for document, criterion in zip(named["document"].tolist(), named["criterion"].tolist(), strict=True)
    ]


def _confusion(study: StudyFrames, people: Ratings, model: pd.Series[float], criterion: int | None) -> Result:
    width = max(len(study.criteria), 1)
    places = np.asarray(people.units, dtype=np.int64)
    own = places % width == criterion if criterion is not None else np.ones(len(places), dtype=bool)
    scores = model.reindex(places).to_numpy(dtype=float, copy=True)
    scores[~own] = np.nan
    found = median_confusion(people, scores)
    table = found.pop("table")
    rows = [
        {"people": people_score, "llm": model_score, "n": table.loc[people_score, model_score]}
        for people_score in table.index
        for model_score in table.columns
    ]
    return Result(found, cells=rows)


def _alt_tests(
    study: StudyFrames, reference: Reference, model: pd.Series[float], epsilon: float
) -> dict[str, Any]:
    """The alt-test on the model's scores as they are and, where they are not whole, also rounded."""
    if reference.leaned or not len(reference.scored):
        nothing = Estimate.undefined(LEANED if reference.leaned else NO_LABELS)
        return {
            "alt_test": Result(
                winning_rate=nothing,
                advantage_probability=nothing,
                p_values=[],
                epsilon=epsilon,
                passed=None,
                people=[],
                reason=nothing.reason,
            ),
            "alt_test_rounded": None,
        }
    labels = _labels(study, reference.scored, model)
    found: dict[str, Any] = {
        "alt_test": Result(run_alt_test(labels, epsilon, "rmse"), model_scores="as given"),
        "alt_test_rounded": None,
    }
    whole = np.round(labels.machine.astype(float))
    if (whole != labels.machine).any():
        rounded = Labels(labels.names, labels.person, labels.item, labels.label, whole, labels.items_left_out)
        found["alt_test_rounded"] = Result(run_alt_test(rounded, epsilon, "rmse"), model_scores="rounded")
    return found


def _labels(study: StudyFrames, scored: pd.DataFrame, model: pd.Series[float]) -> Labels:
    """The people's scores of the units that two of them and the model scored."""
    sizes = scored.groupby("unit")["score"].transform("size")
    kept = scored[(sizes > 1) & scored["unit"].isin(model.index)]
    items, item = np.unique(kept["unit"], return_inverse=True)
    who = np.unique(scored["who"])
    return Labels(
        [study.annotators[k] for k in who],
        np.searchsorted(who, kept["who"]),
        item,
        kept["score"].to_numpy(dtype=float),
        model[items].to_numpy(dtype=float),
        int(scored["unit"].nunique()) - len(items),
    )


def _consistency(study: StudyFrames, run: str) -> Result:
    """How much the samples behind a draft's score differ."""
    spread = (
        study.model_scores.loc[study.model_scores["run"].astype(str) == run, "spread"].dropna().astype(float)
    )
    if spread.empty:
        nothing = Estimate.undefined("this run has one sample of each draft")
        return Result(n=0, mean_sd=nothing, identical=nothing)
    return Result(n=len(spread), mean_sd=Estimate(spread.mean()), identical=Estimate((spread == 0).mean()))
