#!/bin/sh
# Builds two revisions in folders of their own and measures them in turn: bench_compare.sh BASE HEAD [flag…]
# The tool that measures is this checkout's, for both.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${1:-}" ] || [ -z "${2:-}" ]; then
  echo 'Which revision is the base? make bench-compare BASE=v1 (REV=HEAD is the other one)' >&2
  exit 2
fi
base=$1
head=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

checkout() {
  commit=$(git rev-parse --verify --quiet "$2^{commit}") || {
    echo "There is no revision $2." >&2
    exit 2
  }
  git diff --quiet "$commit" -- package-lock.json ||
    echo "$1: its dependencies are other ones; it is measured with those of this checkout" >&2
  echo "building $1: $(git log -1 --format='%h %s' "$commit")"
  root=$folder/$1-$(git rev-parse --short "$commit")
  mkdir "$root"
  git archive "$commit" | tar -x -C "$root"
  ln -s "$PWD/node_modules" "$root/node_modules"
  (cd "$root" && "$([ -d src/scripts ] && echo src/scripts || echo .make)/types.sh" && node_modules/.bin/tsc -p .)
}

checkout base "$base"
base=$root
checkout head "$head"
node .build/test/load/main.js compare --base "$base" --head "$root" "$@"
