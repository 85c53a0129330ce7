"""A study's design: arms, planted errors, first scores, decisions and suggestions."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script

DESIGN = """
-- first_share: pairs of (annotator, instance) scored before the draft is shown; sown_share: assisted
-- evaluations with something wrong on purpose. Times count until idle_seconds without a sign of life.
ALTER TABLE task ADD COLUMN first_share REAL NOT NULL DEFAULT 0
  CHECK (first_share >= 0 AND blind_share + first_share <= 1);
ALTER TABLE task ADD COLUMN sown_share REAL NOT NULL DEFAULT 0 CHECK (sown_share BETWEEN 0 AND 1);
ALTER TABLE task ADD COLUMN idle_seconds INTEGER NOT NULL DEFAULT 60 CHECK (idle_seconds BETWEEN 10 AND 3600);
ALTER TABLE task ADD COLUMN display TEXT NOT NULL DEFAULT 'plain' CHECK (display IN ('plain', 'markdown'));
ALTER TABLE task ADD COLUMN hide_systems INTEGER NOT NULL DEFAULT 1 CHECK (hide_systems IN (0, 1));

-- The columns above as they were set, by whom and when: a paper has to say under which design it was made.
CREATE TABLE design_change (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  design_json TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
CREATE INDEX design_change_task ON design_change(task, id);
"""

ASSIGNMENT = """
-- As before, with a third arm. The arm is drawn when the person first opens the instance, so that a change
-- of the shares touches only what nobody has seen; until then it is null. skipped repeats the latest mark.
CREATE TABLE assignment_new (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  task INTEGER NOT NULL REFERENCES task(id),
  position INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  arm TEXT CHECK (arm IN ('assisted', 'blind', 'first')),
  opened_at TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'finished')),
  flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1)),
  skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped IN (0, 1)),
  CHECK ((arm IS NULL) = (opened_at IS NULL)),
  PRIMARY KEY (annotator, task, position),
  UNIQUE (annotator, instance)
) STRICT;
-- What somebody saved or marked is what they have opened; its arm stays.
INSERT INTO assignment_new (annotator, task, position, instance, arm, opened_at, state, flagged, skipped)
  SELECT a.annotator, a.task, a.position, a.instance, CASE WHEN seen.at IS NULL THEN NULL ELSE a.arm END,
    seen.at, a.state, a.flagged, coalesce(seen.skipped, 0)
  FROM assignment a
  LEFT JOIN (
    SELECT annotator, instance, min(at) AS at, max(skipped) AS skipped FROM (
      SELECT annotator, instance, min(coalesce(opened_at, submitted_at)) AS at, 0 AS skipped
      FROM submission GROUP BY annotator, instance
      UNION ALL
      SELECT m.annotator, m.instance, m.marked_at, m.skipped FROM mark m WHERE NOT EXISTS (
        SELECT 1 FROM mark later WHERE later.annotator = m.annotator AND later.instance = m.instance
          AND later.id > m.id)
    ) GROUP BY annotator, instance
  ) seen ON seen.annotator = a.annotator AND seen.instance = a.instance;
DROP TABLE assignment;
ALTER TABLE assignment_new RENAME TO assignment;
CREATE INDEX assignment_state ON assignment(annotator, task, state, skipped, position);
CREATE INDEX assignment_flagged ON assignment(annotator, task, position) WHERE flagged = 1;
"""

SUBMISSION = """
-- As before, with a third arm, the score that stood on the screen, and what of it was wrong on purpose.
-- The lines are copied with it: they point at the table that takes the old one's place.
DROP VIEW current_submission;
CREATE TABLE submission_new (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  revision INTEGER NOT NULL,
  draft INTEGER REFERENCES draft(id),
  arm TEXT NOT NULL CHECK (arm IN ('assisted', 'blind', 'first')),
  score REAL,
  shown_score REAL,
  sown TEXT CHECK (sown IN ('score', 'evidence')),
  bulk INTEGER NOT NULL DEFAULT 0 CHECK (bulk IN (0, 1)),
  opened_at TEXT,
  submitted_at TEXT NOT NULL,
  active_ms INTEGER,
  CHECK (sown IS NULL OR arm = 'assisted'),
  CHECK (shown_score IS NULL OR arm <> 'blind'),
  UNIQUE (annotator, instance, criterion, revision)
) STRICT;
CREATE TABLE submission_row_new (
  submission INTEGER NOT NULL REFERENCES submission_new(id),
  position INTEGER NOT NULL,
  draft_row INTEGER REFERENCES draft_row(id),
  kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
  action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
  reason TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (submission, position)
) STRICT;
INSERT INTO submission_new (id, uid, annotator, instance, criterion, revision, draft, arm, score, shown_score,
    sown, bulk, opened_at, submitted_at, active_ms)
  SELECT s.id, s.uid, s.annotator, s.instance, s.criterion, s.revision, s.draft, s.arm, s.score,
    CASE s.arm WHEN 'assisted' THEN d.score END, NULL, s.bulk, s.opened_at, s.submitted_at, s.active_ms
  FROM submission s LEFT JOIN draft d ON d.id = s.draft ORDER BY s.id;
INSERT INTO submission_row_new (submission, position, draft_row, kind, action, reason, text)
  SELECT submission, position, draft_row, kind, action, reason, text FROM submission_row;
DROP TABLE submission_row;
DROP TABLE submission;
ALTER TABLE submission_new RENAME TO submission;
ALTER TABLE submission_row_new RENAME TO submission_row;
CREATE INDEX submission_instance ON submission(instance, criterion);
CREATE INDEX submission_annotator ON submission(annotator);
CREATE VIEW current_submission AS
  SELECT s.* FROM submission s WHERE NOT EXISTS (
    SELECT 1 FROM submission later WHERE later.annotator = s.annotator
      AND later.instance = s.instance AND later.criterion = s.criterion
      AND later.revision > s.revision);
"""

SHOWN = """
-- The score given before the draft was shown, in the arm `first`: once, and never changed.
CREATE TABLE first_score (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  score REAL NOT NULL,
  opened_at TEXT,
  submitted_at TEXT NOT NULL,
  active_ms INTEGER,
  UNIQUE (annotator, instance, criterion)
) STRICT;

-- What is wrong on purpose in a draft as one person sees it: score holds the score shown instead of the
-- draft's, or source_row the line of another instance shown in the place of draft_row. Drawn when the
-- instance is opened, and told to owners only.
CREATE TABLE sown (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  draft INTEGER NOT NULL REFERENCES draft(id),
  kind TEXT NOT NULL CHECK (kind IN ('score', 'evidence')),
  score REAL,
  draft_row INTEGER REFERENCES draft_row(id),
  source_row INTEGER REFERENCES draft_row(id),
  sown_at TEXT NOT NULL,
  CHECK ((kind = 'score') = (score IS NOT NULL)),
  CHECK ((kind = 'evidence') = (draft_row IS NOT NULL AND source_row IS NOT NULL)),
  PRIMARY KEY (annotator, instance, criterion)
) STRICT;
"""

REVIEW = """
-- What an owner decided where people differ; a later revision replaces an earlier one. It stands beside
-- the annotators' scores and is never one of them.
CREATE TABLE adjudication (
  id INTEGER PRIMARY KEY,
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  revision INTEGER NOT NULL,
  score REAL NOT NULL,
  note TEXT NOT NULL,
  decided_by INTEGER NOT NULL REFERENCES annotator(id),
  decided_at TEXT NOT NULL,
  UNIQUE (instance, criterion, revision)
) STRICT;

-- A criterion that somebody thought of while scrutinising, and the instance that prompted it.
CREATE TABLE suggestion (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  text TEXT NOT NULL,
  suggested_at TEXT NOT NULL
) STRICT;
CREATE INDEX suggestion_task ON suggestion(task, id);

-- Where a proposal comes from, such as the instance that prompted it.
ALTER TABLE proposal ADD COLUMN note TEXT NOT NULL DEFAULT '';
"""


def m005_study_design(db: Database) -> None:
    for part in (DESIGN, ASSIGNMENT, SUBMISSION, SHOWN, REVIEW):
        run_script(db, part)
