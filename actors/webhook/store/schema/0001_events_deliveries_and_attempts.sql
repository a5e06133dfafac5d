-- The webhook pool's own books. An event is here once it has left the bus, until its outcome is long
-- recorded.

CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  type TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  -- Deliveries that are neither delivered nor dead. Zero: the event is settled.
  open INTEGER NOT NULL DEFAULT 0 CHECK (open >= 0),
  -- The processor has confirmed that it knows.
  reported INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1)),
  body TEXT NOT NULL
) STRICT;
CREATE INDEX events_unreported ON events (position) WHERE open = 0 AND reported = 0;
CREATE INDEX events_received ON events (received_at);

CREATE TABLE deliveries (
  id TEXT NOT NULL UNIQUE,
  event_id TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  endpoint_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'waiting', 'delivered', 'dead')),
  due_at INTEGER CHECK ((due_at IS NULL) = (state IN ('delivered', 'dead'))),
  context TEXT NOT NULL,
  PRIMARY KEY (event_id, endpoint_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER,
  reason TEXT NOT NULL,
  latency_ms INTEGER NOT NULL,
  reply TEXT NOT NULL,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

-- Since when an endpoint has done nothing but fail.
CREATE TABLE failing_endpoints (
  endpoint_id TEXT PRIMARY KEY,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages that are no events of ours, set aside. The digest is of the payload.
CREATE TABLE poison (
  digest TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  headers TEXT NOT NULL,
  payload_base64 TEXT NOT NULL,
  reason TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  times INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
