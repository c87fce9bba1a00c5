#!/usr/bin/env bash
# One, two and three ranks on the same samples: the same losses and gradients, and after 20 steps the
# same weights. mpi.sh PROGRAM
set -u
. "$(dirname "$0")/mpi_env.sh"
if [ -n "$no_ranks" ]; then echo "skipped: $no_ranks"; exit 77; fi
snip=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

settings="--preset tiny --stage S5 --steps 20 --batch-size 10 --threads 1 --quiet
    --set points=24 --set d=32 --set ff=64 --set channels=1 --set schedule=constant --warmup 5 --lr 2e-4
    --set decay=8 --set centre=1"
for n in 1 2 3; do
    if ! ranks $n run$n "$snip" train $settings --out run$n; then
        echo "FAILED: $n ranks"; cat run$n.out run$n.err; exit 1
    fi
done
# Muon, the moving average, larger batches in the end, forms and lists of them, too.
for n in 1 2; do
    if ! ranks $n muon$n "$snip" train $settings --set optimizer=muon --set muon_lr=1e-3 --set average=0.9 \
        --set last=12 --set last_batch=15 --set last_lr=1e-4 --set constant_edits=0.5 \
        --set slopes=yes --set constants=value --set forms=yes --set forms_share=0.6 --set laws=0.5 \
        --set refits=2 --out muon$n; then
        echo "FAILED: Muon on $n ranks"; cat muon$n.out muon$n.err; exit 1
    fi
done
# Without mpirun it is the same program.
"$snip" train $settings --out alone >out0 2>&1 || { echo "FAILED: alone"; cat out0; exit 1; }

cat >weights.py <<'PY'
import array, struct

def weights(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    values = array.array("f")
    values.frombytes(data[8 + n :])
    return values
PY

python3 - <<'PY'
import json, sys
from weights import weights

def last(folder):
    return json.loads(open(folder + "/log.jsonl").readlines()[-1])

passed = failed = 0
def check(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED:", what)

for base, name in [("run1", "alone"), ("run1", "run2"), ("run1", "run3"), ("muon1", "muon2")]:
    one, log = weights(base + "/model.safetensors"), last(base)
    other = weights(name + "/model.safetensors")
    # Adam makes a full step of rounding noise where the true gradient is 0 (keys' biases are such):
    # these few weights may wander by the learning rate of each step, all others agree.
    gaps = sorted(abs(a - b) for a, b in zip(one, other))
    worst, most = gaps[len(gaps) * 998 // 1000], gaps[-1]
    moved = last(name)
    check(len(one) == len(other) and worst < 1e-4 and most < 4e-3,
          f"{name}: weights differ by {worst:g}, a few by {most:g}")
    for key in ["loss", "grad_norm"]:
        check(abs(moved[key] - log[key]) < 1e-4 * abs(log[key]), f"{name}: {key} {moved[key]} against {log[key]}")
    print(f"{name}: weights differ by at most {worst:.2g} from one rank's")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
PY
code=$?

# A batch that cannot be shared out is refused, and nobody hangs.
timeout 60 mpirun -n 3 "$snip" train $settings --batch-size 2 --out tiny >out 2>&1
got=$?
[ $got -ne 0 ] && [ $got -ne 124 ] && grep -q 'too small for 3 ranks' out || { echo "FAILED: small batch"; cat out; code=1; }

# Only rank 0 sees the folder of the run that goes on.
sed 's/--steps 20/--steps 12/' <<<"$settings" >shorter
"$snip" train $(cat shorter) --set decay=0 --set centre=0 --out split >out 2>&1 || { echo "FAILED: a short run"; cat out; code=1; }
timeout 60 mpirun -n 1 "$snip" train $settings --set decay=13 --out split --resume : \
    -n 1 "$snip" train $settings --set decay=13 --out elsewhere --resume >out 2>&1 &&
    [ ! -e elsewhere ] && "$snip" info split/model.safetensors --json | grep -q '"steps":"20"' ||
    { echo "FAILED: a rank that does not see the folder"; cat out; code=1; }

# The average goes to all ranks with the rest: half a run on one, half on two, is the whole on one.
average="--set optimizer=muon --set muon_lr=1e-3 --set average=0.9"
"$snip" train $(cat shorter) --set decay=0 --set centre=0 $average --out half >out 2>&1 || { echo "FAILED: a short run"; cat out; code=1; }
sed 's/--warmup 5//' <<<"$settings" >open # the state knows it
timeout 60 mpirun -n 1 "$snip" train $(cat open) --set decay=13 $average --out half --resume : \
    -n 1 "$snip" train $(cat open) --set decay=13 $average --out elsewhere --resume >out 2>&1 &&
    "$snip" train $settings --set decay=13 $average --out whole >out 2>&1 ||
    { echo "FAILED: a run with an average that goes on with two ranks"; cat out; code=1; }
python3 - <<'PY' || { echo "FAILED: the average of a run that went on with two ranks"; code=1; }
import sys
from weights import weights
one, other = weights("whole/state.safetensors"), weights("half/state.safetensors")
worst = max(abs(a - b) for a, b in zip(one, other))
print(f"half on two ranks: the state differs by at most {worst:.2g}")
sys.exit(len(one) != len(other) or worst > 1e-4)
PY
exit $code
