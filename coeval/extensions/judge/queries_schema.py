"""The step that creates the tables of this extension."""

from __future__ import annotations

from coeval.store.steps import read_steps

STEPS = read_steps("""
-- step judge_tables: the seal of a task, the judges that were fitted, and each opening with its certificate

-- The split of a task's documents into those for fitting a judge and those for its certificate. It never changes: a
-- new split after a reading would undo the seal.
CREATE TABLE seal (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL UNIQUE REFERENCES task(id),
  salt TEXT NOT NULL, -- the salt of the hash that splits the documents, so that nobody can choose
  share REAL NOT NULL CHECK (share > 0 AND share < 1), -- the certificate's share of the documents
  sealed_by TEXT NOT NULL,
  sealed_at TEXT NOT NULL
) STRICT;

-- The part of each document; an instance without a document is stored under its own id. A document that was imported
-- after the sealing is in neither part until it is added.
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
  written_at TEXT NOT NULL,
  -- means of people's scores by salted hashes of the outputs, as in judge.json; a gate can use them to correct its
  -- result without a second opening
  labels_json TEXT NOT NULL DEFAULT '[]'
) STRICT;
""")
