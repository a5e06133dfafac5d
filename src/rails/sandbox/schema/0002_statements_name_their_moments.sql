-- When money moved out, and when it came back. Of what moved before this was kept, the coming of its
-- instruction is the nearest that is known.
ALTER TABLE instructions ADD COLUMN executed_at INTEGER;
ALTER TABLE instructions ADD COLUMN returned_at INTEGER;
UPDATE instructions SET executed_at = received_at WHERE executions = 1;
UPDATE instructions SET returned_at = received_at WHERE state = 'returned';
