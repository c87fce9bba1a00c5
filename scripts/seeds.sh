#!/bin/sh
# The ladder of both views from another seed, measured: seeds.sh PROGRAM FOLDER SEED [OPTION...]
#
# Trains six models below FOLDER (scripts/ladder.sh views) and writes docs/report/seeds/views-SEED.json,
# which docs/results.md sets beside the shipped ladder, seed 1. The models stay in FOLDER. Two hours on
# one core. Can be stopped and started again. Options are for snip train.
set -eu
snip=$1 out=$2 seed=$3
shift 3
here=$(dirname "$0")
"$here/ladder.sh" views "$snip" "$out" --seed "$seed" "$@"
models=
for stage in S0 S1 S2 S3 S4 S5; do
    models="$models --model $out/views-$stage.safetensors"
done
mkdir -p "$here/../docs/report/seeds"
# As reproduce.sh measures the shipped ladder, without corpora.
"$snip" evaluate $models --suite global --suite edits --suite subtrees --suite probes --suite forms \
    --pairs 10000 --targets 256 --problems 40 --library 500 --out "$out/report"
"$here/results.py" thin <"$out/report/results.json" >"$out/thin.json"
mv "$out/thin.json" "$here/../docs/report/seeds/views-$seed.json"
