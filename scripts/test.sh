#!/usr/bin/env bash
# Every test of the project, and one line that sums them up: `N passed, N failed`, and what was skipped.
# All of it binds to loopback only. Arguments go to the test programs (a name to filter by, say).
set -uo pipefail
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
passed=0 failed=0 skipped=0
broken=()
left_out=()

# step NAME COMMAND...: one more test, or as many as the command says to have run.
step() {
    local name=$1 line status
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$output"
    status=${PIPESTATUS[0]}
    local -i ran=0 bad=0
    while read -r line; do
        [[ $line =~ ([0-9]+)\ passed\;\ ([0-9]+)\ failed\;\ ([0-9]+)\ ignored ]] || continue
        ran+=${BASH_REMATCH[1]} bad+=${BASH_REMATCH[2]}
        skipped=$((skipped + BASH_REMATCH[3]))
    done < <(grep -a '^test result:' "$output")
    while read -r line; do
        [[ $line =~ ^test\ (.*[^ ])\ +\.\.\.\ ignored ]] && left_out+=("${BASH_REMATCH[1]}")
    done < <(grep -a '^test .* \.\.\. ignored' "$output")
    while read -r line; do
        [[ $line =~ ^test\ (.*[^ ])\ +\.\.\.\ FAILED ]] && broken+=("${BASH_REMATCH[1]}")
    done < <(grep -a '^test .* \.\.\. FAILED' "$output")
    if [[ $status -ne 0 && $bad -eq 0 ]]; then
        broken+=("$name")
        bad=1
    elif [[ $ran -eq 0 ]]; then
        ran=1
    fi
    passed=$((passed + ran)) failed=$((failed + bad))
}

step "format" "$CARGO" fmt --all -- --check
step "lints" "$CARGO" clippy --locked --all-targets -- -D warnings
step "tests" "$CARGO" test --locked --no-fail-fast -- "$@"
step "demo" env DEMO_ONCE=1 scripts/demo.sh "${CARGO_TARGET_DIR:-target}/release/libngx_cachefront.so"

echo
[[ ${#left_out[@]} -eq 0 ]] || printf 'skipped: %s\n' "${left_out[@]}"
[[ ${#broken[@]} -eq 0 ]] || printf 'failed: %s\n' "${broken[@]}"
if [[ $skipped -eq 0 ]]; then
    echo "$passed passed, $failed failed"
else
    echo "$passed passed, $failed failed, $skipped skipped"
fi
[[ $failed -eq 0 ]]
