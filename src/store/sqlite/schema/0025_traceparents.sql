-- The span that an event was published in; null: it is not traced. Payments have their trace in
-- their context.
ALTER TABLE events ADD COLUMN traceparent TEXT;
