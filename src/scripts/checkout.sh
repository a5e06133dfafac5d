#!/bin/sh
# Builds a revision in a new folder, with the dependencies of this checkout: checkout.sh REVISION FOLDER
# Packages that only that revision has are installed in the parent folder. Types are not checked.
set -eu
cd "$(dirname "$0")/../.."
commit=$(git rev-parse --verify --quiet "$1^{commit}") || {
  echo "Unknown revision $1." >&2
  exit 2
}
root=$2
git diff --quiet "$commit" -- package-lock.json ||
  echo "$1: package-lock.json differs; it runs with the dependencies of this checkout" >&2
echo "building $1: $(git log -1 --format='%h %s' "$commit")"
mkdir "$root"
git archive "$commit" | tar -x -C "$root"
ln -s "$PWD/node_modules" "$root/node_modules"
gone=$(node -p '
  const { dependencies } = JSON.parse(fs.readFileSync(process.argv[1]))
  const names = Object.keys(dependencies).filter((name) => !fs.existsSync(`node_modules/${name}`))
  names.map((name) => `${name}@${dependencies[name]}`).join(" ")' "$root/package.json")
# Node looks for a package in the parent folders too.
# shellcheck disable=SC2086
[ -z "$gone" ] || npm install --prefix "$root/.." --no-save --no-audit --no-fund --loglevel=error $gone
cd "$root"
"$([ -d src/scripts ] && echo src/scripts || echo .make)/types.sh"
# Earlier revisions have code from which TypeScript 7 drops parentheses (eslint.config.mjs).
node_modules/typescript/bin/tsc -p . --noCheck
