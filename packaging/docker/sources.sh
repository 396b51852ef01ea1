#!/bin/sh
# sources.sh FILE DIR: lays out in DIR the sources of the nginx whose `nginx -V` is in FILE, configured as it
# was: those of nginx-dev if that is the version, else those that NGINX_SOURCES has, whose checksum is
# NGINX_SHA256, if that is not empty.
set -eu

file=$1
dir=$2
version=$(sed -n 's|^nginx version: nginx/\([0-9.]*\).*|\1|p' "$file")
debian=$(dpkg-query --show --showformat='${source:Upstream-Version}' nginx-dev)

if [ "$version" = "$debian" ]; then
    exec "$(dirname "$0")/configure-nginx.sh" "$dir"
fi

archive=nginx-$version.tar.gz
fetched=$(mktemp)
trap 'rm -f "$fetched"' EXIT
curl --fail --silent --show-error --location --output "$fetched" "$NGINX_SOURCES/$archive"
checksum=$(sha256sum "$fetched" | cut -d' ' -f1)
if [ -z "${NGINX_SHA256:-}" ]; then
    echo "note: the checksum of $archive is not checked; --build-arg NGINX_SHA256=$checksum would do so"
elif [ "$checksum" != "$NGINX_SHA256" ]; then
    echo "error: $NGINX_SOURCES/$archive has the SHA-256 $checksum, and NGINX_SHA256 is $NGINX_SHA256" >&2
    exit 1
fi

mkdir -p "$dir"
tar -xzf "$fetched" -C "$dir" --strip-components=1
arguments=$(sed -n 's/^configure arguments: //p' "$file")
cd "$dir"
# The arguments are quoted as for a shell.
eval "./configure $arguments"
