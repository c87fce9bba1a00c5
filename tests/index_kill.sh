#!/usr/bin/env bash
# A library whose build is killed with SIGKILL at random moments is whole each time, and in the end the same as
# one that nobody disturbed. index_kill.sh PROGRAM [KILLS]
set -u
snip=$(realpath "$1")
kills=${2:-20}
default=$(dirname "$(realpath "$0")")/../models/default.safetensors
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
RANDOM=7 # the same moments every time, as far as the machine allows

fail() { echo "FAILED: $1"; exit 1; }

"$snip" train --preset tiny --stage S5 --steps 2 --batch-size 4 --warmup 1 --quiet --set points=8 --set d=16 \
    --set ff=32 --set latent=16 --set channels=1 --set levels=8 --set heads=2 --set layers=1 --set embed=2 \
    --set dims=3 --out run >/dev/null 2>err || fail "$(cat err)"
model=run/model.safetensors
count=12000 # a dozen batches
start=$(date +%s%N)
"$snip" index build --count $count -o calm.db --model $model --quiet >/dev/null 2>err || fail "$(cat err)"

range=$((($(date +%s%N) - start) / 5000000)) # milliseconds: a fifth of a whole build

unfinished=0 states=""
for ((i = 0; i < kills; i++)); do
    "$snip" index build --count $count -o rough.db --model $model --quiet >/dev/null 2>err &
    pid=$!
    at=$((RANDOM % range))
    sleep "$((at / 1000)).$(printf %03d $((at % 1000)))"
    if kill -KILL $pid 2>/dev/null; then unfinished=$((unfinished + 1)); fi
    wait $pid 2>/dev/null
    if [ -s err ]; then fail "after kill $i: $(cat err)"; fi
    if [ ! -e rough.db ]; then continue; fi # killed before it began
    "$snip" index info rough.db --check --json >info 2>err || fail "after kill $i: $(cat err)"
    states="$states $(sed 's/.*"formulas":\([0-9]*\).*/\1/' info)"
done
"$snip" index build --count $count -o rough.db --model $model --quiet >/dev/null 2>err || fail "$(cat err)"
"$snip" index info rough.db --check >/dev/null 2>err || fail "$(cat err)"

rows() { python3 -c 'import sqlite3, sys
for line in sqlite3.connect(sys.argv[1]).iterdump(): print(line)' "$1" | cksum; }
[ "$(rows calm.db)" = "$(rows rough.db)" ] || fail "the rows differ"
cmp -s calm.db.vectors rough.db.vectors || fail "the vectors differ"
[ "$(ls)" = "$(printf '%s\n' calm.db calm.db.vectors err info rough.db rough.db.vectors run)" ] ||
    fail "something was left behind: $(ls | tr '\n' ' ')"
# Builds that are killed early each time get on, too: they do not begin with the same work again.
formulas=0
for ((i = 0; i < 12 && formulas == 0; i++)); do
    timeout -s KILL "1.$i" "$snip" index build --count 100000 -o early.db --threads 1 --model "$default" -q >/dev/null 2>&1
    [ -e early.db ] && formulas=$("$snip" index info early.db --json | sed 's/.*"formulas":\([0-9]*\).*/\1/')
done
[ "$formulas" -gt 0 ] || fail "builds of a second and a half make no progress"
# Ctrl-C is answered within a second.
"$snip" index build --count 100000 -o early.db --threads 1 --model "$default" -q >said 2>&1 & pid=$!
sleep 1.5
start=$(date +%s%N)
kill -INT $pid; wait $pid
took=$((($(date +%s%N) - start) / 1000000))
[ $took -lt 1000 ] || fail "Ctrl-C is answered after $took ms"
grep -q '^stopped' said || fail "$(cat said)"

echo "formulas after each kill:$states"
echo "$unfinished of $kills builds were killed before their end; rows and vectors are the same"
echo "1 passed, 0 failed"
