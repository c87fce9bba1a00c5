#!/usr/bin/env bash
# Runs a test beside models that know nothing, quick to make: with_model.sh PROGRAM TEST...
# The test finds in $SNIP_TEST_FOLDER: model.safetensors, of 5 inputs; narrow.safetensors, of 2;
# forms.safetensors, which reads forms; library.db, 500 formulas with the first model's vectors; locale/, with a decimal comma and with a
# decimal sign of two bytes, where they can be made. $SNIP_PROGRAM is the program itself.
set -u
snip=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SNIP_PROGRAM=$snip SNIP_TEST_FOLDER=$work
unset SNIP_MODEL

for dims in 5 2; do
    "$snip" train --preset tiny --set statistics=yes --set points=0 --set layers=1 --set hidden=16 \
        --set dims=$dims --batch-size 16 --warmup 2 --steps 5 --seed 1 --stage S5 --quiet \
        --out "$work/$dims" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
mv "$work/5/model.safetensors" "$work/model.safetensors"
mv "$work/2/model.safetensors" "$work/narrow.safetensors"
"$snip" train --preset tiny --set statistics=yes --set points=0 --set layers=1 --set hidden=16 \
    --set constants=value --set forms=yes --set forms_share=0.5 --batch-size 16 --warmup 2 \
    --steps 5 --seed 1 --stage S5 --quiet --out "$work/forms" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
mv "$work/forms/model.safetensors" "$work/forms.safetensors"
"$snip" index build --count 500 --seed 1 --model "$work/model.safetensors" \
    --out "$work/library.db" --quiet >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/locale"
for name in de_DE ps_AF; do
    localedef -i $name -f UTF-8 "$work/locale/$name.UTF-8" >/dev/null 2>&1
done

"$@"
