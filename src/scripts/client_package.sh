#!/bin/sh
# Builds the npm package of the partner client: src/scripts/client_package.sh [FOLDER]
# The package is written to FOLDER, .build by default; the last line is its path.
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-.build}
parts=$folder/client_package

rm -rf "$parts"
mkdir -p "$parts"
node_modules/.bin/tsc -p src/client --outDir "$(cd "$parts" && pwd)/dist"
cp src/client/package.json src/client/README.md "$parts/"
npm pack --silent --pack-destination "$folder" "$(cd "$parts" && pwd)" >/dev/null
ls "$folder"/causeway-client-*.tgz
