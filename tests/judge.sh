# What the shell tests share, to be sourced: a folder to work in, counting, and calls that must
# succeed or fail as they should.
passed=0 failed=0
call=()  # words that stand before the arguments of every call, such as a command
named=   # if not empty, a message must begin with the command's name

# start PROGRAM: `snip` is the program, `here` the folder of the tests, `work` a folder for this test,
# which it runs in; it is gone at the end.
start() {
    here=$(realpath "$(dirname "$0")") snip=$(realpath "$1")
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 1
}

good() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED: ${1:0:400}"; }

# runs ARGUMENTS...: it succeeds, without a word on standard error; what it prints is in `out`.
runs() {
    "$snip" "${call[@]}" "$@" >out 2>err </dev/null; local code=$?
    if [ $code -ne 0 ]; then bad "$* exits $code: $(head -3 err)"
    elif [ -s err ]; then bad "$* says $(head -3 err)"
    else good; fi
}

# refuses CODE PATTERN ARGUMENTS...: it fails that way, with nothing on standard output, one line that
# holds PATTERN, and no file of the name left*.
refuses() {
    local want=$1 pattern=$2; shift 2
    local who=${call[0]:-${1:-}}
    timeout 60 "$snip" "${call[@]}" "$@" >out 2>err </dev/null; local code=$?
    if [ $code -ne "$want" ]; then bad "$* exits $code, expected $want: $(head -c 300 err)"
    elif [ -s out ]; then bad "$* prints on standard output: $(head -c 100 out)"
    elif [ "$(wc -l <err)" -ne 1 ]; then bad "$* says $(wc -l <err) lines: $(head -c 300 err)"
    elif [ -n "$named" ] && ! grep -q "^snip $who: " err; then bad "$* does not say who speaks: $(cat err)"
    elif ! grep -q -- "$pattern" err; then bad "$* says '$(cat err)', expected '$pattern'"
    elif compgen -G 'left*' >/dev/null; then bad "$* leaves $(echo left*)"; rm -f left*
    else good; fi
}

# checks WHAT: the Python program on standard input finds nothing wrong; it may use NumPy.
python=/usr/bin/python3
$python -c 'import numpy' 2>/dev/null || python=
checks() {
    if [ -z "$python" ]; then cat >/dev/null; echo "no NumPy here: $1 not checked"
    elif $python - 2>wrong; then good
    else bad "$1: $(tail -1 wrong)"; fi
}

# The end of a test: how many there were, and whether all are well.
finish() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}
