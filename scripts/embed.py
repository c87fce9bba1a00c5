#!/usr/bin/env python3
"""Writes files as C arrays: embed.py OUT.c FILE... gives `const char data_embedded_NAME[]`."""
import pathlib
import sys

with open(sys.argv[1], "w", encoding="ascii") as out:
    for path in map(pathlib.Path, sys.argv[2:]):
        data = path.read_bytes() + b"\0"
        out.write(f"extern const char data_embedded_{path.stem}[];\n")
        out.write(f"const char data_embedded_{path.stem}[] = {{\n")
        for i in range(0, len(data), 20):
            out.write("    " + ", ".join(str(b) for b in data[i : i + 20]) + ",\n")
        out.write("};\n")
