#!/usr/bin/env bash
# container-test.sh: builds the image of Dockerfile without a Docker daemon, as root, starts nginx from it and
# asks it, with three memcached that Perl filled beside it. Then the same with an image that stands in for
# an official one: another version of nginx, in nginx.org's places.
#
# The base image is debootstrap's, from the mirror of the machine's own apt sources. All is below
# build/container, and the network is one of the test's own.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
CARGO=${CARGO:-cargo}
work=$root/build/container
base=docker.io/library/debian:trixie-slim

fail() {
    echo "container-test: $*" >&2
    exit 1
}

[[ $EUID -eq 0 ]] || fail "only root can build an image here: sudo make container-test"

buildah() {
    command buildah --root "$work/storage" --runroot "$work/run" "$@"
}

pids=()
leave() {
    [[ ${#pids[@]} -eq 0 ]] || kill "${pids[@]}" 2>/dev/null || true
    wait
    buildah umount --all >/dev/null 2>&1 || true
    buildah rm --all >/dev/null 2>&1 || true
    # Or `make clean` could not remove it.
    ! mountpoint --quiet "$work/storage/overlay" || umount "$work/storage/overlay"
}
trap leave EXIT
trap 'exit 1' INT TERM

# The base image, as Debian's own is: a minimal system and nothing else.
base_image() {
    local container mirror
    ! buildah inspect --type image $base >/dev/null 2>&1 || return 0
    mirror=$(scripts/private-apt.sh trixie mirror)
    echo "== $base from $mirror"
    rm -rf "$work/rootfs"
    debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
        trixie "$work/rootfs" "$mirror" >"$work/debootstrap.log" || fail "see $work/debootstrap.log"
    container=$(buildah from scratch)
    buildah copy --quiet "$container" "$work/rootfs" / >/dev/null
    buildah config --cmd bash "$container"
    buildah commit --quiet --rm "$container" $base >/dev/null
    rm -rf "$work/rootfs"
}

# The crates are fetched here and not again in each build.
crates() {
    mkdir -p "$work/cargo"
    rm -f "$work/cargo/config.toml"
    CARGO_HOME=$work/cargo "$CARGO" fetch --locked --quiet
    printf '[net]\noffline = true\n' >"$work/cargo/config.toml"
}

# image NAME ARGUMENT...: the image of Dockerfile with these build arguments.
image() {
    local name=$1
    shift
    echo "== image $name"
    buildah bud --quiet --isolation chroot --pull=never --layers --volume "$work/cargo:/root/.cargo" \
        "$@" --tag "$name" --file Dockerfile . >"$work/$name.log" 2>&1 || {
        tail -n 30 "$work/$name.log" >&2
        fail "image $name was not built; see $work/$name.log"
    }
}

listens() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

wait_for() {
    for _ in {1..200}; do
        ! listens "$1" || return 0
        sleep 0.05
    done
    fail "nothing answers on port $1"
}

ask() {
    local path=$1 expected=$2 answer
    answer=$(curl --silent --show-error --max-time 10 "http://127.0.0.1:8080$path")
    echo "GET $path: $answer"
    [[ $answer == "$expected" ]] || fail "expected $expected"
}

# serve NAME: what `docker run` does with the image: its command, with the standard streams as logs.
serve() {
    local name=$1 container files log=$work/$1.out pid
    echo "== nginx of image $name"
    [[ $(buildah inspect --type image --format '{{.OCIv1.Config.StopSignal}} {{.OCIv1.Config.Cmd}}' "$name") == \
        'SIGQUIT [nginx -g daemon off;]' ]] || fail "the image's command or its stop signal is another"
    container=$(buildah from --pull=never "$name")
    files=$(buildah mount "$container")
    for tool in gcc cargo rustc; do
        [[ ! -e $files/usr/bin/$tool ]] || fail "$tool is left in the image"
    done
    buildah run --isolation chroot "$container" -- nginx -g 'daemon off;' >"$log" 2>&1 &
    pid=$!
    pids+=("$pid")
    wait_for 8080

    ask "/count?user_id=100&entry_id=100&callback=cb_func_hoge" 'cb_func_hoge({"status":"success", "count":1000});'
    ask "/count?user_id=100&entry_id=100" '{"status":"success", "count":1000}'
    ask "/count?user_id=7&entry_id=7&callback=cb_func_hoge" 'cb_func_hoge({"status":"success", "count":0});'

    grep -q 'GET /count?user_id=7' "$log" || fail "the access log is not on the standard output"
    kill -QUIT "$(cat "$files"/run/nginx.pid)"
    wait "$pid" || fail "nginx did not stop well on SIGQUIT"
    buildah rm "$container" >/dev/null
}

# stand_in: an image of nginx-src's nginx with what the Dockerfile finds in an official one, and its release
# to be fetched. It shows all of that way but the official image itself and nginx.org.
stand_in() {
    local version sources binary container
    echo "== an image that stands in for an official one"
    IFS=$'\t' read -r version sources binary < <(
        scripts/other-nginx.sh nginx-src --prefix=/etc/nginx --sbin-path=/usr/sbin/nginx \
            --modules-path=/usr/lib/nginx/modules --conf-path=/etc/nginx/nginx.conf --pid-path=/run/nginx.pid \
            --error-log-path=/var/log/nginx/error.log --with-compat --with-http_realip_module \
            --with-http_gunzip_module --with-threads --with-cc-opt='-g -O2'
    )
    container=$(buildah from --pull=never $base)
    buildah run --isolation chroot "$container" -- sh -c '
        apt-get -qq update
        apt-get -qq install --yes --no-install-recommends libpcre2-8-0 zlib1g
        mkdir -p /var/log/nginx /etc/nginx /usr/lib/nginx/modules
        ln -s /usr/lib/nginx/modules /etc/nginx/modules' >"$work/stand-in.log" 2>&1 || fail "see $work/stand-in.log"
    buildah copy --quiet "$container" "$binary" /usr/sbin/nginx >/dev/null
    buildah copy --quiet "$container" "$sources/conf/mime.types" /etc/nginx/ >/dev/null
    buildah commit --quiet --rm "$container" docker.io/library/nginx:stand-in >/dev/null

    rm -rf "$work/releases"
    mkdir -p "$work/releases"
    tar -czf "$work/releases/nginx-$version.tar.gz" --exclude=objs -C "$(dirname "$sources")" \
        --transform "s|^$(basename "$sources")|nginx-$version|" "$(basename "$sources")"
}

# releases PORT: serves the folder of releases.
releases() {
    printf 'daemon off; pid nginx.pid; error_log stderr; events {} http { access_log off; server { listen 127.0.0.1:%s; root releases; } }' \
        "$1" >"$work/releases.conf"
    nginx -p "$work" -c releases.conf -e stderr &
    pids+=($!)
    wait_for "$1"
}

case ${1:-build} in
build)
    mkdir -p "$work"
    base_image
    crates
    image cachefront
    stand_in
    port=18099
    while listens $port; do port=$((port + 1)); done
    releases $port
    checksum=$(cat "$work"/releases/nginx-*.tar.gz | sha256sum | cut -d' ' -f1)
    image cachefront-of-official --build-arg NGINX=docker.io/library/nginx:stand-in \
        --build-arg NGINX_SOURCES=http://127.0.0.1:$port --build-arg NGINX_SHA256="$checksum"
    # What is started now is in a network of its own: no port of the machine is used.
    unshare --net "$0" serve
    ;;
serve)
    ip link set lo up
    for port in 20000 20001 20002; do
        memcached -u nobody -l localhost -p $port -U 0 -m 16 &
        pids+=($!)
        wait_for $port
    done
    perl nginx-conf/demo/fill.pl
    serve cachefront
    serve cachefront-of-official
    echo "container-test: both images build and serve"
    ;;
*)
    fail "usage: container-test.sh"
    ;;
esac
