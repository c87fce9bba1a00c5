#!/usr/bin/env bash
# `snip find TABLE` without a library names the law of a table. laws.sh PROGRAM
# Tables are drawn from laws of the list with other constants, in other units, with 2 % of noise.
set -u
. "$(dirname "$0")/judge.sh"
start "$1"
export SNIP_MODEL=$work/none # no model is needed

# first TABLE: the name of the first law.
first() { "$snip" find "$1" --quiet --json -k 5 | python3 -c 'import json, sys; print(json.load(sys.stdin)["candidates"][0]["name"])'; }

cat >draw.py <<'PY'
import math, random
from math import exp, sin

LAWS = [  # the law's name, its values where inputs are of size 1, the inputs' range
    ("saturating exponential (capacitor charge, Shockley diode)", lambda x: 1.3 * (1 - exp(-1.7 * x)), 0.05, 3),
    ("Arrhenius", lambda x: 4 * exp(-2.6 / x), 0.4, 1.6),
    ("Michaelis-Menten, Langmuir, Monod", lambda x: 2.2 * x / (0.5 + x), 0.05, 3),
    ("Gaussian peak", lambda x: 1.7 * exp(-((x - 1.2) / 0.35) ** 2), 0.05, 2),
    ("Lorentz peak", lambda x: 1.7 / (1 + ((x - 0.9) / 0.25) ** 2), 0.05, 2),
    ("logistic, Fermi-Dirac", lambda x: 2.4 / (1 + exp(-(x - 1.1) / 0.2)), 0.05, 2),
    ("Hill", lambda x: 1.4 / (1 + (x / 0.8) ** -3.2), 0.05, 2),
    ("Planck spectrum in wavelength", lambda x: 3 / (x**5 * (exp(3.6 / x) - 1)), 0.3, 2.5),
    ("Bateman", lambda x: 2 * (exp(-0.8 * x) - exp(-3.1 * x)), 0.05, 4),
    ("Ricker", lambda x: 2 * x * exp(-1.9 * x), 0.05, 2),
    ("power law", lambda x: 0.8 * x**2.36, 0.05, 2),
    ("damped oscillation", lambda x: 1.5 * exp(-0.9 * x) * sin(11 * x + 0.8), 0.05, 2),
    ("competitive inhibition", lambda x, y: 1.4 * x / (0.5 + x + 1.8 * y), 0.05, 2),
    ("van der Waals", lambda x, y: 1.9 * y / (x - 0.08) - 0.5 / x**2, 0.3, 2),
    ("gravitation, Coulomb", lambda x, y, z: 1.4 * x * y / z**2, 0.2, 2),
]

def normal(r):
    return math.sqrt(-2 * math.log(1 - r.random())) * math.cos(2 * math.pi * r.random())

def write(path, columns, y):
    with open(path, "w") as f:
        f.write(",".join("cba"[-len(columns):]) + ",target\n")
        for row in zip(*columns, y):
            f.write(",".join(map(repr, row)) + "\n")

for scale, unit in (("small", 1e-9), ("large", 1e6)):
    for k, (name, f, low, high) in enumerate(LAWS):
        r = random.Random(k)
        x = [[low + (high - low) * r.random() for _ in range(40)] for _ in range(f.__code__.co_argcount)]
        y = [f(*row) * (1 + 0.02 * normal(r)) * 3.3 / unit for row in zip(*x)]
        wide = [[v * unit * 7 for v in x[0]]] + [[v / unit for v in column] for column in x[1:]]
        write(f"{scale}{k}.csv", wide[::-1], y)  # the table's columns are not in the roles' order
        open(f"{scale}{k}.name", "w").write(name + "\n")
for k in range(5):
    r = random.Random(100 + k)
    x = [[r.random() for _ in range(40)] for _ in range(2)]
    write(f"noise{k}.csv", x, [5 + normal(r) for _ in range(40)])
r = random.Random(9)
x = [2000 + v for v in range(30)]
write("line.csv", [x], [1e4 * (3 + 0.02 * (v - 1990) + 0.01 * normal(r)) for v in x])
write("wide.csv", [[r.random() for _ in range(20)] for _ in range(3)], [normal(r) for _ in range(20)])
for n in (9, 13, 19):  # what is left of exact values by rounding tells nothing
    for k, unit in enumerate((0.3, 1, 10)):
        write(f"exact{n}-{k}.csv", [[unit * v for v in range(1, n + 1)]], [2 * v + 1 for v in range(1, n + 1)])
for name, periods, trend in (("harmonic", 20, 0), ("trend", 20, 1.8)):  # twenty years, month by month
    r = random.Random(periods)
    x = [1990 + v / 12 for v in range(240)]
    write(f"{name}.csv", [x], [350 + trend * (v - 1990) + 3 * sin(math.pi * 2 * (v - 1990) + 1) + 0.1 * normal(r) for v in x])
with open("many.csv", "w") as f:
    f.write(",".join(f"v{j}" for j in range(32)) + "\n")
    for _ in range(20):
        f.write(",".join(repr(r.random()) for _ in range(32)) + "\n")
with open("five.csv", "w") as f:
    f.write("a,b,c,d,e,y\n")
    for _ in range(60):
        v = [0.2 + 2 * r.random() for _ in range(5)]
        f.write(",".join(map(repr, v + [7 * v[4] * v[1] / v[3]])) + "\n")
PY
python3 draw.py || exit 1

# The law is first, in nanometres as in megametres.
for scale in small large; do
    count=0 missed=
    for k in {0..14}; do
        name=$(first $scale$k.csv)
        if [ "$name" = "$(cat $scale$k.name)" ]; then count=$((count + 1)); else missed="$missed; $name for $(cat $scale$k.name)"; fi
        echo "$name" >>$scale.all
    done
    [ $count -ge 13 ] && good || bad "$scale units: $count of 15 laws are first$missed"
    echo "$scale units: $count of 15$missed"
done
cmp -s small.all large.all && good || bad "other units, other laws: $(diff small.all large.all)"

# Noise is no law, and a line in the years is a line.
for k in {0..4}; do
    "$snip" find noise$k.csv --quiet --json -k 1 | python3 -c 'import json, sys
c = json.load(sys.stdin)["candidates"][0]
assert c["constants"] <= 2, c' 2>err && good || bad "noise: $(tail -1 err)"
done
[ "$(first line.csv)" = 'straight line' ] && good || bad "a line is a $(first line.csv)"
[ "$(first harmonic.csv)" = 'harmonic oscillation with offset' ] && good || bad "seasons are a $(first harmonic.csv)"
[ "$(first trend.csv)" = 'oscillation on a trend' ] && good || bad "seasons on a trend are a $(first trend.csv)"
for table in exact*.csv; do
    [ "$(first $table)" = 'straight line' ] && good || bad "$table is a $(first $table)"
done

# Tables that people have: rounded to four digits, and with noise that several laws suit as well.
[ "$(first "$here/../examples/kepler.csv")" = "three-halves law (Kepler's third, Child-Langmuir)" ] && good ||
    bad "the planets follow: $(first "$here/../examples/kepler.csv")"
[ "$(first "$here/../examples/puromycin.csv")" = 'Michaelis-Menten, Langmuir, Monod' ] && good ||
    bad "the enzyme follows: $(first "$here/../examples/puromycin.csv")"
[ "$(first "$here/../examples/boyle.csv")" = 'inverse proportion (Boyle)' ] && good ||
    bad "the gas follows: $(first "$here/../examples/boyle.csv")"

# Of five inputs, those that matter play the roles.
runs find five.csv --top 1 -k 5
grep -q 'ideal gas .*7.*\*[eb]\*[eb]/d' out && good || bad "five inputs: $(cat out)"

# Name and field in every format; the user's own names; as many as asked for.
runs find small2.csv -k 3
[ "$(grep -c '^ *[0-9]' out)" -eq 3 ] && grep -q 'law  *field  *formula' out && good || bad "table: $(cat out)"
grep -q 'Michaelis-Menten, Langmuir, Monod  *chemistry .*\*a/(.* + a)' out && good || bad "names: $(cat out)"
grep -q similarity out && bad "a similarity without a model: $(cat out)" || good
runs find small2.csv --top 2 --format csv
[ "$(wc -l <out)" -eq 3 ] && head -1 out | grep -q ',given,name,field$' && good || bad "csv: $(cat out)"
sed -n 2p out | grep -q ',"1.0\*x/(1.0 + x)","Michaelis-Menten, Langmuir, Monod","chemistry"$' && good || bad "csv row: $(sed -n 2p out)"
runs find small2.csv -k 2 --json
python3 - <<'PY' 2>err && good || bad "json: $(tail -1 err)"
import json
d = json.load(open("out"))
assert d["model"] is None and len(d["candidates"]) == 2, d
assert all(c["name"] and c["field"] and c["given"] for c in d["candidates"]), d
assert d["candidates"][0]["field"] == "chemistry", d
PY
runs find small2.csv -k 2 --format latex
grep -q '^Michaelis-Menten, Langmuir, Monod & ' out && good || bad "latex: $(cat out)"
runs find small2.csv -k 2 --format c
grep -q '^/\* Michaelis-Menten, Langmuir, Monod (chemistry) \*/$' out && good || bad "C: $(cat out)"
runs find small2.csv -k 2 --format c --threads 1
mv out one; runs find small2.csv -k 2 --format c --threads 2
cmp -s one out && good || bad "threads change the result"
runs find small2.csv -k 2 --out written; [ -s written ] && [ ! -s out ] && good || bad "--out"

# Only a model that reads forms has a similarity.
"$snip" train --preset tiny --stage S5 --set statistics=yes --set points=0 --set layers=1 --set hidden=16 --set d=32 \
    --set channels=1 --set ff=64 --set latent=16 --set constants=value --set forms=yes --set forms_share=0.6 --set rows=12 \
    --batch-size 32 --warmup 1 --steps 3 --quiet --out forms >log 2>&1 || bad "train: $(cat log)"
runs find small2.csv -k 2 --model forms/model.safetensors
grep -q similarity out && good || bad "no similarity: $(cat out)"

refuses 2 'wants a table, or --formula and --index' find
refuses 2 'wants a table, or --formula and --index' find small1.csv small2.csv
refuses 2 '--formula wants --index LIBRARY' find --formula x0
refuses 2 '--count wants a whole number' find small1.csv -k 0
refuses 1 'missing.csv: No such file' find missing.csv
refuses 1 'no.safetensors: No such file' find small1.csv --model no.safetensors
refuses 1 'cannot write: No such file' find small1.csv --out no/such/file
refuses 1 'has 31 inputs, laws are tried with up to 30' find many.csv
printf 'a\n1\n2\n3\n4\n' >one.csv
refuses 1 'has one column' find one.csv

finish
