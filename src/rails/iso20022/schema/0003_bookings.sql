-- The first statement that booked a payment or its return: the digest of account, number and page.
CREATE TABLE bookings (
  instruction TEXT NOT NULL,
  movement TEXT NOT NULL CHECK (movement IN ('executed', 'returned')),
  statement TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (instruction, movement)
) STRICT, WITHOUT ROWID;
