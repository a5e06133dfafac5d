#!/bin/sh
# Starts a PostgreSQL standby: the first time as a copy of the primary. Arguments: the command of the server.
set -eu
secrets=${SECRETS:-/run/secrets}
primary="host=${PRIMARY:-postgres-1} user=replicator passfile=$secrets/replicator.pgpass"
primary="$primary sslmode=verify-full sslrootcert=$secrets/ca.pem application_name=${STANDBY:-postgres_2}"

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  copy=$PGDATA/.copy
  rm -rf "$copy"
  pg_basebackup --dbname="$primary" --pgdata="$copy" --write-recovery-conf --wal-method=stream --checkpoint=fast
  # Whole, or not there: PG_VERSION last.
  find "$copy" -mindepth 1 -maxdepth 1 ! -name PG_VERSION -exec mv {} "$PGDATA" \;
  mv "$copy/PG_VERSION" "$PGDATA"
  rmdir "$copy"
fi
chmod 0700 "$PGDATA"
exec "$@"
