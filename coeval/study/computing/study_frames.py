"""What a task's statistics are computed from, read from the store column by column."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from coeval.domain import Task
from coeval.stats.frames import ACTION_COLUMNS, COMPARISON_COLUMNS, DRAFT_COLUMNS, QUOTE_COLUMNS, StudyFrames
from coeval.store import Database
from coeval.store.queries import criteria
from coeval.store.queries.bulk import reports
from coeval.store.queries.drafting import drafts
from coeval.store.queries.people import people
from coeval.store.queries.people.members import list_groups
from coeval.study.computing.column_blocks import (
    Block,
    is_among,
    named,
    read_columns,
    read_flags,
    read_numbers,
    read_small,
    read_times,
    read_whole,
)

NO_ACTIONS = pd.DataFrame(columns=list(ACTION_COLUMNS))
MORE = {
    "actions": (reports.ACTIONS, ACTION_COLUMNS),
    "quotes": (reports.QUOTES, QUOTE_COLUMNS),
    "comparisons": (reports.COMPARISONS, COMPARISON_COLUMNS),
}
"""Tables that few statistics look at, with their queries and columns: each is read when one asks for it."""

SCORE_KINDS: dict[str, Block] = {
    "annotator": read_whole,
    "instance": read_whole,
    "criterion": read_whole,
    "what": read_small,
    "score": read_numbers,
    "draft_score": read_numbers,
    "shown_score": read_numbers,
    "first_score": read_numbers,
    "active_ms": read_numbers,
    "opened_at": read_times,
    "submitted_at": read_times,
}


class TaskFrames:
    """The frames of a task as they are read: the scores first, a table of ``MORE`` when it is asked for."""

    def __init__(self, task: Task, version: int | None = None) -> None:
        self.task = task
        self.version = version
        self._known: dict[tuple[str, ...], StudyFrames] = {}
        self._more: dict[str, pd.DataFrame] = {}

    def get(self, db: Database, tables: Sequence[str] = ()) -> StudyFrames:
        """The frames with these further tables, the others empty; ``db`` is asked for what was not read yet."""
        key = tuple(tables)
        if key not in self._known:
            self.read_more(db, key)
            more: dict[str, Any] = {name: self._more[name] for name in key}
            self._known[key] = (
                replace(self.get(db), **more) if key else _read_scores(db, self.task, self.version)
            )
        return self._known[key]

    def read_more(self, db: Database, tables: Sequence[str] = tuple(MORE)) -> None:
        """Read further tables now, for whoever may ask for them later."""
        for name in tables:
            if name not in self._more:
                self._more[name] = _read_more(db, self.task, name, self.version)


def _read_scores(db: Database, task: Task, version: int | None) -> StudyFrames:
    """The frames without the tables of ``MORE``, by a version of the criteria; the newest where none is named."""
    current = criteria.get_criteria_set(db, task.id, version)
    set_id = current.id if current else 0
    members = current.criteria if current else ()
    ids, instances = _read_instances(db, task)
    texts = {criterion.id: criterion.text for criterion in members}
    names = dict(zip(ids, instances["instance"], strict=True))
    return StudyFrames(
        task=task.slug,
        criteria=[criterion.text for criterion in members],
        scales={criterion.text: (criterion.scale.low, criterion.scale.high) for criterion in members},
        instances=instances,
        scores=_read_saved(db, task, set_id, names, texts),
        actions=NO_ACTIONS,
        drafts=_read_drafts(db, task, set_id, names, texts),
    )


def _read_more(db: Database, task: Task, name: str, version: int | None) -> pd.DataFrame:
    sql, columns = MORE[name]
    current = criteria.get_criteria_set(db, task.id, version)
    rows = list(reports.read(db, sql, task=task.id, criteria_set=current.id if current else 0))
    kinds = {"n": np.int64, "preference": float}
    return pd.DataFrame(rows, columns=list(columns)).astype(
        {key: kinds[key] for key in columns if key in kinds}
    )


def _read_instances(db: Database, task: Task) -> tuple[list[int], pd.DataFrame]:
    columns = read_columns(reports.read(db, reports.INSTANCES, task=task.id), {"id": read_whole})
    ids = columns.pop("id").tolist()
    return ids, pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})


def _read_saved(
    db: Database, task: Task, criteria_set: int, instances: dict[int, str], texts: dict[int, str]
) -> pd.DataFrame:
    """A row for each latest submission; every name and text in it is kept once."""
    result = reports.read(db, reports.SCORES, task=task.id, criteria_set=criteria_set)
    columns: dict[str, Any] = read_columns(result, SCORE_KINDS)
    own = is_among(columns["instance"], instances) & is_among(columns["criterion"], texts)
    if not own.all():
        columns = {name: column[own] for name, column in columns.items()}
    everybody = people.list_people(db)
    what = columns.pop("what")
    columns["group"] = named(columns["annotator"], list_groups(db))
    columns["annotator"] = named(columns["annotator"], {person.id: person.name for person in everybody})
    columns["instance"] = named(columns["instance"], instances)
    columns["criterion"] = named(columns["criterion"], texts)
    columns["arm"] = named(what & 3, reports.ARMS)
    columns["planted_error"] = named(what >> 2 & 3, reports.PLANTED)
    columns["planted_score"] = np.asarray(columns["planted_error"] == "score")
    columns["line_caught"] = np.array(reports.CAUGHT, dtype=float)[what >> 4]
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
        "samples_json": _read_spreads,
    }
    result = reports.read(db, reports.DRAFTS, task=task.id, criteria_set=criteria_set)
    columns: dict[str, Any] = read_columns(result, kinds)
    labels = {run.id: run.label for run in drafts.list_runs(db, task.id)}
    columns["run_label"] = named(columns["run"], labels)
    columns["instance"] = named(columns["instance"], instances)
    columns["criterion"] = named(columns["criterion"], texts)
    columns["spread"] = columns.pop("samples_json")
    return pd.DataFrame({name: columns.pop(name) for name in DRAFT_COLUMNS}, copy=False)


def _read_spreads(values: tuple[str | None, ...]) -> Any:
    """Standard deviation over each draft's samples (n - 1); NaN under two samples."""
    spreads = np.full(len(values), np.nan)
    for place, samples_json in enumerate(values):
        if samples_json is not None and len(samples := json.loads(samples_json)) > 1:
            spreads[place] = np.std(samples, ddof=1)
    return spreads
