#!/usr/bin/env bash
# build-checks.sh: builds the module as packagers do. The sources are in a read-only folder whose path has a
# space, what is built goes to another one, the flags are the distribution's, and there is no network but
# for `cargo fetch` before; done twice, the library has the same bytes. Needs root or user namespaces.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}

fail() {
    echo "build-checks: $*" >&2
    exit 1
}

if [[ ${1:-} != inside ]]; then
    "$CARGO" fetch --locked --quiet
    scripts/configure-nginx.sh build/nginx
    # A mount of its own, to be made read-only, and a network of its own, with nothing in it.
    exec unshare --map-root-user --mount --net "$0" inside
fi

work=$(mktemp -d)
trap 'umount "$work/the sources"; rm -rf "$work"' EXIT
mkdir "$work/the sources" "$work/nginx's sources"
cp -r build/nginx/. "$work/nginx's sources"
mount --bind . "$work/the sources"
mount -o remount,bind,ro "$work/the sources"
! touch "$work/the sources/file" 2>/dev/null || fail "the sources are not read-only"

export NGINX_SOURCE_DIR="$work/nginx's sources" CARGO_NET_OFFLINE=true
CFLAGS=$(dpkg-buildflags --get CFLAGS) CPPFLAGS=$(dpkg-buildflags --get CPPFLAGS)
LDFLAGS=$(dpkg-buildflags --get LDFLAGS)
export CFLAGS CPPFLAGS LDFLAGS

for time in first second; do
    # The folder's name is the same, for it is in the messages of a panic.
    export CARGO_TARGET_DIR="$work/what is built"
    rm -rf "$CARGO_TARGET_DIR"
    make --no-print-directory -C "$work/the sources" build
    sha256sum <"$CARGO_TARGET_DIR/release/libngx_cachefront.so" >"$work/$time"
done
cmp "$work/first" "$work/second" || fail "the second build has other bytes"
echo "build-checks: builds read-only, offline, with spaces, with Debian's flags, and twice the same"
