#!/usr/bin/env bash
# deb.sh MODULE: packs MODULE, as built for the installed nginx, as libnginx-mod-http-cachefront, and prints
# the package's path, below build/deb. DEBFULLNAME and DEBEMAIL name its maintainer.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}

module=$(realpath "$1")
tools=$PWD/build/tools
cargo_deb="cargo-deb 3.8.0"

if [[ $("$tools/bin/cargo-deb" --version 2>/dev/null) != "$cargo_deb" ]]; then
    "$CARGO" install cargo-deb --version "${cargo_deb#* }" --locked --root "$tools" >&2
fi

# Debian's promise that modules built for one nginx load in another; without it a package would
# install beside an nginx that refuses it.
abi=$(sed -n 's/^nginx:abi=//p' /usr/share/nginx/src/debian/libnginx-mod.abisubstvars)
if [[ -z $abi ]]; then
    echo "error: nginx-dev does not say which ABI it has" >&2
    exit 1
fi

rm -rf build/deb
mkdir -p build/deb/tree
strip --strip-unneeded -o build/deb/ngx_http_cachefront_module.so "$module"

# The same sources give the same package.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat --format=%Y Cargo.toml)}

maintainer=()
[[ -z ${DEBEMAIL:-} ]] || maintainer=(--maintainer "${DEBFULLNAME:-ngx-cachefront maintainers} <$DEBEMAIL>")
packed=$(PATH=$tools/bin:$PATH "$CARGO" deb --no-build --quiet "${maintainer[@]}" --output build/deb/)

# cargo-deb knows the libraries that the module needs, not the nginx.
dpkg-deb --raw-extract "$packed" build/deb/tree
sed -i "s/^Depends: /&$abi, /" build/deb/tree/DEBIAN/control
grep -q "^Depends: $abi" build/deb/tree/DEBIAN/control
dpkg-deb --root-owner-group --build build/deb/tree "$packed" >/dev/null
rm -rf build/deb/tree
echo "$packed"
