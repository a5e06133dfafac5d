#!/bin/sh
# The whole set-up, every check, every test. The last line is `N passed, N failed`: assertions of all tests, and one
# failure for each check that does not pass.
set -u
cd "$(dirname "$0")/.."
passed=0
failed=0

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}

check() {
  echo "== $1"
  shift
  "$@" || failed=$((failed + 1))
}

check 'set-up and build' make -s setup nats build
[ "$failed" -eq 0 ] || finish
check 'lint' make -s lint
check 'formatting' node_modules/.bin/prettier --log-level warn --check .

echo '== tests'
results=.tap/results.tap
mkdir -p .tap
rm -f "$results"
{
  node_modules/.bin/tap --reporter=tap
  echo "# tap ended with $?"
} | tee "$results" | awk -f .make/tap.awk
exit_code=$(sed -n 's/^# tap ended with //p' "$results" | tail -n 1)

count() { sed -n "s/^# { total:.*[ ]$1: \([0-9]*\).*/\1/p" "$results" 2>/dev/null | tail -n 1; }
passed=$(count pass)
passed=${passed:-0}
tests_failed=$(count fail)
tests_failed=${tests_failed:-0}
if [ "${exit_code:-1}" -ne 0 ] && [ "$tests_failed" -eq 0 ]; then
  tests_failed=1
fi
failed=$((failed + tests_failed))
finish
