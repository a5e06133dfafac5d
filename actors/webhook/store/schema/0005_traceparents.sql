-- The span that the event was published in; null: it is not traced.
ALTER TABLE events ADD COLUMN traceparent TEXT;
