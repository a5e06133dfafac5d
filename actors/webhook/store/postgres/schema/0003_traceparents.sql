ALTER TABLE events ADD COLUMN traceparent text;
