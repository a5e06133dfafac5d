#!/bin/sh
# Builds two revisions in temporary folders and benchmarks them alternately: bench_compare.sh BASE HEAD [flag…]
# The load tool of this checkout measures both, with the dependencies of this checkout.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${1:-}" ] || [ -z "${2:-}" ]; then
  echo 'BASE is missing: make bench-compare BASE=7e96afc (REV, default HEAD, is compared with it)' >&2
  exit 2
fi
base=$1
head=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

checkout() {
  root=$folder/$1-$(git rev-parse --short "$2")
  src/scripts/checkout.sh "$2" "$root"
}

checkout base "$base"
base=$root
checkout head "$head"
node .build/test/load/main.js compare --base "$base" --head "$root" "$@"
