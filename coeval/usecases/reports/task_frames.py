"""Read the tables for a task's statistics, column by column."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from coeval.domain import Criterion, Origin, Task
from coeval.rules.screening import Saves
from coeval.stats.frames import (
    ACTION_COLUMNS,
    COMPARISON_COLUMNS,
    DRAFT_COLUMNS,
    REFERENCE_COLUMNS,
    VOTE_COLUMNS,
    StudyFrames,
)
from coeval.store import Database
from coeval.store.queries import criteria, drafts, people, reports, review
from coeval.store.queries.people import list_groups

# Query results as columns of a table, block by block: no row and no text is stored twice.

Block = Callable[[tuple[Any, ...]], npt.NDArray[Any]]
"""Converts some values of one column into an array."""


def named(ids: npt.NDArray[Any], names: Mapping[int, str]) -> pd.Categorical:
    """Return a column of ids as a column of names."""
    codes, present = pd.factorize(ids)
    return _categories(codes, [names[code] for code in present.tolist()])


def _categories(codes: npt.NDArray[Any], names: Sequence[str]) -> pd.Categorical:
    """Return a categorical column with the name of each code; the categories are sorted."""
    order = sorted(set(names))
    place = {name: number for number, name in enumerate(order)}
    kind = np.int8 if len(order) < 128 else np.int32
    moved = np.array([place[name] for name in names], dtype=kind)
    codes = moved[codes] if len(moved) else codes.astype(kind)
    return pd.Categorical.from_codes(codes, categories=pd.Index(order, dtype=object))


def read_numbers(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Return numbers as an array, with nan for missing ones."""
    if _are_missing(values):
        return np.full(len(values), np.nan)
    try:
        return np.fromiter(values, float, len(values))
    except TypeError:  # some are missing
        return np.array(values, dtype=float)


def read_whole(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    return np.fromiter(values, np.int64, len(values))


def read_flags(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    return np.array(values, dtype=bool)


def read_texts(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    texts = np.empty(len(values), dtype=object)
    texts[:] = values
    return texts


def read_times(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Return ISO 8601 times as UTC, to the millisecond; NaT if missing."""
    if _are_missing(values):
        return np.full(len(values), "NaT", dtype="datetime64[ms]")
    texts = np.array(values, dtype="S24")
    if (
        texts.view("S1").reshape(-1, 24)[:, 23] == b"Z"
    ).all():  # as CoEval writes them; NumPy reads these fast
        return texts.astype("S23").astype("datetime64[ms]")
    # pandas' cache of repeated times costs more than the times of one block
    moments = pd.to_datetime(list(values), format="ISO8601", utc=True, cache=False)
    return np.asarray(moments.tz_localize(None).to_numpy(), dtype="datetime64[ms]")


def _are_missing(values: tuple[Any, ...]) -> bool:
    """Return whether every value is missing, as in columns that few studies use."""
    return bool(values) and values[0] is None and values.count(None) == len(values)


def read_columns(result: reports.Result, kinds: Mapping[str, Block]) -> dict[str, npt.NDArray[Any]]:
    """Return every column of a query result; columns that ``kinds`` does not name are texts."""
    readers = [kinds.get(name, read_texts) for name in result.names]
    parts = [_Growing(reader(())) for reader in readers]
    for block in result.blocks():
        for part, reader, values in zip(parts, readers, zip(*block, strict=True), strict=True):
            part.add(reader(values))
    return {name: part.take() for name, part in zip(result.names, parts, strict=True)}


class _Growing:
    """A column that grows in place.

    Memory of many small blocks would stay with the process after they are freed.
    """

    def __init__(self, empty: npt.NDArray[Any]) -> None:
        self.values, self.size = np.empty(reports.BLOCK, dtype=empty.dtype), 0

    def add(self, block: npt.NDArray[Any]) -> None:
        end = self.size + len(block)
        if end > len(self.values):
            self._stretch(max(end, 3 * len(self.values) // 2))
        self.values[self.size : end] = block
        self.size = end

    def take(self) -> npt.NDArray[Any]:
        """Return the column, and release it from this object."""
        if len(self.values) > self.size:
            self._stretch(self.size)
        values, self.values = self.values, self.values[:0].copy()
        return values

    def _stretch(self, size: int) -> None:
        if self.values.dtype == object:
            self.values = np.concatenate(
                [self.values[:size], np.empty(max(0, size - len(self.values)), object)]
            )
        else:
            self.values.resize(size, refcheck=False)


def read_saves(db: Database, task: Task, *, by_arrival: bool = False) -> Saves:
    """Return the latest evaluations of each person, or of each submission to a crowd service, in the order of
    saving.
    """
    who, query = ("arrival", review.SAVES_BY_ARRIVAL) if by_arrival else ("annotator", review.SAVES)
    kinds = {who: read_whole, "active_ms": read_numbers}
    kinds |= dict.fromkeys(("bulk", "kept_all", "planted", "caught"), read_flags)
    columns = read_columns(reports.read(db, query, task=task.id), kinds)
    numbers = columns.pop(who)
    names = {person.id: person.name for person in people.list_people(db)}
    return Saves(
        names={number: str(number) for number in set(numbers.tolist())} if by_arrival else names,
        person=numbers,
        seconds=columns.pop("active_ms") / 1000,
        **columns,
    )


# The data of a task's statistics, read from the store column by column.

NO_ACTIONS = pd.DataFrame(columns=list(ACTION_COLUMNS))
MORE = {
    "actions": (reports.LINES, ACTION_COLUMNS),
    "comparisons": (reports.COMPARISONS, COMPARISON_COLUMNS),
    "references": (reports.ADJUDICATED, REFERENCE_COLUMNS),
    "votes": (reports.VOTES, VOTE_COLUMNS),
}
"""Tables that few statistics need, with their queries and columns; each is read on request."""

SCORE_KINDS: dict[str, Block] = {
    "id": read_whole,
    "annotator": read_whole,
    "instance": read_whole,
    "criterion": read_whole,
    "score": read_numbers,
    "draft_score": read_numbers,
    "shown_score": read_numbers,
    "first_score": read_numbers,
    "active_ms": read_numbers,
    "opened_at": read_times,
    "submitted_at": read_times,
}


class TaskFrames:
    """The frames of a task, read in steps: first the scores, then tables of ``MORE`` on request."""

    def __init__(self, task: Task, version: int | None = None) -> None:
        self.task = task
        self.version = version
        self._known: dict[tuple[str, ...], StudyFrames] = {}
        self._more: dict[str, pd.DataFrame] = {}
        self._ids = np.empty(0, np.int64)
        """The submissions behind the rows of the scores, ascending."""

    def get(self, db: Database, tables: Sequence[str] = ()) -> StudyFrames:
        """Return the frames with these further tables; the others are empty.

        ``db`` supplies tables that were not read yet.
        """
        key = tuple(tables)
        if key not in self._known:
            self.read_more(db, key)
            more: dict[str, Any] = {name: self._more[name] for name in key}
            if key:
                self._known[key] = replace(self.get(db), **more)
            else:
                self._known[key], self._ids = _read_scores(db, self.task, self.version)
        return self._known[key]

    def read_more(self, db: Database, tables: Sequence[str] = tuple(MORE)) -> None:
        """Read further tables now, for later requests."""
        for name in tables:
            if name in self._more:
                continue
            if name == "actions":
                self._more[name] = _read_actions(db, self.get(db), self._ids)
            else:
                self._more[name] = _read_more(db, self.task, name, self.version)


def _read_scores(db: Database, task: Task, version: int | None) -> tuple[StudyFrames, npt.NDArray[Any]]:
    """Return the frames without the tables of ``MORE``, and the ids of the scores.

    They are for a version of the criteria, by default the newest.
    """
    current = criteria.get_criteria_set(db, task.id, version)
    set_id = current.id if current else 0
    members = current.criteria if current else ()
    ids, instances = _read_instances(db, task)
    texts = {criterion.id: criterion.text for criterion in members}
    names = dict(zip(ids, instances["instance"], strict=True))
    scores = _read_saved(db, task, set_id, names, texts)
    submissions = scores.pop("id").to_numpy()
    study = StudyFrames(
        task=task.slug,
        criteria=[criterion.text for criterion in members],
        scales={criterion.text: (criterion.scale.low, criterion.scale.high) for criterion in members},
        instances=instances,
        scores=scores,
        actions=NO_ACTIONS,
        drafts=_read_drafts(db, task, set_id, names, texts),
        drafted_criteria=[criterion.text for criterion in members if criterion.origin is Origin.LLM],
        version=current.version if current else 0,
        drawn=_has_drawn(db, task, scores),
    )
    return study, submissions


def _has_drawn(db: Database, task: Task, scores: pd.DataFrame) -> bool:
    """Return whether everyone who scored has a queue here; imported scores come without one."""
    names = {person.id: person.name for person in people.list_people(db)}
    assigned = {names[number] for (number,) in reports.read(db, reports.ASSIGNED, task=task.id)}
    return bool(assigned) and assigned >= set(scores["annotator"].unique())


def _read_actions(db: Database, study: StudyFrames, submissions: npt.NDArray[Any]) -> pd.DataFrame:
    """Return the counts of actions on drafted lines, without drafts that have planted errors."""
    arm, arms = pd.factorize(study.scores["arm"])
    ends = (
        {"first": int(submissions[0]), "last": int(submissions[-1])}
        if len(submissions)
        else {"first": 1, "last": 0}
    )
    shape = len(reports.KINDS) * len(reports.ACTIONS)
    lines = read_columns(reports.read(db, reports.LINES, **ends), {"line": read_whole})["line"]
    row = np.searchsorted(submissions, lines // shape)
    counted = (submissions[row] == lines // shape) & (study.scores["planted_error"] == "").to_numpy()[row]
    codes, n = np.unique(arm[row[counted]] * shape + lines[counted] % shape, return_counts=True)
    keys: dict[str, Sequence[str]] = {"arm": list(arms), "kind": reports.KINDS, "action": reports.ACTIONS}
    places = np.unravel_index(codes, [max(1, len(order)) for order in keys.values()])
    columns = {
        name: [order[k] for k in place] for (name, order), place in zip(keys.items(), places, strict=True)
    }
    return pd.DataFrame(columns | {"n": n}, columns=list(ACTION_COLUMNS))


def _read_more(db: Database, task: Task, name: str, version: int | None) -> pd.DataFrame:
    sql, columns = MORE[name]
    current = criteria.get_criteria_set(db, task.id, version)
    rows = list(reports.read(db, sql, task=task.id, criteria_set=current.id if current else 0))
    if name == "references":
        rows += _read_reference_column(db, task, current.criteria if current else ())
    kinds = {"n": np.int64, "preference": float, "score": float}
    return pd.DataFrame(rows, columns=list(columns)).astype(
        {key: kinds[key] for key in columns if key in kinds}
    )


def _read_reference_column(
    db: Database, task: Task, members: Sequence[Criterion]
) -> list[tuple[str, str, float, str]]:
    """Return the numbers of the columns "reference score" (for one criterion) and "reference score: ...".

    Values that are not numbers on the criterion's scale are left out.
    """
    of_column = {f"{reports.REFERENCE}: {criterion.text}".casefold(): criterion for criterion in members}
    if len(members) == 1:
        of_column[reports.REFERENCE] = members[0]
    references = []
    for instance, context_json in reports.read(db, reports.WITH_REFERENCE, task=task.id):
        for column, text in json.loads(context_json).items():
            criterion = of_column.get(str(column).strip().casefold())
            if criterion is None:
                continue
            try:
                score = float(str(text))
            except ValueError:
                continue
            if criterion.scale.low <= score <= criterion.scale.high:
                references.append((str(instance), criterion.text, score, "a column of reference scores"))
    return references


def _read_instances(db: Database, task: Task) -> tuple[list[int], pd.DataFrame]:
    columns = read_columns(reports.read(db, reports.INSTANCES, task=task.id), {"id": read_whole})
    ids = columns.pop("id").tolist()
    return ids, pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})


def _read_saved(
    db: Database, task: Task, criteria_set: int, instances: dict[int, str], texts: dict[int, str]
) -> pd.DataFrame:
    """Return one row per latest submission; every name and text in it is stored once."""
    result = reports.read(db, reports.SCORES, task=task.id, criteria_set=criteria_set)
    columns: dict[str, Any] = read_columns(result, SCORE_KINDS)
    of_task = np.isin(columns["instance"], list(instances)) & np.isin(columns["criterion"], list(texts))
    if not of_task.all():
        columns = {name: column[of_task] for name, column in columns.items()}
    everybody = people.list_people(db)
    columns["group"] = named(columns["annotator"], list_groups(db))
    columns["annotator"] = named(columns["annotator"], {person.id: person.name for person in everybody})
    columns["instance"] = named(columns["instance"], instances)
    columns["criterion"] = named(columns["criterion"], texts)
    for name in ("arm", "planted_error"):
        codes, present = pd.factorize(columns[name])
        columns[name] = _categories(codes, present.tolist())
    columns["planted_score"] = np.asarray(columns["planted_error"] == "score")
    columns["wall_seconds"] = (columns["submitted_at"] - columns.pop("opened_at")) / np.timedelta64(1, "s")
    columns["active_seconds"] = columns.pop("active_ms") / 1000
    return pd.DataFrame(columns, copy=False)


def _read_drafts(
    db: Database, task: Task, criteria_set: int, instances: dict[int, str], texts: dict[int, str]
) -> pd.DataFrame:
    kinds: dict[str, Block] = {
        "run": read_whole,
        "instance": read_whole,
        "criterion": read_whole,
        "shown": read_flags,
        "score": read_numbers,
        "again": read_flags,
        "samples_json": _read_samples,
        "probabilities_json": _read_samples,
    }
    result = reports.read(db, reports.DRAFTS, task=task.id, criteria_set=criteria_set)
    columns: dict[str, Any] = read_columns(result, kinds)
    labels = {run.id: run.label for run in drafts.list_runs(db, task.id)}
    columns["run_label"] = named(columns["run"], labels)
    columns["instance"] = named(columns["instance"], instances)
    columns["criterion"] = named(columns["criterion"], texts)
    columns["samples"] = columns.pop("samples_json")
    columns["spread"] = _find_spreads(columns["samples"])
    deviation = _find_deviations(columns.pop("probabilities_json"))
    columns["uncertainty"] = np.where(np.isnan(deviation), columns["spread"], deviation)
    return pd.DataFrame({name: columns.pop(name) for name in (*DRAFT_COLUMNS, "again")}, copy=False)


def _read_samples(values: tuple[str | None, ...]) -> Any:
    """Return each draft's list of numbers (sample scores or probabilities); None for fewer than two."""
    samples = np.full(len(values), None, dtype=object)
    for place, samples_json in enumerate(values):
        if samples_json is not None and len(scores := json.loads(samples_json)) > 1:
            samples[place] = tuple(scores)
    return samples


def _find_spreads(samples: Any) -> Any:
    """Return the standard deviation over each draft's samples (n - 1); NaN for fewer than two."""
    return np.array([np.nan if scores is None else np.std(scores, ddof=1) for scores in samples], dtype=float)


def _find_deviations(probabilities: Any) -> Any:
    """Return the standard deviation of the score under each draft's probabilities; NaN if it has none."""
    deviations = np.full(len(probabilities), np.nan)
    for place, chances_of in enumerate(probabilities):
        if chances_of is not None:
            chances, steps = np.asarray(chances_of, dtype=float), np.arange(len(chances_of))
            deviations[place] = np.sqrt(chances @ (steps - chances @ steps) ** 2)
    return deviations
