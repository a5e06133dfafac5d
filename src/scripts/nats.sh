#!/bin/sh
# Ensures that nats-server is installed, unless NATS_URL names an external one.
set -eu
[ -z "${NATS_URL:-}" ] || exit 0
PATH="$PATH:/usr/sbin:/usr/local/sbin"
command -v nats-server >/dev/null && exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root='sudo -n'
fi
give_up() {
  echo "nats-server is missing and could not be installed: $1" >&2
  echo 'Install it (apt-get install nats-server, or https://nats.io/download), or set NATS_URL.' >&2
  exit 1
}
command -v apt-get >/dev/null || give_up 'apt-get is missing.'
$as_root true 2>/dev/null || give_up 'this needs root, or sudo without a password.'

echo 'installing nats-server …'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() { $as_root apt-get install -y --no-install-recommends nats-server >"$log" 2>&1; }
install || { $as_root apt-get update >"$log" 2>&1 && install; } || {
  tail -n 5 "$log" >&2
  give_up 'apt-get failed.'
}
command -v nats-server >/dev/null || give_up 'the package contains no nats-server.'

# The package starts a service on the default port; the supervisor starts its own server instead.
if [ -d /run/systemd/system ]; then
  $as_root systemctl disable --now nats-server >/dev/null 2>&1 || true
fi
