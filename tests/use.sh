#!/usr/bin/env bash
# `snip embed`, `rank`, `explain`, `index` and `find` as people call them, rightly and wrongly; and all
# figures once more by NumPy. use.sh PROGRAM
# A wrong call must give one line on standard error, exit 1 or 2, and leave no file.
set -u
. "$(dirname "$0")/judge.sh"
start "$1"
named=yes

# same WHAT A B: two files are the same.
same() { cmp -s "$2" "$3" && good || bad "$1"; }

"$snip" train --preset tiny --set statistics=yes --set points=0 --set layers=1 --set hidden=16 \
    --set d=16 --set heads=2 --set ff=16 --set latent=8 --set channels=2 --set levels=4 \
    --batch-size 8 --warmup 1 --steps 2 --quiet --out model >/dev/null || exit 1
export SNIP_MODEL=$work/model/model.safetensors

# Tables ----------------------------------------------------------------------------------------
awk 'BEGIN { srand(7); print "speed [m/s],a,b,y"
    for (i = 0; i < 60; i++) { s = 20 + 70*rand(); a = 1 + 4*rand(); b = rand() - .5
        printf "%.17g,%.17g,%.17g,%.17g\n", s, a, b, 2.5*sin(a) + .01*s + b*b + .001*(rand() - .5) } }' >t.csv
sed 's/$/\r/' t.csv >crlf.csv
tr ',' '\t' <t.csv >t.tsv
gzip -c t.csv >t.csv.gz
tail -n +2 t.csv | tr ',' ' ' >plain.txt
awk -F, -v OFS=, '{ print $4, $3, $2, $1 }' t.csv >turned.csv
awk -F, -v OFS=, 'NR == 1 { print "target", "a", "b", "s" } NR > 1 { print $4, $2, $3, $1 }' t.csv >target.csv
awk -F, -v OFS=, '{ print (NR == 5 ? "nan" : $1), $2, $3, (NR == 9 ? "" : $4) }' t.csv >holes.csv
head -n 10 t.csv >short.csv
printf '%s\n' '# candidates' '' '1*sin(a) + 1' 'truth	1*sin(a) + 1*`speed [m/s]` + 1*b^2' 'a*b' \
    '   2.5*x1 - 3   ' '7' 'log(b)' 'floor(a)' 'exp(-b)/sqrt(a) + abs(b)^1.5' \
    'arctan(b) - 1/a + max(a, b)' 'log10(a)*log2(a) + cbrt(b)' 'sub,x_1,mul,2.5,x_2' \
    '\frac{x_{1}}{2} + x_{2}^{2}' >formulas.txt
sed 's/$/\r/' formulas.txt >formulas_crlf.txt
printf '\xef\xbb\xbf' | cat - formulas.txt >formulas_bom.txt
printf '%s\n' 'Complexity,Loss,Equation' '1,2.5,"a"' '5,0.1,"max(a, b) + 1.5"' '7,0.01,sin(a)' '' \
    '9,0.001,"""a"""' >hof.csv
sed -i '$d' hof.csv # a quoted quote is no formula; it is for the refusals below

# rank ------------------------------------------------------------------------------------------
runs rank t.csv formulas.txt --format csv --by loss
cp out want.csv
[ "$(head -n 1 want.csv)" = "Complexity,Loss,Equation,Score,similarity,r2_train,r2_val,loss_val,loss_cross,model_size,constants,pareto,promise,given" ] &&
    good || bad "another head: $(head -n 1 want.csv)"
[ "$(wc -l <want.csv)" -eq 13 ] && good || bad "$(wc -l <want.csv) lines"
sed -n 2p want.csv | grep -q '1\*sin(a) + 1\*`speed \[m/s\]` + 1\*b^2"$' && good || bad "the truth does not win"
sed -n '$p' want.csv | grep -q '^[0-9]*,,"log(b)",,,,,,' && good || bad "what is not finite is not last"
cat >recompute.py <<'PY'
# The values of an equation of the CSV file or of sympy's form on the rows of t.csv.
import csv, re, numpy as np
rows = list(csv.reader(open("t.csv")))
data = {n: np.array([float(r[j]) for r in rows[1:]]) for j, n in enumerate(rows[0])}
known = dict(sin=np.sin, cos=np.cos, tan=np.tan, asin=np.arcsin, acos=np.arccos, exp=np.exp, sqrt=np.sqrt, Abs=np.abs, atan=np.arctan, Max=np.maximum,
             log=np.log, cbrt=np.cbrt, real_root=lambda v, n: np.cbrt(v), floor=np.floor, speed=data["speed [m/s]"], **data)
def values(text):
    with np.errstate(all="ignore"):
        v = eval(text.replace("Symbol('speed [m/s]')", "speed"), {"__builtins__": {}}, known)
    return np.broadcast_to(np.asarray(v, float), data["y"].shape)
PY
checks "the figures of the CSV file" <<'PY'
import sys; sys.path.insert(0, ".")
from recompute import *
y, fitted = data["y"], 0
for r in csv.DictReader(open("want.csv")):
    v = values(r["Equation"])
    if not r["Loss"]:
        assert not np.isfinite(v).all(), r
        continue
    # Which rows are held out is not told; both parts together are all rows. They judge constants of
    # 45 rows; those of the equation come from all 60, where nothing near them is better.
    both, now = (45*float(r["Loss"]) + 15*float(r["loss_val"]))/60, np.mean((v - y)**2)
    assert now <= both*(1 + 1e-9) + 1e-20, r
    fitted += now < both*(1 - 1e-6)
    assert float(r["loss_cross"]) > 0, r
    assert float(r["r2_train"]) <= 1 and r["pareto"] in "01" and int(r["model_size"]) > 0
    assert (r["Score"] != "") == (r["pareto"] == "1"), r
    assert r["similarity"] == "" or -1 <= float(r["similarity"]) <= 1
assert fitted >= 6, fitted
PY
runs rank short.csv formulas.txt --format json --as-given
cp out short.json
checks "the figures without held-out rows" <<'PY'
import json, sys; sys.path.insert(0, ".")
from recompute import *
o = json.load(open("short.json"))
assert o["rows_train"] == 9 and o["rows_val"] == 0 and o["inputs"] == 3 and len(o["candidates"]) == 12
for c in o["candidates"]:
    v, y = values(c["equation"])[:9], data["y"][:9]
    assert c["loss_val"] is None and c["r2_val"] is None
    if c["loss_train"] is not None:
        loss = np.mean((v - y)**2)
        assert abs(c["loss_train"] - loss) <= 1e-9*loss and c["loss_train"] == c["loss_train_given"], c
        assert abs(c["r2_train"] - (1 - loss/np.var(y))) < 1e-9*max(1, abs(c["r2_train"]))
    assert (c["similarity"] is None) == ("no_similarity" in c)
PY
# Of a table with more inputs than the model reads, those that the formulas use are taken.
awk 'BEGIN { for (j = 0; j < 12; j++) printf "c%d,", j; print "y"; srand(1)
    for (i = 0; i < 20; i++) { for (j = 0; j < 12; j++) printf "%g,", rand(); print rand() } }' >wide.csv
some=(--formula '1.0*c3*c7 + 1.0*c11' --formula '2.5*c7')
runs rank wide.csv --columns c3,c7,c11 "${some[@]}" --json
mv out named
runs rank wide.csv "${some[@]}" --json -q
same "rank takes other inputs than those of the formulas" named out
"$snip" rank wide.csv "${some[@]}" 2>&1 >out | grep -q 'has 12 inputs, the model reads 10; using c3, c7, c11$' && good ||
    bad "rank does not say which inputs it takes"
runs rank wide.csv --formula 2.5 -q
runs explain wide.csv '1.0*c3 + 1.0*c11' --columns c3,c11 --json
mv out named
runs explain wide.csv '1.0*c3 + 1.0*c11' --json -q
same "explain takes other inputs than those of the formula" named out
all=$(seq -s+ -f '1.0*c%g' 0 11)
runs rank wide.csv --formula "$all" --formula c3*c4 --by loss --json -q
checks "errors without the model" <<'PY'
import json
o = json.load(open("out"))
assert o["model"] is None and o["inputs"] == 12
assert all(c["similarity"] is None and c["loss_val"] > 0 for c in o["candidates"])
PY
"$snip" rank wide.csv --formula "$all" 2>&1 >out | grep -q 'use 12 inputs, the model reads 10: no similarities' && good ||
    bad "rank does not say why there are no similarities"
# With weights: the rows of another law, of weight 0, have no part in anything.
awk -F, -v OFS=, 'NR == 1 { print $0, "n" } NR > 1 { print $1, $2, $3, $4, 2; print $1, $2, $3, 1e3*$4, 0 }' t.csv >weighed.csv
runs rank t.csv --formula '1*sin(a) + 1' --formula '1.0*b' --seed 3 --json
mv out unweighed
runs rank weighed.csv --weights n --target y --formula '1*sin(a) + 1' --formula '1.0*b' --seed 3 --json
same "weights of 0 and 2" unweighed out
refuses 1 "there is no column 'q' of weights" rank weighed.csv --weights q --formula a
refuses 1 "'n' cannot be the target and its weight" rank weighed.csv --weights n --target n --formula a
refuses 1 "the weight of row" rank t.csv --weights b --formula a
printf 'w,y\n1,2\n3,4\n' >two.csv
refuses 1 'two.csv: has target and weights only' rank two.csv --weights w --formula 1
runs rank t.csv formulas.txt --json
cp out usual.json
runs rank t.csv formulas.txt --json --by balance
same "balance is not the usual order" usual.json out
runs rank t.csv formulas.txt --json --by similarity
cp out a.json
runs rank t.csv formulas.txt --format json --threads 2 --by similarity
same "--json is not --format json" a.json out
checks "the orders agree" <<'PY'
import csv, json
a = json.load(open("a.json"))["candidates"]
u = json.load(open("usual.json"))["candidates"]
assert [c["equation"] for c in u] != [c["equation"] for c in a]
assert u[0]["given"].startswith("1*sin(a) + 1*`speed"), u[0]
b = list(csv.DictReader(open("want.csv")))
assert sorted(c["equation"] for c in a) == sorted(r["Equation"] for r in b)
s = [c["similarity"] for c in a if c["similarity"] is not None]
assert s == sorted(s, reverse=True) and all(c["similarity"] is None for c in a[len(s):])
cross = {c["equation"]: c["loss_cross"] for c in a} # the table has few rows
l = [cross[r["Equation"]] for r in b if r["loss_val"]]
assert l == sorted(l) and {c["place"] for c in a} == set(range(1, 13))
PY
for n in 1 2 3; do
    runs rank t.csv formulas.txt --format csv --by loss --threads $n
    same "$n threads change the ranking" want.csv out
done
for t in crlf.csv t.tsv t.csv.gz; do
    runs rank $t formulas.txt --format csv --by loss
    same "$t is ranked in another way" want.csv out
done
for f in formulas_crlf.txt formulas_bom.txt; do
    runs rank t.csv $f --format csv --by loss
    same "$f is ranked in another way" want.csv out
done
"$snip" rank - formulas.txt --format csv --by loss <t.csv >out 2>&1; same "a table from standard input" want.csv out
"$snip" rank t.csv - --format csv --by loss <formulas.txt >out 2>&1; same "formulas from standard input" want.csv out
runs rank turned.csv formulas.txt --target y --columns ' speed [m/s], a ,b' --format csv --by loss
same "--columns in the table's order" want.csv out
runs rank turned.csv --target y --columns b,a --formula 'x0 - 2*x1' --format sympy --as-given
[ "$(cat out)" = 'b - 2*a' ] && good || bad "x0 and x1 are $(cat out) with --columns b,a"
runs rank target.csv --formula 'a + s' --format sympy
[ "$(cat out)" = 'a + s' ] && good || bad "a column called target: $(cat out)"
runs rank plain.txt --formula '1*sin(x1) + x0' --format sympy --as-given
[ "$(cat out)" = '1*sin(x1) + x0' ] && good || bad "a table without header: $(cat out)"
runs rank t.csv hof.csv --format csv --by loss
cut -d, -f3- out | grep -q '"sin(a)"' && grep -q '"Max(a, b) - ' out && [ "$(wc -l <out)" -eq 4 ] && good ||
    bad "a hall of fame: $(cat out)"
runs rank t.csv want.csv --format csv --as-given --by loss # its own output
[ "$(wc -l <out)" -eq 13 ] && good || bad "does not read its own CSV file"
runs rank t.csv formulas.txt --top 2
{ [ "$(grep -vc '^not shown\|^few rows: loss and front are judged by 10-fold cross-validation' out)" -eq 3 ] && grep -q '^ *similarity *R2 train' out; } && good || bad "--top 2: $(cat out)"
# The true law, but without a similarity: it comes last, and a table that ends before it says so.
law='2.5*sin(a) + 0.01*`speed [m/s]` + b^2 + 0*floor(a)'
runs rank t.csv --formula a --formula "$law" --as-given --by similarity --top 1
{ [ "$(wc -l <out)" -eq 3 ] && tail -1 out | grep -q '^not shown: number 2, with the least loss .*floor(a)$'; } && good ||
    bad "the least loss is cut off in silence: $(cat out)"
runs rank t.csv --formula a --formula "$law" --as-given --top 2
grep -q '^not shown' out && bad "a note about what is shown: $(cat out)" || good
awk -F, -v OFS=, '{ print (NR == 1 ? "c" : 7), $0 }' t.csv >still.csv
"$snip" rank still.csv --formula a >out 2>err
[ "$(cat err)" = 'snip rank: c is the same in all rows' ] && good || bad "a constant column: $(cat err)"
"$snip" rank holes.csv formulas.txt --drop-nan --format csv >out 2>err &&
    grep -q '^snip rank: 2 rows with missing' err && [ "$(wc -l <err)" -eq 1 ] && good || bad "--drop-nan: $(cat err)"
runs rank holes.csv formulas.txt --drop-nan -q
printf 'a\nb +\nfoo(a)\n' >some.txt
"$snip" rank t.csv some.txt --skip-bad --format sympy >out 2>err; code=$?
{ [ $code -eq 0 ] && [ "$(cat out)" = a ] && [ "$(grep -c '; skipped$' err)" -eq 2 ] &&
    grep -q 'some.txt, line 3, byte 0' err; } && good || bad "--skip-bad: $(cat out err)"
"$snip" rank t.csv formulas.txt --seed 1 --format csv --by loss >out 2>&1
cmp -s want.csv out && bad "--seed changes nothing" || good

# Formats
runs rank t.csv formulas.txt --format sympy --by loss
cp out out.sympy
checks "sympy's form" <<'PY'
import csv
assert open("out.sympy").read().splitlines() == [r["Equation"] for r in csv.DictReader(open("want.csv"))]
try:
    import sympy
except ImportError:
    raise SystemExit
for line in open("out.sympy"):
    e = sympy.sympify(line)
    assert {str(s) for s in e.free_symbols} <= {"a", "b", "speed [m/s]"}, line
PY
runs rank t.csv formulas.txt --format latex
{ [ "$(tr -cd '{' <out | wc -c)" -eq "$(tr -cd '}' <out | wc -c)" ] &&
    [ "$(grep -o '\\left' out | wc -l)" -eq "$(grep -o '\\right' out | wc -l)" ] &&
    [ "$(tr -cd '$' <out | wc -c)" -eq 26 ] && grep -q '^\\begin{tabular}' out &&
    [ "$(tail -n 1 out)" = '\end{tabular}' ]; } && good || bad "LaTeX is not balanced"
printf 'a b,a_b,long,sin,y%%1 & #,t\n' >odd.csv
seq 1 20 | awk '{ print $1 "," $1*$1 "," sin($1) "," cos($1) "," $1/3 "," $1*2 + sin($1) }' >>odd.csv
runs rank odd.csv --formula '`a b` + a_b*`long` + `sin` + `y%1 & #`' --formula 3.5 --format latex
grep -q 'y\\%1 \\& \\#' out && good || bad "LaTeX has bare marks: $(cat out)"
for t in t odd; do
    if [ $t = t ]; then runs rank t.csv formulas.txt --format c --by loss
    else runs rank odd.csv --formula '`a b` + a_b*`long` + `sin` + `y%1 & #`' --formula 3.5 --format c; fi
    cp out $t.c
    gcc -std=gnu17 -Wall -Wextra -Werror -fPIC -shared -o lib$t.so $t.c -lm 2>err && good || bad "C of $t.csv: $(head -3 err)"
done
checks "the values of the C functions" <<'PY'
import ctypes, sys; sys.path.insert(0, ".")
from recompute import *
lib = ctypes.CDLL("./libt.so")
for i, r in enumerate(csv.DictReader(open("want.csv"))):
    f = getattr(lib, f"formula_{i + 1}")
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]*3
    v = values(r["Equation"])
    got = np.array([f(*x) for x in zip(data["speed [m/s]"], data["a"], data["b"])])
    assert np.allclose(v, got, rtol=1e-12, atol=0, equal_nan=True), r["Equation"]
PY

# Files
runs rank t.csv formulas.txt --format csv --by loss --out file.csv
{ [ ! -s out ] && [ "$(echo file.csv*)" = file.csv ]; } && good || bad "--out prints or leaves $(echo file.csv*)"
same "--out writes something else" want.csv file.csv
ln -s /proc/self/fd/1 stdout # as /dev/stdout is, but ours: a mistake here must not cost the machine's
runs rank t.csv formulas.txt --format csv --by loss --out stdout
same "--out to standard output" want.csv out
[ -L stdout ] && good || bad "--out puts a file in the place of a link"
ln -s packed.st packed
runs pack "$SNIP_MODEL" -o packed
[ -L packed ] && [ -s packed.st ] && good || bad "pack puts a file in the place of a link"

# With a standard stream closed, what is printed must not land in the files that are written.
"$snip" embed --table t.csv -o closed.npy >&- 2>err; code=$?
{ [ $code -eq 1 ] && grep -q 'cannot write' err && [ ! -e closed.npy ]; } && good || bad "embed without standard output exits $code"
printf 'sin(x0)\nfoo(\n' >bad.txt
"$snip" embed --formulas bad.txt --skip-bad -o closed.npy >/dev/null 2>&-
"$snip" embed --formulas bad.txt --skip-bad --quiet -o open.npy >/dev/null 2>err
same "embed without standard error" closed.npy open.npy
[ ! -s err ] && good || bad "--quiet tells: $(cat err)"

# A formula that is finite on the table, but not in the words that the model would read, has no similarity.
{ echo x,n,y; for i in $(seq -20 20); do echo "$i,$((i % 2 + 2)),$((i * i * i))"; done; } >negative.csv
runs rank negative.csv --formula 'x^n' --formula 'cbrt(x)' --format json
python3 - <<'PY' && good || bad "powers of negative numbers: $(cat out)"
import json
by = {c["given"]: c for c in json.load(open("out"))["candidates"]}
assert by["x^n"]["similarity"] is None and "negative in some rows" in by["x^n"]["no_similarity"]
assert by["x^n"]["loss_train"] is not None and -1 <= by["cbrt(x)"]["similarity"] <= 1
PY
# Rows where a base is 0 are no reason, however many they are.
{ echo x,y; for i in $(seq 40); do echo "$((i % 4)),$i"; done; } >zeros.csv
runs rank zeros.csv --formula '3*x^0.7 + 0.1' --formula '2*sqrt(x) + 1' --formula 'asinh(x - 4e9)' --format json
[ "$(grep -c no_similarity out)" -eq 0 ] && good || bad "bases of 0: $(cat out)"

# embed -----------------------------------------------------------------------------------------
printf '%s\n' 'sum	x0 + 2.5*sin(x1)' '# none' 'x0^2' '7.5' 'exp(x2)/x0' >f.txt
runs embed --formulas f.txt -o whole.npy
cut -f1,3,4,5,6 out >lines
printf '0\t1\tsum\t-1\tx0 + 2.5*sin(x1)\n1\t3\t\t-1\tx0^2\n2\t4\t\t-1\t7.5\n3\t5\t\t-1\texp(x2)/x0\n' >wanted
same "embed's lines: $(cat lines)" wanted lines
runs embed --formulas f.txt --subtrees --json -o parts.npy --threads 1
cp out parts.jsonl
runs embed --formulas f.txt --subtrees --json -o parts3.npy --threads 3
same "threads change the vectors" parts.npy parts3.npy
"$snip" embed --formulas - --subtrees --json -o standard.npy <f.txt >/dev/null 2>&1
same "formulas from standard input have other vectors" parts.npy standard.npy
runs embed --table t.csv t.tsv --table crlf.csv -o tables.npy --columns a,b
cut -f2 out >lines
printf 't.csv\ncrlf.csv\nt.tsv\n' >wanted
same "embed's tables: $(cat lines)" wanted lines
"$snip" embed --table - -o standard.npy --columns a,b <t.csv >/dev/null 2>&1 && good || bad "a table from standard input"
awk 'BEGIN { for (i = 0; i < 3000; i++) print "x0 + " i }' >many.txt
runs embed --formulas many.txt -o many.npy
[ "$(wc -l <out)" -eq 3000 ] && good || bad "embed prints $(wc -l <out) lines for 3000 formulas"
checks "the matrices" <<'PY'
import json, numpy as np
whole, parts = np.load("whole.npy"), np.load("parts.npy")
lines = [json.loads(s) for s in open("parts.jsonl")]
assert whole.shape == (4, 8) and whole.dtype == np.float32
# x0 + 2.5*sin(x1): 6 nodes; x0^2: 2; 7.5: 1; exp(x2)/x0 as a product: 5
assert parts.shape == (4 + 6 + 2 + 1 + 5, 8), parts.shape
for m in (whole, parts, np.load("tables.npy"), np.load("many.npy")):
    assert np.abs(np.linalg.norm(m, axis=1) - 1).max() < 1e-5
assert [o["row"] for o in lines] == list(range(len(parts)))
assert np.abs(parts[[o["row"] for o in lines if o["node"] == -1]] - whole).max() < 1e-5
assert [o["text"] for o in lines if o["line"] == 3 and o["node"] >= 0] == ["x0^2", "x0"]
t = np.load("tables.npy")
assert t.shape == (3, 8) and (t[0] == t[1]).all() and (t[0] == t[2]).all()
assert (np.load("standard.npy")[0] == t[0]).all() and np.load("many.npy").shape == (3000, 8)
PY
printf 'x0\nbad(\ntanh(x0)\nfloor(x0)\nx11\n' >mixed.txt
"$snip" embed --formulas mixed.txt --skip-bad -o mixed.npy >out 2>err; code=$?
{ [ $code -eq 0 ] && [ "$(grep -c '; skipped$' err)" -eq 3 ] && [ "$(wc -l <out)" -eq 2 ]; } && good ||
    bad "embed --skip-bad exits $code: $(cat err out)"

# Errors that are a share of y: rank and explain say so in one line, but not to those who have weights.
awk 'BEGIN { srand(1); print "q,d,y,w"
    for (i = 0; i < 120; i++) { q = 1 + 4*rand(); d = .5 + 4.5*rand()
        y = 9*q/d^2*(1 + .03*sqrt(-2*log(1 - rand()))*cos(6.283*rand())); print q "," d "," y "," 1/y^2 } }' >share.csv
cut -d, -f 1-3 share.csv >bare.csv
grows() {
    "$snip" "$1" bare.csv "${@:2}" >out 2>err
    [ "$(wc -l <err)" -eq 1 ] && grep -q "^snip $1: errors grow with y, and [0-9]* of 120 rows .*--weights" err &&
        good || bad "$1 does not tell that errors grow: $(cat err)"
    runs "$1" bare.csv "${@:2}" --quiet
    runs "$1" share.csv "${@:2}" --weights w --target y
}
grows rank --formula '1.0*q/d^2'
grows explain '1.0*q/d^2'
runs rank bare.csv --formula '9*q/d^2' --as-given

# explain ---------------------------------------------------------------------------------------
runs explain t.csv '2*cos(a) + `speed [m/s]`/90' --svg tree.svg
cp out tree.txt
{ grep -q '^formula     ' out && grep -q '^similarity  -\?[0-9.]*$' out && grep -q '|- \*' out &&
    grep -q 'Single edits with the least error of' out && ! grep -q $'\033' out; } && good || bad "explain: $(cat out)"
for n in 1 3; do
    runs explain t.csv '2*cos(a) + `speed [m/s]`/90' --threads $n
    same "$n threads change the explanation" tree.txt out
done
awk -F, 'NR == 1 { print $0 ",w"; next } { print $0 ",1" } NR % 9 == 0 { print $1 "," $2 "," $3 ",99,0" }' t.csv >weighted.csv
runs explain weighted.csv '2*cos(a) + `speed [m/s]`/90' --weights w --target "$(head -1 t.csv | sed 's/.*,//')"
same "rows of weight 0 change the explanation" tree.txt out
refuses 1 "there is no column 'v' of weights" explain weighted.csv a --weights v
awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) { x = 4*i/59; printf "%.17g,%.17g\n", x, 2/((x - 1.3)^2 + .0004) + 1 } }' >peak.csv
runs explain peak.csv '2.0/((x - 1.3)^3 + 0.0004) + 1.0'
grep -q '^verdict *pow3 -> pow2' out && good || bad "a fault that shows in one row of exact data: $(grep verdict out)"
runs explain t.csv '2*cos(a) + `speed [m/s]`/90' --color always
grep -q $'\033' out && good || bad "--color always has no colours"
runs explain t.csv '2*cos(a) + `speed [m/s]`/90' --json --top 4 --try 9
cp out x.json
printf 'gr\xc3\xb6\xc3\x9fe<&>,caf\xe9,y\n' >names.csv
seq 1 20 | awk '{ print $1 "," cos($1) "," $1*2 + 1.5*cos($1) }' >>names.csv
runs explain names.csv '2*x0 + sin(x1)' --svg names.svg
checks "the explanation" <<'PY'
import json, re, sys, xml.etree.ElementTree as xml; sys.path.insert(0, ".")
from recompute import *
o = json.load(open("x.json"))
y = data["y"]
assert len(o["edits"]) == 4 and [n["node"] for n in o["nodes"]] == list(range(len(o["nodes"])))
losses = [e["refitted_errors"]["loss_cross"] for e in o["edits"]]
assert losses == sorted(losses)
v = o["evidence"]
assert v["tried"] == 9 and v["folds"] == 10 and 0 <= v["p"] <= 1, v
assert v["supported"] == (o["least_error"] is not None) == (v["p"] < .05 and v["edited_cross_loss"] < .95*v["cross_loss"])
def agree(equation, errors):
    both = (45*errors["loss_train"] + 15*errors["loss_val"])/60
    now = np.mean((values(equation) - y)**2)
    return now, both
def better(equation, errors): # constants of all rows, errors of those of 45
    now, both = agree(equation, errors)
    assert now < both*(1 - 1e-9) and now > .5*both, equation
better(o["equation"], o["errors"])
for e in o["edits"]:
    now, both = agree(e["equation"], e["errors"])
    assert abs(both - now) <= 1e-9*both, e
    better(e["refitted_equation"], e["refitted_errors"])
    assert e["refitted_errors"]["loss_train"] <= e["errors"]["loss_train"]*(1 + 1e-9)
assert o["nodes"][0]["part"] == o["equation"]
for path, nodes in (("tree.svg", len(o["nodes"])), ("names.svg", None)):
    root = xml.parse(path).getroot()
    boxes = root.findall("{http://www.w3.org/2000/svg}g")
    assert nodes is None or len(boxes) == nodes, len(boxes)
assert "größe<&>" in "".join(root.itertext()) and "café" in "".join(root.itertext())
PY
printf '2*cos(a)\n' >one.txt
runs explain t.csv '2*sin(a) + `speed [m/s]`/90 + b^2 + 0.1'
grep -q '^verdict *no edit is supported by the data' out && good || bad "explain finds fault with the truth: $(tail -3 out)"
awk -F, -v OFS=, 'NR == 1 { print "id", $0, "note" } NR > 1 { print "run " NR, $0, "" }' t.csv >noted.csv
runs explain noted.csv '2*cos(a) + `speed [m/s]`/90' --target y --columns 'speed [m/s],a,b'
cp out lines
runs explain t.csv '2*cos(a) + `speed [m/s]`/90'
same "columns of text that nobody uses" lines out
runs explain t.csv @one.txt --top 0 --try 12
[ "$(sed -n '/^ *gain *R2/,/^$/p' out | wc -l)" -eq 14 ] && good || bad "--top 0 lists not all 12 edits: $(cat out)"
runs explain t.csv '2*cos(a) + `speed [m/s]`/90 + b^2'
grep -q '^verdict  *cos -> sin at cos(' out && grep -q '^ *lowers the cross-validated error by more than 99.99 % (p < 1e-6 for the best of [0-9]* edits)' out &&
    grep -q "^The verdict's formula, its constants fitted to all rows:" out && good || bad "no verdict: $(head -6 out)"
"$snip" explain - '2*cos(a)' <t.csv >out 2>&1 && "$snip" explain t.csv - <one.txt >lines 2>&1 && same "explain from standard input" out lines
runs explain t.csv a
runs explain t.csv 7

# Wrong calls -----------------------------------------------------------------------------------
: >empty.txt
printf 'a\n1\n2\n3\n4\n5\n' >column.csv
printf 'a,y\n1,2\n' >row.csv
printf 'a,y\n' >head.csv
printf 'a,a,y\n1,2,3\n' >twice.csv
awk 'BEGIN { for (i = 0; i < 9; i++) print i ",0.1" }' >constant.csv
awk 'BEGIN { for (i = 0; i < 9; i++) print i ",1e308" (i % 2 ? "" : "1") }' >toolarge.csv
awk 'BEGIN { for (i = 0; i < 9; i++) print i "," (i % 2 ? "1" : "-1") "e308" }' >large.csv
awk 'BEGIN { for (i = 0; i < 9; i++) print i "," i*i "e-300" }' >small.csv
printf '1,2\n2,1e999\n3,4\n4,5\n' >inf.csv
head -c 5000 /dev/urandom >garbage
printf '\0\1\2' >>garbage
printf '#\n\n  \n' >comments.txt
printf 'a\n\na + (b\n' >syntax.txt
printf 'a\nq*2\n' >unknown.txt
printf 'a\nx3\n' >beyond.txt
{ printf 'a'; yes '+a' | head -n 10000 | tr -d '\n'; } >long.txt
tr a 0 <long.txt | sed 's/0/x0/g' >longer.txt
{ printf '%0.ssin(' $(seq 1000); printf a; printf '%0.s)' $(seq 1000); } >deep.txt
printf 'Complexity,Loss,Equation\n1,2,a\n3,4\n' >cut.csv
printf 'Complexity,Loss,Equation\n1,2,"a + b\n' >open.csv
printf 'Complexity,Loss,Equation\n1,2,\n' >nothing.csv
head -c 3000 "$SNIP_MODEL" >cut.safetensors
printf 'x0\nfoo\n' >badformula.txt
mkdir folder

refuses 2 'wants a table and a file of formulas' rank
refuses 2 'wants a table and a file of formulas' rank t.csv
refuses 2 'wants a table and a file of formulas' rank t.csv formulas.txt more.txt
refuses 2 'cannot both come from standard input' rank - -
refuses 2 'unknown option --frob' rank t.csv formulas.txt --frob
refuses 2 '--format wants one of table, csv' rank t.csv formulas.txt --format xml
refuses 2 '--by wants one of' rank t.csv formulas.txt --by luck
refuses 2 '--starts wants a whole number' rank t.csv formulas.txt --starts 0
refuses 2 '--threads wants a whole number' rank t.csv formulas.txt --threads many
refuses 2 '--out needs a value' rank t.csv formulas.txt --out
refuses 1 'empty.txt: the table is empty' rank empty.txt formulas.txt --out left
refuses 1 'has one column' rank column.csv formulas.txt --out left
refuses 1 'the table has 1 row; at least 4 are needed' rank row.csv --formula a --out left
refuses 1 'the table has no rows' rank head.csv formulas.txt
refuses 1 "two columns are called 'a'" rank twice.csv formulas.txt
refuses 1 "line 5, column 'speed .m/s.': not a finite number" rank holes.csv formulas.txt --out left
refuses 1 "there is no column 'z'" rank t.csv formulas.txt --target z
refuses 1 "no input called 'z'" rank t.csv formulas.txt --columns a,z
refuses 1 "'y' is the target" rank t.csv formulas.txt --columns a,y
refuses 1 "no input called ''" rank t.csv formulas.txt --columns ''
refuses 1 "'a' is named twice" rank t.csv formulas.txt --columns a,b,a
refuses 1 'the target is the same in all rows' rank constant.csv --formula x0
refuses 1 'not a finite number' rank toolarge.csv --formula x0
refuses 1 'take another unit' rank large.csv --formula x0
refuses 1 'take another unit' rank small.csv --formula x0
refuses 1 "line 2, column 'x1': not a finite number: '1e999'" rank inf.csv --formula x0
refuses 1 'zero byte' rank garbage formulas.txt
refuses 1 'zero byte' rank t.csv garbage
refuses 1 'folder: is a directory' rank folder formulas.txt
refuses 1 'folder: is a directory' rank t.csv folder
refuses 1 'No such file' rank missing.csv formulas.txt
refuses 1 'No such file' rank t.csv missing.txt
refuses 1 'empty.txt: holds no formula' rank t.csv empty.txt --out left
refuses 1 'comments.txt: holds no formula' rank t.csv comments.txt
refuses 1 "syntax.txt, line 3, byte 6 of the formula: ')' missing" rank t.csv syntax.txt --out left
refuses 1 "unknown.txt, line 2, byte 0 of the formula: unknown name 'q'" rank t.csv unknown.txt
refuses 1 'line 2, byte 0 of the formula: variable x3: there are only 3 inputs' rank t.csv beyond.txt
refuses 1 'line 1.*more than 10000 nodes' rank t.csv long.txt
refuses 1 'line 1.*nested more than' rank t.csv deep.txt
refuses 1 'cut.csv, line 3: no cell in the column Equation' rank t.csv cut.csv
refuses 1 'open.csv, line 2: .*quote without its end' rank t.csv open.csv
refuses 1 'nothing.csv, line 2, byte 0 of the formula: the formula is empty' rank t.csv nothing.csv
refuses 1 'byte 2: unexpected' rank t.csv --formula 'a+$'
refuses 1 'folder' rank t.csv formulas.txt --model folder
refuses 1 'cut off' rank t.csv formulas.txt --model cut.safetensors
refuses 1 'garbage' rank t.csv formulas.txt --model garbage
refuses 1 'empty.txt' rank t.csv formulas.txt --model empty.txt
refuses 1 'No such file' rank t.csv formulas.txt --model missing.safetensors
refuses 1 'cannot write: No such file' rank t.csv formulas.txt --out no/such/folder/file
refuses 1 'folder: cannot write: Is a directory' rank t.csv formulas.txt --out folder
refuses 2 'no --format, --out, --top or --refit' find --formula a --index lib.db --top 2
refuses 2 'assume-positive is for --normal' tokens x0 --assume-positive
refuses 2 'the vectors need a file' embed --formulas f.txt -o -
refuses 2 'wants --out FILE' embed --formulas f.txt
refuses 2 'wants --out FILE' embed -o left
refuses 2 'wants --out FILE' embed --formulas f.txt --table t.csv -o left
refuses 2 'wants --out FILE' embed --formulas f.txt t.csv -o left
refuses 2 '--out needs a value' embed --formulas f.txt -o
refuses 1 'badformula.txt, line 2' embed --formulas badformula.txt -o left
refuses 1 'deep.txt, line 1' embed --formulas deep.txt -o left
refuses 1 'line 1.*more than 10000 nodes' embed --formulas longer.txt -o left
refuses 1 'holds no formula' embed --formulas empty.txt -o left
refuses 1 'zero byte' embed --formulas garbage -o left
refuses 1 'is a directory' embed --formulas folder -o left
refuses 1 'No such file' embed --formulas missing.txt -o left
refuses 1 'the table is empty' embed --table empty.txt -o left
refuses 1 'zero byte' embed --table garbage -o left
refuses 1 'is a directory' embed --table folder -o left
refuses 1 'has 12 inputs' embed --table wide.csv -o left
refuses 1 'cannot write: No such file' embed --formulas f.txt -o no/such/folder/file
refuses 1 'folder: cannot write: Is a directory' embed --formulas f.txt -o folder
refuses 1 'cut off' embed --formulas f.txt -o left --model cut.safetensors
refuses 2 'wants a table and a formula' explain t.csv
refuses 2 'wants a table and a formula' explain t.csv a b
refuses 2 'cannot both come from standard input' explain - -
refuses 2 '--top wants a whole number' explain t.csv a --top 1001
refuses 2 '--try wants a whole number from 1' explain t.csv a --try 0
refuses 2 '--color wants one of' explain t.csv a --color red
refuses 1 "byte 2: unknown name 'q'" explain t.csv a+q
refuses 1 'there are only 3 inputs' explain t.csv x3
refuses 1 'the formula is empty' explain t.csv ''
refuses 1 'more than 10000 nodes' explain t.csv @long.txt
refuses 1 'nested more than' explain t.csv @deep.txt
refuses 1 '601 nodes, at most 500' explain t.csv "a$(printf '%0.s+a' $(seq 300))" --svg left.svg
refuses 1 'reads at most 200' explain t.csv "a$(printf '%0.s+b' $(seq 150))" --svg left.svg
refuses 1 'no finite value in some row' explain t.csv 'log(b)' --svg left.svg
refuses 1 "no exact rewriting of 'floor'" explain t.csv 'floor(a)' --svg left.svg
refuses 1 'zero byte' explain t.csv @garbage
refuses 1 'is a directory' explain t.csv @folder
refuses 1 'zero byte' explain garbage a
refuses 1 'the same in all rows' explain constant.csv x0
refuses 1 'the formula uses 12 inputs, the model reads 10' explain wide.csv "$all"
refuses 1 'cannot write: No such file' explain t.csv a --svg no/such/folder/file
refuses 1 'folder: cannot write: Is a directory' explain t.csv a --svg folder
refuses 1 'garbage' explain t.csv a --model garbage

runs rank t.csv formulas.txt --by loss
cp out lines
runs rank t.csv formulas.txt --by loss --out -
same "--out - is standard output" lines out
grep -q "^no similarity for [23] of them; number [0-9]*: " out && good || bad "no word on similarities: $(cat out)"
runs rank short.csv --formula '1*a + 1'
grep -q '^no rows held out: the table has fewer than 12' out && good || bad "no word on rows held out: $(cat out)"

# Libraries: build, add, info, and both ways to find.
runs index build --count 300 -o lib.db --quiet
grep -q '^done: 300 formulas in lib.db, 300 of them new' out && good || bad "index build says $(cat out)"
runs index build --count 300 -o lib.db --quiet
grep -q ' 0 of them new' out && good || bad "a library that is complete: $(cat out)"
printf 'mine\tsin(x0)*7\n' >mine.txt
runs index add lib.db mine.txt
grep -q '^1 added, 0 duplicates, 0 unusable' out && good || bad "index add says $(cat out)"
runs index add lib.db mine.txt
grep -q '^0 added, 1 duplicate, 0 unusable' out && good || bad "index add, once more, says $(cat out)"
runs index info lib.db --check
grep -q 'formulas   301, 1 of them your own' out && good || bad "index info says $(cat out)"
runs find --formula '7*sin(x0)' --index lib.db -k 1
# Stored vectors are halves, so their length is 1 but for some 1e-5.
grep -Eq '^   1    (1.0000|0.9999).        301 ' out && good || bad "a formula does not find itself: $(cat out)"
runs find t.csv --index lib.db -k 5
tail -1 out | grep -q -- '--refit fits them' && good || bad "errors before a fit, without a word: $(cat out)"
runs find t.csv --index lib.db -k 5 --refit --format csv
[ "$(wc -l <out)" -eq 6 ] && head -1 out | grep -q '^Complexity,Loss,Equation' && good || bad "find --refit: $(cat out)"
"$snip" train --preset tiny --set statistics=yes --set points=0 --set layers=1 --set hidden=16 --set d=16 --set heads=2 \
    --set ff=16 --set latent=8 --set channels=2 --set levels=4 --batch-size 8 --warmup 1 --steps 3 --quiet --out other >/dev/null
cp lib.db short.db; head -c 1000 lib.db.vectors >short.db.vectors
head -c 3000 lib.db >cut.db; cp lib.db.vectors cut.db.vectors
cp lib.db alone.db
refuses 2 '--formula wants --index LIBRARY' find --formula x0
refuses 2 'wants a table, or --formula and --index' find --index lib.db
refuses 2 'takes no --format, --out' find --formula x0 --index lib.db --format csv
refuses 2 'takes no --format, --out' find --formula x0 --index lib.db --out left
refuses 2 '--count wants a whole number' find t.csv --index lib.db -k 0
refuses 1 'none.db: No such file' find t.csv --index none.db
refuses 1 't.csv: not a library of formulas' find t.csv --index t.csv
refuses 1 'lib.db: made with another model' find t.csv --index lib.db --model other/model.safetensors
refuses 1 'the formula ends too early' find --formula x0+ --index lib.db
refuses 1 'variable x11: the model has 10 inputs' find --formula x11 --index lib.db
refuses 1 "no exact rewriting of 'floor'" find --formula 'floor(x0)' --index lib.db
refuses 1 'missing.csv: No such file' find missing.csv --index lib.db
refuses 1 'zero byte' find garbage --index lib.db
refuses 1 'cannot write: No such file' find t.csv --index lib.db --out no/such/file
refuses 1 'cut.db: the library is damaged or cut off' find t.csv --index cut.db
refuses 1 'short.db.vectors: cut off: holds 62 of 301' find t.csv --index short.db
refuses 1 'alone.db.vectors: No such file' find t.csv --index alone.db
refuses 2 'wants build, add or info' index
refuses 2 'wants build, add or info' index frob
refuses 2 'build needs -o LIBRARY' index build
refuses 2 '--count wants a whole number' index build --count 0 -o left.db
refuses 1 'was begun with seed 0, not 3' index build --count 400 -o lib.db --seed 3
refuses 1 'made with another model' index build --count 400 -o lib.db --model other/model.safetensors
refuses 1 't.csv: not a library of formulas' index build -o t.csv
refuses 1 'cannot write: No such file' index build -o no/such/lib.db --count 5
refuses 2 'add wants a library and a file' index add lib.db
refuses 1 'missing.txt: No such file' index add lib.db missing.txt
refuses 2 'info wants one library' index info
refuses 1 'none.db: No such file' index info none.db
refuses 1 'cut.db: the library is damaged or cut off' index info cut.db --check

# What fails leaves an older file as it was.
echo precious >kept
for call in "embed --formulas badformula.txt -o kept" "embed --table t.csv garbage -o kept" \
    "rank t.csv syntax.txt --out kept" "explain t.csv log(b) --svg kept"; do
    "$snip" $call >printed 2>&1 && bad "$call succeeds"
    [ "$(cat kept)" = precious ] && good || bad "$call spoils an older file"
    [ "$(wc -l <printed)" -eq 1 ] && good || bad "$call prints more than its error: $(cat printed)"
done
printf 'tanh(x0)*floor(x0)\n' >wordless.txt
"$snip" embed --formulas wordless.txt --skip-bad -o left >/dev/null 2>err; code=$?
{ [ $code -eq 1 ] && tail -n 1 err | grep -q 'holds no formula that the model reads' && [ ! -e left ]; } && good ||
    bad "embed of nothing exits $code: $(cat err)"
ln -s /dev/full full
if [ -e /dev/full ]; then
    "$snip" rank t.csv formulas.txt --out full >out 2>err; code=$?
    { [ $code -eq 1 ] && grep -q 'full: cannot write: No space left.*standard output' err && grep -q '^ *similarity' out; } &&
        good || bad "rank to a full disk exits $code: $(cat err)"
    "$snip" embed --formulas f.txt -o full >/dev/null 2>err; code=$?
    { [ $code -eq 1 ] && grep -q 'cannot write: No space left' err && [ -L full ]; } && good ||
        bad "embed to a full disk exits $code: $(cat err)"
    "$snip" explain t.csv 'a + b' --svg full >out 2>err; code=$?
    { [ $code -eq 1 ] && grep -q 'full: cannot write: No space left' err && grep -q '^verdict' out; } && good ||
        bad "explain to a full disk exits $code: $(cat err)"
    for call in "rank t.csv formulas.txt" "explain t.csv a" "embed --formulas f.txt -o left"; do
        "$snip" $call >/dev/full 2>err; code=$?
        { [ $code -eq 1 ] && grep -q "^snip ${call%% *}: cannot write" err && [ ! -e left ]; } && good ||
            bad "$call to a full disk exits $code: $(cat err)"
    done
fi

finish
