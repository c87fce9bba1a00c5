#!/usr/bin/env bash
# What the documents promise: docs.sh SOURCE_ROOT. Lines are at most 100 columns wide, but for what a
# program printed (console and pycon). What is linked or named is there: files, and the functions of the tour.
# Reports name no folder of the machine that they come from.
set -u
. "$(dirname "$0")/offences.sh"
cd "$1" || exit 1
pages=$(ls *.md docs/*.md models/*.md tests/*/*.md)

/usr/bin/python3 - $pages <<'PY' | none "wider than 100 columns"
import sys
for page in sys.argv[1:]:
    block = None
    for n, line in enumerate(open(page, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line.lstrip().startswith("```"):
            block = None if block is not None else line.strip().removeprefix("```")
        elif len(line) > 100 and block not in ("console", "pycon"):
            print(f"{page}:{n}: {len(line)} columns")
PY

/usr/bin/python3 - $pages <<'PY' | none "named but not there"
import pathlib, re, sys
for page in sys.argv[1:]:
    text = re.sub(r"```.*?```", "", pathlib.Path(page).read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", text)):
        if not (pathlib.Path(page).parent / target).exists():
            print(f"{page}: link to {target}")
    # The history names files by what they were called then.
    if page == "CHANGELOG.md":
        continue
    for name in set(re.findall(r"`(?:src/)?((?:[a-z_]+/)+[a-z_0-9]+\.(?:c|h|sh|py|tsv))`", text)):
        if not any((pathlib.Path(root) / name).exists() for root in (".", "src")):
            print(f"{page}: {name}")
PY

# A measurement's command is for any machine.
grep -rnoE -- '--[a-z]+ /[^ "<]*' docs/report | none "folders of one machine"

# The tour goes from function to function.
grep -o '`[a-z]*_[a-z_]*`' docs/tour.md | tr -d '`' | sort -u | while read -r name; do
    grep -rqw "$name" src include tests --include="*.[ch]" --include=meson.build || [ -f "tests/$name.c" ] || echo "$name"
done | none "docs/tour.md names what is not in the source"
[ $failed -eq 0 ]
