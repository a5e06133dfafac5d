-- The account is kept sealed, with its last four characters in the clear. `account` is empty in a sealed row;
-- rows of earlier versions are sealed when the rail opens the journal.
ALTER TABLE instructions ADD COLUMN sealed_account TEXT
  CHECK (sealed_account IS NULL OR account = '');
ALTER TABLE instructions ADD COLUMN account_last4 TEXT;

-- Has a row until no account is left in the clear, in rows or in free space of the file.
CREATE TABLE accounts_in_clear (since INTEGER PRIMARY KEY) STRICT;
INSERT INTO accounts_in_clear
  SELECT min(received_at) FROM instructions HAVING min(received_at) IS NOT NULL;
