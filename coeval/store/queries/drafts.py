"""Runs and their results: drafts, comparisons of two outputs of one document, and help for judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coeval.clock import now
from coeval.domain import (
    Comparison,
    Draft,
    EvaluationRow,
    Instance,
    Quote,
    QuotePlace,
    RowKind,
    Run,
)
from coeval.store.engines.database import Database, Record, get_row, insert, join_ids, rows, scalar, to_json
from coeval.store.queries.tasks import instance_of

# Runs and their drafts.

DRAFT = Record(Draft, elsewhere=("rows", "samples", "probabilities", "id"))


RUN = Record(Run, elsewhere=("params", "id"))


def _run(row: dict[str, Any]) -> Run:
    return RUN.from_row(row, params=json.loads(row["params_json"]), id=row["id"])


def list_runs(db: Database, task: int) -> list[Run]:
    return [_run(row) for row in db.table("run").rows_where("task = ?", [task], order_by="id")]


def get_run(db: Database, task: int, label: str) -> Run | None:
    row = get_row(db, "SELECT * FROM run WHERE task = ? AND label = ?", [task, label])
    return _run(row) if row else None


def get_shown_run(db: Database, task: int) -> Run | None:
    row = get_row(db, "SELECT * FROM run WHERE task = ? AND shown = 1", [task])
    return _run(row) if row else None


def add_run(db: Database, task: int, run: Run, criteria_set: int | None) -> Run:
    """Store a run, and show it if ``run.shown`` is set and the task shows no other run.

    Only imports set it, whose drafts follow. A run on this server is shown from its first draft on.
    """
    shown = run.shown and get_shown_run(db, task) is None
    stored = replace(run, shown=shown, created_at=run.created_at or now())
    params = to_json(dict(run.params))
    values = RUN.to_row(stored)
    run_id = insert(db, "run", task=task, criteria_set=criteria_set, params_json=params, **values)
    return replace(stored, id=run_id)


def restate_run(db: Database, run: Run, new: Run, criteria_set: int | None) -> Run:
    """Give a run without drafts the settings of ``new``, which has the same label."""
    values = {"protocol": new.protocol, "model": new.model, "prompt_hash": new.prompt_hash}
    more = {"params_json": to_json(dict(new.params)), "criteria_set": criteria_set}
    db.table("run").update(run.id, values | more)
    return replace(new, id=run.id, shown=run.shown, created_at=run.created_at)


HAS_READABLE = "EXISTS (SELECT 1 FROM draft d WHERE d.run = run.id AND d.status = 'ok')"
"""The condition that a run has a draft that people can review."""


def has_readable(db: Database, run: int) -> bool:
    return get_row(db, f"SELECT 1 FROM run WHERE id = ? AND {HAS_READABLE}", [run]) is not None


def has_preference(db: Database, run: int) -> bool:
    """Return whether a run has a comparison with a preference."""
    sql = "SELECT 1 FROM comparison WHERE run = ? AND preference IS NOT NULL LIMIT 1"
    return get_row(db, sql, [run]) is not None


def show_first(db: Database, task: int, run: int) -> None:
    """Show the first run of a task that has a readable draft."""
    if get_shown_run(db, task) is None and has_readable(db, run):
        show_run(db, task, run)


def hide_undrafted(db: Database, task: int) -> None:
    """Hide a run that has no readable draft."""
    db.conn.execute(f"UPDATE run SET shown = 0 WHERE task = ? AND shown = 1 AND NOT {HAS_READABLE}", [task])


def show_run(db: Database, task: int, run: int) -> None:
    """Make this the run that annotators see."""
    db.conn.execute("UPDATE run SET shown = 0 WHERE task = ?", [task])
    db.conn.execute("UPDATE run SET shown = 1 WHERE task = ? AND id = ?", [task, run])


def record_draft(db: Database, run: int, draft: Draft) -> int:
    """Append a draft with its rows and quotes, and return its id. A stored draft never changes."""
    record_drafts(db, run, [draft])
    return int(scalar(db, DRAFT_ID, _key(run, draft)))


def record_drafts(db: Database, run: int, drafts: Sequence[Draft]) -> None:
    """Append many drafts of a run, each with its rows and quotes."""
    made_at = now()
    db.table("draft").insert_all(
        DRAFT.to_row(draft)
        | {
            "run": run,
            "samples_json": to_json(list(draft.samples)),
            "probabilities_json": to_json(list(draft.probabilities)),
            "created_at": made_at,
        }
        for draft in drafts
    )
    db.conn.executemany(
        f"INSERT INTO draft_row (draft, position, kind, text) VALUES (({DRAFT_ID}), ?, ?, ?)",
        [(*_key(run, d), at, row.kind, row.text) for d in drafts for at, row in enumerate(d.rows)],
    )
    db.conn.executemany(
        "INSERT INTO quote (draft_row, position, text, quote_start, quote_end, place) VALUES"
        f" ((SELECT id FROM draft_row WHERE draft = ({DRAFT_ID}) AND position = ?), ?, ?, ?, ?, ?)",
        [
            (*_key(run, d), at, i, quote.text, quote.start, quote.end, quote.place.value)
            for d in drafts
            for at, row in enumerate(d.rows)
            for i, quote in enumerate(row.quotes)
        ],
    )


DRAFT_ID = "SELECT id FROM draft WHERE run = ? AND instance = ? AND criterion = ? AND attempt = ?"


def _key(run: int, draft: Draft) -> tuple[int, int, int, int]:
    """Return the values for ``DRAFT_ID``."""
    return run, draft.instance, draft.criterion, draft.attempt


def get_draft(db: Database, draft: int) -> Draft | None:
    return _get_whole(db, "SELECT * FROM draft WHERE id = ?", [draft])


def get_current_draft(db: Database, run: int, instance: int, criterion: int) -> Draft | None:
    """Return the latest attempt of a run at one instance and criterion."""
    sql = "SELECT * FROM draft WHERE run = ? AND instance = ? AND criterion = ? ORDER BY attempt DESC LIMIT 1"
    return _get_whole(db, sql, [run, instance, criterion])


def _get_whole(db: Database, head: str, values: Sequence[int]) -> Draft | None:
    """Return the draft that ``head`` selects, with its lines and their quotes, in one statement."""
    whole = list(
        rows(
            db,
            "SELECT d.*, r.id AS line, r.kind, r.text, q.text AS quoted, q.quote_start, q.quote_end, q.place"
            f" FROM ({head}) d LEFT JOIN draft_row r ON r.draft = d.id LEFT JOIN quote q ON q.draft_row = r.id"
            " ORDER BY r.position, q.position",
            values,
        )
    )
    return replace(draft_of(whole[0]), rows=_lines_of(whole)) if whole else None


def draft_of(row: dict[str, Any]) -> Draft:
    """Return the draft in a row of ``draft``, without its lines."""
    lists = {name: tuple(json.loads(row[f"{name}_json"])) for name in ("samples", "probabilities")}
    return DRAFT.from_row(row, **lists, id=row["id"])


def _lines_of(whole: Iterable[Mapping[str, Any]]) -> tuple[EvaluationRow, ...]:
    quotes: dict[tuple[int, str, str], list[Quote]] = {}
    for row in whole:
        if row["line"] is None:
            continue  # a draft without lines
        of_line = quotes.setdefault((row["line"], row["kind"], row["text"]), [])
        if row["place"] is not None:
            quote = Quote(row["quoted"], row["quote_start"], row["quote_end"], QuotePlace(row["place"]))
            of_line.append(quote)
    return tuple(
        EvaluationRow(RowKind(kind), text, tuple(places), number)
        for (number, kind, text), places in quotes.items()
    )


def next_attempt(db: Database, run: int, instance: int, criterion: int) -> int:
    """Return the number of the next attempt at a pair: 1 if there is no draft yet."""
    sql = "SELECT coalesce(max(attempt), 0) + 1 FROM draft WHERE run = ? AND instance = ? AND criterion = ?"
    return int(scalar(db, sql, [run, instance, criterion]))


def count_drafts(db: Database, run: int) -> dict[str, int]:
    """Return the numbers of (instance, criterion) pairs of a run that are ``ok`` and ``unscored``."""
    sql = "SELECT status, count(*) AS n FROM current_draft WHERE run = ? GROUP BY status"
    return {"ok": 0, "unscored": 0} | {row["status"]: row["n"] for row in db.query(sql, [run])}


UNSCORED, NO_RUNG = "unscored", "not from a model here"
"""Labels in place of a rung: for a draft without a score, and for a score from another tool."""

_RUNG = f"CASE WHEN d.status = 'unscored' THEN '{UNSCORED}' WHEN d.rung = '' THEN '{NO_RUNG}' ELSE d.rung END"
_RUNG_OF_PAIR = _RUNG.replace("d.status = 'unscored'", "p.preference IS NULL").replace("d.rung", "p.rung")


def count_by_rung(db: Database, run: int) -> dict[str, int]:
    """Return, over latest attempts, how many scores or preferences were obtained on each rung, and how many not."""
    sql = (
        f"SELECT rung, count(*) AS n FROM (SELECT {_RUNG} AS rung FROM current_draft d WHERE d.run = :run UNION ALL"
        f" SELECT {_RUNG_OF_PAIR} FROM current_comparison p WHERE p.run = :run) obtained GROUP BY rung"
    )
    return {row["rung"]: row["n"] for row in db.query(sql, {"run": run})}


def count_scores(db: Database, run: int) -> dict[tuple[int, float], int]:
    """Return how often the run gave each score by each criterion."""
    sql = (
        "SELECT criterion, score, count(*) FROM current_draft WHERE run = ? AND score IS NOT NULL"
        " GROUP BY criterion, score"
    )
    return {(criterion, score): n for criterion, score, n in db.conn.execute(sql, [run])}


def list_undrafted(
    db: Database,
    task: int,
    run: int,
    criteria: Iterable[int],
    *,
    retry_unscored: bool = False,
    most: int | None = None,
) -> Iterator[tuple[int, int]]:
    """Yield at most ``most`` (instance, criterion) pairs without a draft of the run, instance by instance.

    With ``retry_unscored``, also yield pairs whose latest draft is unscored.
    """
    marks = join_ids(criteria)
    done = "d.status = 'ok'" if retry_unscored else "1 = 1"
    sql = (
        "SELECT i.id AS instance, c.id AS criterion FROM instance i JOIN criterion c"
        f" ON c.id IN ({marks}) WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM draft d WHERE d.run = ?"
        f" AND d.instance = i.id AND d.criterion = c.id AND {done}) ORDER BY i.position, c.id{_limit(most)}"
    )
    return ((row["instance"], row["criterion"]) for row in db.query(sql, [task, run]))


def _limit(most: int | None) -> str:
    # PostgreSQL fetches all rows of a query, even if its caller needs only the first
    return "" if most is None else f" LIMIT {most:d}"


def list_scores(db: Database, run: int) -> list[tuple[str, str, float]]:
    """Return (instance's external id, criterion's text, score) of a run's scored drafts."""
    sql = (
        "SELECT i.external_id, c.text, d.score FROM current_draft d JOIN instance i ON i.id = d.instance"
        " JOIN criterion c ON c.id = d.criterion WHERE d.run = ? AND d.status = 'ok' ORDER BY i.position, c.id"
    )
    return list(db.conn.execute(sql, [run]))


# Comparisons of two outputs of one document: the pairs, and a judge's preferences.

COMPARED = "other.task = i.task AND other.document = i.document AND i.document <> '' AND other.id <> i.id"
"""The condition that ``other`` is a rival of ``i``: another output of its document."""


def list_rivals(db: Database, instance: Instance) -> list[Instance]:
    """Return the other outputs of an instance's document, in the order of the task."""
    sql = f"SELECT other.* FROM instance i JOIN instance other ON {COMPARED} WHERE i.id = ? ORDER BY other.position"
    return [instance_of(row) for row in rows(db, sql, [instance.id])]


def list_uncompared(
    db: Database,
    task: int,
    run: int,
    criteria: Iterable[int],
    *,
    retry_unscored: bool = False,
    most: int | None = None,
) -> Iterator[tuple[int, int]]:
    """Yield at most ``most`` (instance, criterion) for instances that, shown first, lack a comparison.

    With ``retry_unscored``, an unreadable comparison counts as missing.
    """
    marks = join_ids(criteria)
    read = "AND d.preference IS NOT NULL" if retry_unscored else ""
    sql = (
        "SELECT DISTINCT i.id AS instance, c.id AS criterion, i.position FROM instance i"
        f" JOIN instance other ON {COMPARED} JOIN criterion c ON c.id IN ({marks})"
        " WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM comparison d WHERE d.run = ? AND d.criterion = c.id"
        f" AND d.first = i.id AND d.second = other.id {read}) ORDER BY i.position, c.id{_limit(most)}"
    )
    return ((row["instance"], row["criterion"]) for row in db.query(sql, [task, run]))


def next_comparison_attempt(db: Database, run: int, instance: int, criterion: int) -> int:
    """Return the number of the next attempt at an instance that is shown first: 1 if it was not compared yet."""
    sql = "SELECT coalesce(max(attempt), 0) + 1 FROM comparison WHERE run = ? AND first = ? AND criterion = ?"
    return int(scalar(db, sql, [run, instance, criterion]))


def record_comparisons(db: Database, run: int, comparisons: Sequence[Comparison], attempt: int) -> None:
    """Append comparisons of a run; a pair with a known preference keeps it."""
    made_at = now()
    db.conn.executemany(
        "INSERT INTO comparison (run, criterion, first, second, attempt, preference, reason, raw, samples_json,"
        " created_at, rung) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM comparison known"
        " WHERE known.run = ? AND known.criterion = ? AND known.first = ? AND known.second = ?"
        " AND known.preference IS NOT NULL)",
        [
            (run, c.criterion, c.first, c.second, attempt, c.preference, c.reason, c.raw, to_json(list(c.samples)),
             made_at, c.rung, run, c.criterion, c.first, c.second)
            for c in comparisons
        ],
    )  # fmt: skip


def count_comparisons(db: Database, run: int) -> tuple[int, int]:
    """Return the number of comparisons of a run with a preference, and of unreadable ones."""
    sql = "SELECT count(preference), count(*) - count(preference) FROM current_comparison WHERE run = ?"
    read, unread = db.conn.execute(sql, [run]).fetchone()
    return int(read), int(unread)


# Scores of whole instances, by assistants or in a run.


def get_assistant_scores(db: Database, task: int, assistant: str) -> dict[str, float]:
    """Return an assistant's scores of a task's instances by external id, without missing scores."""
    sql = (
        "SELECT i.external_id, s.score FROM instance_score s JOIN instance i ON i.id = s.instance"
        " WHERE i.task = ? AND s.assistant = ? AND s.score IS NOT NULL"
    )
    return {row["external_id"]: row["score"] for row in db.query(sql, [task, assistant])}


def record_assistant_scores(
    db: Database, task: int, assistant: str, scores: Mapping[str, float | None]
) -> None:
    """Store an assistant's scores by external id; earlier scores of the same text are kept."""
    db.conn.executemany(
        "INSERT INTO instance_score (instance, assistant, score, reason, created_at)"
        " SELECT id, ?, ?, '', ? FROM instance WHERE task = ? AND external_id = ? ON CONFLICT DO NOTHING",
        [(assistant, score, now(), task, instance) for instance, score in scores.items()],
    )


def record_overall(db: Database, run: int, instance: int, score: float | None, reason: str) -> None:
    """Store the model's overall rating of an instance; an earlier one is kept."""
    db.conn.execute(
        "INSERT INTO instance_score (run, instance, assistant, score, reason, created_at)"
        " VALUES (?, ?, '', ?, ?, ?) ON CONFLICT DO NOTHING",
        [run, instance, score, reason, now()],
    )


def list_overall(db: Database, run: int) -> dict[str, float]:
    """Return a run's overall ratings by the instance's external id."""
    sql = (
        "SELECT i.external_id, o.score FROM instance_score o JOIN instance i ON i.id = o.instance"
        " WHERE o.run = ? AND o.score IS NOT NULL ORDER BY i.position"
    )
    return {row["external_id"]: row["score"] for row in db.query(sql, [run])}
