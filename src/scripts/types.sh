#!/bin/sh
# Generates from protos/ TypeScript types, the contracts as programs load them, and the descriptors of the contracts for
# internal services.
set -eu
cd "$(dirname "$0")/../.."
rm -rf protos/types
# File names relative to protos/, as in the import statements of the protos.
files=$(cd protos && find . -name '*.proto' | sed 's#^\./##' | sort)
# shellcheck disable=SC2086
node_modules/.bin/proto-loader-gen-types --longs=String --enums=String --defaults --oneofs --keepCase \
  --grpcLib=@grpc/grpc-js --importFileExtension=.js -I=protos -O=protos/types $files >/dev/null
# shellcheck disable=SC2086
node src/scripts/contracts.mjs $files
# What reflection describes: a set of files is a list, so two sets make one.
public=$(ls protos/*.proto | grep -v -e /rail.proto -e /screening.proto)
for proto in $public; do set -- "$@" --path "$proto"; done
for folder in "protos $*" node_modules/grpc-health-check/proto; do
  # shellcheck disable=SC2086
  node_modules/.bin/buf build $folder --exclude-source-info --as-file-descriptor-set -o -
done >protos/types/described.binpb
