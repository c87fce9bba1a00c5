#!/usr/bin/python3
"""Runs the commands in a document's ```console blocks again and puts what they print below them.

    scripts/refresh.py build/snip docs/tutorial.md          # rewrites the file
    scripts/refresh.py build/snip docs/tutorial.md --check  # only runs; fails if a command fails

Lines that start with `$ ` are commands, for sh, in a folder of their own that holds the files of
examples/; what follows up to the next command is their output. `snip` is the given program.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command, folder, path):
    done = subprocess.run(["sh", "-c", command], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=dict(os.environ, PATH=path), check=False)
    if done.returncode:
        sys.exit(f"refresh.py: {command}\n{done.stdout}ended with status {done.returncode}")
    return done.stdout.rstrip("\n")


def main():
    parser = argparse.ArgumentParser(description="Refreshes the output of commands in a document.")
    parser.add_argument("snip", help="the program")
    parser.add_argument("document", nargs="+")
    parser.add_argument("--check", action="store_true", help="run only, write nothing")
    a = parser.parse_args()
    program = pathlib.Path(a.snip).resolve()
    for name in a.document:
        text = pathlib.Path(name).read_text()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
            path = f"{program.parent}:{os.environ['PATH']}"

            def block(match):
                commands = [l for l in match[1].splitlines() if l.startswith("$ ")]
                parts = [f"{c}\n{run(c[2:], folder, path)}".rstrip("\n") for c in commands]
                return "```console\n" + "\n".join(parts) + "\n```"

            fresh = re.sub(r"```console\n(.*?)\n```", block, text, flags=re.S)
        if not a.check:
            pathlib.Path(name).write_text(fresh)


if __name__ == "__main__":
    main()
