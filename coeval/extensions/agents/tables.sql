-- step agents_tokens: what an agent may do for a person, and what its drafts cost
-- A token of an agent. It opens one task, with the rights of one person.
CREATE TABLE agents_token (
  id INTEGER PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  task TEXT NOT NULL, -- the short name; the agent may import a task that does not exist yet
  annotator INTEGER REFERENCES annotator(id), -- the person whose rights it has; null is the command line
  budget REAL NOT NULL CHECK (budget >= 0), -- what all drafts together may cost
  price_in REAL NOT NULL CHECK (price_in >= 0), -- per million prompt tokens
  price_out REAL NOT NULL CHECK (price_out >= 0), -- per million answer tokens
  takes_scores INTEGER NOT NULL CHECK (takes_scores IN (0, 1)), -- whether its files may hold people's scores
  made_by TEXT NOT NULL,
  made_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE INDEX agents_token_annotator ON agents_token(annotator);
-- A drafting run of an agent. The estimate counts until the run has ended.
CREATE TABLE agents_spending (
  id INTEGER PRIMARY KEY,
  token INTEGER NOT NULL REFERENCES agents_token(id),
  estimate REAL NOT NULL CHECK (estimate >= 0),
  cost REAL CHECK (cost >= 0),
  began_at TEXT NOT NULL
) STRICT;
CREATE INDEX agents_spending_token ON agents_spending(token);
