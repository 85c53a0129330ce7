"""Submissions to statistics: one read, then pure functions, whose results are kept until something changes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from coeval.domain import Person, Task
from coeval.errors import InputError
from coeval.safe_csv import to_csv
from coeval.stats import build_report, methods_paragraph, paper_tables, tables_latex, tables_markdown
from coeval.stats.frames import ACTION_COLUMNS, StudyFrames
from coeval.store import Database, Store
from coeval.store.queries import criteria
from coeval.store.queries.bulk import reports
from coeval.store.queries.people import people
from coeval.store.queries.people.members import list_groups
from coeval.study.access import TEAM, Context, require_task, use_case

NO_ACTIONS = pd.DataFrame(columns=list(ACTION_COLUMNS))
MORE = {"actions": reports.ACTIONS, "quotes": reports.QUOTES}
"""Tables that few statistics look at: each is read when the first of them is asked for."""

NUMBERS = ("score", "draft_score", "shown_score", "first_score", "active_ms", "line_caught")


@use_case(TEAM)
def get_frames(context: Context, person: Person, slug: str) -> StudyFrames:
    """See a task's scores, actions and drafts, as the statistics take them."""
    return _get_reading(context, slug).frames(context.store, tuple(MORE))


@use_case(TEAM)
def get_statistic(
    context: Context,
    person: Person,
    slug: str,
    statistic: Callable[[StudyFrames], Any],
    *,
    tables: Sequence[str] = (),
) -> Any:
    """See a statistic of a task: computed once, and again only after something was saved.

    Args:
        statistic: a pure function of the frames, defined in a module.
        tables: which of the tables of ``MORE`` it looks at; without them it finds these empty.
    """
    return _get_reading(context, slug).get(context.store, statistic, tuple(tables))


@use_case(TEAM)
def get_report(context: Context, person: Person, slug: str) -> dict[str, Any]:
    """See every statistic of a task in one document, as ``stats --json`` prints it."""
    report: dict[str, Any] = get_statistic(context, person, slug, build_report, tables=tuple(MORE))
    return report


@use_case(TEAM)
def get_paper_tables(context: Context, person: Person, slug: str) -> dict[str, str | pd.DataFrame]:
    """Download the paper's tables with a methods paragraph: file names to texts, or to what a CSV holds."""
    report, frames = get_report(context, person, slug), get_frames(context, person, slug)
    with context.store.read() as db:
        votes = _frame(reports.read(db, reports.VOTES, task=require_task(db, slug).id))
    tables = paper_tables(frames, report, votes if len(votes) else None)
    texts: dict[str, str | pd.DataFrame] = {
        "methods.md": methods_paragraph(frames, report) + "\n",
        "tables.md": tables_markdown(tables),
        "tables.tex": tables_latex(tables),
    }
    return texts | {f"{table.name}.csv": table.frame for table in tables}


@use_case(TEAM)
def get_table_files(context: Context, person: Person, slug: str, kind: str) -> dict[str, str]:
    """Print the paper's tables as csv, md or latex: file names to texts.

    Raises:
        InputError: for another kind.
    """
    tables = get_paper_tables(context, person, slug)
    if kind == "csv":
        return {name: to_csv(frame) for name, frame in tables.items() if isinstance(frame, pd.DataFrame)}
    names = {"md": ("methods.md", "tables.md"), "latex": ("tables.tex",)}.get(kind)
    if names is None:
        raise InputError(f"There is no format “{kind}” for tables; choose csv, md or latex.")
    return {name: str(tables[name]) for name in names}


@dataclass(slots=True)
class _Reading:
    """What was read of a task when ``fingerprint`` was its state, and what was computed from it since."""

    task: Task
    fingerprint: tuple[Any, ...]
    known: dict[tuple[str, ...], StudyFrames] = field(default_factory=dict)
    found: dict[Any, Any] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def get(self, store: Store, statistic: Callable[[StudyFrames], Any], tables: tuple[str, ...]) -> Any:
        """Two who ask at once wait for one computation, rather than make two."""
        with self.lock:
            if statistic not in self.found:
                self.found[statistic] = statistic(self.frames(store, tables))
            return self.found[statistic]

    def frames(self, store: Store, tables: tuple[str, ...]) -> StudyFrames:
        with self.lock:
            if tables not in self.known:
                plain = self.frames(store, ()) if tables else None
                with store.read() as db:
                    more: dict[str, Any] = {name: _read_more(db, self.task, name) for name in tables}
                    self.known[tables] = replace(plain, **more) if plain else _read_scores(db, self.task)
            return self.known[tables]


_READINGS: WeakKeyDictionary[Store, dict[int, _Reading]] = WeakKeyDictionary()
"""The newest reading of each task of each open file."""


def _get_reading(context: Context, slug: str) -> _Reading:
    with context.store.read() as db:
        task = require_task(db, slug)
        fingerprint = reports.get_fingerprint(db, task.id)
    readings = _READINGS.setdefault(context.store, {})
    known = readings.get(task.id)
    if known is None or known.fingerprint != fingerprint:
        known = readings[task.id] = _Reading(task, fingerprint)
    return known


def _read_scores(db: Database, task: Task) -> StudyFrames:
    """The frames without the actions."""
    current = criteria.get_criteria_set(db, task.id)
    set_id = current.id if current else 0
    members = current.criteria if current else ()
    instances = _frame(reports.read(db, reports.INSTANCES, task=task.id))
    scores = _frame(reports.read(db, reports.SCORES, task=task.id, criteria_set=set_id))
    everybody = people.list_people(db)
    named = scores.assign(
        annotator=_named(scores["annotator"], {person.id: person.name for person in everybody}),
        group=_named(scores["annotator"], list_groups(db)),
        instance=_named(scores["instance"], dict(zip(instances["id"], instances["instance"], strict=True))),
        criterion=_named(scores["criterion"], {criterion.id: criterion.text for criterion in members}),
    )
    return StudyFrames(
        task=task.slug,
        criteria=[criterion.text for criterion in members],
        scales={criterion.text: (criterion.scale.low, criterion.scale.high) for criterion in members},
        instances=instances.drop(columns="id"),
        scores=_timed(named),
        actions=NO_ACTIONS,
        drafts=_drafts(reports.read(db, reports.DRAFTS, task=task.id, criteria_set=set_id)),
    )


def _read_more(db: Database, task: Task, table: str) -> pd.DataFrame:
    current = criteria.get_criteria_set(db, task.id)
    set_id = current.id if current else 0
    return _frame(reports.read(db, MORE[table], task=task.id, criteria_set=set_id))


def _frame(result: reports.Result) -> pd.DataFrame:
    """The answer of a query; the columns of ``NUMBERS`` as numbers, nan where missing."""
    columns = {
        name: _column(name, values) for name, values in zip(result.names, result.columns(), strict=True)
    }
    return pd.DataFrame(columns)


def _column(name: str, values: list[Any]) -> Any:
    if name in NUMBERS:
        return np.array(values, dtype=float)
    whole = bool(values) and type(values[0]) is int
    return np.array(values, dtype=np.int64) if whole else pd.Series(values, dtype=object)


def _named(ids: pd.Series[Any], names: Mapping[int, str]) -> Any:
    """The name of each id."""
    known = np.array(list(names.values()), dtype=object)
    return known[pd.Index(list(names)).get_indexer(pd.Index(ids))] if len(ids) else ids.astype(object)


def _timed(scores: pd.DataFrame) -> pd.DataFrame:
    opened = pd.to_datetime(scores["opened_at"], format="ISO8601", utc=True)
    submitted = pd.to_datetime(scores["submitted_at"], format="ISO8601", utc=True)
    return scores.assign(
        planted_score=scores["planted_score"].astype(bool),
        wall_seconds=(submitted - opened).dt.total_seconds(),
        active_seconds=scores["active_ms"] / 1000,
    ).drop(columns=["active_ms"])


def _drafts(result: reports.Result) -> pd.DataFrame:
    drafts = _frame(result)
    drafts["shown"] = drafts["shown"].astype(bool)
    return drafts.assign(spread=drafts["samples_json"].map(_spread)).drop(columns=["samples_json"])


def _spread(samples_json: str) -> float:
    """Standard deviation over a draft's samples (n - 1); NaN under two samples."""
    samples = [] if samples_json == "[]" else json.loads(samples_json)
    return float(np.std(samples, ddof=1)) if len(samples) > 1 else float("nan")
