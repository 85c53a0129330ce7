"""What people saved: append-only, a revision beside the one before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Action, Arm, RowKind, ScrutinyRow, Submission
from coeval.store.engines.statements import insert, one, rows, scalar


def submission_of(db: Database, row: dict[str, Any]) -> Submission:
    """The submission of a row of ``submission``, with its lines."""
    lines = rows(db, "SELECT * FROM submission_row WHERE submission = ? ORDER BY position", [row["id"]])
    return Submission(
        person=row["annotator"],
        instance=row["instance"],
        criterion=row["criterion"],
        score=row["score"],
        rows=tuple(
            ScrutinyRow(
                RowKind(r["kind"]), Action(r["action"]), r["draft_row"], reason=r["reason"], text=r["text"]
            )
            for r in lines
        ),
        draft=row["draft"],
        arm=Arm(row["arm"]),
        opened_at=row["opened_at"] or "",
        submitted_at=row["submitted_at"],
        active_ms=row["active_ms"],
        revision=row["revision"],
        uid=row["uid"],
        bulk=bool(row["bulk"]),
        shown_score=row["shown_score"],
        planted=row["planted"] or "",
        id=row["id"],
    )


def get_submission_by_uid(db: Database, uid: str) -> Submission | None:
    row = one(db, "SELECT * FROM submission WHERE uid = ?", [uid])
    return submission_of(db, row) if row else None


def get_submission(db: Database, annotator: int, instance: int, criterion: int) -> Submission | None:
    """The latest revision of a person's scrutiny of an instance by a criterion."""
    row = one(
        db,
        "SELECT * FROM submission WHERE annotator = ? AND instance = ? AND criterion = ?"
        " ORDER BY revision DESC LIMIT 1",
        [annotator, instance, criterion],
    )
    return submission_of(db, row) if row else None


def list_history(db: Database, annotator: int, instance: int, criterion: int) -> list[Submission]:
    """Every revision, oldest first."""
    sql = "SELECT * FROM submission WHERE annotator = ? AND instance = ? AND criterion = ? ORDER BY revision"
    return [submission_of(db, row) for row in list(rows(db, sql, [annotator, instance, criterion]))]


def get_arm(db: Database, annotator: int, instance: int) -> Arm | None:
    """The arm in which a person's work on an instance was saved; None where nothing was."""
    sql = "SELECT arm FROM submission WHERE annotator = ? AND instance = ? ORDER BY id DESC LIMIT 1"
    arm = scalar(db, sql, [annotator, instance])
    return Arm(arm) if arm else None


def list_done(db: Database, annotator: int, instance: int) -> set[int]:
    """The criteria by which a person has saved an instance."""
    sql = "SELECT DISTINCT criterion FROM submission WHERE annotator = ? AND instance = ?"
    return {row["criterion"] for row in rows(db, sql, [annotator, instance])}


def record_submission(db: Database, submission: Submission) -> Submission:
    """Append a submission with its rows; gives it back with its id and time."""
    submitted_at = submission.submitted_at or now()
    submission_id = insert(
        db,
        "submission",
        uid=submission.uid,
        annotator=submission.person,
        instance=submission.instance,
        criterion=submission.criterion,
        revision=submission.revision,
        draft=submission.draft,
        arm=submission.arm,
        score=submission.score,
        shown_score=submission.shown_score,
        planted=submission.planted or None,
        bulk=int(submission.bulk),
        opened_at=submission.opened_at or None,
        submitted_at=submitted_at,
        active_ms=submission.active_ms,
    )
    db.conn.executemany(
        "INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (submission_id, position, row.draft_row, row.kind, row.action, row.reason, row.text)
            for position, row in enumerate(submission.rows)
        ],
    )
    return replace(submission, id=submission_id, submitted_at=submitted_at)


def _first_score(row: dict[str, Any]) -> Submission:
    """A first score as revision 0 of what follows it."""
    return Submission(
        person=row["annotator"],
        instance=row["instance"],
        criterion=row["criterion"],
        score=row["score"],
        rows=(),
        arm=Arm.FIRST,
        opened_at=row["opened_at"] or "",
        submitted_at=row["submitted_at"],
        active_ms=row["active_ms"],
        revision=0,
        uid=row["uid"],
        id=row["id"],
    )


def get_first_score(db: Database, annotator: int, instance: int, criterion: int) -> Submission | None:
    """The score a person gave before the draft was shown, as a submission of revision 0."""
    sql = "SELECT * FROM first_score WHERE annotator = ? AND instance = ? AND criterion = ?"
    row = one(db, sql, [annotator, instance, criterion])
    return _first_score(row) if row else None


def get_first_score_by_uid(db: Database, uid: str) -> Submission | None:
    row = one(db, "SELECT * FROM first_score WHERE uid = ?", [uid])
    return _first_score(row) if row else None


def record_first_score(db: Database, first: Submission) -> Submission:
    """Keep the score given before the draft was shown; there is one, and it never changes."""
    submitted_at = now()
    first_id = insert(
        db,
        "first_score",
        uid=first.uid,
        annotator=first.person,
        instance=first.instance,
        criterion=first.criterion,
        score=first.score,
        opened_at=first.opened_at or None,
        submitted_at=submitted_at,
        active_ms=first.active_ms,
    )
    return replace(first, id=first_id, submitted_at=submitted_at)


def mean_seconds(db: Database, annotator: int, *, last: int = 100) -> float | None:
    """Mean active seconds of a person's last saves; None before the first timed one."""
    found = scalar(
        db,
        "SELECT avg(active_ms) FROM (SELECT active_ms FROM submission WHERE annotator = ?"
        " AND active_ms IS NOT NULL ORDER BY id DESC LIMIT ?)",
        [annotator, last],
    )
    return None if found is None else float(found) / 1000
