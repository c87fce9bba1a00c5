#!/bin/sh
# A tour of what works so far: demo.sh PROGRAM
set -eu
snip=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n== %s\n\n' "$1"; }
run() { # shows a command as one would type it, then runs it
    printf '$ snip'
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./=-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$snip" "$@"
}

say "A formula becomes tokens; each has its node, span and path in the tree"
run tokens 'sin(x0 + 2.1*x1)'

say "Feynman's I.6.2 with points, as a table ..."
(cd "$work" && "$snip" corpora feynman --sample I.6.2 --points 5 > gauss.csv && cat gauss.csv)

say "... and its values from its own text"
cd "$work"
run calc 'exp(-(theta/sigma)^2/2)/(sqrt(2*pi)*sigma)' gauss.csv

say "The formula in the model's own operators"
run tokens --normal 'x0^4/x1 - tanh(x0)' | head -n 2

say "Controlled edits that change its behaviour, with how much"
run edits 'sin(x0) - 0.5*x1' --family binary_swap

say "Random training expressions, the same for a seed on every machine"
run gen --seed 7 --count 3

say "A tiny model learns from them for a few seconds (nDCG@10 among 256 held-out pairs; chance is 1.8 %)"
run train --preset tiny --stage S1 --steps 300 --out tiny
run info tiny/model.safetensors | tail -n 12

say "How fast this machine makes them (accepted samples, 200 points, tokens included)"
run bench gen --seconds 2

say "Where to look next: snip --help, README.md, docs/design.md"
