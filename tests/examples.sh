#!/usr/bin/env bash
# The example programs, built in FOLDER: examples.sh FOLDER [valgrind], below with_model.sh.
# With the word valgrind they run in it, or are skipped where there is none.
set -u
folder=$(realpath "$1") how=${2:-} here=$(dirname "$(realpath "$0")")
model=$SNIP_TEST_FOLDER/model.safetensors
cd "$SNIP_TEST_FOLDER" || exit 1
. "$here/judge.sh"

# The C in docs/api.md is these programs', line by line.
while IFS= read -r line; do
    cat "$here"/../examples/*.c | grep -qxF -- "$line" && good ||
        bad "docs/api.md: no example has $line"
done < <(sed -n '/^```c$/,/^```$/{/^```/d;p}' "$here/../docs/api.md")

run=()
if [ -n "$how" ]; then
    command -v valgrind >/dev/null || { echo "there is no valgrind here"; exit 77; }
    # Valgrind hides AVX-512, and the program takes AVX2 then. oneDNN's own AVX2 kernels load up to
    # 64 bytes behind their packed operands, so it is held to SSE 4.1, whose kernels do not.
    export DNNL_MAX_CPU_ISA=SSE41 ONEDNN_MAX_CPU_ISA=SSE41
    run=(valgrind -q --error-exitcode=99 --leak-check=full "--suppressions=$here/valgrind.supp")
fi

# says EXIT_CODE PATTERN NAME ARGUMENT...: the example ends so and prints such a line.
says() {
    local code=$1 pattern=$2 name=$3 got; shift 3
    "${run[@]}" "$folder/$name" "$@" >out 2>&1
    got=$?
    { [ $got -eq "$code" ] && grep -qE -- "$pattern" out; } && good ||
        bad "$name $* gives $got: $(tail -n 20 out)"
}

says 0 '^9 of 9 finite$' evaluate 'x0^2'
says 1 '^byte 5: ' evaluate 'x0 + foo(1)'
says 2 '^usage: ' evaluate
# What is fitted does not depend on the model: Kepler's law comes first.
says 0 '1\.00000 +1\.00000  0\.99987[0-9]*\*a\*sqrt\(a\)$' rank "$model"
[ "$(sed -n 2p out | grep -c 'sqrt(a)')" -eq 1 ] && [ "$(wc -l <out)" -eq 6 ] && good ||
    bad "rank prints $(cat out)"
says 1 'No such file' rank missing.safetensors
says 2 '^usage: ' rank
says 0 '^node  0 +[-+]0\.[0-9]{4}  add$' explain "$model"
[ "$(grep -c '^node' out)" -eq 7 ] && [ "$(grep -c '^ [-+]0' out)" -eq 5 ] && good ||
    bad "explain prints $(cat out)"
says 1 'No such file' explain missing.safetensors
# Neither the unit of y nor the constants count.
forms=$SNIP_TEST_FOLDER/forms.safetensors
says 0 '^years -?[01]\.[0-9]{4}, hours -?[01]\.[0-9]{4}$' forms "$forms" '2*x0*sqrt(x0)'
tr -d , <out >first
awk '{ d = $2 - $4; exit !(d < 2e-4 && d > -2e-4) }' first && good || bad "units: $(cat first)"
says 0 '^years' forms "$forms" '1 - 7*x0*sqrt(x0)'
tr -d , <out | cat first - |
    awk '{ s[NR] = $2 } END { d = s[1] - s[2]; exit !(d < 2e-4 && d > -2e-4) }' && good ||
    bad "constants: $(cat first out)"
# Of two edits of one form, which fit alike, the one that changes the smaller part is the answer.
says 0 '^0\.5\*v\^2 \+ 9\.81\*h$' explain "$forms"
says 1 'not trained to read forms' forms "$model" 'x0'
says 1 'a constant has no form' forms "$forms" '2.5'
says 2 '^usage: ' forms
# Kepler's law from the table alone.
says 0 '^> +[0-9]+ +(1\.0+|0\.9999[0-9]*)  .*a(\^1\.[45]|\*sqrt\(a\))' fit 3
says 1 'not a number of seconds' fit -1
says 2 '^usage: ' fit

finish
