#!/usr/bin/python3
"""docs/results.md from the files that `make reproduce` wrote.

    scripts/results.py REPORT_FOLDER > docs/results.md

REPORT_FOLDER holds results.json of all suites (10,000 pairs) for all models, large/results.json of
the retrieval among 100,000 pairs, and noise-P-rows-N.json of the retrieval on disturbed
tables.
"""
import json
import pathlib
import sys

# title, path in a model's suites, factor, digits, key of the paper's number
ROWS = [
    ("**Retrieval among 10,000**, nDCG@10, formula → data", "global.f2y.ndcg10", 100, 1, None),
    ("data → formula", "global.y2f.ndcg10", 100, 1, None),
    ("R@10, formula → data", "global.f2y.r10", 100, 1, None),
    ("data → formula", "global.y2f.r10", 100, 1, None),
    ("**Retrieval among 100,000**, nDCG@10, formula → data", "large:global.f2y.ndcg10", 100, 1,
     "global.f2y.ndcg10"),
    ("data → formula", "large:global.y2f.ndcg10", 100, 1, "global.y2f.ndcg10"),
    ("R@10, formula → data", "large:global.f2y.r10", 100, 1, "global.f2y.r10"),
    ("data → formula", "large:global.y2f.r10", 100, 1, "global.y2f.r10"),
    ("**Modality gap**", "geometry.gap", 1, 2, "geometry.gap"),
    ("**Edits**, percentile rank, formula → data", "edits.average.f2y", 1, 3, "edits.average.f2y"),
    ("data → formula", "edits.average.y2f", 1, 3, "edits.average.y2f"),
    ("families used in training, formula → data", "edits.seen.f2y", 1, 3, None),
    ("data → formula", "edits.seen.y2f", 1, 3, None),
    ("families held out, formula → data", "edits.held_out.f2y", 1, 3, None),
    ("data → formula", "edits.held_out.y2f", 1, 3, None),
    ("**Subtrees**, formula → data", "subtrees.average.f2y", 1, 3, "subtrees.average.f2y"),
    ("data → formula", "subtrees.average.y2f", 1, 3, "subtrees.average.y2f"),
    ("**Corpora** pooled, consistent view: whole, formula → data", "ood.pooled.consistent.global.f2y", 1, 3, None),
    ("data → formula", "ood.pooled.consistent.global.y2f", 1, 3, None),
    ("edits, formula → data", "ood.pooled.consistent.edits.f2y", 1, 3, None),
    ("data → formula", "ood.pooled.consistent.edits.y2f", 1, 3, None),
    ("subtrees, formula → data", "ood.pooled.consistent.subtrees.f2y", 1, 3, None),
    ("data → formula", "ood.pooled.consistent.subtrees.y2f", 1, 3, None),
    ("the paper's view (raw formula): whole, formula → data", "ood.pooled.paper.global.f2y", 1, 3, None),
    ("data → formula", "ood.pooled.paper.global.y2f", 1, 3, None),
    ("edits, formula → data", "ood.pooled.paper.edits.f2y", 1, 3, None),
    ("data → formula", "ood.pooled.paper.edits.y2f", 1, 3, None),
    ("**Probes**: rewritings", "probes.rewritings.average", 1, 3, "probes.rewritings.average"),
    ("Taylor series", "probes.taylor.average", 1, 3, "probes.taylor.average"),
    ("behaviour-preserving against changing edits, AUC", "probes.consequences.auc", 1, 3, None),
]


def at(o, path):
    for key in path.split("."):
        o = o.get(key) if isinstance(o, dict) else None
    return o


def cell(figure, factor, digits):
    if isinstance(figure, (int, float)):
        return f"{factor * figure:.{digits}f}"
    if not isinstance(figure, dict) or figure.get("value") is None:
        return ""
    low, high = figure.get("lo"), figure.get("hi")
    text = f"{factor * figure['value']:.{digits}f}"
    if low is not None and high is not None:
        text += f" [{factor * low:.{digits}f}, {factor * high:.{digits}f}]"
    return text


def table(models, large, paper):
    names = [m["name"] for m in models]
    yield "| | " + " | ".join(names) + " | paper: SNIP | SNIP++ |"
    yield "| --- |" + " ---: |" * (len(names) + 2)
    for title, path, factor, digits, key in ROWS:
        source = large if path.startswith("large:") else {m["name"]: m for m in models}
        figures = [at(source.get(n, {}).get("suites", {}), path.removeprefix("large:")) for n in names]
        cells = [cell(f, factor, digits) for f in figures]
        if not any(cells):
            continue
        theirs = [f"{factor * v:.{digits if factor == 1 else 1}f}" for v in paper[key]] if key else ["", ""]
        yield f"| {title} | " + " | ".join(cells + theirs) + " |"


def disturbed(folder, models):
    """Retrieval on noisy and short tables, beside that on clean ones."""
    columns = [("clean", {m["name"]: m for m in models})]
    for file in folder.glob("noise-*-rows-*.json"):
        results = json.loads(file.read_text())
        noise, rows = results["noise"], results["rows"]
        title = ", ".join(([f"{100 * noise:g} % noise"] if noise else []) + ([f"{rows} rows"] if rows else []))
        columns.append((title, {m["name"]: m for m in results["models"]}, rows == 0, -rows, noise))
    columns[1:] = sorted(columns[1:], key=lambda c: (not c[2], c[3], c[4]))
    yield "| | " + " | ".join(c[0] for c in columns) + " |"
    yield "| --- |" + " ---: |" * len(columns)
    for m in models:
        for way, title in (("f2y", "formula → data"), ("y2f", "data → formula")):
            figures = [at(c[1].get(m["name"], {}).get("suites", {}), f"global.{way}.ndcg10") for c in columns]
            yield f"| {m['name']}, {title} | " + " | ".join(cell(f, 100, 1).split(" [")[0] for f in figures) + " |"


def main():
    folder = pathlib.Path(sys.argv[1])
    results = json.loads((folder / "results.json").read_text())
    large_file = folder / "large" / "results.json"
    large = {}
    if large_file.exists():
        large = {m["name"]: m for m in json.loads(large_file.read_text())["models"]}
    paper = results["paper"]
    ladder = [m for m in results["models"] if m["name"].startswith("ladder")]
    main_models = [m for m in results["models"] if m not in ladder]
    print("""# Results

Made by `make reproduce` from the weights in `models/`; `docs/report/report.html` shows the same with all figures, `docs/report/curves.html` how the models learned. In brackets: 95 % intervals (1,000 bootstrap resamples). Retrieval in %;
edits, subtrees and corpora are percentile ranks of the true counterpart, chance .5. The paper's numbers are for d 512, trained for 86 hours on an H100; what the models here are and how they were
trained: [models/README.md](../models/README.md).
""")
    print("## The default model" + (" and its control" if len(main_models) > 1 else "") + "\n")
    print("\n".join(table(main_models, large, paper)))
    if any(folder.glob("noise-*-rows-*.json")):
        print("\n## Noise and rows\n\nnDCG@10 in % among 10,000, tables of 200 rows but where it says otherwise; noise in % of y's deviation.\n")
        print("\n".join(disturbed(folder, main_models)))
    if ladder:
        print("\n## The ladder: one recipe, six objectives\n")
        print("\n".join(table(ladder, large, paper)))
    print("\n## The models\n")
    print("| | stage | expressions | hours | parameters |\n| --- | --- | ---: | ---: | ---: |")
    for m in results["models"]:
        print(f"| {m['name']} | {m['stage']} | {m['samples']:,.0f} | {m['train_seconds'] / 3600:.1f} | "
              f"{m['parameters']:,} |")


if __name__ == "__main__":
    main()
