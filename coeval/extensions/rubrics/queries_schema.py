"""The steps that create the tables of this extension."""

from __future__ import annotations

from coeval.store.steps import read_steps

STEPS = read_steps("""
-- step rubrics_tables: criteria of one instance, judgments by them, and what people made of both

-- A pass of a model over a task: it wrote criteria, or judged by those there are.
CREATE TABLE rubrics_run (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL CHECK (kind IN ('criteria', 'judgments')),
  label TEXT NOT NULL,
  model TEXT NOT NULL,
  way TEXT NOT NULL CHECK (way IN ('instance', 'criterion')), -- what one question is about
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (task, kind, label)
) STRICT;

-- Which run's judgments are drafts that annotators see; the newest row of a task is in force.
CREATE TABLE rubrics_shown (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  run INTEGER NOT NULL REFERENCES rubrics_run(id),
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;

-- The instances whose column "rubrics" was read already.
CREATE TABLE rubrics_taken (
  instance INTEGER PRIMARY KEY REFERENCES instance(id),
  taken_at TEXT NOT NULL
) STRICT;

-- A criterion as it was imported or drafted; it never changes.
CREATE TABLE rubrics_criterion (
  id INTEGER PRIMARY KEY,
  instance INTEGER NOT NULL REFERENCES instance(id),
  position INTEGER NOT NULL, -- from 1 within the instance
  text TEXT NOT NULL,
  points REAL NOT NULL,
  axis TEXT NOT NULL,
  tags_json TEXT NOT NULL,
  run INTEGER REFERENCES rubrics_run(id), -- null where it was imported
  rung TEXT NOT NULL, -- how it was obtained from a model, as in draft; empty where it was imported
  created_at TEXT NOT NULL,
  UNIQUE (instance, position)
) STRICT;

-- A model's judgment by one criterion; the newest of a run and a criterion is in force.
CREATE TABLE rubrics_judgment (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES rubrics_run(id),
  criterion INTEGER NOT NULL REFERENCES rubrics_criterion(id),
  value REAL, -- 1 for met, 0 for not met; null where the answer could not be read
  explanation TEXT NOT NULL,
  evidence_json TEXT NOT NULL, -- quoted passages
  reason TEXT NOT NULL, -- why there is no value
  raw TEXT NOT NULL, -- the answer, where there is no value
  rung TEXT NOT NULL, -- how the value was obtained, as in draft; empty where there is none
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX rubrics_judgment_by_run ON rubrics_judgment (run, criterion);

-- A person's saved review of all criteria of an instance; append-only, the highest revision is in force.
CREATE TABLE rubrics_submission (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  instance INTEGER NOT NULL REFERENCES instance(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  revision INTEGER NOT NULL,
  arm TEXT NOT NULL,
  run INTEGER REFERENCES rubrics_run(id), -- whose judgments were on the screen; null where none were
  opened_at TEXT NOT NULL,
  active_ms INTEGER,
  submitted_at TEXT NOT NULL,
  UNIQUE (instance, annotator, revision)
) STRICT;

-- One line of a submission: what became of a criterion, and the person's own judgment by it. It names its submission by
-- what a copy of it keeps, and this is checked at the end of a transaction, so that a person's work can be put aside.
CREATE TABLE rubrics_line (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  revision INTEGER NOT NULL,
  place INTEGER NOT NULL, -- from 1 within the submission
  criterion INTEGER REFERENCES rubrics_criterion(id), -- null where the person added it
  action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
  text TEXT NOT NULL, -- the new wording of a revised or added criterion
  points REAL, -- the new points of a revised or added criterion
  axis TEXT NOT NULL, -- that of an added criterion
  reason TEXT NOT NULL,
  value REAL, -- null where the criterion was deleted
  evidence TEXT NOT NULL,
  judgment INTEGER REFERENCES rubrics_judgment(id), -- the draft on the screen, with which the value compares
  PRIMARY KEY (annotator, instance, revision, place),
  FOREIGN KEY (instance, annotator, revision) REFERENCES rubrics_submission (instance, annotator, revision)
    DEFERRABLE INITIALLY DEFERRED
) STRICT;

-- A row that others refer to is deleted without reading their whole table.
CREATE INDEX rubrics_shown_by_run ON rubrics_shown (run);
CREATE INDEX rubrics_shown_by_task ON rubrics_shown (task);
CREATE INDEX rubrics_criterion_by_run ON rubrics_criterion (run);
CREATE INDEX rubrics_judgment_by_criterion ON rubrics_judgment (criterion);
CREATE INDEX rubrics_submission_by_run ON rubrics_submission (run);
CREATE INDEX rubrics_submission_by_annotator ON rubrics_submission (annotator);
CREATE INDEX rubrics_line_by_instance ON rubrics_line (instance, annotator, revision);
CREATE INDEX rubrics_line_by_revision ON rubrics_line (revision);
CREATE INDEX rubrics_line_by_judgment ON rubrics_line (judgment);
CREATE INDEX rubrics_line_by_criterion ON rubrics_line (criterion);
""")
