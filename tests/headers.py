#!/usr/bin/env python3
"""The examples in the headers compile: headers.py SOURCE_ROOT [COMPILER]

An example is an indented block of the comment at the top of a header whose lines end with
semicolons. Each is put into a function, below the header itself and the declarations of what it
takes for given, and compiled without making code. `...` stands for a statement."""
import os
import re
import subprocess
import sys
import tempfile

root, compiler = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cc"

# What examples take for given, by name. A header's own entry goes first.
GIVEN = {
    "a": "arena *a", "tmp": "arena *tmp", "keep": "arena *keep", "st": "snip_status st",
    "seed": "uint64_t seed", "i": "int i", "k": "int k", "n": "size_t n", "rows": "size_t rows",
    "total": "size_t total", "done": "size_t done", "show": "const progress_show *show",
    "threads": "int threads",
    "x": "const double *const *x", "y": "double *y", "columns": "const double *const *columns",
    "e": "expr e", "grad": "float *grad", "z": "float *z", "dz": "float *dz", "dim": "int dim",
    "m": "model *m", "names": "expr_names names",
    "name": "const char *name", "table": "regress_table table", "problem": "regress_problem problem",
    "found": "size_t found", "query": "const float *query", "good": "size_t good",
    "c": "regress_candidate *c", "model": "const model_opened *model",
}
OWN = {
    "src/base/table.h": {"table": None},
    "include/snip.h": {"names": "const char *names[2]", "t": "snip_table t",
                       "best": "const snip_expr *best",
                       "candidates": "const snip_expr *const *candidates"},
    "src/data/own_laws.h": {"text": "char *text", "s": "data_sample s", "gen": "data_gen gen"},
    "src/library/behaviour.h": {"b": "library_behaviour_hash b"},
    "src/library/file.h": {"built": "library_built built", "hit": "library_hit hit[20]",
                           "row": "library_row row"},
    "src/library/nearest.h": {"vectors": "const uint16_t *vectors",
                              "dimension": "const uint8_t *dimension"},
    "src/library/textbook.h": {"how": "library_textbook_how how"},
    "src/model/encode.h": {"chunk": "model_formulas chunk"},
    "src/model/pack.h": {"formulas": "size_t formulas", "tokens": "size_t tokens",
                         "words": "model_words words", "first": "size_t first", "end": "size_t end"},
    "src/model/promise.h": {"s": "double s", "r": "double r", "core": "expr core", "n": "size_t n",
                            "u": "const float *u", "v": "const float *v"},
    "src/model/words.h": {"tree": "int tree"},
    "src/regress/problem.h": {"space": "model_space *space"},
    "src/model/space.h": {"tree": "int tree", "symbols": "float *symbols",
                          "values": "float *values"},
    "src/page/svg.h": {"t": "text *t", "x": "const double *x", "y": "const double *y"},
    "src/regress/law.h": {"columns": "expr_names columns"},
    "src/regress/estimate.h": {"law": "regress_law law"},
    "src/regress/rank.h": {"first": "expr first", "second": "expr second"},
    "src/search/sparse.h": {"column": "double *column", "bits": "const double *bits", "target": "const double *target",
                            "room": "size_t room", "job": "search_job *job",
                            "model": "sparse_model *model"},
    "src/search/values.h": {"view": "const search_view *view"},
    "src/regress/results.h": {"x": "regress_explanation x"},
}
INCLUDES = ["<stdio.h>", '"base/arena.h"', '"base/text.h"', '"model/opened.h"',
            '"regress/rank.h"', '"regress/explain.h"']


def examples(text):
    """The indented blocks of the first comment that are C."""
    comment = re.match(r"/\*(.*?)\*/", text, re.S)
    blocks, block = [], []
    for line in (comment.group(1) if comment else "").split("\n") + [""]:
        if line.startswith(" *     ") or (block and line.strip() == "*"):
            block.append(line[7:])
        else:
            blocks.append(block)
            block = []
    return ["\n".join(b) for b in blocks if any(re.search(r";\s*(//.*)?$", l) for l in b)]


def program(header, example):
    given = {**GIVEN, **OWN.get(header, {})}
    code = re.sub(r"//[^\n]*", "", example)
    code = re.sub(r"\.\.\.[^\n]*", ";", code)
    used = [d for n, d in given.items() if d and re.search(r"(?<![\w.>])%s\b" % n, code)]
    path = header.removeprefix("include/").removeprefix("src/")
    lines = ['#include "%s"' % path, "#include %s" % "\n#include ".join(INCLUDES)]
    # Inside of the function, where a name may be that of a type.
    lines += ["int example(void);", "int example(void)", "{"] + ["extern %s;" % d for d in used]
    return "\n".join(lines + ["{", code, "}", "return 0;", "}", ""])


count = failed = 0
for folder, _, files in sorted(os.walk(os.path.join(root, "src"))) + [
        (os.path.join(root, "include"), [], ["snip.h"])]:
    for name in sorted(f for f in files if f.endswith(".h") and not f.endswith("_int.h")):
        header = os.path.relpath(os.path.join(folder, name), root)
        for example in examples(open(os.path.join(root, header), encoding="utf-8").read()):
            with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
                f.write(program(header, example))
                f.flush()
                run = subprocess.run(
                    [*compiler.split(), "-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall",
                     "-Wextra", "-Werror", "-Wno-unused", "-Wno-missing-field-initializers", "-Wno-empty-body",
                     "-I", os.path.join(root, "include"), "-I", os.path.join(root, "src"), f.name],
                    capture_output=True, text=True)
            count += 1
            if run.returncode:
                failed += 1
                errors = [l for l in run.stderr.split("\n") if "error" in l]
                print("FAILED: %s: %s" % (header, "; ".join(re.sub(r"^.*?error: ", "", e) for e in errors[:4])))
print("%d examples, %d failed" % (count, failed))
sys.exit(failed > 0 or count < 20)
