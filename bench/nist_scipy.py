#!/usr/bin/python3
"""NIST's 27 nonlinear reference problems with SciPy's curve_fit and its default settings, by the
measure of tests/test_estimate.c: residual sum of squares to 1e-9, constants to 1e-6, standard errors
to 1e-4, relatively. Needs python3-scipy.

    bench/nist_scipy.py
"""
import csv
import pathlib
import warnings

import numpy as np
from scipy.optimize import curve_fit

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "nist"
FUNCTIONS = {n: getattr(np, n) for n in ("exp", "cos", "sin", "arctan", "pi")}


def numbers(text):
    return np.array([float(v) for v in text.split()])


def solve(line, start):
    """Relative errors of the sum of squares, the constants and their errors; None if it gives up."""
    name, model, values, errors, rss = line[0], line[1], line[4], line[5], line[6]
    with open(FOLDER / f"{name}.csv") as f:
        rows = list(csv.DictReader(f))
    data = {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}
    y = data.pop("y")
    code = compile(model.replace("^", "**"), name, "eval")

    def law(_, *b):
        return eval(code, FUNCTIONS | data | {f"b{k + 1}": v for k, v in enumerate(b)})

    try:
        found, covariance = curve_fit(law, np.zeros(len(y)), y, p0=numbers(line[2 + start]))
    except RuntimeError:
        return None
    return (abs(np.sum((law(None, *found) - y) ** 2) / float(rss) - 1),
            max(abs(found / numbers(values) - 1)),
            max(abs(np.sqrt(np.diag(covariance)) / numbers(errors) - 1)))


def main():
    warnings.simplefilter("ignore")
    lines = (FOLDER / "problems.tsv").read_text().splitlines()[1:]
    for start in (0, 1):
        off = [solve(line.split("\t"), start) for line in lines]
        good = sum(o is not None and o[0] < 1e-9 and o[1] < 1e-6 and o[2] < 1e-4 for o in off)
        near = sum(o is not None and o[0] < 1e-6 for o in off)
        print(f"start {start + 1}: {good} of {len(off)} hold; {near} reach the sum of squares to 1e-6")


if __name__ == "__main__":
    main()
