"""Reads of a crowd study for its owner: who took part and how far, and how far each instance is."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Participant, Standing
from coeval.rules.worktime import Event, count_minutes
from coeval.store.engines.interface import Database

PARTICIPANTS = """
SELECT v.id AS arrival, p.id, p.name, v.study, v.session, v.proof, v.at AS joined_at, c.kind, c.subject,
  (SELECT e.state FROM enrolment e WHERE e.arrival = v.id ORDER BY e.id DESC LIMIT 1) AS state,
  (SELECT e.note FROM enrolment e WHERE e.arrival = v.id ORDER BY e.id DESC LIMIT 1) AS note,
  (SELECT count(*) FROM arrival later WHERE later.task = v.task AND later.annotator = v.annotator
    AND later.id > v.id) AS n_later
FROM arrival v JOIN annotator p ON p.id = v.annotator LEFT JOIN account c ON c.annotator = p.id
WHERE v.task = ? ORDER BY v.id
"""

OUTCOMES = """
SELECT arrival, sum(CASE WHEN purpose = 'work' AND outcome = 'finished' THEN 1 ELSE 0 END) AS finished,
  sum(CASE WHEN purpose = 'work' AND outcome = '' THEN 1 ELSE 0 END) AS held,
  sum(CASE WHEN purpose = 'work' AND outcome = 'timed_out' THEN 1 ELSE 0 END) AS timed_out,
  count(passed) AS checks, sum(CASE WHEN passed = 0 THEN 1 ELSE 0 END) AS failed
FROM reservation WHERE task = ? AND arrival IS NOT NULL GROUP BY arrival
"""

SAVES = """
SELECT s.annotator, s.opened_at, s.submitted_at, s.active_ms, CASE WHEN i.task = c.task THEN 1 ELSE 0 END AS own
FROM crowd c JOIN instance i ON i.task = c.task OR i.task = c.exam JOIN submission s ON s.instance = i.id
WHERE c.task = ? ORDER BY s.id
"""

STEPS = """
SELECT e.annotator, e.at, e.state FROM enrolment e JOIN annotator p ON p.id = e.annotator
WHERE e.task = ? AND (e.actor = p.name OR e.actor IN ('exam', 'attention checks')) ORDER BY e.id
"""
"""What somebody did themselves, or brought about at once: what owners decide happens at any time."""

PLACES = """
SELECT taken, done, count(*) AS n FROM (
  SELECT i.id, (SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'
      AND r.outcome IN ('', 'finished')) AS taken,
    (SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'
      AND r.outcome = 'finished') AS done
  FROM instance i WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)
) places GROUP BY taken, done ORDER BY done, taken
"""

ARMS = (
    "SELECT arm, count(*) AS n FROM assignment a WHERE task = ? AND arm IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = a.instance) GROUP BY arm ORDER BY arm"
)
"""Of the work: attention checks are drawn among themselves."""


def list_participants(db: Database, task: int) -> list[Participant]:
    """Every submission of a study, in the order of their coming."""
    counts = {row.pop("arrival"): row for row in db.query(OUTCOMES, [task])}
    participants = [
        Participant(
            id=row["id"],
            name=row["name"],
            state=Standing(row["state"]),
            note=row["note"],
            joined_at=row["joined_at"],
            last_save="",
            active_minutes=0.0,
            kind=row["kind"] or "",
            service_id=row["subject"] or "",
            study=row["study"],
            session=row["session"],
            arrival=row["arrival"],
            proof=row["proof"],
            left=row["n_later"] > 0,
            **counts.get(row["arrival"], {}),
        )
        for row in db.query(PARTICIPANTS, [task])
        if row["state"]
    ]
    return _timed(db, task, participants)


def _timed(db: Database, task: int, participants: list[Participant]) -> list[Participant]:
    """With the times of each: what a person did belongs to the submission they had come by last."""
    began: dict[int, list[Participant]] = {}
    for participant in participants:
        began.setdefault(participant.id, []).append(participant)
    events: dict[int, list[Event]] = {
        participant.arrival: [(participant.joined_at, False)] for participant in participants
    }
    active: dict[int, int] = {}
    last: dict[int, str] = {}
    saves: dict[int, int] = {}

    def at(person: int, when: str) -> int | None:
        known = [
            participant.arrival for participant in began.get(person, ()) if participant.joined_at <= when
        ]
        return known[-1] if known else None

    for row in db.query(STEPS, [task]):
        arrival = at(row["annotator"], row["at"])
        if arrival is not None:
            events[arrival].append((row["at"], row["state"] == Standing.REVIEW))
    for row in db.query(SAVES, [task]):
        arrival = at(row["annotator"], row["submitted_at"])
        if arrival is not None:
            times = (row["opened_at"] or row["submitted_at"], row["submitted_at"])
            events[arrival] += [(time, False) for time in times]
            active[arrival] = active.get(arrival, 0) + (row["active_ms"] or 0)
            last[arrival] = max(last.get(arrival, ""), row["submitted_at"])
            saves[arrival] = saves.get(arrival, 0) + row["own"]
    return [
        replace(
            participant,
            last_save=last.get(participant.arrival, ""),
            active_minutes=active.get(participant.arrival, 0) / 60_000,
            wall_minutes=count_minutes(events[participant.arrival]),
            saves=saves.get(participant.arrival, 0),
        )
        for participant in participants
    ]


def count_places(db: Database, task: int) -> list[tuple[int, int, int]]:
    """How many instances have so many people finished, and so many finished or at work: (done, taken, n)."""
    return [(row["done"], row["taken"], row["n"]) for row in db.query(PLACES, [task])]


def count_opened_arms(db: Database, task: int) -> dict[str, int]:
    return {row["arm"]: row["n"] for row in db.query(ARMS, [task])}
