#!/bin/sh
# Installs Chromium for the tests of the documentation, where that is allowed. Without it they are skipped, or
# fail when CI is set.
set -u
[ ! -x /usr/bin/chromium ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root='sudo -n'
fi
give_up() {
  echo "Chromium is missing and could not be installed: $1"
  exit 0
}
command -v apt-get >/dev/null || give_up 'apt-get is missing.'
$as_root true 2>/dev/null || give_up 'this needs root, or sudo without a password.'

echo 'installing Chromium …'
export DEBIAN_FRONTEND=noninteractive
install() { $as_root apt-get install -y --no-install-recommends chromium >/dev/null 2>&1; }
install || { $as_root apt-get update >/dev/null 2>&1 && install; } || give_up 'apt-get failed.'
