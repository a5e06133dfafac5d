#!/bin/sh
# Builds the wheel and the source archive of the Python client: src/scripts/python_package.sh [FOLDER]
# They are written to FOLDER, .build by default; the last two lines are their paths.
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-.build}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd src/client/python
python3 -B -c '
import sys, build_backend
for build in (build_backend.build_wheel, build_backend.build_sdist):
    print(sys.argv[1] + "/" + build(sys.argv[1]))
' "$folder"
