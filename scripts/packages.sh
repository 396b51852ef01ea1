#!/usr/bin/env bash
# packages.sh check|install|offer GROUP...: the Debian packages that a job needs.
#
# `check` names all that are missing in one error; `install` installs them; `offer` installs those that can
# be had, and names the others.
set -euo pipefail

declare -A packages=(
    [bench]="apache2-bin libapache2-mod-perl2 libnginx-mod-http-echo libnginx-mod-http-js libnginx-mod-http-lua python3
        valgrind wrk"
    [bench-check]="python3 valgrind"
    [build]="gcc libc6-dev make libclang-dev nginx nginx-dev"
    [clients]="libspymemcached-java golang-github-bradfitz-gomemcache-dev nutcracker php-cli php-memcache php-memcached
        python3-memcache python3-pylibmc python3-venv ruby ruby-dalli"
    [clients-go]="golang-go"
    [clients-java]="default-jdk-headless"
    [clients-node]="nodejs npm"
    [container]="buildah crun debian-archive-keyring debootstrap iproute2"
    [deb]="binutils curl dpkg-dev nginx nginx-dev"
    [demo]="curl memcached libcache-memcached-fast-perl nginx"
    [fuzz]="g++"
    [matrix]="debian-archive-keyring dpkg-dev libpcre2-dev libssl-dev patchelf zlib1g-dev"
    [memcheck]="valgrind"
    [test]="chromium libcache-memcached-perl libnss-wrapper procps wrk"
)

action=$1
shift

needed=() builds=
for group in "$@"; do
    [[ $group != build ]] || builds=yes
    for package in ${packages[$group]}; do
        # What one has chosen oneself is not taken from a package.
        case $group:$package in
        build:nginx) [[ -z ${NGINX_SOURCE_DIR:-}${TEST_NGINX_BINARY:-} ]] || continue ;;
        build:nginx-dev) [[ -z ${NGINX_SOURCE_DIR:-} ]] || continue ;;
        build:libclang-dev) [[ -z ${LIBCLANG_PATH:-} ]] || continue ;;
        demo:nginx) [[ -z ${TEST_NGINX_BINARY:-} ]] || continue ;;
        esac
        [[ " ${needed[*]} " == *" $package "* ]] || needed+=("$package")
    done
done

missing=()
# Where packages are not Debian's, only the tools are looked for.
if command -v dpkg-query >/dev/null; then
    for package in "${needed[@]}"; do
        status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
        [[ $status == installed ]] || missing+=("$package")
    done
fi

# Before an installation that would be in vain.
"$(dirname "$0")/check-tools.sh" cargo

# What is used without being a package's.
check_tools() {
    [[ -z $builds ]] || "$(dirname "$0")/check-tools.sh" cc libclang
}

if [[ ${#missing[@]} -eq 0 ]]; then
    check_tools
    exit
fi

as_root=()
[[ $EUID -eq 0 ]] || as_root=(sudo)

# install PACKAGE...: with all that apt says, if it fails.
install() {
    local log
    log=$(mktemp)
    echo "installing: $*"
    # A service of these that is started by its package would hold the ports and memory of the machine's own.
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
        "${as_root[@]}" chmod +x "$policy"
        trap '"${as_root[@]}" rm -f "$policy"' EXIT
    fi
    if ! { "${as_root[@]}" apt-get update &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1; then
        cat "$log" >&2
        echo "error: could not install: $*" >&2
        return 1
    fi
    rm -f "$log"
}

case $action in
check)
    echo "error: missing packages: ${missing[*]}" >&2
    echo "install them with: apt-get install ${missing[*]}" >&2
    exit 1
    ;;
install)
    install "${missing[@]}"
    check_tools
    ;;
offer)
    # One that the lists do not have would keep apt from installing the others.
    "${as_root[@]}" apt-get update >/dev/null 2>&1 || true
    known=()
    for package in "${missing[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            known+=("$package")
        else
            echo "apt has no package $package"
        fi
    done
    [[ ${#known[@]} -eq 0 ]] || install "${known[@]}" || true
    ;;
*)
    echo "usage: packages.sh check|install|offer GROUP..." >&2
    exit 2
    ;;
esac
