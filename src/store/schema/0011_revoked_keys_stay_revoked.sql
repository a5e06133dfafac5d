-- A key that was once seen as revoked: no clock that is set back makes it active again.
ALTER TABLE signing_keys ADD COLUMN revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1));
