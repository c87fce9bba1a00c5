#!/usr/bin/env bash
# `snip fit` as people use it, and as they should not: fit.sh PROGRAM
set -u
. "$(dirname "$0")/judge.sh"
start "$1"
quick=(--evals 3000 --threads 1 --no-space)

# table NAME HEADER ROWS EXPRESSIONS: rows of awk's numbers; i is the row, r() uniform in 0..1.
table() {
    { echo "$2"; awk -v n="$3" 'function r() { return rand() }
        function gauss() { return sqrt(-2 * log(1 - r())) * cos(6.283185307179586 * r()) }
        BEGIN { srand(7); OFMT = CONVFMT = "%.17g"; for (i = 1; i <= n; i++) { '"$4"' } }'; } >"$1"
}

# says EXIT_CODE PATTERN ARGUMENT...: snip fit ends so and prints such a line.
says() {
    local code=$1 pattern=$2 got; shift 2
    timeout 60 "$snip" fit "$@" >out 2>&1
    got=$?
    { [ $got -eq "$code" ] && grep -qE -- "$pattern" out; } && good ||
        bad "snip fit $* gives $got: $(tail -n 20 out)"
}

# Tables that say little, or nothing.
table noise.csv x,z,y 100 'x = r(); z = r(); print x "," z "," gauss()'
says 0 '^no formula beats the mean$' noise.csv "${quick[@]}"
grep -qE '^> +1 ' out && good || bad "pure noise: $(cat out)"
table same.csv x,y 50 'x = r(); print x "," 2.5'
says 0 '^> +1 .* 2\.5$' same.csv "${quick[@]}"
grep -q 'the target is the same in all rows' out && good || bad "a constant target: $(cat out)"
table two.csv x,y 2 'print i "," 2 * i'
says 1 'the table has 2 rows; at least 8 are needed to search' two.csv "${quick[@]}"
table eight.csv x,y 8 'print i "," 3 * i * i'
says 0 '^>.* 3\*x\^2$' eight.csv "${quick[@]}"
printf 'x,y\n' >empty.csv
says 1 'empty.csv' empty.csv "${quick[@]}"
says 1 'missing.csv: No such file' missing.csv

# Errors that are a share of y: one line says so, but not to those who have weights.
table share.csv q,d,y,w 120 'q = 1 + 4 * r(); d = .5 + 4.5 * r(); y = 9 * q / d^2 * (1 + .03 * gauss())
    print q "," d "," y "," 1 / y^2'
cut -d, -f 1-3 share.csv >bare.csv
"$snip" fit bare.csv "${quick[@]}" 2>err >out
grep -q '^snip fit: errors grow with y, and [0-9]* of 120 rows .*--weights' err && [ "$(wc -l <err)" -eq 1 ] && good ||
    bad "fit does not tell that errors grow: $(cat err)"
"$snip" fit bare.csv "${quick[@]}" --quiet 2>err >out && [ ! -s err ] && good || bad "--quiet tells: $(cat err)"
"$snip" fit share.csv --weights w --target y "${quick[@]}" 2>err >out && [ ! -s err ] && good ||
    bad "tells of weights that are there: $(cat err)"

# Columns of all kinds.
table law.csv m,v,e 200 'm = 1 + r(); v = 1 + 2 * r(); print m "," v "," m * v * v / 2'
says 0 '^>.* 0\.5\*m\*v\^2$|^>.* m\*v\^2/2$' law.csv "${quick[@]}"
awk -F, 'BEGIN { OFS = "," } { print $1, (NR > 1 ? "word" : "name"), $2, $3 }' law.csv >text.csv
says 1 "'word'|name" text.csv "${quick[@]}"
says 0 '^>.*m\*v\^2' text.csv --columns m,v "${quick[@]}"
awk -F, 'BEGIN { OFS = "," } { print $1, (NR > 1 ? $1 : "m2"), (NR > 1 ? 7 : "seven"), $2, $3 }' law.csv >equal.csv
says 0 '^>.*[ *]m\*v\^2' equal.csv "${quick[@]}"
grep -qE 'm2|seven' out && bad "columns that say nothing are used: $(cat out)" || good
echo '3 + seven*m2*v' >guess
says 0 '^>.*[ *]m\*v\^2' equal.csv --guess guess "${quick[@]}"
printf '%s\n' u,v 15,30.0 18,22.5 20,20.0 25,16.7 30,15.0 40,13.3 50,12.5 60,12.0 80,11.4 100,11.1 >lens.csv
echo '1/(0.1 - 1/u)' >guess
says 0 '^> +5 .* 1/\(0\.1 - 1/u\)$' lens.csv --guess guess "${quick[@]}" # no sign too many
awk -F, 'BEGIN { OFS = "," } { print (NR > 1 ? 7 : "seven"), (NR > 1 ? 8 : "eight"), $3 }' law.csv >flat.csv
says 0 '^> +1 ' flat.csv "${quick[@]}"
table wide.csv "$(seq -s, -f 'c%g' 60),y" 150 's = ""; for (j = 1; j <= 60; j++) {
    c[j] = r(); s = s c[j] ","; } print s 4 * c[17] - 2 * c[41]'
says 0 '^>.*c17.*c41|^>.*c41.*c17' wide.csv --evals 200000 --threads 1 --no-space
table many.csv "$(seq -s, -f 'c%g' 70),y" 20 's = ""; for (j = 1; j <= 70; j++) s = s r() ","; print s i'
says 1 '70 inputs, the most are 64' many.csv "${quick[@]}"
{ echo '"the mass","say ""v""",`e` x'; tail -n +2 law.csv; } >names.csv
says 0 'the mass' names.csv "${quick[@]}"

# What explains the rounding of a few numbers, or suits a few large ones by chance, is not selected.
printf '%s\n' u,v,f 15,30,10 18,22.5,10 20,60,15 25,37.5,15 30,15,10 40,13.3,9.98 50,12.5,10 60,20,15 80,26.7,20 \
    100,25,20 30,60,20 >lens.csv
says 0 '^> +6 .* 1/\(1/u \+ 1/v\)$' lens.csv --evals 1000000 --no-space
table digits.csv t,y 200 'printf "%.1f,%.4f\n", i / 10, sin(6.283185307179586 * i / 10 + 0.7)'
says 0 '^> .* [-0-9.]*\*?(sin|cos)\([^()]*\)$' digits.csv --evals 3000000 --no-space
table squares.csv n,y 15 'print i "," i * (i + 1) / 2' # no digit is rounded here
says 0 '^> +[67] .* 0 +' squares.csv --evals 100000 --no-space
table coulomb.csv q,p,d,F 60 'q = 1 + 4 * r(); p = 1 + 4 * r(); d = 0.5 + 4.5 * r()
    print q "," p "," d "," 9 * q * p / d^2 * (1 + 0.01 * gauss())'
says 0 '^> +8 .* [89][.0-9]*\*q\*p/d\^2$' coulomb.csv --evals 200000 --no-space

table weighted.csv q,d,y,w 60 'q = 1 + 4 * r(); d = 0.05 + 0.95 * r(); y = (9 * q / d^2 + 0.5 * q / d) * (1 + 0.003 * gauss())
    y = sprintf("%.4g", y); print q "," d "," y "," 1 / y^2'
says 0 '^> +1[01] ' weighted.csv --weights w --target y --evals 200000 --max-size 12 --no-space --operators '+,-,*,/'
grep -q 'standard deviations' out && bad "weighted rows are far off: $(cat out)" || good

# Numbers of all sizes.
table large.csv x,y 100 'x = 1 + r(); print x "," x * x * 1e300'
says 1 'too large: take another unit' large.csv "${quick[@]}"
table huge.csv x,y 100 'x = 1 + r(); print x "," x * x * 1e140'
says 0 '^> +[0-9]+ +1 +1 ' huge.csv "${quick[@]}"
table small.csv x,y 100 'x = 1e-30 * (1 + r()); print x "," 3e30 * x'
says 0 '^> +[0-9]+ +1 +1 ' small.csv "${quick[@]}"
table holes.csv x,y 60 'print i "," (i == 20 ? "inf" : i == 30 ? "nan" : 2 * i)'
says 1 'holes.csv' holes.csv "${quick[@]}"
says 0 '^>.* 2\*x$' holes.csv --drop-nan "${quick[@]}"

# Rows that lie far off are told and left out, and the law of the others is found.
table slips.csv x,y 200 'x = 0.1 + 10 * r(); y = 3 * x / (2 + x) + 0.01 * gauss()
    print x "," (i == 12 || i == 40 || i == 77 ? 500 : y)'
says 0 '^3 rows lie far off and are left out: rows 12, 40, 77$' slips.csv --evals 60000 --threads 1 --no-space
grep -qE '^> .* 1\.[45][0-9]*/\(0\.[45][0-9]* \+ 1/x\)$|^> .* [23][.0-9]*\*x/\([12][.0-9]* \+ x\)$' out && good ||
    bad "three slips: $(cat out)"
says 0 '"far_rows":\[12,40,77\]' slips.csv "${quick[@]}" --json
table missing.csv a,b,c,y 200 'a = 1 + r(); b = 1 + r(); c = 1 + r()
    print a "," b "," c "," (i % 25 == 0 ? -999 : a * b / c + 0.001 * gauss())'
says 0 '^8 rows lie far off and are left out: rows 25, 50, 75' missing.csv --evals 60000 --threads 1 --no-space
grep -qE '^> .* a\*b/c$' out && good || bad "-999 for missing: $(cat out)"
# Laws that are steep have none, with and without noise, nor have the tables of the examples.
for law in '1 / x' '2 / x ^ 2' 'exp(12 * x)' 'sin(3 * x) / cos(3 * x)' '1 / (x - 0.5)'; do
    for noise in 0 0.1; do
        table steep.csv x,y 150 "x = r(); y = $law; print x \",\" y * (1 + $noise * gauss())"
        says 0 '"far_rows":\[\]' steep.csv "${quick[@]}" --json
    done
done
# The search with suspects goes on where the one without them ended, for who watches, too.
table steep.csv x,y 150 'x = r(); print x "," (1 + 0.1 * gauss()) / x'
says 0 '^> ' steep.csv --evals 150000 --threads 1 --no-space --trace trace
awk -F'[:,]' '{ back += $2 < seconds || $4 < done; seconds = $2; done = $4 } END { exit back || NR < 3 }' trace && good ||
    bad "the trace goes back: $(cat trace)"
for name in boyle kepler misra1a pendulum puromycin; do
    says 0 '"far_rows":\[\]' "$here/../examples/$name.csv" "${quick[@]}" --json
done

# Options that are wrong.
says 2 'not a number of seconds' law.csv --time soon
says 2 'not a number of seconds' law.csv --time -1
says 2 'there is no operator' law.csv --operators +,foo
says 1 'No such file' law.csv --library missing.db --seeds values
says 1 'missing.db: No such file' law.csv --library missing.db
# A cache that cannot be written is said in one line, and the search goes on.
XDG_CACHE_HOME=/dev/null says 0 'no library in /dev/null/snip .*searching without it' law.csv \
    --evals 3000 --threads 1 --space
grep -q '^> .*0.5\*m\*v^2$' out && good || bad "without a cache: $(cat out)"
says 2 'not a size' law.csv --memory lots
says 2 'wants a table' --time 1

# The same seed and the same evaluations: the same bytes with any number of threads.
table wave.csv a,b,c,y 400 'a = r() * 4; b = 1 + r(); c = r();
    print a "," b "," c "," sin(2 * a) / (b + exp(-c)) + 0.05 * gauss()'
for n in 1 2; do
    "$snip" fit wave.csv --evals 20000 --seed 5 --no-space --threads $n --format csv >threads$n 2>/dev/null
done
{ [ -s threads1 ] && cmp -s threads1 threads2; } && good || bad "threads: $(diff threads1 threads2)"
# Without a model there is no similarity: an empty cell before the stage.
{ grep -qE ',,[a-z]+$' threads1 && ! grep -q NaN threads1; } && good || bad "cells: $(head -n 2 threads1)"

# What is reported is true of the text: losses again, from the formulas as printed.
for name in wave law eight huge small noise slips; do
    "$snip" fit $name.csv --evals 5000 --threads 1 --no-space --json >$name.json 2>/dev/null
    python3 - $name.csv $name.json <<'PYTHON' && good || bad "the errors reported for $name.csv"
import csv, json, math, sys
rows = list(csv.reader(open(sys.argv[1])))
answer = json.load(open(sys.argv[2]))
names, data = rows[0], [[float(c) for c in r] for r in rows[1:]]
data = [r for i, r in enumerate(data) if i + 1 not in answer["far_rows"]]
known = {k: getattr(math, k) for k in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh")}
known.update(asin=math.asin, acos=math.acos, atan=math.atan, Abs=abs, pi=math.pi)
mean = math.fsum(r[-1] / len(data) for r in data)
for f in answer["front"]:
    code = compile(f["sympy"], "formula", "eval")
    unit = max(abs(r[-1] - mean) for r in data)
    left = [(eval(code, known, dict(zip(names, r))) - r[-1]) / unit for r in data]
    n = answer["rows"]
    assert sum(n) == len(data), n
    told = (f["loss_train"] * n[0] + f["loss_val"] * n[1]) / unit ** 2
    mine = math.fsum(v * v for v in left)
    assert abs(told - mine) <= 1e-9 * max(told, mine) + 1e-24, (f["sympy"], told, mine)
PYTHON
done

# Time limits hold. On a machine that has other things to do the processor's time counts, too. Without
# meson's MALLOC_PERTURB_, which users do not have: here it adds a second of page faults.
table long.csv a,b,y 1000000 'a = r(); b = r(); print a "," b "," (a + b) / (1 + a * b) + 0.1 * r()'
TIMEFORMAT='%R %U %S'
{ time env -u MALLOC_PERTURB_ "$snip" fit long.csv --time 5 --threads 1 --no-space -q >out 2>&1; } 2>took ||
    bad "a million rows: $(cat out)"
grep -q '^> ' out && good || bad "a million rows: $(cat out)"
awk '{ exit !($1 <= 5.5 || $2 + $3 < 0.8 * $1) }' took && good || bad "--time 5 took $(cat took)"

# Memory: the whole process stays below --memory and the table, which is its text and 8 bytes a
# number. Too little is told with the least. A sanitizer has memory of its own, and meson's
# MALLOC_PERTURB_ writes to memory that would never be touched.
says 2 '--memory: 30M is too little, the least is 80M' wave.csv --memory 30M --no-space
truncate -s 300M large.safetensors
says 2 '--memory: 1G is too little, the least is 1[0-9]*M, less' wave.csv --model large.safetensors
table flat60.csv "$(seq -s, -f 'c%g' 60),y" 10000 's = ""; for (j = 1; j <= 60; j++) {
    c[j] = r(); s = s c[j] ","; } print s c[3] * exp(-c[1]) + c[5] / (0.2 + c[9]) + 0.01 * gauss()'
if ! grep -q __asan_init "$snip" && ! grep -q __tsan_init "$snip"; then
    env -u MALLOC_PERTURB_ python3 - "$snip" 80 wave.csv:3 flat60.csv:60 long.csv:2 wave.csv:3:200 <<'PYTHON' && good || bad "memory"
import os, resource, subprocess, sys
snip, least = sys.argv[1], int(sys.argv[2])
for word in sys.argv[3:]:
    name, columns, limit = (word.split(":") + [str(least)])[:3]
    with open(name) as f:
        rows = sum(1 for _ in f) - 1
    table = os.path.getsize(name) + 8 * rows * (int(columns) + 1)
    for threads in "1", "2":
        pid = subprocess.Popen([snip, "fit", name, "--no-space", "--evals", "150000", "--memory",
            limit + "M", "--threads", threads, "-q"], stdout=subprocess.DEVNULL)
        _, status, use = os.wait4(pid.pid, 0)
        peak, most = use.ru_maxrss << 10, (int(limit) << 20) + table
        if status or peak > most:
            sys.exit("%s, %s threads: %d MB of %d" % (word, threads, peak >> 20, most >> 20))
PYTHON
fi

# Ctrl-C: the front so far, soon. Meson's MALLOC_PERTURB_ has malloc fill what is freed: up to a second.
for try in 1 2 3; do
    env -u MALLOC_PERTURB_ "$snip" fit wave.csv --time 100 --threads 1 --no-space >out 2>&1 &
    pid=$!
    sleep 1
    begun=$(date +%s%N)
    kill -INT $pid 2>/dev/null
    wait $pid
    code=$?
    took=$((($(date +%s%N) - begun) / 1000000))
    [ $took -le 500 ] && break # a busy machine may be late once
done
{ [ $code -eq 0 ] && grep -q '^> ' out; } && good || bad "Ctrl-C gives $code: $(cat out)"
[ $took -le 500 ] && good || bad "Ctrl-C took $took ms"

# Killed at any moment, --out is whole or absent. It is first written after a second.
head=$(head -n 1 threads1)
files=0
for k in $(seq 20); do
    rm -f front.csv
    "$snip" fit wave.csv --time 3 --threads 1 --no-space --out front.csv -q 2>/dev/null &
    pid=$!
    sleep $((RANDOM % 3)).$((RANDOM % 90 + 10))
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ -e front.csv ] || { good; continue; }
    files=$((files + 1))
    { [ "$(head -n 1 front.csv)" = "$head" ] && [ "$(tail -c 1 front.csv | od -An -c | tr -d ' ')" = '\n' ] &&
        [ "$(awk -F, 'NF < 11' front.csv | wc -l)" -eq 0 ]; } && good || bad "killed: $(cat front.csv)"
done

[ $files -gt 0 ] && good || bad "killed 20 times, and never a file was there"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
