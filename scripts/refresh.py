#!/usr/bin/python3
"""Runs the commands in a document's ```console blocks again and puts what they print below them.

    scripts/refresh.py build/snip docs/tutorial.md          # rewrites the file
    scripts/refresh.py build/snip docs/tutorial.md --check  # only runs; fails if a command fails

Lines that start with `$ ` are commands, for sh, in a folder of their own that holds the files of
examples/, and build/, examples/ and models/ as the source tree has them; what follows up to the next
command is their output. `snip` is the given program. The ```pycon blocks of a document are one session of
Python's, with the module snip.
"""
import argparse
import contextlib
import io
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


def python(session, source):
    """What an interpreter prints for a statement. An exception is told as doctest expects it."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(source, "<session>", "single"), session)
    except Exception as e:  # part of the document
        name = f"{type(e).__module__}.{type(e).__name__}".removeprefix("builtins.")
        out.write(f"Traceback (most recent call last):\n    ...\n{name}: {e}\n")
    return out.getvalue().rstrip("\n")


def statements(block):
    """The statements typed in a block, each as its lines without prompts."""
    typed = [line for line in block.splitlines() if line[:4] in (">>> ", "... ")]
    text = "\n".join(typed)
    return [re.sub(r"^(>>>|\.\.\.) ", "", s, flags=re.M) for s in re.split(r"\n(?=>>> )", text)]


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
            os.symlink(program.parent, os.path.join(folder, "build"))
            for kept in ("examples", "models"):
                os.symlink(ROOT / kept, os.path.join(folder, kept))
            path = f"{program.parent}:{os.environ['PATH']}"
            session = {}

            def block(match):
                commands = [l for l in match[1].splitlines() if l.startswith("$ ")]
                parts = [f"{c}\n{run(c[2:], folder, path)}".rstrip("\n") for c in commands]
                return "```console\n" + "\n".join(parts) + "\n```"

            def typed(match):
                parts = []
                for s in statements(match[1]):
                    shown = ">>> " + s.replace("\n", "\n... ")
                    printed = python(session, s + "\n")
                    parts.append(f"{shown}\n{printed}".rstrip("\n"))
                return "```pycon\n" + "\n".join(parts) + "\n\n```"

            fresh = re.sub(r"```console\n(.*?)\n```", block, text, flags=re.S)
            sys.path.insert(0, str(ROOT / "python"))
            sys.dont_write_bytecode = True
            fresh = re.sub(r"```pycon\n(.*?)\n```", typed, fresh, flags=re.S)
        if not a.check:
            pathlib.Path(name).write_text(fresh)


if __name__ == "__main__":
    main()
