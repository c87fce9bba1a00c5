#!/usr/bin/python3
"""Seconds per training step, or embeddings per second: snip beside PyTorch, in the same run, in turns.

For each case a batch is exported (`snip bench batch`), the PyTorch step is checked against C's loss
on it, and then both are measured in turns; the best of each counts. PyTorch's time is its step
alone. That of snip is the mean of `snip bench train` over the steps it makes, the first of which is
on the same batch, and it contains drawing the samples. A turn during which other processes were
busy is repeated a few times; `others` tells how many cores they took in the turns that count.

    bench/torch/compare.py build/snip
    bench/torch/compare.py build/snip --case small:S5:48:1 --json
    bench/torch/compare.py build/snip --embed
"""
import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time

import step as torch_step  # first: it chooses the kernels of torch's BLAS

import torch

EMBEDDINGS = ["small:S1:128:2", "small:S1:128:1", "paper:S1:16:2"]
CASES = ["small:S5:48:2", "small:S5:48:1", "paper:S0:16:2", "paper:S5:16:2"]
QUIET = 0.1  # cores that others may take of those in use here


def available_bytes():
    with open("/proc/meminfo") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


class Meter:
    """Seconds, and the cores that processes other than this one and its children took meanwhile."""

    def __enter__(self):
        self.start, self.busy, self.own = time.perf_counter(), self.all_busy(), self.own_busy()
        return self

    def __exit__(self, *unused):
        self.seconds = time.perf_counter() - self.start
        others = self.all_busy() - self.busy - (self.own_busy() - self.own)
        self.others = max(0.0, others / self.seconds)

    @staticmethod
    def all_busy():
        with open("/proc/stat") as f:
            user, nice, system, _, _, irq, soft, steal = map(int, f.readline().split()[1:9])
        return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def own_busy():
        return sum(os.times()[:4])


def run_snip(snip, what, case, *more):
    """One `snip bench`, as an object."""
    preset, stage, batch, threads = case
    command = [snip, "bench", what, "--preset", preset, "--stage", stage, "--batch-size",
               str(batch), "--threads", str(threads), "--json", *more]
    # With one thread the products would otherwise use all cores: oneDNN asks OpenMP, not snip.
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env=environment)
    if done.returncode:
        sys.exit(f"compare.py: {' '.join(command)} failed")
    return json.loads(done.stdout)


def measure(snip, case, repeat, folder):
    """The figures of one case, or None with a message if it does not fit the memory."""
    preset, stage, batch, threads = case
    path = os.path.join(folder, "batch.safetensors")
    exported = run_snip(snip, "batch", case, "--out", path)
    torch.set_num_threads(threads)
    one = torch_step.Step(path)
    needed, there = one.bytes_needed(), available_bytes()
    if needed > there:
        print(f"skipped {preset} {stage} batch {batch}: PyTorch needs about {needed / 2**30:.1f} "
              f"GiB, {there / 2**30:.1f} GiB are available", file=sys.stderr)
        return None
    loss, _, norm = one.run()  # the warm-up, on the weights that C started from
    for name, got in (("loss", loss), ("gradient_norm", norm)):
        want = exported[name]
        if not abs(got - want) <= 1e-3 * abs(want):
            sys.exit(f"compare.py: {preset} {stage}: {name} is {got:.6g}, C has {want:.6g}")
    torch_turns, snip_turns = [], []
    quiet = QUIET + max(0, os.cpu_count() - threads)
    for _ in range(3 * repeat):
        with Meter() as meter:
            one.run()
        torch_turns.append((meter.seconds, meter.others))
        with Meter() as meter:
            figures = run_snip(snip, "train", case, "--seconds", "1")
        snip_turns.append((figures["seconds_per_step"], meter.others, figures))
        if all(sum(turn[1] < quiet for turn in turns) >= repeat
               for turns in (torch_turns, snip_turns)):
            break
    theirs, ours = min(torch_turns), min(snip_turns, key=lambda turn: turn[0])
    figures = ours[2]
    batch_of = one.batch
    padded = batch_of["token"].numel() + batch_of["y"].shape[0] * batch_of["y"].shape[1]
    return {
        "preset": preset, "stage": stage, "batch": batch, "threads": threads,
        "torch_seconds": theirs[0], "snip_seconds": ours[0], "ratio": theirs[0] / ours[0],
        "torch_others": theirs[1], "snip_others": ours[1],
        "torch_turns": torch_turns, "snip_turns": [turn[:2] for turn in snip_turns],
        "torch_tokens": padded, "snip_tokens": figures["tokens_per_step"],
        "snip_gflops": figures["gflops"], "sgemm_gflops": figures["sgemm_gflops"],
        "loss_difference": abs(loss / exported["loss"] - 1),
        "torch": torch.__version__, "openblas": os.environ.get("OPENBLAS_CORETYPE"),
    }


def measure_embedding(snip, case, repeat, folder):
    """Formulas and tables per second, forward only. PyTorch gets its tokens ready made."""
    preset, stage, batch, threads = case
    path = os.path.join(folder, "batch.safetensors")
    run_snip(snip, "batch", case, "--out", path)
    torch.set_num_threads(threads)
    one = torch_step.Step(path)
    b, encoder = one.batch, one.model.encoder_f
    best = {"formulas": [float("inf"), 0.0], "tables": [float("inf"), 0.0]}
    with torch.no_grad():
        sides = {"formulas": lambda: encoder.rows(one.model.formulas(b), b["padded"]),
                 "tables": lambda: one.model.tables(b)}
        for turn in range(1 + 3 * repeat):
            for name, run in sides.items():
                with Meter() as meter:
                    rows = run()
                if turn:  # the first is the warm-up
                    best[name][0] = min(best[name][0], meter.seconds / len(rows))
            ours = run_snip(snip, "embed", case, "--seconds", "2")["figures"]
            for name in sides:
                best[name][1] = max(best[name][1], ours[name + "_per_second"])
    return {"preset": preset, "batch": batch, "threads": threads,
            **{f"torch_{name}_per_second": 1 / b[0] for name, b in best.items()},
            **{f"snip_{name}_per_second": b[1] for name, b in best.items()},
            **{f"ratio_{name}": b[1] * b[0] for name, b in best.items()}}


def show_embeddings(snip, cases, repeat, as_json):
    if not as_json:
        print(f"{'preset':<7}{'batch':>6}{'cores':>6}{'torch formulas/s':>18}{'snip':>9}{'ratio':>7}"
              f"{'torch tables/s':>16}{'snip':>9}{'ratio':>7}", flush=True)
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            row = measure_embedding(snip, case, repeat, folder)
        gc.collect()
        if as_json:
            print(json.dumps(row), flush=True)
        else:
            print(f"{row['preset']:<7}{row['batch']:>6}{row['threads']:>6}"
                  f"{row['torch_formulas_per_second']:>18.1f}{row['snip_formulas_per_second']:>9.1f}"
                  f"{row['ratio_formulas']:>7.2f}{row['torch_tables_per_second']:>16.1f}"
                  f"{row['snip_tables_per_second']:>9.1f}{row['ratio_tables']:>7.2f}", flush=True)


def parse_case(text):
    try:
        preset, stage, batch, threads = text.split(":")
        return preset, stage, int(batch), int(threads)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not PRESET:STAGE:BATCH:THREADS") from None


def main():
    parser = argparse.ArgumentParser(
        description="Measures training steps of snip and PyTorch in turns.",
        epilog="example: compare.py build/snip --case small:S5:48:2")
    parser.add_argument("snip", help="the program")
    parser.add_argument("--case", action="append", type=parse_case, metavar="P:S:B:T",
                        help=f"preset, stage, batch, threads (default {' '.join(CASES)})")
    parser.add_argument("--repeat", type=int, default=2, help="undisturbed turns (default 2)")
    parser.add_argument("--embed", action="store_true",
                        help=f"embeddings instead of steps (default {' '.join(EMBEDDINGS)})")
    parser.add_argument("--json", action="store_true", help="an object a line")
    a = parser.parse_args()
    if a.embed:
        show_embeddings(a.snip, a.case or [parse_case(t) for t in EMBEDDINGS], a.repeat, a.json)
        return 0
    if not a.json:
        print(f"{'preset':<7}{'stage':<6}{'batch':>6}{'cores':>6}{'torch s':>10}{'snip s':>10}"
              f"{'ratio':>7}{'torch tokens':>14}{'snip tokens':>13}{'others':>12}", flush=True)
    for case in a.case or [parse_case(text) for text in CASES]:
        with tempfile.TemporaryDirectory() as folder:
            row = measure(a.snip, case, a.repeat, folder)
        gc.collect()
        if row is None:
            continue
        if a.json:
            print(json.dumps(row), flush=True)
        else:
            print(f"{row['preset']:<7}{row['stage']:<6}{row['batch']:>6}{row['threads']:>6}"
                  f"{row['torch_seconds']:>10.3f}{row['snip_seconds']:>10.3f}{row['ratio']:>7.2f}"
                  f"{row['torch_tokens']:>14}{row['snip_tokens']:>13.0f}"
                  f"{row['torch_others']:>7.2f}{row['snip_others']:>5.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
