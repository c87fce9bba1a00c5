#!/bin/sh
# Six models S0 to S5 that differ in their objective only: ladder.sh small|views PROGRAM FOLDER [OPTION...]
#
#   small   models/ladder-S*: the numeric encoder reads points, as the paper's does, as value features.
#           1.5 hours on two cores, beside other work.
#   views   models/views-S*: the default model's recipe at d 64: both views, statistics of the table,
#           slopes, 600,000 expressions each. About 1.5 hours on one core.
#
# Same data, size, steps and seed. Can be stopped and started again. STAGES="S0 S5" trains only these.
set -eu
recipe=$1 snip=$2 out=$3
shift 3
case $recipe in
small)
    name=ladder
    set -- --set d=64 --set channels=2 --set heads=4 --set ff=256 --set layers=3 --set values=features \
        --set train_points=16 --set first_points=16 --steps 2400 --batch-size 128 --lr 1.5e-3 \
        --warmup 200 --check-pairs 1000 "$@"
    ;;
views)
    name=views
    set -- --set d=64 --set channels=2 --set heads=2 --set ff=256 --set layers=4 --set statistics=yes \
        --set points=0 --set hidden=256 --set constants=value --set slopes=yes --set forms=yes \
        --set forms_share=0.5 --set laws=0.3 --set noise=0.1 --set rows=12 --set zoom=0.2 \
        --set subtrees=1 --set edits=2 --set constant_edits=0.3 --set optimizer=muon --set muon_lr=4e-3 \
        --set average=0.998 --set scale_most=20 --set products=auto --set schedule=constant \
        --set decay=2700 --set centre=1 --steps 3125 --batch-size 192 --lr 1.5e-3 --warmup 100 --check-pairs 2000 "$@"
    ;;
*)
    echo "ladder.sh: '$recipe' is neither small nor views" >&2
    exit 2
    ;;
esac
for stage in ${STAGES:-S0 S1 S2 S3 S4 S5}; do
    resume=
    [ -f "$out/$stage/state.safetensors" ] && resume=--resume
    "$snip" train --preset small --stage $stage --seed 1 --save-frequency 5 --out "$out/$stage" $resume "$@"
    "$snip" pack "$out/$stage/model.safetensors" --out "$out/$name-$stage.safetensors"
done
