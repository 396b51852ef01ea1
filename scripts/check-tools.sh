#!/bin/sh
# check-tools.sh TOOL...: says which of these tools of the build is missing, and how to get it: `cargo`, new
# enough; `cc`; `libclang`, where bindgen looks for it. For any system, and for nginx's own build.
set -eu

fail() {
    printf 'error: %s\n' "$@" >&2
    exit 1
}

# cargo and rustc cannot read this package at all when they are too old for its edition.
check_cargo() {
    oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml")
    found=$("${CARGO:-cargo}" --version 2>/dev/null | cut -d' ' -f2 || true)
    if [ -z "$found" ] || [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1)" != "$oldest" ]; then
        fail "Rust $oldest or newer is needed, and ${CARGO:-cargo} is ${found:-not on PATH}" \
            "install it with: apt-get install cargo (Debian 13 or newer), or rustup"
    fi
}

check_cc() {
    # It may have arguments.
    compiler=${CC:-cc}
    command -v "${compiler%% *}" >/dev/null ||
        fail "no C compiler: ${compiler%% *} is not on PATH" "install it with: apt-get install gcc libc6-dev"
}

# holds_libclang FILE...: whether one of them is there, and not the C++ library of nearly the same name.
holds_libclang() {
    for file in "$@"; do
        case $file in
        *-cpp.*) ;;
        *) [ ! -f "$file" ] || return 0 ;;
        esac
    done
    return 1
}

# in_folder FOLDER
in_folder() {
    holds_libclang "$1"/libclang.so "$1"/libclang-*.so "$1"/libclang.so.* "$1"/libclang-*.so.*
}

# As clang-sys, of which bindgen takes it, looks: LIBCLANG_PATH, if it is set, is the only place.
check_libclang() {
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        [ ! -f "$LIBCLANG_PATH" ] || return 0
        in_folder "$LIBCLANG_PATH" || fail "LIBCLANG_PATH, $LIBCLANG_PATH, has no libclang.so" \
            "unset it, or let it name the folder of the libclang.so to use, such as /usr/lib/llvm-19/lib"
        return 0
    fi
    prefix=$("${LLVM_CONFIG_PATH:-llvm-config}" --prefix 2>/dev/null || true)
    if [ -n "$prefix" ]; then
        ! in_folder "$prefix/lib" || return 0
        ! in_folder "$prefix/lib64" || return 0
    fi
    # The folders of these are divided by colons.
    (
        IFS=:
        set -f
        # shellcheck disable=SC2086
        set -- ${LD_LIBRARY_PATH:-} ${LIBRARY_PATH:-}
        set +f
        for folder in "$@"; do
            ! in_folder "$folder" || exit 0
        done
        exit 1
    ) && return 0
    for name in libclang.so 'libclang-*.so' 'libclang.so.*' 'libclang-*.so.*'; do
        # shellcheck disable=SC2086
        ! holds_libclang /usr/lib*/$name /usr/lib*/*/$name /usr/lib*/*/*/$name /usr/local/llvm*/lib*/$name \
            /usr/local/lib*/$name /usr/local/lib*/*/$name /usr/local/lib*/*/*/$name || return 0
    done
    fail "libclang, which reads nginx's headers, was not found" \
        "install it with: apt-get install libclang-dev, or name its folder in LIBCLANG_PATH"
}

for tool in "$@"; do
    "check_$tool"
done
