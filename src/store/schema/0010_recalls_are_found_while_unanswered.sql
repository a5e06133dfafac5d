-- Captured intents with a timer: a recall, or an inquiry, that the rail has not answered.
CREATE INDEX intents_captured_due ON intents (id) WHERE state = 'captured' AND due_at IS NOT NULL;
