-- The console can be a caller: it calls as the operator whose certificate it shows.
ALTER TABLE callers DROP CONSTRAINT callers_kind_check;
ALTER TABLE callers ADD CONSTRAINT callers_kind_check CHECK (
  kind IN ('operator', 'service', 'gateway', 'webhooks', 'supervisor', 'processor', 'console')
);
