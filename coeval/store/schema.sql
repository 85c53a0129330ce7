-- The whole schema. A new database is made from this page; steps.sql changes databases of earlier versions. sqlite-utils
-- adds the table _sqlite_migrations, which names the steps that a database has taken.
--
-- Facts are appended, each with its author and its time; nothing that a person saved is overwritten. In such a table,
-- the row with the highest id, or the highest revision, is valid, and a current_ view shows only these rows. Times are
-- UTC text, ISO 8601 with milliseconds and Z, so that they sort as text. Text columns that end in _json contain JSON.
-- A column that ends in _by contains a person's name, unless it refers to a table. The SQL is the subset that SQLite
-- and PostgreSQL share.
--
-- Every reference has an index, so that a delete does not read whole tables: both engines look up the rows that refer
-- to a deleted row. Without these indexes, removing an import of 1,000 drafts from a file of 375,000 submissions
-- blocked all saves for minutes. If most rows refer to nothing, the index contains only the others.
--
--   People and sign-in · Tasks and instances · Criteria · Drafts · Scrutiny · Crowd studies · The database itself


-- ---- People and sign-in ---------------------------------------------------------------------------------------------

-- A person who signs in. A local team signs in with these names, so a name is unique.
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
CREATE UNIQUE INDEX annotator_uid ON annotator (uid) WHERE uid <> '';
CREATE INDEX annotator_import ON annotator(import_batch) WHERE import_batch IS NOT NULL;

-- The group of a person in the statistics. Strangers, who come through a study's link, are the crowd; everybody else
-- is the team.
CREATE VIEW annotator_group AS
SELECT a.id AS annotator, CASE
    WHEN a.set_group <> '' THEN a.set_group
    WHEN EXISTS (SELECT 1 FROM account c WHERE c.annotator = a.id AND c.guest = 1) THEN 'crowd'
    ELSE 'team' END AS group_name
FROM annotator a;

-- A browser that is signed in. The table stores only a hash of the cookie's token, so the file opens no session.
CREATE TABLE session (
  token_hash TEXT PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE INDEX session_annotator ON session(annotator);

-- A person's proof of identity.
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

-- A link that creates one account. With an annotator, the link gives this person a new password. The table stores only
-- a hash of the token. A link is void if it was revoked, or if its creator is no longer an owner.
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
CREATE INDEX invitation_by_annotator ON invitation(annotator) WHERE annotator IS NOT NULL;
CREATE INDEX invitation_by_creator ON invitation(creator) WHERE creator IS NOT NULL;
CREATE INDEX invitation_by_used_by ON invitation(used_by) WHERE used_by IS NOT NULL;

-- Recent events that a limit counts, by a hash: refused sign-ins by name and address, and new people by their network.
-- Old rows are deleted.
CREATE TABLE recent_event (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  at TEXT NOT NULL,
  annotator INTEGER REFERENCES annotator(id) -- the new person; null for a refused sign-in
) STRICT;
CREATE INDEX recent_event_key ON recent_event(key, at);
CREATE INDEX recent_event_annotator ON recent_event(annotator) WHERE annotator IS NOT NULL;

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
CREATE INDEX disabling_by_annotator ON disabling(annotator);

-- A fact about the whole server. The newest row of a name is valid.
--   image_hosts: the owners' list of hosts whose images pages may show, one name per line.
--   owner NAME: the permanent id of the owner whose name the settings give. At Hugging Face, a name can pass to another
--     person, but an id is permanent. The first person who signs in with the name becomes the owner; a later holder of
--     the name does not.
CREATE TABLE server_setting (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  set_by TEXT NOT NULL, -- empty if sign-in set it
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX server_setting_newest ON server_setting(name, id);


-- ---- Tasks and instances --------------------------------------------------------------------------------------------

-- A text-generation task with its design. description, input_field and output_field are the paper's T_desc, T_ipt and
-- T_opt. An exam of a crowd study is also a task.
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

-- A change of a task that a paper must report, one for each row: a version of its design columns, a declared stopping
-- rule, or that the task or one of its ballot rounds was put aside (1) or taken back (0). A task is archived, a round
-- is cancelled. Their own rows stay, so that the record is complete. The newest
-- row of each kind is valid; the others stay, so that readers can see whether a rule was changed.
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
CREATE INDEX task_change_task ON task_change(task, id);
CREATE INDEX task_change_round ON task_change(ballot_round, id) WHERE ballot_round IS NOT NULL;
CREATE VIEW archived_task AS
  SELECT c.task FROM task_change c WHERE c.aside = 1 AND c.ballot_round IS NULL AND NOT EXISTS (
    SELECT 1 FROM task_change later WHERE later.task = c.task AND later.aside IS NOT NULL
      AND later.ballot_round IS NULL AND later.id > c.id);
CREATE VIEW cancelled_round AS
  SELECT c.ballot_round FROM task_change c WHERE c.aside = 1 AND c.ballot_round IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM task_change later WHERE later.ballot_round = c.ballot_round AND later.id > c.id);

-- The part of a data set of the Hub that instances came from, with its commit, so that others can fetch the same rows.
CREATE TABLE task_source (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  address TEXT NOT NULL,
  revision TEXT NOT NULL, -- the commit
  imported_by TEXT NOT NULL,
  imported_at TEXT NOT NULL,
  UNIQUE (task, address, revision)
) STRICT;

-- The role of a column of the instances' context. The newest row is valid. A column without a role is shown to nobody.
CREATE TABLE column_role (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  set_by TEXT NOT NULL, -- empty if a rule set the role
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX column_role_newest ON column_role(task, name, id);

-- One pair of an input X and an output Y.
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

-- An import of a file into the task with this slug. While finished_at is null, the import is in progress: its instances
-- and runs belong to a task that no list shows (staging), its submissions are not counted, and everything that it wrote
-- is deleted if it fails. It is written in short transactions, so that people can save meanwhile.
CREATE TABLE import_batch (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL,
  staging INTEGER REFERENCES task(id),
  imported_by TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;
CREATE INDEX import_batch_pending ON import_batch(id) WHERE finished_at IS NULL;
CREATE INDEX import_batch_by_staging ON import_batch(staging) WHERE staging IS NOT NULL;


-- ---- Criteria -------------------------------------------------------------------------------------------------------

-- One wording of a criterion, which never changes. A criterion that a new version of the set keeps is the same row, so
-- that its drafts and submissions stay valid and people judge only the changed criteria.
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

-- The scoring guide of a criterion, with evaluation steps (auto-CoT) that a model or a person wrote. The newest row is
-- valid; earlier ones stay on record, and a run keeps the steps that it used.
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
CREATE INDEX criterion_guide_criterion ON criterion_guide(criterion, id);
CREATE VIEW current_criterion_guide AS
  SELECT g.* FROM criterion_guide g WHERE NOT EXISTS (
    SELECT 1 FROM criterion_guide later WHERE later.criterion = g.criterion AND later.id > g.id);

-- A numbered, frozen list of criteria. The highest version is valid.
CREATE TABLE criteria_set (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  version INTEGER NOT NULL,
  established_at TEXT NOT NULL,
  established_by TEXT NOT NULL,
  UNIQUE (task, version)
) STRICT;

-- The criteria of a set, in their order.
CREATE TABLE criteria_set_member (
  criteria_set INTEGER NOT NULL REFERENCES criteria_set(id),
  position INTEGER NOT NULL,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  PRIMARY KEY (criteria_set, position),
  UNIQUE (criteria_set, criterion)
) STRICT;
CREATE INDEX criteria_set_member_by_criterion ON criteria_set_member(criterion);

-- A vote on criteria: the version of the set that it is for, and the number of the round for this version.
CREATE TABLE ballot_round (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  version INTEGER NOT NULL,
  round INTEGER NOT NULL,
  opened_at TEXT NOT NULL, -- empty for a drafted list that arrived beside an open vote
  UNIQUE (task, version, round)
) STRICT;

-- A criterion that people vote on in one round.
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
CREATE INDEX proposal_by_criterion ON proposal(criterion) WHERE criterion IS NOT NULL;

-- One save of one person's ballot. The highest revision counts.
CREATE TABLE ballot (
  id INTEGER PRIMARY KEY,
  ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  revision INTEGER NOT NULL,
  saved_at TEXT NOT NULL,
  UNIQUE (ballot_round, annotator, revision)
) STRICT;
CREATE INDEX ballot_by_annotator ON ballot(annotator);
CREATE VIEW current_ballot AS
  SELECT b.* FROM ballot b WHERE NOT EXISTS (
    SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
      AND later.annotator = b.annotator AND later.revision > b.revision);

-- A person's action on one proposal.
CREATE TABLE vote (
  ballot INTEGER NOT NULL REFERENCES ballot(id),
  position INTEGER NOT NULL,
  proposal INTEGER REFERENCES proposal(id), -- null for a criterion that the person adds
  action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
  reason TEXT NOT NULL,
  new_text TEXT NOT NULL,
  PRIMARY KEY (ballot, position)
) STRICT;
CREATE INDEX vote_by_proposal ON vote(proposal) WHERE proposal IS NOT NULL;


-- ---- Drafts ---------------------------------------------------------------------------------------------------------

-- One pass of one judge over a task. At most one run of a task is shown to its annotators.
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
CREATE INDEX run_by_base ON run(base) WHERE base IS NOT NULL;
CREATE UNIQUE INDEX run_shown ON run(task) WHERE shown = 1;
CREATE INDEX run_by_criteria_set ON run(criteria_set) WHERE criteria_set IS NOT NULL;

-- The model's evaluation of one instance by one criterion; it never changes. If an unscored draft is requested again,
-- the answer is stored as a further attempt.
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
CREATE INDEX draft_by_instance ON draft(instance);
CREATE INDEX draft_by_criterion ON draft(criterion);
CREATE INDEX draft_unscored ON draft(id) WHERE status = 'unscored';
CREATE VIEW current_draft AS
  SELECT d.* FROM draft d WHERE NOT EXISTS (
    SELECT 1 FROM draft later WHERE later.run = d.run AND later.instance = d.instance
      AND later.criterion = d.criterion AND later.attempt > d.attempt);

-- One line of a draft.
CREATE TABLE draft_row (
  id INTEGER PRIMARY KEY,
  draft INTEGER NOT NULL REFERENCES draft(id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
  text TEXT NOT NULL,
  UNIQUE (draft, position)
) STRICT;

-- A span that a line quotes; a line can quote several.
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

-- A score of a whole instance that no person gave: an assistant evaluator's, computed once or imported, or the model's
-- own rating in a run of Fusion, which is not a mean over the criteria.
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
CREATE UNIQUE INDEX instance_score_assistant ON instance_score(instance, assistant) WHERE run IS NULL;
CREATE UNIQUE INDEX instance_score_run ON instance_score(run, instance) WHERE run IS NOT NULL;
CREATE INDEX instance_score_by_instance ON instance_score(instance);

-- A judge's comparison of two outputs of one document; it never changes. Each pair is compared in both orders.
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
CREATE INDEX comparison_by_criterion ON comparison(criterion);
CREATE INDEX comparison_by_first ON comparison(first);
CREATE INDEX comparison_by_second ON comparison(second);
CREATE VIEW current_comparison AS
  SELECT c.* FROM comparison c WHERE NOT EXISTS (
    SELECT 1 FROM comparison later WHERE later.run = c.run AND later.criterion = c.criterion
      AND later.first = c.first AND later.second = c.second AND later.attempt > c.attempt);

-- The ledger of calls to models, for caching, resuming and audits. Each question and sample is paid for only once per
-- endpoint; failures are stored as well. One model name on two servers never shares answers.
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
CREATE UNIQUE INDEX call_answered ON call(request_hash, sample, endpoint) WHERE error = '';

-- A long-running task in the background, with its progress.
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
CREATE INDEX job_by_task ON job(task);

-- The holder of exclusive work, such as the drafts of a run. The holder renews the lease every few seconds and removes
-- it at the end. A lease that was not renewed has no holder.
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  job INTEGER REFERENCES job(id),
  renewed_at TEXT NOT NULL
) STRICT;
CREATE INDEX lease_job ON lease(job);


-- ---- Scrutiny -------------------------------------------------------------------------------------------------------

-- The team members who work on a task. The newest row is valid. If it has no members, everybody works on the task.
CREATE TABLE task_team (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  per_instance INTEGER NOT NULL CHECK (per_instance >= 0), -- people per instance; 0: every member gets every instance
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX task_team_newest ON task_team(task, id);
CREATE VIEW current_task_team AS
  SELECT t.* FROM task_team t WHERE NOT EXISTS (
    SELECT 1 FROM task_team later WHERE later.task = t.task AND later.id > t.id);

-- A member of a team.
CREATE TABLE task_team_member (
  task_team INTEGER NOT NULL REFERENCES task_team(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  PRIMARY KEY (task_team, annotator)
) STRICT;
CREATE INDEX task_team_member_by_annotator ON task_team_member(annotator);

-- A person's queue: their own order of the instances, with the arm and the state of each. This table is updated in
-- place, because it can be rebuilt from the submissions.
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
CREATE INDEX assignment_state ON assignment(annotator, task, state, skipped, position);
CREATE INDEX assignment_flagged ON assignment(annotator, task, position) WHERE flagged = 1;
-- each draw of an arm counts how often each arm was drawn in the whole study, and who opened the same instance before
CREATE INDEX assignment_arm ON assignment(task, arm) WHERE arm IS NOT NULL;
CREATE INDEX assignment_instance ON assignment(instance) WHERE arm IS NOT NULL;
CREATE INDEX assignment_by_instance ON assignment(instance);
CREATE INDEX assignment_by_task ON assignment(task);

-- A wrong score in a draft as one person sees it. It is drawn when the instance is opened, and only owners can see it.
CREATE TABLE planted_error (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  draft INTEGER NOT NULL REFERENCES draft(id),
  score REAL NOT NULL, -- the score that is shown instead of the draft's
  planted_at TEXT NOT NULL,
  PRIMARY KEY (annotator, instance, criterion)
) STRICT;
CREATE INDEX planted_error_by_instance ON planted_error(instance);
CREATE INDEX planted_error_by_criterion ON planted_error(criterion);
CREATE INDEX planted_error_by_draft ON planted_error(draft);

-- The score that a person gave before the draft was shown, in the arm 'first'. It is stored once and never changes.
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
CREATE INDEX first_score_by_instance ON first_score(instance);
CREATE INDEX first_score_by_criterion ON first_score(criterion);

-- One save of one person's evaluation of an instance by a criterion. The highest revision counts.
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
-- with the score in the index, disputed instances are found in the index alone: 1.3 s for 6,250,000 submissions, 2.8 s
-- without
CREATE INDEX submission_instance ON submission(instance, criterion, score);
CREATE INDEX submission_annotator ON submission(annotator);
CREATE INDEX submission_import ON submission(import_batch) WHERE import_batch IS NOT NULL;
-- few saves are revisions, so few saves write here; it finds superseded submissions without reading all
CREATE INDEX submission_revised ON submission(annotator, instance, criterion, revision) WHERE revision > 1;
CREATE INDEX submission_by_criterion ON submission(criterion);
CREATE INDEX submission_by_draft ON submission(draft) WHERE draft IS NOT NULL;
-- Submissions of an import in progress are not counted.
CREATE VIEW current_submission AS
  SELECT s.* FROM submission s WHERE (s.import_batch IS NULL
      OR s.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL))
    AND NOT EXISTS (
    SELECT 1 FROM submission later WHERE later.annotator = s.annotator
      AND later.instance = s.instance AND later.criterion = s.criterion
      AND later.revision > s.revision AND (later.import_batch IS NULL
      OR later.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL)));

-- A person's action on one line of the draft.
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
-- few lines are changed; it finds submissions that kept every line of the draft without reading all
CREATE INDEX submission_row_changed ON submission_row(submission) WHERE action <> 'approve';
CREATE INDEX submission_row_by_draft_row ON submission_row(draft_row) WHERE draft_row IS NOT NULL;

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
CREATE INDEX mark_by_instance ON mark(instance);

-- The answer to a flag or comment, which its author sees, or its closing without an answer. The newest row of a mark
-- is valid. A mark is open if it has no row, or if its author has changed it since.
CREATE TABLE mark_answer (
  id INTEGER PRIMARY KEY,
  mark INTEGER NOT NULL REFERENCES mark(id),
  state TEXT NOT NULL CHECK (state IN ('answered', 'closed')),
  text TEXT NOT NULL,
  answered_by TEXT NOT NULL,
  answered_at TEXT NOT NULL
) STRICT;
CREATE INDEX mark_answer_newest ON mark_answer(mark, id);

-- An owner's decision on differing scores. The highest revision is valid. It is stored separately from the annotators'
-- scores and never counts as one of them.
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
CREATE INDEX adjudication_by_criterion ON adjudication(criterion);
CREATE INDEX adjudication_by_decided_by ON adjudication(decided_by);

-- A line of a request that people score only the lines that a judge leaves to them. The highest request of a task is
-- valid: only its lines are asked. A request of one row without a line ends the previous request.
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
CREATE INDEX asked_line_instance ON asked_line(instance, criterion) WHERE instance IS NOT NULL;
CREATE INDEX asked_line_by_criterion ON asked_line(criterion) WHERE criterion IS NOT NULL;
-- Only lines on criteria of the current set: a new version ends requests for the criteria that it replaces.
CREATE VIEW current_asked_line AS
  SELECT l.* FROM asked_line l
  WHERE l.instance IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM asked_line later WHERE later.task = l.task AND later.request > l.request)
    AND l.criterion IN (SELECT m.criterion FROM criteria_set_member m
      JOIN criteria_set s ON s.id = m.criteria_set WHERE s.task = l.task AND NOT EXISTS (
        SELECT 1 FROM criteria_set newer WHERE newer.task = s.task AND newer.version > s.version));


-- ---- Crowd studies --------------------------------------------------------------------------------------------------

-- The plan by which a task is assigned. A task without a row is open: everybody gets every instance.
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
CREATE INDEX crowd_by_exam ON crowd(exam) WHERE exam IS NOT NULL;

-- One submission at a crowd service: a person in a study. It is added once and never changes; a finished person who
-- returns in another session gets a second one.
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
CREATE UNIQUE INDEX arrival_once ON arrival(task, annotator, study, session);
CREATE INDEX arrival_annotator ON arrival(annotator, task);

-- A person's state in a study, with one row per step. The newest row of a submission is its state.
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
CREATE INDEX enrolment_latest ON enrolment(task, annotator, id);
CREATE INDEX enrolment_arrival ON enrolment(arrival, id);
CREATE INDEX enrolment_by_annotator ON enrolment(annotator);
-- The state of a person's newest submission.
CREATE VIEW current_enrolment AS
  SELECT e.* FROM enrolment e WHERE NOT EXISTS (
    SELECT 1 FROM enrolment later WHERE later.task = e.task AND later.annotator = e.annotator
      AND (coalesce(later.arrival, 0), later.id) > (coalesce(e.arrival, 0), e.id));
-- The state of each submission.
CREATE VIEW arrival_state AS
  SELECT e.* FROM enrolment e WHERE e.arrival IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM enrolment later WHERE later.arrival = e.arrival AND later.id > e.id);

-- Each assignment of an instance to a person. Rows are permanent: nobody gets the same instance twice. Held and
-- finished instances each use one of the instance's places.
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
CREATE INDEX reservation_places ON reservation(instance, outcome);
CREATE INDEX reservation_due ON reservation(task, outcome, reserved_until);
CREATE INDEX reservation_arrival ON reservation(arrival);

-- Work that stays on record but is left out of the statistics: the work of rejected submissions, and attention
-- checks, whose answers were known in advance.
CREATE VIEW uncounted AS
  SELECT r.task, r.annotator, r.instance FROM reservation r
  LEFT JOIN arrival_state e ON e.arrival = r.arrival
  WHERE r.purpose = 'check' OR e.state IN ('rejected', 'blocked', 'removed');

-- The right answer for an instance and a criterion. For the task of an exam it is the exam's key, for any other task
-- an attention check.
CREATE TABLE answer_key (
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  accepted_json TEXT NOT NULL, -- the accepted scores; an empty list accepts every score
  must_json TEXT NOT NULL, -- positions of the drafted lines that a person must delete or revise
  explanation TEXT NOT NULL,
  PRIMARY KEY (instance, criterion)
) STRICT;
CREATE INDEX answer_key_by_criterion ON answer_key(criterion);

-- One submitted attempt at an exam, graded with the keys at that time.
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
CREATE INDEX exam_attempt_by_annotator ON exam_attempt(annotator);

-- The instances of one attempt at an exam, drawn when the attempt begins: those that the person has seen least often.
CREATE TABLE exam_item (
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  attempt INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  PRIMARY KEY (task, annotator, attempt, instance)
) STRICT;
CREATE INDEX exam_item_annotator ON exam_item(annotator, instance);
CREATE INDEX exam_item_by_instance ON exam_item(instance);

-- A browser that asks to continue as a person of the study, without proof of identity: an owner decides.
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

-- Everything that a withdrawn person saved, moved out of the other tables. It is deleted after delete_after.
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
CREATE INDEX withdrawn_work_due ON withdrawn_work(delete_after);
CREATE INDEX withdrawn_work_task ON withdrawn_work(task, annotator);
CREATE INDEX withdrawn_work_annotator ON withdrawn_work(annotator);
CREATE INDEX withdrawn_work_arrival ON withdrawn_work(arrival);


-- ---- The database itself --------------------------------------------------------------------------------------------

-- One row: the lineage of files that this file belongs to, so that no other file takes its place.
CREATE TABLE lineage (
  id TEXT NOT NULL UNIQUE, -- the same in every copy of the file; a newly created file has another id
  term INTEGER NOT NULL, -- the latest term in which the file was served from a snapshot place
  sign_in TEXT NOT NULL, -- the kind of sign-in that opened its sessions
  uid_key TEXT NOT NULL -- the secret that makes people's uids: a lost sign-up that is repeated gets the same uid
) STRICT;

-- Each restoration of this file from a snapshot. Work that was saved in the previous file after taken_at is lost, and
-- the record must say so.
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
