#!/usr/bin/env bash
# The program as people call it, rightly and wrongly: cli.sh PROGRAM
# A wrong call must give one line on standard error, nothing on standard output, and exit 1 or 2.
set -u
. "$(dirname "$0")/judge.sh"
start "$1"

# gives EXPECTED ARGUMENTS...: standard output is exactly EXPECTED.
gives() {
    local want=$1 got; shift
    got=$("$snip" "$@" 2>err </dev/null); local code=$?
    if [ $code -ne 0 ]; then bad "$* exits $code: $(cat err)"
    elif [ "$got" != "$want" ]; then bad "$* gives '$got', expected '$want'"
    else good; fi
}

# shows PATTERN ARGUMENTS...: it succeeds and prints PATTERN somewhere.
shows() {
    local want=$1; shift
    if ! "$snip" "$@" >out 2>err </dev/null; then bad "$* fails: $(cat err)"
    elif ! grep -q -- "$want" out; then bad "$* does not show '$want'"
    else good; fi
}

# Tables
printf 'a,b\n1,2\n3,4\n' >t.csv
printf 'a,b\r\n1,2\r\n3,4' >crlf.csv
printf '1 2\n3 4\n' >plain.txt
printf 'a,target,b\n1,2,3\n' >target.csv
gzip -c t.csv >t.csv.gz
head -c 20 t.csv.gz >cut.csv.gz
: >empty.csv
printf 'a,b\n' >header.csv
printf 'a,b\n1,2\n3\n' >ragged.csv
printf 'a,b\n1,two\n' >text.csv
printf 'a,b\n1,nan\n5,6\n' >nan.csv
{ printf 'a\n'; head -c 10485760 /dev/zero | tr '\0' 7; printf '\n'; } >longline.csv
{ head -c 10485760 /dev/zero | tr '\0' '('; } >longformula.txt
{ printf 'x0'; yes '+x0' | head -n 1000000 | tr -d '\n'; } >longsum.txt
deep=$(printf '%0.s(' $(seq 1000))x0$(printf '%0.s)' $(seq 1000))
nested=$(printf '%0.ssin(' $(seq 1000))x0$(printf '%0.s)' $(seq 1000))

# calc
gives $'3.0\n7.0' calc 'a+b' t.csv
gives $'3.0\n7.0' calc 'a+b' crlf.csv
gives $'3.0\n7.0' calc 'a+b' t.csv.gz
gives $'3.0\n7.0' calc 'add,x_0,x_1' plain.txt
gives $'0.33333333333333331\n0.42857142857142855' calc 'a/(a+b)' t.csv --json
gives $'NaN\nNaN' calc 'log(-a)' t.csv --json
gives $'Infinity\nInfinity' calc 'exp(1000*a)' t.csv --json
gives $'nan\nnan' calc '1/(a-a)' t.csv
gives $'-1.0\n-3.0' calc '-a' t.csv
gives '3.0' calc 'x1' target.csv
gives '2.0' calc 'x1' target.csv --target b
gives $'30.0' calc 'a*b' nan.csv --drop-nan
printf 'name,x,note\nfoo,1,\nbar,2,"as, ever"\n' >words.csv
gives $'1.0\n4.0' calc 'x^2' words.csv --columns x
refuses 1 "'foo' is not a number" calc 'x^2' words.csv
shows '^unary_swap' edits 'sin(x)' --table words.csv --columns x
printf ',column_a,b\n1,2,3\n2,5,6\n' >nameless.csv
"$snip" calc 'column_a*b' nameless.csv 2>err >out
{ [ "$(cat out)" = $'6.0\n30.0' ] && [ "$(grep -o 'is used as the input [a-z_0-9]*' err)" = 'is used as the input column_1' ]; } \
    && good || bad "one note about column_1: $(cat err)"
printf 'a,b\n1,2\n' | iconv -t UTF-16 >wide.csv
refuses 1 'is UTF-16; save it as UTF-8' calc a wide.csv
printf '\xEF\xBB\xBFx^2' >marked.txt
gives $'1.0\n4.0' calc @marked.txt words.csv --columns x
[ "$(printf '1 2\n3 4\n' | "$snip" calc 'x0*x1' -)" = $'2.0\n12.0' ] && good || bad "calc from standard input"
printf 'a*b\n' >formula.txt
gives $'2.0\n12.0' calc @formula.txt t.csv
refuses 1 "byte 2: unknown function 'foo': a+ >>>foo(b)" calc 'a+foo(b)' t.csv
refuses 1 "byte 0: unknown name 'c'" calc 'c' t.csv
refuses 1 'there are only 2 inputs' calc 'x7' t.csv
refuses 1 "missing for the bracket" calc '(a+b' t.csv
refuses 1 'the formula is empty' calc '' t.csv
refuses 1 'nested more than' calc "$deep" t.csv
refuses 1 'nested more than' calc "$nested" t.csv
refuses 1 'nested more than' calc @longformula.txt t.csv
refuses 1 'more than 10000 nodes' calc @longsum.txt t.csv
refuses 1 'is not a number' calc 'a' longline.csv
refuses 1 'empty.csv: the table is empty' calc 'a' empty.csv
refuses 1 'header.csv: the table has no rows' calc 'a' header.csv
refuses 1 'line 3 has 1 value, expected 2' calc 'a' ragged.csv
refuses 1 "line 2, column 'b': 'two' is not a number" calc 'a' text.csv
refuses 1 "line 2, column 'b': not a finite number" calc 'a' nan.csv
refuses 1 'cut off' calc 'a' cut.csv.gz
refuses 1 "there is no column 'z'" calc 'a' t.csv --target z
refuses 1 'No such file' calc 'a' missing.csv
refuses 1 'is a directory' calc 'a' .
refuses 1 'No such file' calc @missing.txt t.csv
refuses 1 'zero byte' calc 'a' /bin/sh
printf 'target\n1\n' >alone.csv
refuses 1 'there are no inputs' calc x0 alone.csv
refuses 1 'has no input columns' edits 5 --table alone.csv
printf 'x1,x2\n10,20\n' >shifted.csv
gives '30.0' calc 'x1+x2' shifted.csv
refuses 1 "unknown name 'x0'" calc 'x0+x1' shifted.csv
{ seq -s, 0 69999 | sed 's/\([0-9]*\)/c\1/g'; seq -s, 0 69999; } >wide.csv
gives '3000.0' calc c3000 wide.csv
refuses 1 'the largest index is 4095' calc c66000 wide.csv
refuses 1 'the largest index is 4095' edits 'c59999+c1*2' --table wide.csv
gives $'nan\nnan' calc 'sqrt(-a)' t.csv
printf 'a\xe9,b\n1,2\n2,5\n' >latin.csv
shows '"edit":"mul -> add' edits 'x0*x1' --table latin.csv --json
refuses 2 'cannot both come from standard input' calc - -
refuses 2 'takes no argument' gen $'a\nb'
refuses 2 'wants a formula and a table' calc 'a'
refuses 2 'unknown option --frob' calc 'a' t.csv --frob
refuses 2 'needs a value' calc 'a' t.csv --target
refuses 2 'takes no value' calc 'a' t.csv --json=1

# gen
shows '"prefix"' gen --count 1 --json
[ "$("$snip" gen --count 3 --json --points 5 | wc -l)" = 3 ] && good || bad "gen prints an object a line"
one=$(OMP_NUM_THREADS=1 "$snip" gen --seed 7 --count 300 --json | cksum)
two=$(OMP_NUM_THREADS=2 "$snip" gen --seed 7 --count 300 --json | cksum)
[ "$one" = "$two" ] && good || bad "gen depends on the number of threads"
one=$(OMP_NUM_THREADS=1 "$snip" gen --stats --count 2000 --json | cksum)
two=$(OMP_NUM_THREADS=2 "$snip" gen --stats --count 2000 --json | cksum)
[ "$one" = "$two" ] && good || bad "gen --stats depends on the number of threads"
[ "$("$snip" gen --first 5 --count 1 --json)" = "$("$snip" gen --count 6 --json | tail -n 1)" ] &&
    good || bad "gen --first gives another sample"
[ "$("$snip" gen --count 1 --json)" != "$("$snip" gen --count 1 --json --stream held-out)" ] &&
    good || bad "streams are the same"
[ "$("$snip" gen --count 1 --json)" != "$("$snip" gen --count 1 --json --seed 1)" ] &&
    good || bad "seeds are the same"
shows 'accepted' gen --stats --count 100

# gen --laws: the law in raw inputs and the sample that the model reads of it
shows '"law"' gen --laws --count 1 --json
"$snip" gen --count 1 --json | grep -q '"law"' && bad "gen tells of a law without --laws" || good
one=$(OMP_NUM_THREADS=1 "$snip" gen --laws --seed 7 --count 300 --json | cksum)
two=$(OMP_NUM_THREADS=2 "$snip" gen --laws --seed 7 --count 300 --json | cksum)
[ "$one" = "$two" ] && good || bad "gen --laws depends on the number of threads"
[ "$one" != "$("$snip" gen --seed 7 --count 300 --json | cksum)" ] && good || bad "gen --laws is gen"
[ "$("$snip" gen --laws --first 5 --count 1)" = "$("$snip" gen --laws --count 6 | sed -n '1p;$p')" ] &&
    good || bad "gen --laws --first gives another law"
shows 'nearly linear' gen --laws --stats --count 100
# with constants as inputs, laws have more inputs and fewer constants
"$snip" gen --laws --stats --quantities 100 --count 300 --json >all.json
"$snip" gen --laws --stats --count 300 --json >some.json
python3 - <<'PY' && good || bad "gen --quantities leaves constants"
import json
mean = lambda file, what: sum(int(k) * n for k, n in json.load(open(file))["histograms"][what].items()) / 300
assert mean("all.json", "free_constants") < 0.6 * mean("some.json", "free_constants")
assert mean("all.json", "inputs") > 1.3 * mean("some.json", "inputs")
PY
refuses 2 'quantities is for --laws' gen --quantities 10
one=$(OMP_NUM_THREADS=1 "$snip" gen --laws --stats --count 2000 --json | cksum)
two=$(OMP_NUM_THREADS=2 "$snip" gen --laws --stats --count 2000 --json | cksum)
[ "$one" = "$two" ] && good || bad "gen --laws --stats depends on the number of threads"
# The raw table gives the law's values: x_raw = mean + deviation * x.
"$snip" gen --laws --seed 3 --count 20 --points 30 --json | python3 -c '
import json, subprocess, sys
for line in sys.stdin:
    o = json.loads(line)
    rows = "\n".join(" ".join(repr(m + d * v) for m, d, v in zip(o["mean"], o["deviation"], x)) for x in o["x"])
    out = subprocess.run([sys.argv[1], "calc", o["law"], "-"], input=rows + "\n", text=True, capture_output=True)
    y = [float(v) for v in out.stdout.split()]
    assert len(y) == 30, out.stderr
    spread = max(o["y"]) - min(o["y"])
    assert max(abs(a - b) for a, b in zip(y, o["y"])) < 1e-5 * spread, o["law"]
' "$snip" && good || bad "gen --laws: the law has other values than the sample"
refuses 2 'whole number from 1 to 10' gen --dims 11
refuses 2 'whole number' gen --count -3
refuses 2 'whole number' gen --count 1e3
refuses 2 'whole number' gen --seed 99999999999999999999
refuses 2 'one of train, held-out, validation' gen --stream test
refuses 2 'takes no argument' gen 5
if [ -e /dev/full ]; then
    for option in --help --version; do
        "$snip" $option >/dev/full 2>err; code=$?
        { [ $code -eq 1 ] && grep -q 'cannot write' err; } && good || bad "$option to a full disk exits $code"
    done
    "$snip" gen --count 2000 >/dev/full 2>err; code=$?
    { [ $code -eq 1 ] && grep -q 'cannot write' err; } && good || bad "a full disk is not noticed ($code)"
fi

# tokens
shows 'N2100' tokens 'sin(x0 + 2.1*x1)'
shows '"path":\[1,2,2\]' tokens 'sin(x0 + 2.1*x1)' --json
shows 'mul,pow2,pow2,x_0,inv,x_1' tokens --normal 'x0^4/x1'
shows 'exp,mul,x_1,log,x_0' tokens --normal --assume-positive 'x0^x1'
refuses 1 "operator 'tanh' is not in the model's vocabulary" tokens 'tanh(x0)'
refuses 1 "no exact rewriting of 'floor'" tokens --normal 'floor(x0)'
refuses 1 'variable x10' tokens 'x10'
refuses 1 'tokens, the model reads at most 200' tokens "x0$(printf '%0.s+x1' $(seq 120))"
refuses 2 'wants one formula' tokens

# edits
shows 'cos(x0) - 0.5\*x1' edits 'sin(x0) - 0.5*x1'
shows '"subtree_rewriting"' edits 'a*b' --table t.csv --json
shows 'b/a' edits 'a/b' --table t.csv --family operand_reordering
shows 'subtree_rewriting' edits --pool --targets 3
refuses 1 'not finite at' edits 'log(x0)'
refuses 1 'not finite at 2 of 2 points' edits 'log(-a)' --table t.csv
refuses 1 'give their values with --table' edits 'x11 + x0'
refuses 2 'one of unary_swap' edits 'x0' --family frob
refuses 2 'no formula with --pool' edits 'x0' --pool

# corpora
shows 'feynman: 120 of 120 usable' corpora
shows 'classic: 81 of 90 usable' corpora classic
shows '"usable":14' corpora strogatz --json
shows '^sigma,theta,target' corpora --sample I.6.2
printf 'mine\tg\tsin(u)*w\tu=0:1 w=1:2\trange\t-\n' >mine.tsv
shows 'mine.tsv: 1 of 1 usable' corpora --file mine.tsv
printf 'mine\tg\tsin(u\tu=0:1\trange\t-\n' >broken.tsv
refuses 1 'line 1, byte 5' corpora --file broken.tsv
printf 'a\tg\tu\tu=0:1\trange\t-\na\tg\tsin(u)\tu=0:1\trange\t-\n' >twice.tsv
refuses 1 "line 2: there is a 'a' already" corpora --file twice.tsv
printf 'a\tg\tu\tu=0:1\trange\tb\n' >alone.tsv
refuses 1 "line 1: there is no 'b' before it" corpora --file alone.tsv
printf '\xEF\xBB\xBF# mine\na\tg\tu*w\tu=0:1 w=0:1\tu:E[0,1,0.5] w:U[0,1,9]\t-\n' >mixed.tsv
shows 'mixed.tsv: 1 of 1 usable' corpora --file mixed.tsv
refuses 1 'a design is a grid of all variables' corpora --file mixed.tsv --sampling published --sample a
refuses 2 'it takes no --json' corpora --sample I.6.2 --json
refuses 1 "there is no formula 'nobody'" corpora --sample nobody
refuses 2 "there is no corpus 'nobody'" corpora nobody

# train and info
small="--preset tiny --set d=16 --set ff=32 --set latent=16 --set channels=1 --set levels=8 --set layers=1
    --set embed=2 --set dims=3 --set points=8 --batch-size 4 --steps 160 --quiet"
shows 'done after 160 of 160 steps' train $small --out run
shows '"finished":true' train $small --out run --resume --json
shows 'stage *S5' info run/model.safetensors
shows '"samples":"640"' info run/model.safetensors --json
# Fewer threads than asked for make no difference.
OMP_THREAD_LIMIT=1 "$snip" train $small --threads 2 --out limited >/dev/null 2>&1
"$snip" train $small --threads 2 --out free >/dev/null 2>&1
loss() { grep -o '"loss":[^,]*' $1/log.jsonl | tail -n 1; }
[ -n "$(loss free)" ] && [ "$(loss limited)" = "$(loss free)" ] && good ||
    bad "OMP_THREAD_LIMIT changes the loss: $(loss limited) for $(loss free)"
# Weights to start with, float32 or float16; the file's configuration, whatever the preset's is.
begin="--preset tiny --batch-size 4 --steps 160 --quiet"
shows 'done after 160 of 160' train $begin --init run/model.safetensors --set optimizer=muon --set average=0.9 --out begun
shows '"init":"model.safetensors","init_samples":"640"' info begun/model.safetensors --json
shows 'done after 2 of 2' train --preset tiny --batch-size 4 --steps 2 --quiet --init begun/model.safetensors --out further
shows '"init_samples":"1280","init_seconds":"[0-9]' info further/model.safetensors --json # of both runs before
shows '"d":16,.*"optimizer..:..muon' info begun/model.safetensors --json
"$snip" pack run/model.safetensors -o half.safetensors >/dev/null
shows 'done after 160 of 160' train $begin --init half.safetensors --set d=16 --out begun16
refuses 2 '--set d=32: the model run/model.safetensors has d=16' train $begin --init run/model.safetensors --set d=32 --out r
refuses 2 '--set norm=post: the model run/model.safetensors has norm=pre' train $begin --init run/model.safetensors --set norm=post --out r
# Slopes may be added to given weights: they change nothing at first, then they are learned.
for steps in 2 160; do # of 2 steps the first is logged
    for extra in "" "--set slopes=yes"; do
        shows "done after $steps of $steps" train --preset tiny --batch-size 4 --steps $steps --quiet \
            --init run/model.safetensors $extra --out "${extra:+sloped}$steps"
    done
done
[ -n "$(loss 2)" ] && [ "$(loss 2)" = "$(loss sloped2)" ] && good ||
    bad "slopes change the first loss: $(loss 2), $(loss sloped2)"
[ "$(loss 160)" != "$(loss sloped160)" ] && good || bad "slopes are not learned"
# So may a surface, where there are statistics. It changes the vectors at once.
refuses 2 'surface = yes goes with slopes = yes and statistics = yes' train $begin --set surface=yes --out r
shows 'done after 160 of 160' train $begin --set statistics=yes --set slopes=yes --set points=0 --out plain
for extra in "" "--set surface=yes"; do
    shows 'done after 2 of 2' train --preset tiny --batch-size 4 --steps 2 --quiet \
        --init plain/model.safetensors $extra --out "${extra:+surface}on"
done
[ -n "$(loss on)" ] && [ -n "$(loss surfaceon)" ] && [ "$(loss on)" != "$(loss surfaceon)" ] && good ||
    bad "a surface makes no difference: $(loss on), $(loss surfaceon)"
shows '"surface":"yes"' info surfaceon/model.safetensors --json
refuses 2 '--set slopes=no: the model sloped2/model.safetensors has slopes=yes' train $begin --init sloped2/model.safetensors --set slopes=no --out r
refuses 1 'No such file' train $begin --init missing.safetensors --out r
refuses 1 'not a snip model' train $begin --init <(printf '\2\0\0\0\0\0\0\0{}') --out r
refuses 1 'holds .* tensors, the model has' train $begin --init run/state.safetensors --out r
# A run goes on with its own settings, whatever it began with; what is given must not change what was done.
shows 'done after 170 of 170' train --out begun --resume --steps 170 --quiet
shows '"d":16,.*"optimizer..:..muon' info begun/model.safetensors --json
refuses 1 'never: holds no training run to resume' train --out never --resume
for other in "--seed 3" "--stage S2" "--set average=0.5" "--batch-size 8"; do
    refuses 1 'differs from the checkpoint' train --out begun --resume $other
done
refuses 2 '--init starts a new run, --resume goes on with one' train $begin --init run/model.safetensors --resume --out run
# More points than a sample has; and what is asked for is kept.
shows 'done after 20 of 20' train $small --steps 20 --warmup 5 --set points=400 --out many
shows 'done after 20 of 20' train $small --steps 20 --warmup 5 --set first=9 --set first_points=4 --out run2
# The decay ends with the last step: after it has begun that can be moved away, not nearer.
decays="$small --warmup 5 --set schedule=constant --set decay=30"
shows 'done after 20 of 20' train $decays --steps 20 --set decay=0 --out decays
shows 'done after 40 of 40' train $decays --steps 40 --out decays --resume
shows 'done after 60 of 60' train $decays --steps 60 --out decays --resume
grep -q 'steps raised from 40 to 60: from here on the learning rate falls until the new end' err && good || bad "raised steps: $(cat err)"
refuses 1 'steps differs from the checkpoint (60, now 50)' train $decays --steps 50 --out decays --resume
refuses 2 'set it with one of them' train $decays --steps 60 --set last_batch=8 --out last
refuses 2 'set it with one of them' train $decays --steps 60 --set last=20 --out last
grep -q avx512_bf16 /proc/cpuinfo || refuses 1 "needs a processor with AMX" train $decays --steps 60 --set products=bf16 --out last
refuses 2 'last_batch is 0 or at least 2' train $decays --steps 60 --set last=20 --set last_batch=1 --out last
# Fewer steps than the warm-up: it is half of them. A run that is made longer keeps its own.
shows 'done after 10 of 10' train $small --steps 10 --out short
shows 'warmup..:5,' info short/model.safetensors --json
shows 'done after 10 of 10' train $small --steps 10 --set schedule=constant --out longer
shows 'done after 200 of 200' train $small --steps 200 --set schedule=constant --out longer --resume
shows 'warmup..:5,' info longer/model.safetensors --json
shows 'done after 20 of 20' train $small --steps 20 --out short --resume
grep -q 'steps raised from 10 to 20' err && good || bad "raised steps: $(cat err)"
refuses 1 'warmup differs from the checkpoint' train $small --steps 200 --set schedule=constant --set warmup=6 --out longer --resume
[ -s run/log.jsonl ] && [ -s run/curves.html ] && good || bad "train leaves no log or curves"
before=$(cksum run/*)
refuses 1 'holds a training run already' train $small --out run
mkdir lost; cp run/model.safetensors lost
refuses 1 'lost: holds a model already' train $small --out lost
refuses 1 'never: holds no training run to resume' train $small --out never --resume
[ ! -e never ] && good || bad "a folder is made for a run that is not there"
refuses 2 '--overwrite starts anew' train $small --out run --overwrite --resume
refuses 1 'lr differs from the checkpoint' train $small --out run --resume --lr 0.5
refuses 1 'another model configuration' train $small --out run --resume --set ff=64
[ "$before" = "$(cksum run/*)" ] && good || bad "a refused run was touched"
shows 'done after 160 of 160' train $small --seed 5 --out lost --overwrite
shows 'done after 160 of 160' train $small --seed 6 --out lost --overwrite
shows '"seed":"6"' info lost/model.safetensors --json
[ "$(grep -c '"step":160,' lost/log.jsonl)" = 1 ] && good || bad "--overwrite keeps the log of another run"
shows 'first_points..:4' info run2/model.safetensors --json
refuses 1 'holds no training run' train $small --out nothing --resume
refuses 1 'cannot make this folder' train $small --out t.csv/run
shows 'done after' train $small --out deep/er/run
refuses 2 "there is no configuration key 'frob'" train $small --out r --set frob=1
refuses 2 '2 \* channels \* levels = 8, but d = 16' train $small --out r --set levels=4
refuses 2 'd = 16 is not a multiple of heads = 3' train $small --out r --set heads=3
refuses 2 'heads is a whole number' train $small --out r --set heads=two
refuses 2 "preset wants one of paper.*not 'huge'" train --preset huge --out r
refuses 2 "stage wants one of S0.*not 'S6'" train $small --out r --stage S6
refuses 2 'leave nothing after warmup' train $small --out r --steps 10 --warmup 10
refuses 2 'needs --out' train $small
refuses 2 '--memory wants a size' train $small --out r --memory lots
[ -e r ] && bad "a wrong call left a folder" || good
"$snip" train $small --steps 100000 --set schedule=constant --out stopped 2>stopped.err >stopped.out & pid=$!
sleep 1
refuses 1 'stopped: another run is training in this folder' train $small --steps 100000 --set schedule=constant --out stopped --resume
refuses 1 'stopped: another run is training in this folder' train $small --out stopped --overwrite
kill -INT $pid; wait $pid; code=$?
{ [ $code -eq 3 ] && grep -q '^stopped after' stopped.out && [ -s stopped/state.safetensors ]; } && good ||
    bad "Ctrl-C does not save and stop ($code)"
long="train $small --steps 100000 --set schedule=constant --json"
if grep -q '^SigIgn:.*[13579bdf]$' /proc/$$/status; then
    echo "SIGHUP is ignored here (nohup): not tested"
else
    "$snip" $long --out hung >out 2>err & pid=$!
    sleep 1; kill -HUP $pid; wait $pid; code=$?
    { [ $code -eq 3 ] && grep -q '"finished":false' out && [ -s hung/state.safetensors ]; } && good ||
        bad "SIGHUP does not save and stop ($code)"
fi
(trap '' HUP; exec "$snip" $long --out nohup >out 2>err) & pid=$!
sleep 1; kill -HUP $pid; sleep 0.5; alive=no; kill -0 $pid 2>/dev/null && alive=yes
kill -TERM $pid 2>/dev/null; wait $pid; code=$?
{ [ $code -eq 3 ] && [ $alive = yes ]; } && good || bad "nohup does not hold against SIGHUP ($code, $alive)"
head -c 1000 run/model.safetensors >cut.safetensors
refuses 1 'cut off' info cut.safetensors
refuses 1 'not a snip model' info <(printf '\2\0\0\0\0\0\0\0{}')
refuses 1 'No such file' info missing.safetensors
refuses 2 'wants one model file' info
if [ -e /dev/full ] && mkdir full && ln -s /dev/full full/state.safetensors.tmp 2>/dev/null; then
    refuses 1 'cannot write' train $small --out full
fi

# index
mine="--model run/model.safetensors"
shows 'done: 500 formulas in lib.db, 500 of them new' index build --count 500 -o lib.db $mine
shows '"added":100,.*"finished":true' index build --count 600 --out lib.db $mine --json
shows 'formulas   600, 0 of them your own' index info lib.db
shows '^  of 1 input [0-9]' index info lib.db
shows '^  of 2 inputs [0-9]' index info lib.db
shows '"formulas":600,.*"checked":true' index info lib.db --check --json
printf '# mine\n\nwave\tsin(3*x0)/x1\r\n  x0 + x1\nx1 + x0\nfoo(x0)\nx7\nfloor(x0)' >mine.txt
printf '\xEF\xBB\xBFx7' >marked.txt
"$snip" index add lib.db marked.txt $mine 2>&1 | grep -q 'has 8 inputs' && good || bad "index add reads a byte order mark"
shows 'line 3: added as 601: wave' index add lib.db mine.txt $mine
shows 'line 4: the same as 602: x0 + x1' index add lib.db mine.txt $mine
shows "line 6: unusable: foo(x0): unknown function 'foo'" index add lib.db mine.txt $mine
shows 'line 7: unusable: x7: has 8 inputs, the model reads at most 3' index add lib.db mine.txt $mine
shows '"fate":"unusable","why":"no exact rewriting of .floor' index add lib.db mine.txt $mine --json
shows 'formulas   602, 2 of them your own' index info lib.db
[ "$(printf 'x0*x1\n' | "$snip" index add lib.db - $mine | tail -n 1)" = '1 added, 0 duplicates, 0 unusable' ] &&
    good || bad "index add from standard input"
printf 'foo(\n' >none.txt
"$snip" index add lib.db none.txt $mine >out 2>err; [ $? -eq 1 ] && good || bad "index add of nothing usable succeeds"
before=$(cksum lib.db* t.csv)
refuses 1 'was begun with seed 0, not 5' index build --count 700 -o lib.db $mine --seed 5
refuses 1 'made with another model' index build --count 700 -o lib.db --model stopped/model.safetensors
refuses 1 't.csv: not a library' index build --count 10 -o t.csv $mine
refuses 1 'not a library' index build --count 10 -o . $mine
refuses 1 'No such file' index build --count 10 -o no/such/folder/lib.db $mine
refuses 1 'Not a directory' index build --count 10 -o t.csv/lib.db $mine
refuses 1 't.csv: not a library' index info t.csv
refuses 1 'not a library' index info empty.csv
refuses 1 'No such file' index info missing.db
refuses 1 'No such file' index add missing.db mine.txt $mine
refuses 1 'No such file' index add lib.db missing.txt $mine
refuses 1 'zero byte' index add lib.db /bin/sh $mine
refuses 1 'No such file' index build --count 10 -o new.db --model missing.safetensors
refuses 2 'wants build, add or info' index
refuses 2 'wants build, add or info' index frob
refuses 2 'build needs -o LIBRARY' index build --count 10
refuses 2 "build takes no argument 'lib.db'" index build lib.db -o x.db
refuses 2 'needs a value: LIBRARY' index build -o
refuses 2 'info wants one library' index info
refuses 2 'add wants a library and a file' index add lib.db
[ "$before" = "$(cksum lib.db* t.csv)" ] && good || bad "a refused call changed a library"
[ -e new.db ] || [ -e t.csv.vectors ] || [ -e new.db.vectors ] && bad "a refused build left a file" || good
head -c 1000 lib.db.vectors >cut.db.vectors; cp lib.db cut.db
refuses 1 'cut.db.vectors: cut off: holds 31 of 603 vectors' index info cut.db
"$snip" index build --count 100000000 -o stopped.db $mine -q 2>err >out & pid=$!
sleep 1; kill -INT $pid; wait $pid; code=$?
{ [ $code -eq 0 ] && grep -q '^stopped: ' out && "$snip" index info stopped.db --check >/dev/null; } && good ||
    bad "Ctrl-C does not stop a build in good order ($code)"
if [ -e /dev/full ] && ln -s /dev/full disk.db.vectors 2>/dev/null; then
    refuses 1 'disk.db.vectors: cannot write: No space left' index build --count 10 -o disk.db $mine
fi
SNIP_MODEL=missing.safetensors refuses 1 'missing.safetensors: No such file' index build --count 10 -o new.db
SNIP_MODEL=run/model.safetensors shows 'done: 10 formulas' index build --count 10 -o env.db

# the program itself
shows 'Usage: snip COMMAND' --help
shows 'Examples:' help calc
for command in $("$snip" help --complete | cut -f1); do
    shows "snip $command" $command --help
    title=${command//-/.-}
    shows "^\.TH SNIP.-${title^^} 1" help --man $command
    shows '^--help' help --complete $command
done
# Help ends its lines by itself: at 100 columns, or at the edge of a narrower terminal.
for command in $("$snip" help --complete | cut -f1); do
    [ -z "$("$snip" help "$command" | sed '/^Examples:/,$d' | awk 'length($0) > 100')" ] && good ||
        bad "help $command has a line of more than 100 columns"
done
if command -v script >/dev/null; then
    script -qec "stty cols 60; '$snip' help find" /dev/null </dev/null | tr -d '\r' | sed '/^Examples:/,$d' >narrow
    { [ "$(wc -l <narrow)" -gt 40 ] && [ -z "$(awk 'length($0) > 60' narrow)" ]; } && good ||
        bad "help does not keep to 60 columns: $(awk 'length($0) > 60' narrow | head -2)"
fi
shows 'Usage: snip COMMAND' help
shows '^\.TH SNIP 1' help --man
shows 'the manual page' help --help
shows '^\.TH SNIP.-HELP 1' help help --man
refuses 2 "there is no command 'frob'" help frob
refuses 2 "there is no command 'frob'" help --man frob
refuses 2 "there is no command 'frob'" help --complete frob
refuses 2 'takes one command' help calc gen
refuses 2 'exclude each other' help --man --complete calc
refuses 2 'unknown option --frob' help --frob
refuses 2 '--man takes no value' help --man=calc
refuses 2 'unknown option --man' calc --man=1
if [ -e /dev/full ]; then
    "$snip" help --man calc >/dev/full 2>err; code=$?
    { [ $code -eq 1 ] && grep -q 'cannot write' err; } && good || bad "a cut page is not noticed ($code)"
fi
shows '^snip [0-9]' --version
shows 'ratio_to_scalar' bench eval --seconds 1
shows '"samples_per_second"' bench gen --seconds 1 --json
shows '"microseconds_per_law"' bench gen --seconds 1 --json
refuses 2 "there is no command 'frob'" frob
shows '"gradient_norm"' bench batch --preset tiny --batch-size 4 --out batch.safetensors --json
refuses 2 "batch wants --out FILE" bench batch --preset tiny
refuses 1 "cannot write" bench batch --preset tiny --batch-size 4 --out no/such/folder/file
shows '"ratio_to_read"' bench find --rows 1000 --seconds 1 --json
# A model is measured as it was trained: the S5 of run, not the preset's.
shows '"model":"run/model.safetensors","stage":"S5","batch":4,' bench train --model run/model.safetensors --seconds 1 --json
refuses 1 'No such file' bench train --model missing.safetensors
refuses 2 'give either the one or the other' bench train --model run/model.safetensors --stage S1
refuses 2 "there is no benchmark 'frob'" bench frob

finish
