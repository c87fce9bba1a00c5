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
[ $code -eq 0 ] && echo "1 passed, 0 failed"
exit $code
