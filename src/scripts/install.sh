#!/bin/sh
# Installs the dependencies exactly as locked.
#
# sqlite3 is compiled from its own source: no prebuilt binary is asked for, so nothing waits for a download
# that a closed network never answers. npm's output goes to a file; a line tells how long it has been at it.
set -eu
cd "$(dirname "$0")/../.."
log=npm-install.log

missing() {
  echo "$1" >&2
  exit 1
}

command -v node >/dev/null || missing 'node is missing: install Node.js 20.12 or newer (https://nodejs.org).'
# uWebSockets.js comes compiled: for some versions of Node alone, and from 22 on with a newer glibc.
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
    const here = glibc ?? "another libc"
    refuse(`needs glibc 2.38 for uWebSockets.js, here is ${here}: install Node.js 20, or use a newer system`)
  }
}' || exit 1
command -v npm >/dev/null || missing 'npm is missing: it comes with Node.js, or: apt-get install npm'

loads() {
  node -e 'require("sqlite3"); require("uWebSockets.js")'
}

# Somebody ran `npm ci` by hand: npm writes this file last, when all is there.
if [ node_modules/.package-lock.json -nt package-lock.json ] && loads 2>/dev/null; then
  exit 0
fi

command -v g++ >/dev/null || missing 'g++ is missing and sqlite3 is compiled with it: apt-get install g++'
command -v python3 >/dev/null || missing 'python3 is missing and node-gyp needs it: apt-get install python3'

# Node's headers lie beside many nodes; then node-gyp has no need to download them.
prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
if [ -f "$prefix/include/node/node_api.h" ]; then
  export npm_config_nodedir="$prefix"
fi
export npm_config_build_from_source=true

tick() {
  seconds=0
  while :; do
    if [ -t 1 ]; then
      printf '\rinstalling dependencies … %d s (sqlite3 is compiled, about two minutes)' "$seconds"
    elif [ $((seconds % 15)) -eq 0 ]; then
      echo "installing dependencies … $seconds s (sqlite3 is compiled, about two minutes)"
    fi
    sleep 1
    seconds=$((seconds + 1))
  done
}

tick &
ticker=$!
trap 'kill $ticker 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

failed=0
npm ci --no-audit --no-fund --loglevel=error >"$log" 2>&1 || failed=1
kill "$ticker"
wait "$ticker" 2>/dev/null || true
[ ! -t 1 ] || printf '\r\033[K'

if [ "$failed" -ne 0 ] || ! loads; then
  tail -n 25 "$log" >&2
  missing "The dependencies could not be installed; the whole log is in $log"
fi
rm -f "$log"
echo 'dependencies installed'
