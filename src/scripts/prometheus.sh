#!/bin/sh
# Installs Prometheus for the tests of metrics and alerts, where that is allowed. Without it they are skipped, or
# fail when CI is set.
set -u
if command -v prometheus >/dev/null && command -v promtool >/dev/null; then exit 0; fi

give_up() {
  echo "Prometheus is missing and could not be installed: $1"
  exit 0
}
. "$(dirname "$0")/apt.sh"
become_root
apt_install prometheus

# The package starts a service on the default port; the tests start servers of their own.
if [ -d /run/systemd/system ]; then
  $as_root systemctl disable --now prometheus >/dev/null 2>&1 || true
fi
