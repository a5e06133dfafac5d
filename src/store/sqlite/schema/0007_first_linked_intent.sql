-- The last intent created before intents were linked to their users (0003). Empty: there is none,
-- or the links already show where they start.
INSERT INTO meta (name, value)
  SELECT 'unlinked_to', coalesce(max(id), '') FROM intents
  WHERE NOT EXISTS (SELECT 1 FROM intent_users);
