#!/bin/sh
# Prepares a new PostgreSQL primary: roles, database, access, synchronous replication. Its image runs it once.
set -eu
secrets=${SECRETS:-/run/secrets}
password() { cat "$secrets/$1.password"; }

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<SQL
CREATE ROLE causeway LOGIN PASSWORD '$(password causeway)';
CREATE ROLE causeway_pools LOGIN PASSWORD '$(password pools)';
CREATE ROLE replicator LOGIN REPLICATION PASSWORD '$(password replicator)';
CREATE DATABASE causeway OWNER causeway TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C';
GRANT CONNECT ON DATABASE causeway TO causeway_pools;
\connect causeway
CREATE SCHEMA pool_1 AUTHORIZATION causeway_pools;
CREATE SCHEMA pool_2 AUTHORIZATION causeway_pools;
-- Either server may be the primary one day. It applies from the restart that ends the preparation.
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (postgres_1, postgres_2)';
SQL

cat >"$PGDATA/pg_hba.conf" <<'HBA'
local   all         all                      trust
hostssl causeway    causeway,causeway_pools  all  scram-sha-256
hostssl replication replicator               all  scram-sha-256
HBA
