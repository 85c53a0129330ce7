"""The tables of error spans, with their queries.

Rows are only appended, and the newest is valid. The spans of a draft or a save are one JSON text, because they are
always read and written together, and a person's saves are deleted as whole rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from coeval.clock import now
from coeval.domain import Arm
from coeval.extensions.spans.rows import SpanRow, row_from_json, span_from_json
from coeval.extensions.spans.typology import Span, Typology, parse_typology
from coeval.store import Database
from coeval.store.engines.database import append_all, append_numbered, chunks, get_row, rows, scalar, to_json
from coeval.store.steps import begin_use, empty_before_use, read_steps

STEPS = read_steps("""
-- step spans_tables: settings, drafts and saves of error spans
-- The typology of a task, as JSON; the newest row of a task is in force.
CREATE TABLE spans_setting (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  typology_json TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX spans_setting_newest ON spans_setting(task, id);
-- One pass of a model over a task. The newest run of a task is the one that people see.
CREATE TABLE spans_run (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  label TEXT NOT NULL,
  model TEXT NOT NULL,
  settings_json TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (task, label)
) STRICT;
-- The spans that a run drafted for an instance; the newest row is in force. A reason says why nothing could be read.
CREATE TABLE spans_draft (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES spans_run(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  spans_json TEXT NOT NULL,
  reason TEXT NOT NULL,
  raw TEXT NOT NULL,
  rung TEXT NOT NULL, -- how the spans were obtained, as in draft; empty for an unreadable answer
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX spans_draft_newest ON spans_draft(run, instance, id);
CREATE INDEX spans_draft_by_instance ON spans_draft(instance);
-- One save of one person's spans of one instance. The highest revision counts, unless it was the first look.
CREATE TABLE spans_submission (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  draft INTEGER REFERENCES spans_draft(id),
  arm TEXT NOT NULL,
  first INTEGER NOT NULL CHECK (first IN (0, 1)), -- 1: marked before the draft was shown
  revision INTEGER NOT NULL,
  rows_json TEXT NOT NULL,
  score REAL,
  bulk INTEGER NOT NULL CHECK (bulk IN (0, 1)), -- 1: the rest was approved with one key
  opened_at TEXT NOT NULL, -- empty if unknown
  active_ms INTEGER,
  submitted_at TEXT NOT NULL,
  UNIQUE (annotator, instance, revision)
) STRICT;
CREATE INDEX spans_submission_by_instance ON spans_submission(instance);
CREATE INDEX spans_submission_by_draft ON spans_submission(draft) WHERE draft IS NOT NULL;
""")


@dataclass(frozen=True, slots=True)
class SpanDraft:
    """A run's draft for an instance; a ``reason`` means that the answer was unreadable. ``rung`` is as in ``Draft``."""

    instance: int
    spans: tuple[Span, ...]
    reason: str = ""
    raw: str = ""
    id: int = 0
    rung: str = ""


@dataclass(frozen=True, slots=True)
class SpanRun:
    """One run of a model over a task."""

    label: str
    model: str
    settings: dict[str, Any]
    created_by: str = ""
    created_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class SpanSubmission:
    """One save. ``first`` means that it was made before the draft was shown."""

    uid: str
    annotator: int
    instance: int
    draft: int | None
    arm: Arm
    revision: int
    rows: tuple[SpanRow, ...]
    score: float | None = None
    first: bool = False
    bulk: bool = False
    opened_at: str = ""
    active_ms: int | None = None
    submitted_at: str = ""

    @property
    def spans(self) -> tuple[Span, ...]:
        return tuple(row.span for row in self.rows if row.stays)


@empty_before_use("spans", lambda: None)
def get_typology(db: Database, task: int) -> Typology | None:
    """Return the typology of a task; None if people do not mark spans in it."""
    row = get_row(db, "SELECT * FROM spans_setting WHERE task = ? ORDER BY id DESC LIMIT 1", [task])
    return parse_typology(json.loads(row["typology_json"]), row["name"]) if row else None


def set_typology(db: Database, task: int, typology: Typology, by: str) -> None:
    """Set the current typology; earlier ones are kept."""
    begin_use(db, "spans")
    values = {"task": task, "name": typology.name, "typology_json": to_json(typology.to_json())}
    append_numbered(db, "spans_setting", values | {"set_by": by, "set_at": now()})


@empty_before_use("spans", int)
def count_saves(db: Database, task: int) -> int:
    sql = "SELECT count(*) FROM spans_submission s JOIN instance i ON i.id = s.instance WHERE i.task = ?"
    return int(scalar(db, sql, [task]))


def _run(row: dict[str, Any]) -> SpanRun:
    stored = {name: row[name] for name in ("label", "model", "created_by", "created_at", "id")}
    return SpanRun(**stored, settings=json.loads(row["settings_json"]))


def get_run(db: Database, task: int, label: str = "") -> SpanRun | None:
    """Return the run with that label, or without a label the newest run, which people see."""
    by_label = " AND label = :label" if label else ""
    sql = f"SELECT * FROM spans_run WHERE task = :task{by_label} ORDER BY id DESC LIMIT 1"
    row = get_row(db, sql, {"task": task} | ({"label": label} if label else {}))
    return _run(row) if row else None


@empty_before_use("spans", list)
def list_runs(db: Database, task: int) -> list[tuple[SpanRun, int, int]]:
    """Return the runs of a task, each with its numbers of drafts and of unreadable drafts."""
    listed = []
    for row in list(rows(db, "SELECT * FROM spans_run WHERE task = ? ORDER BY id", [task])):
        drafts = list(list_drafts(db, row["id"]))
        listed.append((_run(row), len(drafts), sum(bool(draft.reason) for draft in drafts)))
    return listed


def add_run(db: Database, task: int, run: SpanRun) -> SpanRun:
    values = {"task": task, "label": run.label, "model": run.model, "settings_json": to_json(run.settings)}
    number = append_numbered(db, "spans_run", values | {"created_by": run.created_by, "created_at": now()})
    return SpanRun(run.label, run.model, run.settings, run.created_by, now(), number)


def _draft(row: dict[str, Any]) -> SpanDraft:
    spans = tuple(map(span_from_json, json.loads(row["spans_json"])))
    return SpanDraft(row["instance"], spans, row["reason"], row["raw"], row["id"], row["rung"])


def get_draft(db: Database, run: int, instance: int) -> SpanDraft | None:
    sql = "SELECT * FROM spans_draft WHERE run = ? AND instance = ? ORDER BY id DESC LIMIT 1"
    row = get_row(db, sql, [run, instance])
    return _draft(row) if row else None


def get_draft_by_id(db: Database, draft: int) -> SpanDraft | None:
    row = get_row(db, "SELECT * FROM spans_draft WHERE id = ?", [draft])
    return _draft(row) if row else None


def list_drafts(db: Database, run: int) -> Iterator[SpanDraft]:
    """Yield a run's current draft of each instance."""
    sql = (
        "SELECT d.* FROM spans_draft d WHERE d.run = ? AND NOT EXISTS (SELECT 1 FROM spans_draft l"
        " WHERE l.run = d.run AND l.instance = d.instance AND l.id > d.id) ORDER BY d.instance"
    )
    return map(_draft, rows(db, sql, [run]))


def list_undrafted(db: Database, task: int, run: int, *, again: bool = False) -> list[int]:
    """Return the instances without a draft in a run; ``again`` adds those with an unreadable answer."""
    read = " AND d.reason = ''" if again else ""
    sql = (
        "SELECT i.id FROM instance i WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM spans_draft d"
        f" WHERE d.run = ? AND d.instance = i.id{read}) ORDER BY i.position"
    )
    return [row["id"] for row in rows(db, sql, [task, run])]


def count_attempts(db: Database, run: int) -> dict[int, int]:
    """Return the number of times that each instance of a run was drafted."""
    sql = "SELECT instance, count(*) AS n FROM spans_draft WHERE run = ? GROUP BY instance"
    return {row["instance"]: row["n"] for row in rows(db, sql, [run])}


def add_drafts(db: Database, run: int, drafts: Iterable[SpanDraft]) -> None:
    for portion in chunks(drafts, 100):
        added = []
        for draft in portion:
            stored = asdict(draft)
            spans, _ = stored.pop("spans"), stored.pop("id")
            added.append(stored | {"run": run, "spans_json": to_json(spans), "created_at": now()})
        append_all(db, "spans_draft", added)


def _submission(row: dict[str, Any]) -> SpanSubmission:
    lines = tuple(map(row_from_json, json.loads(row["rows_json"])))
    stored = {field.name: row[field.name] for field in fields(SpanSubmission) if field.name != "rows"}
    flags = {name: bool(stored[name]) for name in ("first", "bulk")}
    return SpanSubmission(**stored | flags | {"arm": Arm(row["arm"])}, rows=lines)


def get_submission(db: Database, annotator: int, instance: int) -> SpanSubmission | None:
    """Return the last save of one person for one instance."""
    sql = "SELECT * FROM spans_submission WHERE annotator = ? AND instance = ? ORDER BY revision DESC LIMIT 1"
    row = get_row(db, sql, [annotator, instance])
    return _submission(row) if row else None


@empty_before_use("spans", lambda: None)
def get_by_uid(db: Database, uid: str) -> SpanSubmission | None:
    row = get_row(db, "SELECT * FROM spans_submission WHERE uid = ?", [uid])
    return _submission(row) if row else None


def record_submission(db: Database, submission: SpanSubmission) -> SpanSubmission:
    """Append a save; its time is now, unless it has one from an import."""
    submission = replace(submission, submitted_at=submission.submitted_at or now())
    stored = asdict(submission)
    flags = {name: int(stored[name]) for name in ("first", "bulk")}
    stored |= flags | {"arm": str(submission.arm), "rows_json": to_json(stored.pop("rows"))}
    append_numbered(db, "spans_submission", stored)
    return submission


def list_submissions(db: Database, task: int) -> Iterator[tuple[str, SpanSubmission]]:
    """Yield the current saves of a task, each with the person's name."""
    sql = (
        "SELECT s.*, a.name AS person FROM spans_submission s JOIN annotator a ON a.id = s.annotator"
        " JOIN instance i ON i.id = s.instance WHERE i.task = ? AND s.first = 0 AND NOT EXISTS (SELECT 1 FROM"
        " spans_submission l WHERE l.annotator = s.annotator AND l.instance = s.instance AND l.revision > s.revision)"
        " ORDER BY s.id"
    )
    return ((row["person"], _submission(row)) for row in rows(db, sql, [task]))


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a person's queue."""

    position: int
    instance: int
    done: bool


def list_places(db: Database, annotator: int, task: int) -> list[Place]:
    """Return a person's queue in order."""
    sql = """
    SELECT a.position, a.instance,
      EXISTS (SELECT 1 FROM spans_submission s
        WHERE s.annotator = a.annotator AND s.instance = a.instance AND s.first = 0) AS done
    FROM assignment a WHERE a.annotator = :annotator AND a.task = :task ORDER BY a.position"""
    queue = rows(db, sql, {"annotator": annotator, "task": task})
    return [Place(row["position"], row["instance"], bool(row["done"])) for row in queue]
