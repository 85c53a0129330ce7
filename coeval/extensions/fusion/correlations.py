"""How fused scores and the scores of assistants agree with people, and how closely a fused run follows assistants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from coeval.domain import Person
from coeval.errors import InputError
from coeval.llm.reading.evaluations import OVERALL
from coeval.stats import Table
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.correlation import LEVELS, LevelCorrelations, correlations
from coeval.stats.judges.vector_correlation import METHODS
from coeval.stats.report.model_vs_model import human_means
from coeval.stats.report.model_vs_people import choose_labels
from coeval.stats.report.tables import make_table
from coeval.store.queries import drafts
from coeval.usecases.access import TEAM, Context, require_task, use_case
from coeval.usecases.reports.statistics import get_reading

FUSED = "fused run"
"""The name of the run among the assistants."""

COLUMNS = ("criterion", "judge", "level", "n", *METHODS, "reason")


@dataclass(frozen=True, slots=True)
class FusedRun:
    """The scores of a fused run and of its assistants: a row for each instance, a column for each criterion or name."""

    label: str
    fused: pd.DataFrame
    assistants: pd.DataFrame


@use_case(TEAM)
def correlate_run(context: Context, person: Person, slug: str, label: str) -> list[Table]:
    """Return how closely a fused run and its assistants agree with people, and the run with its assistants.

    ``overall`` is listed like a criterion. For the run, it is the model's own rating of the whole; for people, it is
    their scores of the criterion of this name, or else their mean over the criteria (Fusion-Eval, tables 2 and 3).

    Raises:
        InputError: the task has no such run, or it used no assistants.
    """
    run = _read_run(context, slug, label)
    tables: list[Table] = get_reading(context, person, slug, newest=True).compute(
        partial(build_tables, run=run)
    )
    return tables


def build_tables(study: StudyFrames, *, run: FusedRun) -> list[Table]:
    """Return the two tables of ``correlate_run``."""
    labels = choose_labels(study)
    rows = list(_against_people(study, run, _average_people(study, human_means(labels.scored))))
    return [
        make_table(
            "fused_people",
            "Agreement with people",
            f"Correlations with the people's mean, from {labels.kind} scores: of all outputs, within documents (then "
            "averaged), and of the means of systems. The fused run's overall is its own rating of the whole; the "
            "people's is a criterion of this name, or else their mean over the criteria.",
            rows,
            COLUMNS,
        ),
        make_table(
            "fused_assistants",
            "Agreement of the fused run with its assistants",
            "A correlation near 1 means that the run repeats the assistant (Fusion-Eval, tables 4 to 7).",
            list(_against_assistants(study, run)),
            COLUMNS,
        ),
    ]


def _read_run(context: Context, slug: str, label: str) -> FusedRun:
    with context.store.read() as db:
        task = require_task(db, slug)
        run = drafts.get_run(db, task.id, label)
        names = [str(name) for name in run.params.get("assistants", [])] if run else []  # type: ignore[attr-defined]
        if run is None or not names:
            raise InputError(f"The task has no run “{label}” with assistants: name a fused run.")
        scores = {name: drafts.get_assistant_scores(db, task.id, name) for name in names}
        fused = pd.DataFrame(drafts.list_scores(db, run.id), columns=["instance", "criterion", "score"])
        whole = drafts.list_overall(db, run.id)
    table = fused.pivot(index="instance", columns="criterion", values="score")
    if whole:
        table = table.join(pd.Series(whole, name=OVERALL), how="outer")
    return FusedRun(label, table, pd.DataFrame(scores))


def _average_people(study: StudyFrames, means: pd.Series[float]) -> pd.DataFrame:
    """Return people's means: a row for each instance, a column for each criterion and for the whole."""
    scored = study.units.loc[means.index].assign(score=means)
    table = scored.pivot(index="instance", columns="criterion", values="score")
    table = table.reindex(columns=[name for name in study.criteria if name in table])
    named = next((name for name in table.columns if str(name).strip(" .").casefold() == OVERALL), None)
    whole = table.mean(axis=1, skipna=False) if named is None else table[named]
    return table.assign(**{OVERALL: whole})


def _against_people(study: StudyFrames, run: FusedRun, people: pd.DataFrame) -> Iterator[dict[str, object]]:
    for criterion in people.columns:
        judges: dict[str, pd.Series[float]] = {}
        if criterion in run.fused:
            judges[FUSED] = run.fused[criterion]
        judges |= {str(name): run.assistants[name] for name in run.assistants}
        for name, scores in judges.items():
            yield from _correlate(study, str(criterion), name, people[criterion], scores, LEVELS)


def _against_assistants(study: StudyFrames, run: FusedRun) -> Iterator[dict[str, object]]:
    for criterion in run.fused.columns:
        for name in run.assistants.columns:
            sides = run.fused[criterion], run.assistants[name]
            yield from _correlate(study, str(criterion), str(name), *sides, ("dataset", "system"))


def _correlate(
    study: StudyFrames,
    criterion: str,
    judge: str,
    first: pd.Series[float],
    second: pd.Series[float],
    levels: Sequence[str],
) -> Iterator[dict[str, object]]:
    """Yield a row for each level: the correlations of two columns of scores over the instances that have both."""
    instances = study.instances.drop_duplicates("instance").set_index("instance")
    sides = [side.reindex(instances.index).astype(float).to_numpy() for side in (first, second)]
    groups = [instances[name].replace("", None) for name in ("document", "system")]
    measured = correlations(*sides, *(group if group.notna().any() else None for group in groups))
    for level in levels:
        yield {"criterion": criterion, "judge": judge, "level": level, **_tell(getattr(measured, level))}


def _tell(of_level: LevelCorrelations) -> Mapping[str, object]:
    values = {method: float(getattr(of_level, method)) for method in METHODS}
    reason = (of_level.pearson.reason or "") if np.isnan(values["pearson"]) else ""
    return {"n": of_level.n, **values, "reason": reason}
