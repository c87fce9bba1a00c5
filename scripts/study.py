#!/usr/bin/python3
"""The recipe study: one change at a time, equal time, a validation seed that no result uses.

    scripts/study.py build/snip --seconds 180 --out runs/study            # all of it
    scripts/study.py build/snip --only base,zoom --seconds 60 --out runs/s  # some of it
    scripts/study.py build/snip --list                                    # the commands

Each variant trains on one core for the same processor time (so that other work on the machine does not
count), without decay, then its retrieval is measured among 2,000 pairs of seed 99: clean, with 1 % and
10 % noise on y, and with 50 of the 200 rows. With --fine also the true formula among its edits, the true
subtree among its edits, and, for variants that read forms, retrieval among 2,000 forms, the true law's
place among seven, and the Spearman correlation of similarity with the error after a refit. Finished
variants are kept and not run again.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

BASE = {"d": 64, "channels": 2, "heads": 4, "ff": 256, "layers": 3, "latent": 128, "hidden": 128,
        "statistics": "yes", "points": 0, "stage": "S2", "edits": 0, "subtrees": 2, "noise": 0.1,
        "rows": 50, "schedule": "constant", "lr": 1.5e-3, "warmup": 200, "steps": 10**9}
POINTS = {"statistics": "no", "points": 200}
# The second recipe: one token per constant, Muon, averaged weights; then forms and laws.
VALUE = {"constants": "value"}
MUON = {"optimizer": "muon", "muon_lr": 4.5e-3}
AVERAGE = {"average": 0.99}
SECOND = {**VALUE, **MUON, **AVERAGE}
SLOPES = {"slopes": "yes"}
SURFACE = {**SLOPES, "surface": "yes"}
FORMS = {"forms": "yes", "forms_share": 0.5}
WIDE = {"d": 128, "channels": 4, "ff": 512, "layers": 4}
VARIANTS = {
    "base": {},
    "value constants": VALUE,
    "muon": MUON,
    "averaged": AVERAGE,
    "second": SECOND,
    "second S5": {**SECOND, "stage": "S5", "edits": 2, "subtrees": 1},
    "second S5 constant edits": {**SECOND, "stage": "S5", "edits": 2, "subtrees": 1, "constant_edits": 0.3},
    "second slopes": {**SECOND, **SLOPES},
    "second slopes scale 15": {**SECOND, **SLOPES, "scale_most": 15},
    "second S5 constant edits slopes": {**SECOND, **SLOPES, "stage": "S5", "edits": 2, "subtrees": 1,
                                        "constant_edits": 0.3},
    "second forms": {**SECOND, **FORMS},
    "second laws": {**SECOND, "laws": 0.3},
    "second forms laws": {**SECOND, **FORMS, "laws": 0.3},
    "second forms laws slopes": {**SECOND, **FORMS, **SLOPES, "laws": 0.3},
    "second forms laws slopes refits": {**SECOND, **FORMS, **SLOPES, "laws": 0.3, "refits": 2},
    "second surface": {**SECOND, **SURFACE},
    "second forms laws surface": {**SECOND, **FORMS, **SURFACE, "laws": 0.3},
    "second forms laws surface refits": {**SECOND, **FORMS, **SURFACE, "laws": 0.3, "refits": 2},
    "d 128 base": WIDE,
    "d 128 second": {**WIDE, **SECOND},
    "d 128 second forms laws": {**WIDE, **SECOND, **FORMS, "laws": 0.3},
    "d 128 second forms laws slopes": {**WIDE, **SECOND, **FORMS, **SLOPES, "laws": 0.3},
    "S0": {"stage": "S0"},
    "S1": {"stage": "S1"},
    "S5": {"stage": "S5", "edits": 2, "subtrees": 1},
    "S5 after S2": {"stage": "S5", "edits": 2, "subtrees": 1, "first": 300, "first_stage": "S2",
                    "first_edits": 0, "first_subtrees": 2},
    "one subtree": {"subtrees": 1},
    "four subtrees": {"subtrees": 4},
    "lambda 0.3": {"lambda": 0.3},
    "lambda 3": {"lambda": 3},
    "d 96": {"d": 96, "channels": 3, "heads": 3, "ff": 384},
    "d 128": {"d": 128, "channels": 4, "ff": 512},
    "statistics 16 points": {"points": 200, "train_points": 16, "values": "features"},
    "statistics 48 points": {"points": 200, "train_points": 48, "values": "features"},
    "16 points features": {**POINTS, "train_points": 16, "values": "features"},
    "32 points features": {**POINTS, "train_points": 32, "values": "features"},
    "64 points features": {**POINTS, "train_points": 64, "values": "features"},
    "32 points tokens": {**POINTS, "train_points": 32, "values": "tokens"},
    "clean training": {"noise": 0, "rows": 0},
    "zoom 0.3": {"zoom": 0.3},
}
MEASURES = {"clean": [], "1 % noise": ["--noise", "1"], "10 % noise": ["--noise", "10"],
            "50 rows": ["--rows", "50"]}
FINE = ("edits", "subtrees", "forms", "place of 7", "Spearman")


def command(snip, variant, folder):
    settings = {**BASE, **VARIANTS[variant]}
    sets = [part for key, value in settings.items() if key not in ("stage", "steps")
            for part in ("--set", f"{key}={value}")]
    return [snip, "train", "--preset", "small", "--stage", settings["stage"], "--steps",
            str(settings["steps"]), "--batch-size", "128", "--seed", "1", "--threads", "1", *sets,
            "--check-pairs", "2", "--quiet", "--out", str(folder)]


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def train(snip, variant, folder, seconds):
    env = dict(os.environ, OMP_NUM_THREADS="1")
    run = subprocess.Popen(command(snip, variant, folder), env=env, stdout=subprocess.DEVNULL)
    while run.poll() is None and cpu_seconds(run.pid) < seconds:
        time.sleep(0.2)
    early = run.poll() is not None
    if not early:
        run.send_signal(signal.SIGINT)
    if run.wait() not in (0, 3) or early: # 3: stopped by a signal
        sys.exit(f"study.py: {variant}: training failed")


def suites(snip, folder, *options):
    """What `snip evaluate` says of the model in the folder, on the validation seed; and its samples."""
    subprocess.run([snip, "evaluate", "--model", str(folder / "model.safetensors"), "--seed", "99", "--threads",
                    "1", "--quiet", "--out", str(folder / "evaluation"), *options], check=True,
                   stdout=subprocess.DEVNULL)
    model = json.loads((folder / "evaluation" / "results.json").read_text())["models"][0]
    return model["suites"], model["samples"]


def both(measured, key=None, factor=1):
    """A figure in both directions."""
    return [factor * (measured[d][key] if key else measured[d])["value"] for d in ("f2y", "y2f")]


def evaluate(snip, folder, options):
    found, samples = suites(snip, folder, "--suite", "global", "--pairs", "2000", *options)
    return both(found["global"], "ndcg10", 100), samples


def evaluate_fine(snip, folder, reads_forms):
    found, _ = suites(snip, folder, "--suite", "edits", "--suite", "subtrees")
    figures = {name: both(found[name]["average"]) for name in ("edits", "subtrees")}
    if reads_forms:
        found, _ = suites(snip, folder, "--suite", "forms", "--problems", "20", "--library", "500", "--pairs",
                          "2000")
        forms = found["forms"]
        figures["forms"] = both(forms["retrieval"]["snip"], "ndcg10", 100)
        laws = forms["problems"]["laws"]["rows200"]
        figures["place of 7"] = [laws["place"]["similarity"]["value"]]
        figures["Spearman"] = [laws["spearman"]["similarity"]["value"]]
    return figures


def study(snip, variant, out, seconds, fine):
    folder = out / variant.replace(" ", "-")
    done = folder / "figures.json"
    figures = json.loads(done.read_text()) if done.exists() else {}
    if not figures:
        shutil.rmtree(folder, ignore_errors=True)  # what was interrupted starts again, to be of equal time
        folder.mkdir(parents=True)
        train(snip, variant, folder, seconds)
        for name, options in MEASURES.items():
            figures[name], figures["samples"] = evaluate(snip, folder, options)
        done.write_text(json.dumps(figures))
    if fine and "edits" not in figures:
        figures.update(evaluate_fine(snip, folder, "forms" in VARIANTS[variant]))
        done.write_text(json.dumps(figures))
    return variant, figures


def cell(figures, column):
    """The figures of a column, with as many digits as they deserve; nothing where there are none."""
    digits = {"edits": ".3f", "subtrees": ".3f", "place of 7": ".2f", "Spearman": ".2f"}.get(column, ".1f")
    return " / ".join(format(v, digits) for v in figures.get(column, []))


def main():
    parser = argparse.ArgumentParser(description="Runs the recipe study.",
                                     epilog="example: study.py build/snip --out runs/study")
    parser.add_argument("snip")
    parser.add_argument("--seconds", type=float, default=180, help="of a core, each (default 180)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/study"))
    parser.add_argument("--only", help="variants, a comma between them")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default 2)")
    parser.add_argument("--fine", action="store_true", help="measure edits, subtrees and forms, too")
    parser.add_argument("--list", action="store_true", help="print the commands")
    a = parser.parse_args()
    chosen = a.only.split(",") if a.only else list(VARIANTS)
    for name in chosen:
        if name not in VARIANTS:
            sys.exit(f"study.py: there is no variant '{name}'; see --list")
    if a.list:
        for name in chosen:
            print(f"# {name}\n{' '.join(command(a.snip, name, 'DIR'))}")
        return
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = list(pool.map(lambda v: study(a.snip, v, a.out, a.seconds, a.fine), chosen))
    columns = [*MEASURES, *(FINE if a.fine else ())]
    print("| variant | expressions | " + " | ".join(columns) + " |")
    print("| --- | ---: |" + " ---: |" * len(columns))
    for variant, f in results:
        print(f"| {variant} | {f['samples']:,.0f} | " + " | ".join(cell(f, c) for c in columns) + " |")


if __name__ == "__main__":
    main()
