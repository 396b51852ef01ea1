#!/usr/bin/env bash
# The suite with an nginx and a module that AddressSanitizer and UndefinedBehaviorSanitizer watch. Each of
# nginx's allocations is one of malloc's (NGX_DEBUG_PALLOC), so that none is used past its end or after its
# pool is gone. Arguments go to the test programs (a name to filter by, say).
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}

sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
# nginx copies nothing from nowhere (`memcpy(p, NULL, 0)`), and reads words from any address where the
# machine can (NGX_HAVE_NONALIGNED): both on purpose. This is about nginx's own C only.
of_nginx="$sanitizers -fno-sanitize=nonnull-attribute,alignment"
IFS=$'\t' read -r version source binary < <(
    scripts/other-nginx.sh nginx-src --with-compat --with-debug --with-threads --error-log-path=stderr \
        --with-http_addition_module --with-http_auth_request_module --with-http_gunzip_module \
        --with-http_gzip_static_module --with-http_realip_module --with-http_slice_module \
        --with-http_ssl_module --with-http_stub_status_module --with-http_sub_module --with-http_v2_module \
        --with-cc-opt="-g -O1 -DNGX_DEBUG_PALLOC=1 $of_nginx" --with-ld-opt="$sanitizers"
)
echo "nginx $version: $binary"

# The compiler's own switch for Rust is not stable, which does not matter to a test: the module that is
# released is built without. It is told the target so that what runs while building is not watched.
triple=$(rustc -vV | sed -n 's/^host: //p')
target=$PWD/build/sanitize
NGINX_SOURCE_DIR=$source NGINX_BUILD_DIR=$source/objs RUSTC_BOOTSTRAP=1 \
    RUSTFLAGS="-Zsanitizer=address -Zexternal-clangrt -Cforce-frame-pointers=yes" CFLAGS="$sanitizers" \
    CARGO_PROFILE_RELEASE_DEBUG=1 CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true \
    CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
    CARGO_TARGET_DIR=$target "$CARGO" build --release --locked --lib --target "$triple"

export TEST_NGINX_BINARY=$binary TEST_NGINX_MODULE=$target/$triple/release/libngx_cachefront.so
# What nginx keeps until it ends is not lost.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1:verify_asan_link_order=0
export UBSAN_OPTIONS=print_stacktrace=1
# Everything is slower: tests are as patient as under valgrind.
export TEST_NGINX_WRAPPER=env
# libnss_wrapper loads libc once more, which AddressSanitizer does not allow.
export NSS_WRAPPER_DISABLE_DEEPBIND=1
# Memory that was freed is kept for a while here, so a test of how much memory is used has no meaning.
NGINX_SOURCE_DIR=$source NGINX_BUILD_DIR=$source/objs "$CARGO" test --locked --no-fail-fast \
    --test fixtures --test jsonp_callback --test memcached_hash --test real_ip_recursive_trust \
    --test attacks --test faults --test soak "$@" -- \
    --skip b13_reloads_do_not_cost_the_master_memory
