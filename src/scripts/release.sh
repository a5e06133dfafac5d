#!/bin/sh
# Checks that this revision can be released as the version in package.json; prints the command that tags it.
set -eu
cd "$(dirname "$0")/../.."

fail() {
  echo "release: $1" >&2
  exit 1
}

version=$(node -p 'require("./package.json").version')
locked=$(node -p 'require("./package-lock.json").version')
newest=$(sed -n 's/^## \[\([0-9][^]]*\)\].*/\1/p' CHANGELOG.md | head -n 1)

[ "$locked" = "$version" ] || fail "package-lock.json has version $locked, package.json $version"
[ "$newest" = "$version" ] || fail "the newest section of CHANGELOG.md is $newest, package.json has $version"
if git rev-parse --verify --quiet "refs/tags/v$version" >/dev/null; then
  fail "the tag v$version exists: set the next version in package.json"
fi
[ -z "$(git status --porcelain)" ] || fail 'the working tree has uncommitted changes'
for file in "test/golden/$version.json" "test/golden/$version.tar.gz"; do
  git ls-files --error-unmatch "$file" >/dev/null 2>&1 ||
    fail "$file is missing: make freeze NAME=$version, then commit it"
done
cmp -s gateway/openapi.json test/golden/openapi.json ||
  fail "test/golden/openapi.json is not the document of this version: make freeze NAME=$version, then commit it"
make test || fail 'tests failed'
[ -z "$(git status --porcelain)" ] || fail 'the tests changed files of the working tree'

echo "version $version can be released: git tag -a v$version -m 'Causeway $version'"
