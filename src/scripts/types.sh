#!/bin/sh
# Generates TypeScript types from protos/.
set -eu
cd "$(dirname "$0")/../.."
rm -rf protos/types
# File names relative to protos/, as in the import statements of the protos.
# shellcheck disable=SC2046
node_modules/.bin/proto-loader-gen-types --longs=String --enums=String --defaults --oneofs --keepCase \
  --grpcLib=@grpc/grpc-js --importFileExtension=.js -I=protos -O=protos/types \
  $(cd protos && find . -name '*.proto' | sed 's#^\./##' | sort) >/dev/null
