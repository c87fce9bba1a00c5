#!/usr/bin/python3
"""`snip fit` by SRBench's protocol, on the corpora that are part of the program.

    scripts/srbench.py build/snip --time 10 --out runs/srbench            # everything, one seed
    scripts/srbench.py build/snip --part third --noise 0,.01 --out runs/s # to choose settings with
    scripts/srbench.py build/snip --only I.6.2,vdp1 --out runs/s          # some problems
    scripts/srbench.py --summary --out runs/srbench [--markdown]          # what the files say

Problems: 116 of Feynman's (those of SRBench) and 14 of Strogatz's; and `practice`, 86 laws of other
books (data/practice.tsv), which settings of the search are chosen with. A problem's rows are split 75/25;
at most --rows of the first part are fitted. Noise is added to their y only, N(0, noise*RMS(y)); the
test rows stay clean. Each run is a file FOLDER/<dataset>_snip_<seed>[_target-noise<noise>].json as
SRBench writes them, with the whole front beside. Runs whose file is there are not run again.

A run is solved if its formula, floats rounded to three decimals and those below 1e-4 taken as 0,
differs from the truth by a constant or has a constant ratio to it, by SymPy, and R2 on the test rows
is above 0.5. Beside this stands a check by numbers, which SymPy's failures do not touch: on fresh rows
the ratio or the difference is constant to 1e-6. After noise the constants are first fitted again, to
clean rows: it then says that the form is the right one.

It needs python3-numpy and python3-sympy; --install gets them.
"""
import argparse
import concurrent.futures
import csv
import io
import json
import math
import multiprocessing
import os
import pathlib
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = [23654, 15795, 860, 5390, 16850, 29910, 4426, 21962, 14423, 28020]
# Not in the benchmark: the first is missing there, the others it leaves out.
LEFT_OUT = {"II.11.17", "test_10", "I.26.2", "I.30.5"}
FRESH = 2000  # rows of the check by numbers
SAME = 1e-6   # and how constant a ratio or a difference has to be
JUDGE_FROM = 0.9  # a formula of smaller squared correlation with the truth is no candidate
JUDGE_MOST = 5    # formulas of a front, beside the selected one, that are

if "--install" in sys.argv:
    subprocess.run([HERE / "deps.sh", "python3-numpy", "python3-sympy"], check=True)
import numpy as np  # noqa: E402


# ---- problems ----

class Problem:
    """One formula of a corpus, and rows for it."""

    def __init__(self, corpus, line):
        self.corpus = corpus
        self.id, _, self.formula, variables, self.sampling, _ = line.split("\t")
        self.dataset = f"{corpus}_{self.id.replace('.', '_')}"
        pairs = [v.split("=") for v in variables.split()]
        self.names = [name for name, _ in pairs]
        self.ranges = [tuple(float(v) for v in r.split(":")) for _, r in pairs]

    def uniform(self, rows, seed):
        """Columns, uniform in the published ranges."""
        r = np.random.RandomState((zlib.crc32(self.dataset.encode()) + seed) % 2**32)
        return [r.uniform(low, high, rows) for low, high in self.ranges]

    def values(self, columns, formula=None):
        """A formula's values there; the truth's unless another one is given."""
        return evaluate(formula or self.formula, dict(zip(self.names, columns)))

    def split(self, snip, seed, rows):
        """(columns, y) for training and for testing, both clean."""
        if self.sampling.startswith("ODE"):
            text = subprocess.run([snip, "corpora", "--sample", self.id, "--sampling", "published",
                                   "--points", "400"], check=True, capture_output=True, text=True).stdout
            table = list(csv.reader(io.StringIO(text)))
            columns = [np.array([float(row[j]) for row in table[1:]]) for j in range(len(self.names))]
        else:
            columns = self.uniform(math.ceil(rows / 0.75), seed)
        order = np.random.RandomState(seed).permutation(len(columns[0]))
        cut = min(rows, int(0.75 * len(order)))
        parts = []
        for part in (order[:cut], order[int(0.75 * len(order)):]):
            own = [c[part] for c in columns]
            parts.append((own, self.values(own)))
        return parts


def evaluate(formula, variables):
    """A formula in infix or SymPy's spelling on columns; NaN outside its domain."""
    functions = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos,
                 "tan": np.tan, "asin": np.arcsin, "arcsin": np.arcsin, "acos": np.arccos,
                 "arccos": np.arccos, "atan": np.arctan, "arctan": np.arctan, "sinh": np.sinh,
                 "cosh": np.cosh, "tanh": np.tanh, "Abs": np.abs, "abs": np.abs, "sign": np.sign,
                 "pi": np.pi, "E": np.e, "Pow": np.power, "Max": np.maximum, "Min": np.minimum,
                 "Symbol": variables.get}
    rows = len(next(iter(variables.values())))
    with np.errstate(all="ignore"):
        y = eval(compile(formula.replace("^", "**"), "formula", "eval"),
                 {"__builtins__": {}}, {**functions, **variables})
    return np.broadcast_to(np.asarray(y, dtype=float), (rows,))


def problems(which):
    """All problems of the corpora asked for, in the files' order, each with whether it is one of the
    third that settings were chosen with: every third line of data/feynman.tsv, and none else."""
    out = []
    for corpus in ("feynman", "strogatz", "practice"):
        lines = (HERE.parent / "data" / f"{corpus}.tsv").read_text().splitlines()
        if corpus in which:
            rows = [line for line in lines if line and line[0] != "#"]
            found = [Problem(corpus, line) for line in rows]
            for place, p in enumerate(found):
                p.third = corpus == "feynman" and place % 3 == 0
            out.append([p for p in found if p.id not in LEFT_OUT])
    return out


def chosen(options):
    """The problems that the options name."""
    out = []
    for corpus in problems(options.corpus.split(",")):
        for p in corpus:
            if (options.part == "all" or p.third == (options.part == "third")) and \
                    (not options.only or p.id in options.only.split(",")):
                out.append(p)
    n = options.count
    if n and n < len(out):
        out = [out[k * len(out) // n] for k in range(n)]
    return out


# ---- judging ----

def r2(y, p):
    """As a share of y's variance; None where the formula has no values."""
    with np.errstate(all="ignore"):
        left, whole = np.sum((y - p) ** 2), np.sum((y - np.mean(y)) ** 2)
        value = 1 - left / whole if whole > 0 else float("nan")
    return float(value) if np.isfinite(value) else None


def errors(y, p):
    with np.errstate(all="ignore"):
        mse, mae = float(np.mean((y - p) ** 2)), float(np.mean(np.abs(y - p)))
    return {"mse": mse if math.isfinite(mse) else None, "mae": mae if math.isfinite(mae) else None,
            "r2": r2(y, p)}


def correlation(truth, p):
    """The squared correlation, over the rows where both have values; 0 if those are few."""
    good = np.isfinite(truth) & np.isfinite(p)
    if good.sum() < 0.5 * len(p):
        return 0.0
    a, b = truth[good] - truth[good].mean(), p[good] - p[good].mean()
    with np.errstate(all="ignore"):
        c = (a @ b) ** 2 / ((a @ a) * (b @ b))
    return float(c) if np.isfinite(c) else 0.0


def same_numbers(truth, p):
    """Whether the ratio or the difference is constant where both have values."""
    good = np.isfinite(truth) & np.isfinite(p)
    if good.sum() < 0.9 * np.isfinite(truth).sum():
        return False
    t, p = truth[good], p[good]
    with np.errstate(all="ignore"):
        difference, ratio = p - t, p / t
        scale = np.std(t)
        if np.ptp(difference) <= SAME * scale:
            return True
        middle = np.median(ratio)
        return bool(middle != 0 and np.isfinite(middle) and np.std(p) > 0 and
                    np.max(np.abs(p - middle * t)) <= SAME * abs(middle) * scale)


def same_after_refit(snip, p, found, columns, truth):
    """The same with the found form's constants fitted to clean rows."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "clean.csv"
        write_table(table, p.names, [c[:500] for c in columns], truth[:500])
        try:
            run = subprocess.run([snip, "fit-constants", table, found["equation"], "--format", "sympy",
                                  "--starts", "4"], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return False
        if run.returncode != 0:
            return False
        formula = run.stdout.strip().splitlines()[-1]
    try:
        return same_numbers(truth, p.values(columns, formula))
    except (SyntaxError, NameError, TypeError):
        return False


def to_sympy(text, p):
    import sympy
    from sympy.parsing.sympy_parser import parse_expr
    # What is known of the inputs: without it sqrt(x**2) is not x.
    local = {name: sympy.Symbol(name, positive=True) if low > 0 else sympy.Symbol(name, real=True)
             for name, (low, _) in zip(p.names, p.ranges)}
    local["Symbol"] = dict(local).get  # Symbol('gamma'): names that SymPy has for itself
    local.update(arcsin=sympy.asin, arccos=sympy.acos, arctan=sympy.atan)
    return parse_expr(text.replace("^", "**"), local_dict=local)


def model_size(e):
    """Nodes, as SRBench counts them."""
    import sympy
    return sum(1 for _ in sympy.preorder_traversal(e))


def rounded(e):
    """Floats to three decimals, tiny ones to 0. Halves become exact: SymPy does not see that
    1.0 - x and 1 - x are the same."""
    import sympy
    known = {}
    for f in e.atoms(sympy.Float):
        value = 0.0 if abs(f) < 1e-4 else round(float(f), 3)
        exact = (2 * value).is_integer()
        known[f] = sympy.Rational(int(2 * value), 2) if exact else sympy.Float(value)
    return e.xreplace(known)


def as_floats(e):
    """Numbers such as pi/4 and sqrt(2) as floats, so that they cancel with floats."""
    return e.replace(lambda n: n.is_number and not n.is_Rational and not n.is_Float and n.is_real,
                     lambda n: n.evalf())


def with_pi(e):
    """Floats that are small multiples of pi as such: their rounding breaks sin(2*x) = 2*sin(x)*cos(x)."""
    import sympy
    known = {}
    for f in e.atoms(sympy.Float):
        for q in (1, 2, 3, 4):
            p = round(float(f) * q / math.pi)
            if p and abs(p) <= 100 and abs(float(f) - p * math.pi / q) < 1e-12 * abs(float(f)):
                known.setdefault(f, sympy.Rational(p, q) * sympy.pi)
    return rounded(e.xreplace(known))


def is_constant(e):
    """Whether no input is left, before or after simplification."""
    import sympy
    from sympy.functions.elementary.trigonometric import TrigonometricFunction
    if not e.free_symbols:
        return e
    exact = e.xreplace({f: sympy.Rational(str(f)) for f in e.atoms(sympy.Float)})
    if not sympy.cancel(exact).free_symbols:
        return sympy.cancel(exact)
    if exact.has(TrigonometricFunction):
        # sin(x/2)**2 and (1 - cos(x))/2: seen with exact numbers, and some as exponentials only.
        for simpler in (sympy.trigsimp, lambda t: sympy.simplify(sympy.expand(t.rewrite(sympy.exp)))):
            if not simpler(exact).free_symbols:
                return simpler(exact)
    for simpler in (sympy.together, sympy.expand, sympy.simplify):
        e = rounded(simpler(e))
        if not e.free_symbols:
            return e
    return None


def judge(text, p, answer):
    """Sends (model size, truth's size, simplified text) and then whether it is solved."""
    import sympy
    try:
        truth, found = to_sympy(p.formula, p), to_sympy(text, p)
        answer.send((model_size(found), model_size(truth), str(found)))
        exact = with_pi(found)
        found = as_floats(rounded(found))
        solved = exact.has(sympy.pi) and exact.has(sympy.sin) and \
            not sympy.trigsimp(exact - truth).free_symbols
        truth = as_floats(truth)
        solved = solved or is_constant(rounded(found - truth)) is not None
        if not solved:
            ratio = is_constant(rounded(found / truth))
            solved = ratio is not None and ratio.is_finite is not False and ratio != 0 and \
                ratio is not sympy.nan
        answer.send(bool(solved))
    except Exception as e:  # whatever SymPy stumbles over is no solution, and is said
        answer.send(f"{type(e).__name__}: {e}"[:200])
    answer.close()


def judged(text, p, seconds):
    """judge in a process of its own, which is ended in time."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    worker = context.Process(target=judge, args=(text, p, there))
    worker.start()
    there.close()
    got, until = [], time.monotonic() + seconds
    try:
        while len(got) < 2 and here.poll(max(0.0, until - time.monotonic())):
            got.append(here.recv())
            if isinstance(got[-1], str):
                break
    except EOFError:
        pass
    worker.kill()
    worker.join()
    sizes = got[0] if got and isinstance(got[0], tuple) else (None, None, text)
    last = got[-1] if got and not isinstance(got[-1], tuple) else "timeout"
    return sizes, last is True, last if isinstance(last, str) else None


# ---- a run ----

def write_table(path, names, columns, y):
    with open(path, "w") as f:
        f.write(",".join([*names, "target"]) + "\n")
        for row in zip(*columns, y):
            f.write(",".join(repr(float(v)) for v in row) + "\n")


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(p, noise, seed, o):
    """Fits one problem and judges the answer; returns what its file holds."""
    snip = o.snip
    (train, clean), (test, y_test) = p.split(snip, seed, o.rows)
    y = clean + np.random.RandomState(seed).normal(0, 1, len(clean)) * \
        noise * math.sqrt(np.mean(clean ** 2))
    out = {"dataset": p.dataset, "algorithm": "snip", "params": settings(o), "random_state": seed,
           "target_noise": noise, "corpus": p.corpus, "id": p.id, "true_model": p.formula,
           "rows": [len(y), len(y_test)]}
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / f"{p.dataset}.csv"
        write_table(table, p.names, train, y)
        command = [snip, "fit", table, "--json", "--quiet", "--time", str(o.time), "--threads",
                   str(o.threads), "--seed", str(seed), *o.extra.split()]
        if o.hide:
            truth = pathlib.Path(folder) / "truth.txt"
            truth.write_text(p.formula + "\n")
            command += ["--except", truth]
        begun, before = time.monotonic(), cpu_of_children()
        try:
            # Processor seconds may take long on a machine that has other things to do.
            most = (90 if "--cpu" in command else 9) * o.time + 30
            done = subprocess.run(command, capture_output=True, text=True, timeout=most)
            out["time_time"] = time.monotonic() - begun
            answer = json.loads(done.stdout) if done.returncode == 0 else None
            failed = None if answer else f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
        except subprocess.TimeoutExpired:
            out["time_time"] = time.monotonic() - begun
            answer, failed = None, f"still running after {out['time_time']:.0f} s"
        except json.JSONDecodeError as e:
            answer, failed = None, f"not JSON: {e}"
        out["time_cpu"] = cpu_of_children() - before
    if answer is None:
        return {**out, "failed": failed, "symbolic_model": None, "solved": False, "on_front": False,
                "same": False, "same_on_front": False}
    selected = answer["selected"]
    fresh = p.uniform(FRESH, seed + 1)
    truth = p.values(fresh)
    front = []
    for place, f in enumerate(answer["front"]):
        values = p.values(fresh, f["sympy"])
        front.append({"equation": f["equation"], "sympy": f["sympy"], "size": f["size"],
                      "stage": f["stage"], "bits": f["bits"], "r2_val": f["r2_val"],
                      "test": errors(y_test, p.values(test, f["sympy"])),
                      "correlation": correlation(truth, values),
                      "same": same_numbers(truth, values), "solved": False})
    best = front[selected]
    # The selected formula first, then those that are nearest to the truth until one is solved.
    order = [selected] + sorted((k for k in range(len(front)) if k != selected),
                                key=lambda k: (not front[k]["same"], -front[k]["correlation"]))
    order = order[:1 + JUDGE_MOST]
    for place in order if noise else []:
        f = front[place]
        if not f["same"] and f["correlation"] > JUDGE_FROM:
            f["same"] = same_after_refit(snip, p, f, fresh, truth)
        if f["same"]:
            break
    for place in order:
        f = front[place]
        likely = (f["test"]["r2"] or 0) > 0.5 and (f["same"] or f["correlation"] > JUDGE_FROM)
        if place == selected or likely:
            sizes, solved, note = judged(f["sympy"], p, o.judge_time)
            f["model_size"], out["true_size"] = sizes[0], sizes[1] or out.get("true_size")
            f["solved"] = solved and likely
            if note:
                f["note"] = note
            if place == selected:
                out["symbolic_model"] = sizes[2]
        if f["solved"]:
            break
    fitted = errors(y, p.values(train, best["sympy"]))
    out.update({f"{k}_train": v for k, v in fitted.items()})
    out.update({f"{k}_test": v for k, v in best["test"].items()})
    out.update(model_size=best.get("model_size"), complexity=best["size"], solved=best["solved"],
               on_front=any(f["solved"] for f in front), same=best["same"],
               same_on_front=any(f["same"] for f in front), selected=selected, front=front,
               stage=best["stage"], evaluations=answer["evaluations"], fit_seconds=answer["seconds"],
               note=answer["note"])
    return out


def settings(o):
    return {"time": o.time, "threads": o.threads, "rows": o.rows, "extra": o.extra, "hide": o.hide}


def file_of(p, noise, seed, o):
    return pathlib.Path(o.out) / (f"{p.dataset}_snip_{seed}" +
                                  (f"_target-noise{noise:g}" if noise else "") + ".json")


def finish(p, noise, seed, o):
    """Runs one and writes its file, whole or not at all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; what runs may end
    result = run(p, noise, seed, o)
    path = file_of(p, noise, seed, o)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(result, indent=1) + "\n")
    part.rename(path)
    return result


def line(r):
    what = "SOLVED" if r["solved"] else "front " if r["on_front"] else "form  " if r["same_on_front"] \
        else "failed" if r.get("failed") else "-     "
    return (f"{what} {r['dataset']:24} {r['target_noise']:<6g} {r['time_time']:7.1f} s "
            f"{r.get('stage', ''):9} {r.get('failed') or r['symbolic_model']}")[:200]


def run_all(o):
    pathlib.Path(o.out).mkdir(parents=True, exist_ok=True)
    todo = []
    for noise in o.noise:
        for seed in o.seeds:
            for p in chosen(o):
                path = file_of(p, noise, seed, o)
                if not path.exists():
                    todo.append((p, noise, seed))
                elif json.loads(path.read_text())["params"] != settings(o):
                    sys.exit(f"srbench.py: {path} is of a run with other settings; "
                             f"choose another folder")
    print(f"{len(todo)} runs, {o.time:g} s each at most", file=sys.stderr)
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        waiting = [pool.submit(finish, *one, o) for one in todo]
        try:
            for one in concurrent.futures.as_completed(waiting):
                print(line(one.result()), flush=True)
        except KeyboardInterrupt:
            for one in waiting:
                one.cancel()
            sys.exit("stopped; the same command goes on from here")


# ---- the summary ----

def median(values, form):
    values = [v for v in values if v is not None]
    return form.format(statistics.median(values)) if values else "-"


def groups(o):
    """The runs in the folder that the options name, by corpus and noise."""
    wanted = {p.dataset for p in chosen(o)}
    out = {}
    for path in sorted(pathlib.Path(o.out).glob("*_snip_*.json")):
        r = json.loads(path.read_text())
        if r["dataset"] in wanted:
            out.setdefault((r["corpus"], r["target_noise"]), []).append(r)
    return out


def summary(o):
    found = groups(o)
    if not found:
        sys.exit(f"srbench.py: {o.out} holds no such runs")
    head = ["corpus", "noise", "runs", "solved", "on the front", "form", "form on the front", "R2 > .999",
            "size", "true size", "seconds", "CPU"]
    rows = []
    for (corpus, noise), runs in sorted(found.items()):
        def share(good):
            n = sum(1 for r in runs if good(r))
            return f"{100 * n / len(runs):.1f} % ({n})"
        rows.append([corpus, f"{noise:g}", str(len(runs)), share(lambda r: r["solved"]),
                     share(lambda r: r["on_front"]), share(lambda r: r["same"]),
                     share(lambda r: r["same_on_front"]),
                     share(lambda r: (r.get("r2_test") or 0) > 0.999),
                     median([r.get("model_size") for r in runs], "{:g}"),
                     median([r.get("true_size") for r in runs], "{:g}"),
                     median([r["time_time"] for r in runs], "{:.1f}"),
                     median([r["time_cpu"] for r in runs], "{:.1f}")])
    if o.markdown:
        print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
        for row in rows:
            print("| " + " | ".join(row) + " |")
    else:
        width = [max(len(r[k]) for r in [head, *rows]) for k in range(len(head))]
        for row in [head, *rows]:
            print("  ".join(cell.rjust(w) for cell, w in zip(row, width)))
    for (corpus, noise), runs in sorted(found.items()):
        failed = [r for r in runs if r.get("failed")]
        left = sorted({r["id"] for r in runs if not r["solved"]}, key=natural)
        print(f"\n{corpus}, noise {noise:g}: {len(left)} problems with unsolved runs"
              f"{': ' + ' '.join(left) if left else ''}")
        for r in failed:
            print(f"failed: {r['dataset']} seed {r['random_state']}: {r['failed']}")


def natural(name):
    return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", name)]


def numbers(kind):
    return lambda text: [kind(t) for t in text.split(",")]


def main():
    a = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("snip", nargs="?", default="build/snip", help="the program (build/snip)")
    a.add_argument("--corpus", default="feynman,strogatz", help="of feynman, strogatz and practice (feynman,strogatz)")
    a.add_argument("--noise", type=numbers(float), default=[0.0], metavar="LIST",
                   help="of the y that are fitted, as 0,.001,.01,.1 (0)")
    a.add_argument("--seeds", type=int, default=1, metavar="N", help="the first N of SRBench's ten (1)")
    a.add_argument("--time", type=float, default=10, metavar="SECONDS", help="per problem (10)")
    a.add_argument("--rows", type=int, default=10000, metavar="N", help="fitted at most (10000)")
    a.add_argument("--jobs", type=int, default=1, metavar="N", help="problems at a time (1)")
    a.add_argument("--threads", type=int, default=1, metavar="N", help="of each (1)")
    a.add_argument("--part", choices=["third", "rest", "all"], default="all",
                   help="third: every third of Feynman's, which settings were chosen with; rest: the others")
    a.add_argument("--count", type=int, metavar="N", help="only N of these problems, spread evenly")
    a.add_argument("--only", metavar="IDS", help="only these, as I.6.2,vdp1")
    a.add_argument("--extra", default="", metavar="OPTIONS", help="for snip fit, as --extra='--max-size 20'")
    a.add_argument("--hide", action="store_true",
                   help="the truth's form is not taken from a library (snip fit --except)")
    a.add_argument("--judge-time", type=float, default=20, metavar="SECONDS",
                   help="that SymPy has for a formula (20)")
    a.add_argument("--out", required=True, metavar="FOLDER", help="of the results")
    a.add_argument("--summary", action="store_true", help="only sum up what the folder holds")
    a.add_argument("--markdown", action="store_true", help="the table as Markdown")
    a.add_argument("--install", action="store_true", help="get the packages that are missing")
    o = a.parse_args()
    if not 1 <= o.seeds <= len(SEEDS):
        a.error(f"--seeds is 1 to {len(SEEDS)}")
    o.seeds = SEEDS[:o.seeds]
    if not chosen(o):
        a.error("no problem is left")
    if not o.summary:
        try:
            import sympy  # noqa: F401 - once, here, for all that are forked
        except ImportError:
            sys.exit("srbench.py: SymPy is missing; --install gets it")
        o.snip = os.path.abspath(o.snip)
        if not os.access(o.snip, os.X_OK):
            sys.exit(f"srbench.py: there is no program {o.snip}")
        run_all(o)
    summary(o)


if __name__ == "__main__":
    main()
