#!/usr/bin/env python3
"""Recomputes the figures of an evaluation from its dumped embeddings, with NumPy in float64.

    recompute.py RESULTS.json DUMP_FOLDER
"""
import collections
import json
import sys

import numpy as np

FAMILIES = ["unary_swap", "variable_substitution", "binary_swap", "tree_reshaping",
            "operand_reordering", "subtree_rewriting"]
passed = failed = 0


def check(what, got, want):
    global passed, failed
    good = want is not None and abs(got - want) < 1e-6
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(f"FAILED: {what}: {got} here, {want} in results.json")


def load(folder, name, suite):
    stem = f"{folder}/{name}.{suite}"
    symbols = np.load(stem + ".symbols.npy").astype(np.float64)
    values = np.load(stem + ".values.npy").astype(np.float64)
    index = [json.loads(line) for line in open(stem + ".jsonl")]
    assert len(index) == len(symbols) == len(values)
    return symbols, values, index


def check_global(suite, symbols, values):
    similarity = symbols @ values.T
    own = np.diag(similarity)
    for way, s in (("f2y", similarity), ("y2f", similarity.T)):
        rank = (s >= own[:, None]).sum(axis=1)  # itself included
        top = rank <= 10
        check(f"global {way} r1", (rank == 1).mean(), suite[way]["r1"]["value"])
        check(f"global {way} r10", top.mean(), suite[way]["r10"]["value"])
        check(f"global {way} ndcg10", (top / np.log2(1 + rank)).mean(),
              suite[way]["ndcg10"]["value"])
        check(f"global {way} mrr", (1 / rank).mean(), suite[way]["mrr"]["value"])
        check(f"global {way} median", np.median(rank), suite[way]["median_rank"]["value"])


def percentile_ranks(symbols, values, index):
    """{way: {family: {target: [percentile ranks of its parts]}}}"""
    groups = collections.defaultdict(list)
    for row, line in enumerate(index):
        groups[line["pool"], line["target"], line["part"]].append((line["family"], row))
    out = {way: {f: collections.defaultdict(list) for f in FAMILIES} for way in ("f2y", "y2f")}
    for (_, target, _), rows in groups.items():
        original = next(row for family, row in rows if family == "original")
        own = symbols[original] @ values[original]
        for family in FAMILIES:
            others = [row for f, row in rows if f == family]
            if others:
                out["f2y"][family][target].append((values[others] @ symbols[original] < own).mean())
                out["y2f"][family][target].append((symbols[others] @ values[original] < own).mean())
    return out


def family_mean(targets):
    return np.mean([np.mean(parts) for parts in targets.values()])


def check_local(name, suite, symbols, values, index):
    ranks = percentile_ranks(symbols, values, index)
    for way in ranks:
        means = []
        for family in FAMILIES:
            if ranks[way][family]:
                means.append(family_mean(ranks[way][family]))
                check(f"{name} {family} {way}", means[-1],
                      suite["families"][family][way]["value"])
        check(f"{name} average {way}", np.mean(means), suite["average"][way]["value"])


def check_ood(suite, symbols, values, index):
    for view in ("paper", "consistent"):
        for corpus in ("feynman", "classic", "strogatz", "pooled"):
            mine = [i for i, line in enumerate(index) if line.get("family") == "whole"
                    and line["pool"].startswith(view + "/")
                    and (corpus == "pooled" or line["pool"].split("/")[1] == corpus)]
            similarity = symbols[mine] @ values[mine].T
            own = np.diag(similarity)
            for way, s in (("f2y", similarity), ("y2f", similarity.T)):
                pr = (s < own[:, None]).sum(axis=1) / (len(mine) - 1)
                check(f"ood {corpus} {view} {way}", pr.mean(),
                      suite[corpus][view]["global"][way]["value"])
            assert len(mine) == suite[corpus]["expressions"]


def check_probes(suite, symbols, values, index):
    of = collections.defaultdict(list)
    for row, line in enumerate(index):
        of[line["probe"]].append((row, line))
    rows = [row for row, _ in of["variation"]]
    for row, want in zip(rows, suite["variation"]["similarity"]):
        check("variation", symbols[rows[0]] @ symbols[row], want)
    kinds, original = {"preserving": [], "changing": []}, None
    for row, line in of["consequences"]:
        if line["edit"] == "none":
            original = row
        else:
            kinds[line["edit"]].append(symbols[original] @ symbols[row])
    high, low = np.array(kinds["preserving"])[:, None], np.array(kinds["changing"])[None, :]
    check("auc", ((high > low) + 0.5 * (high == low)).mean(),
          suite["consequences"]["auc"]["value"])
    cases = collections.defaultdict(list)
    for row, line in of["rewritings"]:
        if line["role"] == "formula":
            cases[line["family"]].append([])
        cases[line["family"]][-1].append(row)
    for family, lists in cases.items():
        ranks = [(symbols[c[2:]] @ symbols[c[0]] < symbols[c[1]] @ symbols[c[0]]).mean()
                 for c in lists]
        check(f"rewritings {family}", np.mean(ranks), suite["rewritings"]["families"][family]["value"])
    rows = [row for row, _ in of["taylor"]]
    check("taylor", (symbols[rows] * values[rows]).sum(axis=1).mean(),
          suite["taylor"]["average"]["value"])
    orders = 3
    cosines = values[rows[::orders]] @ symbols[rows].T
    others = np.repeat(~np.eye(len(rows) // orders, dtype=bool), orders, axis=1)
    check("taylor, unrelated", cosines[others].mean(), suite["taylor"]["unrelated"]["value"])


def main():
    results, folder = json.load(open(sys.argv[1])), sys.argv[2]
    model = results["models"][0]
    suites, name = model["suites"], model["name"]
    check_global(suites["global"], *load(folder, name, "global")[:2])
    for local in ("edits", "subtrees"):
        check_local(local, suites[local], *load(folder, name, local))
    check_ood(suites["ood"], *load(folder, name, "ood"))
    check_probes(suites["probes"], *load(folder, name, "probes"))
    symbols, values, _ = load(folder, name, "geometry")
    gap = np.linalg.norm(symbols.mean(axis=0) - values.mean(axis=0))
    check("gap", gap, suites["geometry"]["gap"]["value"])
    both = np.concatenate([symbols, values])
    share = np.linalg.svd(both - both.mean(axis=0), compute_uv=False) ** 2
    check("explained", share[0] / share.sum(), suites["geometry"]["explained"][0])
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
