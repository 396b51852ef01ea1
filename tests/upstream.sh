#!/bin/sh
# Runs the fixtures that need nothing but nginx under the real Test::Nginx::Socket.
#
#   tests/upstream.sh <checkout of openresty/test-nginx> [t/folder/file.t ...]
#
# Needs Debian's libtest-base-perl, libtest-longstring-perl, liblist-moreutils-perl and libwww-perl. The module
# is what `make build` built, or TEST_NGINX_MODULE; an empty TEST_NGINX_MODULE loads none.
set -eu

if [ $# -lt 1 ] || [ ! -f "$1/lib/Test/Nginx/Socket.pm" ]; then
    echo "usage: $0 <checkout of openresty/test-nginx> [t/folder/file.t ...]" >&2
    exit 2
fi
lib=$1/lib
shift
cd "$(dirname "$0")/.."

# A file with a section of this project's own is not for Test::Nginx.
if [ $# -eq 0 ]; then
    set -- $(find t -name '*.t' -exec grep -LE '^--- +\(?(backend|client_addr|memcached)' {} + | sort)
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
module=${TEST_NGINX_MODULE-$PWD/${CARGO_TARGET_DIR:-target}/release/libngx_cachefront.so}
case ${CARGO_TARGET_DIR:-} in
    /*) module=${TEST_NGINX_MODULE-$CARGO_TARGET_DIR/release/libngx_cachefront.so} ;;
esac

export PATH="$PATH:/usr/sbin"
export TEST_NGINX_LOAD_MODULES="$module"
export TEST_NGINX_SERVROOT="$root/servroot"
export TEST_NGINX_PORT="${TEST_NGINX_PORT:-$(shuf -i 20000-29999 -n 1)}"
prove -I"$lib" "$@"
