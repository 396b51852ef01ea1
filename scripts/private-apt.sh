#!/usr/bin/env bash
# private-apt.sh SUITE ARGUMENT...: apt-get for another suite of the Debian mirror that the machine's own
# apt sources name. Its lists and its cache are below build/apt; those of the machine are left alone, and
# no package counts as installed. With the one argument `mirror` it prints the mirror instead.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

suite=$1
shift
dir=$root/build/apt/$suite
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

apt() {
    APT_CONFIG=$dir/apt.conf apt-get -qq -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o Acquire::Languages=none "$@"
}

# Several archives may have a suite of this release's name: the one that Debian's key signed is meant.
find_mirror() {
    local codename uri
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    if [[ ! -r $keyring ]]; then
        echo "error: no $keyring: apt-get install debian-archive-keyring" >&2
        return 1
    fi
    while read -r uri; do
        printf '%s [signed-by=%s] %s %s main\n' deb "$keyring" "$uri" "$suite" \
            deb-src "$keyring" "$uri" "$suite" >"$dir/sources.list"
        if apt --error-on=any update >"$dir/update.log" 2>&1; then
            echo "$uri" >"$dir/mirror"
            return
        fi
    done < <(apt-get update --print-uris | sed -n "s|^'\(.*\)/dists/$codename/InRelease'.*|\1|p")
    cat "$dir/update.log" >&2 2>/dev/null || true
    echo "error: none of the machine's apt sources is a Debian mirror that has $suite" >&2
    return 1
}

# The lists are read again after half a day: those of a moving suite soon name what is no longer there.
if [[ -z $(find "$dir/mirror" -mmin -720 2>/dev/null) ]]; then
    mkdir -p "$dir"/{lists/partial,cache/archives/partial}
    touch "$dir/status"
    cat >"$dir/apt.conf" <<CONF
Dir::State "$dir";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Dir::Etc::SourceList "$dir/sources.list";
Dir::Etc::SourceParts "/dev/null";
APT::Sandbox::User "root";
CONF
    find_mirror
fi

if [[ $* == mirror ]]; then
    cat "$dir/mirror"
else
    apt "$@"
fi
