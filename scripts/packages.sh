#!/usr/bin/env bash
# packages.sh check|install GROUP...: the Debian packages that a job needs.
#
# `check` names all that are missing in one error; `install` installs them.
set -euo pipefail

declare -A packages=(
    [build]="gcc libc6-dev make libclang-dev nginx nginx-dev"
    [deb]="binutils curl dpkg-dev"
    [demo]="curl memcached libcache-memcached-fast-perl"
    [matrix]="debian-archive-keyring dpkg-dev libpcre2-dev libssl-dev patchelf zlib1g-dev"
    [test]="chromium libcache-memcached-perl libnss-wrapper procps wrk"
)

action=$1
shift

needed=()
for group in "$@"; do
    # An nginx of one's own choice is not taken from a package.
    for package in ${packages[$group]}; do
        [[ -n ${NGINX_SOURCE_DIR:-} && $package == nginx-dev ]] && continue
        [[ -n ${TEST_NGINX_BINARY:-} && $package == nginx ]] && continue
        needed+=("$package")
    done
done

missing=()
for package in "${needed[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
done

if ! command -v "${CARGO:-cargo}" >/dev/null; then
    echo "error: no cargo on PATH: install Rust 1.85 or newer (Debian 13: apt-get install cargo; else: rustup)" >&2
    exit 1
fi

[[ ${#missing[@]} -eq 0 ]] && exit 0

case $action in
check)
    echo "error: missing packages: ${missing[*]}" >&2
    echo "install them with: apt-get install ${missing[*]}" >&2
    exit 1
    ;;
install)
    echo "installing: ${missing[*]}"
    as_root=()
    [[ $EUID -eq 0 ]] || as_root=(sudo)
    # A service of these that is started by its package would hold the ports and memory of the machine's own.
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
        "${as_root[@]}" chmod +x "$policy"
        trap '"${as_root[@]}" rm -f "$policy"' EXIT
    fi
    log=$(mktemp)
    if ! { "${as_root[@]}" apt-get update &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        cat "$log" >&2
        echo "error: could not install: ${missing[*]}" >&2
        exit 1
    fi
    rm -f "$log"
    ;;
*)
    echo "usage: packages.sh check|install GROUP..." >&2
    exit 2
    ;;
esac
