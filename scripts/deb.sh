#!/usr/bin/env bash
# deb.sh [MODULE]: packs MODULE, which has to be built for the installed nginx, as libnginx-mod-http-cachefront,
# and prints the package's path, below build/deb. DEBFULLNAME and DEBEMAIL name its maintainer. Without MODULE
# it only sees to it that cargo-deb is there, in build/tools: nothing else here needs a network.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}

tools=$PWD/build/tools
cargo_deb="cargo-deb 3.8.0"
nginx=/usr/sbin/nginx

fail() {
    printf 'error: %s\n' "$@" >&2
    exit 1
}

if [[ $("$tools/bin/cargo-deb" --version 2>/dev/null) != "$cargo_deb" ]]; then
    "$CARGO" install cargo-deb --version "${cargo_deb#* }" --locked --root "$tools" >&2
fi
[[ $# -ne 0 ]] || exit 0
module=$(realpath "$1")

# The package is told to depend on the nginx of nginx-dev: the module must be of just that one.
abi=$(sed -n 's/^nginx:abi=//p' /usr/share/nginx/src/debian/libnginx-mod.abisubstvars)
[[ -n $abi ]] || fail "nginx-dev does not say which ABI it has"
dpkg-query --show --showformat='${Provides}' nginx | grep -qw -- "$abi" ||
    fail "nginx-dev is of $abi, and the installed nginx is not" "install both from one place: apt-get install nginx nginx-dev"
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
# nginx takes a path as one word without quotes or spaces.
ln -s "$module" "$prefix/module.so"
echo "load_module $prefix/module.so; pid $prefix/pid; events {}" >"$prefix/nginx.conf"
said=$("$nginx" -t -q -p "$prefix" -c nginx.conf -e stderr 2>&1) ||
    fail "$module was not built for the installed nginx, on whose ABI the package would depend ($abi):" "$said"

rm -rf build/deb
mkdir -p build/deb/tree
strip --strip-unneeded -o build/deb/ngx_http_cachefront_module.so "$module"

# Links between pages hold as they do here; of one to what is not packed, the text is left.
mkdir build/deb/doc
cp -r README.md SECURITY.md CHANGELOG.md LICENSE docs nginx-conf build/deb/doc/
find build/deb/doc -name '*.md' -exec perl -i -pe '
    BEGIN { use File::Basename }
    s{\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)}{-e dirname($ARGV) . "/$2" ? $& : $1}ge' {} +
# Debian has it in one place for all.
rm build/deb/doc/LICENSE

# The same sources give the same package.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat --format=%Y Cargo.toml)}

maintainer=()
[[ -z ${DEBEMAIL:-} ]] || maintainer=(--maintainer "${DEBFULLNAME:-ngx-cachefront maintainers} <$DEBEMAIL>")
packed=$(PATH=$tools/bin:$PATH "$CARGO" deb --no-build --quiet "${maintainer[@]}" --output build/deb/)

# cargo-deb knows the libraries that the module needs, not the nginx. The ABI is Debian's promise that modules
# built for one nginx load in another; without it a package would install beside an nginx that refuses it.
dpkg-deb --raw-extract "$packed" build/deb/tree
sed -i "s/^Depends: /&$abi, /" build/deb/tree/DEBIAN/control
grep -q "^Depends: $abi" build/deb/tree/DEBIAN/control
doc=build/deb/tree/usr/share/doc/libnginx-mod-http-cachefront
ln -s ../../common-licenses/Apache-2.0 $doc/LICENSE
ln -s nginx-conf $doc/examples
find build/deb/tree -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --build build/deb/tree "$packed" >/dev/null
rm -rf build/deb/tree
echo "$packed"
