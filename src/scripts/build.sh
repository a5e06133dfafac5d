#!/bin/sh
# Compiles into .build/, and deletes output without a source: a removed test must not run. Builds the
# packages of the clients, which /docs of a sandbox offers, when their sources have changed.
set -eu
cd "$(dirname "$0")/../.."
node_modules/typescript7/bin/tsc -p .
find .build -name '*.js' | while read -r compiled; do
  source=${compiled#.build/}
  [ -f "${source%.js}.ts" ] || rm -f "$compiled" "$compiled.map"
done
# Node asks for the nearest package.json of every module, folder by folder upwards.
find .build/actors .build/gateway .build/protos .build/src .build/test -type d | while read -r folder; do
  [ -f "$folder/package.json" ] || echo '{"type":"module"}' >"$folder/package.json"
done
packages=.build/packages
made=$packages/.made
if [ ! -f $made ] || [ -n "$(find src/client src/scripts/*_package.sh -newer $made -print -quit)" ]; then
  rm -rf $packages
  mkdir -p $packages
  src/scripts/client_package.sh $packages >/dev/null
  # A machine without Python builds everything else.
  if command -v python3 >/dev/null; then src/scripts/python_package.sh $packages >/dev/null; fi
  touch $made
fi
