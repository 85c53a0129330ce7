"""Reads for export: each streams, in a stable order, and names its columns as the files do."""

from __future__ import annotations

INSTANCES = """
SELECT external_id AS instance, position, document, system, input, output, reference,
  context_json AS context
FROM instance WHERE task = :task ORDER BY position
"""

CRITERIA = """
SELECT s.version, m.position, c.name, c.text AS criterion, c.origin, c.scale_min, c.scale_max,
  s.established_at, s.established_by
FROM criteria_set s
JOIN criteria_set_member m ON m.criteria_set = s.id
JOIN criterion c ON c.id = m.criterion
WHERE s.task = :task ORDER BY s.version, m.position
"""

VOTES = """
SELECT r.version, r.round, a.name AS evaluator, a.role, b.revision,
  CASE WHEN NOT EXISTS (SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
    AND later.annotator = b.annotator AND later.revision > b.revision) THEN 1 ELSE 0 END AS latest,
  b.saved_at, p.text AS proposal, p.origin, p.support, p.samples, v.action, v.reason, v.new_text
FROM vote v
JOIN ballot b ON b.id = v.ballot
JOIN ballot_round r ON r.id = b.ballot_round
JOIN annotator a ON a.id = b.annotator
LEFT JOIN proposal p ON p.id = v.proposal
WHERE r.task = :task ORDER BY r.version, r.round, b.id, v.position
"""

DRAFTS = """
SELECT r.label AS run, r.protocol, r.model, r.prompt_hash, r.shown, i.external_id AS instance,
  c.text AS criterion, d.attempt, d.status, d.score, d.samples_json AS samples, d.reason,
  l.position AS line, l.kind, l.text, d.created_at,
  (SELECT count(*) FROM quote q WHERE q.draft_row = l.id) AS quotes,
  (SELECT count(*) FROM quote q WHERE q.draft_row = l.id AND q.quote_start IS NULL) AS quotes_not_found
FROM draft d
JOIN run r ON r.id = d.run
JOIN instance i ON i.id = d.instance
JOIN criterion c ON c.id = d.criterion
LEFT JOIN draft_row l ON l.draft = d.id
WHERE r.task = :task ORDER BY d.run, d.id, l.position
"""

SCORES = """
SELECT i.external_id AS instance, i.document, i.system, c.text AS criterion, a.name AS annotator, a.role,
  s.arm, s.revision,
  CASE WHEN NOT EXISTS (SELECT 1 FROM submission later WHERE later.annotator = s.annotator
    AND later.instance = s.instance AND later.criterion = s.criterion AND later.revision > s.revision)
    THEN 1 ELSE 0 END AS latest,
  s.score, d.score AS draft_score, r.label AS run, s.bulk, s.opened_at, s.submitted_at, s.active_ms
FROM submission s
JOIN instance i ON i.id = s.instance
JOIN criterion c ON c.id = s.criterion
JOIN annotator a ON a.id = s.annotator
LEFT JOIN draft d ON d.id = s.draft
LEFT JOIN run r ON r.id = d.run
WHERE i.task = :task ORDER BY s.id
"""

ROWS = """
SELECT i.external_id AS instance, c.text AS criterion, a.name AS annotator, s.revision,
  CASE WHEN NOT EXISTS (SELECT 1 FROM submission later WHERE later.annotator = s.annotator
    AND later.instance = s.instance AND later.criterion = s.criterion AND later.revision > s.revision)
    THEN 1 ELSE 0 END AS latest,
  w.position AS line, w.kind, w.action, l.text AS drafted, w.text AS new_text, w.reason
FROM submission_row w
JOIN submission s ON s.id = w.submission
JOIN instance i ON i.id = s.instance
JOIN criterion c ON c.id = s.criterion
JOIN annotator a ON a.id = s.annotator
LEFT JOIN draft_row l ON l.id = w.draft_row
WHERE i.task = :task ORDER BY w.submission, w.position
"""

ANNOTATORS = """
SELECT DISTINCT a.id, a.name FROM submission s
JOIN instance i ON i.id = s.instance AND i.task = :task
JOIN annotator a ON a.id = s.annotator ORDER BY a.id
"""

UNITS = """
SELECT i.external_id AS instance, c.text AS criterion, s.annotator, s.score
FROM current_submission s
JOIN instance i ON i.id = s.instance
JOIN criterion c ON c.id = s.criterion
WHERE i.task = :task ORDER BY i.position, c.id, s.annotator
"""
