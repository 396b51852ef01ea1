#!/usr/bin/env bash
# other-nginx.sh NAME [FLAG...]: an nginx to build the module for and to run it in. Prints, divided by
# tabs, its version, the folder of its sources, configured, and its binary. What was built is kept
# in build/nginx-of.
#
#   debian      the installed one
#   nginx-src   the one of the crate of that name
#   SUITE       the one of another Debian suite: trixie, sid
#   DIR         the one whose sources are in DIR
#
# FLAGs for `configure` stand in for those of the suite, where it is built from all of its sources. Ends
# with 3, and the reason, if the nginx cannot be had on this machine.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scripts=$root/scripts
kept=$root/build/nginx-of
CARGO=${CARGO:-cargo}

name=$1
shift

# All that Debian's nginx has of what the suite uses, so that no test is left out.
suite_flags=(
    --with-compat --with-debug --with-threads --with-pcre-jit --error-log-path=stderr
    --with-http_addition_module --with-http_auth_request_module --with-http_dav_module
    --with-http_gunzip_module --with-http_gzip_static_module --with-http_realip_module
    --with-http_secure_link_module --with-http_slice_module --with-http_ssl_module
    --with-http_stub_status_module --with-http_sub_module --with-http_v2_module
)
if [[ $# -eq 0 ]]; then
    flags=("${suite_flags[@]}")
    kind=
else
    flags=("$@")
    kind=-$(cksum <<<"$*" | cut -d' ' -f1)
fi

not_here() {
    echo "$*" >&2
    exit 3
}

answer() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3"
}

# The version that a tree of sources says it is.
version_of() {
    sed -n 's/^#define NGINX_VERSION *"\(.*\)"$/\1/p' "$1/src/core/nginx.h"
}

# build SOURCE: configures and builds a copy of all the sources of an nginx.
build() {
    local source=$1 version dir
    version=$(version_of "$source")
    dir=$kept/$version$kind
    if [[ $(cat "$dir/.built" 2>/dev/null) != "${flags[*]}" ]]; then
        rm -rf "$dir"
        mkdir -p "$dir"
        cp -r "$source/." "$dir"
        chmod -R u+w "$dir"
        # The repository has in auto/ what a release has on top.
        [[ -e $dir/configure ]] || cp "$dir/auto/configure" "$dir"
        if ! (cd "$dir" && sh configure "${flags[@]}" && make -j"$(nproc)") >"$dir.log" 2>&1; then
            tail -n 20 "$dir.log" >&2
            echo "error: nginx $version could not be built; see $dir.log" >&2
            exit 1
        fi
        echo "${flags[*]}" >"$dir/.built"
    fi
    answer "$version" "$dir" "$dir/objs/nginx"
}

installed() {
    local binary
    binary=${TEST_NGINX_BINARY:-$(PATH=$PATH:/usr/sbin command -v nginx)} || not_here "no nginx is installed"
    "$scripts/configure-nginx.sh" "$root/build/nginx" >&2
    answer "$(version_of "$root/build/nginx")" "$root/build/nginx" "$binary"
}

from_crate() {
    local manifest
    manifest=$("$CARGO" metadata --locked --format-version 1 --manifest-path "$root/tests/nginx-src/Cargo.toml" |
        grep -o '"manifest_path":"[^"]*/nginx-src-[0-9][^"]*"' | cut -d'"' -f4) ||
        not_here "cargo cannot fetch the crate nginx-src"
    build "$(dirname "$manifest")/nginx"
}

# from_suite SUITE: built from the suite's source package, or, where the mirror no longer has it, the
# suite's own binary.
from_suite() {
    local suite=$1 dir=$kept/$1
    "$scripts/private-apt.sh" "$suite" mirror >/dev/null || not_here "no mirror has $suite"
    mkdir -p "$dir"
    cd "$dir"
    rm -f nginx_*
    if "$scripts/private-apt.sh" "$suite" source --download-only --tar-only nginx >apt.log 2>&1; then
        rm -rf sources
        mkdir sources
        tar -xf nginx_*.orig.tar.?z -C sources --strip-components=1
        build "$dir/sources"
    else
        unpack "$suite"
    fi
}

# unpack SUITE: the suite's binary, and its headers, of nginx-dev.
unpack() {
    local suite=$1 unpacked=$PWD/unpacked
    "$scripts/suite-binary.sh" "$suite" "$unpacked" usr/sbin/nginx nginx nginx-dev || exit
    "$scripts/configure-nginx.sh" "$PWD/configured" "$unpacked/usr/share/nginx/src" \
        "$(cksum <"$unpacked/.files")" >&2
    answer "$(version_of configured)" "$PWD/configured" "$unpacked/usr/sbin/nginx"
}

case $name in
debian) installed ;;
nginx-src) from_crate ;;
*/*) build "$(cd "$name" && pwd)" ;;
*) from_suite "$name" ;;
esac
