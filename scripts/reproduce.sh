#!/bin/sh
# All results from the shipped weights: docs/results.md and docs/report. reproduce.sh PROGRAM
# About an hour for all models on two cores; the default model alone takes ten minutes.
set -eu
snip=$(realpath "$1") report=docs/report
cd "$(dirname "$0")/.."

# measure FOLDER MODEL...: all suites, and the retrieval among as many pairs as the paper's. The first
# model is compared with each of the others.
measure() {
    out=$1 models=
    shift
    for model; do models="$models --model models/$model.safetensors"; done
    "$snip" evaluate $models --pairs 10000 --out "$out"
    "$snip" evaluate $models --suite global --pairs 100000 --out "$out/large"
}
measure $report default snip-control
measure $report/ladder ladder-S5 ladder-S0 ladder-S1 ladder-S2 ladder-S3 ladder-S4

work=$(mktemp -d) # pages of these are not kept
trap 'rm -rf "$work"' EXIT
for disturbed in "1 0" "10 0" "0 50" "0 20" "10 20"; do
    set -- $disturbed
    "$snip" evaluate --model models/default.safetensors --model models/snip-control.safetensors --suite global \
        --pairs 10000 --noise "$1" --rows "$2" --out "$work" --json >"$report/noise-$1-rows-$2.json"
done
scripts/curves.py page $report
scripts/results.py $report >docs/results.md
echo "docs/results.md, $report/report.html, $report/ladder/report.html and $report/curves.html written"
