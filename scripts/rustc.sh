#!/usr/bin/env bash
# rustc.sh COMMAND ARGUMENT...: what cargo calls for each crate (.cargo/config.toml). The messages of a panic
# name source files; told by the crate instead of by where the crates, the checkout and the build happen to
# be, they are the same everywhere. A build for a debugger keeps the real paths.
#
# Not sh: dash would lose the variables of cargo whose names have a hyphen.
remap=()
case " $* " in
*" debuginfo="* | *" -g "*) ;;
*)
    [[ -z ${CARGO_MANIFEST_DIR:-} ]] ||
        remap+=("--remap-path-prefix=$CARGO_MANIFEST_DIR=$CARGO_PKG_NAME-$CARGO_PKG_VERSION")
    [[ -z ${OUT_DIR:-} ]] ||
        remap+=("--remap-path-prefix=$OUT_DIR=$CARGO_PKG_NAME-$CARGO_PKG_VERSION/out")
    ;;
esac
exec "$@" "${remap[@]}"
