#!/bin/sh
# Generates the TypeScript types of the contracts.
set -eu
cd "$(dirname "$0")/../.."
rm -rf protos/types
# The files by name without their folder, as protos import one another.
# shellcheck disable=SC2046
node_modules/.bin/proto-loader-gen-types --longs=String --enums=String --defaults --oneofs --keepCase \
  --grpcLib=@grpc/grpc-js --importFileExtension=.js -I=protos -O=protos/types \
  $(cd protos && ls ./*.proto | sed 's#^\./##') >/dev/null
