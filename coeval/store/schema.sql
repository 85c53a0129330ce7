-- The present schema. This page is for reading: steps.sql makes the schema, step by step. tests/store/test_schema.py
-- fails while this page and the result of the steps differ, to the last CHECK.
--
-- Facts are appended, each with its author and its time; nothing that a person saved is overwritten. Where a table is
-- appended to, the row with the highest id, or the highest revision, is in force, and a current_ view gives only these
-- rows. Times are UTC text, ISO 8601 with milliseconds and Z, so that they sort as text; text that ends in _json is
-- JSON; a column that ends in _by holds a person's name, unless it refers to a table. The SQL is the subset that SQLite
-- and PostgreSQL share, except for the triggers.
--
-- Every reference has an index, so that a delete does not read whole tables: both engines look for the rows that refer
-- to a deleted row. Without these indexes, taking back an import of 1,000 drafts from a file of 375,000 submissions
-- kept everybody from saving for minutes. If most rows refer to nothing, the index holds only the others.
--
--   People and sign-in · Tasks and instances · Criteria · Drafts · Scrutiny · Crowd studies · Prolific
--   Judges and certificates · Statistics · The database itself


-- ---- People and sign-in ---------------------------------------------------------------------------------------------

-- A person who signs in. A local team signs in with these names, so a name is unique.
CREATE TABLE annotator (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 80),
  role TEXT NOT NULL CHECK (role IN ('owner', 'researcher', 'annotator')),
  created_at TEXT NOT NULL,
  -- the group that an owner set; empty if the group follows from how the person comes (see annotator_group)
  set_group TEXT NOT NULL DEFAULT '' CHECK (set_group IN ('', 'team', 'expert', 'crowd'))
) STRICT;

-- The group that a person is counted in. Strangers, who come by the link of a study, are the crowd; everybody else is
-- the team.
CREATE VIEW annotator_group AS
SELECT a.id AS annotator, CASE
    WHEN a.set_group <> '' THEN a.set_group
    WHEN EXISTS (SELECT 1 FROM account c WHERE c.annotator = a.id AND c.guest = 1) THEN 'crowd'
    ELSE 'team' END AS group_name
FROM annotator a;

-- A browser that is signed in. The table keeps only a hash of the cookie's token: the file opens no session.
CREATE TABLE session (
  token_hash TEXT PRIMARY KEY,
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE INDEX session_annotator ON session(annotator);

-- How a person proves who they are.
CREATE TABLE account (
  annotator INTEGER PRIMARY KEY REFERENCES annotator(id),
  kind TEXT NOT NULL CHECK (kind IN ('password', 'huggingface', 'prolific', 'mturk')),
  -- the name of the account, the lasting id at Hugging Face, or the id at Prolific (lower case) or MTurk (upper case)
  subject TEXT NOT NULL,
  secret TEXT NOT NULL, -- an Argon2 hash, or empty
  guest INTEGER NOT NULL CHECK (guest IN (0, 1)), -- 1 for strangers: they see only the studies that they joined
  created_at TEXT NOT NULL,
  UNIQUE (kind, subject)
) STRICT;

-- A link that makes one account, once. With an annotator, the link gives this person a new password. The table keeps
-- only a hash of the token. A link gives nothing if it was revoked, or if its creator is not an owner any more.
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

-- Recent sign-ins that were refused, by a hash of name and address. Throttling counts them; old rows are deleted.
CREATE TABLE sign_in_failure (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  failed_at TEXT NOT NULL
) STRICT;
CREATE INDEX sign_in_failure_key ON sign_in_failure(key, failed_at);

-- Each time that an owner kept a person from signing in. A person with a row without enabled_at cannot sign in.
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

-- The owner of a hosted study. Names at Hugging Face change hands, lasting ids do not: the first person who signs in
-- with the name that the settings give the owner is the owner. A later holder of the name is not.
CREATE TABLE named_owner (
  name TEXT PRIMARY KEY,
  subject TEXT NOT NULL, -- the lasting id
  pinned_at TEXT NOT NULL
) STRICT;


-- ---- Tasks and instances --------------------------------------------------------------------------------------------

-- A text-generation task with its design: the paper's T_desc, T_ipt and T_opt are description, input_field and
-- output_field. An exam of a crowd study is a task too.
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
  origin TEXT NOT NULL, -- where the task comes from; everyone sees it
  seed TEXT NOT NULL, -- a secret that fixes each person's order, arms and planted errors
  -- share of the pairs of annotator and instance that are shown without the draft
  blind_share REAL NOT NULL DEFAULT 0 CHECK (blind_share BETWEEN 0 AND 1),
  created_at TEXT NOT NULL,
  -- share of these pairs that are scored before the draft is shown
  first_share REAL NOT NULL DEFAULT 0 CHECK (first_share >= 0 AND blind_share + first_share <= 1),
  -- share of the assisted evaluations that contain a planted error
  planted_share REAL NOT NULL DEFAULT 0 CHECK (planted_share BETWEEN 0 AND 1),
  -- active time counts until this many seconds pass without activity
  idle_seconds INTEGER NOT NULL DEFAULT 60 CHECK (idle_seconds BETWEEN 10 AND 3600),
  display TEXT NOT NULL DEFAULT 'plain' CHECK (display IN ('plain', 'markdown')),
  hide_systems INTEGER NOT NULL DEFAULT 1 CHECK (hide_systems IN (0, 1)), -- 1: annotators do not see the systems
  -- 1: an instance that is to be shown with its draft is held back until there is a draft
  wait_for_drafts INTEGER NOT NULL DEFAULT 0 CHECK (wait_for_drafts IN (0, 1)),
  -- one criterion at a time, or all criteria in one sheet; 'choice' leaves it to each annotator
  layout TEXT NOT NULL DEFAULT 'choice' CHECK (layout IN ('choice', 'one', 'all')),
  language TEXT NOT NULL DEFAULT 'en', -- of the annotators' screens: the code of a catalogue, such as 'ar'
  -- share of the pairs of annotator and instance that see the passages which the draft quotes, and nothing else of it
  evidence_share REAL NOT NULL DEFAULT 0 CHECK (evidence_share >= 0),
  -- share of these pairs that see the draft's lines of evidence, without its conclusion and score
  reasons_share REAL NOT NULL DEFAULT 0 CHECK (reasons_share >= 0),
  -- 1: people may mark further scores that they would defend too
  offers_also INTEGER NOT NULL DEFAULT 0 CHECK (offers_also IN (0, 1))
) STRICT;

-- Each setting of the design columns of a task: a paper must say under which design its study was made.
CREATE TABLE design_change (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  design_json TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
CREATE INDEX design_change_task ON design_change(task, id);

-- Each time that a task was archived (1) or brought back (0). The newest row is in force. Nothing else of the task
-- changes, so that its record stays whole.
CREATE TABLE task_archive (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
CREATE INDEX task_archive_newest ON task_archive(task, id);

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

-- The role of a column of the instances' context. The newest row is in force. A column without a role is shown to
-- nobody.
CREATE TABLE column_role (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  set_by TEXT NOT NULL, -- empty if nobody has set the role: a rule gave it
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
  system TEXT NOT NULL, -- what wrote the output
  input TEXT NOT NULL,
  output TEXT NOT NULL,
  reference TEXT NOT NULL,
  context_json TEXT NOT NULL, -- the further columns of the file, by name
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

-- The people whom an import in progress added: they are deleted with it if it fails.
CREATE TABLE import_batch_person (
  import_batch INTEGER NOT NULL REFERENCES import_batch(id),
  person INTEGER NOT NULL,
  PRIMARY KEY (import_batch, person)
) STRICT;

-- The owners' list of hosts that pages may show images from, for all tasks of this server. Each change is the whole
-- list, one name a line; the newest row is in force.
CREATE TABLE image_host (
  id INTEGER PRIMARY KEY,
  hosts TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;


-- ---- Criteria -------------------------------------------------------------------------------------------------------

-- One wording of a criterion; it never changes. A criterion that a new version of the set keeps is the same row, so
-- that its drafts and submissions stay valid and people only judge what changed.
CREATE TABLE criterion (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
  scale_min INTEGER NOT NULL,
  scale_max INTEGER NOT NULL CHECK (scale_max > scale_min),
  -- the question for a free-text judge; empty for the usual one, how well the output meets the criterion
  question TEXT NOT NULL DEFAULT '',
  UNIQUE (task, text, scale_min, scale_max)
) STRICT;

-- How to score by a criterion. The newest row of a criterion is in force; what people read before stays on record.
CREATE TABLE criterion_guide (
  id INTEGER PRIMARY KEY,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  definition TEXT NOT NULL,
  anchors_json TEXT NOT NULL, -- pairs of a score and its meaning
  examples TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
CREATE INDEX criterion_guide_criterion ON criterion_guide(criterion, id);
CREATE VIEW current_criterion_guide AS
  SELECT g.* FROM criterion_guide g WHERE NOT EXISTS (
    SELECT 1 FROM criterion_guide later WHERE later.criterion = g.criterion AND later.id > g.id);

-- Evaluation steps (Auto-CoT) for a criterion, by a model or a person. The newest row of a criterion is in force; a run
-- keeps the text that it used.
CREATE TABLE criterion_steps (
  id INTEGER PRIMARY KEY,
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  text TEXT NOT NULL,
  origin TEXT NOT NULL,
  written_by TEXT NOT NULL,
  written_at TEXT NOT NULL
) STRICT;
CREATE INDEX criterion_steps_newest ON criterion_steps(criterion, id);

-- A numbered, frozen list of criteria. The highest version is in force.
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
  opened_at TEXT NOT NULL,
  UNIQUE (task, version, round)
) STRICT;

-- A round that was cancelled: it results in nothing. Its proposals and ballots stay on record.
CREATE TABLE cancelled_round (
  ballot_round INTEGER PRIMARY KEY REFERENCES ballot_round(id),
  cancelled_by TEXT NOT NULL,
  cancelled_at TEXT NOT NULL
) STRICT;

-- A criterion that people vote on in one round.
CREATE TABLE proposal (
  id INTEGER PRIMARY KEY,
  ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
  support INTEGER NOT NULL, -- the number of the model's samples that named it
  samples INTEGER NOT NULL, -- the number of all samples
  members_json TEXT NOT NULL, -- the wordings that were merged into this one
  criterion INTEGER REFERENCES criterion(id), -- the criterion of an earlier version that it repeats word for word
  note TEXT NOT NULL DEFAULT '', -- where it comes from, such as the instance that prompted it
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

-- A criterion that a person thought of during scrutiny, with the instance that prompted it.
CREATE TABLE suggestion (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  text TEXT NOT NULL,
  suggested_at TEXT NOT NULL
) STRICT;
CREATE INDEX suggestion_task ON suggestion(task, id);
CREATE INDEX suggestion_by_annotator ON suggestion(annotator);
CREATE INDEX suggestion_by_instance ON suggestion(instance);

-- A sharper wording of a criterion, which the model made from people's corrections.
CREATE TABLE wording (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  text TEXT NOT NULL,
  anchors_json TEXT NOT NULL, -- pairs of a score and its meaning
  why TEXT NOT NULL,
  model TEXT NOT NULL,
  proposed_by TEXT NOT NULL,
  proposed_at TEXT NOT NULL
) STRICT;
CREATE INDEX wording_task ON wording(task, id);
CREATE INDEX wording_by_criterion ON wording(criterion);

-- The owner's decision on a wording: taken (1) or not (0). A wording without a row is not decided yet.
CREATE TABLE wording_decision (
  wording INTEGER PRIMARY KEY REFERENCES wording(id),
  taken INTEGER NOT NULL CHECK (taken IN (0, 1)),
  decided_by TEXT NOT NULL,
  decided_at TEXT NOT NULL
) STRICT;


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
  label TEXT NOT NULL, -- the name that people know the run by
  shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),
  created_at TEXT NOT NULL,
  UNIQUE (task, label)
) STRICT;
CREATE UNIQUE INDEX run_shown ON run(task) WHERE shown = 1;
CREATE INDEX run_by_criteria_set ON run(criteria_set) WHERE criteria_set IS NOT NULL;

-- Each time that a run was archived (1) or brought back (0). The newest row is in force. The drafts of the run, and
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

-- A worked example that the questions of a run show. It is written when the run is opened and never changed.
CREATE TABLE run_example (
  run INTEGER NOT NULL REFERENCES run(id),
  position INTEGER NOT NULL,
  base INTEGER NOT NULL REFERENCES run(id), -- the run that was corrected; this run repeats it with examples
  document TEXT NOT NULL, -- the document that the example is from: its own questions do not show the example
  example_json TEXT NOT NULL,
  PRIMARY KEY (run, position)
) STRICT;
CREATE INDEX run_example_by_base ON run_example(base);

-- The model's evaluation of one instance by one criterion; it never changes. If an unscored draft is requested again,
-- the answer is a further attempt beside the first.
CREATE TABLE draft (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  attempt INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'unscored')),
  score REAL,
  reason TEXT NOT NULL, -- why the draft is unscored
  raw TEXT NOT NULL, -- the model's own words
  samples_json TEXT NOT NULL, -- the scores of the single answers, if there was more than one
  created_at TEXT NOT NULL,
  -- the probability of each step of the scale, if the endpoint gave log-probabilities, else empty: the expected score
  -- alone does not tell how sure the judge was
  probabilities_json TEXT NOT NULL DEFAULT '[]',
  -- the rule that read the score from the answer, or every rule once if there were several answers; empty for an
  -- unscored draft, an imported draft, and a draft that was stored before there were rules
  rule TEXT NOT NULL DEFAULT '',
  CHECK ((status = 'ok') = (score IS NOT NULL)),
  UNIQUE (run, instance, criterion, attempt)
) STRICT;
CREATE INDEX draft_by_instance ON draft(instance);
CREATE INDEX draft_by_criterion ON draft(criterion);
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
  quote_start INTEGER, -- in Unicode code points of the text that place names; null if the span was not found
  quote_end INTEGER, -- exclusive
  place TEXT NOT NULL DEFAULT 'output', -- 'output', 'nearly in the output' or 'input'
  CHECK ((quote_start IS NULL) = (quote_end IS NULL)),
  PRIMARY KEY (draft_row, position)
) STRICT;

-- Fusion also rates each instance as a whole: the model's own rating, not a mean over the criteria.
CREATE TABLE overall_rating (
  run INTEGER NOT NULL REFERENCES run(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  score REAL,
  reason TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (run, instance)
) STRICT;
CREATE INDEX overall_rating_by_instance ON overall_rating(instance);

-- The score that an assistant evaluator gives an instance, computed once or imported.
CREATE TABLE assistant_score (
  instance INTEGER NOT NULL REFERENCES instance(id),
  assistant TEXT NOT NULL,
  score REAL, -- null if the assistant has no score for the instance
  PRIMARY KEY (instance, assistant)
) STRICT;

-- Two outputs of one document, as a judge compared them; a row never changes. Each pair is compared in both orders.
CREATE TABLE comparison (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  first INTEGER NOT NULL REFERENCES instance(id), -- the output that was shown first
  second INTEGER NOT NULL REFERENCES instance(id),
  attempt INTEGER NOT NULL,
  -- 1 if the first was preferred, 0 if the second was, null if no answer could be read: the pair is then compared again
  -- as a further attempt
  preference REAL CHECK (preference BETWEEN 0 AND 1),
  reason TEXT NOT NULL,
  raw TEXT NOT NULL,
  samples_json TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (run, criterion, first, second, attempt)
) STRICT;
CREATE INDEX comparison_by_criterion ON comparison(criterion);
CREATE INDEX comparison_by_first ON comparison(first);
CREATE INDEX comparison_by_second ON comparison(second);
CREATE VIEW current_comparison AS
  SELECT c.* FROM comparison c WHERE NOT EXISTS (
    SELECT 1 FROM comparison later WHERE later.run = c.run AND later.criterion = c.criterion
      AND later.first = c.first AND later.second = c.second AND later.attempt > c.attempt);

-- The ledger of calls to models: cache, resume and audit in one. Each question and sample is paid for once at each
-- endpoint; failures are kept as well. One model name on two servers never shares answers.
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

-- Long work in the background, with its progress.
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
  -- another server takes a job over when its own server ends; a job that ends every server must stop
  takeovers INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX job_by_task ON job(task);

-- The holder of work that only one worker at a time may do, such as the drafts of a run. The holder renews the lease
-- every few seconds and removes it at the end; a lease that was not renewed belongs to nobody.
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  job INTEGER REFERENCES job(id),
  renewed_at TEXT NOT NULL
) STRICT;
CREATE INDEX lease_job ON lease(job);


-- ---- Scrutiny -------------------------------------------------------------------------------------------------------

-- The members of one's own team who work on a task. The newest row is in force. If it has no members, everybody works
-- on the task.
CREATE TABLE task_team (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  per_instance INTEGER NOT NULL CHECK (per_instance >= 0), -- people for each instance; 0 gives every member everything
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
-- place: it can be made again from the submissions.
CREATE TABLE assignment (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  task INTEGER NOT NULL REFERENCES task(id),
  position INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  -- drawn when the person first opens the instance, so that a change of the shares only touches what nobody has seen;
  -- null until then
  arm TEXT CHECK (arm IN ('assisted', 'blind', 'first', 'evidence', 'reasons')),
  opened_at TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'finished')), -- finished: every criterion of the current set is saved
  flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1)), -- repeats the latest mark
  skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped IN (0, 1)), -- repeats the latest mark
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

-- The number of finished and flagged instances of each queue. Triggers keep it: every screen shows it, and to count a
-- queue of 100,000 takes longer than the rest of a screen. PostgreSQL has its own text of the triggers, in
-- engines/postgres_schema.py.
CREATE TABLE queue_tally (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  task INTEGER NOT NULL REFERENCES task(id),
  finished INTEGER NOT NULL,
  flagged INTEGER NOT NULL,
  PRIMARY KEY (annotator, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX queue_tally_by_task ON queue_tally(task);
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

-- An error in a draft as one person sees it, put there on purpose. It is drawn when the instance is opened; only owners
-- learn of it.
CREATE TABLE planted_error (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  draft INTEGER NOT NULL REFERENCES draft(id),
  kind TEXT NOT NULL CHECK (kind IN ('score', 'evidence')),
  score REAL, -- the score that is shown instead of the draft's
  draft_row INTEGER REFERENCES draft_row(id), -- the line of the draft that is replaced
  source_row INTEGER REFERENCES draft_row(id), -- the line of another instance that is shown instead
  planted_at TEXT NOT NULL,
  -- the line as it was shown: it quotes what the draft's own line quoted; null if the source's own words were shown,
  -- and for a score
  text TEXT,
  CHECK ((kind = 'score') = (score IS NOT NULL)),
  CHECK ((kind = 'evidence') = (draft_row IS NOT NULL AND source_row IS NOT NULL)),
  PRIMARY KEY (annotator, instance, criterion)
) STRICT;
CREATE INDEX planted_error_by_instance ON planted_error(instance);
CREATE INDEX planted_error_by_criterion ON planted_error(criterion);
CREATE INDEX planted_error_by_draft ON planted_error(draft);
CREATE INDEX planted_error_by_draft_row ON planted_error(draft_row) WHERE draft_row IS NOT NULL;
CREATE INDEX planted_error_by_source_row ON planted_error(source_row) WHERE source_row IS NOT NULL;

-- The score that a person gave before the draft was shown, in the arm 'first': once, and never changed.
CREATE TABLE first_score (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE, -- as in submission
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  score REAL NOT NULL,
  opened_at TEXT,
  submitted_at TEXT NOT NULL,
  active_ms INTEGER,
  UNIQUE (annotator, instance, criterion)
) STRICT;
CREATE INDEX first_score_by_instance ON first_score(instance);
CREATE INDEX first_score_by_criterion ON first_score(criterion);

-- One save of one person's evaluation of an instance by a criterion. The highest revision counts.
CREATE TABLE submission (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE, -- the browser's key for one confirm, so that a save that is sent twice is kept once
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  revision INTEGER NOT NULL,
  draft INTEGER REFERENCES draft(id), -- the draft that was shown or, in the blind arm, withheld
  arm TEXT NOT NULL CHECK (arm IN ('assisted', 'blind', 'first', 'evidence', 'reasons')),
  score REAL,
  shown_score REAL, -- the score on the screen: the draft's, or a planted one; null if none was shown
  planted TEXT CHECK (planted IN ('score', 'evidence')), -- the kind of the planted error in the draft shown
  bulk INTEGER NOT NULL DEFAULT 0 CHECK (bulk IN (0, 1)), -- 1: some lines were approved with "Approve the rest"
  opened_at TEXT,
  submitted_at TEXT NOT NULL,
  active_ms INTEGER,
  import_batch INTEGER REFERENCES import_batch(id),
  also TEXT, -- further scores that the person would defend too, in order, such as '2 4'
  CHECK (planted IS NULL OR arm = 'assisted'),
  CHECK (shown_score IS NULL OR arm <> 'blind'),
  UNIQUE (annotator, instance, criterion, revision)
) STRICT;
-- with the score in the index, the instances where people differ are found in the index alone: 1.3 s for 6,250,000
-- submissions, 2.8 s without
CREATE INDEX submission_instance ON submission(instance, criterion, score);
CREATE INDEX submission_annotator ON submission(annotator);
CREATE INDEX submission_import ON submission(import_batch) WHERE import_batch IS NOT NULL;
-- few saves are revisions, so that few write here; it finds superseded submissions without reading all
CREATE INDEX submission_revised ON submission(annotator, instance, criterion, revision) WHERE revision > 1;
CREATE INDEX submission_by_criterion ON submission(criterion);
CREATE INDEX submission_also ON submission(instance) WHERE also IS NOT NULL;
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
-- few lines are changed; it finds the submissions that kept every line of the draft without reading all
CREATE INDEX submission_row_changed ON submission_row(submission) WHERE action <> 'approve';
CREATE INDEX submission_row_by_draft_row ON submission_row(draft_row) WHERE draft_row IS NOT NULL;

-- What a person says of an instance as a whole. The latest row is in force.
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

-- The answer to a flag or comment, which its author sees, or the closing of one without an answer. The newest row of a
-- mark is in force. A mark is open if it has no row, or if its author has changed it since.
CREATE TABLE mark_answer (
  id INTEGER PRIMARY KEY,
  mark INTEGER NOT NULL REFERENCES mark(id),
  state TEXT NOT NULL CHECK (state IN ('answered', 'closed')),
  text TEXT NOT NULL,
  answered_by TEXT NOT NULL,
  answered_at TEXT NOT NULL
) STRICT;
CREATE INDEX mark_answer_newest ON mark_answer(mark, id);

-- An owner's decision where people differ. The highest revision is in force. It is kept beside the annotators' scores
-- and never counts as one of them.
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


-- ---- Crowd studies --------------------------------------------------------------------------------------------------

-- The plan by which a task is given out. A task without a row is open: everybody gets every instance.
CREATE TABLE crowd (
  task INTEGER PRIMARY KEY REFERENCES task(id),
  state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'closed')),
  per_instance INTEGER NOT NULL CHECK (per_instance BETWEEN 1 AND 1000), -- people for each instance
  batch INTEGER NOT NULL CHECK (batch BETWEEN 1 AND 1000), -- instances that a person gets at a time
  quota INTEGER NOT NULL CHECK (quota BETWEEN 1 AND 100000), -- instances for each person
  exam INTEGER REFERENCES task(id), -- the task whose instances are the qualification
  reserve_minutes INTEGER NOT NULL CHECK (reserve_minutes BETWEEN 1 AND 100000),
  settings_json TEXT NOT NULL, -- the owner's other choices: texts, codes, pay, pass mark, attention checks
  reason TEXT NOT NULL DEFAULT '' -- why it does not run: 'full' if it paused by itself, empty if an owner decided
) STRICT;
CREATE INDEX crowd_by_exam ON crowd(exam) WHERE exam IS NOT NULL;

-- One submission at a crowd service: a person in a study. It is added once and never changed; a person who finished
-- and comes again in another session has a second one.
CREATE TABLE arrival (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  study TEXT NOT NULL, -- the service's id of its study; empty for a person who signs in
  session TEXT NOT NULL, -- the service's id of the session; empty for a person who signs in
  at TEXT NOT NULL,
  -- how CoEval knew that the person is the one whom the link names: 'token', 'link', or empty for not at all
  proof TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX arrival_once ON arrival(task, annotator, study, session);
CREATE INDEX arrival_annotator ON arrival(annotator, task);

-- A person's place in a study: a row for every step. The newest row is in force.
CREATE TABLE enrolment (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  state TEXT NOT NULL, -- one of Standing in domain/crowd.py
  note TEXT NOT NULL,
  actor TEXT NOT NULL, -- who took the step
  at TEXT NOT NULL,
  arrival INTEGER REFERENCES arrival(id) -- null for work from before the study had a plan
) STRICT;
CREATE INDEX enrolment_latest ON enrolment(task, annotator, id);
CREATE INDEX enrolment_arrival ON enrolment(arrival, id);
CREATE INDEX enrolment_by_annotator ON enrolment(annotator);
CREATE VIEW current_enrolment AS
  SELECT e.* FROM enrolment e WHERE NOT EXISTS (
    SELECT 1 FROM enrolment later WHERE later.task = e.task AND later.annotator = e.annotator
      AND later.id > e.id);

-- Each time that an instance was given to a person. It stays for good: nobody is given the same instance twice. An
-- instance that is held, and one that is finished, takes one of the places of the instance.
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

-- Work that stays on record and leaves the statistics: the work of people whose part was rejected, and attention
-- checks, whose answers were known before.
CREATE VIEW uncounted AS
  SELECT r.task, r.annotator, r.instance FROM reservation r
  JOIN current_enrolment e ON e.task = r.task AND e.annotator = r.annotator
  WHERE r.purpose = 'check' OR e.state IN ('rejected', 'blocked', 'removed');

-- The right answer for an instance by a criterion: in the task of an exam, the key of the exam; in a task that people
-- work on, an attention check.
CREATE TABLE answer_key (
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  accepted_json TEXT NOT NULL, -- the accepted scores; an empty list accepts every score
  must_json TEXT NOT NULL, -- positions of the drafted lines that a person must delete or revise
  explanation TEXT NOT NULL,
  PRIMARY KEY (instance, criterion)
) STRICT;
CREATE INDEX answer_key_by_criterion ON answer_key(criterion);

-- One try at an exam that a person handed in, graded by the keys at that time.
CREATE TABLE exam_attempt (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  attempt INTEGER NOT NULL,
  right_items INTEGER NOT NULL,
  items INTEGER NOT NULL,
  passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
  detail_json TEXT NOT NULL, -- each item as the person answered it
  at TEXT NOT NULL,
  UNIQUE (task, annotator, attempt)
) STRICT;
CREATE INDEX exam_attempt_by_annotator ON exam_attempt(annotator);

-- The instances of one try at an exam, drawn when the try begins: those that the person has seen least often.
CREATE TABLE exam_item (
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  attempt INTEGER NOT NULL,
  instance INTEGER NOT NULL REFERENCES instance(id),
  PRIMARY KEY (task, annotator, attempt, instance)
) STRICT;
CREATE INDEX exam_item_annotator ON exam_item(annotator, instance);
CREATE INDEX exam_item_by_instance ON exam_item(instance);

-- A browser that asks to go on as a person of the study, without proof: an owner decides.
CREATE TABLE return_request (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  number TEXT NOT NULL, -- the browser's page shows it, so that an owner can ask the person for it
  token_hash TEXT NOT NULL, -- of the token in the cookie of the browser; empty once the admission was used
  asked_at TEXT NOT NULL,
  admitted INTEGER CHECK (admitted IN (0, 1)), -- null until an owner decides
  decided_by TEXT,
  decided_at TEXT
) STRICT;
CREATE INDEX return_request_task ON return_request(task, annotator, id);
CREATE INDEX return_request_annotator ON return_request(annotator);

-- A further session of the same study at the service. It makes no submission of its own.
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

-- The network that a new person came from, as a hash. Rows that are too old to count are deleted.
CREATE TABLE newcomer (
  annotator INTEGER PRIMARY KEY REFERENCES annotator(id),
  network TEXT NOT NULL,
  came_at TEXT NOT NULL
) STRICT;
CREATE INDEX newcomer_network ON newcomer(network, came_at);

-- Everything that a person saved who withdrew, taken out of the other tables. It is deleted after delete_after.
CREATE TABLE withdrawn_work (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  state TEXT NOT NULL, -- the person's place in the study before they withdrew
  rows_json TEXT NOT NULL, -- rows by table
  withdrawn_at TEXT NOT NULL,
  delete_after TEXT NOT NULL
) STRICT;
CREATE INDEX withdrawn_work_due ON withdrawn_work(delete_after);
CREATE INDEX withdrawn_work_task ON withdrawn_work(task, annotator);
CREATE INDEX withdrawn_work_annotator ON withdrawn_work(annotator);


-- ---- Prolific -------------------------------------------------------------------------------------------------------

-- A request that changes something at Prolific or costs money. It is written before it is sent, so that nothing is paid
-- twice, and never changed: prolific_step tells the result.
CREATE TABLE prolific_request (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL,
  study TEXT NOT NULL,
  currency TEXT NOT NULL,
  note TEXT NOT NULL, -- the grounds for the request: a rule, a reason, the evidence
  asked_by TEXT NOT NULL,
  asked_at TEXT NOT NULL
) STRICT;
CREATE INDEX prolific_request_task ON prolific_request(task, id);

-- The submission, study or person that a request concerns; a bonus concerns up to 200 submissions. Amounts are in pence
-- or cents.
CREATE TABLE prolific_item (
  id INTEGER PRIMARY KEY,
  request INTEGER NOT NULL REFERENCES prolific_request(id),
  key TEXT NOT NULL, -- requests for the same thing share it
  subject TEXT NOT NULL,
  who TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount >= 0),
  paid_before INTEGER NOT NULL CHECK (paid_before >= 0) -- the sum of the bonuses before this request
) STRICT;
CREATE INDEX prolific_item_request ON prolific_item(request, id);

-- What is known of a request. The newest row is in force.
CREATE TABLE prolific_step (
  id INTEGER PRIMARY KEY,
  request INTEGER NOT NULL REFERENCES prolific_request(id),
  outcome TEXT NOT NULL
    CHECK (outcome IN ('prepared', 'sent', 'unknown', 'done', 'refused', 'dropped')),
  remote TEXT NOT NULL, -- the id that Prolific gave to what it made
  answer TEXT NOT NULL,
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX prolific_step_request ON prolific_step(request, id);


-- ---- Judges and certificates ----------------------------------------------------------------------------------------

-- The split of the documents of a task into those that a judge is fitted on and those that certify it. It is made once
-- and never changed: a new split after a look would undo the seal.
CREATE TABLE seal (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL UNIQUE REFERENCES task(id),
  salt TEXT NOT NULL, -- a salted hash splits the documents, so that nobody chooses
  share REAL NOT NULL CHECK (share > 0 AND share < 1), -- of the documents, for the certificate
  sealed_by TEXT NOT NULL,
  sealed_at TEXT NOT NULL
) STRICT;

-- The part that each document belongs to; an instance without a document has its own id here. A document that was
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

-- Each time that the labels of the certificate part were read. It is written in the transaction that reads them.
CREATE TABLE seal_opening (
  id INTEGER PRIMARY KEY,
  seal INTEGER NOT NULL REFERENCES seal(id),
  judge_hash TEXT NOT NULL,
  opened_by TEXT NOT NULL,
  opened_at TEXT NOT NULL
) STRICT;
CREATE INDEX seal_opening_seal ON seal_opening(seal, id);

-- The result of an opening. In an opening without a certificate, the labels were read all the same.
CREATE TABLE certificate (
  seal_opening INTEGER PRIMARY KEY REFERENCES seal_opening(id),
  certificate_json TEXT NOT NULL,
  written_at TEXT NOT NULL,
  -- means of people's scores by salted hashes of the outputs, as in judge.json: a gate may correct by them after the
  -- opening, without a second one
  labels_json TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- A request that people score only the lines that a judge leaves to them. The newest row of a task is in force; one
-- without lines ends the one before it.
CREATE TABLE asking (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  judge_hash TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at TEXT NOT NULL
) STRICT;
CREATE INDEX asking_newest ON asking(task, id);

-- The lines that people score, and no others, while the request is in force.
CREATE TABLE asked_line (
  asking INTEGER NOT NULL REFERENCES asking(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  criterion INTEGER NOT NULL REFERENCES criterion(id),
  PRIMARY KEY (asking, instance, criterion)
) STRICT;
CREATE INDEX asked_line_instance ON asked_line(instance, criterion);
CREATE INDEX asked_line_by_criterion ON asked_line(criterion);
-- Only lines by criteria of the current set: a new version ends the requests for the criteria that it replaced.
CREATE VIEW current_asked_line AS
  SELECT a.task, l.asking, l.instance, l.criterion FROM asking a JOIN asked_line l ON l.asking = a.id
  WHERE NOT EXISTS (SELECT 1 FROM asking later WHERE later.task = a.task AND later.id > a.id)
    AND l.criterion IN (SELECT m.criterion FROM criteria_set_member m
      JOIN criteria_set s ON s.id = m.criteria_set WHERE s.task = a.task AND NOT EXISTS (
        SELECT 1 FROM criteria_set newer WHERE newer.task = s.task AND newer.version > s.version));


-- ---- Statistics -----------------------------------------------------------------------------------------------------

-- A rule, declared for a task, that says when the study has enough scores. The newest row is in force; the others stay,
-- so that a reader can see whether the rule was changed.
CREATE TABLE stopping_rule (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  measure TEXT NOT NULL CHECK (measure IN ('alpha', 'difference', 'pull')),
  width REAL NOT NULL CHECK (width > 0), -- half the width that the interval may have; the limit of a pull
  planned INTEGER NOT NULL CHECK (planned > 0), -- documents
  system_a TEXT NOT NULL, -- the two systems of a difference; empty for alpha
  system_b TEXT NOT NULL,
  scores_then INTEGER NOT NULL, -- the number of scores when the rule was declared
  declared_by TEXT NOT NULL,
  declared_at TEXT NOT NULL
) STRICT;
CREATE INDEX stopping_rule_newest ON stopping_rule(task, id);

-- A change of the methods that this database has met (rules/method_changes.py).
CREATE TABLE method_change (
  id TEXT PRIMARY KEY,
  met_at TEXT NOT NULL,
  last_submission INTEGER NOT NULL, -- scores up to this id were there before the change; 0 if there were none
  earlier_copy TEXT NOT NULL -- the name of the copy of the file from before the upgrade; empty if there is none
) STRICT;

-- A person who has read of a change.
CREATE TABLE method_change_read (
  annotator INTEGER NOT NULL REFERENCES annotator(id),
  method_change TEXT NOT NULL REFERENCES method_change(id),
  read_at TEXT NOT NULL,
  PRIMARY KEY (annotator, method_change)
) STRICT;
CREATE INDEX method_change_read_change ON method_change_read(method_change);

-- The figure that one state of the methods showed last.
CREATE TABLE shown_figure (
  task INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL,
  part TEXT NOT NULL,
  methods TEXT NOT NULL, -- the state of the methods: the newest change
  value REAL, -- null if the figure was undefined
  low REAL, -- low and high are the interval
  high REAL,
  scores INTEGER NOT NULL, -- the number of scores that the figure rested on
  shown_at TEXT NOT NULL,
  PRIMARY KEY (task, kind, part, methods)
) STRICT;


-- ---- The database itself --------------------------------------------------------------------------------------------

-- One row: the line of files that this file belongs to, so that no other file takes its place.
CREATE TABLE lineage (
  id TEXT NOT NULL UNIQUE, -- the same in every copy of the file; a file that was begun anew has another
  term INTEGER NOT NULL, -- the latest term in which the file was served from a place of snapshots
  sign_in TEXT NOT NULL -- the kind of sign-in that opened its sessions
) STRICT;

-- Each time that this file came back from a snapshot. The work that was saved after taken_at in the file before is
-- lost, and the record must say so.
CREATE TABLE restoration (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  name TEXT NOT NULL, -- of the snapshot
  taken_at TEXT NOT NULL,
  restored_at TEXT NOT NULL,
  passed_over TEXT NOT NULL DEFAULT '', -- newer snapshots that were damaged, one a line
  newest_at TEXT NOT NULL DEFAULT '', -- when the newest of these was taken
  put_aside TEXT NOT NULL DEFAULT '' -- the file that was in the place before, which is kept beside it
) STRICT;

-- One row. Several servers work on one PostgreSQL database, and each remembers tasks, criteria and teams. A transaction
-- that changes one of these also writes another mark; a transaction that finds another mark reads them again. SQLite
-- does not need it.
CREATE TABLE settled_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mark TEXT NOT NULL
);

-- The steps that this database has taken. The table is made by sqlite-utils.
CREATE TABLE _sqlite_migrations (
  id INTEGER PRIMARY KEY,
  migration_set TEXT, -- 'coeval', or the name of the extension that the step belongs to
  name TEXT,
  applied_at TEXT
);
CREATE UNIQUE INDEX idx__sqlite_migrations_migration_set_name ON _sqlite_migrations (migration_set, name);
