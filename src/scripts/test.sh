#!/bin/sh
# Set-up, all checks and all tests. The last line is `N passed, N failed` (test/runner/main.ts).
set -u
cd "$(dirname "$0")/../.."
if ! make -s setup nats build; then
  echo '0 passed, 1 failed'
  exit 1
fi
# Some tests need PostgreSQL; where it is missing and cannot be installed, the runner says so.
STORE=postgres STORE_URL= timeout 300 src/scripts/postgres.sh >/dev/null 2>&1
# The units of src/deploy are checked by systemd's own tool.
src/scripts/systemd.sh
# Some tests need Chromium, Prometheus, the tools of the collection or small packages; a selection rarely has them.
[ $# -gt 0 ] || src/scripts/chromium.sh
[ $# -gt 0 ] || src/scripts/prometheus.sh
[ $# -gt 0 ] || src/scripts/collection_tools.sh
[ $# -gt 0 ] || src/scripts/packages_of_tests.sh
exec node .build/test/runner/main.js "$@"
