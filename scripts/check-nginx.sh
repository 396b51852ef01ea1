#!/bin/sh
# check-nginx.sh SOURCE_DIR BUILD_DIR [BINARY]: says in time what would end the build, or keep its library from
# being loaded: no sources, sources that are not configured, too old, or of another version than BINARY, the
# nginx that is to load it (TEST_NGINX_BINARY or the installed one; empty if that is not known).
set -eu

source=$1
build=$2
binary=${3-${TEST_NGINX_BINARY:-$(PATH=$PATH:/usr/sbin command -v nginx || true)}}

fail() {
    printf 'error: %s\n' "$@" >&2
    exit 1
}

[ -f "$source/src/core/nginx.h" ] ||
    fail "NGINX_SOURCE_DIR, $source, has no sources of nginx (src/core/nginx.h)"

# Before anything else that may differ in them.
version=$(sed -n 's/^#define NGINX_VERSION *"\(.*\)"$/\1/p' "$source/src/core/nginx.h")
number=$(sed -n 's/^#define nginx_version *\([0-9]*\)$/\1/p' "$source/src/core/nginx.h")
[ "${number:-0}" -ge 1022000 ] ||
    fail "ngx-cachefront needs nginx 1.22.0 or newer; $source has ${version:-an unknown version}"

[ -f "$build/ngx_auto_config.h" ] ||
    fail "the sources of nginx in $source are not configured (no ngx_auto_config.h in $build)" \
        "configure them with the arguments that \`nginx -V\` prints: cd $source && ./configure ARGUMENTS"

[ -n "$binary" ] || exit 0
# OpenResty's has a fourth number, of its own.
installed=$("$binary" -v 2>&1 | sed -n 's|^nginx version: [^/]*/\([0-9]*\.[0-9]*\.[0-9]*\).*|\1|p')
[ "$installed" != "$version" ] || exit 0
if [ -n "${NGINX_SOURCE_DIR:-}" ]; then
    echo "note: this builds for nginx $version; the installed $binary is $installed and will not load it" >&2
else
    fail "the headers of nginx-dev are of nginx $version, but $binary is $installed and would not load the module" \
        "build with the sources of that nginx, configured as \`nginx -V\` says: make build NGINX_SOURCE_DIR=..."
fi
