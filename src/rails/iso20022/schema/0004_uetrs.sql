-- The payments that were sent, by the UETR that follows from their id: a statement can have nothing else of one.
CREATE TABLE uetrs (
  uetr TEXT PRIMARY KEY,
  instruction TEXT NOT NULL
) STRICT, WITHOUT ROWID;
