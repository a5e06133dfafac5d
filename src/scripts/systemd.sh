#!/bin/sh
# Ensures that systemd-analyze is installed, which the tests of the units use. systemd itself need not run.
set -u
command -v systemd-analyze >/dev/null && exit 0

give_up() {
  echo "systemd-analyze is missing and could not be installed: $1"
  exit 0
}
. "$(dirname "$0")/apt.sh"
become_root
apt_install systemd
