#!/bin/sh
# Set-up, all checks and all tests. The last line is `N passed, N failed` (test/runner/main.ts).
set -u
cd "$(dirname "$0")/../.."
if ! make -s setup nats build; then
  echo '0 passed, 1 failed'
  exit 1
fi
exec node .build/test/runner/main.js "$@"
