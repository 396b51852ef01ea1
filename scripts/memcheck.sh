#!/usr/bin/env bash
# The suite with nginx under valgrind's memcheck: no invalid access, no use of what was not initialized, no
# memory lost. Arguments go to the test programs (a name to filter by, say).
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}

# Line numbers in the reports; the code is that of a release.
target=$PWD/build/memcheck
CARGO_PROFILE_RELEASE_DEBUG=1 CARGO_TARGET_DIR=$target "$CARGO" build --release --locked --lib

export TEST_NGINX_MODULE=$target/release/libngx_cachefront.so
# What is lost indirectly hangs on what is lost itself.
export TEST_NGINX_WRAPPER="valgrind --quiet --error-exitcode=99 --leak-check=full --num-callers=20
    --show-leak-kinds=definite --errors-for-leak-kinds=definite
    --suppressions=tests/valgrind.supp"
# Those that have no nginx, or measure how fast or how large it is, are left out.
"$CARGO" test --locked --no-fail-fast --test fixtures --test jsonp_callback --test memcached_hash \
    --test real_ip_recursive_trust -- --skip reloads_do_not_cost_the_master_memory "$@"
