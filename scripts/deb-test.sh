#!/usr/bin/env bash
# deb-test.sh PACKAGE: installs the package on this machine, as root: nginx accepts its configuration and
# serves a request with the module; then removes it: nginx still starts. The machine is left as it was.
set -euo pipefail

package=$1
name=libnginx-mod-http-cachefront
enabled=/etc/nginx/modules-enabled/50-mod-http-cachefront.conf
nginx=/usr/sbin/nginx

fail() {
    echo "deb-test: $*" >&2
    exit 1
}

[[ $EUID -eq 0 ]] || fail "only root can install a package: sudo make deb-test"
! dpkg-query --status $name >/dev/null 2>&1 || fail "$name is installed already: its own installation is not to be touched"

prefix=$(mktemp -d)
pid=
stop() {
    [[ -z $pid ]] || kill "$pid" 2>/dev/null || true
    wait
    pid=
}
leave() {
    stop
    dpkg --purge $name >/dev/null 2>&1 || true
    rm -rf "$prefix"
}
trap leave EXIT
trap 'exit 1' INT TERM

# serve DIRECTIVES: Debian's nginx as its package set it up, with all modules that are enabled, in a
# configuration of its own; prints the answer to a request with a callback.
serve() {
    cat >"$prefix/nginx.conf" <<CONF
include /etc/nginx/modules-enabled/*.conf;
daemon off;
pid $prefix/nginx.pid;
error_log $prefix/error.log;
events {}
http {
    access_log off;
    server {
        listen unix:$prefix/socket;
        default_type application/json;
        $1
        location / { return 200 '{"status":"success"}'; }
    }
}
CONF
    $nginx -c "$prefix/nginx.conf" &
    pid=$!
    for _ in {1..100}; do
        [[ ! -S $prefix/socket ]] || break
        sleep 0.05
    done
    curl --silent --show-error --max-time 10 --unix-socket "$prefix/socket" "http://localhost/?callback=cb" || {
        cat "$prefix/error.log" >&2
        fail "nginx does not answer"
    }
    stop
}

# refused WORDS COMMAND...: the command fails, and says these words.
refused() {
    local words=$1 said
    shift
    ! said=$("$@" 2>&1) || fail "not refused: $*"
    [[ $said == *"$words"* ]] || fail "$* should say \"$words\", and says: $said"
}

# A package for one nginx with a module for another: by the option, and by a library that got there otherwise.
root=$(dirname "$0")/..
refused "unset NGINX_SOURCE_DIR" make -C "$root" deb NGINX_SOURCE_DIR="$prefix"
dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/lib/nginx/modules/ngx_http_cachefront_module.so |
    LC_ALL=C sed 's/8,4,8,[01]/8,4,8,x/' >"$prefix/other.so"
refused "was not built for the installed nginx" "$root/scripts/deb.sh" "$prefix/other.so"

files_before=$(find /etc/nginx /usr/share/nginx /usr/lib/nginx | sort)
$nginx -t -q || fail "nginx refuses its configuration already without the package"

abi=$(dpkg-deb --field "$package" Depends | grep -o 'nginx-abi-[^, ]*') || fail "the package does not depend on an nginx ABI"
dpkg-query --show --showformat='${Provides}' nginx | grep -qw -- "$abi" || fail "the installed nginx is not of $abi"

dpkg --install "$package"
[[ -L $enabled ]] || fail "the module is not enabled"
$nginx -t -q || fail "nginx refuses its configuration with the package"
answer=$(serve "jsonp_callback callback;")
[[ $answer == 'cb({"status":"success"});' ]] || fail "wrong answer with the package: $answer"
doc=/usr/share/doc/$name
for file in README.md SECURITY.md CHANGELOG.md copyright docs/loading.md examples/demo.conf; do
    [[ -s $doc/$file ]] || fail "$doc has no $file"
done
links=0
while IFS=: read -r page link; do
    link=${link#"]("}
    [[ -e $(dirname "$page")/$link ]] || fail "$page links to $link, which is not there"
    links=$((links + 1))
done < <(grep -roE --include='*.md' '\]\([^)#: ]+' $doc | grep -vE '\]\((https?|mailto)$')
((links > 0)) || fail "no links were found in $doc"

dpkg --remove $name
[[ ! -e $enabled ]] || fail "the module is still enabled"
$nginx -t -q || fail "nginx refuses its configuration after the removal"
answer=$(serve "")
[[ $answer == '{"status":"success"}' ]] || fail "wrong answer after the removal: $answer"

# The second installation finds what the removal left, and the module is on again.
dpkg --install "$package" >/dev/null
[[ -L $enabled ]] || fail "the module is not enabled when it is installed again"
# An administrator's choice outlives an upgrade.
rm "$enabled"
dpkg --install "$package" >/dev/null
[[ ! -e $enabled ]] || fail "an upgrade enabled the module against the administrator's will"

dpkg --purge $name >/dev/null
[[ $(find /etc/nginx /usr/share/nginx /usr/lib/nginx | sort) == "$files_before" ]] || fail "the package left files behind"
echo "deb-test: $(basename "$package") installs, serves, and goes"
