-- The last intent of the time before intents were linked to their users. Empty: there is none, or
-- links tell by themselves where they began.
INSERT INTO meta (name, value)
  SELECT 'unlinked_to', coalesce(max(id), '') FROM intents
  WHERE NOT EXISTS (SELECT 1 FROM intent_users);
