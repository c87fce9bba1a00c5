#!/bin/sh
# What `make reproduce` writes last is what the committed results say: nobody edited a figure. results.sh
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r docs/report "$work/report" || exit 1
code=0
scripts/results.py "$work/report" >"$work/results.md" || code=1
cmp "$work/results.md" docs/results.md || code=1
scripts/curves.py page "$work/report" || code=1
cmp "$work/report/curves.html" docs/report/curves.html || code=1
# A second seed that is the first again: its means are the figures themselves, and so are the bounds.
mkdir -p "$work/report/seeds"
scripts/results.py thin <docs/report/views/results.json >"$work/report/seeds/views-2.json" || code=1
scripts/results.py "$work/report" | sed -n '/^### 2 seeds/,/^## /p' >"$work/seeds" || code=1
[ "$(grep -cE '^\| [^|]+ \|( ([0-9.]+) \[\2, \2\] \|){6}$' "$work/seeds")" -eq 12 ] ||
    { cat "$work/seeds"; code=1; }
[ $code -eq 0 ] && echo "1 passed, 0 failed"
exit $code
