-- Of instructions that came before this was kept it is not known; they count as the sandbox's.
ALTER TABLE instructions ADD COLUMN environment TEXT
  CHECK (environment IN ('sandbox', 'production'));
