#!/usr/bin/python3
"""docs/results.md from the files that `make reproduce` wrote.

    scripts/results.py REPORT_FOLDER > docs/results.md
    scripts/results.py thin < RESULTS > docs/report/seeds/NAME.json    only what the page says of seeds

REPORT_FOLDER holds results.json of the paper's suites (10,000 pairs) for the default model and the one
before it, large/results.json of the retrieval among 100,000 pairs, forms/results.json of the suite
forms, noise-P-rows-N.json of the retrieval on disturbed tables; ladder/ and views/ have the first two
for the ladders, views/ with the suite forms. seeds/views-K.json has some figures of the latter from
another seed (scripts/seeds.sh).
"""
import argparse
import json
import pathlib
import sys
import textwrap

# title, path in a model's suites, factor, digits, key of the paper's number; a title alone begins a
# group
ROWS = [
    ("**Retrieval among 10,000**",),
    ("nDCG@10, formula → data", "global.f2y.ndcg10", 100, 1, None),
    ("data → formula", "global.y2f.ndcg10", 100, 1, None),
    ("R@10, formula → data", "global.f2y.r10", 100, 1, None),
    ("data → formula", "global.y2f.r10", 100, 1, None),
    ("**Retrieval among 100,000**",),
    ("nDCG@10, formula → data", "large:global.f2y.ndcg10", 100, 1,
     "global.f2y.ndcg10"),
    ("data → formula", "large:global.y2f.ndcg10", 100, 1, "global.y2f.ndcg10"),
    ("R@10, formula → data", "large:global.f2y.r10", 100, 1, "global.f2y.r10"),
    ("data → formula", "large:global.y2f.r10", 100, 1, "global.y2f.r10"),
    ("**Geometry**",),
    ("modality gap", "geometry.gap", 1, 2, "geometry.gap"),
    ("**Edits**",),
    ("all six families, formula → data", "edits.average.f2y", 1, 3, "edits.average.f2y"),
    ("data → formula", "edits.average.y2f", 1, 3, "edits.average.y2f"),
    ("trained families, formula → data", "edits.seen.f2y", 1, 3, None),
    ("data → formula", "edits.seen.y2f", 1, 3, None),
    ("held-out families, formula → data", "edits.held_out.f2y", 1, 3, None),
    ("data → formula", "edits.held_out.y2f", 1, 3, None),
    ("**Subtrees**",),
    ("among their edits, formula → data", "subtrees.average.f2y", 1, 3, "subtrees.average.f2y"),
    ("data → formula", "subtrees.average.y2f", 1, 3, "subtrees.average.y2f"),
    ("**Corpora as in the paper, mean of three corpora and both directions**",),
    ("whole", "mean:paper.global", 1, 2,
     "corpora.average.global"),
    ("edits", "mean:paper.edits", 1, 2, "corpora.average.edits"),
    ("subtrees among all subtrees", "mean:paper.subtree_global", 1, 2, "corpora.average.subtree_global"),
    ("subtrees among their edits", "mean:paper.subtrees", 1, 2, "corpora.average.subtrees"),
    ("**Corpora as in the paper, pooled**",),
    ("whole, formula → data", "corpora.pooled.paper.global.f2y", 1, 3, None),
    ("data → formula", "corpora.pooled.paper.global.y2f", 1, 3, None),
    ("edits, formula → data", "corpora.pooled.paper.edits.f2y", 1, 3, None),
    ("data → formula", "corpora.pooled.paper.edits.y2f", 1, 3, None),
    ("subtrees among edits, formula → data", "corpora.pooled.paper.subtrees.f2y", 1, 3, None),
    ("data → formula", "corpora.pooled.paper.subtrees.y2f", 1, 3, None),
    ("**Corpora, consistent view, pooled**",),
    ("whole, formula → data", "corpora.pooled.consistent.global.f2y", 1, 3, None),
    ("data → formula", "corpora.pooled.consistent.global.y2f", 1, 3, None),
    ("edits, formula → data", "corpora.pooled.consistent.edits.f2y", 1, 3, None),
    ("data → formula", "corpora.pooled.consistent.edits.y2f", 1, 3, None),
    ("subtrees among edits, formula → data", "corpora.pooled.consistent.subtrees.f2y", 1, 3, None),
    ("data → formula", "corpora.pooled.consistent.subtrees.y2f", 1, 3, None),
    ("**Probes**",),
    ("rewritings", "probes.rewritings.average", 1, 3, "probes.rewritings.average"),
    ("Taylor series, similarity", "probes.taylor.average", 1, 3, "probes.taylor.average"),
    ("with the series of other functions", "probes.taylor.unrelated", 1, 3, None),
    ("preserving against changing edits, AUC", "probes.consequences.auc", 1, 3, None),
    ("**Forms**",),
    ("nDCG@10, form → data", "forms.retrieval.all.f2y.ndcg10", 100, 1, None),
    ("data → form", "forms.retrieval.all.y2f.ndcg10", 100, 1, None),
    ("place of the true law among seven", "forms.problems.laws.rows200.place.similarity", 1, 2, None),
    ("the same, corpora", "forms.problems.corpora.rows200.place.similarity", 1, 2, None),
    ("percentile of the law among its edits", "forms.problems.laws.rows200.percentile.similarity", 1, 3, None),
    ("the same, corpora", "forms.problems.corpora.rows200.percentile.similarity", 1, 3, None),
    ("Spearman with the refitted digits, laws", "forms.problems.laws.rows200.spearman.similarity", 1, 3, None),
    ("the same, corpora", "forms.problems.corpora.rows200.spearman.similarity", 1, 3, None),
]


def at(o, path):
    for key in path.split("."):
        o = o.get(key) if isinstance(o, dict) else None
    return o


def figure_at(suites, path):
    """A figure with its interval; mean:VIEW.PROTOCOL is a number, over corpora and directions."""
    if not path.startswith("mean:"):
        return at(suites, path)
    view = path.removeprefix("mean:")
    values = [at(suites, f"corpora.{corpus}.{view}.{way}.value")
              for corpus in ("feynman", "classic", "strogatz") for way in ("f2y", "y2f")]
    return None if None in values else sum(values) / len(values)


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
    """Two models with their intervals, beside the paper's; more of them by their values alone."""
    names = [m["name"] for m in models]
    many, group = len(names) > 2, None
    theirs = [] if many else ["paper: SNIP", "paper: SNIP++"]
    yield "| | " + " | ".join([n.rsplit("-", 1)[-1] for n in names] + theirs) + " |"
    yield "| --- |" + " ---: |" * (len(names) + len(theirs))
    for title, *row in ROWS:
        if not row:
            group = f"| {title} |" + " |" * (len(names) + len(theirs))
            continue
        path, factor, digits, key = row
        source = large if path.startswith("large:") else {m["name"]: m for m in models}
        figures = [figure_at(source.get(n, {}).get("suites", {}), path.removeprefix("large:")) for n in names]
        cells = [cell(f, factor, digits) for f in figures]
        if not any(cells):
            continue
        if many:
            cells = [c.split(" [")[0] for c in cells]
        elif key:
            cells += [f"{factor * v:.{2 if factor == 1 else 1}f}" for v in paper[key]]
        else:
            cells += ["", ""]
        if group:
            yield group
            group = None
        yield f"| {title} | " + " | ".join(cells) + " |"


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


def comparisons(results):
    """How often the first model is better than each other one, family by family and direction."""
    yield "| | suite | settings | better | worse | unclear |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for c in results["comparisons"]:
        for suite in ("edits", "subtrees"):
            settings = [s["verdict"] for s in c["settings"] if s["suite"] == suite]
            counts = [settings.count(v) for v in ("better", "worse", "same")]
            yield (f"| {c['a']} against {c['b']} | {suite} | {len(settings)} | "
                   + " | ".join(map(str, counts)) + " |")


# title, path below problems.SET.CONDITION, digits
FORMS = [
    ("place of the true law among seven", "place", 2),
    ("percentile of the true law among its edits", "percentile", 2),
    ("Spearman with the digits after a refit", "spearman", 2),
    ("the same, candidates of equal size", "spearman_same_size", 2),
    ("the same, candidates with constants to fit", "spearman_constants", 2),
]
SCORES = ["similarity", "correlation", "size", "without", "with"]
CONDITIONS = [("rows200", "200 clean rows"), ("rows30_noise5", "30 rows, 5 % noise")]


def say(sentences):
    print(textwrap.fill(sentences, 100))


def forms(folder):
    """What the form view tells before any fit, beside free baselines."""
    models = load(folder / "forms" / "results.json")["models"]
    suite = at(models[0], "suites.forms") if models else None
    if not suite:
        return
    print("""
## Forms

A *form* is a formula whose constants are free: `3.5*x/(2 + x)` and `77*x/(0.4 + x)` are one form.
*Digits* are -log10(1 - R²) on fresh clean rows after the fit: 3 digits leave a thousandth of the
variance unexplained.

Does the space tell which form of a law suits a table before its constants are fitted? Candidates
are the true law, six other laws and up to 30 edits of the truth. Their constants are drawn at
random for the correlation, and hidden from the space. The promise is a small network that reads
the vectors, correlation and size, trained on generated laws of another stream; "without" is the
same network without the space.

| | similarity | correlation | size | without | promise |
| --- | ---: | ---: | ---: | ---: | ---: |""")
    for name, title in (("laws", "generated laws"), ("corpora", "formulas of the corpora")):
        for condition, rows in CONDITIONS:
            count = at(suite, f"problems.{name}.problems")
            print(f"| **{count} {title}, {rows}** | | | | | |")
            for label, path, digits in FORMS:
                cells = [cell(at(suite, f"problems.{name}.{condition}.{path}.{s}"), 1, digits)
                         for s in SCORES]
                print(f"| {label} | " + " | ".join(c.split(" [")[0] for c in cells) + " |")
    count = at(suite, "library.problems")
    print(f"| **A library of {at(suite, 'library.forms'):,} forms, {count} laws** | | | | | |")
    for k in (5, 20, 50):
        cells = [cell(at(suite, f"library.k{k}.best.{s}"), 1, 2).split(" [")[0] for s in SCORES]
        print(f"| digits of the best of {k} refits | " + " | ".join(cells) + " |")
    gain = {k: cell(at(suite, f"{path}.gain"), 1, 2) for k, path in (
        ("laws", "problems.laws.rows200.spearman"), ("corpora", "problems.corpora.rows200.spearman"),
        ("fitted", "problems.corpora.rows200.spearman_constants"), ("library", "library.k20.best"))}
    best = {s: at(suite, f"library.k20.best.{s}.value") for s in ("correlation", "with")}
    print()
    say(f"What the space adds to the promise, with 95 % intervals: in Spearman correlation (200 clean rows)"
        f" {gain['laws']} on laws and {gain['corpora']} on the corpora; among the corpora's candidates with"
        f" constants to fit {gain['fitted']}. In look-ups the best of 20 refits gains {gain['library']} digits over"
        f" the same network without the space, and {best['with'] - best['correlation']:.2f} over correlation alone."
        f" The best of all forms that any of these ways chose for a table has {cell(at(suite, 'library.any'), 1, 2).split(' [')[0]} digits.")
    print()
    largest = [at(suite, f"{part}.{change}.largest") for part in ("invariance", "invariance_corpora")
               for change in (at(suite, part) or {}) if change != "seconds"]
    say(f"Retrieval among {at(suite, 'retrieval.forms'):,} distinct forms, nDCG@10 in %: "
        + ", ".join(f"{cell(at(suite, f'retrieval.all.{way}.ndcg10'), 100, 1)} {title}"
                    for way, title in (("f2y", "form → data"), ("y2f", "data → form")))
        + ". Other units, column orders and the spellings that were tried move a similarity by at most "
        + f"{max(v for v in largest if v is not None):.1g}.")


# Rows of ROWS that are measured again with other seeds, and their titles there.
SEEDS = {
    "global.f2y.ndcg10": "nDCG@10 among 10,000, formula → data",
    "global.y2f.ndcg10": "data → formula",
    "edits.average.f2y": "edits, formula → data",
    "edits.average.y2f": "data → formula",
    "subtrees.average.f2y": "subtrees, formula → data",
    "subtrees.average.y2f": "data → formula",
    "probes.rewritings.average": "rewritings",
    "forms.retrieval.all.f2y.ndcg10": "nDCG@10 among 10,000 forms, form → data",
    "forms.retrieval.all.y2f.ndcg10": "data → form",
    "forms.problems.laws.rows200.place.similarity": "place of the true law among seven",
    "forms.problems.laws.rows200.spearman.similarity": "Spearman with the refitted digits, laws",
    "forms.problems.corpora.rows200.spearman.similarity": "the same, corpora",
}


def thin(results):
    """Of a ladder's models, NAME-S0 to NAME-S5, the figures of SEEDS alone."""
    return {m["stage"]: {path: at(m["suites"], f"{path}.value") for path in SEEDS}
            for m in results["models"] if m["name"].endswith("-" + m["stage"])}


def seeds(folder):
    """The ladder of both views again: means over seeds, with the smallest and the largest figure."""
    shipped = thin(load(folder / "views" / "results.json"))
    others = [json.loads(file.read_text()) for file in sorted((folder / "seeds").glob("views-*.json"))]
    if not shipped or not others:
        return
    runs = [shipped] + others
    stages = sorted(set.intersection(*(set(r) for r in runs)))
    print(f"""
### {len(runs)} seeds

The shipped ladder and {len(runs) - 1} more from other seeds of weights and data (`scripts/seeds.sh`), measured on
the same samples. Means, with the smallest and the largest of the {len(runs)} in brackets.

| | """ + " | ".join(stages) + " |\n| --- |" + " ---: |" * len(stages))
    for _, path, factor, digits, _ in (row for row in ROWS if len(row) > 1 and row[1] in SEEDS):
        each = [[r[stage][path] for r in runs] for stage in stages]
        cells = [cell({"value": sum(v) / len(v), "lo": min(v), "hi": max(v)}, factor, digits) for v in each]
        print(f"| {SEEDS[path]} | " + " | ".join(cells) + " |")


def load(file):
    return json.loads(file.read_text()) if file.exists() else {"models": [], "comparisons": []}


def section(title, folder):
    """The table of the results in a folder, and the comparisons. Returns the models."""
    results, large = load(folder / "results.json"), load(folder / "large" / "results.json")
    models = sorted(results["models"], key=lambda m: m["name"]) # the one compared with others comes first there
    if not models:
        return []
    print(f"\n## {title}\n")
    if len(models) > 2:
        print(f"The intervals are on the [page](report/{folder.name}/report.html), the paper's numbers above.\n")
    print("\n".join(table(models, {m["name"]: m for m in large["models"]}, results["paper"])))
    if results["comparisons"]:
        print("\nSix families of edits in two directions each. Better or worse: the 95 % interval of the\n"
              "difference over the same targets excludes 0.\n")
        print("\n".join(comparisons(results)))
    return models


def main():
    parser = argparse.ArgumentParser(description="docs/results.md from what `make reproduce` wrote.")
    parser.add_argument("folder", help="of the results; thin: print what the page needs of a seed's, from standard input")
    asked = parser.parse_args().folder
    if asked == "thin":
        json.dump(thin(json.load(sys.stdin)), sys.stdout, indent=1)
        return
    folder = pathlib.Path(asked)
    if not folder.is_dir():
        parser.error(f"{folder} is no folder")
    targets = {name: load(folder / name / "results.json").get("targets", "–") for name in ("", "views", "ladder")}
    print(f"""# Results

`make reproduce` makes this page from the weights in `models/`. What the models are and how they
were trained: [models/README.md](../models/README.md). Pages with all figures: [default and the one
before](report/report.html), [among 100,000](report/large/report.html),
[forms](report/forms/report.html), [ladder of both views](report/views/report.html), [among
100,000](report/views/large/report.html), [ladder on points](report/ladder/report.html), [among
100,000](report/ladder/large/report.html), and [learning curves](report/curves.html).

Brackets hold 95 % intervals (1,000 bootstrap resamples). Retrieval is in %. Edits, subtrees,
corpora and rewritings are percentile ranks of the true counterpart; chance is .5.

The paper's models have d 512. SNIP++ was trained for 21.4 hours on four H100s, SNIP for 11.4 hours
on one. What is not like for like:

- The default model's encoders do not read what the paper's read: besides its symbols, it reads a
  formula's slopes and values at fixed points, and it reads a table as statistics and by a smooth
  surface through its rows (docs/design.md, "Slopes", "Surface", "Statistics in place of points").
- Edits and subtrees of the first table below are of {targets[""]} expressions, the paper's of 128, since the
  figures of 128 move by .02 and more between seeds. Those of the ladders are of {targets["views"]} (both views)
  and of {targets["ladder"]} (on points).
- Modality gap: the paper only measures it. Here training pulls the centroids together (`centre`;
  before that the gap was above .5, docs/recipe.md).
- Probes: the paper does not list its identities and functions, so ours are only similar.
- Corpora: more formulas are usable here (docs/design.md). One choice of the recipe (`zoom`) was
  made with an eye on them (docs/recipe.md); everything else was chosen on a validation stream and
  on the practice laws of data/practice.tsv.
- "Consistent view": the formula is read as a function of the standardised inputs that the table
  shows, as in training. The paper reads it in its own units.""")
    alone = len(load(folder / "results.json")["models"]) == 1
    models = section("The default model" if alone else "The default model and the one before it", folder)
    if any(folder.glob("noise-*-rows-*.json")):
        print("\n## Noise and rows\n\nnDCG@10 in % among 10,000. Tables have 200 rows unless a column says otherwise; noise is in % of\n"
              "y's deviation.\n")
        print("\n".join(disturbed(folder, models)))
    forms(folder)
    models += section("The ladder of both views: the default's recipe, six objectives", folder / "views")
    seeds(folder)
    models += section("The ladder on points: the paper's numeric encoder, six objectives", folder / "ladder")
    print("\n## The models\n")
    print("| | stage | expressions | hours | parameters |\n| --- | --- | ---: | ---: | ---: |")
    for m in models:
        print(f"| {m['name']} | {m['stage']} | {m['samples']:,.0f} | {m['train_seconds'] / 3600:.2f} | "
              f"{m['parameters']:,} |")
    print("\nHours are wall-clock time, with pauses and with other work on the machine:\n"
          "[models/README.md](../models/README.md).")


if __name__ == "__main__":
    main()
