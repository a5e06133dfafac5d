#!/bin/sh
# Runs the tests under another version of Node, from the npm registry: test_node.sh VERSION [part of a name …]
#
# uWebSockets.js is a binary for some versions of Node, which from 22 on need glibc 2.38. Where it does not load, the
# tests that need it are left out, and the output says so.
set -eu
cd "$(dirname "$0")/../.."
version=$1
shift
package=node-linux-$(node -p process.arch)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --no-audit --no-fund --loglevel=error "$package@$version" >"$folder/log" 2>&1 || {
  tail -n 5 "$folder/log" >&2
  exit 1
}
PATH="$folder/node_modules/$package/bin:$PATH"
export PATH
name="Node $(node -p process.versions.node) with glibc $(node -p 'process.report.getReport().header.glibcVersionRuntime')"
if why=$(node -e 'require("uWebSockets.js")' 2>&1); then
  echo "$name: all tests"
else
  echo "$name: without the checks, and without the tests that need uWebSockets.js:"
  echo "$why" | grep -m 1 -o 'This version of uWS.*\|.*GLIBC.*not found.*\|Error: .*' || true
  export WITHOUT_GATEWAY=1
fi
node .build/test/runner/main.js "$@"
