"""The alignment section: every judge against people, and the judges against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.alternative import EPSILONS, Labels, run_alt_test
from coeval.stats.closeness import median_confusion, pairwise_accuracy
from coeval.stats.competence import dawid_skene
from coeval.stats.correlation import correlate, correlations, table_correlations
from coeval.stats.frames import ASSISTED, BLIND, CROWD, LLM, RESEARCHER, StudyFrames
from coeval.stats.judges import bootstrap_test, permutation_test, williams_test
from coeval.stats.pairs import pair_tables
from coeval.stats.patterns import MANY
from coeval.stats.ratings import Numbers, Ratings
from coeval.stats.report_agreement import spelled
from coeval.stats.results import Estimate, Result

LEANED = "every score was given with the draft in view, and this needs scores given without it (blind arm)"
NO_LABELS = "no person has scored anything"
MAX_RUNS = 10
"""More runs than this are compared with the shown one (or the first) only."""


@dataclass(frozen=True)
class Reference:
    """The people's scores that judges are held against: ``kind`` says which, ``leaned`` if a draft was in view."""

    scored: pd.DataFrame
    kind: str
    leaned: bool


def choose_labels(study: StudyFrames) -> Reference:
    """Blind scores wherever there are any beside assisted ones; else what there is, and whether it leaned."""
    scored = study.scored
    blind = scored[scored["arm"] == BLIND]
    if len(blind):
        return Reference(blind, BLIND, False)
    return Reference(scored, ASSISTED if len(scored) else "none", len(scored) > 0)


def alignment_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> Result:
    """Every run of drafts against people.

    People's score of a unit (an instance by a criterion) is the mean of theirs; ``labels`` says which were
    used: "blind" wherever there are any, since the draft pulls those who see it. Without a blind arm the
    descriptive figures use assisted scores, ``leaned`` is true, and the alt-test is undefined.

    Returns
    -------
    Result
        ``labels``, ``leaned``, ``n_labels``, ``epsilon``, ``runs`` (each with correlations, pairwise accuracy,
        confusion with the people's median, alt-test, consistency over samples, overall and ``per_criterion``),
        ``comparisons`` (Williams, permutation and bootstrap tests of every two runs by criterion),
        ``mean_pairwise_correlations`` (people and the model) and ``competence`` (Dawid and Skene).
    """
    reference = choose_labels(study)
    people = study.ratings(reference.scored)
    epsilon, kind = _epsilon(reference.scored)
    runs = _runs(study)
    return Result(
        labels=reference.kind,
        leaned=reference.leaned,
        n_labels=len(reference.scored),
        human_score="mean of the people's scores of a unit",
        annotator_kind=kind,
        epsilon=epsilon,
        runs=[_judge(study, reference, people, run, epsilon) for run in runs],
        comparisons=_comparisons(study, reference, runs, replicates, seed),
        mean_pairwise_correlations=mean_pairwise(study),
        competence=_competence(study, people),
    )


def _epsilon(scored: pd.DataFrame) -> tuple[float, str]:
    groups = set(scored["group"])
    kind = {frozenset({RESEARCHER}): "expert", frozenset({CROWD}): "crowd"}.get(frozenset(groups), "skilled")
    return EPSILONS[kind], kind


def _runs(study: StudyFrames) -> list[tuple[str, str, bool, pd.Series[float]]]:
    """Run, label, whether shown, and scores by unit."""
    found = []
    for run, part in study.model_scores.groupby("run", sort=False):
        scores = part.drop_duplicates("unit", keep="last").set_index("unit")["score"]
        found.append(
            (str(run), str(part["run_label"].iloc[0]), bool(part["shown"].astype(bool).any()), scores)
        )
    return found


def _judge(
    study: StudyFrames,
    reference: Reference,
    people: Ratings,
    run: tuple[str, str, bool, pd.Series[float]],
    epsilon: float,
) -> Result:
    name, label, shown, model = run
    width = max(len(study.criteria), 1)
    parts = [
        Result(
            {"criterion": criterion},
            **_against(study, reference, people, model[model.index % width == k], epsilon, k),
        )
        for k, criterion in enumerate(study.criteria)
    ]
    return Result(
        {"run": name, "label": label, "shown": shown},
        **_against(study, reference, people, model, epsilon),
        consistency=_consistency(study, name),
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


def human_means(scored: pd.DataFrame) -> pd.Series[float]:
    """The mean of the people's scores by unit code."""
    return scored.groupby("unit")["score"].mean()


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
    who, person = np.unique(kept["who"], return_inverse=True)
    return Labels(
        [study.annotators[k] for k in who],
        person,
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


def _comparisons(
    study: StudyFrames,
    reference: Reference,
    runs: Sequence[tuple[str, str, bool, pd.Series[float]]],
    replicates: int,
    seed: int,
) -> list[Result]:
    """Every two runs by criterion, on the units that both and people scored."""
    pairs = list(combinations(runs, 2))
    if len(runs) > MAX_RUNS:
        main = next((run for run in runs if run[2]), runs[0])
        pairs = [(main, run) for run in runs if run is not main]
    items, width = human_means(reference.scored), max(len(study.criteria), 1)
    found = []
    for a, b in pairs:
        both = items.index.intersection(a[3].index).intersection(b[3].index)
        for k, criterion in enumerate(study.criteria):
            own = both[both % width == k]
            human, one, other = (np.asarray(side[own], dtype=float) for side in (items, a[3], b[3]))
            found.append(
                Result(
                    {"a": a[1], "b": b[1], "run_a": a[0], "run_b": b[0], "criterion": criterion},
                    **_compared(human, one, other, replicates, seed),
                )
            )
    return found


def _compared(human: Numbers, a: Numbers, b: Numbers, replicates: int, seed: int) -> dict[str, Any]:
    r_a, r_b, r_ab = (
        correlate(human, a, "pearson"),
        correlate(human, b, "pearson"),
        correlate(a, b, "pearson"),
    )
    permuted = permutation_test(human, a, b, replicates=replicates, seed=seed)
    booted = bootstrap_test(human, a, b, replicates=replicates, seed=seed)
    return {
        "n": len(human),
        "r_a": r_a,
        "r_b": r_b,
        "r_ab": r_ab,
        "williams": williams_test(r_a, r_b, r_ab, len(human)),
        "permutation": Result(
            {name: permuted[name] for name in ("difference", "p_value", "exact", "replicates")}
        ),
        "bootstrap": spelled(booted, "p_value", "replicates_left_out"),
    }


def mean_pairwise(study: StudyFrames) -> Result:
    """Mean correlation over pairs of raters: people by arm, and the shown run with people (paper, table 8).

    Pairs are correlated over all criteria's units together; pairs that share fewer than two units, or in which
    one side never varies, are left out and counted.
    """
    found = Result()
    scored = study.scored
    for name, part in (
        ("people", scored),
        ("people_assisted", scored[scored["arm"] == ASSISTED]),
        ("people_blind", scored[scored["arm"] == BLIND]),
    ):
        everyone = study.ratings(part, llm=True)
        rows = _pair_correlations(everyone)
        with_llm = rows["b"] == LLM
        found[name] = _averaged(rows[~with_llm])
        found[name.replace("people", LLM, 1)] = _averaged(rows[with_llm])
    return found


def _pair_correlations(data: Ratings) -> pd.DataFrame:
    rows = []
    if len(data.categories) <= MANY:
        for block in pair_tables(data):
            values = table_correlations(block.tables, data.numbers)
            rows += [
                {
                    "b": data.annotators[block.a + 1 + k],
                    **{name: column[k] for name, column in values.items()},
                }
                for k in range(len(block.tables))
            ]
        return pd.DataFrame(rows, columns=["b", "pearson", "spearman", "kendall"])
    table = data.table()
    for a, b in combinations(range(data.n_annotators), 2):
        both = ~np.isnan(table[a]) & ~np.isnan(table[b])
        rows.append(
            {
                "b": data.annotators[b],
                **{
                    method: correlate(table[a, both], table[b, both], method)
                    for method in ("pearson", "spearman", "kendall")
                },
            }
        )
    return pd.DataFrame(rows, columns=["b", "pearson", "spearman", "kendall"])


def _averaged(rows: pd.DataFrame) -> Result:
    used = rows.dropna(subset=["pearson"])
    reason = "no two raters share units on which both vary"
    means = {
        method: Estimate(used[method].mean()) if len(used) else Estimate.undefined(reason)
        for method in ("pearson", "spearman", "kendall")
    }
    return Result(means, n_pairs=len(used), n_pairs_left_out=len(rows) - len(used))


def _competence(study: StudyFrames, people: Ratings) -> Result:
    """Dawid and Skene's chance that a person's score is right, over all units."""
    if people.n_annotators < 3 or len(people.categories) > 20:
        reason = "fewer than three people" if people.n_annotators < 3 else "more than 20 different scores"
        return Result(reason=reason, annotators=[])
    found = dawid_skene(people, tolerance=1e-3, max_iterations=100)
    rated = np.bincount(people.annotator, minlength=people.n_annotators)
    sizes = dict(zip(people.annotators, rated.tolist(), strict=True))
    rows = [
        {"annotator": name, "n": sizes[name], "competence": value} for name, value in found.competence.items()
    ]
    return Result(reason=None, annotators=rows, converged=found.converged, n_iterations=found.n_iterations)
