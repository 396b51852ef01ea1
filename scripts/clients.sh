#!/usr/bin/env bash
# Installs the memcached clients whose pools tests/real_clients reads: Debian's packages, and below
# build/clients those of pip and npm, in the versions that tests/clients names. What cannot be had is said;
# the tests then leave it out, by name.
set -uo pipefail
cd "$(dirname "$0")/.."
from=tests/clients
to=build/clients
mkdir -p "$to"

groups=(clients)
command -v go >/dev/null || groups+=(clients-go)
command -v javac >/dev/null || groups+=(clients-java)
command -v npm >/dev/null || groups+=(clients-node)
scripts/packages.sh offer "${groups[@]}"

# pip_install NAME...: the Python clients, each for itself: there may be no wheel of one for this Python.
pip_install() {
    local name status=0
    rm -rf "$to/venv"
    /usr/bin/python3 -m venv "$to/venv" || return
    for name in "$@"; do
        sed -n "/^$name==/,/[^\\\\]$/p" "$from/requirements.txt" >"$to/requirement.txt"
        "$to/venv/bin/pip" --disable-pip-version-check install --quiet --no-deps --only-binary :all: \
            --require-hashes --requirement "$to/requirement.txt" || status=1
    done
    [[ $status -ne 0 ]] || cp "$from/requirements.txt" "$to/venv/"
    return $status
}

# npm_install: the Node clients.
npm_install() {
    rm -rf "$to/node"
    mkdir "$to/node"
    cp "$from/package.json" "$from/package-lock.json" "$to/node/"
    npm --prefix "$to/node" ci --ignore-scripts --no-audit --no-fund --loglevel error >/dev/null
}

cmp --silent "$from/requirements.txt" "$to/venv/requirements.txt" ||
    pip_install python-memcached pymemcache pylibmc ||
    echo "not all Python clients could be installed"
cmp --silent "$from/package-lock.json" "$to/node/package-lock.json" && [[ -d $to/node/node_modules ]] ||
    npm_install ||
    echo "the Node clients could not be installed"
exit 0
