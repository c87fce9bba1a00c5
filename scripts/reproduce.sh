#!/bin/sh
# All results from the shipped weights: docs/results.md and docs/report. reproduce.sh PROGRAM
# About an hour for all models on two cores.
set -eu
snip=$(realpath "$1") report=docs/report
cd "$(dirname "$0")/.."

# options MODEL...: evaluate's options for those that are here. The first is compared with the others.
options() {
    for model; do
        if [ -f "models/$model.safetensors" ]; then
            printf ' --model models/%s.safetensors' "$model"
        else
            echo "reproduce.sh: without $model, which is not in models/" >&2
        fi
    done
}
main=$(options default exact)
paper_suites="--suite global --suite geometry --suite edits --suite subtrees --suite corpora --suite probes"

"$snip" evaluate $main $paper_suites --pairs 10000 --targets 512 --out $report
"$snip" evaluate $main --suite global --pairs 100000 --out $report/large
"$snip" evaluate $(options default) --suite forms --problems 60 --library 10000 --pairs 100000 \
    --out $report/forms

# ladder NAME CONTROL OPTION...: the six models models/NAME-S* and maybe a control, with further options
# of evaluate.
ladder() {
    name=$1
    models=$(options $name-S5 $name-S0 $name-S1 $name-S2 $name-S3 $name-S4 $2)
    shift 2
    rm -rf "$report/$name" # of other models, perhaps
    if [ -n "$models" ]; then
        "$snip" evaluate $models $paper_suites --pairs 10000 --out "$report/$name" "$@"
        "$snip" evaluate $models --suite global --pairs 100000 --out "$report/$name/large"
    fi
}
ladder ladder ""
ladder views views-control --targets 256 --suite forms --problems 40 --library 500
# What follows is whole when it takes its place; pages of disturbed tables are not kept.
work=$(mktemp -d $report/work.XXXXXX) # in here: results name their command, folders and all
trap 'rm -rf "$work"' EXIT
for disturbed in "1 0" "10 0" "0 50" "0 20" "10 20"; do
    set -- $disturbed
    "$snip" evaluate $main --suite global --pairs 10000 --noise "$1" --rows "$2" --out "$work" --json \
        >"$work/disturbed.json"
    mv "$work/disturbed.json" "$report/noise-$1-rows-$2.json"
done
scripts/curves.py page $report
scripts/results.py $report >"$work/results.md"
mv "$work/results.md" docs/results.md
echo "docs/results.md and the pages in $report written"
