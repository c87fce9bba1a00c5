#!/usr/bin/env bash
# What a hostile or unlucky user meets: files without end, little memory, full disks, odd names. Every
# answer comes within seconds, is one sentence, and leaves nothing behind.
# bounds.sh PROGRAM [LIBRARY], the latter made of fail_product.c
set -u
. "$(dirname "$0")/judge.sh"
shim=${2:+$(realpath "$2")}
start "$1"

# soon COMMAND...: takes the place of a subshell. 20 seconds of a core are enough; a busy machine takes longer.
soon() { ulimit -t 20; exec timeout -s KILL 300 "$@"; }

# within KB: no more address space than that. Sanitizers map terabytes for themselves: with them nothing is
# bounded, and only the answers are judged.
(ulimit -v 4000000; "$snip" --version) >/dev/null 2>&1 && limits=yes || limits=
within() { [ -z "$limits" ] || ulimit -v "$1"; }

# refuses PATTERN ARGUMENTS...: exit status 1 soon, one line that holds PATTERN. `space` is the address space
# in kB that it may use.
space=unlimited
refuses() {
    local pattern=$1; shift
    (within "$space"; soon "$snip" "$@") >out 2>err; local code=$?
    if [ $code -ne 1 ]; then bad "$* exits $code: $(head -c 300 err)"
    elif [ -s out ]; then bad "$* prints on standard output: $(head -c 100 out)"
    elif [ "$(wc -l <err)" -ne 1 ]; then bad "$* says $(wc -l <err) lines: $(head -c 300 err)"
    elif ! grep -q -- "$pattern" err; then bad "$* says '$(cat err)', expected '$pattern'"
    elif compgen -G '*.tmp' >/dev/null; then bad "$* leaves $(echo *.tmp)"; rm -f ./*.tmp
    else good; fi
}

# shows PATTERN ARGUMENTS...: it succeeds and prints PATTERN.
shows() {
    local pattern=$1; shift
    (soon "$snip" "$@") >out 2>err </dev/null; local code=$?
    if [ $code -ne 0 ]; then bad "$* exits $code: $(head -c 300 err)"
    elif ! grep -q -- "$pattern" out; then bad "$* does not print '$pattern': $(head -c 300 out)"
    else good; fi
}

"$snip" train --preset tiny --set statistics=yes --set points=0 --set layers=1 --set hidden=16 \
    --set d=16 --set heads=2 --set ff=16 --set latent=8 --set channels=2 --set levels=4 \
    --batch-size 8 --warmup 1 --steps 2 --quiet --out model >/dev/null || exit 1
export SNIP_MODEL=$work/model/model.safetensors
awk 'BEGIN { srand(7); print "a,b,y"
    for (i = 0; i < 60; i++) { a = 1 + 4*rand(); b = rand() - .5
        printf "%.17g,%.17g,%.17g\n", a, b, 2.5*sin(a) + b*b + .001*rand() } }' >t.csv

# Files without end --------------------------------------------------------------------------------
# With 1.5 GB of address space: what is refused is refused before it fills the machine.
space=1500000
refuses 'zero byte' calc @/dev/zero t.csv
refuses 'zero byte' calc a /dev/zero
refuses 'zero byte' rank /dev/zero --formula a
refuses 'zero byte' rank t.csv /dev/zero
refuses 'zero byte' index add lib.db /dev/zero
refuses 'larger than 16 MB' calc @<(yes 'a+') t.csv
refuses 'larger than 16 MB' calc - t.csv < <(yes 'a+')
refuses 'larger than 64 MB (--max-table)' calc a <(yes 1,2) --max-table 64
refuses 'larger than 64 MB (--max-table)' rank <(yes 1,2) --formula x0 --max-table 64
refuses 'larger than 256 MB' rank t.csv <(yes 'a + a + a + a + a + a + a + a + a')
refuses 'more than 10000000 lines' rank t.csv <(yes a | head -c 40000000)
refuses 'more than 1000000 lines' index add lib.db <(yes x0 | head -c 4000000)
# 50 MB of numbers in 48 kB; the memory that it may take is its text's and 8 bytes a number.
yes 1,2 | head -c 50000000 | gzip >small.csv.gz
refuses 'takes 239 MB of memory, more than 100 (--max-table)' calc x0 small.csv.gz --max-table 100
# 300 MB of the same number in 290 kB: more than 1000 to 1.
yes 1,2 | head -c 300000000 | gzip >bomb.csv.gz
refuses 'unpacks to more than 250 times its size' calc x0 bomb.csv.gz
refuses 'unpacks to more than 250 times its size' calc x0 - <bomb.csv.gz
space=unlimited
refuses 'larger than 1 GB (--max-table)' calc a <(yes 1,2)
# A table may be as large as it is in fact: blank lines and columns that are not used cost nothing.
{ seq -s, 1 2000 | sed 's/\([0-9]*\)/c\1/g'; yes '' | head -n 2000000; seq -s, 1 2000; } >sparse.csv
shows '^7\.0$' calc c7 sparse.csv --max-table 32
{ echo a,b; seq 1 100000 | sed 's/.*/"&","text"/'; } >quoted.csv
(within 400000; OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$snip" calc a quoted.csv --columns a | tail -n 1 | grep -qx 100000.0) && good ||
    bad "a column beside quoted text"

# One number whose square is too large for a double is refused wherever it stands -------------------------
for row in 0 3 4 11 19; do
    awk -v row=$row 'BEGIN { print "x,y"; for (i = 0; i < 20; i++) print i "," (i == row ? 1e200 : 2*i) }' >huge.csv
    refuses "huge.csv: the target's squares are too large: take another unit" rank huge.csv --formula '2.0*x' --seed $row
done

# Files of another kind ----------------------------------------------------------------------------
printf 'a\rb\r' >cr.txt
refuses 'cr.txt: its lines end with CR alone' rank t.csv cr.txt
refuses 'cr.txt: its lines end with CR alone' index add lib.db cr.txt
printf 'a + b\r' >one.txt
shows '2' calc @one.txt t.csv
printf '\xff\xfe\0\0a\0\0\0' >wide.txt
refuses 'wide.txt: is UTF-32' calc @wide.txt t.csv
gzip <t.csv >twice.csv.gz
tail -n +2 t.csv | gzip >>twice.csv.gz
[ "$("$snip" calc a twice.csv.gz | wc -l)" -eq 120 ] && good || bad "two compressed blocks are not read"
cp twice.csv.gz padded.csv.gz
head -c 100000 /dev/zero >>padded.csv.gz
[ "$("$snip" calc a padded.csv.gz | wc -l)" -eq 120 ] && good || bad "zeros behind a .gz"
{ cat twice.csv.gz; echo 5,6,7; } >garbage.csv.gz
refuses 'garbage.csv.gz: holds something else behind its compressed data' calc a garbage.csv.gz
{ cat padded.csv.gz; echo 5,6,7; } >late.csv.gz
refuses 'late.csv.gz: holds something else' calc a late.csv.gz
refuses 'cut off' calc a <(head -c -3 twice.csv.gz)

# The last one of --json and --format counts ---------------------------------------------------------
shows '^Complexity,' rank t.csv --formula a --json --format csv
shows '^{"rows_train"' rank t.csv --formula a --format csv --json
shows 'R2 train' rank t.csv --formula a --json --format table

# Names that would steer a terminal ------------------------------------------------------------------
# calm ARGUMENTS...: no control character but the ends of lines and tabs in what it prints.
calm() {
    timeout 60 "$snip" "$@" >out 2>err </dev/null; local code=$?
    if [ $code -gt 1 ]; then bad "$* exits $code: $(head -c 300 err)"
    elif ! grep -q '31mb' out err; then bad "$* does not print the name: $(cat err)"
    elif LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' out err; then bad "$* steers the terminal"
    else good; fi
}
python3 - <<'PY'
import math
with open("steer.csv", "w") as f:
    f.write('a\x1b[31mb,"c\tc\x9b31mb\x7f",y\n')
    for i in range(20):
        f.write(f"{i},{math.sin(i)},{2*i + math.cos(i)}\n")
PY
for format in table csv json latex sympy; do
    calm rank steer.csv --formula 'x0 + 2.5*x1' --format $format
done
calm explain steer.csv 'x0 + 2.5*x1'
calm calc q steer.csv
calm calc $'a\033[31mb(' t.csv
calm edits 'x0*x1' --table steer.csv
sed 's/^[^,]*,/7,/; 1s/^7/a\x1b[31mb/' steer.csv >still.csv
calm rank still.csv --formula x1
"$snip" index build --count 20 -o steer.db -q >/dev/null 2>err || bad "$(cat err)"
printf 'e\033[31mb\t2*x0 + 7\nfoo\033[31mb(\n' >own.txt
calm index add steer.db own.txt
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("steer.db")
db.execute("UPDATE formulas SET name = 'e\x1b[31mb'")
db.commit()
PY
calm find --formula 'x0 + 1' --index steer.db -k 30
printf 'a\033[31mb\tg\tu*`w\033[31mb`\tu=0:1 w\033[31mb=1:2\trange\t-\n' >steer.tsv
calm corpora --file steer.tsv
calm corpora --file steer.tsv --sample $'a\033[31mb'
calm embed --formulas own.txt --skip-bad -o rows.npy
python3 - <<'PY'
import json, struct
raw = open("model/model.safetensors", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + n])
head["__metadata__"]["a\x1b[31mb"] = "c\x9b31mb"
text = json.dumps(head).encode()
open("steer.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
PY
calm info steer.safetensors

# What cannot be written is told before the work begins ----------------------------------------------
# With these settings the work would take hours.
mkdir -p taken/results.json page/report.html
touch file
refuses 'file: cannot make this folder: Not a directory' evaluate --model "$SNIP_MODEL" --pairs 10000000 --out file -q
refuses 'file: cannot make this folder: Not a directory' evaluate --model "$SNIP_MODEL" --pairs 10000000 --dump file -q
refuses 'taken/results.json: cannot write: Is a directory' evaluate --model "$SNIP_MODEL" --pairs 10000000 --out taken -q
refuses 'page/report.html: cannot write: Is a directory' evaluate --model "$SNIP_MODEL" --pairs 10000000 --out page -q
seq 1 3000 | sed 's/.*/&.5*sin(&*a + 1.5) + &.1*exp(b)/' >many.txt
for out in nope/x taken; do
    refuses "$out: cannot write: " rank t.csv many.txt --starts 1000 -o $out
    refuses "$out: cannot write: " find t.csv --index steer.db --refit -k 30 --starts 1000 -o $out
    refuses "$out: cannot write: " explain t.csv 'sin(a) + 2.5*b' --try 100000 --svg $out
done
[ "$(ls -A taken)" = results.json ] && good || bad "something was left in $(ls taken)"
# A pipe is opened once, for all that there is to read.
mkfifo pipe
"$snip" rank t.csv --formula a -o pipe & cat pipe >got; wait $!
grep -q 'R2 train' got && good || bad "a pipe was closed before the results came"

# Files that may not grow: a message, nothing half written, and the results all the same -------------
# grows SIZE PATTERN ARGUMENTS...: with files of at most SIZE kB it fails with a line that holds PATTERN.
grows() {
    local size=$1 pattern=$2; shift 2
    # What it prints goes through a pipe, which has no limit.
    { (ulimit -f "$size"; timeout 60 "$snip" "$@"; echo $? >&3) 2>&4 | cat >out; } 3>code 4>err
    if [ "$(cat code)" != 1 ]; then bad "$* exits $(cat code) under ulimit -f: $(head -c 300 err)"
    elif ! grep -q -- "$pattern" err; then bad "$* says '$(cat err)', expected '$pattern'"
    elif [ -n "$(find . -name '*.tmp')" ]; then bad "$* leaves $(find . -name '*.tmp')"; find . -name '*.tmp' -delete
    else good; fi
}
head -n 300 many.txt >some.txt
grows 8 'ranked.csv: cannot write: File too large; the results go to standard output' rank t.csv some.txt \
    --as-given --format csv -o ranked.csv
{ [ "$(wc -l <out)" -eq 301 ] && [ ! -e ranked.csv ]; } && good || bad "the ranking is lost"
echo old >ranked.csv
grows 8 'cannot write' rank t.csv some.txt --as-given --format csv -o ranked.csv
[ "$(cat ranked.csv)" = old ] && good || bad "the old file is gone"
grows 1 'e/results.json: cannot write: File too large; the results go to standard output' evaluate \
    --model "$SNIP_MODEL" --suite global --pairs 50 --out e -q
{ grep -q '^{.*"suites":{"global"' out && [ -z "$(ls e)" ]; } && good || bad "the evaluation is lost: $(ls e)"
grows 1 'e.svg: cannot write: File too large' explain t.csv 'sin(a) + 2.5*b*cos(b + a)' --svg e.svg
grep -q '^verdict' out && [ ! -e e.svg ] && good || bad "the explanation is lost"
sed 's/a/x0/; s/(b)/(x1)/' some.txt >inputs.txt
 grows 2 'rows.npy: cannot write: File too large' embed --formulas inputs.txt -o rows.npy
grows 4 'packed: cannot write: File too large' pack "$SNIP_MODEL" -o packed
[ -e packed ] && bad "a part of a model is left" || good
cp steer.db grown.db; cp steer.db.vectors grown.db.vectors
grows 40 'cannot write: File too large\|disk is full\|disk I/O error' index build --count 20000 -o grown.db -q
shows 'database and vectors are whole' index info grown.db --check

# Little memory: the right answer or "out of memory", and an end --------------------------------------
if [ -n "$limits" ]; then
    "$snip" rank t.csv --formula 'sin(a)*2.0' >right
    "$snip" calc 'sin(a)*2.0' t.csv >values
    for size in $(seq 56000 4000 200000); do
        for threads in 0 2; do
            (ulimit -v "$size"; soon "$snip" rank t.csv --formula 'sin(a)*2.0' --threads $threads) >out 2>err
            code=$?
            if [ $code -eq 127 ]; then continue # not even the libraries could be loaded
            elif [ $code -eq 0 ]; then cmp -s right out && good || bad "rank is wrong under ulimit -v $size: $(cat out)"
            elif [ $code -eq 1 ] && [ "$(cat err)" = 'snip rank: out of memory' ]; then good
            else bad "rank under ulimit -v $size exits $code: $(cat err)"; fi
        done
        (ulimit -v "$size"; soon "$snip" calc 'sin(a)*2.0' t.csv) >out 2>err
        code=$?
        { [ $code -eq 127 ] || { [ $code -eq 0 ] && cmp -s values out; }; } && good ||
            bad "calc under ulimit -v $size exits $code: $(cat err)"
    done
    "$snip" index build --count 20 -o little.db -q >/dev/null 2>err || bad "$(cat err)"
    # little ARGUMENTS...: another command under the same limits.
    little() {
        "$snip" "$@" >whole 2>err || bad "$* fails: $(head -c 300 err)"
        for size in 80000 100000 120000 140000 160000; do
            (ulimit -v "$size"; soon "$snip" "$@") >out 2>err; code=$?
            { [ $code -eq 127 ] || { [ $code -eq 0 ] && cmp -s whole out; } ||
                { [ $code -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q '^snip .*: out of memory$' err; }; } && good ||
                bad "$* under ulimit -v $size exits $code: $(head -c 300 err)"
        done
    }
    little explain t.csv 'cos(a)*2.0'
    little find t.csv --top 2 --columns a
    little find t.csv --index little.db --refit -k 5
    little find --formula 'x0 + 1' --index little.db
    little fit-constants t.csv 'A*sin(a) + c'
    little embed --table t.csv -o little.npy
    little index info little.db --check
    for size in $(seq 104000 4000 136000); do # training, where oneDNN used to crash
        (ulimit -v "$size"; soon "$snip" train --preset tiny --steps 2 --batch-size 4 \
            --threads 1 --quiet --overwrite --out little) >out 2>err
        code=$?
        { [ $code -eq 127 ] || [ $code -eq 0 ] ||
            { [ $code -eq 1 ] && [ "$(cat err)" = 'snip train: out of memory' ]; }; } && good ||
            bad "train under ulimit -v $size exits $code: $(cat err)"
    done
    (ulimit -v 400000; "$snip" rank t.csv --formula 'sin(a)*2.0') >out 2>&1
    cmp -s right out && good || bad "rank does not work in 400 MB: $(cat out)"
fi

# More constants than rows: never first by balance, and a note says so --------------------------------
printf 'x,y\n1,3\n2,1\n3,4\n4,1\n5,5\n' >five.csv
many='1.0+2.0*x+3.0*x^2+4.0*x^3+0.5*sin(1.1*x)'
shows '^   1 .* 5      2     \*  0.4\*x + 1.6' rank five.csv --formula "$many" --formula '1.0*x+2.0' --by balance
grep -q '^1 of them has no fewer constants than rows to fit them on; number 2: 6 on 5 rows' out && good ||
    bad "no note on constants: $(cat out)"
shows ',constants,' rank five.csv --formula "$many" --format csv
shows '"constants":6' rank five.csv --formula "$many" --json
shows '  6  ' rank five.csv --formula "$many" --as-given
grep -q 'no fewer constants' out && bad "constants that were not fitted are counted" || good

# Constants that are one too many are merged, and what is left is spelled as textbooks do -----------------
for law in '7363.9/(101.62 + exp(7.2394 - 0.067359*x))' '50.0/(1 + exp(2.0 - 0.1*x))'; do
    shows ' 8      3     \*  72\.5/(1 + exp(2\.62 - 0\.0674\*x))$' rank "$here/nist/Rat42.csv" --formula "$law"
done

# What a table prints is what was fitted -------------------------------------------------------------
cancels='(1e8*a+1.123456789e14) - 1e8*a - 112345678900000.12 + 2.0*b'
shows '112345678900000.1 + 2' rank t.csv --formula a --formula "$cancels" --as-given
grep -q '^1 of them needs more than 12 digits to be the same; number [12]: 16. Large terms cancel there$' out && good ||
    bad "no note on cancellation: $(cat out)"
for by in table latex; do
    "$snip" rank t.csv --formula '1.1*a + 1.0*sin(2.0*a + 0.1) + 0.2*b - 1.0/(a + 3.0)' --format $by >out
    if [ $by = table ]; then printed=$(sed -n '2s/^.*\*  //p' out); else printed=$(sed -n '5s/.*\$\(.*\)\$.*/\1/p' out); fi
    "$snip" rank t.csv --formula "$printed" --as-given --json >again
    all=$("$snip" rank t.csv --formula '1.1*a + 1.0*sin(2.0*a + 0.1) + 0.2*b - 1.0/(a + 3.0)' --format sympy)
    "$snip" rank t.csv --formula "$all" --as-given --json >first
    python3 - <<'PY' && good || bad "what is printed ($by) has another loss: $printed"
import json
one, two = (json.load(open(f))["candidates"][0] for f in ("first", "again"))
for key in ("loss_train", "loss_val"):
    assert abs(one[key] - two[key]) <= .01*one[key], key
PY
done

# A matrix product that fails is "out of memory", whichever it is --------------------------------------
# fails WHAT FOLDER MOST ARGUMENTS...: with the n-th product failing it says so, for all n that there are; it ends
# well, with the right answer, once n is beyond the last. At most MOST values of n are tried, more and more apart.
fails() {
    local what=$1 folder=$2 most=$3 n=1 tried=0 code; shift 3
    while [ $tried -lt "$most" ]; do
        rm -rf "$folder"
        LD_PRELOAD=$shim SNIP_FAIL_PRODUCT=$n timeout -s KILL 60 "$snip" "$@" >out 2>err </dev/null
        code=$?
        if [ $code -eq 0 ]; then
            [ $n -gt 3 ] && cmp -s out "$what" && { good; return; }
            bad "$* with product $n failing gives another answer: $(head -c 200 out)"; return
        fi
        [ $code -eq 1 ] && grep -q 'out of memory' err && [ "$(wc -l <err)" -eq 1 ] ||
            { bad "$* with product $n failing exits $code: $(head -c 300 err)"; return; }
        tried=$((tried + 1)) n=$((n + 1 + tried / 30 * n / 8))
    done
    bad "$* makes no end of products"
}
if [ -n "$shim" ] && LD_PRELOAD=$shim "$snip" --version >/dev/null 2>&1; then
    candidate='sin(a)*2.0 + b'
    "$snip" rank t.csv --formula "$candidate" --threads 1 >want_rank
    fails want_rank none 200 rank t.csv --formula "$candidate" --threads 1
    "$snip" explain t.csv "$candidate" --threads 1 >want_explain
    fails want_explain none 200 explain t.csv "$candidate" --threads 1
    "$snip" embed --table t.csv -o some.npy --threads 1 >want_embed
    fails want_embed some.npy 200 embed --table t.csv -o some.npy --threads 1
    for more in 'optimizer=adam' 'optimizer=muon --set points=8'; do
        set -- train --preset tiny --set layers=1 --set hidden=16 --set d=16 --set heads=2 --set ff=16 --set latent=8 \
            --set channels=2 --set levels=4 --set statistics=yes --batch-size 4 --warmup 1 --steps 2 --threads 1 --quiet \
            --out trained --set $more
        rm -rf trained; "$snip" "$@" >want_train 2>err || bad "$* fails: $(cat err)"
        fails want_train trained 400 "$@"
    done
    # A suite that fails is said, and the others go on.
    LD_PRELOAD=$shim SNIP_FAIL_PRODUCT=9 "$snip" evaluate --model "$SNIP_MODEL" --suite global --pairs 40 --out e2 \
        --threads 1 -q >out 2>err
    { [ $? -eq 1 ] && grep -q 'suite global: out of memory' err; } && good || bad "evaluate with a failing product: $(cat err)"
fi

finish
