# Installs Debian packages as root, or with sudo without a password. For scripts that define `give_up`.

become_root() {
  as_root=
  [ "$(id -u)" -eq 0 ] || as_root='sudo -n'
  command -v apt-get >/dev/null || give_up 'apt-get is missing.'
  $as_root true 2>/dev/null || give_up 'this needs root, or sudo without a password.'
}

# apt_install PACKAGE, after become_root
apt_install() {
  echo "installing $1 …"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # sudo passes no variables on. Another apt may run: at the first start of a machine, or beside this one with make -j.
  apt_get() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 "$@" </dev/null >"$log" 2>&1
  }
  install() { apt_get install -y --no-install-recommends "$1"; }
  install "$1" || { apt_get update && install "$1"; } || {
    tail -n 5 "$log" >&2
    give_up 'apt-get failed.'
  }
}
