-- Deliveries of an endpoint in the order of their events; the key of the row stands behind it.
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id, event_id);
-- Those that a redrive takes up, and those that are given up, of all endpoints.
CREATE INDEX deliveries_failed ON deliveries (endpoint_id, event_id)
  WHERE state IN ('waiting', 'dead');
CREATE INDEX deliveries_dead ON deliveries (event_id, endpoint_id) WHERE state = 'dead';
