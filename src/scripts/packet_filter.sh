#!/bin/sh
# Installs what `make cluster-chaos` needs of nftables, as root only. Without it that says why and
# goes on, so a failure is not one of the script.
set -eu
[ "$(id -u)" -eq 0 ] || exit 0
PATH="$PATH:/usr/sbin:/sbin"

give_up() { exit 0; }
. "$(dirname "$0")/apt.sh"
command -v nft >/dev/null || { become_root; apt_install nftables 2>/dev/null; }
command -v ip >/dev/null || { become_root; apt_install iproute2 2>/dev/null; }
