-- The pages of statements that come in several messages, by the digest of their account. Amounts are minor units; a page
-- need not have balances. `told` is 1 when operators know that its statement has not ended.
CREATE TABLE statement_pages (
  account TEXT NOT NULL,
  statement TEXT NOT NULL,
  page INTEGER NOT NULL,
  is_last INTEGER NOT NULL,
  opening TEXT,
  moved TEXT NOT NULL,
  closing TEXT,
  told INTEGER NOT NULL DEFAULT 0,
  at INTEGER NOT NULL,
  PRIMARY KEY (account, statement, page)
) STRICT, WITHOUT ROWID;
