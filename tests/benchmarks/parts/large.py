"""Making a large study: the files that are imported, and by SQL what would take people years."""

from __future__ import annotations

import csv
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

CRITERIA = ("Be true.", "Be brief.")
OWNER = "Olu"
ADD_OWNER = """
INSERT INTO annotator (name, role, created_at) VALUES (?, 'owner', '2026-01-31T09:00:00.000Z')
ON CONFLICT (name) DO UPDATE SET role = 'owner'
"""
LINES = 4
"""Lines of a draft, and of a submission that scrutinised one."""


def write_instances(path: Path, instances: int) -> Path:
    """A CSV file of so many instances, two to a document, about 380 characters each."""
    answer = "It rains where the air rises and cools. " * 5
    rows = ([f"x{n}", f"Question {n // 2}? {answer}", f"{answer}{n}", "ab"[n % 2]] for n in range(instances))
    return _write(path, ["instance", "input", "output", "system"], rows)


def write_ratings(path: Path, instances: int, ratings: int, part: range | None = None) -> Path:
    """A CSV file of so many ratings, or a part of them: all people rate every instance by both criteria."""
    chance = random.Random(5)

    def rows() -> Iterator[list[object]]:
        each = -(-ratings // (instances * len(CRITERIA)))
        for n in range(ratings) if part is None else part:
            pair, person = divmod(n, each)
            instance, criterion = divmod(pair, len(CRITERIA))
            yield [f"x{instance}", CRITERIA[criterion], f"rater {person}", chance.randint(1, 5), "1-5"]

    return _write(path, ["instance", "criterion", "annotator", "score", "scale"], rows())


def _write(path: Path, header: list[str], rows: Iterator[list[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header])
        csv.writer(file).writerows(rows)
    return path


def change(path: Path, step: Callable[[sqlite3.Connection], object]) -> None:
    """Change a file behind the app's back, in one transaction."""
    db = sqlite3.connect(path)
    try:
        with db:
            step(db)
    finally:
        db.close()


def add_scrutiny(db: sqlite3.Connection, rows: int) -> None:
    """Every draft of a shown run, and as many scrutinised ones as have ``rows`` lines together."""
    db.execute(RUN)
    db.execute(DRAFTS)
    db.execute(DRAFT_LINES)
    pairs = db.execute("SELECT count(*) FROM draft").fetchone()[0]
    wanted = -(-rows // LINES)
    for n in range(-(-wanted // pairs)):
        name = f"annotator {n}"
        db.execute("INSERT INTO annotator (name, role, created_at) VALUES (?, 'annotator', 'T')", [name])
        db.execute(SUBMISSIONS, {"name": name, "n": n, "limit": min(pairs, wanted - n * pairs)})
    db.execute(SUBMISSION_LINES)


def add_progress(db: sqlite3.Connection, name: str) -> None:
    """Let somebody have finished half of their queue, and flagged one instance in ten."""
    db.execute(PROGRESS, [name])


RUN = """
INSERT INTO run (task, criteria_set, protocol, model, prompt_hash, params_json, label, shown, created_at)
SELECT task, id, 'coeval', 'a model', '', '{}', 'a run', 1, established_at FROM criteria_set
"""
DRAFTS = """
INSERT INTO draft (run, instance, criterion, attempt, status, score, reason, raw, samples_json, created_at)
SELECT r.id, i.id, c.id, 1, 'ok', 1 + (i.id * 7 + c.id * 3) % 5, '', '', '[]', r.created_at
FROM run r JOIN instance i ON i.task = r.task JOIN criterion c ON c.task = r.task ORDER BY i.id, c.id
"""
DRAFT_LINES = """
INSERT INTO draft_row (draft, position, kind, text)
SELECT d.id, k.position, k.kind, CASE k.kind WHEN 'score' THEN printf('%g', d.score)
  ELSE 'A line of an evaluation, about as long as such lines are.' END
FROM draft d CROSS JOIN (SELECT 0 AS position, 'conclusion' AS kind UNION ALL SELECT 1, 'score'
  UNION ALL SELECT 2, 'evidence' UNION ALL SELECT 3, 'evidence') k
"""
SUBMISSIONS = """
INSERT INTO submission (uid, annotator, instance, criterion, revision, draft, arm, score, shown_score, opened_at,
  submitted_at, active_ms)
SELECT :name || '-' || d.id, (SELECT id FROM annotator WHERE name = :name), d.instance, d.criterion, 1, d.id,
  'assisted', 1 + (d.id * 7 + :n * (d.id % 3)) % 5, d.score, '2026-01-31T09:30:00.000Z',
  '2026-01-31T09:31:00.000Z', 4000 + d.id % 997
FROM draft d ORDER BY d.id LIMIT :limit
"""
SUBMISSION_LINES = """
INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text)
SELECT s.id, l.position, l.id, l.kind, CASE (s.id + l.position) % 5 WHEN 0 THEN 'revise' ELSE 'approve' END,
  CASE (s.id + l.position) % 5 WHEN 0 THEN 'It says too much.' ELSE '' END,
  CASE (s.id + l.position) % 5 WHEN 0 THEN 'A line as it should have been written.' ELSE '' END
FROM submission s JOIN draft_row l ON l.draft = s.draft ORDER BY s.id, l.position
"""
PROGRESS = """
UPDATE assignment SET state = CASE WHEN position % 2 THEN 'finished' ELSE 'open' END, flagged = position % 10 = 0
WHERE annotator = (SELECT id FROM annotator WHERE name = ?)
"""
