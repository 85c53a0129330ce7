BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'coeval','v1_schema','2026-11-27T12:46:14.762Z');
CREATE TABLE account (
  annotator INTEGER PRIMARY KEY REFERENCES annotator(id),
  kind TEXT NOT NULL CHECK (kind IN ('password', 'huggingface', 'prolific', 'mturk')),
  -- the name of the account, the permanent id at Hugging Face, or the id at Prolific (lower case) or MTurk (upper
  -- case)
  subject TEXT NOT NULL,
  secret TEXT NOT NULL, -- an Argon2 hash, or empty
  guest INTEGER NOT NULL CHECK (guest IN (0, 1)), -- 1 for strangers, who see only the studies that they joined
  created_at TEXT NOT NULL,
  UNIQUE (kind, subject)
) STRICT;
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
CREATE TABLE annotator (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 80),
  role TEXT NOT NULL CHECK (role IN ('owner', 'researcher', 'annotator')),
  created_at TEXT NOT NULL,
  -- the group that an owner set; empty if the group follows from the kind of account (see annotator_group)
  set_group TEXT NOT NULL DEFAULT '' CHECK (set_group IN ('', 'team', 'expert', 'crowd')),
  -- the random name under which browsers keep the person's saves; empty before the first sign-in. Ids are not stable: a
  -- restored snapshot that lacks the latest sign-ups gives their ids to the next people.
  uid TEXT NOT NULL DEFAULT '',
  import_batch INTEGER REFERENCES import_batch(id) -- the import in progress that added the person; deleted if it fails
) STRICT;
INSERT INTO "annotator" VALUES(1,'Olu','owner','2026-11-27T12:46:14.777Z','','9eca7795d883315c6614f528393f9831',NULL);
CREATE TABLE answer_key (
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  accepted_json TEXT NOT NULL, -- the accepted scores; an empty list accepts every score
  must_json TEXT NOT NULL, -- positions of the drafted lines that a person must delete or revise
  explanation TEXT NOT NULL,
  PRIMARY KEY (instance, criterion)
) STRICT;
CREATE TABLE arrival (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  study TEXT NOT NULL, -- the service's id of its study; empty for a person who signs in
  session TEXT NOT NULL, -- the service's id of the session; empty for a person who signs in
  at TEXT NOT NULL,
  -- the proof of the person's identity: 'token', 'link', or empty if there was none
  proof TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE asked_line (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  request INTEGER NOT NULL, -- from 1 within a task
  instance INTEGER REFERENCES instance(id),
  criterion INTEGER REFERENCES criterion(id),
  judge_hash TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  CHECK ((instance IS NULL) = (criterion IS NULL)),
  UNIQUE (task, request, instance, criterion)
) STRICT;
CREATE TABLE assignment (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  task INTEGER NOT NULL REFERENCES task(id),
  position INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  -- drawn when the person first opens the instance, so that a change of the shares affects only unopened instances;
  -- until then null
  arm TEXT CHECK (arm IN ('assisted', 'blind', 'first', 'evidence', 'reasons')),
  opened_at TEXT,
  -- drawn when the browser fetches the instance ahead; it becomes the arm when the instance is opened
  reserved_arm TEXT CHECK (reserved_arm IN ('assisted', 'blind', 'first', 'evidence', 'reasons')),
  state TEXT NOT NULL CHECK (state IN ('open', 'finished')), -- finished: every criterion of the current set is saved
  flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1)), -- copied from the newest mark
  skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped IN (0, 1)), -- copied from the newest mark
  CHECK ((arm IS NULL) = (opened_at IS NULL)),
  PRIMARY KEY (annotator, task, position),
  UNIQUE (annotator, instance)
) STRICT;
INSERT INTO "assignment" VALUES(1,1,1,4,'assisted','2026-11-27T12:46:14.795Z',NULL,'open',0,0);
INSERT INTO "assignment" VALUES(1,1,2,1,NULL,NULL,NULL,'open',0,0);
INSERT INTO "assignment" VALUES(1,1,3,3,NULL,NULL,NULL,'open',0,0);
INSERT INTO "assignment" VALUES(1,1,4,2,NULL,NULL,NULL,'open',0,0);
CREATE TABLE ballot (
  id INTEGER PRIMARY KEY,
  ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  revision INTEGER NOT NULL,
  saved_at TEXT NOT NULL,
  UNIQUE (ballot_round, annotator, revision)
) STRICT;
CREATE TABLE ballot_round (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  version INTEGER NOT NULL,
  round INTEGER NOT NULL,
  opened_at TEXT NOT NULL, -- empty for a drafted list that arrived beside an open vote
  UNIQUE (task, version, round)
) STRICT;
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
  error TEXT NOT NULL, -- empty for an answer
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE column_role (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  set_by TEXT NOT NULL, -- empty if a rule set the role
  set_at TEXT NOT NULL
) STRICT;
CREATE TABLE comparison (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  first INTEGER NOT NULL REFERENCES instance(id), -- the output that was shown first
  second INTEGER NOT NULL REFERENCES instance(id),
  attempt INTEGER NOT NULL,
  -- 1 if the first was preferred, 0 if the second was, null if no answer could be read: the pair is then compared
  -- again as a further attempt
  preference REAL CHECK (preference BETWEEN 0 AND 1),
  reason TEXT NOT NULL,
  raw TEXT NOT NULL,
  samples_json TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- how the preference was obtained, as in draft
  rung TEXT NOT NULL DEFAULT '' CHECK (rung IN ('', 'decision', 'schema', 'json', 'label', 'asked again')),
  UNIQUE (run, criterion, first, second, attempt)
) STRICT;
CREATE TABLE criteria_set (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  version INTEGER NOT NULL,
  established_at TEXT NOT NULL,
  established_by TEXT NOT NULL,
  UNIQUE (task, version)
) STRICT;
INSERT INTO "criteria_set" VALUES(1,1,1,'2026-11-27T12:46:14.775Z','command line');
CREATE TABLE criteria_set_member (
  criteria_set INTEGER NOT NULL REFERENCES criteria_set(id),
  position INTEGER NOT NULL,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  PRIMARY KEY (criteria_set, position),
  UNIQUE (criteria_set, criterion)
) STRICT;
INSERT INTO "criteria_set_member" VALUES(1,1,1);
INSERT INTO "criteria_set_member" VALUES(1,2,2);
CREATE TABLE criterion (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
  scale_min INTEGER NOT NULL,
  scale_max INTEGER NOT NULL CHECK (scale_max > scale_min),
  -- the question for a free-text judge; empty for the default question: how well the output meets the criterion
  question TEXT NOT NULL DEFAULT '',
  UNIQUE (task, text, scale_min, scale_max)
) STRICT;
INSERT INTO "criterion" VALUES(1,1,'','Use simple words.','llm',1,5,'');
INSERT INTO "criterion" VALUES(2,1,'','Be true.','human',1,5,'');
CREATE TABLE criterion_guide (
  id INTEGER PRIMARY KEY,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  definition TEXT NOT NULL,
  anchors_json TEXT NOT NULL, -- pairs of a score and its meaning
  examples TEXT NOT NULL,
  steps TEXT NOT NULL,
  steps_origin TEXT NOT NULL, -- the model, or human
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE TABLE crowd (
  task INTEGER PRIMARY KEY REFERENCES task(id),
  state TEXT NOT NULL CHECK (state IN ('planned', 'running', 'paused', 'closed')),
  per_instance INTEGER NOT NULL CHECK (per_instance BETWEEN 1 AND 1000), -- people for each instance
  batch INTEGER NOT NULL CHECK (batch BETWEEN 1 AND 1000), -- number of instances in one assignment
  quota INTEGER NOT NULL CHECK (quota BETWEEN 1 AND 100000), -- instances for each person
  exam INTEGER REFERENCES task(id), -- the task whose instances are the qualification
  reserve_minutes INTEGER NOT NULL CHECK (reserve_minutes BETWEEN 1 AND 100000),
  settings_json TEXT NOT NULL, -- other settings: texts, codes, pay, pass mark, attention checks
  reason TEXT NOT NULL DEFAULT '' -- why it is not running: 'full' if it paused by itself, empty if an owner decided
) STRICT;
CREATE TABLE disabling (
  id INTEGER PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  disabled_at TEXT NOT NULL,
  disabled_by TEXT NOT NULL,
  enabled_at TEXT,
  enabled_by TEXT
) STRICT;
CREATE TABLE draft (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  attempt INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'unscored')),
  score REAL,
  reason TEXT NOT NULL, -- the reason why the draft is unscored
  raw TEXT NOT NULL, -- the model's own words
  samples_json TEXT NOT NULL, -- the scores of the single answers, if there was more than one
  created_at TEXT NOT NULL,
  -- the probability of each step of the scale from a decision or log-probabilities, else empty; the expected score
  -- alone does not show how certain the judge was
  probabilities_json TEXT NOT NULL DEFAULT '[]',
  -- how the score was obtained; for several answers, the lowest of their rungs; empty for an unscored draft and for one
  -- from another tool
  rung TEXT NOT NULL DEFAULT '' CHECK (rung IN ('', 'decision', 'schema', 'json', 'label', 'asked again')),
  CHECK ((status = 'ok') = (score IS NOT NULL)),
  UNIQUE (run, instance, criterion, attempt)
) STRICT;
INSERT INTO "draft" VALUES(1,1,1,1,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
INSERT INTO "draft" VALUES(2,1,1,2,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
INSERT INTO "draft" VALUES(3,1,2,1,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
INSERT INTO "draft" VALUES(4,1,2,2,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
INSERT INTO "draft" VALUES(5,1,3,1,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
INSERT INTO "draft" VALUES(6,1,3,2,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
INSERT INTO "draft" VALUES(7,1,4,1,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
INSERT INTO "draft" VALUES(8,1,4,2,1,'ok',4.0,'','','[]','2026-11-27T12:46:14.773Z','[]','');
CREATE TABLE draft_row (
  id INTEGER PRIMARY KEY,
  draft INTEGER NOT NULL REFERENCES draft(id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
  text TEXT NOT NULL,
  UNIQUE (draft, position)
) STRICT;
INSERT INTO "draft_row" VALUES(1,1,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(2,1,1,'score','4');
INSERT INTO "draft_row" VALUES(3,1,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(4,1,3,'evidence','“no such words”');
INSERT INTO "draft_row" VALUES(5,2,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(6,2,1,'score','4');
INSERT INTO "draft_row" VALUES(7,2,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(8,2,3,'evidence','“no such words”');
INSERT INTO "draft_row" VALUES(9,3,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(10,3,1,'score','4');
INSERT INTO "draft_row" VALUES(11,3,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(12,3,3,'evidence','“no such words”');
INSERT INTO "draft_row" VALUES(13,4,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(14,4,1,'score','4');
INSERT INTO "draft_row" VALUES(15,4,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(16,4,3,'evidence','“no such words”');
INSERT INTO "draft_row" VALUES(17,5,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(18,5,1,'score','4');
INSERT INTO "draft_row" VALUES(19,5,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(20,5,3,'evidence','“no such words”');
INSERT INTO "draft_row" VALUES(21,6,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(22,6,1,'score','4');
INSERT INTO "draft_row" VALUES(23,6,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(24,6,3,'evidence','“no such words”');
INSERT INTO "draft_row" VALUES(25,7,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(26,7,1,'score','4');
INSERT INTO "draft_row" VALUES(27,7,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(28,7,3,'evidence','“no such words”');
INSERT INTO "draft_row" VALUES(29,8,0,'conclusion','It does.');
INSERT INTO "draft_row" VALUES(30,8,1,'score','4');
INSERT INTO "draft_row" VALUES(31,8,2,'evidence','“The answer” is plain.');
INSERT INTO "draft_row" VALUES(32,8,3,'evidence','“no such words”');
CREATE TABLE enrolment (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  state TEXT NOT NULL, -- one of Standing in domain/crowd.py
  note TEXT NOT NULL,
  actor TEXT NOT NULL, -- the person or process that caused the step
  at TEXT NOT NULL,
  arrival INTEGER REFERENCES arrival(id), -- null for work from before the study had a plan
  -- the number of instances that the person could get, on the step that ended their work
  asked INTEGER
) STRICT;
CREATE TABLE exam_attempt (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  attempt INTEGER NOT NULL,
  right_items INTEGER NOT NULL,
  items INTEGER NOT NULL,
  passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
  detail_json TEXT NOT NULL, -- the person's answer to each item
  at TEXT NOT NULL,
  UNIQUE (task, annotator, attempt)
) STRICT;
CREATE TABLE exam_item (
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  attempt INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  PRIMARY KEY (task, annotator, attempt, instance)
) STRICT;
CREATE TABLE first_score (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE, -- as in submission
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  score REAL NOT NULL,
  opened_at TEXT,
  submitted_at TEXT, -- null: the imported file has no time
  active_ms INTEGER,
  UNIQUE (annotator, instance, criterion)
) STRICT;
CREATE TABLE import_batch (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL,
  staging INTEGER REFERENCES task(id),
  imported_by TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;
INSERT INTO "import_batch" VALUES(1,'demo',NULL,'command line','2026-11-27T12:46:14.769Z','2026-11-27T12:46:14.776Z');
CREATE TABLE instance (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  position INTEGER NOT NULL, -- the order of the import, from 1 without gaps within a task
  external_id TEXT NOT NULL,
  document TEXT NOT NULL, -- groups the instances that share an input
  system TEXT NOT NULL, -- the system that wrote the output
  input TEXT NOT NULL,
  output TEXT NOT NULL,
  reference TEXT NOT NULL,
  context_json TEXT NOT NULL, -- the extra columns of the file, by name
  UNIQUE (task, external_id),
  UNIQUE (task, position)
) STRICT;
INSERT INTO "instance" VALUES(1,1,1,'1a','d1','a','Question 1?','The answer 1 of a.','','{}');
INSERT INTO "instance" VALUES(2,1,2,'1b','d1','b','Question 1?','The answer 1 of b.','','{}');
INSERT INTO "instance" VALUES(3,1,3,'2a','d2','a','Question 2?','The answer 2 of a.','','{}');
INSERT INTO "instance" VALUES(4,1,4,'2b','d2','b','Question 2?','The answer 2 of b.','','{}');
CREATE TABLE instance_score (
  id INTEGER PRIMARY KEY,
  instance INTEGER NOT NULL REFERENCES instance(id),
  assistant TEXT NOT NULL, -- empty for the rating of a run
  run INTEGER REFERENCES run(id),
  score REAL, -- null if there is none
  reason TEXT NOT NULL,
  created_at TEXT NOT NULL,
  CHECK ((assistant = '') = (run IS NOT NULL))
) STRICT;
CREATE TABLE invitation (
  token_hash TEXT PRIMARY KEY,
  annotator INTEGER REFERENCES annotator(id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'researcher', 'annotator')),
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  used_at TEXT,
  used_by INTEGER REFERENCES annotator(id),
  creator INTEGER REFERENCES annotator(id), -- the person who made the link; null for the command line
  revoked_at TEXT
) STRICT;
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
  updated_at TEXT NOT NULL,
  -- if a server ends, another one continues its jobs; a job that ends every server must stop
  takeovers INTEGER NOT NULL DEFAULT 0,
  unread INTEGER NOT NULL DEFAULT 0, -- the number of answers in no form
  dismissed INTEGER NOT NULL DEFAULT 0 CHECK (dismissed IN (0, 1)) -- 1: an owner has read how the job ended
) STRICT;
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  job INTEGER REFERENCES job(id),
  renewed_at TEXT NOT NULL
) STRICT;
CREATE TABLE lineage (
  id TEXT NOT NULL UNIQUE, -- the same in every copy of the file; a newly created file has another id
  term INTEGER NOT NULL, -- the latest term in which the file was served from a snapshot place
  sign_in TEXT NOT NULL, -- the kind of sign-in that opened its sessions
  uid_key TEXT NOT NULL -- the secret that makes people's uids: a lost sign-up that is repeated gets the same uid
) STRICT;
INSERT INTO "lineage" VALUES('25e647ae771ee715',0,'','2f0c55bb51f87269a3553457593ec45a36f8f994e40bdf9a5b8818404a3697d4');
CREATE TABLE mark (
  id INTEGER PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  flagged INTEGER NOT NULL CHECK (flagged IN (0, 1)),
  skipped INTEGER NOT NULL CHECK (skipped IN (0, 1)),
  comment TEXT NOT NULL,
  marked_at TEXT NOT NULL
) STRICT;
CREATE TABLE mark_answer (
  id INTEGER PRIMARY KEY,
  mark INTEGER NOT NULL REFERENCES mark(id),
  state TEXT NOT NULL CHECK (state IN ('answered', 'closed')),
  text TEXT NOT NULL,
  answered_by TEXT NOT NULL,
  answered_at TEXT NOT NULL
) STRICT;
CREATE TABLE planted_error (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  draft INTEGER NOT NULL REFERENCES draft(id),
  score REAL NOT NULL, -- the score that is shown instead of the draft's
  planted_at TEXT NOT NULL,
  PRIMARY KEY (annotator, instance, criterion)
) STRICT;
CREATE TABLE proposal (
  id INTEGER PRIMARY KEY,
  ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
  criterion INTEGER REFERENCES criterion(id), -- the criterion of an earlier version that it repeats word for word
  note TEXT NOT NULL DEFAULT '', -- the origin of the proposal, such as a judge
  UNIQUE (ballot_round, position)
) STRICT;
CREATE TABLE quote (
  draft_row INTEGER NOT NULL REFERENCES draft_row(id),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  quote_start INTEGER, -- in Unicode code points of the text in place; null if the span was not found
  quote_end INTEGER, -- exclusive
  place TEXT NOT NULL DEFAULT 'output', -- 'output', 'nearly in the output' or 'input'
  CHECK ((quote_start IS NULL) = (quote_end IS NULL)),
  PRIMARY KEY (draft_row, position)
) STRICT;
INSERT INTO "quote" VALUES(3,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(4,0,'no such words',NULL,NULL,'output');
INSERT INTO "quote" VALUES(7,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(8,0,'no such words',NULL,NULL,'output');
INSERT INTO "quote" VALUES(11,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(12,0,'no such words',NULL,NULL,'output');
INSERT INTO "quote" VALUES(15,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(16,0,'no such words',NULL,NULL,'output');
INSERT INTO "quote" VALUES(19,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(20,0,'no such words',NULL,NULL,'output');
INSERT INTO "quote" VALUES(23,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(24,0,'no such words',NULL,NULL,'output');
INSERT INTO "quote" VALUES(27,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(28,0,'no such words',NULL,NULL,'output');
INSERT INTO "quote" VALUES(31,0,'The answer',0,10,'output');
INSERT INTO "quote" VALUES(32,0,'no such words',NULL,NULL,'output');
CREATE TABLE recent_event (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  at TEXT NOT NULL,
  annotator INTEGER REFERENCES annotator(id) -- the new person; null for a refused sign-in
) STRICT;
CREATE TABLE repeated_session (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  study TEXT NOT NULL,
  session TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE TABLE reservation (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  task INTEGER NOT NULL REFERENCES task(id),
  purpose TEXT NOT NULL CHECK (purpose IN ('work', 'check')), -- 'check' is an attention check
  given_at TEXT NOT NULL,
  reserved_until TEXT NOT NULL,
  -- empty while the person holds the instance
  outcome TEXT NOT NULL CHECK (outcome IN ('', 'finished', 'timed_out', 'returned', 'rejected')),
  passed INTEGER CHECK (passed IN (0, 1)), -- the result of a finished attention check
  arrival INTEGER REFERENCES arrival(id), -- null for work from before the study had a plan
  PRIMARY KEY (annotator, instance)
) STRICT;
CREATE TABLE restoration (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  name TEXT NOT NULL, -- the name of the snapshot
  taken_at TEXT NOT NULL,
  restored_at TEXT NOT NULL,
  passed_over TEXT NOT NULL DEFAULT '', -- newer snapshots that were damaged, one per line
  newest_at TEXT NOT NULL DEFAULT '', -- the time of the newest of these
  put_aside TEXT NOT NULL DEFAULT '' -- the replaced file, which is kept in the same folder
) STRICT;
CREATE TABLE return_request (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  number TEXT NOT NULL, -- shown on the browser's page, so that an owner can ask for it
  token_hash TEXT NOT NULL, -- the hash of the token in the browser's cookie; empty after the admission was used
  asked_at TEXT NOT NULL,
  admitted INTEGER CHECK (admitted IN (0, 1)), -- null until an owner decides
  decided_by TEXT,
  decided_at TEXT
) STRICT;
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  criteria_set INTEGER REFERENCES criteria_set(id),
  protocol TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_hash TEXT NOT NULL,
  params_json TEXT NOT NULL,
  label TEXT NOT NULL, -- the name of the run for people
  shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),
  created_at TEXT NOT NULL,
  -- the worked examples in its questions: pairs of a document, whose own questions do not show it, and the example
  examples_json TEXT NOT NULL DEFAULT '[]',
  base INTEGER REFERENCES run(id), -- the run that people corrected and that this run repeats with examples
  UNIQUE (task, label)
) STRICT;
INSERT INTO "run" VALUES(1,1,1,'imported','test-model','','{}','first',1,'2026-11-27T12:46:14.772Z','[]',NULL);
CREATE TABLE server_setting (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  set_by TEXT NOT NULL, -- empty if sign-in set it
  set_at TEXT NOT NULL
) STRICT;
CREATE TABLE session (
  token_hash TEXT PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
INSERT INTO "session" VALUES('bca90ddfd1ffefd9a98fa45cd6b6de204fcba15fd47302126b7fbff6cfb0d0ed',1,'2026-11-27T12:46:14.778Z','2026-12-27T12:46:14.778Z',NULL);
CREATE TABLE submission (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE, -- the browser's key for one confirm, so that a save that is sent twice is stored once
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  revision INTEGER NOT NULL,
  draft INTEGER REFERENCES draft(id), -- the draft that was shown or, in the blind arm, withheld
  arm TEXT NOT NULL CHECK (arm IN ('assisted', 'blind', 'first', 'evidence', 'reasons')),
  score REAL,
  shown_score REAL, -- the score on the screen: the draft's, or a planted one; null if none was shown
  planted TEXT CHECK (planted = 'score'), -- the part of the draft shown that was wrong on purpose
  bulk INTEGER NOT NULL DEFAULT 0 CHECK (bulk IN (0, 1)), -- 1: some lines were approved with "Approve the rest"
  opened_at TEXT,
  submitted_at TEXT, -- null: the imported file has no time
  active_ms INTEGER,
  import_batch INTEGER REFERENCES import_batch(id),
  CHECK (planted IS NULL OR arm = 'assisted'),
  CHECK (shown_score IS NULL OR arm <> 'blind'),
  UNIQUE (annotator, instance, criterion, revision)
) STRICT;
INSERT INTO "submission" VALUES(1,'7b3404a3-f7d4-4f4a-a9e9-c07b5ec66b20',1,4,1,1,7,'assisted',4.0,4.0,NULL,0,NULL,'2026-11-27T12:46:14.797Z',NULL,NULL);
CREATE TABLE submission_row (
  submission INTEGER NOT NULL REFERENCES submission(id),
  position INTEGER NOT NULL,
  draft_row INTEGER REFERENCES draft_row(id), -- null for a line that the person added
  kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
  action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
  reason TEXT NOT NULL,
  text TEXT NOT NULL, -- the new wording, or the new score, for 'revise' and 'add'; else empty
  PRIMARY KEY (submission, position)
) STRICT;
INSERT INTO "submission_row" VALUES(1,0,25,'conclusion','approve','','');
INSERT INTO "submission_row" VALUES(1,1,26,'score','approve','','');
INSERT INTO "submission_row" VALUES(1,2,27,'evidence','approve','','');
INSERT INTO "submission_row" VALUES(1,3,28,'evidence','approve','','');
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
  origin TEXT NOT NULL, -- the source of the task, which everyone sees
  seed TEXT NOT NULL, -- a secret that determines each person's order, arms and planted errors
  -- share of (annotator, instance) pairs that are shown without the draft
  blind_share REAL NOT NULL DEFAULT 0 CHECK (blind_share BETWEEN 0 AND 1),
  created_at TEXT NOT NULL,
  -- share of these pairs that are scored before the draft is shown
  first_share REAL NOT NULL DEFAULT 0 CHECK (first_share >= 0 AND blind_share + first_share <= 1),
  -- share of the assisted evaluations that contain a planted error
  planted_share REAL NOT NULL DEFAULT 0 CHECK (planted_share BETWEEN 0 AND 1),
  -- seconds without activity after which the active time stops
  idle_seconds INTEGER NOT NULL DEFAULT 60 CHECK (idle_seconds BETWEEN 10 AND 3600),
  display TEXT NOT NULL DEFAULT 'plain' CHECK (display IN ('plain', 'markdown')),
  hide_systems INTEGER NOT NULL DEFAULT 1 CHECK (hide_systems IN (0, 1)), -- 1: annotators do not see the systems
  -- what annotators see first: one criterion at a time, or all criteria on one sheet
  layout TEXT NOT NULL DEFAULT 'one' CHECK (layout IN ('one', 'all')),
  -- 1: the input is above the output even where both texts do not fit on the screen
  input_first INTEGER NOT NULL DEFAULT 0 CHECK (input_first IN (0, 1)),
  language TEXT NOT NULL DEFAULT 'en', -- the language of the annotators' screens, such as 'ar'
  -- share of (annotator, instance) pairs that see only the passages that the draft quotes
  evidence_share REAL NOT NULL DEFAULT 0 CHECK (evidence_share >= 0),
  -- share of these pairs that see only the draft's lines of evidence
  reasons_share REAL NOT NULL DEFAULT 0 CHECK (reasons_share >= 0),
  tools TEXT NOT NULL DEFAULT '' -- ids of the tools that an owner turned on, separated by spaces
) STRICT;
INSERT INTO "task" VALUES(1,'demo','A task','Answer the question.','Input','Output','',1,5,'','5edd7541b67aee0ff60b494e1ad752e2',0.0,'2026-11-27T12:46:14.769Z',0.0,0.0,60,'plain',1,'one',0,'en',0.0,0.0,'');
CREATE TABLE task_change (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  ballot_round INTEGER REFERENCES ballot_round(id),
  aside INTEGER CHECK (aside IN (0, 1)),
  design_json TEXT,
  stopping_json TEXT,
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  CHECK (CASE WHEN aside IS NULL THEN 0 ELSE 1 END + CASE WHEN design_json IS NULL THEN 0 ELSE 1 END
    + CASE WHEN stopping_json IS NULL THEN 0 ELSE 1 END = 1),
  CHECK (aside IS NOT NULL OR ballot_round IS NULL)
) STRICT;
CREATE TABLE task_source (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  address TEXT NOT NULL,
  revision TEXT NOT NULL, -- the commit
  imported_by TEXT NOT NULL,
  imported_at TEXT NOT NULL,
  UNIQUE (task, address, revision)
) STRICT;
CREATE TABLE task_team (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  per_instance INTEGER NOT NULL CHECK (per_instance >= 0), -- people per instance; 0: every member gets every instance
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE TABLE task_team_member (
  task_team INTEGER NOT NULL REFERENCES task_team(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  PRIMARY KEY (task_team, annotator)
) STRICT;
CREATE TABLE vote (
  ballot INTEGER NOT NULL REFERENCES ballot(id),
  position INTEGER NOT NULL,
  proposal INTEGER REFERENCES proposal(id), -- null for a criterion that the person adds
  action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
  reason TEXT NOT NULL,
  new_text TEXT NOT NULL,
  PRIMARY KEY (ballot, position)
) STRICT;
CREATE TABLE withdrawn_work (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  arrival INTEGER REFERENCES arrival(id), -- the submission that the person withdrew
  state TEXT NOT NULL, -- the person's state before they withdrew
  rows_json TEXT NOT NULL, -- rows by table
  withdrawn_at TEXT NOT NULL,
  delete_after TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX annotator_uid ON annotator (uid) WHERE uid <> '';
CREATE INDEX annotator_import ON annotator(import_batch) WHERE import_batch IS NOT NULL;
CREATE VIEW annotator_group AS
SELECT a.id AS annotator, CASE
    WHEN a.set_group <> '' THEN a.set_group
    WHEN EXISTS (SELECT 1 FROM account c WHERE c.annotator = a.id AND c.guest = 1) THEN 'crowd'
    ELSE 'team' END AS group_name
FROM annotator a;
CREATE INDEX session_annotator ON session(annotator);
CREATE INDEX invitation_by_annotator ON invitation(annotator) WHERE annotator IS NOT NULL;
CREATE INDEX invitation_by_creator ON invitation(creator) WHERE creator IS NOT NULL;
CREATE INDEX invitation_by_used_by ON invitation(used_by) WHERE used_by IS NOT NULL;
CREATE INDEX recent_event_key ON recent_event(key, at);
CREATE INDEX recent_event_annotator ON recent_event(annotator) WHERE annotator IS NOT NULL;
CREATE UNIQUE INDEX disabling_now ON disabling(annotator) WHERE enabled_at IS NULL;
CREATE INDEX disabling_by_annotator ON disabling(annotator);
CREATE INDEX server_setting_newest ON server_setting(name, id);
CREATE INDEX task_change_task ON task_change(task, id);
CREATE INDEX task_change_round ON task_change(ballot_round, id) WHERE ballot_round IS NOT NULL;
CREATE VIEW archived_task AS
  SELECT c.task FROM task_change c WHERE c.aside = 1 AND c.ballot_round IS NULL AND NOT EXISTS (
    SELECT 1 FROM task_change later WHERE later.task = c.task AND later.aside IS NOT NULL
      AND later.ballot_round IS NULL AND later.id > c.id);
CREATE VIEW cancelled_round AS
  SELECT c.ballot_round FROM task_change c WHERE c.aside = 1 AND c.ballot_round IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM task_change later WHERE later.ballot_round = c.ballot_round AND later.id > c.id);
CREATE INDEX column_role_newest ON column_role(task, name, id);
CREATE INDEX import_batch_pending ON import_batch(id) WHERE finished_at IS NULL;
CREATE INDEX import_batch_by_staging ON import_batch(staging) WHERE staging IS NOT NULL;
CREATE INDEX criterion_guide_criterion ON criterion_guide(criterion, id);
CREATE VIEW current_criterion_guide AS
  SELECT g.* FROM criterion_guide g WHERE NOT EXISTS (
    SELECT 1 FROM criterion_guide later WHERE later.criterion = g.criterion AND later.id > g.id);
CREATE INDEX criteria_set_member_by_criterion ON criteria_set_member(criterion);
CREATE INDEX proposal_by_criterion ON proposal(criterion) WHERE criterion IS NOT NULL;
CREATE INDEX ballot_by_annotator ON ballot(annotator);
CREATE VIEW current_ballot AS
  SELECT b.* FROM ballot b WHERE NOT EXISTS (
    SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
      AND later.annotator = b.annotator AND later.revision > b.revision);
CREATE INDEX vote_by_proposal ON vote(proposal) WHERE proposal IS NOT NULL;
CREATE INDEX run_by_base ON run(base) WHERE base IS NOT NULL;
CREATE UNIQUE INDEX run_shown ON run(task) WHERE shown = 1;
CREATE INDEX run_by_criteria_set ON run(criteria_set) WHERE criteria_set IS NOT NULL;
CREATE INDEX draft_by_instance ON draft(instance);
CREATE INDEX draft_by_criterion ON draft(criterion);
CREATE INDEX draft_unscored ON draft(id) WHERE status = 'unscored';
CREATE VIEW current_draft AS
  SELECT d.* FROM draft d WHERE NOT EXISTS (
    SELECT 1 FROM draft later WHERE later.run = d.run AND later.instance = d.instance
      AND later.criterion = d.criterion AND later.attempt > d.attempt);
CREATE UNIQUE INDEX instance_score_assistant ON instance_score(instance, assistant) WHERE run IS NULL;
CREATE UNIQUE INDEX instance_score_run ON instance_score(run, instance) WHERE run IS NOT NULL;
CREATE INDEX instance_score_by_instance ON instance_score(instance);
CREATE INDEX comparison_by_criterion ON comparison(criterion);
CREATE INDEX comparison_by_first ON comparison(first);
CREATE INDEX comparison_by_second ON comparison(second);
CREATE VIEW current_comparison AS
  SELECT c.* FROM comparison c WHERE NOT EXISTS (
    SELECT 1 FROM comparison later WHERE later.run = c.run AND later.criterion = c.criterion
      AND later.first = c.first AND later.second = c.second AND later.attempt > c.attempt);
CREATE UNIQUE INDEX call_answered ON call(request_hash, sample, endpoint) WHERE error = '';
CREATE INDEX job_by_task ON job(task);
CREATE INDEX lease_job ON lease(job);
CREATE INDEX task_team_newest ON task_team(task, id);
CREATE VIEW current_task_team AS
  SELECT t.* FROM task_team t WHERE NOT EXISTS (
    SELECT 1 FROM task_team later WHERE later.task = t.task AND later.id > t.id);
CREATE INDEX task_team_member_by_annotator ON task_team_member(annotator);
CREATE INDEX assignment_state ON assignment(annotator, task, state, skipped, position);
CREATE INDEX assignment_flagged ON assignment(annotator, task, position) WHERE flagged = 1;
CREATE INDEX assignment_arm ON assignment(task, arm) WHERE arm IS NOT NULL;
CREATE INDEX assignment_instance ON assignment(instance) WHERE arm IS NOT NULL;
CREATE INDEX assignment_by_instance ON assignment(instance);
CREATE INDEX assignment_by_task ON assignment(task);
CREATE INDEX planted_error_by_instance ON planted_error(instance);
CREATE INDEX planted_error_by_criterion ON planted_error(criterion);
CREATE INDEX planted_error_by_draft ON planted_error(draft);
CREATE INDEX first_score_by_instance ON first_score(instance);
CREATE INDEX first_score_by_criterion ON first_score(criterion);
CREATE INDEX submission_instance ON submission(instance, criterion, score);
CREATE INDEX submission_annotator ON submission(annotator);
CREATE INDEX submission_import ON submission(import_batch) WHERE import_batch IS NOT NULL;
CREATE INDEX submission_revised ON submission(annotator, instance, criterion, revision) WHERE revision > 1;
CREATE INDEX submission_by_criterion ON submission(criterion);
CREATE INDEX submission_by_draft ON submission(draft) WHERE draft IS NOT NULL;
CREATE VIEW current_submission AS
  SELECT s.* FROM submission s WHERE (s.import_batch IS NULL
      OR s.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL))
    AND NOT EXISTS (
    SELECT 1 FROM submission later WHERE later.annotator = s.annotator
      AND later.instance = s.instance AND later.criterion = s.criterion
      AND later.revision > s.revision AND (later.import_batch IS NULL
      OR later.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL)));
CREATE INDEX submission_row_changed ON submission_row(submission) WHERE action <> 'approve';
CREATE INDEX submission_row_by_draft_row ON submission_row(draft_row) WHERE draft_row IS NOT NULL;
CREATE INDEX mark_latest ON mark(annotator, instance, id);
CREATE INDEX mark_by_instance ON mark(instance);
CREATE INDEX mark_answer_newest ON mark_answer(mark, id);
CREATE INDEX adjudication_by_criterion ON adjudication(criterion);
CREATE INDEX adjudication_by_decided_by ON adjudication(decided_by);
CREATE INDEX asked_line_instance ON asked_line(instance, criterion) WHERE instance IS NOT NULL;
CREATE INDEX asked_line_by_criterion ON asked_line(criterion) WHERE criterion IS NOT NULL;
CREATE VIEW current_asked_line AS
  SELECT l.* FROM asked_line l
  WHERE l.instance IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM asked_line later WHERE later.task = l.task AND later.request > l.request)
    AND l.criterion IN (SELECT m.criterion FROM criteria_set_member m
      JOIN criteria_set s ON s.id = m.criteria_set WHERE s.task = l.task AND NOT EXISTS (
        SELECT 1 FROM criteria_set newer WHERE newer.task = s.task AND newer.version > s.version));
CREATE INDEX crowd_by_exam ON crowd(exam) WHERE exam IS NOT NULL;
CREATE UNIQUE INDEX arrival_once ON arrival(task, annotator, study, session);
CREATE INDEX arrival_annotator ON arrival(annotator, task);
CREATE INDEX enrolment_latest ON enrolment(task, annotator, id);
CREATE INDEX enrolment_arrival ON enrolment(arrival, id);
CREATE INDEX enrolment_by_annotator ON enrolment(annotator);
CREATE VIEW current_enrolment AS
  SELECT e.* FROM enrolment e WHERE NOT EXISTS (
    SELECT 1 FROM enrolment later WHERE later.task = e.task AND later.annotator = e.annotator
      AND (coalesce(later.arrival, 0), later.id) > (coalesce(e.arrival, 0), e.id));
CREATE VIEW arrival_state AS
  SELECT e.* FROM enrolment e WHERE e.arrival IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM enrolment later WHERE later.arrival = e.arrival AND later.id > e.id);
CREATE INDEX reservation_places ON reservation(instance, outcome);
CREATE INDEX reservation_due ON reservation(task, outcome, reserved_until);
CREATE INDEX reservation_arrival ON reservation(arrival);
CREATE VIEW uncounted AS
  SELECT r.task, r.annotator, r.instance FROM reservation r
  LEFT JOIN arrival_state e ON e.arrival = r.arrival
  WHERE r.purpose = 'check' OR e.state IN ('rejected', 'blocked', 'removed');
CREATE INDEX answer_key_by_criterion ON answer_key(criterion);
CREATE INDEX exam_attempt_by_annotator ON exam_attempt(annotator);
CREATE INDEX exam_item_annotator ON exam_item(annotator, instance);
CREATE INDEX exam_item_by_instance ON exam_item(instance);
CREATE INDEX return_request_task ON return_request(task, annotator, id);
CREATE INDEX return_request_annotator ON return_request(annotator);
CREATE UNIQUE INDEX repeated_session_once ON repeated_session(task, annotator, study, session);
CREATE INDEX repeated_session_annotator ON repeated_session(annotator);
CREATE INDEX withdrawn_work_due ON withdrawn_work(delete_after);
CREATE INDEX withdrawn_work_task ON withdrawn_work(task, annotator);
CREATE INDEX withdrawn_work_annotator ON withdrawn_work(annotator);
CREATE INDEX withdrawn_work_arrival ON withdrawn_work(arrival);
COMMIT;