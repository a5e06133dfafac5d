-- 1: revoked for good, also when the clock is set back.
ALTER TABLE signing_keys ADD COLUMN revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1));
