#!/usr/bin/python3
"""Recipes against each other: the same processor time of one core each, from scratch.

    scripts/equal_time.py build/snip --seconds 3600 --out runs/equal      # an hour each, old and new
    scripts/equal_time.py build/snip --recipes views-S5,views-S0 --out runs/control
    scripts/equal_time.py build/snip --list                               # the settings

Each recipe trains on one core; now and then it is stopped, which changes nothing (a run that goes on is
the same run), its model is put aside and measured: nDCG@10 among 2,000 pairs of validation seed 99.
Stop the script when you like: the same command goes on from the last such checkpoint. The result is a
table for docs/recipe.md on standard output and OUT/equal_time.svg. Measuring does not count as time.

The phases are shares of the time, since nobody knows the number of steps before: each begins with whole
expressions and two subtrees in context (S2 without edits) and goes over to S5 for the last 40 %, but
views-S0 keeps plain SNIP's objective to the end. The old recipe's learning rate falls to 0 in the last
25 %, the others average their weights instead.
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
import threading
import time

import curves
from study import MEASURES, cpu_seconds, evaluate

COMMON = {"preset": "small", "stage": "S5", "edits": 2, "subtrees": 1, "first_stage": "S2", "first_edits": 0,
          "first_subtrees": 2, "statistics": "yes", "points": 0, "hidden": 256, "noise": 0.1,
          "schedule": "constant", "batch": 192, "seed": 1}
# As models/README.md has them: the exact model's, and the default's, without forms (all samples in the
# exact view, which is what is measured) and with them (half of the samples).
NEW = {**COMMON, "constants": "value", "slopes": "yes", "optimizer": "muon", "muon_lr": 4e-3,
       "average": 0.99, "lr": 1.5e-3, "warmup": 100, "rows": 12, "laws": 0.3, "zoom": 0.2, "first_zoom": 0.2,
       "constant_edits": 0.3, "products": "auto"}
VIEWS = {**NEW, "forms": "yes", "forms_share": 0.5}
RECIPES = {
    "old": {**COMMON, "lr": 1.2e-3, "warmup": 200, "rows": 50, "zoom": 0.3},
    "new": NEW,
    "views-S5": VIEWS,
    "views-S0": {**VIEWS, "stage": "S0", "first_stage": "S0"},
}
DECAYS = {"old"}
S5_FROM, DECAY_FROM, CHECKPOINTS = 0.6, 0.75, 12
FOR_EVER = 10**9
stopping = threading.Event()


def command(snip, settings, folder):
    sets = [part for key, value in settings.items() if key not in ("preset", "steps")
            for part in ("--set", f"{key}={value}")]
    return [snip, "train", "--preset", settings["preset"], "--steps", str(settings["steps"]), *sets,
            "--threads", "1", "--save-frequency", "10000", "--check-pairs", "2", "--quiet", "--json", "--out",
            str(folder)]


def train(snip, settings, folder, seconds):
    """Goes on for so many seconds of the processor; returns those that it took, and the steps made."""
    run = subprocess.Popen(command(snip, settings, folder) + (["--resume"] if folder.exists() else []),
                           env=dict(os.environ, OMP_NUM_THREADS="1"), stdout=subprocess.PIPE,
                           start_new_session=True)  # Ctrl-C is for us: it would end the stretch early
    asked = False
    while True:
        pid, status, usage = os.wait4(run.pid, os.WNOHANG)
        if pid:
            break
        if stopping.is_set():
            run.kill()
            run.wait()
            raise InterruptedError
        if not asked and cpu_seconds(run.pid) >= seconds:
            run.send_signal(signal.SIGINT)
            asked = True
        time.sleep(0.05)
    said = run.stdout.read()
    run.stdout.close()
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode not in (0, 3):  # 3: stopped by a signal
        sys.exit(f"equal_time.py: training failed: {' '.join(command(snip, settings, folder))}")
    return usage.ru_utime + usage.ru_stime, json.loads(said)


def settings_now(recipe, done, state, total):
    """The settings from here on, with the phases that begin now; `state` remembers where they began."""
    if done["cpu"] >= S5_FROM * total and "first" not in state:
        state["first"] = done["steps"]
        state["s5_cpu"] = done["cpu"]
    known = done["cpu"] > state.get("s5_cpu", done["cpu"])  # how fast S5 is
    if recipe in DECAYS and known and done["cpu"] >= DECAY_FROM * total and "decay" not in state:
        speed = (done["steps"] - state["first"]) / (done["cpu"] - state["s5_cpu"])
        state["decay"] = done["steps"]
        state["steps"] = done["steps"] + max(1, round(speed * (total - done["cpu"])))
    return {**RECIPES[recipe], "first": state.get("first", FOR_EVER), "decay": state.get("decay", 0),
            "steps": state.get("steps", FOR_EVER)}


def study(snip, recipe, out, total):
    folder = out / recipe
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / "record.json"
    r = json.loads(record.read_text()) if record.exists() else {"total": total, "state": {}, "points": []}
    if r["total"] != total:
        sys.exit(f"equal_time.py: {record}: was made with --seconds {r['total']:g}")
    # What an interrupted run did since its last checkpoint was not counted: it is done again.
    if r["points"] and len(r["points"]) < CHECKPOINTS:
        shutil.copy(folder / "state.safetensors", folder / "run" / "state.safetensors")
    elif not r["points"]:
        shutil.rmtree(folder / "run", ignore_errors=True)
    while len(r["points"]) < CHECKPOINTS:
        if stopping.is_set():
            raise InterruptedError
        k = len(r["points"]) + 1
        done = r["points"][-1] if r["points"] else {"cpu": 0, "steps": 0}
        settings = settings_now(recipe, done, r["state"], total)
        # The last stretch of a decay ends with its last step, the others with their time.
        left = k * total / CHECKPOINTS - done["cpu"]
        ends = k == CHECKPOINTS and "decay" in r["state"]
        cpu, said = train(snip, settings, folder / "run", 10 * total if ends else left)
        kept = folder / f"{k:02d}"
        kept.mkdir(exist_ok=True)
        shutil.copy(folder / "run" / "model.safetensors", kept / "model.safetensors")
        measures = MEASURES if k == CHECKPOINTS else {"clean": MEASURES["clean"]}
        point = {"cpu": done["cpu"] + cpu, "steps": said["steps"], "samples": said["samples"],
                 **{name: evaluate(snip, kept, options)[0] for name, options in measures.items()}}
        r["points"].append(point)
        shutil.copy(folder / "run" / "state.safetensors", folder / "state.new")
        (folder / "state.new").replace(folder / "state.safetensors")
        new = record.with_suffix(".new")
        new.write_text(json.dumps(r))
        new.replace(record)
    return recipe, r["points"]


def as_svg(figure):
    """The drawing of an HTML figure, with what its page would say about style, as a file of its own."""
    svg = figure[figure.index("<svg"):figure.index("</svg>") + len("</svg>")]
    style = ("<style>text{font:12px sans-serif;fill:#333}polyline{fill:none;stroke-width:2}"
             ".g{stroke:#ddd}</style>")
    return svg.replace("<svg ", "<svg xmlns='http://www.w3.org/2000/svg' ", 1).replace(">", ">" + style, 1) + "\n"


def report(results, out):
    lines = []
    for recipe, points in results:
        for way, dashed in ((0, False), (1, True)):
            lines.append((recipe, [(p["cpu"] / 60, p["clean"][way]) for p in points], dashed))
    (out / "equal_time.svg").write_text(
        as_svg(curves.figure("", "minutes of one core; nDCG@10 in % among 2,000, dashed: data to formula", lines)))
    names = [recipe for recipe, _ in results]
    print("| minutes | " + " | ".join(names) + " |")
    print("| ---: |" + " ---: |" * len(names))
    for at in zip(*(points for _, points in results)):
        cells = " | ".join(f"{p['clean'][0]:.1f} / {p['clean'][1]:.1f} ({p['samples'] / 1000:,.0f} k)" for p in at)
        print(f"| {at[0]['cpu'] / 60:.1f} | {cells} |")
    print("\n| in the end | " + " | ".join(names) + " |\n| --- |" + " ---: |" * len(names))
    for measure in MEASURES:
        cells = " | ".join("{:.1f} / {:.1f}".format(*points[-1][measure]) for _, points in results)
        print(f"| {measure} | {cells} |")


def main():
    parser = argparse.ArgumentParser(description="Recipes against each other at equal processor time.",
                                     epilog="example: equal_time.py build/snip --out runs/equal")
    parser.add_argument("snip")
    parser.add_argument("--seconds", type=float, default=3600, help="of a core, each (default 3600)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/equal"))
    parser.add_argument("--recipes", default="old,new", help=f"of {', '.join(RECIPES)}; a comma between them")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="print the first commands")
    a = parser.parse_args()
    chosen = a.recipes.split(",")
    for name in chosen:
        if name not in RECIPES:
            sys.exit(f"equal_time.py: there is no recipe '{name}': {', '.join(RECIPES)}")
    if a.list:
        for name in chosen:
            start = settings_now(name, {"cpu": 0, "steps": 0}, {}, a.seconds)
            print(f"# {name}\n{' '.join(command(a.snip, start, 'DIR'))}")
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stopping.set())
    try:
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            results = list(pool.map(lambda name: study(a.snip, name, a.out, a.seconds), chosen))
    except InterruptedError:
        sys.exit("equal_time.py: stopped; the same command goes on")
    report(results, a.out)


if __name__ == "__main__":
    main()
