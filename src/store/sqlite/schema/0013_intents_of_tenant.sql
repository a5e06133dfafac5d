-- A tenant's intents in the order of their creation: ids grow with time.
CREATE INDEX intents_of_tenant ON intents (tenant, id);
