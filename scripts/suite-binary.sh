#!/usr/bin/env bash
# suite-binary.sh SUITE DIR BINARY PACKAGE...: unpacks PACKAGEs of another Debian suite below DIR, and the
# libraries that the first one depends on, so that DIR/BINARY runs here: the libraries and the loader are
# found by what is written into it. Nothing is done where DIR already holds just that. Ends with 3 if the
# mirror has not got it.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)

suite=$1
dir=$2
binary=$3
shift 3

not_here() {
    [[ ! -s apt.log ]] || tail -n 2 apt.log >&2
    echo "$*" >&2
    exit 3
}

mkdir -p "$dir"
cd "$dir"
files=$("$scripts/private-apt.sh" "$suite" download --print-uris "$@" 2>apt.log) || not_here "$suite has no $1"
[[ $(cat .files 2>/dev/null) != "$files" ]] || exit 0

command -v patchelf >/dev/null || not_here "no patchelf, to run a binary of $suite: apt-get install patchelf"
find . -mindepth 1 -not -name apt.log -delete
mkdir debs
(cd debs && "$scripts/private-apt.sh" "$suite" download "$@") >>apt.log 2>&1 || not_here "the mirror has not got $* of $suite"
mapfile -t libraries < <(dpkg-deb --field "debs/$1"_*.deb Depends | grep -oE '\b(lib|zlib)[a-z0-9.+-]+')
"$scripts/private-apt.sh" "$suite" install --yes --download-only --no-install-recommends \
    -o Dir::Cache::archives="$PWD/debs" libgcc-s1 "${libraries[@]}" >>apt.log 2>&1 ||
    not_here "the mirror has not got the libraries of $1 of $suite"
for deb in debs/*.deb; do
    dpkg-deb --extract "$deb" .
done
rm -r debs

places=$PWD/usr/lib/$(dpkg-architecture --query DEB_HOST_MULTIARCH)
loader=$places/$(basename "$(patchelf --print-interpreter "$binary")")
patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$places" "$binary"
echo "$files" >.files
