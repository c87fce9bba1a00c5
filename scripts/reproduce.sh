#!/bin/sh
# All results from the shipped weights: docs/results.md and docs/report. reproduce.sh PROGRAM
# Half an hour for all models on two cores.
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
ladder=$(options ladder-S5 ladder-S0 ladder-S1 ladder-S2 ladder-S3 ladder-S4)

"$snip" evaluate $main --suite global --suite geometry --suite edits --suite subtrees --suite corpora \
    --suite probes --pairs 10000 --targets 512 --out $report
"$snip" evaluate $main --suite global --pairs 100000 --out $report/large
"$snip" evaluate $(options default) --suite forms --problems 60 --library 10000 --pairs 100000 \
    --out $report/forms
rm -rf $report/ladder # of other models, perhaps
if [ -n "$ladder" ]; then
    "$snip" evaluate $ladder --suite global --suite geometry --suite edits --suite subtrees --suite corpora \
        --suite probes --pairs 10000 --out $report/ladder
    "$snip" evaluate $ladder --suite global --pairs 100000 --out $report/ladder/large
fi
work=$(mktemp -d) # pages of these are not kept
trap 'rm -rf "$work"' EXIT
for disturbed in "1 0" "10 0" "0 50" "0 20" "10 20"; do
    set -- $disturbed
    "$snip" evaluate $main --suite global --pairs 10000 --noise "$1" --rows "$2" --out "$work" --json \
        >"$report/noise-$1-rows-$2.json"
done
scripts/curves.py page $report
scripts/results.py $report >docs/results.md
echo "docs/results.md and the pages in $report written"
