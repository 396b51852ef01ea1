#!/usr/bin/env bash
# msrv.sh: compiles everything with the oldest Rust that Cargo.toml promises, which is Debian 13's: the one that
# rustup or the machine has, else the compiler of Debian's package.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}

oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
export CARGO_TARGET_DIR=$PWD/build/msrv/target
scripts/configure-nginx.sh build/nginx

if [[ $(rustc --version) != "rustc $oldest."* ]]; then
    if rustup run "$oldest" rustc --version >/dev/null 2>&1; then
        export RUSTUP_TOOLCHAIN=$oldest
    else
        scripts/suite-binary.sh trixie build/msrv/rust usr/bin/rustc rustc
        export RUSTC=$PWD/build/msrv/rust/usr/bin/rustc
    fi
fi
found=$("${RUSTC:-rustc}" --version)
[[ $found == "rustc $oldest."* ]] || {
    echo "error: no Rust $oldest can be had here, only $found" >&2
    exit 1
}
echo "with $found"
"$CARGO" check --locked --all-targets
