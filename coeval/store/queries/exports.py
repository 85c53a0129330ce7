"""Queries for exports: each streams its rows in a stable order, with the column names of the files.

A task's current state is read as objects: the last attempt of each draft, and the last revision of each
person's work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coeval.domain import Draft, Group, Submission
from coeval.store.engines.database import Database, rows
from coeval.store.queries.drafts import get_draft
from coeval.store.queries.submissions import OUTCOME, published, submission_of

GROUP = '(SELECT g.group_name FROM annotator_group g WHERE g.annotator = a.id) AS "group"'
STANDING = f"""{GROUP},
  CASE v.purpose WHEN 'check' THEN 1 ELSE 0 END AS "check",
  CASE WHEN v.annotator IS NOT NULL AND e.state IN ('rejected', 'blocked', 'removed') THEN 1 ELSE 0 END AS rejected,
  CASE v.outcome WHEN 'timed_out' THEN 1 ELSE 0 END AS timed_out"""
"""Columns with the owner's group, and the reasons for which statistics leave a row out.

The view ``uncounted`` lists checks and rejected work.
"""


def _standing_of(row: str) -> str:
    """Return the values of ``STANDING`` for rows with an annotator and an instance ``i``."""
    return (
        f"LEFT JOIN reservation v ON v.annotator = {row}.annotator AND v.instance = i.id\n"
        "LEFT JOIN arrival_state e ON e.arrival = v.arrival"
    )


INSTANCES = """
SELECT external_id AS instance, position, document, system, input, output, reference,
  context_json AS context,
  CASE WHEN EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = instance.id) THEN 1 ELSE 0 END AS "check"
FROM instance WHERE task = :task ORDER BY position
"""

CRITERIA = """
SELECT s.version, m.position, c.name, c.text AS criterion, c.origin, c.scale_min, c.scale_max, c.question,
  coalesce(g.definition, '') AS definition, coalesce(g.anchors_json, '[]') AS anchors,
  coalesce(g.examples, '') AS examples, s.established_at, s.established_by
FROM criteria_set s
JOIN criteria_set_member m ON m.criteria_set = s.id
JOIN criterion c ON c.id = m.criterion
LEFT JOIN current_criterion_guide g ON g.criterion = c.id
WHERE s.task = :task ORDER BY s.version, m.position
"""

VOTES = """
SELECT r.version, r.round, a.name AS evaluator, a.role, b.revision,
  CASE WHEN NOT EXISTS (SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
    AND later.annotator = b.annotator AND later.revision > b.revision) THEN 1 ELSE 0 END AS latest,
  CASE WHEN r.id IN (SELECT ballot_round FROM cancelled_round) THEN 1 ELSE 0 END AS cancelled,
  b.saved_at, p.text AS proposal, p.origin, v.action, v.reason, v.new_text
FROM vote v
JOIN ballot b ON b.id = v.ballot
JOIN ballot_round r ON r.id = b.ballot_round
JOIN annotator a ON a.id = b.annotator
LEFT JOIN proposal p ON p.id = v.proposal
WHERE r.task = :task ORDER BY r.version, r.round, b.id, v.position
"""

DRAFTS = """
SELECT r.label AS run, r.protocol, r.model, r.prompt_hash, r.shown,
  i.external_id AS instance, c.text AS criterion, d.attempt, d.status, d.score, d.samples_json AS samples,
  d.probabilities_json AS probabilities, d.rung, d.reason, l.position AS line, l.kind, l.text, d.created_at,
  (SELECT count(*) FROM quote q WHERE q.draft_row = l.id) AS quotes,
  (SELECT count(*) FROM quote q WHERE q.draft_row = l.id
    AND (q.quote_start IS NULL OR q.place = 'input')) AS quotes_not_found,
  (SELECT count(*) FROM quote q WHERE q.draft_row = l.id AND q.quote_start IS NOT NULL
    AND q.place = 'nearly in the output') AS quotes_nearly,
  (SELECT count(*) FROM quote q WHERE q.draft_row = l.id AND q.quote_start IS NOT NULL
    AND q.place = 'input') AS quotes_in_input,
  CASE WHEN l.kind = 'evidence' THEN
    CASE WHEN EXISTS (SELECT 1 FROM quote q WHERE q.draft_row = l.id) THEN 0 ELSE 1 END END AS unquoted
FROM draft d
JOIN run r ON r.id = d.run
JOIN instance i ON i.id = d.instance
JOIN criterion c ON c.id = d.criterion
LEFT JOIN draft_row l ON l.draft = d.id
WHERE r.task = :task ORDER BY d.run, d.id, l.position
"""

LATEST = f"""CASE WHEN EXISTS (SELECT 1 FROM submission later WHERE later.annotator = s.annotator
    AND later.instance = s.instance AND later.criterion = s.criterion AND later.revision > s.revision
    AND {published("later")})
    THEN 0 ELSE 1 END"""
"""1 for a save that counts, 0 for one that a later save of the same person replaced."""


def _select_scores(condition: str = "") -> str:
    return f"""
SELECT i.external_id AS instance, i.document, i.system, c.text AS criterion, a.name AS annotator, a.role,
  {STANDING}, {OUTCOME} AS arm, s.revision, {LATEST} AS latest,
  s.score, d.score AS draft_score, s.shown_score, s.planted AS planted_error, f.score AS first_score,
  f.submitted_at AS first_submitted_at, r.label AS run, s.bulk, s.opened_at, s.submitted_at, s.active_ms
FROM submission s
JOIN instance i ON i.id = s.instance
JOIN criterion c ON c.id = s.criterion
JOIN annotator a ON a.id = s.annotator
LEFT JOIN draft d ON d.id = s.draft
LEFT JOIN run r ON r.id = d.run
LEFT JOIN first_score f ON f.annotator = s.annotator AND f.instance = s.instance AND f.criterion = s.criterion
{_standing_of("s")}
WHERE i.task = :task AND {published("s")}{condition} ORDER BY s.id
"""


SCORES = _select_scores()
"""Every save."""

LATEST_SCORES, HISTORY = (_select_scores(f" AND {LATEST} = {latest}") for latest in (1, 0))
"""The saves that count, and the ones that later saves replaced: together they are ``SCORES``."""

AS_TEXT = (
    "CASE WHEN s.shown_score = CAST(s.shown_score AS INTEGER) THEN CAST(CAST(s.shown_score AS INTEGER) AS TEXT)"
    " ELSE CAST(s.shown_score AS TEXT) END"
)
"""A score in its usual written form: 4, not 4.0."""

ROWS = f"""
SELECT i.external_id AS instance, c.text AS criterion, a.name AS annotator, {STANDING}, {OUTCOME} AS arm, s.revision,
  {LATEST} AS latest,
  w.position AS line, w.kind, w.action, l.text AS drafted,
  CASE WHEN s.planted IS NOT NULL AND w.kind = 'score' THEN {AS_TEXT} END AS planted_error,
  w.text AS new_text, w.reason
FROM submission_row w
JOIN submission s ON s.id = w.submission
JOIN instance i ON i.id = s.instance
JOIN criterion c ON c.id = s.criterion
JOIN annotator a ON a.id = s.annotator
LEFT JOIN draft_row l ON l.id = w.draft_row
{_standing_of("s")}
WHERE i.task = :task AND {published("s")} ORDER BY w.submission, w.position
"""

FIRST_SCORES = f"""
SELECT i.external_id AS instance, i.document, i.system, c.text AS criterion, a.name AS annotator, a.role,
  {STANDING}, f.score, f.opened_at, f.submitted_at, f.active_ms
FROM first_score f
JOIN instance i ON i.id = f.instance
JOIN criterion c ON c.id = f.criterion
JOIN annotator a ON a.id = f.annotator
{_standing_of("f")}
WHERE i.task = :task ORDER BY f.id
"""

ADJUDICATED = """
SELECT i.external_id AS instance, i.document, i.system, c.text AS criterion, j.score, j.note,
  a.name AS decided_by, j.decided_at, j.revision,
  CASE WHEN NOT EXISTS (SELECT 1 FROM adjudication later WHERE later.instance = j.instance
    AND later.criterion = j.criterion AND later.revision > j.revision) THEN 1 ELSE 0 END AS latest
FROM adjudication j
JOIN instance i ON i.id = j.instance
JOIN criterion c ON c.id = j.criterion
JOIN annotator a ON a.id = j.decided_by
WHERE i.task = :task ORDER BY j.id
"""

OVERALL_RATINGS = """
SELECT r.label AS run, r.model, i.external_id AS instance, o.score, o.reason, o.created_at
FROM instance_score o
JOIN run r ON r.id = o.run
JOIN instance i ON i.id = o.instance
WHERE r.task = :task ORDER BY o.run, i.position
"""

COMPARISONS = """
SELECT r.label AS run, r.model, c.text AS criterion, a.document, a.external_id AS first, a.system AS first_system,
  b.external_id AS second, b.system AS second_system, p.attempt, p.preference, p.samples_json AS samples, p.reason,
  p.raw, p.created_at
FROM comparison p
JOIN run r ON r.id = p.run
JOIN criterion c ON c.id = p.criterion
JOIN instance a ON a.id = p.first
JOIN instance b ON b.id = p.second
WHERE r.task = :task ORDER BY p.id
"""

MARKS = f"""
SELECT i.external_id AS instance, a.name AS annotator, {STANDING}, m.flagged, m.skipped, m.comment, m.marked_at,
  CASE WHEN NOT EXISTS (SELECT 1 FROM mark later WHERE later.annotator = m.annotator
    AND later.instance = m.instance AND later.id > m.id) THEN 1 ELSE 0 END AS latest,
  coalesce(n.text, '') AS answer, coalesce(n.answered_by, '') AS answered_by,
  coalesce(n.answered_at, '') AS answered_at
FROM mark m
LEFT JOIN mark_answer n ON n.id = (SELECT max(b.id) FROM mark_answer b WHERE b.mark = m.id)
JOIN instance i ON i.id = m.instance
JOIN annotator a ON a.id = m.annotator
{_standing_of("m")}
WHERE i.task = :task ORDER BY m.id
"""

COUNTED = """
FROM current_submission s
JOIN instance i ON i.id = s.instance AND i.task = :task
JOIN criteria_set_member m ON m.criterion = +s.criterion AND m.criteria_set =
  (SELECT z.id FROM criteria_set z WHERE z.task = :task ORDER BY z.version DESC LIMIT 1)
"""
"""The submissions used for agreement: those for the current criteria that are not ``uncounted``."""

IS_COUNTED = "(s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)"

ANNOTATORS = f"""
SELECT DISTINCT a.id, a.name {COUNTED} JOIN annotator a ON a.id = s.annotator WHERE {IS_COUNTED} ORDER BY a.id
"""

UNITS = f"""
SELECT i.external_id AS instance, c.text AS criterion, s.annotator, s.score {COUNTED}
JOIN criterion c ON c.id = s.criterion
WHERE {IS_COUNTED} ORDER BY i.position, c.id, s.annotator
"""


_DRAFTS = "SELECT id FROM current_draft WHERE run = ? ORDER BY id"
_WORK = """
SELECT s.*, a.name AS person_name, g.group_name, f.score AS first_score
FROM current_submission s
JOIN instance i ON i.id = s.instance
JOIN annotator a ON a.id = s.annotator
LEFT JOIN annotator_group g ON g.annotator = s.annotator
LEFT JOIN first_score f ON f.annotator = s.annotator AND f.instance = s.instance AND f.criterion = s.criterion
WHERE i.task = ? ORDER BY s.id
"""


@dataclass(frozen=True, slots=True)
class Work:
    """One submission with its owner, and the score from before the draft, if any."""

    submission: Submission
    person: str
    group: Group
    first_score: float | None


def list_current_drafts(db: Database, run: int) -> Iterator[Draft]:
    """Yield the last attempt of a run at each instance and criterion, with its lines."""
    for row in rows(db, _DRAFTS, [run]):
        draft = get_draft(db, row["id"])
        if draft is not None:
            yield draft


def list_current_work(db: Database, task: int) -> Iterator[Work]:
    """Yield the last revision of everybody's work on a task, in the order of saving."""
    for row in rows(db, _WORK, [task]):
        name, group, first = row.pop("person_name"), row.pop("group_name"), row.pop("first_score")
        yield Work(submission_of(db, row), name, Group(group), first)
