-- What a recovery stops until its release: all writes, or only submissions to the rail.
ALTER TABLE recoveries ADD COLUMN stops TEXT NOT NULL DEFAULT 'writes'
  CHECK (stops IN ('writes', 'submissions'));
