-- Captured intents with a timer: the rail has not answered a recall or an inquiry.
CREATE INDEX intents_captured_due ON intents (id) WHERE state = 'captured' AND due_at IS NOT NULL;
