#!/usr/bin/env bash
# build-checks.sh: builds the module as packagers do. The sources are in a read-only folder whose path has a
# space, what is built goes to another one, the flags are the distribution's, and there is no network but
# for `cargo fetch` before. Done twice, with every path another one, the library has the same bytes, and so has
# the Debian package of it. Needs root or user namespaces.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
# What make was told is not for the builds below.
unset MAKEFLAGS MFLAGS NGINX_SOURCE_DIR NGINX_BUILD_DIR RUSTC_WRAPPER

fail() {
    echo "build-checks: $*" >&2
    exit 1
}

if [[ ${1:-} != inside ]]; then
    "$CARGO" fetch --locked --quiet
    scripts/configure-nginx.sh build/nginx
    scripts/deb.sh
    # A mount of its own, to be made read-only, and a network of its own, with nothing in it.
    exec unshare --map-root-user --mount --net "$0" inside
fi

work=$(mktemp -d)
trap 'umount "$work"/{the,other}\ sources 2>/dev/null; rm -rf "$work"' EXIT
for sources in "the sources" "other sources"; do
    mkdir "$work/$sources"
    mount --bind . "$work/$sources"
    mount -o remount,bind,ro "$work/$sources"
    ! touch "$work/$sources/file" 2>/dev/null || fail "the sources are not read-only"
done

export CARGO_NET_OFFLINE=true
CFLAGS=$(dpkg-buildflags --get CFLAGS) CPPFLAGS=$(dpkg-buildflags --get CPPFLAGS)
LDFLAGS=$(dpkg-buildflags --get LDFLAGS)
export CFLAGS CPPFLAGS LDFLAGS

# build SOURCES TARGET ARGUMENT...
build() {
    local sources=$1 target=$2
    shift 2
    CARGO_TARGET_DIR="$work/$target" make --no-print-directory -C "$work/$sources" build "$@"
}

mkdir "$work/nginx's sources"
cp -r build/nginx/. "$work/nginx's sources"
build "the sources" "what is built" NGINX_SOURCE_DIR="$work/nginx's sources"

# The same crates, in another place, and nginx where `make build` lays it out.
home=${CARGO_HOME:-$HOME/.cargo}
mkdir "$work/home"
ln -s "$home/registry" "$work/home/registry"
for file in config.toml config; do
    [[ ! -e $home/$file ]] || cp "$home/$file" "$work/home/"
done
CARGO_HOME=$work/home build "other sources" "built again"

library=release/libngx_cachefront.so
cmp "$work/what is built/$library" "$work/built again/$library" || fail "the second build has other bytes"
for target in "what is built" "built again"; do
    cp "$(scripts/deb.sh "$work/$target/$library")" "$work/$target.deb"
done
cmp "$work/what is built.deb" "$work/built again.deb" || fail "the second package has other bytes"
paths=$(grep -aoE "($work|$home|$PWD)[^[:cntrl:]]*" "$work/built again/$library" | sort -u || true)
[[ -z $paths ]] || fail "the library names this machine's folders: $paths"
echo "build-checks: builds read-only, offline, with spaces, with Debian's flags, and twice the same wherever it is"
