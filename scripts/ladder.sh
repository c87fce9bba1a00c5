#!/bin/sh
# The ladder: six models S0 to S5 that differ in their objective only: ladder.sh PROGRAM FOLDER [OPTION...]
# Same data, size, steps and seed; the numeric encoder reads points, as the paper's does, as value
# features. Can be stopped and started again. Took 1.5 hours on two cores, beside other work.
set -eu
snip=$1 out=$2
shift 2
for stage in S0 S1 S2 S3 S4 S5; do
    resume=
    [ -f "$out/$stage/state.safetensors" ] && resume=--resume
    "$snip" train --preset small --stage $stage --set d=64 --set channels=2 --set heads=4 --set ff=256 \
        --set layers=3 --set values=features --set train_points=16 --set first_points=16 \
        --steps 2400 --batch-size 128 --lr 1.5e-3 --warmup 200 --seed 1 --check-pairs 1000 \
        --save-frequency 5 --out "$out/$stage" $resume "$@"
    "$snip" pack "$out/$stage/model.safetensors" --out "$out/ladder-$stage.safetensors"
done
