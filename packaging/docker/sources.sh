#!/bin/sh
# sources.sh FILE DIR: lays out in DIR the sources of the nginx whose `nginx -V` is in FILE, configured as it
# was: those of nginx-dev if that is the version, else those that NGINX_SOURCES has.
set -eu

file=$1
dir=$2
version=$(sed -n 's|^nginx version: nginx/\([0-9.]*\).*|\1|p' "$file")
debian=$(dpkg-query --show --showformat='${source:Upstream-Version}' nginx-dev)

if [ "$version" = "$debian" ]; then
    exec "$(dirname "$0")/configure-nginx.sh" "$dir"
fi

mkdir -p "$dir"
curl --fail --silent --show-error --location "$NGINX_SOURCES/nginx-$version.tar.gz" |
    tar -xz -C "$dir" --strip-components=1
arguments=$(sed -n 's/^configure arguments: //p' "$file")
cd "$dir"
# The arguments are quoted as for a shell.
eval "./configure $arguments"
