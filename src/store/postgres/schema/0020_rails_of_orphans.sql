-- The rail that has reported the instruction. Null: none has yet.
ALTER TABLE orphan_executions ADD COLUMN rail text;
