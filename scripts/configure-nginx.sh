#!/usr/bin/env bash
# configure-nginx.sh DIR [SOURCE VERSION]: a copy in DIR of the nginx sources that the package nginx-dev
# ships, configured with the flags of Debian's nginx. Nothing is done where DIR already holds just that.
#
# SOURCE is where the package's usr/share/nginx/src is, if it is not installed, and VERSION the package's.
set -euo pipefail

dir=$1
source=${2:-/usr/share/nginx/src}
version=${3:-$(dpkg-query --show --showformat='${Version}' nginx-dev 2>/dev/null || true)}
stamp=$dir/.configured

if [[ -z $version ]]; then
    {
        echo "error: there is no package nginx-dev here, whose sources of nginx would be built for"
        echo "error: on Debian and Ubuntu: apt-get install nginx-dev; elsewhere, or for another nginx, configure the"
        echo "error: sources of that nginx as \`nginx -V\` says, and name them: make build NGINX_SOURCE_DIR=..."
    } >&2
    exit 1
fi

[[ -f $stamp && $(<"$stamp") == "$version" ]] && exit 0

rm -rf "$dir"
mkdir -p "$dir"
cp -r "$source/." "$dir"
cd "$dir"
# shellcheck source=/dev/null
. ./conf_flags
if ! ./configure "${NGX_CONF_FLAGS[@]}" >configure.log 2>&1; then
    cat configure.log >&2
    echo "error: nginx $version could not be configured in $dir; its packages' dependencies: apt-get install nginx-dev" >&2
    exit 1
fi
echo "$version" >.configured
echo "configured nginx $version in $dir"
