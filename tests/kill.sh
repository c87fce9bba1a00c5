#!/usr/bin/env bash
# A training run killed with SIGKILL at random moments, resumed each time, ends with the weights of a run
# that nobody disturbed. kill.sh PROGRAM [KILLS]
set -u
snip=$(realpath "$1")
kills=${2:-50}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
RANDOM=7 # the same moments every time, as far as the machine allows

settings="--preset tiny --stage S5 --steps 400 --batch-size 4 --quiet --threads 2
    --set points=8 --set d=16 --set ff=32 --set latent=16 --set channels=1 --set levels=8 --set heads=2
    --set layers=1 --set embed=2 --set dims=3 --save-steps 10"
"$snip" train $settings --out calm >/dev/null 2>err || { cat err; exit 1; }

survived=0 unfinished=0
for ((i = 0; i < kills; i++)); do
    resume=""
    [ -e rough/state.safetensors ] && resume=--resume
    "$snip" train $settings --out rough $resume >/dev/null 2>err &
    pid=$!
    sleep "0.$(printf %03d $((RANDOM % 120)))"
    # On a busy machine no run may come as far as its first checkpoint; then there is nothing to resume.
    if [ $i -eq 0 ]; then
        until [ -e rough/state.safetensors ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    fi
    if kill -KILL $pid 2>/dev/null; then unfinished=$((unfinished + 1)); fi
    wait $pid 2>/dev/null
    if [ -s err ]; then echo "FAILED: after kill $i: $(cat err)"; exit 1; fi
    survived=$((survived + 1))
done
"$snip" train $settings --out rough --resume >/dev/null 2>err || { echo "FAILED: $(cat err)"; exit 1; }

# The tensors are what follows the header; the header holds the seconds spent.
tensors() { python3 -c 'import struct, sys
d = open(sys.argv[1], "rb").read()
sys.stdout.buffer.write(d[8 + struct.unpack("<Q", d[:8])[0]:])' "$1" | cksum; }
if [ "$(tensors calm/state.safetensors)" != "$(tensors rough/state.safetensors)" ]; then
    echo "FAILED: the weights differ"
    exit 1
fi
# Killed between the last state and its model, the old model is still there: resuming puts that right.
"$snip" train $settings --steps 399 --out other >/dev/null 2>&1
cp other/model.safetensors rough/model.safetensors
"$snip" train $settings --out rough --resume >/dev/null 2>err || { echo "FAILED: $(cat err)"; exit 1; }
if [ "$(tensors calm/model.safetensors)" = "$(tensors rough/model.safetensors)" ]; then
    echo "$unfinished of $survived runs were killed before their end; the weights are the same"
    echo "1 passed, 0 failed"
else
    echo "FAILED: a finished run keeps an older model"
    exit 1
fi
