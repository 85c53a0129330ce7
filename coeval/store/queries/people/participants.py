"""Reads of a crowd study for its owner: who took part and how far, and how far each instance is."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.domain import Participant, Standing

PARTICIPANTS = """
SELECT p.id, p.name, e.state, e.note, e.at AS since, c.kind, c.subject,
  (SELECT min(f.at) FROM enrolment f WHERE f.task = e.task AND f.annotator = e.annotator) AS joined_at,
  (SELECT v.study FROM arrival v WHERE v.task = e.task AND v.annotator = p.id ORDER BY v.id DESC LIMIT 1) AS study,
  (SELECT v.session FROM arrival v WHERE v.task = e.task AND v.annotator = p.id ORDER BY v.id DESC LIMIT 1)
    AS session,
  (SELECT max(s.submitted_at) FROM submission s JOIN instance i ON i.id = s.instance
    WHERE s.annotator = p.id AND i.task = e.task) AS last_save,
  (SELECT coalesce(sum(s.active_ms), 0) FROM submission s JOIN instance i ON i.id = s.instance
    WHERE s.annotator = p.id AND i.task = e.task) AS active_ms
FROM current_enrolment e JOIN annotator p ON p.id = e.annotator LEFT JOIN account c ON c.annotator = p.id
WHERE e.task = ? ORDER BY p.id
"""

OUTCOMES = """
SELECT annotator, sum(purpose = 'work' AND outcome = 'finished') AS finished,
  sum(purpose = 'work' AND outcome = '') AS held, sum(purpose = 'work' AND outcome = 'timed_out') AS timed_out,
  count(passed) AS checks, coalesce(sum(passed = 0), 0) AS failed
FROM reservation WHERE task = ? GROUP BY annotator
"""

PLACES = """
SELECT taken, done, count(*) AS n FROM (
  SELECT i.id, (SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'
      AND r.outcome IN ('', 'finished')) AS taken,
    (SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'
      AND r.outcome = 'finished') AS done
  FROM instance i WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)
) GROUP BY taken, done ORDER BY done, taken
"""

ARMS = (
    "SELECT arm, count(*) AS n FROM assignment WHERE task = ? AND arm IS NOT NULL GROUP BY arm ORDER BY arm"
)


def list_participants(db: Database, task: int) -> list[Participant]:
    """Everybody who joined a study, in the order of their coming."""
    counts = {row.pop("annotator"): row for row in db.query(OUTCOMES, [task])}
    return [
        Participant(
            id=row["id"],
            name=row["name"],
            state=Standing(row["state"]),
            note=row["note"],
            joined_at=row["joined_at"],
            last_save=row["last_save"] or "",
            active_minutes=row["active_ms"] / 60_000,
            kind=row["kind"] or "",
            service_id=row["subject"] or "",
            study=row["study"] or "",
            session=row["session"] or "",
            **counts.get(row["id"], {}),
        )
        for row in db.query(PARTICIPANTS, [task])
    ]


def count_places(db: Database, task: int) -> list[tuple[int, int, int]]:
    """How many instances have so many people finished, and so many finished or at work: (done, taken, n)."""
    return [(row["done"], row["taken"], row["n"]) for row in db.query(PLACES, [task])]


def count_opened_arms(db: Database, task: int) -> dict[str, int]:
    return {row["arm"]: row["n"] for row in db.query(ARMS, [task])}
