#!/usr/bin/env python3
"""Functions are short and take few parameters: functions.py SOURCE_ROOT

One of more than 80 lines, or of more than 8 parameters, needs a reason: the comment above its
definition or declaration says `Long: ...` or `Many parameters: ...`. Reasons that no function needs
any more are refused, too. The sources are in the house format: a definition begins in the first
column and ends with a brace there."""
import pathlib
import re
import sys

LINES, PARAMETERS = 80, 8
root = pathlib.Path(sys.argv[1])
sources = sorted(p for folder in ("src", "bench") for p in (root / folder).rglob("*.[ch]"))

# A comment just above, if there is one; the declarator, whose first name before a parenthesis is
# the function's; a body or a semicolon.
FUNCTION = re.compile(r"(?:/\*(?P<comment>(?:(?!\*/).)*)\*/\n)?"
                      r"^(?P<head>[A-Za-z_][^;{}=#/\"]*?\b(?P<name>[a-z_]\w*)\([^;{}=#\"]*\))"
                      r"(?:;|\n\{\n(?P<body>.*?)^\}$)", re.M | re.S)


def parameters(head):
    """How many there are: commas outside of inner parentheses."""
    depth, count = 0, 1
    for c in head[head.index("("):]:
        depth += (c in "([") - (c in ")]")
        count += c == "," and depth == 1
    return count


found, reasons = [], {}
for path in sources:
    text = path.read_text(encoding="utf-8")
    for m in FUNCTION.finditer(text):
        for mark in ("Long:", "Many parameters:"):
            if mark in (m["comment"] or ""):
                reasons.setdefault((m["name"], mark), path.relative_to(root))
        if m["body"] is not None:
            line = text.count("\n", 0, m.start("head")) + 1
            lines = m.group().count("\n", m.start("head") - m.start()) + 1
            found.append((path.relative_to(root), line, m["name"], lines, parameters(m["head"])))

failed = 0
needed = set()
for path, line, name, lines, count in found:
    for mark, size, most, what in (("Long:", lines, LINES, "lines"),
                                   ("Many parameters:", count, PARAMETERS, "parameters")):
        if size > most:
            needed.add((name, mark))
            if (name, mark) not in reasons:
                failed += 1
                print(f"FAILED: {path}:{line}: {name} has {size} {what}, more than {most}; "
                      f"a reason is given as '{mark} ...' in the comment above it")
for name, mark in sorted(set(reasons) - needed):
    failed += 1
    print(f"FAILED: {reasons[name, mark]}: {name} does not need '{mark}'")
print(f"{len(found)} functions, {failed} failed")
sys.exit(failed > 0 or len(found) < 1000)
