#!/usr/bin/env bash
# check-nginx.sh SOURCE_DIR BUILD_DIR: says in time what would end the build, or keep its library from
# being loaded: no sources, sources that are not configured, or of another version than the nginx that is
# installed (TEST_NGINX_BINARY, if set).
set -euo pipefail

source=$1
build=$2

fail() {
    printf 'error: %s\n' "$@" >&2
    exit 1
}

[[ -f $source/src/core/nginx.h ]] ||
    fail "NGINX_SOURCE_DIR, $source, has no sources of nginx (src/core/nginx.h)"
[[ -f $build/ngx_auto_config.h ]] ||
    fail "the sources of nginx in $source are not configured (no ngx_auto_config.h in $build)" \
        "configure them with the arguments that \`nginx -V\` prints: cd $source && ./configure ARGUMENTS"

version=$(sed -n 's/^#define NGINX_VERSION *"\(.*\)"$/\1/p' "$source/src/core/nginx.h")
number=$(sed -n 's/^#define nginx_version *\([0-9]*\)$/\1/p' "$source/src/core/nginx.h")
((number >= 1022000)) || fail "ngx-cachefront needs nginx 1.22.0 or newer; $source has $version"

binary=${TEST_NGINX_BINARY:-$(PATH=$PATH:/usr/sbin command -v nginx || true)}
[[ -n $binary ]] || exit 0
installed=$("$binary" -v 2>&1 | sed -n 's|^nginx version: [^/]*/\([0-9.]*\).*|\1|p')
[[ $installed != "$version" ]] || exit 0
if [[ -n ${NGINX_SOURCE_DIR:-} ]]; then
    echo "note: this builds for nginx $version; the installed $binary is $installed and will not load it" >&2
else
    fail "the headers of nginx-dev are of nginx $version, but $binary is $installed and would not load the module" \
        "build with the sources of that nginx, configured as \`nginx -V\` says: make build NGINX_SOURCE_DIR=..."
fi
