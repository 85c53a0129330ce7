"""A crowd study for its owner: its plan, people and instances with their progress, its keys and exams."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from coeval.clock import now
from coeval.domain import (
    AnswerKey,
    Attempt,
    Criterion,
    Graded,
    Participant,
    Plan,
    Standing,
    StudyState,
    Terms,
)
from coeval.rules.screening import Event, count_minutes
from coeval.store.engines.database import Database, Record, get_row, insert, rows, scalar, to_json, upsert
from coeval.store.queries.criteria import CRITERION, criterion_of
from coeval.store.queries.reservations import renumber
from coeval.store.queries.submissions import published

PLAN = Record(Plan, elsewhere=("terms",))


def get_plan(db: Database, task: int) -> Plan | None:
    row = get_row(db, "SELECT * FROM crowd WHERE task = ?", [task])
    return PLAN.from_row(row, terms=Terms(**json.loads(row["settings_json"]))) if row else None


def get_active_plan(db: Database, task: int) -> Plan | None:
    """Return the plan that assigns a task; None while the plan is only saved, and the team works as before."""
    plan = get_plan(db, task)
    return None if plan is None or plan.state is StudyState.PLANNED else plan


def set_plan(db: Database, task: int, plan: Plan) -> None:
    """Replace a task's plan."""
    values = {"task": task, "settings_json": to_json(asdict(plan.terms)), **PLAN.to_row(plan)}
    upsert(db, "crowd", "task", values)


def adopt_queues(db: Database, task: int, until: str) -> None:
    """Turn the queues of a task that was open to everybody into reservations, without unopened instances."""
    lone = "task = :task AND NOT EXISTS (SELECT 1 FROM reservation r WHERE r.annotator = assignment.annotator"
    lone += " AND r.instance = assignment.instance)"
    values = {"task": task, "now": now(), "until": until}
    people = [row["annotator"] for row in rows(
        db, f"SELECT DISTINCT annotator FROM assignment WHERE {lone}", values)]  # fmt: skip
    db.conn.execute(f"DELETE FROM assignment WHERE {lone} AND arm IS NULL AND state = 'open'", values)
    db.conn.execute(
        "INSERT INTO reservation (annotator, instance, task, purpose, given_at, reserved_until, outcome, arrival)"
        " SELECT annotator, instance, task, 'work', :now, :until,"
        " CASE state WHEN 'finished' THEN 'finished' ELSE '' END,"
        " (SELECT max(v.id) FROM arrival v WHERE v.annotator = assignment.annotator AND v.task = :task)"
        f" FROM assignment WHERE {lone}",
        values,
    )
    for annotator in people:
        renumber(db, annotator, task)


# Queries for the owner of a crowd study: the people and their progress, and the progress of each instance.

PARTICIPANTS = """
SELECT v.id AS arrival, p.id, p.name, v.study, v.session, v.proof, v.at AS joined_at, c.kind, c.subject,
  (SELECT e.state FROM enrolment e WHERE e.arrival = v.id ORDER BY e.id DESC LIMIT 1) AS state,
  (SELECT e.note FROM enrolment e WHERE e.arrival = v.id ORDER BY e.id DESC LIMIT 1) AS note,
  (SELECT e.state FROM enrolment e WHERE e.arrival = v.id AND e.state NOT IN ('withdrawn', 'removed')
    ORDER BY e.id DESC LIMIT 1) AS before,
  (SELECT e.asked FROM enrolment e WHERE e.arrival = v.id AND e.state = 'finished'
    ORDER BY e.id DESC LIMIT 1) AS asked,
  (SELECT count(*) FROM arrival later WHERE later.task = v.task AND later.annotator = v.annotator
    AND later.id > v.id) AS n_later
FROM arrival v JOIN annotator p ON p.id = v.annotator LEFT JOIN account c ON c.annotator = p.id
WHERE v.task = :task AND (:annotator = 0 OR v.annotator = :annotator) ORDER BY v.id
"""

AS_STORED = ("id", "name", "note", "joined_at", "study", "session", "arrival", "proof", "asked")
"""The columns of ``PARTICIPANTS`` that are fields of a participant."""

OUTCOMES = """
SELECT r.arrival AS of_arrival,
  sum(CASE WHEN r.outcome = 'finished' THEN 1 ELSE 0 END) AS finished,
  sum(CASE WHEN r.outcome = '' THEN 1 ELSE 0 END) AS held,
  sum(CASE WHEN r.outcome = 'timed_out' THEN 1 ELSE 0 END) AS timed_out,
  sum(CASE WHEN r.outcome = 'timed_out' AND r.given_at = (SELECT max(l.given_at) FROM reservation l
    WHERE l.arrival = r.arrival) THEN 1 ELSE 0 END) AS lapsed,
  sum(CASE WHEN r.outcome = 'rejected' THEN 1 ELSE 0 END) AS taken_out,
  sum(CASE WHEN r.purpose = 'work' THEN 1 ELSE 0 END) AS assigned,
  count(r.passed) AS checks, sum(CASE WHEN r.passed = 0 THEN 1 ELSE 0 END) AS failed
FROM reservation r WHERE r.task = :task AND r.arrival IS NOT NULL
  AND (:annotator = 0 OR r.annotator = :annotator) GROUP BY r.arrival
"""
"""The query for outcomes by submission. Attention checks count as work, as in the quota."""

SAVES = """
SELECT s.annotator, s.opened_at, s.submitted_at, s.active_ms, s.instance, s.criterion,
  (SELECT r.arrival FROM reservation r WHERE r.annotator = s.annotator AND r.instance = s.instance) AS of_arrival
FROM crowd c JOIN instance i ON i.task = c.task OR i.task = c.exam JOIN submission s ON s.instance = i.id
WHERE c.task = :task AND (:annotator = 0 OR s.annotator = :annotator) AND s.submitted_at IS NOT NULL ORDER BY s.id
"""

STEPS = """
SELECT e.arrival, e.at, e.state FROM enrolment e JOIN annotator p ON p.id = e.annotator
WHERE e.task = :task AND e.arrival IS NOT NULL AND (:annotator = 0 OR e.annotator = :annotator)
  AND (e.actor = p.name OR e.actor IN ('exam', 'attention checks')) ORDER BY e.id
"""
"""Changes of state that a person caused, directly or by an exam or attention check. Owners' decisions are not
included.
"""

REPEATS = "SELECT annotator, study, session FROM repeated_session WHERE task = :task ORDER BY id"

PLACES = """
SELECT taken, done, count(*) AS n FROM (
  SELECT i.id, count(w.outcome) AS taken, count(CASE w.outcome WHEN 'finished' THEN 1 END) AS done
  FROM instance i LEFT JOIN (
    SELECT r.instance, r.outcome FROM reservation r
    WHERE r.task = :task AND r.purpose = 'work' AND r.outcome IN ('', 'finished')
    UNION ALL
    SELECT a.instance, CASE a.state WHEN 'finished' THEN 'finished' ELSE '' END FROM assignment a
    WHERE :planned = 1 AND a.task = :task AND NOT (a.arm IS NULL AND a.state = 'open')
      AND NOT EXISTS (SELECT 1 FROM reservation r WHERE r.annotator = a.annotator AND r.instance = a.instance)
  ) w ON w.instance = i.id
  WHERE i.task = :task AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id) GROUP BY i.id
) places GROUP BY taken, done ORDER BY done, taken
"""


def list_participants(db: Database, task: int, *, annotator: int = 0) -> list[Participant]:
    """Return every submission of a study in the order of arrival, or those of one person."""
    values = {"task": task, "annotator": annotator}
    counts = {row.pop("of_arrival"): row for row in db.query(OUTCOMES, values)}
    repeats: dict[tuple[int, str], list[str]] = {}
    for row in db.query(REPEATS, {"task": task}):
        repeats.setdefault((row["annotator"], row["study"]), []).append(row["session"])
    participants = [
        Participant(
            **{name: row[name] for name in AS_STORED},
            state=Standing(row["state"]),
            last_save="",
            active_minutes=0.0,
            kind=row["kind"] or "",
            service_id=row["subject"] or "",
            left=row["n_later"] > 0,
            before=Standing(row["before"]) if row["before"] != row["state"] and row["before"] else None,
            repeats=tuple(repeats.get((row["id"], row["study"]), ())),
            **counts.get(row["arrival"], {}),
        )
        for row in db.query(PARTICIPANTS, values)
        if row["state"]
    ]
    return _timed(db, values, participants)


def _timed(db: Database, values: dict[str, int], participants: list[Participant]) -> list[Participant]:
    """Return the submissions with their times.

    A save belongs to the person's latest submission at that time.
    """
    began: dict[int, list[Participant]] = {}
    for participant in participants:
        began.setdefault(participant.id, []).append(participant)
    events: dict[int, list[Event]] = {
        participant.arrival: [(participant.joined_at, False)] for participant in participants
    }
    active: dict[int, int] = {}
    last: dict[int, str] = {}
    saved: dict[int, set[tuple[int, int]]] = {}

    def at(person: int, when: str) -> int | None:
        times = [
            participant.arrival for participant in began.get(person, ()) if participant.joined_at <= when
        ]
        return times[-1] if times else None

    for row in db.query(STEPS, values):
        if row["arrival"] in events:
            events[row["arrival"]].append((row["at"], row["state"] == Standing.REVIEW))
    for row in db.query(SAVES, values):
        arrival = at(row["annotator"], row["submitted_at"])
        if arrival is not None:
            times = (row["opened_at"] or row["submitted_at"], row["submitted_at"])
            events[arrival] += [(time, False) for time in times]
            active[arrival] = active.get(arrival, 0) + (row["active_ms"] or 0)
            last[arrival] = max(last.get(arrival, ""), row["submitted_at"])
            if row["of_arrival"] == arrival:  # a correction of earlier work is not new work
                saved.setdefault(arrival, set()).add((row["instance"], row["criterion"]))
    return [
        replace(
            participant,
            last_save=last.get(participant.arrival, ""),
            active_minutes=active.get(participant.arrival, 0) / 60_000,
            wall_minutes=count_minutes(events[participant.arrival]),
            saves=len(saved.get(participant.arrival, ())),
        )
        for participant in participants
    ]


def count_offered(db: Database, task: int) -> int:
    """Return the number of instances available for work."""
    sql = (
        "SELECT count(*) FROM instance i WHERE i.task = ?"
        " AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
    )
    return int(scalar(db, sql, [task]))


def list_latest_seconds(db: Database, task: int, most: int = 1_000) -> list[float]:
    """Return the active seconds of the task's newest timed saves, of all arms.

    CROSS JOIN makes SQLite read the newest saves first, because owners ask at every change of a plan.
    """
    sql = (
        "SELECT s.active_ms FROM submission s CROSS JOIN instance i WHERE i.id = s.instance AND i.task = ?"
        f" AND s.active_ms IS NOT NULL AND {published('s')} ORDER BY s.id DESC LIMIT ?"
    )
    return [row["active_ms"] / 1000 for row in rows(db, sql, [task, most])]


def count_places(db: Database, task: int, *, planned: bool = False) -> list[tuple[int, int, int]]:
    """Return (done, taken, n) triples: ``n`` instances were finished by ``done`` people, and started or
    finished by ``taken`` people. With ``planned``, both have the work that ``adopt_queues`` would add.
    """
    values = {"task": task, "planned": int(planned)}
    return [(row["done"], row["taken"], row["n"]) for row in db.query(PLACES, values)]


# Answer keys, and attempts at an exam.


def has_keys(db: Database, task: int) -> bool:
    sql = "SELECT 1 FROM answer_key k JOIN instance i ON i.id = k.instance WHERE i.task = ? LIMIT 1"
    return get_row(db, sql, [task]) is not None


def list_keys(db: Database, task: int) -> list[AnswerKey]:
    """Return the answer keys of a task, in the order of its instances."""
    sql = "SELECT k.* FROM answer_key k JOIN instance i ON i.id = k.instance WHERE i.task = ?"
    return [_key(row) for row in rows(db, f"{sql} ORDER BY i.position, k.criterion", [task])]


def list_named_keys(db: Database, task: int) -> list[tuple[str, str, AnswerKey]]:
    """Return each answer key with its instance's external id and its criterion's text, as in ``list_keys``."""
    sql = (
        "SELECT k.*, i.external_id, c.text FROM answer_key k JOIN instance i ON i.id = k.instance"
        " JOIN criterion c ON c.id = k.criterion WHERE i.task = ? ORDER BY i.position, k.criterion"
    )
    return [(row["external_id"], row["text"], _key(row)) for row in rows(db, sql, [task])]


def get_criterion(db: Database, criterion: int) -> Criterion | None:
    row = get_row(db, f"{CRITERION} WHERE c.id = ?", [criterion])
    return criterion_of(row) if row else None


def list_keys_of(db: Database, instance: int) -> list[AnswerKey]:
    if not scalar(db, "SELECT 1 FROM answer_key LIMIT 1"):
        return []  # as in most studies; the store keeps this answer for all saves of a transaction
    return [_key(row) for row in rows(db, "SELECT * FROM answer_key WHERE instance = ?", [instance])]


def _key(row: dict[str, Any]) -> AnswerKey:
    return AnswerKey(
        row["instance"],
        row["criterion"],
        tuple(json.loads(row["accepted_json"])),
        tuple(json.loads(row["must_json"])),
        row["explanation"],
    )


def set_keys(db: Database, task: int, keys: list[AnswerKey]) -> None:
    """Replace all keys of the task by these."""
    db.conn.execute(
        "DELETE FROM answer_key WHERE instance IN (SELECT id FROM instance WHERE task = ?)", [task]
    )
    db.conn.executemany(
        "INSERT INTO answer_key (instance, criterion, accepted_json, must_json, explanation)"
        " VALUES (?, ?, ?, ?, ?)",
        [
            (
                key.instance,
                key.criterion,
                to_json(list(key.accepted)),
                to_json(list(key.must)),
                key.explanation,
            )
            for key in keys
        ],
    )


ATTEMPT = Record(Attempt, renamed={"person": "annotator", "right": "right_items"}, elsewhere=("detail",))


def count_attempts(db: Database, task: int, person: int) -> int:
    sql = "SELECT count(*) FROM exam_attempt WHERE task = ? AND annotator = ?"
    return int(scalar(db, sql, [task, person]))


def record_attempt(db: Database, task: int, attempt: Attempt) -> None:
    detail = to_json([asdict(graded) for graded in attempt.detail])
    insert(db, "exam_attempt", task=task, detail_json=detail, **ATTEMPT.to_row(attempt) | {"at": now()})


def list_attempts(db: Database, task: int, person: int) -> list[Attempt]:
    """Return a person's attempts at the exam of a study, oldest first."""
    sql = "SELECT * FROM exam_attempt WHERE task = ? AND annotator = ? ORDER BY attempt"
    return [_attempt(row) for row in rows(db, sql, [task, person])]


def _attempt(row: dict[str, Any]) -> Attempt:
    return ATTEMPT.from_row(row, detail=tuple(map(_graded, json.loads(row["detail_json"]))))


def _graded(values: dict[str, Any]) -> Graded:
    return Graded(**values | {"accepted": tuple(values["accepted"]), "missed": tuple(values["missed"])})


def list_items(db: Database, task: int, person: int, attempt: int) -> list[int]:
    """Return the instances of a person's attempt at a study's exam; empty before the attempt begins."""
    sql = "SELECT instance FROM exam_item WHERE task = ? AND annotator = ? AND attempt = ? ORDER BY instance"
    return [row["instance"] for row in rows(db, sql, [task, person, attempt])]


def record_items(db: Database, task: int, person: int, attempt: int, instances: list[int]) -> None:
    db.conn.executemany(
        "INSERT INTO exam_item (task, annotator, attempt, instance) VALUES (?, ?, ?, ?)",
        [(task, person, attempt, instance) for instance in instances],
    )


def count_seen(db: Database, person: int) -> dict[int, int]:
    """Return how often a person got each instance as an exam item."""
    sql = "SELECT instance, count(*) AS n FROM exam_item WHERE annotator = ? GROUP BY instance"
    return {row["instance"]: row["n"] for row in rows(db, sql, [person])}


def find_study_of_exam(db: Database, person: int, exam: int) -> int | None:
    """Return the study for which a person is taking an exam, if this task is that exam."""
    if not scalar(db, "SELECT 1 FROM crowd WHERE exam = ? LIMIT 1", [exam]):
        return None
    sql = (
        "SELECT e.task FROM current_enrolment e JOIN crowd c ON c.task = e.task"
        " WHERE e.annotator = ? AND e.state = 'exam' AND c.exam = ? ORDER BY e.id DESC LIMIT 1"
    )
    study: int | None = scalar(db, sql, [person, exam])
    return study
