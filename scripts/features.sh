#!/usr/bin/env bash
# tests/loading.rs with one nginx after another that lacks a part, and with one that lacks all that can be
# left out. The library is that of a complete nginx wherever nginx takes it, as it does from a package, and
# nginx's own build has built it. Where nginx must not take a library, it says so in its own words.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
CARGO=${CARGO:-cargo}
complete=$PWD/build/features/complete
rows=()
total_passed=0 total_failed=0

# nginx FLAG...: sets version, sources and binary to those of nginx-src's nginx, with these flags.
nginx() {
    IFS=$'\t' read -r version sources binary < <(scripts/other-nginx.sh nginx-src --with-cc-opt=-O0 "$@")
    [[ -n $binary ]] || exit 1
}

# library TARGET_DIR: builds the library for that nginx.
library() {
    NGINX_SOURCE_DIR=$sources NGINX_BUILD_DIR=$sources/objs \
        "$CARGO" build --release --locked --lib --target-dir "$1" || exit 1
}

# own_build LIBRARY FLAG...: builds it as nginx's own build does, which is told of the module by `config`.
own_build() {
    local tree=$PWD/build/features/own-build objs=$PWD/build/features/objs library=$1 module=$PWD
    shift
    rm -rf "$tree"
    mkdir -p "$(dirname "$tree")"
    cp -r "$sources" "$tree"
    # nginx's Makefile is written anew; what cargo has built beside it is as good.
    rm -rf "$tree/objs"
    (
        cd "$tree" &&
            ./configure --with-cc-opt=-O0 "$@" --add-dynamic-module="$module" --builddir="$objs" &&
            make -f "$objs/Makefile" modules &&
            mkdir -p "$(dirname "$library")" &&
            cp "$objs/ngx_http_cachefront_module.so" "$library" &&
            # As it would be installed, without one more build of nginx.
            make -f "$objs/Makefile" install_ngx_cachefront DESTDIR="$tree/installed" &&
            cmp "$library" "$(find "$tree/installed" -name ngx_http_cachefront_module.so)"
    ) >"$tree.log" 2>&1 || {
        tail -n 20 "$tree.log" >&2
        echo "error: nginx's own build did not build the module; see $tree.log" >&2
        exit 1
    }
}

# refuses NAME LIBRARY WORDS: nginx says these words about a library that it must not load.
refuses() {
    local name=$1 library=$2 words=$3 said prefix
    prefix=$(mktemp -d)
    echo "load_module $library; events {}" >"$prefix/nginx.conf"
    echo "== nginx $version, $name"
    said=$("$binary" -t -p "$prefix" -c nginx.conf -e stderr 2>&1)
    rm -rf "$prefix"
    if [[ $said == *"$words"* ]]; then
        rows+=("$(printf '%-22s  %s' "$name" "refused, as it must be")")
        total_passed=$((total_passed + 1))
    else
        echo "it should say: $words; it says: $said"
        rows+=("$(printf '%-22s  %s' "$name" "not refused as it must be")")
        total_failed=$((total_failed + 1))
    fi
}

# lacks NAME LIBRARY: runs the tests in that nginx.
lacks() {
    local name=$1 passed failed
    echo "== nginx $version, $name"
    TEST_NGINX_BINARY=$binary TEST_NGINX_MODULE=$2/release/libngx_cachefront.so \
        "$CARGO" test --locked --test loading --target-dir "$complete" 2>&1 | tee "$complete/test.log"
    read -r passed failed < <(awk '/^test result: / {p += $4; f += $6} END {print p + 0, f + 0}' "$complete/test.log")
    ((passed > 0)) || failed=1
    rows+=("$(printf '%-22s  %s' "$name" "$passed passed, $failed failed")")
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
}

realip=--with-http_realip_module
gunzip=--with-http_gunzip_module
threads=--with-threads
base=(--with-compat)

nginx "${base[@]}" $realip $gunzip $threads
export NGINX_SOURCE_DIR=$sources NGINX_BUILD_DIR=$sources/objs
own_build "$complete/release/libngx_cachefront.so" "${base[@]}" $realip $gunzip $threads
lacks "complete" "$complete"
complete_version=$(sed -n 's/^#define nginx_version *//p' "$sources/src/core/nginx.h")

nginx "${base[@]}" $gunzip $threads
lacks "without realip" "$complete"
nginx "${base[@]}" $realip $threads
lacks "without gunzip" "$complete"
nginx "${base[@]}" $realip $gunzip
lacks "without threads" "$complete"
for module in memcached gzip ssi; do
    nginx "${base[@]}" $realip $gunzip $threads "--without-http_${module}_module"
    lacks "without $module" "$complete"
done

# PCRE is part of what nginx compares, even of one that takes modules of other builds.
nginx "${base[@]}" $realip $gunzip $threads --without-pcre --without-http_rewrite_module
library "$PWD/build/features/pcre"
lacks "without PCRE" "$PWD/build/features/pcre"

# Without --with-compat, what is left out is missing from nginx's structures too.
bare=(--without-pcre --without-http-cache)
for module in access auth_basic autoindex browser empty_gif geo grpc gzip limit_conn limit_req map memcached \
    mirror referer rewrite split_clients ssi upstream_hash upstream_ip_hash upstream_keepalive \
    upstream_least_conn upstream_random upstream_zone userid; do
    bare+=("--without-http_${module}_module")
done
nginx "${bare[@]}"
library "$PWD/build/features/bare"
lacks "without any of it" "$PWD/build/features/bare"

refuses "other options" "$complete/release/libngx_cachefront.so" "is not binary compatible"
IFS=$'\t' read -r version sources binary < <(scripts/other-nginx.sh debian)
installed_version=$(sed -n 's/^#define nginx_version *//p' "$sources/src/core/nginx.h")
if [[ $installed_version != "$complete_version" ]]; then
    refuses "another version" "$complete/release/libngx_cachefront.so" \
        "version $complete_version instead of $installed_version"
fi

printf '\n%-22s  %s\n' nginx result
printf '%s\n' "${rows[@]}"
printf '\n%s passed, %s failed\n' "$total_passed" "$total_failed"
[[ $total_failed -eq 0 ]]
