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


def check(what, got, want, near=1e-6):
    global passed, failed
    good = want is not None and abs(got - want) < near
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


def check_corpora(suite, symbols, values, index):
    for view in ("paper", "consistent"):
        for corpus in ("feynman", "classic", "strogatz", "pooled"):
            mine = [i for i, line in enumerate(index) if line.get("family") == "whole"
                    and line["pool"].startswith(view + "/")
                    and (corpus == "pooled" or line["pool"].split("/")[1] == corpus)]
            similarity = symbols[mine] @ values[mine].T
            own = np.diag(similarity)
            for way, s in (("f2y", similarity), ("y2f", similarity.T)):
                pr = (s < own[:, None]).sum(axis=1) / (len(mine) - 1)
                check(f"corpora {corpus} {view} {way}", pr.mean(),
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


CONDITIONS = ["rows200", "rows200_noise5", "rows30", "rows30_noise5"]


def mean_ranks(v):
    v = np.asarray(v)
    return (v[:, None] > v).sum(axis=1) + ((v[:, None] == v).sum(axis=1) + 1) / 2


def spearman(a, b):
    a, b = mean_ranks(a), mean_ranks(b)
    return np.corrcoef(a, b)[0, 1] if np.ptp(a) and np.ptp(b) else 0.0


def tensor(path, name):
    """A vector of floats in a safetensors file."""
    data = open(path, "rb").read()
    start = 8 + int.from_bytes(data[:8], "little")
    first, end = json.loads(data[8:start])[name]["data_offsets"]
    return np.frombuffer(data[start + first:start + end], "<f4").astype(np.float64)


def network(w, x):
    """l.x + o.max(0, V max(0, Wx + b) + c) for the rows of x; l, W by rows, b, V by rows, c and o lie
    one after the other."""
    n = x.shape[1]
    hidden = next(h for h in range(1, len(w)) if n + h * (n + h + 3) == len(w))
    line, first, b, second, c, out = np.split(
        w, np.cumsum([n, hidden * n, hidden, hidden * hidden, hidden]))
    inner = np.maximum(0, x @ first.reshape(hidden, n).T + b)
    answer = x @ line + np.maximum(0, inner @ second.reshape(hidden, hidden).T + c) @ out
    return answer.round(6)  # equal rows have equal answers


def promises(t, path):
    """What the networks in the model's file answer for a task's candidates."""
    r, forms = np.array(t["correlation"], np.float32), np.array(t["form"])  # floats, as there
    root = np.sqrt(forms.shape[1])
    plain = np.stack([3 * r, np.log(-np.array(t["size"])), 3 * r**4, 3 * r**16,
                      np.array(t["constants"])], axis=1)
    full = np.concatenate([plain, 3 * np.array(t["similarity"])[:, None],
                           root * forms * np.array(t["table"]), 0.3 * root * forms], axis=1)
    return {"with": network(tensor(path, "promise.with_space"), full),
            "without": network(tensor(path, "promise.without_space"), plain)}


def read_tasks(symbols, values, index):
    """{(set, problem, condition): {name: list over candidates}}, similarities from the vectors."""
    tables, tasks = collections.defaultdict(list), {}
    for row, line in enumerate(index):
        if line.get("part") == "problems" and "turned" in line:
            key = line["set"], line["problem"], line["condition"], line["inputs"]
            tables[key].append(values[row])
    for row, line in enumerate(index):
        if line.get("part") != "problems" or "turned" in line:
            continue
        key = line["set"], line["problem"], line["condition"]
        if "inputs" in line:
            held = max(tables[key + (line["inputs"],)], key=lambda z: symbols[row] @ z)
            line["similarity"], line["form"], line["table"] = symbols[row] @ held, symbols[row], held
        else:  # the model has no words for it
            line["similarity"] = -np.inf
        tasks.setdefault(key, []).append(line)
    for key, lines in tasks.items():
        t = tasks[key] = collections.defaultdict(list)
        for place, line in enumerate(sorted(lines, key=lambda line: line["candidate"])):
            assert line["candidate"] == place
            t["role"].append(line["role"])
            t["digits"].append(-np.inf if line["digits"] is None else line["digits"])
            t["similarity"].append(line["similarity"])
            t["correlation"].append(line["correlation"])
            t["size"].append(-line["nodes"])
            t["constants"].append(line["constants"])
            t["form"].append(line.get("form"))
            t["table"].append(line.get("table"))
    return tasks


def measures(t, score):
    """Place among laws, percentile among edits, Spearman with the digits: all, by size, with constants."""
    s, role = np.array(t[score]), np.array(t["role"])
    digits, size = np.array(t["digits"]), np.array(t["size"])
    above = (s > s[0]) + 0.5 * (s == s[0])
    groups = [size == v for v in set(t["size"]) if (size == v).sum() >= 4]
    by_size = [spearman(s[g], digits[g]) for g in groups]
    fitted = np.array(t["constants"]) > 0
    return {"place": 1 + above[role == "law"].sum(), "percentile": 1 - above[role == "edit"].mean(),
            "spearman": spearman(s, digits),
            "spearman_same_size": np.mean(by_size) if by_size else np.nan,
            "spearman_constants": spearman(s[fitted], digits[fitted]) if fitted.sum() >= 4 else np.nan}


def check_problems(suite, tasks, path):
    own = suite["promise"].get("own")  # else it was trained for the page and is not in the file
    scores = ["similarity", "correlation", "size", "constants"] + ["without", "with"] * bool(own)
    assert {key[0] for key in tasks} == {"laws", "corpora"} | ({"validation"} if not own else set())
    for name in ("laws", "corpora"):
        assert suite["problems"][name]["unread"] == 0
        for key, t in tasks.items():
            if key[0] == name and own:
                t.update(promises(t, path))
        for condition in CONDITIONS:
            mine = [t for key, t in tasks.items() if key[0] == name and key[2] == condition]
            assert len(mine) == suite["problems"][name]["problems"]
            for score in scores:
                each = [measures(t, score) for t in mine]
                near = 0.01 if score.startswith("with") else 1e-6  # floats there, doubles here
                for m, o in suite["problems"][name][condition].items():
                    check(f"forms {name} {condition} {m} {score}",
                          np.nanmean([e[m] for e in each]), o[score]["value"], near)


def check_forms(suite, path, symbols, values, index):
    rows = collections.defaultdict(list)
    for row, line in enumerate(index):
        rows[line["part"]].append((row, line))
    check_problems(suite, read_tasks(symbols, values, index), path)

    pairs = [[row for row, line in rows["retrieval"] if line["turned"] == k] for k in (0, 1)]
    kind = np.array([index[row]["kind"] for row in pairs[0]])
    assert len(kind) == suite["retrieval"]["forms"]
    assert len({index[row]["formula"] for row in pairs[0]}) == len(kind)
    similarity = symbols[pairs[0]] @ values[pairs[0]].T
    if pairs[1]:
        similarity = np.maximum(similarity, symbols[pairs[0]] @ values[pairs[1]].T)
    own = np.diag(similarity)
    for way, s in (("f2y", similarity), ("y2f", similarity.T)):
        rank = (s >= own[:, None]).sum(axis=1)
        for name, which in (("all", kind != ""), ("laws", kind == "law"), ("snip", kind == "snip")):
            r, o = rank[which], suite["retrieval"][name][way]
            check(f"forms {name} {way} r10", (r <= 10).mean(), o["r10"]["value"])
            check(f"forms {name} {way} ndcg10", ((r <= 10) / np.log2(1 + r)).mean(),
                  o["ndcg10"]["value"])

    chosen = collections.defaultdict(dict)
    for _, line in rows["chosen"]:
        chosen[line["way"], line["problem"]][line["place"]] = line
    problems = {problem for _, problem in chosen}
    assert len(problems) == suite["library"]["problems"]
    for k in (5, 20, 50):
        for way in {way for way, _ in chosen}:
            digits = [[line["digits"] for place, line in chosen[way, p].items() if place <= k]
                      for p in problems]
            for m, f in (("best", max), ("mean", np.mean)):
                check(f"library k{k} {m} {way}", np.mean([f(d) for d in digits]),
                      suite["library"][f"k{k}"][m][way]["value"])
    check("library any", np.mean([max(line["digits"] for (_, at), lines in chosen.items() if at == p
                                      for line in lines.values()) for p in problems]),
          suite["library"]["any"]["value"])
    for p in problems:  # by similarity they are the nearest ones with as many inputs
        tables = [(row, line) for row, line in rows["library"] if line.get("problem") == p]
        forms = [(row, line["form"]) for row, line in rows["library"]
                 if "form" in line and line["dim"] == tables[0][1]["dim"]]
        near = np.max([symbols[[row for row, _ in forms]] @ values[row] for row, _ in tables],
                      axis=0)
        want = [forms[i][1] for i in np.argsort(-near, kind="stable")[:50]]
        got = [line["form"] for _, line in sorted(chosen["similarity", p].items())]
        check(f"library, nearest to {p}", len(set(want) & set(got)), len(want))

    for part in ("invariance", "invariance_corpora"):
        cosine = collections.defaultdict(dict)
        for row, line in rows[part]:
            key = line["problem"], line["change"]
            cosine[key].setdefault("tables" if "turned" in line else "formula", []).append(row)
        cosine = {k: max(symbols[v["formula"][0]] @ values[t] for t in v["tables"])
                  for k, v in cosine.items()}
        assert cosine
        for name, o in suite[part].items():
            if name == "seconds":
                continue
            moved = [abs(v - cosine[p, "as_it_is"]) for (p, c), v in cosine.items() if c == name]
            assert len(moved) == o["problems"]
            if moved:
                check(f"{part} {name}", np.mean(moved), o["mean"]["value"])
                check(f"{part} {name}, largest", max(moved), o["largest"])

    families = collections.defaultdict(list)
    for row, line in rows["copies"]:
        families[line["kind"], line["target"]].append(row)
    for kind, name in (("snip", "snip"), ("law", "laws")):
        ranks = {"f2y": [], "y2f": []}
        for (k, _), r in families.items():
            if k == kind and len(r) > 1:
                own = symbols[r[0]] @ values[r[0]]
                ranks["f2y"].append((values[r[1:]] @ symbols[r[0]] < own).mean())
                ranks["y2f"].append((symbols[r[1:]] @ values[r[0]] < own).mean())
        for way in ranks:
            check(f"copies {name} {way}", np.mean(ranks[way]), suite["copies"][name][way]["value"])


def main():
    results, folder = json.load(open(sys.argv[1])), sys.argv[2]
    model = results["models"][0]
    suites, name = model["suites"], model["name"]
    if "forms" in suites:
        check_forms(suites["forms"], model["path"], *load(folder, name, "forms"))
    if "global" not in suites:
        print(f"{passed} passed, {failed} failed")
        return failed != 0
    check_global(suites["global"], *load(folder, name, "global")[:2])
    for local in ("edits", "subtrees"):
        check_local(local, suites[local], *load(folder, name, local))
    check_corpora(suites["corpora"], *load(folder, name, "corpora"))
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
