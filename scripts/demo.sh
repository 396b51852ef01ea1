#!/usr/bin/env bash
# demo.sh MODULE: three memcached, filled by the real Perl client, behind nginx with nginx-conf/demo.conf.
# Shows three requests with their answers and serves until Ctrl-C; with DEMO_ONCE=1 it ends after the
# answers. The exit status is 0 only if they were right.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
module=$(realpath "$1")
nginx=${TEST_NGINX_BINARY:-$(PATH=$PATH:/usr/sbin command -v nginx)}
prefix=$(mktemp -d)
chmod 755 "$prefix"
pids=()

stop() {
    trap - EXIT INT TERM
    [[ ${#pids[@]} -eq 0 ]] || kill "${pids[@]}" 2>/dev/null || true
    wait || true
    rm -rf "$prefix"
}
trap stop EXIT
trap 'exit 0' INT TERM

fail() {
    echo "demo: $*" >&2
    exit 1
}

listens() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

wait_for() {
    for _ in {1..100}; do
        listens "$1" && return
        sleep 0.05
    done
    [[ ! -s $prefix/logs/error.log ]] || cat "$prefix/logs/error.log" >&2
    fail "nothing answers on port $1"
}

ports=(20000 20001 20002 10080 10081 10082)
for port in "${ports[@]}"; do
    ! listens "$port" || fail "port $port is taken by another program: stop it and try again"
done

user=()
[[ $EUID -ne 0 ]] || user=(-u nobody)
for port in 20000 20001 20002; do
    memcached -l localhost -p "$port" -U 0 -m 16 "${user[@]}" &
    pids+=($!)
done

mkdir -p "$prefix"/{modules,logs,temp}
ln -s "$module" "$prefix/modules/ngx_http_cachefront_module.so"
ln -s "$root/nginx-conf/demo" "$prefix/html"
"$nginx" -p "$prefix" -c "$root/nginx-conf/demo.conf" -e logs/error.log -g 'daemon off;' &
pids+=($!)

for port in "${ports[@]}"; do
    wait_for "$port"
done
perl "$root/nginx-conf/demo/fill.pl"

status=0
ask() {
    local about=$1 path=$2 expected=$3 answer
    answer=$(curl --silent --show-error --max-time 10 "http://127.0.0.1:10080$path") || status=1
    printf '\n%s\n  GET http://127.0.0.1:10080%s\n  %s\n' "$about" "$path" "$answer"
    if [[ $answer != "$expected" ]]; then
        printf '  WRONG: expected %s\n' "$expected"
        status=1
    fi
}

ask "From memcached, for a callback:" "/count?user_id=100&entry_id=100&callback=cb_func_hoge" \
    'cb_func_hoge({"status":"success", "count":1000});'
ask "The same without a callback:" "/count?user_id=100&entry_id=100" \
    '{"status":"success", "count":1000}'
ask "Not in the cache, so from the application:" "/count?user_id=7&entry_id=7&callback=cb_func_hoge" \
    'cb_func_hoge({"status":"success", "count":0});'
echo

[[ $status -eq 0 ]] || fail "wrong answers"
[[ -z ${DEMO_ONCE:-} ]] || exit 0

perl "$root/nginx-conf/demo/fill.pl" --count &
pids+=($!)
echo "A page that embeds it: http://127.0.0.1:10081/   (Ctrl-C stops everything)"
wait -n || true
fail "a server has stopped"
