#!/bin/sh
# Installs the locked dependencies.
#
# sqlite3 is compiled from source: downloading a prebuilt binary hangs in a closed network. The output of npm
# goes to a file; a line on the terminal shows the elapsed time.
set -eu
cd "$(dirname "$0")/../.."
log=npm-install.log

missing() {
  echo "$1" >&2
  exit 1
}

command -v node >/dev/null || missing 'node is missing: install Node.js 20.12 or newer (https://nodejs.org).'
# uWebSockets.js is prebuilt for some versions of Node only; from 22 on it needs a newer glibc.
node -e '
const { node } = process.versions
const [major, minor] = node.split(".").map(Number)
const refuse = (why) => {
  console.error(`Node.js ${node} ${why} (https://nodejs.org).`)
  process.exit(1)
}
if (major < 20 || (major === 20 && minor < 12)) refuse("is too old: install 20.12 or newer")
if (![20, 21, 22, 24, 25].includes(major)) refuse("has no build of uWebSockets.js: install 20, 22 or 24")
if (major > 21 && process.platform === "linux") {
  const glibc = process.report.getReport().header.glibcVersionRuntime
  const [edition, revision] = (glibc ?? "0.0").split(".").map(Number)
  if (edition < 2 || (edition === 2 && revision < 38)) {
    const found = glibc ?? "another libc"
    refuse(`needs glibc 2.38 for uWebSockets.js, found ${found}: install Node.js 20, or use a newer system`)
  }
}' || exit 1
command -v npm >/dev/null || missing 'npm is missing: it comes with Node.js, or: apt-get install npm'

loads() {
  node -e 'require("sqlite3"); require("uWebSockets.js")'
}

# After a manual `npm ci`: npm writes this file last.
if [ node_modules/.package-lock.json -nt package-lock.json ] && loads 2>/dev/null; then
  exit 0
fi

command -v g++ >/dev/null || missing 'g++ is missing, sqlite3 needs it: apt-get install g++'
command -v python3 >/dev/null || missing 'python3 is missing, node-gyp needs it: apt-get install python3'

# With the headers of Node installed beside it, node-gyp does not download them.
prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
if [ -f "$prefix/include/node/node_api.h" ]; then
  export npm_config_nodedir="$prefix"
fi
export npm_config_build_from_source=true

tick() {
  seconds=0
  while :; do
    if [ -t 1 ]; then
      printf '\rinstalling dependencies … %d s (about two minutes)' "$seconds"
    elif [ $((seconds % 15)) -eq 0 ]; then
      echo "installing dependencies … $seconds s (compiling sqlite3 takes about two minutes)"
    fi
    sleep 1
    seconds=$((seconds + 1))
  done
}

tick &
ticker=$!
trap 'kill $ticker 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

# `npm ci` compiles sqlite3 again; where it is compiled, only the packages that differ are installed.
how=ci
if [ -f node_modules/.package-lock.json ] && loads 2>/dev/null; then
  how='install --no-save'
fi
failed=0
# shellcheck disable=SC2086 # two words
npm $how --no-audit --no-fund --loglevel=error >"$log" 2>&1 || failed=1
kill "$ticker"
wait "$ticker" 2>/dev/null || true
[ ! -t 1 ] || printf '\r\033[K'

if [ "$failed" -ne 0 ] || ! loads; then
  tail -n 25 "$log" >&2
  missing "Installing the dependencies failed; the log is in $log"
fi
rm -f "$log"
echo 'dependencies installed'
