#!/usr/bin/env bash
# fuzz.sh SECONDS [TARGET...]: fuzzes each target (all, if none is named) for so long, on stable Rust.
#
# What is new goes to build/fuzz/TARGET, beside the kept inputs of fuzz/corpus/TARGET; an input on which a check
# fails is left in fuzz/artifacts/TARGET: copy it to the corpus, which `cargo test` runs, and mend the fault.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=$1
shift
targets=("$@")
[[ ${#targets[@]} -ne 0 ]] || for file in fuzz/targets/*.rs; do targets+=("$(basename "$file" .rs)"); done

target_dir=${CARGO_TARGET_DIR:-target}/fuzz
# The coverage that libFuzzer needs, as cargo-fuzz asks for it. Sanitizers need a nightly compiler; the
# logic is free of unsafe code, and overflows and debug assertions are checked (fuzz/Cargo.toml).
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1"
triple=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS=$coverage ${CARGO:-cargo} build --release --locked --manifest-path fuzz/Cargo.toml \
    --target "$triple" --target-dir "$target_dir"

status=0
for target in "${targets[@]}"; do
    mkdir -p "build/fuzz/$target" "fuzz/artifacts/$target" "fuzz/corpus/$target"
    log=build/fuzz/$target.log
    if "$target_dir/$triple/release/$target" -max_total_time="$seconds" -timeout=10 -max_len=4096 \
        -artifact_prefix="fuzz/artifacts/$target/" -print_final_stats=1 \
        "build/fuzz/$target" "fuzz/corpus/$target" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        found=$(find "build/fuzz/$target" -type f | wc -l)
        echo "$target: clean, $runs runs in $seconds s, $found inputs in build/fuzz/$target"
    else
        tail -n 60 "$log"
        echo "$target: FAILED, see $log and fuzz/artifacts/$target"
        status=1
    fi
done
exit $status
