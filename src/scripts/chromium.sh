#!/bin/sh
# Installs Chromium for the tests of the documentation, where that is allowed. Without it they are skipped, or
# fail when CI is set.
set -u
[ ! -x /usr/bin/chromium ] || exit 0

give_up() {
  echo "Chromium is missing and could not be installed: $1"
  exit 0
}
. "$(dirname "$0")/apt.sh"
become_root
apt_install chromium
