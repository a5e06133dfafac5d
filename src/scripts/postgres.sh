#!/bin/sh
# Ensures that PostgreSQL 15 or newer is installed when STORE=postgres, unless STORE_URL names a server.
set -eu
[ "${STORE:-}" = postgres ] || exit 0
[ -z "${STORE_URL:-}" ] || exit 0
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && exit 0
command -v initdb >/dev/null && command -v postgres >/dev/null && exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root='sudo -n'
fi
give_up() {
  echo "PostgreSQL is missing and could not be installed: $1" >&2
  echo 'Install it (apt-get install postgresql), or set STORE_URL.' >&2
  exit 1
}
command -v apt-get >/dev/null || give_up 'apt-get is missing.'
$as_root true 2>/dev/null || give_up 'this needs root, or sudo without a password.'

echo 'installing PostgreSQL …'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# The package would create a cluster and start a service; the supervisor has its own.
defaults=/etc/postgresql-common/createcluster.conf
if [ ! -e "$defaults" ]; then
  $as_root mkdir -p "$(dirname "$defaults")"
  echo 'create_main_cluster = false' | $as_root tee "$defaults" >/dev/null
fi
install() { $as_root apt-get install -y --no-install-recommends postgresql >"$log" 2>&1; }
install || { $as_root apt-get update >"$log" 2>&1 && install; } || {
  tail -n 5 "$log" >&2
  give_up 'apt-get failed.'
}
