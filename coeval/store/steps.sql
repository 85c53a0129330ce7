-- The steps that make the schema, in the order in which a database takes them. To see the present schema, read
-- schema.sql.
--
-- Each step begins with a line "-- step NAME: why". Databases have recorded the names. Never edit, rename or move a
-- released step: add the next step at the end. The order is the order of the releases, not of the numbers.
--
-- Write STRICT tables with foreign keys, in SQL that both SQLite and PostgreSQL accept (coeval/README.md, "A
-- query or a step for both engines"). Facts are appended, and a view shows the current state. Times are UTC
-- text, ISO 8601 with milliseconds and Z, so that they sort as text.


-- step m001_people_and_tasks: People, sessions, tasks and instances

-- A person who signs in. A local team signs in with these names, so names are unique.
CREATE TABLE annotator (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 80),
  role TEXT NOT NULL CHECK (role IN ('owner', 'researcher', 'annotator')),
  created_at TEXT NOT NULL
) STRICT;

-- A browser that is signed in. Only a hash of the cookie's token is stored, so the file opens no session.
CREATE TABLE session (
  token_hash TEXT PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE INDEX session_annotator ON session(annotator);

-- description, input_field and output_field are the paper's T_desc, T_ipt and T_opt. seed determines each
-- person's order and arms. blind_share is the share of (annotator, instance) pairs that are shown without the
-- draft.
CREATE TABLE task (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  input_field TEXT NOT NULL,
  output_field TEXT NOT NULL,
  guidelines TEXT NOT NULL,
  scale_min INTEGER NOT NULL,
  scale_max INTEGER NOT NULL CHECK (scale_max > scale_min),
  origin TEXT NOT NULL,
  seed TEXT NOT NULL,
  blind_share REAL NOT NULL DEFAULT 0 CHECK (blind_share BETWEEN 0 AND 1),
  created_at TEXT NOT NULL
) STRICT;

-- One (X, Y) pair. position is the order of the import, from 1 without gaps within a task.
CREATE TABLE instance (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  position INTEGER NOT NULL,
  external_id TEXT NOT NULL,
  document TEXT NOT NULL,
  system TEXT NOT NULL,
  input TEXT NOT NULL,
  output TEXT NOT NULL,
  reference TEXT NOT NULL,
  context_json TEXT NOT NULL,
  UNIQUE (task, external_id),
  UNIQUE (task, position)
) STRICT;


-- step m002_criteria: Criteria, rounds of voting, and the criteria sets that result from them

-- A wording never changes. A criterion that a new version keeps is the same row, so that its drafts and
-- submissions stay valid and only changed criteria are reopened.
CREATE TABLE criterion (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
  scale_min INTEGER NOT NULL,
  scale_max INTEGER NOT NULL CHECK (scale_max > scale_min),
  UNIQUE (task, text, scale_min, scale_max)
) STRICT;

CREATE TABLE criteria_set (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  version INTEGER NOT NULL,
  established_at TEXT NOT NULL,
  established_by TEXT NOT NULL,
  UNIQUE (task, version)
) STRICT;

CREATE TABLE criteria_set_member (
  criteria_set INTEGER NOT NULL REFERENCES criteria_set(id),
  position INTEGER NOT NULL,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  PRIMARY KEY (criteria_set, position),
  UNIQUE (criteria_set, criterion)
) STRICT;

-- A vote: the version of the set that it is for, and the number of the round for this version.
CREATE TABLE ballot_round (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  version INTEGER NOT NULL,
  round INTEGER NOT NULL,
  opened_at TEXT NOT NULL,
  UNIQUE (task, version, round)
) STRICT;

CREATE TABLE proposal (
  id INTEGER PRIMARY KEY,
  ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
  support INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  members_json TEXT NOT NULL,
  criterion INTEGER REFERENCES criterion(id),
  UNIQUE (ballot_round, position)
) STRICT;

-- One save of one person's ballot. The highest revision counts.
CREATE TABLE ballot (
  id INTEGER PRIMARY KEY,
  ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  revision INTEGER NOT NULL,
  saved_at TEXT NOT NULL,
  UNIQUE (ballot_round, annotator, revision)
) STRICT;

-- proposal is null for a criterion that the evaluator adds.
CREATE TABLE vote (
  ballot INTEGER NOT NULL REFERENCES ballot(id),
  position INTEGER NOT NULL,
  proposal INTEGER REFERENCES proposal(id),
  action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
  reason TEXT NOT NULL,
  new_text TEXT NOT NULL,
  PRIMARY KEY (ballot, position)
) STRICT;

CREATE VIEW current_ballot AS
  SELECT b.* FROM ballot b WHERE NOT EXISTS (
    SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
      AND later.annotator = b.annotator AND later.revision > b.revision);


-- step m003_drafts: Runs, drafts, the ledger of calls, and jobs

-- One pass of one judge over a task. At most one run of a task is shown to its annotators.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  criteria_set INTEGER REFERENCES criteria_set(id),
  protocol TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_hash TEXT NOT NULL,
  params_json TEXT NOT NULL,
  label TEXT NOT NULL,
  shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),
  created_at TEXT NOT NULL,
  UNIQUE (task, label)
) STRICT;
CREATE UNIQUE INDEX run_shown ON run(task) WHERE shown = 1;

-- A draft never changes. If an unscored draft is requested again, the answer is stored as a further attempt.
CREATE TABLE draft (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  attempt INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'unscored')),
  score REAL,
  reason TEXT NOT NULL,
  raw TEXT NOT NULL,
  samples_json TEXT NOT NULL,
  created_at TEXT NOT NULL,
  CHECK ((status = 'ok') = (score IS NOT NULL)),
  UNIQUE (run, instance, criterion, attempt)
) STRICT;

CREATE VIEW current_draft AS
  SELECT d.* FROM draft d WHERE NOT EXISTS (
    SELECT 1 FROM draft later WHERE later.run = d.run AND later.instance = d.instance
      AND later.criterion = d.criterion AND later.attempt > d.attempt);

CREATE TABLE draft_row (
  id INTEGER PRIMARY KEY,
  draft INTEGER NOT NULL REFERENCES draft(id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
  text TEXT NOT NULL,
  UNIQUE (draft, position)
) STRICT;

-- A line can quote several spans. Offsets are null if the span is not in the output.
CREATE TABLE quote (
  draft_row INTEGER NOT NULL REFERENCES draft_row(id),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  quote_start INTEGER,
  quote_end INTEGER,
  CHECK ((quote_start IS NULL) = (quote_end IS NULL)),
  PRIMARY KEY (draft_row, position)
) STRICT;

-- The ledger is used for caching, resuming and audits. Only one answer per question and sample is paid for.
-- Failures are stored as well.
CREATE TABLE call (
  id INTEGER PRIMARY KEY,
  request_hash TEXT NOT NULL,
  sample INTEGER NOT NULL,
  model TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  request TEXT NOT NULL,
  response TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  cost REAL NOT NULL,
  latency_ms INTEGER NOT NULL,
  error TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX call_answered ON call(request_hash, sample) WHERE error = '';

CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  task INTEGER NOT NULL REFERENCES task(id),
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
  params_json TEXT NOT NULL,
  total INTEGER NOT NULL,
  done INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  message TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;


-- step m004_scrutiny: Assignments, and the work that people save

-- A person's queue: their own order of the instances, the arm of each instance, and whether it is finished
-- (every criterion of the current set is saved). This is the only table here that is updated in place,
-- because it can be rebuilt from the submissions.
CREATE TABLE assignment (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  task INTEGER NOT NULL REFERENCES task(id),
  position INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  arm TEXT NOT NULL CHECK (arm IN ('assisted', 'blind')),
  state TEXT NOT NULL CHECK (state IN ('open', 'finished')),
  flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1)),
  PRIMARY KEY (annotator, task, position),
  UNIQUE (annotator, instance)
) STRICT;
CREATE INDEX assignment_state ON assignment(annotator, task, state, position);
CREATE INDEX assignment_flagged ON assignment(annotator, task, position) WHERE flagged = 1;

-- draft is the draft that was shown or, in the blind arm, withheld. uid is the browser's key for one confirm,
-- so that a save that is sent twice is stored once.
CREATE TABLE submission (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  revision INTEGER NOT NULL,
  draft INTEGER REFERENCES draft(id),
  arm TEXT NOT NULL CHECK (arm IN ('assisted', 'blind')),
  score REAL,
  bulk INTEGER NOT NULL DEFAULT 0 CHECK (bulk IN (0, 1)),
  opened_at TEXT,
  submitted_at TEXT NOT NULL,
  active_ms INTEGER,
  UNIQUE (annotator, instance, criterion, revision)
) STRICT;
CREATE INDEX submission_instance ON submission(instance, criterion);
CREATE INDEX submission_annotator ON submission(annotator);

CREATE TABLE submission_row (
  submission INTEGER NOT NULL REFERENCES submission(id),
  position INTEGER NOT NULL,
  draft_row INTEGER REFERENCES draft_row(id),
  kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
  action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
  reason TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (submission, position)
) STRICT;

CREATE VIEW current_submission AS
  SELECT s.* FROM submission s WHERE NOT EXISTS (
    SELECT 1 FROM submission later WHERE later.annotator = s.annotator
      AND later.instance = s.instance AND later.criterion = s.criterion
      AND later.revision > s.revision);

-- A person's remarks on a whole instance. The newest row is valid.
CREATE TABLE mark (
  id INTEGER PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  flagged INTEGER NOT NULL CHECK (flagged IN (0, 1)),
  skipped INTEGER NOT NULL CHECK (skipped IN (0, 1)),
  comment TEXT NOT NULL,
  marked_at TEXT NOT NULL
) STRICT;
CREATE INDEX mark_latest ON mark(annotator, instance, id);


-- step m005_study_design: The design of a study: arms, planted errors, first scores, decisions and suggestions

-- first_share is the share of (annotator, instance) pairs that are scored before the draft is shown.
-- sown_share is the share of assisted evaluations with a planted error. Active time stops after idle_seconds
-- without activity.
ALTER TABLE task ADD COLUMN first_share REAL NOT NULL DEFAULT 0
  CHECK (first_share >= 0 AND blind_share + first_share <= 1);
ALTER TABLE task ADD COLUMN sown_share REAL NOT NULL DEFAULT 0 CHECK (sown_share BETWEEN 0 AND 1);
ALTER TABLE task ADD COLUMN idle_seconds INTEGER NOT NULL DEFAULT 60 CHECK (idle_seconds BETWEEN 10 AND 3600);
ALTER TABLE task ADD COLUMN display TEXT NOT NULL DEFAULT 'plain' CHECK (display IN ('plain', 'markdown'));
ALTER TABLE task ADD COLUMN hide_systems INTEGER NOT NULL DEFAULT 1 CHECK (hide_systems IN (0, 1));

-- Each version of the columns above, with its author and time, because a paper must report the design of the
-- study.
CREATE TABLE design_change (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  design_json TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
CREATE INDEX design_change_task ON design_change(task, id);

-- This is the same table with a third arm. The arm is drawn when the person first opens the instance, so that
-- a change of the shares affects only unopened instances; until then it is null. skipped repeats the newest
-- mark.
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
-- Instances with saves or marks count as opened and keep their arm.
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

-- This is the same table with a third arm, the score on the screen, and the kind of planted error. The lines
-- are copied too, because they refer to the table that replaces the old one.
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

-- The score that a person gave before the draft was shown, in the arm `first`. It is stored once and never
-- changes.
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

-- A planted error in a draft as one person sees it: score is shown instead of the draft's score, or
-- source_row, a line of another instance, is shown instead of draft_row. It is drawn when the instance is
-- opened, and only owners can see it.
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

-- An owner's decision on differing scores. A later revision replaces an earlier one. It is stored separately
-- from the annotators' scores and never counts as one of them.
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

-- A criterion that a person suggested during scrutiny, and the instance that prompted it.
CREATE TABLE suggestion (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  text TEXT NOT NULL,
  suggested_at TEXT NOT NULL
) STRICT;
CREATE INDEX suggestion_task ON suggestion(task, id);

-- The origin of a proposal, such as the instance that prompted it.
ALTER TABLE proposal ADD COLUMN note TEXT NOT NULL DEFAULT '';


-- step m010_judging: Help for a judge: evaluation steps, assistant evaluators, and a rating of the whole

-- Evaluation steps (auto-CoT) for a criterion, written by a model or a person. The newest text of a criterion
-- is valid; a run keeps the text that it used.
CREATE TABLE criterion_steps (
  id INTEGER PRIMARY KEY,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  text TEXT NOT NULL,
  origin TEXT NOT NULL,
  written_by TEXT NOT NULL,
  written_at TEXT NOT NULL
) STRICT;
CREATE INDEX criterion_steps_newest ON criterion_steps(criterion, id);

-- An assistant evaluator's score of an instance, computed once or imported. It is null if there is no score.
CREATE TABLE assistant_score (
  instance INTEGER NOT NULL REFERENCES instance(id),
  assistant TEXT NOT NULL,
  score REAL,
  PRIMARY KEY (instance, assistant)
) STRICT;

-- Fusion also rates each instance as a whole. This is the model's own rating, not a mean over the criteria.
CREATE TABLE overall_rating (
  run INTEGER NOT NULL REFERENCES run(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  score REAL,
  reason TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (run, instance)
) STRICT;


-- step m020_accounts: Accounts and invitations

-- A person's proof of identity. subject is the account's name, the permanent id at Hugging Face, or the id at
-- Prolific or MTurk. secret is an Argon2 hash, or empty. guest is 1 for strangers, who see only the studies
-- that they joined.
CREATE TABLE account (
  annotator INTEGER PRIMARY KEY REFERENCES annotator(id),
  kind TEXT NOT NULL CHECK (kind IN ('password', 'huggingface', 'prolific', 'mturk')),
  subject TEXT NOT NULL,
  secret TEXT NOT NULL,
  guest INTEGER NOT NULL CHECK (guest IN (0, 1)),
  created_at TEXT NOT NULL,
  UNIQUE (kind, subject)
) STRICT;

-- A link that creates one account or, with annotator, gives that person a new password. Only a hash of its
-- token is stored.
CREATE TABLE invitation (
  token_hash TEXT PRIMARY KEY,
  annotator INTEGER REFERENCES annotator(id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'researcher', 'annotator')),
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  used_at TEXT,
  used_by INTEGER REFERENCES annotator(id)
) STRICT;

-- Recent refused sign-ins, by a hash of name and address, for throttling. Old rows are deleted.
CREATE TABLE sign_in_failure (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  failed_at TEXT NOT NULL
) STRICT;
CREATE INDEX sign_in_failure_key ON sign_in_failure(key, failed_at);


-- step m021_crowd: Crowd studies: plans, enrolments, reservations and exams

-- The plan by which a task is assigned. A task without a row is open: everybody gets every instance. exam is
-- the task whose instances are the qualification. settings_json has the owner's other settings: texts, codes,
-- pay, pass mark, attention checks.
CREATE TABLE crowd (
  task INTEGER PRIMARY KEY REFERENCES task(id),
  state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'closed')),
  per_instance INTEGER NOT NULL CHECK (per_instance BETWEEN 1 AND 1000),
  batch INTEGER NOT NULL CHECK (batch BETWEEN 1 AND 1000),
  quota INTEGER NOT NULL CHECK (quota BETWEEN 1 AND 100000),
  exam INTEGER REFERENCES task(id),
  reserve_minutes INTEGER NOT NULL CHECK (reserve_minutes BETWEEN 1 AND 100000),
  settings_json TEXT NOT NULL
) STRICT;

-- Each assignment of an instance to a person. Rows are permanent: nobody gets the same instance twice.
-- outcome is empty while the person holds the instance. Held and finished instances each use one of the
-- instance's places. passed is the result of a finished attention check.
CREATE TABLE reservation (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  task INTEGER NOT NULL REFERENCES task(id),
  purpose TEXT NOT NULL CHECK (purpose IN ('work', 'check')),
  given_at TEXT NOT NULL,
  reserved_until TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('', 'finished', 'timed_out', 'returned', 'rejected')),
  passed INTEGER CHECK (passed IN (0, 1)),
  PRIMARY KEY (annotator, instance)
) STRICT;
CREATE INDEX reservation_places ON reservation(instance, outcome);
CREATE INDEX reservation_due ON reservation(task, outcome, reserved_until);

-- A person's state in a study: one row per step, of which the last is valid. actor is the person or process
-- that caused the step.
CREATE TABLE enrolment (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  state TEXT NOT NULL,
  note TEXT NOT NULL,
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX enrolment_latest ON enrolment(task, annotator, id);
CREATE VIEW current_enrolment AS
  SELECT e.* FROM enrolment e WHERE NOT EXISTS (
    SELECT 1 FROM enrolment later WHERE later.task = e.task AND later.annotator = e.annotator
      AND later.id > e.id);

-- One arrival of a person through a crowd service's link, with the service's ids of its study and session.
CREATE TABLE arrival (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  study TEXT NOT NULL,
  session TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX arrival_annotator ON arrival(annotator, task);

-- The right answer for an instance and a criterion. For the task of an exam it is the exam's key, for any
-- other task an attention check. must_json has the positions of drafted lines that must be deleted or
-- revised.
CREATE TABLE answer_key (
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  accepted_json TEXT NOT NULL,
  must_json TEXT NOT NULL,
  explanation TEXT NOT NULL,
  PRIMARY KEY (instance, criterion)
) STRICT;

-- One submitted attempt at the exam, graded with the keys at that time.
CREATE TABLE exam_attempt (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  attempt INTEGER NOT NULL,
  right_items INTEGER NOT NULL,
  items INTEGER NOT NULL,
  passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
  detail_json TEXT NOT NULL,
  at TEXT NOT NULL,
  UNIQUE (task, annotator, attempt)
) STRICT;

-- Work that stays on record but is left out of the statistics: the work of rejected people, and attention
-- checks, whose answers were known in advance.
CREATE VIEW uncounted AS
  SELECT r.task, r.annotator, r.instance FROM reservation r
  JOIN current_enrolment e ON e.task = r.task AND e.annotator = r.annotator
  WHERE r.purpose = 'check' OR e.state IN ('rejected', 'blocked', 'removed');


-- step m022_restoration: A record of each time that the file came back from a snapshot

-- Each restoration of this file from a snapshot. Work that was saved in the previous file after taken_at is
-- lost, and the record must say so.
CREATE TABLE restoration (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  name TEXT NOT NULL,
  taken_at TEXT NOT NULL,
  restored_at TEXT NOT NULL
) STRICT;


-- step m023_queue_tally: The progress of each queue, without counting the queue

-- The number of finished and flagged instances in each queue, kept up to date by triggers. Every screen shows
-- it, and counting a queue of 100,000 instances takes longer than the rest of a screen.
CREATE TABLE queue_tally (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  task INTEGER NOT NULL REFERENCES task(id),
  finished INTEGER NOT NULL,
  flagged INTEGER NOT NULL,
  PRIMARY KEY (annotator, task)
) STRICT, WITHOUT ROWID;
INSERT INTO queue_tally (annotator, task, finished, flagged)
  SELECT annotator, task, sum(state = 'finished'), sum(flagged) FROM assignment GROUP BY annotator, task;

CREATE TRIGGER tally_added AFTER INSERT ON assignment WHEN NEW.state = 'finished' OR NEW.flagged BEGIN
  INSERT INTO queue_tally VALUES (NEW.annotator, NEW.task, NEW.state = 'finished', NEW.flagged)
    ON CONFLICT DO UPDATE SET finished = finished + excluded.finished, flagged = flagged + excluded.flagged;
END;
CREATE TRIGGER tally_changed AFTER UPDATE OF state, flagged ON assignment
WHEN OLD.state <> NEW.state OR OLD.flagged <> NEW.flagged BEGIN
  INSERT INTO queue_tally VALUES (NEW.annotator, NEW.task,
      (NEW.state = 'finished') - (OLD.state = 'finished'), NEW.flagged - OLD.flagged)
    ON CONFLICT DO UPDATE SET finished = finished + excluded.finished, flagged = flagged + excluded.flagged;
END;
CREATE TRIGGER tally_removed AFTER DELETE ON assignment WHEN OLD.state = 'finished' OR OLD.flagged BEGIN
  UPDATE queue_tally SET finished = finished - (OLD.state = 'finished'), flagged = flagged - OLD.flagged
    WHERE annotator = OLD.annotator AND task = OLD.task;
END;


-- step m024_planted_error: One word for an error that was put into a draft on purpose: planted error

ALTER TABLE sown RENAME TO planted_error;
ALTER TABLE planted_error RENAME COLUMN sown_at TO planted_at;
ALTER TABLE task RENAME COLUMN sown_share TO planted_share;
ALTER TABLE submission RENAME COLUMN sown TO planted;


-- step m025_leases: Work that only one worker at a time may do

-- The holder of exclusive work, such as the drafts of a run. The holder renews the lease every few seconds
-- and removes it at the end. A lease that was not renewed has no holder.
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  job INTEGER REFERENCES job(id),
  renewed_at TEXT NOT NULL
) STRICT;
CREATE INDEX lease_job ON lease(job);


-- step m026_import_batch: Imports that are written in parts and become visible at once

-- An import of a file into the task with this slug. While finished_at is null, the import is in progress: its
-- instances and runs belong to a task that no list shows (staging), and its submissions are not counted. If
-- it fails, everything that it wrote is deleted. It is written in short transactions, so that people can save
-- meanwhile.
CREATE TABLE import_batch (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL,
  staging INTEGER REFERENCES task(id),
  imported_by TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;
CREATE INDEX import_batch_pending ON import_batch(id) WHERE finished_at IS NULL;

-- The people whom an import added. They are deleted with it if it fails.
CREATE TABLE import_batch_person (
  import_batch INTEGER NOT NULL REFERENCES import_batch(id),
  person INTEGER NOT NULL,
  PRIMARY KEY (import_batch, person)
) STRICT;

ALTER TABLE submission ADD COLUMN import_batch INTEGER REFERENCES import_batch(id);
CREATE INDEX submission_import ON submission(import_batch) WHERE import_batch IS NOT NULL;

DROP VIEW current_submission;
CREATE VIEW current_submission AS
  SELECT s.* FROM submission s WHERE (s.import_batch IS NULL
      OR s.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL))
    AND NOT EXISTS (
    SELECT 1 FROM submission later WHERE later.annotator = s.annotator
      AND later.instance = s.instance AND later.criterion = s.criterion
      AND later.revision > s.revision AND (later.import_batch IS NULL
      OR later.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL)));


-- step m030_lineage: The line that a file belongs to, so that no other file takes its place; the cost of a restoration

-- One row. id identifies this file and all of its copies; a newly created file has another id. term is the
-- latest term in which the file was served from a snapshot place. sign_in is the kind of sign-in that opened
-- its sessions.
CREATE TABLE lineage (
  id TEXT NOT NULL UNIQUE,
  term INTEGER NOT NULL,
  sign_in TEXT NOT NULL
) STRICT;

-- passed_over has newer snapshots that were damaged, one per line. newest_at is the time of the newest of
-- them. put_aside is the replaced file, which is kept in the same folder.
ALTER TABLE restoration ADD COLUMN passed_over TEXT NOT NULL DEFAULT '';
ALTER TABLE restoration ADD COLUMN newest_at TEXT NOT NULL DEFAULT '';
ALTER TABLE restoration ADD COLUMN put_aside TEXT NOT NULL DEFAULT '';
-- The function begin_lineage in steps.py runs next.


-- step m031_revocation: Ways to take back what lets people in: invitations, and the name of the owner of a hosted study

-- creator is the person who made the link; it is null for the command line. A link is void if it was revoked,
-- or if its creator is no longer an owner.
ALTER TABLE invitation ADD COLUMN creator INTEGER REFERENCES annotator(id);
ALTER TABLE invitation ADD COLUMN revoked_at TEXT;
UPDATE invitation SET creator = (SELECT id FROM annotator WHERE name = created_by);

-- At Hugging Face, a name can pass to another person, but an id is permanent. The first person who signs in
-- with the owner's name from the settings becomes the owner; a later holder of the name does not.
CREATE TABLE named_owner (
  name TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  pinned_at TEXT NOT NULL
) STRICT;


-- step m035_submission_record: One record for each submission at a crowd service; steps and reservations refer to it

-- An arrival is one submission: a person in a study, with the service's ids of its study and session. Both
-- are empty for people who sign in. It is added once and never changes; a finished person who returns in
-- another session gets a second one. proof is the proof of identity: 'token', 'link', or empty if there was
-- none.
ALTER TABLE arrival ADD COLUMN proof TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX arrival_once ON arrival(task, annotator, study, session);
INSERT INTO arrival (task, annotator, study, session, at)
  SELECT e.task, e.annotator, '', '', min(e.at) FROM enrolment e WHERE NOT EXISTS (
    SELECT 1 FROM arrival v WHERE v.task = e.task AND v.annotator = e.annotator)
  GROUP BY e.task, e.annotator;

-- The submission that a step or a reservation belongs to; null for work from before the study had a plan.
ALTER TABLE enrolment ADD COLUMN arrival INTEGER REFERENCES arrival(id);
ALTER TABLE reservation ADD COLUMN arrival INTEGER REFERENCES arrival(id);
UPDATE enrolment SET arrival = (SELECT coalesce(max(CASE WHEN v.at <= enrolment.at THEN v.id END), min(v.id))
  FROM arrival v WHERE v.task = enrolment.task AND v.annotator = enrolment.annotator);
UPDATE reservation SET arrival = (
  SELECT coalesce(max(CASE WHEN v.at <= reservation.given_at THEN v.id END), min(v.id))
  FROM arrival v WHERE v.task = reservation.task AND v.annotator = reservation.annotator);
CREATE INDEX enrolment_arrival ON enrolment(arrival, id);
CREATE INDEX reservation_arrival ON reservation(arrival);

-- The services' ids in one spelling, in which they are compared from now on.
UPDATE account SET subject = lower(subject) WHERE kind = 'prolific' AND NOT EXISTS (
  SELECT 1 FROM account other WHERE other.kind = 'prolific' AND other.annotator <> account.annotator
    AND lower(other.subject) = lower(account.subject));
UPDATE account SET subject = upper(subject) WHERE kind = 'mturk' AND NOT EXISTS (
  SELECT 1 FROM account other WHERE other.kind = 'mturk' AND other.annotator <> account.annotator
    AND upper(other.subject) = upper(account.subject));

-- The reason why a study is not running: 'full' if it paused by itself, empty if an owner decided.
ALTER TABLE crowd ADD COLUMN reason TEXT NOT NULL DEFAULT '';


-- step m036_exam_item: The items of an exam that a person was given in each try

-- The instances of one attempt at a study's exam, drawn when the attempt begins: those that the person has
-- seen least often.
CREATE TABLE exam_item (
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  attempt INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  PRIMARY KEY (task, annotator, attempt, instance)
) STRICT;
CREATE INDEX exam_item_annotator ON exam_item(annotator, instance);


-- step m037_assignment_arm: A count of the arms of a study, without reading its queues

-- Each draw of an arm counts how often each arm was drawn in the whole study.
CREATE INDEX assignment_arm ON assignment(task, arm) WHERE arm IS NOT NULL;


-- step m040_planted_text: The text of a planted line as it was shown: it quotes what the draft's own line quoted

-- It is null if the source's own words were shown, or if a score was planted.
ALTER TABLE planted_error ADD COLUMN text TEXT;


-- step m045_column_role: Column roles: who may see which column of an instance beyond its input and output

-- The role of a column in the instances' context. The newest row is valid. set_by is empty if a rule set the
-- role and nobody has changed it. A column without a role is shown to nobody.
CREATE TABLE column_role (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX column_role_newest ON column_role(task, name, id);
-- The function guess_column_roles in steps.py runs next.


-- step m046_call_endpoint: Answers belong to their endpoint: one model name on two servers never shares answers

DROP INDEX call_answered;
CREATE UNIQUE INDEX call_answered ON call(request_hash, sample, endpoint) WHERE error = '';


-- step m047_quote_place: The place of a quotation: word for word or nearly in the output, or in the input

-- The text that quote_start and quote_end refer to. They are null if the quotation is in neither text.
ALTER TABLE quote ADD COLUMN place TEXT NOT NULL DEFAULT 'output';


-- step m060_task_archive: Tasks that are archived and brought back

-- Each time that a task was archived (1) or restored (0). The newest row is valid. The task itself does not
-- change, so that its record stays complete.
CREATE TABLE task_archive (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
CREATE INDEX task_archive_newest ON task_archive(task, id);


-- step m070_group: The group that a person is counted in

-- The group that an owner set. If it is empty, the group follows from the kind of account: strangers, who
-- come through a study's link, are the crowd, and everybody else is the team.
ALTER TABLE annotator ADD COLUMN set_group TEXT NOT NULL DEFAULT ''
  CHECK (set_group IN ('', 'team', 'expert', 'crowd'));

CREATE VIEW annotator_group AS
SELECT a.id AS annotator, CASE
    WHEN a.set_group <> '' THEN a.set_group
    WHEN EXISTS (SELECT 1 FROM account c WHERE c.annotator = a.id AND c.guest = 1) THEN 'crowd'
    ELSE 'team' END AS group_name
FROM annotator a;


-- step m071_disabled: People who may not sign in

-- Each time that an owner disabled a person's sign-in. A person with a row without enabled_at cannot sign in.
CREATE TABLE disabling (
  id INTEGER PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  disabled_at TEXT NOT NULL,
  disabled_by TEXT NOT NULL,
  enabled_at TEXT,
  enabled_by TEXT
) STRICT;
CREATE UNIQUE INDEX disabling_now ON disabling(annotator) WHERE enabled_at IS NULL;


-- step m085_criterion_question: The question about a criterion that a free-text judge answers

-- Empty for the default question: how well the output meets the criterion.
ALTER TABLE criterion ADD COLUMN question TEXT NOT NULL DEFAULT '';


-- step m086_comparison: Two outputs of one document side by side, as a judge compared them

-- A comparison never changes. Each pair is compared in both orders; first is the output that was shown first.
-- preference is 1 if it was preferred, 0 if the second was, and null if no answer could be read. Such a pair
-- is compared again as a further attempt.
CREATE TABLE comparison (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  first INTEGER NOT NULL REFERENCES instance(id),
  second INTEGER NOT NULL REFERENCES instance(id),
  attempt INTEGER NOT NULL,
  preference REAL CHECK (preference BETWEEN 0 AND 1),
  reason TEXT NOT NULL,
  raw TEXT NOT NULL,
  samples_json TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (run, criterion, first, second, attempt)
) STRICT;

CREATE VIEW current_comparison AS
  SELECT c.* FROM comparison c WHERE NOT EXISTS (
    SELECT 1 FROM comparison later WHERE later.run = c.run AND later.criterion = c.criterion
      AND later.first = c.first AND later.second = c.second AND later.attempt > c.attempt);


-- step m090_stopping_rule: The rule, declared beforehand, that says when a study has enough scores

-- Each rule that was declared for a task. The newest is valid; the others stay, so that readers can see
-- whether the rule was changed, and how many scores there were at its declaration (scores_then).
CREATE TABLE stopping_rule (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  measure TEXT NOT NULL CHECK (measure IN ('alpha', 'difference')),
  width REAL NOT NULL CHECK (width > 0),
  planned INTEGER NOT NULL CHECK (planned > 0),
  system_a TEXT NOT NULL,
  system_b TEXT NOT NULL,
  scores_then INTEGER NOT NULL,
  declared_by TEXT NOT NULL,
  declared_at TEXT NOT NULL
) STRICT;
CREATE INDEX stopping_rule_newest ON stopping_rule(task, id);


-- step m095_waiting: Waiting for drafts; the people of an instance, found without reading the queues

-- 1 if an instance that needs its draft waits for it.
ALTER TABLE task ADD COLUMN wait_for_drafts INTEGER NOT NULL DEFAULT 0 CHECK (wait_for_drafts IN (0, 1));

-- Each draw of an arm looks up the people who have already opened the instance.
CREATE INDEX assignment_instance ON assignment(instance) WHERE arm IS NOT NULL;


-- step m096_layout: One criterion at a time, or all criteria of an instance in one sheet

-- The annotators' layout; `choice` lets each annotator choose.
ALTER TABLE task ADD COLUMN layout TEXT NOT NULL DEFAULT 'choice' CHECK (layout IN ('choice', 'one', 'all'));


-- step m097_inbox: The answers of those who run a study to flags and comments

-- The outcome of a flag or comment: an answer that its author sees, or closed without an answer. The newest
-- row of a mark is valid. A mark is open if it has no row, or if its author has changed it since.
CREATE TABLE mark_answer (
  id INTEGER PRIMARY KEY,
  mark INTEGER NOT NULL REFERENCES mark(id),
  state TEXT NOT NULL CHECK (state IN ('answered', 'closed')),
  text TEXT NOT NULL,
  answered_by TEXT NOT NULL,
  answered_at TEXT NOT NULL
) STRICT;
CREATE INDEX mark_answer_newest ON mark_answer(mark, id);


-- step m100_criterion_guide: How to score by a criterion: its definition, the meaning of the scores, examples

-- The newest row of a criterion is valid; earlier guides stay on record.
CREATE TABLE criterion_guide (
  id INTEGER PRIMARY KEY,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  definition TEXT NOT NULL,
  anchors_json TEXT NOT NULL,
  examples TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX criterion_guide_criterion ON criterion_guide(criterion, id);

CREATE VIEW current_criterion_guide AS
  SELECT g.* FROM criterion_guide g WHERE NOT EXISTS (
    SELECT 1 FROM criterion_guide later WHERE later.criterion = g.criterion AND later.id > g.id);


-- step m105_seal: A judge is fitted on some documents and certified on others, whose labels stay sealed until then

-- One seal for a task. It never changes: a new split after a reading would undo the seal.
CREATE TABLE seal (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL UNIQUE REFERENCES task(id),
  salt TEXT NOT NULL,
  share REAL NOT NULL CHECK (share > 0 AND share < 1),
  sealed_by TEXT NOT NULL,
  sealed_at TEXT NOT NULL
) STRICT;

-- The part of each document. An instance without a document is stored under its own id. A document that was
-- imported after the sealing is in neither part until it is added.
CREATE TABLE sealed_document (
  seal INTEGER NOT NULL REFERENCES seal(id),
  document TEXT NOT NULL,
  part TEXT NOT NULL CHECK (part IN ('dev', 'certificate')),
  PRIMARY KEY (seal, document)
) STRICT;

-- Every judge that was fitted on the dev part. The newest is the one to certify.
CREATE TABLE fitted_judge (
  id INTEGER PRIMARY KEY,
  seal INTEGER NOT NULL REFERENCES seal(id),
  judge_hash TEXT NOT NULL,
  judge_json TEXT NOT NULL,
  fitted_by TEXT NOT NULL,
  fitted_at TEXT NOT NULL
) STRICT;
CREATE INDEX fitted_judge_newest ON fitted_judge(seal, id);

-- Each reading of the certificate's labels, written in the transaction that reads them.
CREATE TABLE seal_opening (
  id INTEGER PRIMARY KEY,
  seal INTEGER NOT NULL REFERENCES seal(id),
  judge_hash TEXT NOT NULL,
  opened_by TEXT NOT NULL,
  opened_at TEXT NOT NULL
) STRICT;
CREATE INDEX seal_opening_seal ON seal_opening(seal, id);

-- The result of an opening. In an opening without a result, the labels were read as well.
CREATE TABLE certificate (
  seal_opening INTEGER PRIMARY KEY REFERENCES seal_opening(id),
  certificate_json TEXT NOT NULL,
  written_at TEXT NOT NULL
) STRICT;


-- step m106_certificate_labels: The labels of each sealed line stay beside the certificate, for judge.json

-- Means of people's scores by salted hashes of the outputs, as in judge.json. A gate can use them to correct
-- its result without opening the seal again.
ALTER TABLE certificate ADD COLUMN labels_json TEXT NOT NULL DEFAULT '[]';


-- step m110_task_source: The data set of the Hub that the instances of a task came from

-- The part of a data set and the commit from which it was read, so that others can fetch the same rows.
CREATE TABLE task_source (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  address TEXT NOT NULL,
  revision TEXT NOT NULL,
  imported_by TEXT NOT NULL,
  imported_at TEXT NOT NULL,
  UNIQUE (task, address, revision)
) STRICT;


-- step m111_task_language: The language of the annotators of a task

-- The code of the catalogue for the annotators' screens, such as `ar`.
ALTER TABLE task ADD COLUMN language TEXT NOT NULL DEFAULT 'en';


-- step m113_settled_mark: A mark that changes with the set-up, so that servers on one database may remember the set-up

-- Several servers can use one PostgreSQL database, and each caches tasks, criteria and teams. A transaction
-- that changes one of these also writes another mark; a transaction that finds another mark reads them again.
-- SQLite does not need the mark.
CREATE TABLE settled_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mark TEXT NOT NULL
);
INSERT INTO settled_mark (id, mark) VALUES (1, '');


-- step m115_draft_probabilities: How likely a judge found each step of the scale, beside the resulting score

-- The probability of each step of the criterion's scale if log-probabilities were requested, else empty. The
-- expected score alone does not show how certain the judge was.
ALTER TABLE draft ADD COLUMN probabilities_json TEXT NOT NULL DEFAULT '[]';


-- step m116_asked_line: The lines that the judge leaves to people, and the time since which people are asked for them

-- The newest row of a task is valid. A row without lines ends the previous request.
CREATE TABLE asking (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  judge_hash TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at TEXT NOT NULL
) STRICT;
CREATE INDEX asking_newest ON asking(task, id);

-- The only lines that people are asked to score while the request is valid.
CREATE TABLE asked_line (
  asking INTEGER NOT NULL REFERENCES asking(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  PRIMARY KEY (asking, instance, criterion)
) STRICT;
CREATE INDEX asked_line_instance ON asked_line(instance, criterion);

-- Only lines on criteria of the current set: a new version ends requests for the criteria that it replaces.
CREATE VIEW current_asked_line AS
  SELECT a.task, l.asking, l.instance, l.criterion FROM asking a JOIN asked_line l ON l.asking = a.id
  WHERE NOT EXISTS (SELECT 1 FROM asking later WHERE later.task = a.task AND later.id > a.id)
    AND l.criterion IN (SELECT m.criterion FROM criteria_set_member m
      JOIN criteria_set s ON s.id = m.criteria_set WHERE s.task = a.task AND NOT EXISTS (
        SELECT 1 FROM criteria_set newer WHERE newer.task = s.task AND newer.version > s.version));


-- step m117_run_example: Worked examples that the questions of a run show

-- An example is written when the run is opened and never changes. base is the corrected run; this run repeats
-- it with examples. document is the source of the example, whose own questions do not show it.
CREATE TABLE run_example (
  run INTEGER NOT NULL REFERENCES run(id),
  position INTEGER NOT NULL,
  base INTEGER NOT NULL REFERENCES run(id),
  document TEXT NOT NULL,
  example_json TEXT NOT NULL,
  PRIMARY KEY (run, position)
) STRICT;


-- step m118_wording: Sharper wordings of criteria, made from people's corrections, and the decisions on them

CREATE TABLE wording (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  text TEXT NOT NULL,
  anchors_json TEXT NOT NULL,
  why TEXT NOT NULL,
  model TEXT NOT NULL,
  proposed_by TEXT NOT NULL,
  proposed_at TEXT NOT NULL
) STRICT;
CREATE INDEX wording_task ON wording(task, id);

-- A wording without a row is not decided yet.
CREATE TABLE wording_decision (
  wording INTEGER PRIMARY KEY REFERENCES wording(id),
  taken INTEGER NOT NULL CHECK (taken IN (0, 1)),
  decided_by TEXT NOT NULL,
  decided_at TEXT NOT NULL
) STRICT;


-- step m123_cancelled_round: Votes that were cancelled before they resulted in a criteria set

-- A round with a row here has no result. Its proposals and ballots stay on record.
CREATE TABLE cancelled_round (
  ballot_round INTEGER PRIMARY KEY REFERENCES ballot_round(id),
  cancelled_by TEXT NOT NULL,
  cancelled_at TEXT NOT NULL
) STRICT;


-- step m124_run_archive: Runs that are archived and brought back

-- Each time that a run was archived (1) or restored (0). The newest row is valid. The run's drafts, and
-- people's work on them, do not change.
CREATE TABLE run_archive (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
CREATE INDEX run_archive_newest ON run_archive(run, id);

CREATE VIEW archived_run AS
  SELECT a.run FROM run_archive a WHERE a.archived = 1 AND NOT EXISTS (
    SELECT 1 FROM run_archive later WHERE later.run = a.run AND later.id > a.id);


-- step m125_task_team: The members of one's own team who work on a task, and the number of people for each instance

-- The newest row of a task is valid. Without members, everybody works on the task. If per_instance is 0,
-- every member gets every instance.
CREATE TABLE task_team (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  per_instance INTEGER NOT NULL CHECK (per_instance >= 0),
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX task_team_newest ON task_team(task, id);

CREATE TABLE task_team_member (
  task_team INTEGER NOT NULL REFERENCES task_team(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  PRIMARY KEY (task_team, annotator)
) STRICT;

CREATE VIEW current_task_team AS
  SELECT t.* FROM task_team t WHERE NOT EXISTS (
    SELECT 1 FROM task_team later WHERE later.task = t.task AND later.id > t.id);


-- step m126_prolific: A record of each request to Prolific before it is sent, so that nothing is paid twice

-- One row for each request that changes something on Prolific or costs money, written before it is sent. It
-- never changes; its result is appended to prolific_step.
CREATE TABLE prolific_request (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL,
  study TEXT NOT NULL,
  currency TEXT NOT NULL,
  note TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at TEXT NOT NULL
) STRICT;
CREATE INDEX prolific_request_task ON prolific_request(task, id);

-- The subject of a request; a bonus can have up to 200 submissions. Amounts are in pence or cents.
CREATE TABLE prolific_item (
  id INTEGER PRIMARY KEY,
  request INTEGER NOT NULL REFERENCES prolific_request(id),
  key TEXT NOT NULL,
  subject TEXT NOT NULL,
  who TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount >= 0),
  paid_before INTEGER NOT NULL CHECK (paid_before >= 0)
) STRICT;
CREATE INDEX prolific_item_request ON prolific_item(request, id);

-- The known results of a request. The newest row is valid.
CREATE TABLE prolific_step (
  id INTEGER PRIMARY KEY,
  request INTEGER NOT NULL REFERENCES prolific_request(id),
  outcome TEXT NOT NULL
    CHECK (outcome IN ('prepared', 'sent', 'unknown', 'done', 'refused', 'dropped')),
  remote TEXT NOT NULL,
  answer TEXT NOT NULL,
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX prolific_step_request ON prolific_step(request, id);


-- step m130_job_takeovers: The number of times that another server took a job over

-- If a server ends, another server continues its jobs. A job that ends every server must stop.
ALTER TABLE job ADD COLUMN takeovers INTEGER NOT NULL DEFAULT 0;


-- step m112_image_host: Hosts that images may come from

-- The owners' list of hosts whose images pages may show, for all tasks of this server. Each change stores the
-- whole list, one name per line. The newest row is valid.
CREATE TABLE image_host (
  id INTEGER PRIMARY KEY,
  hosts TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;


-- step m120_review_indexes: A review of millions of submissions, without reading each of them

-- With the score in the index, disputed instances are found in the index alone: in 6,250,000 submissions in
-- 1.3 s instead of 2.8 s. It replaces the earlier index, so that a save writes no more indexes than before.
DROP INDEX submission_instance;
CREATE INDEX submission_instance ON submission(instance, criterion, score);
-- Few saves are revisions, and few lines are changed, so few saves write to these indexes. They find
-- superseded submissions, and submissions that kept every line, without reading all.
CREATE INDEX submission_revised ON submission(annotator, instance, criterion, revision) WHERE revision > 1;
CREATE INDEX submission_row_changed ON submission_row(submission) WHERE action <> 'approve';


-- step m131_reference_indexes: An index on every reference, so that a delete does not read whole tables

-- Both engines look up the rows that refer to a deleted row. Without these indexes, removing an import of
-- 1,000 drafts from a file of 375,000 submissions blocked all saves for minutes. If most rows refer to
-- nothing, the index contains only the others.
CREATE INDEX draft_by_instance ON draft(instance);
CREATE INDEX draft_by_criterion ON draft(criterion);
CREATE INDEX assignment_by_instance ON assignment(instance);
CREATE INDEX assignment_by_task ON assignment(task);
CREATE INDEX mark_by_instance ON mark(instance);
CREATE INDEX submission_by_criterion ON submission(criterion);
CREATE INDEX submission_by_draft ON submission(draft) WHERE draft IS NOT NULL;
CREATE INDEX submission_row_by_draft_row ON submission_row(draft_row) WHERE draft_row IS NOT NULL;
CREATE INDEX first_score_by_instance ON first_score(instance);
CREATE INDEX first_score_by_criterion ON first_score(criterion);
CREATE INDEX planted_error_by_instance ON planted_error(instance);
CREATE INDEX planted_error_by_criterion ON planted_error(criterion);
CREATE INDEX planted_error_by_draft ON planted_error(draft);
CREATE INDEX planted_error_by_draft_row ON planted_error(draft_row) WHERE draft_row IS NOT NULL;
CREATE INDEX planted_error_by_source_row ON planted_error(source_row) WHERE source_row IS NOT NULL;
CREATE INDEX overall_rating_by_instance ON overall_rating(instance);
CREATE INDEX suggestion_by_instance ON suggestion(instance);
CREATE INDEX suggestion_by_annotator ON suggestion(annotator);
CREATE INDEX adjudication_by_criterion ON adjudication(criterion);
CREATE INDEX adjudication_by_decided_by ON adjudication(decided_by);
CREATE INDEX comparison_by_first ON comparison(first);
CREATE INDEX comparison_by_second ON comparison(second);
CREATE INDEX comparison_by_criterion ON comparison(criterion);
CREATE INDEX asked_line_by_criterion ON asked_line(criterion);
CREATE INDEX answer_key_by_criterion ON answer_key(criterion);
CREATE INDEX exam_item_by_instance ON exam_item(instance);
CREATE INDEX exam_attempt_by_annotator ON exam_attempt(annotator);
CREATE INDEX criteria_set_member_by_criterion ON criteria_set_member(criterion);
CREATE INDEX proposal_by_criterion ON proposal(criterion) WHERE criterion IS NOT NULL;
CREATE INDEX ballot_by_annotator ON ballot(annotator);
CREATE INDEX vote_by_proposal ON vote(proposal) WHERE proposal IS NOT NULL;
CREATE INDEX wording_by_criterion ON wording(criterion);
CREATE INDEX run_by_criteria_set ON run(criteria_set) WHERE criteria_set IS NOT NULL;
CREATE INDEX run_example_by_base ON run_example(base);
CREATE INDEX job_by_task ON job(task);
CREATE INDEX crowd_by_exam ON crowd(exam) WHERE exam IS NOT NULL;
CREATE INDEX queue_tally_by_task ON queue_tally(task);
CREATE INDEX import_batch_by_staging ON import_batch(staging) WHERE staging IS NOT NULL;
CREATE INDEX enrolment_by_annotator ON enrolment(annotator);
CREATE INDEX disabling_by_annotator ON disabling(annotator);
CREATE INDEX invitation_by_creator ON invitation(creator) WHERE creator IS NOT NULL;
CREATE INDEX invitation_by_used_by ON invitation(used_by) WHERE used_by IS NOT NULL;
CREATE INDEX invitation_by_annotator ON invitation(annotator) WHERE annotator IS NOT NULL;
CREATE INDEX task_team_member_by_annotator ON task_team_member(annotator);


-- step m132_earlier_groups: People who were there before groups keep the group that they were counted in

-- There is no SQL: see the function keep_earlier_groups in steps.py.


-- step m142_returning: People of a crowd study who come back or leave: requests, second sessions, withdrawn work

-- A request by a browser to continue as a person of the study, without proof of identity: an owner decides.
-- token_hash is the hash of the token in the browser's cookie; number is shown on its page.
CREATE TABLE return_request (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  number TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  admitted INTEGER CHECK (admitted IN (0, 1)),
  decided_by TEXT,
  decided_at TEXT
) STRICT;
CREATE INDEX return_request_task ON return_request(task, annotator, id);
CREATE INDEX return_request_annotator ON return_request(annotator);

-- A further session of the same study at the service. It is not a separate submission.
CREATE TABLE repeated_session (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  study TEXT NOT NULL,
  session TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX repeated_session_once ON repeated_session(task, annotator, study, session);
CREATE INDEX repeated_session_annotator ON repeated_session(annotator);

-- The network of a new person, as a hash. Rows are deleted when they are too old to count.
CREATE TABLE newcomer (
  annotator INTEGER PRIMARY KEY REFERENCES annotator(id),
  network TEXT NOT NULL,
  came_at TEXT NOT NULL
) STRICT;
CREATE INDEX newcomer_network ON newcomer(network, came_at);

-- Everything that a withdrawn person saved, moved out of the other tables and deleted after delete_after.
CREATE TABLE withdrawn_work (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  state TEXT NOT NULL,
  rows_json TEXT NOT NULL,
  withdrawn_at TEXT NOT NULL,
  delete_after TEXT NOT NULL
) STRICT;
CREATE INDEX withdrawn_work_due ON withdrawn_work(delete_after);
CREATE INDEX withdrawn_work_task ON withdrawn_work(task, annotator);
CREATE INDEX withdrawn_work_annotator ON withdrawn_work(annotator);


-- step m147_draft_rule: The rule of the reader that accepted a draft's score, so that owners can check doubtful ones

-- The rule that read the score from the answer or, for several answers, each rule once. It is empty for an
-- unscored draft, an imported draft, and a draft from before rules were stored.
ALTER TABLE draft ADD COLUMN rule TEXT NOT NULL DEFAULT '';


-- step m148_method_news: Changes of methods that a database has met, their readers, and the figures of each state

-- Scores up to last_submission (0 if there were none) existed before the change. earlier_copy is the name of
-- the copy of the file from before the upgrade, '' if there is none.
CREATE TABLE method_change (
  id TEXT PRIMARY KEY,
  met_at TEXT NOT NULL,
  last_submission INTEGER NOT NULL,
  earlier_copy TEXT NOT NULL
) STRICT;

CREATE TABLE method_change_read (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  method_change TEXT NOT NULL REFERENCES method_change(id),
  read_at TEXT NOT NULL,
  PRIMARY KEY (annotator, method_change)
) STRICT;
CREATE INDEX method_change_read_change ON method_change_read(method_change);

-- The figure that was last shown by one state of the methods, which is named by its newest change. scores is
-- the number of scores behind it, and low and high are its interval. value is NULL if the figure was
-- undefined.
CREATE TABLE shown_figure (
  task INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL,
  part TEXT NOT NULL,
  methods TEXT NOT NULL,
  value REAL,
  low REAL,
  high REAL,
  scores INTEGER NOT NULL,
  shown_at TEXT NOT NULL,
  PRIMARY KEY (task, kind, part, methods)
) STRICT;


-- step m149_arms_in_part: Arms that show a part of the draft: its quoted passages, or its lines of evidence

-- evidence_share and reasons_share are shares of (annotator, instance) pairs that see only the passages or
-- only the lines of evidence. The function allows both arms in assignment and submission.
ALTER TABLE task ADD COLUMN evidence_share REAL NOT NULL DEFAULT 0 CHECK (evidence_share >= 0);
ALTER TABLE task ADD COLUMN reasons_share REAL NOT NULL DEFAULT 0 CHECK (reasons_share >= 0);


-- step m150_rule_of_pull: A rule may be about the pull of drafts, so that the arm to keep is decided by it

-- The function allows it in stopping_rule.


-- step m158_also_defensible: Further scores that a person would defend too, so that agreement can count sets of scores

-- Scores in order, such as '2 4'; NULL if none was marked.
ALTER TABLE submission ADD COLUMN also TEXT;
CREATE INDEX submission_also ON submission(instance) WHERE also IS NOT NULL;
-- 1 if people may mark further scores.
ALTER TABLE task ADD COLUMN offers_also INTEGER NOT NULL DEFAULT 0 CHECK (offers_also IN (0, 1));
