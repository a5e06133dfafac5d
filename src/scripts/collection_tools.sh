#!/bin/sh
# Installs the terminal tools of Bruno and Postman, which a test runs the collection with, where the registry of
# npm can be reached. Without them it is skipped, or fails when CI is set.
#
# They are no devDependencies: 660 packages and 340 MB would double what everyone installs before `make run`.
set -u
cd "$(dirname "$0")/../.."
folder=node_modules/.cache/collection_tools
manifest=test/client/collection_tools
[ ! "$folder/.installed" -nt "$manifest/package-lock.json" ] || exit 0

echo 'installing the terminal tools of Bruno and Postman …'
mkdir -p "$folder"
cp "$manifest/package.json" "$manifest/package-lock.json" "$folder/"
if npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error >"$folder/npm.log" 2>&1; then
  touch "$folder/.installed"
else
  tail -n 5 "$folder/npm.log"
  echo 'The terminal tools of Bruno and Postman are missing and could not be installed.'
fi
