#!/bin/sh
# Installs Chromium for the tests of pages, and the tool for its certificates, where that is allowed. Without
# Chromium they are skipped, or fail when CI is set; without the tool one of them is skipped.
set -u
missing=
[ -x /usr/bin/chromium ] || missing=chromium
command -v certutil >/dev/null || missing="$missing libnss3-tools"
[ -n "$missing" ] || exit 0

give_up() {
  echo "Missing, and could not be installed: $missing. $1"
  exit 0
}
. "$(dirname "$0")/apt.sh"
become_root
for package in $missing; do apt_install "$package"; done
