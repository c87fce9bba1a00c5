#!/usr/bin/env bash
# `snip fit-constants` as people call it, rightly and wrongly; its figures once more by NumPy.
# fit_constants.sh PROGRAM
# A wrong call must give one line on standard error, exit 1 or 2, and leave no file.
set -u
. "$(dirname "$0")/judge.sh"
start "$1"
nist=$here/nist
call=(fit-constants) named=yes

# shows PATTERN: the last call printed a line like that.
shows() { grep -qE -- "$1" out && good || bad "no line '$1': $(cat out)"; }

# NIST's sets through the whole program -----------------------------------------------------------
# All of them from the first starting point, as a user types them.
while IFS=$'\t' read -r name model start _ certified _ rss; do
    [ "${name:0:1}" = '#' ] && continue
    param= k=1
    for v in $start; do param="$param,b$k=$v" k=$((k + 1)); done
    runs "$nist/$name.csv" "$model" --param "${param:1}" --numbers fixed --json
    printf '%s\t%s\t%s\n' "$name" "$certified" "$rss" >>wanted
    cat out >>fitted
done <"$nist/problems.tsv"
checks "NIST's certified values" <<'PY'
import json
wanted = [l.rstrip("\n").split("\t") for l in open("wanted")]
fitted = [json.loads(l) for l in open("fitted")]
assert len(wanted) == len(fitted) == 27
for (name, values, rss), o in zip(wanted, fitted):
    if name != "Lanczos1":   # its residuals are rounding of y
        assert abs(o["rss"]/float(rss) - 1) < 1e-9, name
    got = {p["name"]: p["estimate"] for p in o["parameters"]}
    for k, v in enumerate(values.split()):
        assert abs(got[f"b{k + 1}"]/float(v) - 1) < 1e-9, (name, k)
    assert o["settled"] and o["notes"] == [], name
PY

# Tables ------------------------------------------------------------------------------------------
awk 'BEGIN { srand(5); print "id,t [s],load,dy,y,note"
    for (i = 0; i < 40; i++) { t = 5*rand(); l = rand(); s = .02 + .05*rand()
        printf "run %d,%.17g,%.17g,%.17g,%.17g,\"a, b\"\n", i, t, l, s, 3.2*exp(-1.3*t) + .4*l + .5 + s*(rand() + rand() + rand() - 1.5) } }' >t.csv
law='A*exp(-k*`t [s]`) + b*load + C'
runs t.csv "$law" --target y --param A=1,k=1 --param 'b=1, C=0' --json --out rows.csv --svg fit.svg
cp out plain.json
runs t.csv "$law" --target y --param A=1,k=1,b=1,C=0 --sigma dy --json
cp out sigma.json
runs t.csv "$law" --target y --param A=1,k=1,b=1,C=0 --weights dy --json --folds 8 --level .9
cp out weights.json
runs t.csv "$law" --target y --param A=1,k=1,b=1 --fix C=0.45 --json --holdout 0.25
cp out fixed.json
checks "errors, intervals, likelihood and rows" <<'PY'
import csv, json
import numpy as np
import xml.etree.ElementTree as xml
rows = list(csv.DictReader(open("t.csv")))
t, l, s, y = (np.array([float(r[n]) for r in rows]) for n in ("t [s]", "load", "dy", "y"))
known = {"exp": np.exp, "__builtins__": {}, "load": l, "t": t}
def value(o):
    return eval(o["equation"].replace("Symbol('t [s]')", "t"), known)
def close(a, b, tolerance=1e-6):
    assert np.all(np.abs(np.asarray(a) - b) <= tolerance*np.abs(b)), (a, b)
def check(path, w, absolute, names, level_t):
    o = json.load(open(path))
    p = {q["name"]: q for q in o["parameters"]}
    assert list(p) == ["A", "k", "b", "C"]
    v = {n: q["estimate"] for n, q in p.items()}
    assert max(abs(v[n]/u - 1) for n, u in dict(A=3.2, k=1.3, b=.4, C=.5).items()) < .2, v
    r = y - value(o)
    J = np.stack([{"A": np.exp(-v["k"]*t), "k": -v["A"]*t*np.exp(-v["k"]*t), "b": l, "C": 1 + 0*t}[n] for n in names], 1)
    assert np.abs((J*w[:, None]).T @ r).max() < 1e-6*np.abs(w[:, None]*J).T.dot(np.abs(r)).max()    # a minimum
    rss, f = (w*r*r).sum(), len(y) - len(names)
    close(o["chi_square" if absolute else "rss"], rss)
    assert o["degrees_of_freedom"] == f and o["rows"] == 40
    C = np.linalg.inv((J*w[:, None]).T @ J)*(1 if absolute else rss/f)
    e = np.sqrt(np.diag(C))
    close([p[n]["std_error"] for n in names], e)
    close([p[n]["t"] for n in names], [v[n]/p[n]["std_error"] for n in names])
    close([(p[n]["high"] - p[n]["low"])/2/p[n]["std_error"] for n in names], level_t)
    R = np.array([[o["correlations"][list(p).index(a)][list(p).index(b)] for a in names] for b in names])
    assert np.abs(R - C/np.outer(e, e)).max() < 1e-7 and (R == R.T).all()
    close(o["deviation"], np.sqrt(rss/f))
    m = (w*y).sum()/w.sum()
    close(o["r2"], 1 - rss/(w*(y - m)**2).sum())
    n, k = 40, len(names)
    if absolute:
        twice = rss + np.log(2*np.pi/w).sum()
    else:
        twice, k = n*(np.log(2*np.pi*rss/n) + 1) - np.log(w).sum(), k + 1
    close(o["aic"], twice + 2*k), close(o["bic"], twice + k*np.log(n))
    assert o["settled"] and o["notes"] == []
    return o, J, C
t95, t95_37, t90, normal = 2.0280940, 2.0261925, 1.6882977, 1.9599640    # 36 and 37 degrees of freedom
o, J, C = check("plain.json", 1 + 0*y, False, ["A", "k", "b", "C"], t95)
table = list(csv.DictReader(open("rows.csv")))
assert list(table[0]) == ["t [s]", "load", "y", "fitted", "residual", "low", "high", "prediction_low", "prediction_high"]
get = lambda n: np.array([float(r[n]) for r in table])
assert (get("t [s]") == t).all() and (get("y") == y).all()
close(get("fitted"), value(o), 1e-12), close(get("residual"), y - get("fitted"), 1e-9)
band = np.sqrt(np.einsum("ij,jk,ik->i", J, C, J))
close((get("high") - get("low"))/2, t95*band, 1e-6)
close((get("prediction_high") - get("prediction_low"))/2, t95*np.sqrt(band**2 + o["deviation"]**2), 1e-6)
root = xml.parse("fit.svg").getroot()
svg = "{http://www.w3.org/2000/svg}"
assert len(root.findall(f".//{svg}circle")) == 80    # data, residuals
assert "y" in "".join(root.itertext()) and "fitted" in "".join(root.itertext())
o, _, _ = check("sigma.json", 1/s**2, True, ["A", "k", "b", "C"], normal)
assert 0 < o["probability"] < 1 and "rss" not in o
o, _, _ = check("weights.json", s, False, ["A", "k", "b", "C"], t90)
assert o["level"] == .9 and o["validation"]["kind"] == "folds" and o["validation"]["rows"] == 40
assert o["validation"]["rms_error"] > np.sqrt(o["rss"]/s.sum())
o, _, _ = check("fixed.json", 1 + 0*y, False, ["A", "k", "b"], t95_37)
fixed = o["parameters"][3]
assert fixed["estimate"] == .45 and fixed["state"] == "fixed" and fixed["std_error"] is None
assert o["validation"]["kind"] == "holdout" and o["validation"]["rows"] == 10 and 0 < o["validation"]["rms_error"] < .2
PY

# The same from elsewhere -------------------------------------------------------------------------
printf '%s\n' "$law" >law.txt
runs t.csv @law.txt --target y --param A=1,k=1,b=1,C=0 --json
cmp -s out plain.json && good || bad "@FILE gives something else"
"$snip" fit-constants - "$law" --target y --param A=1,k=1,b=1,C=0 --json <t.csv >out 2>err
cmp -s out plain.json && good || bad "a table from standard input: $(cat err)"
gzip -c t.csv >t.csv.gz
runs t.csv.gz "$law" --target y --param A=1,k=1,b=1,C=0 --format json
cmp -s out plain.json && good || bad "a gzipped table gives something else"
runs t.csv "$law" --target y --json
checks "the same minimum without starting values" <<'PY'
import json
a, b = json.load(open("plain.json")), json.load(open("out"))
assert abs(a["rss"]/b["rss"] - 1) < 1e-9 and b["starts"] == 100
assert all(not p["start_given"] and p["start"] == 1 for p in b["parameters"])
assert b["notes"] == ["A, k, b, C: no starting value was given, so the search began as shown and at 99 drawn points"]
PY
runs t.csv "$law" --target y --seed 9 --json
checks "another seed" <<'PY'
import json
a, b = json.load(open("plain.json")), json.load(open("out"))
assert abs(a["rss"]/b["rss"] - 1) < 1e-9
PY

# What people read --------------------------------------------------------------------------------
printf 'x,y\n1,2.9\n2,5.3\n3,6.8\n4.5,10.2\n5,10.7\n6,13.4\n7.25,15.1\n8,17.6\n9,18.7\n10,21.2\n11,23.5\n13,26.6\n' >l.csv
runs l.csv 'p + q*x'
shows '^formula  p \+ q\*x$'
shows '^fitted   1\.047 \+ 1\.9992\*x$'
shows '^parameter +estimate +std\. error +95 % from +to +t +start$'
shows '^p +1\.0470125 +0\.23389 +0\.525876 +1\.56815 +4\.477 +1$'
shows '^q +-0\.88103$'
shows '^residual sum of squares +1\.4690678$'
shows '^residual standard deviation +0\.3832842$'
shows '^degrees of freedom +10 \(12 rows\)$'
shows '^AIC, BIC +14\.8512, 16\.3059$'
runs l.csv 'p + q*x' --bounds q=0:1.5
shows '^q +1\.5 +- +- +- +- +1 +at upper bound$'
runs l.csv 'p + r + q*x'
shows '^note: p and r cannot be told apart from these data$'
shows '^r +1 .* undetermined$'
runs l.csv '1 + 2.0*x'
shows '^c1 +2\.00'
grep -q '^c2' out && bad "a whole number is fitted: $(cat out)" || good
runs l.csv '1 + 2.0*x + k' --numbers fixed
shows '^fitted   1 \+ 2\.0\*x [-+]'
runs l.csv '1 + 2*x' --numbers all
shows '^c2 +1\.9991956'
runs l.csv 'a*x^k' --param a=2,k=1 --json --format csv # the last of both counts
[ "$(head -1 out)" = 'parameter,estimate,std_error,low,high,t,start,state' ] && [ "$(wc -l <out)" -eq 3 ] && good ||
    bad "CSV: $(cat out)"
runs l.csv 'p - q*x' --format sympy
grep -qE '^1\.047012508947[0-9]* \+ 1\.9991956099[0-9]*\*x$' out && good || bad "sympy: $(cat out)"
runs l.csv 'p + q*x^2 - r*log(x)' --format c
gcc -std=gnu17 -Wall -Wextra -Werror -c -x c -o c.o out 2>err && good || bad "C: $(cat err)"
runs l.csv 'p_1 + q*x' --format latex
{ grep -q '^\\\[ \\mathrm{y} = 1\.047 + 1\.9992' out && grep -q 'mathrm{p\\_1}' out && [ "$(tail -1 out)" = '\end{tabular}' ]; } && good ||
    bad "LaTeX: $(cat out)"
runs l.csv 'a*exp(-(x - x0)^2/w^2)' --param x0=12,a=20,w=5 # x0 is a name, not the first column
shows '^x0 +1[0-9]\.'
printf '1 2\n2 4.1\n3 5.9\n' >plain.txt
runs plain.txt 'a*x0 + b'
shows '^a +1\.95 '
runs plain.txt 'a*x0 + x7' --param x7=1
shows '^x7 +0\.1 '
printf 'name,x,y\nfoo,1,2\nbar,2,4\nbaz,3,7\n' >words.csv # text where nobody looks
runs words.csv 'a*x + b'
printf 'x,y\n1,2\n2,\n3,5.9\n4,8.1\n' >gap.csv
"$snip" fit-constants gap.csv 'a*x' --drop-nan >out 2>err
{ shows '^degrees of freedom +2 \(3 rows\)$' && [ "$(cat err)" = 'snip fit-constants: 1 row with missing or non-finite cells left out' ]; } ||
    bad "--drop-nan: $(cat err)"
runs gap.csv 'a*x' --drop-nan --quiet --holdout .34
shows '^1 row held out +RMS'
printf 'x,y\n1,2\n' >one.csv
runs one.csv 'a*x'
shows '^degrees of freedom +0 \(1 row\)$'
refuses 1 '1 row cannot be divided into 2 parts' one.csv 'a*x' --folds 2
"$snip" fit-constants l.csv 'p + q*X' >out 2>err
grep -q "^snip fit-constants: X is taken for a parameter; the table has a column 'x'$" err && good || bad "no word on X: $(cat err)"
"$snip" fit-constants l.csv 'p·X' >out 2>err # a dot is no part of a name
{ shows '^X ' && grep -q '^snip fit-constants: the formula uses no column of the table$' err; } && good ||
    bad "no word on a law without columns: $(cat out err)"
runs l.csv 'p·x² + q×x + 2π'
shows '^fitted +.*\*x\^2 \+ .*\*x \+ 2\*pi$'
"$snip" fit-constants l.csv 'E*x + b' >out 2>err
grep -q 'e is 2.71828' err && good || bad "no word on E: $(cat err)"
printf 'x,y,s\n1,2,.1\n2,3.9,.2\n3,6,.1\n' >s.csv # the target is the last that is no sigma
runs s.csv 'a*x + b' --sigma s --svg s.svg
shows '^chi-square +0\.22222222, probability 0\.6374$'
[ "$(grep -c 'class="e"' s.svg)" -eq 6 ] && good || bad "bars of sigma: $(grep -c 'class="e"' s.svg)"
printf 'a\033[31mb,y<&\n1,2\n2,3\n3,5\n' >escape.csv
runs escape.csv "$(printf '\r')k*\`a?[31mb\` + c" --svg escape.svg
grep -q "$(printf '[\033\r]')" out escape.svg && bad "a terminal's commands are passed on" || good
checks "the picture is XML" <<'PY'
import xml.etree.ElementTree as xml
assert "y<&" in "".join(xml.parse("escape.svg").getroot().itertext())
PY
for t in 'l.csv p+q*x' 't.csv a*load+b*dy' 'plain.txt a'; do # one input, two, none
    [ "${t% *}" = t.csv ] && target='--target y' || target=
    runs ${t% *} ${t#* } $target --svg all.svg --quiet
    grep -qE 'nan|inf' all.svg && bad "$t: numbers in the picture" || good
done

# Wrong calls -------------------------------------------------------------------------------------
refuses 2 'wants a table and a formula' l.csv
refuses 2 'wants a table and a formula' l.csv a b
refuses 2 'cannot both come from standard input' - -
refuses 2 'unknown option --frob' l.csv 'a*x' --frob
refuses 2 '--level wants a number between 0 and 1' l.csv 'a*x' --level 95
refuses 2 '--holdout wants a share' l.csv 'a*x' --holdout 1
refuses 2 '--holdout wants a share' l.csv 'a*x' --holdout some
refuses 2 '--folds wants 2 or more' l.csv 'a*x' --folds 1
refuses 2 '--holdout and --folds exclude' l.csv 'a*x' --folds 3 --holdout .3
refuses 2 '--sigma and --weights exclude' s.csv 'a*x' --sigma s --weights s
refuses 2 '--numbers wants one of' l.csv 'a*x' --numbers some
refuses 2 "--param a: wants a finite number, not 'nan'" l.csv 'a*x' --param a=nan
refuses 2 "--param a: wants a finite number, not '1e999'" l.csv 'a*x' --param a=1e999 --out left
refuses 2 "--param a: wants a finite number, not ''" l.csv 'a*x' --param a
refuses 2 "'=3' does not begin with a parameter's name" l.csv 'a*x' --param =3
refuses 2 'a is given twice' l.csv 'a*x' --param a=1 --param a=2
refuses 2 'fix b: at which value' l.csv 'a*x + b' --fix b
refuses 2 '--bounds a: 3 is not below 1' l.csv 'a*x' --bounds a=3:1
refuses 2 '--bounds a: wants LOW:HIGH' l.csv 'a*x' --bounds a=3
refuses 2 '--bounds a: wants LOW:HIGH' l.csv 'a*x' --bounds a=:
refuses 2 '--bounds a: it is fixed' l.csv 'a*x + b' --bounds a=0: --fix a=1
refuses 1 'a starts at 2, outside its bounds 0 to 1' l.csv 'a*x' --bounds a=0:1 --param a=2
refuses 1 "'x' is a column of the table" l.csv 'a*x' --param x=1
refuses 1 "'sin' is an operator" l.csv 'a*x' --param sin=1
refuses 1 "'pi' is an operator or a constant" l.csv 'a*x' --fix pi=3
refuses 1 "'a b' cannot be the name" l.csv 'a*x' --param 'a b=1'
refuses 1 "the formula has no parameter 'q'; it has a, b" l.csv 'a*x + b' --param q=1
refuses 1 'the formula has no parameters to fit' l.csv 'x + 1' --svg left.svg
refuses 1 'no parameters to fit: all are fixed' l.csv 'a*x' --fix a=1 --out left
printf 'x,y\n1,2\n' >row.csv
refuses 1 '2 parameters cannot be fitted to 1 row' row.csv 'a*x + b' --out left
refuses 1 "there is no column 'z' (--sigma)" l.csv 'a*x' --sigma z
refuses 1 "there is no column 'z' (--weights)" l.csv 'a*x' --weights z
refuses 1 "there is no column 'z' (--target)" l.csv 'a*x' --target z
refuses 1 "unknown name 'zz'" l.csv 'a*`zz`' # in quotes it can only be a column
refuses 1 "there is no column 'x7'" plain.txt 'a*x7'
refuses 1 "'y' is the target, so it cannot be in the formula" l.csv 'a*y'
refuses 1 "'y' cannot be the target and its sigma" l.csv 'a*x' --target y --sigma y
refuses 1 "line 2, column 'name': 'foo' is not a number" words.csv 'a*name + b*x' --svg left.svg
refuses 1 "line 3, column 'y': empty cell" gap.csv 'a*x'
printf 'x,y,s\n1,2,.1\n2,3.9,0\n3,6,.1\n' >zero.csv
refuses 1 'row 2: a sigma of 0; it must be above 0' zero.csv 'a*x' --sigma s --out left
sed 's/,0$/,-1/' zero.csv >minus.csv
refuses 1 'row 2: a sigma of -1' minus.csv 'a*x' --sigma s
refuses 1 'row 2: a weight of -1; it must be 0 or more' minus.csv 'a*x' --weights s
runs zero.csv 'a*x' --weights s
shows '^degrees of freedom +1 \(2 rows\)$'
refuses 1 'not finite at the starting values in 12 of 12 rows' l.csv 'a*log(-x)' --svg left.svg --out left.csv
printf 'x,y\n1,1e200\n2,2e200\n' >huge.csv
refuses 1 'the target.s squares are too large' huge.csv 'a*x'
refuses 1 '12 rows cannot be divided into 20 parts' l.csv 'a*x' --folds 20
refuses 1 'holds out 12 of 12 rows' l.csv 'a*x + b' --holdout .99
refuses 1 '2 parameters cannot be fitted to 1 row' l.csv 'a*x + b' --holdout .9
refuses 1 "byte 2: unknown function 'foo'" l.csv 'a*foo(x)'
refuses 1 'byte 3: function .sin. needs' l.csv 'sin*x'
refuses 1 'the formula is empty' l.csv ''
refuses 1 'No such file' missing.csv 'a*x'
refuses 1 'No such file' l.csv @missing.txt
refuses 1 'is a directory' . 'a*x'
refuses 1 'zero byte' /bin/sh 'a*x'
refuses 1 'cannot write: No such file' l.csv 'a*x' --svg no/such/file
refuses 1 'cannot write: Is a directory' l.csv 'a*x' --out .
refuses 1 'more than 10000 nodes' l.csv "x$(printf '%0.s+a' $(seq 10000))"
echo precious >kept
"$snip" fit-constants l.csv 'a*log(-x)' --out kept >/dev/null 2>&1
[ "$(cat kept)" = precious ] && [ ! -e kept.tmp ] && good || bad "an older file is spoilt"
if [ -e /dev/full ]; then
    "$snip" fit-constants l.csv 'a*x' >/dev/full 2>err; code=$?
    { [ $code -eq 1 ] && grep -q 'cannot write' err; } && good || bad "a full disk: $code, $(cat err)"
fi

finish
