#!/usr/bin/env bash
# Rules that no compiler knows: rules.sh SOURCE_ROOT. Library code draws random numbers by the map in
# base/streams.h, names no option of the command line in its messages, and nobody decides by the text
# of a message. Folders include one another in one order, and a file knows its own name.
set -u
. "$(dirname "$0")/offences.sh"
cd "$1" || exit 1
library=$(ls src/*/*.c | grep -v '^src/\(cli\|api\)/')

# The generators are told stream and index by their callers.
grep -n 'rng_init(' $library | grep -v '^src/\(base/rng\|data/gen\)\.c' | none "not in base/streams.h"
grep -n '[.>]block = ' $library | grep -v '^src/base/rng\.c' | none "the inside of rng"
grep -nE '"[^"]*(^|[^-a-z])--[a-z]+[^"]*"' $library | none "names an option"
grep -nE 'str(n?cmp|str)\((st|why|[a-z]+->st)(\.|->)msg' src/*/*.c bench/*.c | none "decides by a message"
# Results are returned, progress is told by a callback (base/progress.h); base/file.c writes to
# standard output where a caller names it as the file.
grep -nE '(^|[^a-z_])(printf|puts|putchar|perror)\(|std(out|err)|STD(OUT|ERR)_FILENO' $library |
    grep -v '^src/base/file\.c' | none "prints"

# These keep something in a place that all threads share.
grep -nE '(^|[^a-z_])(lgamma|strtok|localtime|gmtime|asctime|ctime|rand|drand48)\(' $library |
    none "not safe with threads"

# CONTRIBUTING.md has the order. Folders on one line do not know each other.
/usr/bin/python3 - <<'PY' | none "includes a folder that is not to its left"
import pathlib, re
order = ["base", "page", "expr", "data", "nn", "model", "regress", "train", "library", "search", "serve",
         "eval", "api cli"]
place = {name: k for k, names in enumerate(order) for name in names.split()}
for path in sorted(pathlib.Path("src").glob("*/*.[ch]")):
    own = path.parent.name
    for other in re.findall(r'^#include "([a-z]+)/', path.read_text(encoding="utf-8"), re.M):
        if other != own and place[other] >= place[own]:
            print(f"{path}: {other}")
PY
for file in include/*.h src/*/*.[ch] bench/*.[ch] tests/*.[ch]; do
    head -n 1 "$file" | grep -q "^/\* ${file##*/} - " || echo "$file"
done | none "does not begin with its name"
[ $failed -eq 0 ]
