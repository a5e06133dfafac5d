#!/bin/sh
# Builds two revisions in temporary folders and benchmarks them alternately: bench_compare.sh BASE HEAD [flag…]
# The load tool of this checkout measures both, with the dependencies of this checkout; packages that only an older
# revision has are installed beside them. Types are not checked: its tests may need others.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${1:-}" ] || [ -z "${2:-}" ]; then
  echo 'BASE is missing: make bench-compare BASE=v1.0.0 (REV, default HEAD, is compared with it)' >&2
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
    echo "Unknown revision $2." >&2
    exit 2
  }
  git diff --quiet "$commit" -- package-lock.json ||
    echo "$1: package-lock.json differs; it is measured with the dependencies of this checkout" >&2
  echo "building $1: $(git log -1 --format='%h %s' "$commit")"
  root=$folder/$1-$(git rev-parse --short "$commit")
  mkdir "$root"
  git archive "$commit" | tar -x -C "$root"
  ln -s "$PWD/node_modules" "$root/node_modules"
  gone=$(node -p '
    const { dependencies } = JSON.parse(fs.readFileSync(process.argv[1]))
    const names = Object.keys(dependencies).filter((name) => !fs.existsSync(`node_modules/${name}`))
    names.map((name) => `${name}@${dependencies[name]}`).join(" ")' "$root/package.json")
  # Node looks for a package in the parent folders too.
  [ -z "$gone" ] || npm install --prefix "$folder" --no-save --no-audit --no-fund --loglevel=error $gone
  (cd "$root" && "$([ -d src/scripts ] && echo src/scripts || echo .make)/types.sh" && node_modules/.bin/tsc -p . --noCheck)
}

checkout base "$base"
base=$root
checkout head "$head"
node .build/test/load/main.js compare --base "$base" --head "$root" "$@"
