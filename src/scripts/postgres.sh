#!/bin/sh
# Ensures that PostgreSQL 15 or newer is installed when STORE=postgres, unless STORE_URL names a server.
set -eu
[ "${STORE:-}" = postgres ] || exit 0
[ -z "${STORE_URL:-}" ] || exit 0
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && exit 0
command -v initdb >/dev/null && command -v postgres >/dev/null && exit 0

give_up() {
  echo "PostgreSQL is missing and could not be installed: $1" >&2
  echo 'Install it (apt-get install postgresql), or set STORE_URL.' >&2
  exit 1
}
. "$(dirname "$0")/apt.sh"
become_root
# The package would create a cluster and start a service; the supervisor has its own.
defaults=/etc/postgresql-common/createcluster.conf
if [ ! -e "$defaults" ]; then
  $as_root mkdir -p "$(dirname "$defaults")"
  echo 'create_main_cluster = false' | $as_root tee "$defaults" >/dev/null
fi
apt_install postgresql
