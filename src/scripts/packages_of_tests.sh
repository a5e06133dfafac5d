#!/bin/sh
# Installs the small packages of single tests, where that is allowed. Without them these tests are skipped: the
# Python program of the gRPC guide needs grpcio, the golden texts of ISO 20022 are read by xmllint.
set -u

give_up() {
  echo "python3-grpcio and libxml2-utils are missing and could not be installed: $1"
  exit 0
}
. "$(dirname "$0")/apt.sh"
/usr/bin/python3 -c 'import grpc, google.protobuf' 2>/dev/null || { become_root && apt_install python3-grpcio; }
command -v xmllint >/dev/null || { become_root && apt_install libxml2-utils; }
