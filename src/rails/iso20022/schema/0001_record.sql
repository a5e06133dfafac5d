-- What the adapter must remember beside its journal. Times are epoch milliseconds.

-- When a message that can be repeated was first sent: its repetitions have the same bytes.
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- For operators: the network's reason codes, and faults that no report tells. `subject` is an instruction, a message
-- or a currency, never an account or a name.
CREATE TABLE notices (
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  code TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (kind, subject, code)
) STRICT, WITHOUT ROWID;

-- The numbers of the statements that came, by the digest of their account.
CREATE TABLE statements (
  account TEXT NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (account, number)
) STRICT, WITHOUT ROWID;
