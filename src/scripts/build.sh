#!/bin/sh
# Compiles into .build/, and deletes output without a source: a removed test must not run.
set -eu
cd "$(dirname "$0")/../.."
node_modules/.bin/tsc -p .
find .build -name '*.js' | while read -r compiled; do
  source=${compiled#.build/}
  [ -f "${source%.js}.ts" ] || rm -f "$compiled" "$compiled.map"
done
