#!/bin/sh
# Builds the npm package of the partner client: src/scripts/client_package.sh [FOLDER]
# The package is written to FOLDER, .build by default; the last line is its path.
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-.build}
parts=$folder/client_package

rm -rf "$parts"
mkdir -p "$parts"
node_modules/typescript7/bin/tsc -p src/client --outDir "$(cd "$parts" && pwd)/dist"
cp src/client/package.json "$parts/"
# A link to a page of the repository leads nowhere in the package: its text stays.
node -e '
const { readFileSync, writeFileSync } = require("fs")
const [from, to] = process.argv.slice(1)
const page = readFileSync(from, "utf8").replace(/\[([^\]]+)\]\((?!https?:|#)[^)]+\)/g, "$1")
writeFileSync(to, page)' src/client/README.md "$parts/README.md"
npm pack --silent --pack-destination "$folder" "$(cd "$parts" && pwd)" >/dev/null
ls "$folder"/causeway-client-*.tgz
