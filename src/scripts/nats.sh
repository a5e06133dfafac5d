#!/bin/sh
# Ensures that nats-server is installed, unless NATS_URL names an external one.
set -eu
[ -z "${NATS_URL:-}" ] || exit 0
PATH="$PATH:/usr/sbin:/usr/local/sbin"
command -v nats-server >/dev/null && exit 0

give_up() {
  echo "nats-server is missing and could not be installed: $1" >&2
  echo 'Install it (apt-get install nats-server, or https://nats.io/download), or set NATS_URL.' >&2
  exit 1
}
. "$(dirname "$0")/apt.sh"
become_root
apt_install nats-server
command -v nats-server >/dev/null || give_up 'the package contains no nats-server.'

# The package starts a service on the default port; the supervisor starts its own server instead.
if [ -d /run/systemd/system ]; then
  $as_root systemctl disable --now nats-server >/dev/null 2>&1 || true
fi
