#!/bin/sh
# All results from the shipped weights: docs/results.md and docs/report. reproduce.sh PROGRAM
# About an hour for all models on two cores; the default model alone takes ten minutes.
set -eu
snip=$(realpath "$1") report=docs/report
cd "$(dirname "$0")/.."

# The default model first: the others are compared with it.
main="--model models/default.safetensors" all=
for model in models/*.safetensors; do
    case $model in
    models/default.safetensors) ;;
    models/ladder-*) all="$all --model $model" ;;
    *) main="$main --model $model" ;;
    esac
done
all="$main$all"

"$snip" evaluate $all --pairs 10000 --out $report
"$snip" evaluate $all --suite global --pairs 100000 --out $report/large
work=$(mktemp -d) # pages of these are not kept
trap 'rm -rf "$work"' EXIT
for disturbed in "1 0" "10 0" "0 50" "0 20" "10 20"; do
    set -- $disturbed
    "$snip" evaluate $main --suite global --pairs 10000 --noise "$1" --rows "$2" --out "$work" --json \
        >"$report/noise-$1-rows-$2.json"
done
scripts/curves.py page $report
scripts/results.py $report >docs/results.md
echo "docs/results.md, $report/report.html and $report/curves.html written"
