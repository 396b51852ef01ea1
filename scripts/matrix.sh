#!/usr/bin/env bash
# The whole suite with several versions of nginx, each with the module built for it, and a table of what
# came out. MATRIX chooses them: any of the names that other-nginx.sh knows, or a version or the start of
# one, which is then looked for among those of all names. What it names must run; of the default list, what
# cannot be had on this machine is left out, and said.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
CARGO=${CARGO:-cargo}
all="debian nginx-src trixie sid"

rows=() left_out=()
# The names and versions with which the suite ran.
ran=" "
total_passed=0 total_failed=0

# row NAME VERSION RESULT
row() {
    rows+=("$(printf '%-10s  %-8s  %s' "$1" "$2" "$3")")
}

# wanted VERSION: whether MATRIX asks for this version.
wanted() {
    local word
    for word in $MATRIX; do
        [[ $1 == "$word" || $1 == "$word".* ]] && return
    done
    return 1
}

# suite NAME VERSION SOURCES BINARY: builds the module for this nginx and runs the suite with it.
suite() {
    local name=$1 version=$2 target=$PWD/build/matrix/$2 passed failed skipped result
    # What `make test` built is as good.
    [[ $name != debian ]] || target=$(realpath "${CARGO_TARGET_DIR:-target}")
    local -x NGINX_SOURCE_DIR=$3 NGINX_BUILD_DIR=$3/objs CARGO_TARGET_DIR=$target
    local -x TEST_NGINX_BINARY=$4 TEST_NGINX_MODULE=$target/release/libngx_cachefront.so
    mkdir -p "$target"
    ran+="$name $version "
    echo "== $name: nginx $version"
    if ! "$CARGO" build --release --locked --lib; then
        row "$name" "$version" "does not build"
        total_failed=$((total_failed + 1))
        return
    fi
    rm -f "$target/test.log"
    "$CARGO" test --locked --no-fail-fast 2>&1 | tee "$target/test.log"
    local status=${PIPESTATUS[0]}
    read -r passed failed skipped < <(
        awk '/^test result: / {passed += $4; failed += $6; skipped += $8} END {print passed + 0, failed + 0, skipped + 0}' \
            "$target/test.log"
    )
    # A test program that did not build or that ended early has counted nothing.
    [[ $status -eq 0 && $passed -gt 0 || $failed -gt 0 ]] || failed=1
    result="$passed passed, $failed failed"
    [[ $skipped -eq 0 ]] || result+=", $skipped skipped"
    row "$name" "$version" "$result"
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
}

mkdir -p build
names=() by_version=
for word in ${MATRIX:-$all}; do
    if [[ $word == [0-9]* ]]; then
        by_version=yes
    else
        names+=("$word")
    fi
done
if [[ -n $by_version ]]; then
    for word in $all; do
        [[ " ${names[*]} " == *" $word "* ]] || names+=("$word")
    done
fi

for name in "${names[@]}"; do
    answer=$(scripts/other-nginx.sh "$name" 2>build/matrix.err)
    status=$?
    cat build/matrix.err >&2
    IFS=$'\t' read -r version sources binary <<<"$answer"
    if [[ $status -eq 3 ]]; then
        row "$name" - "skipped: $(tail -n 1 build/matrix.err)"
        left_out+=("$name")
    elif [[ $status -ne 0 ]]; then
        row "$name" - "cannot be built"
        ran+="$name "
        total_failed=$((total_failed + 1))
    elif [[ -z $by_version ]] || wanted "$version" || [[ " $MATRIX " == *" $name "* ]]; then
        suite "$name" "$version" "$sources" "$binary"
    fi
done

for word in ${MATRIX:-}; do
    if [[ $ran != *" $word "* && ($word != [0-9]* || $ran != *" $word."*) ]]; then
        row "$word" - "asked for, and did not run"
        total_failed=$((total_failed + 1))
    fi
done

printf '\n%-10s  %-8s  %s\n' nginx version result
printf '%s\n' "${rows[@]}"
printf '\n%s passed, %s failed' "$total_passed" "$total_failed"
[[ ${#left_out[@]} -eq 0 ]] || printf '; not on this machine: %s' "${left_out[*]}"
printf '\n'
[[ $total_failed -eq 0 && $total_passed -gt 0 ]]
