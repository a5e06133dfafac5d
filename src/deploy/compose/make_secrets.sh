#!/bin/sh
# Makes the secrets of several.yaml: a CA, certificates, passwords, keys. make_secrets.sh FOLDER
#
# - For trial, and as the list of what production needs from its own CA and secret store.
# - Existing files stay: delete those that are to be replaced. As root it gives each file to the user that reads it.
set -eu
umask 077
folder=${1:?usage: make_secrets.sh FOLDER}
mkdir -p "$folder"
cd "$folder"
command -v openssl >/dev/null || { echo 'openssl is missing: apt-get install openssl' >&2; exit 1; }
days=825

random() { openssl rand -hex "$1"; }
secret() { [ -e "$1.password" ] || random 24 >"$1.password"; }
quiet() { "$@" 2>openssl.log || { cat openssl.log >&2; exit 1; }; rm -f openssl.log; }

if [ ! -e ca.pem ]; then
  quiet openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=Causeway trial CA' \
    -keyout ca.key -out ca.pem
fi

# certificate NAME HOST… : the common name NAME is the credential of a client, HOSTs are what its clients connect to.
certificate() {
  name=$1
  shift
  [ ! -e "$name.pem" ] || return 0
  hosts=$(printf 'DNS:%s,' "$@")
  printf 'subjectAltName=%s\nbasicConstraints=CA:FALSE\n' "${hosts%,}" >"$name.ext"
  quiet openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" -keyout "$name.key" -out "$name.csr"
  quiet openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days $days -extfile "$name.ext" -out "$name.pem"
  rm "$name.csr" "$name.ext"
}
certificate processor processor-1 processor-2 processor-3
certificate gateway gateway
certificate webhooks webhooks
certificate operator operator
certificate rail rail
certificate nats nats-1 nats-2 nats-3
certificate postgres postgres-1 postgres-2
certificate api sandbox.example.com localhost

for name in postgres causeway pools replicator nats; do secret $name; done
[ -e master.key ] || echo "k$(random 4):$(random 32)" >master.key
[ -e operator.token ] || random 32 >operator.token
[ -e replicator.pgpass ] || echo "*:*:*:replicator:$(cat replicator.password)" >replicator.pgpass

store() { echo "postgres://$1:$(cat "$2.password")@postgres-1,postgres-2:5432/causeway?sslrootcert=/run/secrets/ca.pem"; }
bus="tls://causeway:$(cat nats.password)@nats-1:4222,nats-2:4222,nats-3:4222"
digest=$(tr -d '\n' <operator.token | openssl dgst -sha256 -r | cut -d' ' -f1)

[ -e processor.env ] || cat >processor.env <<ENV
STORE_URL=$(store causeway causeway)
NATS_URL=$bus
CALLERS=gateway:gateway:certificate:gateway,webhooks:webhooks:certificate:webhooks,operator:first:sha256:$digest
ENV
[ -e webhooks.env ] || cat >webhooks.env <<ENV
WEBHOOK_STORE_URL=$(store causeway_pools pools)
NATS_URL=$bus
ENV
[ -e nats.conf ] || cat >nats.conf <<CONF
server_name: \$NATS_NAME
listen: "0.0.0.0:4222"
http: "127.0.0.1:8222"
jetstream { store_dir: "/data", max_file_store: 4GB }
tls { cert_file: "/run/secrets/nats.pem", key_file: "/run/secrets/nats.key", ca_file: "/run/secrets/ca.pem", verify: true }
authorization { user: "causeway", password: "$(cat nats.password)" }
cluster {
  name: "causeway"
  listen: "0.0.0.0:6222"
  tls { cert_file: "/run/secrets/nats.pem", key_file: "/run/secrets/nats.key", ca_file: "/run/secrets/ca.pem" }
  authorization { user: "causeway", password: "$(cat nats.password)" }
  routes: [
    "nats://causeway:$(cat nats.password)@nats-1:6222"
    "nats://causeway:$(cat nats.password)@nats-2:6222"
    "nats://causeway:$(cat nats.password)@nats-3:6222"
  ]
}
CONF

chmod 644 ca.pem
if [ "$(id -u)" -eq 0 ]; then
  chmod 711 .
  # The users of the images: ours, and that of PostgreSQL. nats-server runs as root there, without capabilities.
  chown 10001:10001 api.* gateway.* processor.* webhooks.* rail.* operator.* master.key
  chown 999:999 postgres.* replicator.pgpass causeway.password pools.password replicator.password
  chown 0:0 nats.*
else
  echo 'Run as root, or give each file to the user that reads it: see src/deploy/README.md.' >&2
fi
