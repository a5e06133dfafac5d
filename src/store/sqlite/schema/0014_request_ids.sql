-- The request that caused the row; null: none, or unknown in rows of earlier versions. Intents and
-- payouts have it in their context. `cause` is one of processor/cycle/origin.ts.
ALTER TABLE events ADD COLUMN request_id TEXT;
ALTER TABLE events ADD COLUMN cause TEXT;
ALTER TABLE beneficiaries ADD COLUMN request_id TEXT;
ALTER TABLE operator_log ADD COLUMN request_id TEXT;
