-- What an orphan execution is at the rail. An accepted one may still be executed: its `transaction_id` is empty, and its
-- `executed_at` is when the rail accepted it, which stays.
ALTER TABLE orphan_executions ADD COLUMN state TEXT NOT NULL DEFAULT 'executed'
  CHECK (state IN ('accepted', 'executed', 'refused', 'returned'));
