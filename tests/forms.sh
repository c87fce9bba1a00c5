#!/usr/bin/env bash
# The form view as people meet it: a table in other units, a law in other spellings, columns in
# another order; libraries of forms; vectors of both views. forms.sh PROGRAM
# The model knows nothing, yet what cannot matter must not matter.
set -u
. "$(dirname "$0")/judge.sh"
start "$1"
python=/usr/bin/python3

"$snip" train --preset tiny --stage S5 --set statistics=yes --set points=0 --set layers=1 \
    --set hidden=16 --set d=32 --set channels=1 --set ff=64 --set latent=16 --set constants=value \
    --set slopes=yes --set forms=yes --set forms_share=0.6 --set laws=0.5 --set zoom=0.3 --set noise=0.1 \
    --set rows=12 --batch-size 32 --warmup 1 --steps 6 --quiet --out model >/dev/null || exit 1
export SNIP_MODEL=$work/model/model.safetensors

# similarities TABLE FORMULAS: one a line, in the order of the formulas.
similarities() {
    "$snip" rank "$1" "$2" --json --quiet 2>err | $python -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
rows = rows[0]["candidates"] if len(rows) == 1 and "candidates" in rows[0] else rows
where = {line.strip(): i for i, line in enumerate(open(sys.argv[1]))}
for row in sorted(rows, key=lambda r: where[r["given"]]):
    print(row["similarity"])' "$2"
}

# close WHAT A B MOST: two lists of numbers differ by at most MOST, and are not empty.
close() {
    paste "$2" "$3" | awk -v most="$4" 'NF != 2 { wrong = 1 } { d = $1 - $2; if (d < 0) d = -d
        if (d > worst) worst = d } END { exit !(NR > 0 && !wrong && worst <= most) }' &&
        good || bad "$1: $(paste "$2" "$3" | head -3 | tr '\n' ';') $(head -1 err)"
}

# Boyle's law and others, in several units and spellings.
awk 'BEGIN { srand(3); print "V,T,p"
    for (i = 0; i < 80; i++) { V = 12 + 40*rand(); T = 270 + 60*rand()
        printf "%.17g,%.17g,%.17g\n", V, T, 5*T/V*(1 + .01*(rand() - .5)) } }' >t.csv
awk -F, -v OFS=, 'NR == 1 { print; next } { printf "%s,%s,%.17g\n", $1, $2, $3*10000 }' t.csv >unit_y.csv
awk -F, -v OFS=, 'NR == 1 { print; next } { printf "%.17g,%.17g,%s\n", $1/1000, $2*7, $3 }' t.csv >unit_x.csv
awk -F, -v OFS=, '{ print $2, $1, $3 }' t.csv >turned.csv
printf '%s\n' '5*T/V' '0.3*T + 2/V' '9*exp(-0.03*V)' '2*log(V)*T' '4.5 - 0.2*V' >laws.txt
printf '%s\n' '65.15*T/(13.1*V)' '2/V + 0.3*T' '4.5*exp(-0.03*V)*2' 'T*2*log(3*V) - 0.7*T' \
    '-0.2*V + 4.5' >spelled.txt
similarities t.csv laws.txt >as_is
[ "$(wc -l <as_is)" = 5 ] && good || bad "rank says $(cat as_is err)"
similarities unit_y.csv laws.txt >other; close "y in another unit" as_is other 1e-4
# T*log(V) is no law: in another unit of V it is another function.
similarities unit_x.csv laws.txt >other
sed 4d as_is >a; sed 4d other >b; close "inputs in other units" a b 1e-4
similarities turned.csv laws.txt >other; close "columns in another order" as_is other 1e-4
# The fourth spelling has a constant more and is another form.
similarities t.csv spelled.txt >other
sed 4d as_is >a; sed 4d other >b; close "other spellings" a b 1e-4

# The promise: its networks are trained for one model, stored in its file, and shown before any fit.
"$snip" rank t.csv laws.txt --json --quiet >out 2>err && grep -q '"promise":null' out && good || bad "a promise without weights"
"$snip" pack "$SNIP_MODEL" --out packed.safetensors --promise 3 --threads 2 >out 2>err &&
    grep -q '"tasks":6,"left_out":0,' out && good || bad "pack --promise says $(cat out err)"
"$snip" rank t.csv laws.txt --as-given --model packed.safetensors --quiet >out 2>err &&
    head -1 out | grep -q ' similarity  promise ' && good || bad "rank shows no promise: $(head -2 out err)"
"$snip" rank t.csv laws.txt --model packed.safetensors --format csv --quiet >out.csv 2>err && $python - <<'PY' && good || bad "promise in CSV: $(cat err)"
import csv, json, math, struct
with open("packed.safetensors", "rb") as f:
    w = json.loads(json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))["__metadata__"]["promise"])
assert w["tasks"] == 6 and w["left_out"] == 0 and w["spearman"] is None and len(w["model"]) == 32
rows = list(csv.DictReader(open("out.csv")))
promises = [float(r["promise"]) for r in rows]
assert len(rows) == 5 and all(math.isfinite(v) for v in promises)
assert len(set(promises)) > 1
PY
# A promise that is being trained leaves the file as it is; packed once more, a model keeps it.
cp packed.safetensors kept.safetensors
timeout 3 "$snip" pack "$SNIP_MODEL" --out kept.safetensors --promise 100000 --threads 1 >out 2>err
cmp -s packed.safetensors kept.safetensors && [ "$(echo kept*)" = kept.safetensors ] && good ||
    bad "pack --promise, interrupted: $(echo kept*) $(cat err)"
"$snip" pack packed.safetensors --out kept.safetensors >out 2>err && [ ! -s err ] &&
    "$snip" rank t.csv laws.txt --model kept.safetensors --format csv --quiet 2>err | cmp -s out.csv - && good ||
    bad "a packed model loses its promise: $(cat err)"
# A promise is ignored if the model's weights differ: here its metadata name another model.
$python - <<'PY'
import json, struct
data = open("packed.safetensors", "rb").read()
n = struct.unpack("<Q", data[:8])[0]
head = json.loads(data[8:8 + n])
text = json.loads(head["__metadata__"]["promise"])
text["model"] = "0" * 32
head["__metadata__"]["promise"] = json.dumps(text)
new = json.dumps(head).encode()
new += b" " * (-len(new) % 8)
open("foreign.safetensors", "wb").write(struct.pack("<Q", len(new)) + new + data[8 + n:])
PY
"$snip" rank t.csv laws.txt --json --quiet --model foreign.safetensors >out 2>err && grep -q '"promise":null' out && good || bad "a foreign promise is not ignored: $(cat err)"
"$snip" pack foreign.safetensors --out own.safetensors >out 2>err && [ "$(wc -l <err)" = 1 ] &&
    grep -q 'foreign.safetensors: its promise is left out: it is another version' err && good ||
    bad "packing with a foreign promise says $(cat err)"
"$snip" info own.safetensors --json >out 2>err && ! grep -q promise out && good || bad "a foreign promise is kept: $(cat out err)"

# Vectors of both views.
printf 'sin(x0)*2.5 + 1\n-7*sin(x0)\ncos(3*x0)\n' >f.txt
"$snip" embed --formulas f.txt --view form -o f.npy >/dev/null 2>err || bad "embed: $(cat err)"
"$snip" embed --table t.csv --view form -o t.npy >out 2>err || bad "embed: $(cat err)"
[ "$(wc -l <out)" = 2 ] && grep -q -- '-y' out && good || bad "embed lists $(cat out)"
$python - <<'PY' && good || bad "vectors of forms"
import numpy as np
f, t = np.load("f.npy"), np.load("t.npy")
assert f.shape[0] == 3 and t.shape[0] == 2
assert abs(f[0] @ f[1] - 1) < 1e-5      # constants do not count
assert f[0] @ f[2] < 1 - 1e-6           # the function does
assert abs(t[0] @ t[1]) < 1 - 1e-6
PY
"$snip" tokens --form '65.15/(0.0463*x0 + 2)' >out && [ "$(grep -c CONSTANT out)" = 1 ] && good ||
    bad "tokens --form says $(cat out)"
"$snip" tokens --form '2.5' >out 2>err && bad "a constant has a form" || good
echo 'sin(x0)' >one.txt
"$snip" embed --formulas one.txt --view fancy -o x.npy >out 2>err && bad "a third view" || good

# A library of forms: no structure twice, found whatever the constants, fitted to the table.
"$snip" index build --count 400 -o lib.db --quiet >out 2>&1 || bad "index build: $(cat out)"
"$snip" index info lib.db --check >out 2>&1 && good || bad "index info --check: $(cat out)"
printf 'mine\t3.5*x0/(2 + x0)\n' >mine.txt
"$snip" index add lib.db mine.txt >out 2>&1 && grep -Eq '^(1 added, 0|0 added, 1) duplicates?,' out && good ||
    bad "index add says $(cat out)"
printf 'again\tx0*77/(x0 + 0.4)\n' >again.txt
"$snip" index add lib.db again.txt >out 2>&1 && grep -q '^0 added, 1 duplicate,' out && good ||
    bad "the same form with other constants: $(cat out)"
"$snip" index info lib.db --check >out 2>&1 && good || bad "index info --check, later: $(cat out)"
"$snip" find --formula '9*x0/(5 + x0)' --index lib.db -k 1 >out 2>err &&
    grep -Eq '(1.0000|0.9999). ' out && good || bad "a form does not find itself: $(cat out err)"
"$snip" find t.csv --index lib.db -k 20 --json --quiet >out 2>err && $python - <<'PY' && good ||
import json
rows = [json.loads(line) for line in open("out")]
rows = rows[0]["candidates"] if len(rows) == 1 and "candidates" in rows[0] else rows
assert len(rows) == 20, len(rows)
assert max(r["r2_train"] for r in rows if r["r2_train"] is not None) > 0.5  # constants are fitted
PY
    bad "find: $(head -c 300 out) $(head -2 err)"
"$snip" explain t.csv '5*T/V + 2*V' >out 2>err && good || bad "explain: $(cat err)"

# Models without forms say so; settings that do not go together are refused.
"$snip" train --preset tiny --steps 2 --warmup 1 --batch-size 4 --quiet --out plain >/dev/null || bad "a plain run"
"$snip" embed --formulas one.txt --view form -o x.npy --model plain/model.safetensors >out 2>err &&
    bad "a model without forms reads one" || { grep -q 'not trained to read forms' err && good ||
        bad "says $(cat err)"; }
for sets in "forms=yes" "forms_share=0.5" "constants=value --set forms_share=0.5" "formulas_share=0.5" \
    "quantities=0.5" "refits=1" "constants=value --set forms=yes --set refits=1"; do
    "$snip" train --preset tiny --steps 2 --warmup 1 --batch-size 4 --set $sets --out no >out 2>err
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && good || bad "--set $sets: $(cat err)"
done

# Formulas of one's own: fine-tuned for a field, and refused where they cannot be used.
printf '# decay\n3*exp(-0.5*t)\tt=0:5\nm*v^2/2\tm=1:3 v=0.1:9\n' >own.txt
tune="--init $SNIP_MODEL --steps 3 --warmup 1 --batch-size 8 --threads 1 --quiet"
"$snip" train $tune --formulas own.txt --out tuned >/dev/null 2>err && good || bad "fine-tuning: $(cat err)"
"$snip" info tuned/model.safetensors --json | grep -q 'formulas_share' && good || bad "info of a tuned model"
"$snip" train $tune --out other >/dev/null 2>&1
cmp -s tuned/model.safetensors other/model.safetensors && bad "formulas of one's own change nothing" || good
# refused PATTERN LINES: such a file is refused, in one line.
refused() {
    printf "$2" >wrong.txt
    "$snip" train $tune --formulas wrong.txt --out no >out 2>err
    [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$1" err && good || bad "'$2': $(cat err)"
}
refused 'holds no formula' '# nothing\n'
refused 'line 1: wants a formula' 'x^2\n'
refused "line 2: '5:1'" '#\nx\t5:1\n'
refused 'lower end first' 'x^2\tx=5:1\n'
refused "line 1: unknown name 'w'" 'x^2 + w\tx=1:5\n'
refused 'no usable table' 'log(x)\tx=-5:-1\n'
refused 'no usable table' 'x^2\tx=1:5 y=1:2\n'

# A tuned run goes on with the same formulas.
"$snip" train --out tuned --resume >out 2>err
[ $? = 2 ] && grep -q 'begun with --formulas: give the same file again' err && good || bad "without formulas: $(cat err)"
"$snip" train --out tuned --resume --formulas own.txt --steps 5 --quiet >out 2>err && grep -q 'done after 5 of 5' out && good ||
    bad "tuning goes on: $(cat err)"
grep -v decay own.txt | tail -1 >less.txt
"$snip" train --out tuned --resume --formulas less.txt --steps 7 --quiet >out 2>err
[ $? = 1 ] && grep -q 'formulas differs from the checkpoint' err && good || bad "other formulas: $(cat err)"

# A run with all keys is resumed bit for bit, and knows them without being told.
keys="--preset tiny --stage S5 --set statistics=yes --set points=0 --set d=32 --set channels=1
    --set constants=value --set slopes=yes --set forms=yes --set forms_share=0.5 --set laws=0.5
    --set refits=2 --set optimizer=muon --set average=0.9 --set schedule=constant --batch-size 8 --warmup 2 --threads 1 --quiet"
"$snip" train $keys --steps 8 --out whole >/dev/null 2>&1 || bad "a run with all keys"
"$snip" train $keys --steps 4 --out halves >/dev/null 2>&1
"$snip" train --steps 8 --threads 1 --quiet --out halves --resume >out 2>&1 || bad "resuming: $(cat out)"
$python - <<'PY' && good || bad "a resumed run ends elsewhere"
import struct
def body(path):
    data = open(path, "rb").read()
    return data[8 + struct.unpack("<Q", data[:8])[0]:]
assert body("whole/model.safetensors") == body("halves/model.safetensors")
PY

finish
