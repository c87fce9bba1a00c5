#!/usr/bin/python3
"""Learning curves of the shipped models.

    scripts/curves.py thin RUN_FOLDER > docs/report/logs/NAME.jsonl   a run's log, short enough to keep
    scripts/curves.py page docs/report                                docs/report/curves.html from the logs
"""
import json
import pathlib
import sys

# Colours that stay apart for colour-blind readers (Okabe and Ito, then Tol); more names share them.
COLOURS = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#882255",
           "#999933"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 340, 50, 120, 12, 46
KEEP = 150


def thin(folder):
    """All lines with a check on held-out pairs, and some of the others as means of their stretch."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    stride, stretch = max(1, len(lines) // KEEP), []
    for i, line in enumerate(lines):
        stretch.append(line)
        if "held_out" in line or len(stretch) == stride or i == len(lines) - 1:
            for key in ("loss", "global", "context", "standalone", "gap"):
                known = [s[key] for s in stretch if key in s]
                if known:
                    line[key] = sum(known) / len(known)
            print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}))
            stretch = []


def held_out(line, way):
    return 100 * line["held_out"]["ndcg10"][way] if "held_out" in line else None


def marks(most):
    """Round numbers from 0 to `most`, four to nine of them."""
    step = 10.0 ** len(str(int(most))) if most >= 1 else 1.0
    while most / step < 4:
        step /= 2 if str(step).strip("0.")[0] != "5" else 2.5
    return [i * step for i in range(int(most / step + 1e-9) + 1)]


def figure(title, x_title, curves):
    """SVG of curves (name, points, dashed); curves of one name share a colour."""
    curves = [c for c in curves if c[1]]
    if not curves:
        return ""
    most_x = max(x for _, points, _ in curves for x, _ in points) or 1
    most_y = max(y for _, points, _ in curves for _, y in points) or 1
    names = list(dict.fromkeys(name for name, _, _ in curves))
    put_x = lambda x: LEFT + (WIDTH - LEFT - RIGHT) * x / most_x
    put_y = lambda y: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * y / most_y
    out = [f"<figure><figcaption>{title}</figcaption><svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img'>"]
    for y in marks(most_y):
        out.append(f"<line class='g' x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{put_y(y):.1f}' y2='{put_y(y):.1f}'/>"
                   f"<text x='{LEFT - 6}' y='{put_y(y) + 4:.1f}' text-anchor='end'>{y:g}</text>")
    for x in marks(most_x):
        out.append(f"<text x='{put_x(x):.1f}' y='{HEIGHT - BOTTOM + 16}' text-anchor='middle'>{x:g}</text>")
    out.append(f"<text x='{(LEFT + WIDTH - RIGHT) / 2}' y='{HEIGHT - 8}' text-anchor='middle'>{x_title}</text>")
    for name, points, dashed in curves:
        path = " ".join(f"{put_x(x):.1f},{put_y(y):.1f}" for x, y in points)
        out.append(f"<polyline stroke='{COLOURS[names.index(name) % len(COLOURS)]}' points='{path}'"
                   + (" stroke-dasharray='5 3'" if dashed else "") + "/>")
    for i, name in enumerate(names):
        colour = COLOURS[i % len(COLOURS)]
        out.append(f"<text x='{WIDTH - RIGHT + 8}' y='{TOP + 12 + 18 * i}' style='fill:{colour}'>{name}</text>")
    return "\n".join(out + ["</svg></figure>"])


def part(log):
    """The model of a log, and the log's number among the model's."""
    name, _, number = log.stem.rpartition("-")
    return (name, int(number)) if number.isdigit() else (log.stem, 1)


def read(folder):
    """The logs as (model, lines). Those of a model that was trained in runs, NAME-1, NAME-2 and so on, are laid end
    to end: a log begins where the one before ends, unless it goes on with that one's run."""
    logs, start = [], {}
    for f in sorted(folder.glob("*.jsonl"), key=part):
        lines = [json.loads(line) for line in f.read_text().splitlines()]
        if part(f)[1] == 1:
            start = {"samples": 0, "seconds": 0}
        elif lines[0]["step"] < logs[-1][1][-1]["step"] / 2:  # else its updates are counted on
            start = {key: logs[-1][1][-1][key] for key in start}
        logs.append((part(f)[0], [{**line, **{key: line[key] + start[key] for key in start}} for line in lines]))
    return logs


def retrieval(logs, x):
    return [(name, [(x(line), held_out(line, way)) for line in lines if "held_out" in line], way == 1)
            for name, lines in logs for way in (0, 1)]


def term(logs, key, x):
    return [(name, [(x(line), line[key]) for line in lines if key in line], False) for name, lines in logs]


def pairs(logs):
    return max((line["held_out"]["pairs"] for _, lines in logs for line in lines if "held_out" in line), default=0)


def page(folder):
    every = read(folder / "logs")
    titles = {"views-": "Ladder of both views", "ladder-": "Ladder on points"}
    ladders = {title: [(name.removeprefix(prefix), lines) for name, lines in every if name.startswith(prefix)]
               for prefix, title in titles.items()}
    logs = [(name, lines) for name, lines in every if not name.startswith(tuple(titles))]
    millions, hours = lambda line: line["samples"] / 1e6, lambda line: line["seconds"] / 3600
    seen = "million expressions seen"
    figures = [
        figure(f"Held-out retrieval among {pairs(logs):,} pairs, nDCG@10 in %", "hours", retrieval(logs, hours)),
        figure(f"Held-out retrieval among {pairs(logs):,} pairs, nDCG@10 in %", seen, retrieval(logs, millions)),
        figure("Loss on whole expressions (with S5 there are edits among the candidates)", seen,
               term(logs, "global", millions)),
        figure("Gap between the centroids of formulas and tables, in training batches", seen, term(logs, "gap", millions)),
    ] + [
        figure(f"{title}: held-out retrieval among {pairs(ladder):,} pairs, nDCG@10 in %", seen, retrieval(ladder, millions))
        for title, ladder in ladders.items()
    ]
    (folder / "curves.html").write_text(
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>snip: learning curves</title>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em}"
        "svg{width:100%;height:auto;font-size:12px}figure{margin:1.5em 0}figcaption{font-weight:600}"
        ".g{stroke:#ddd}polyline{fill:none;stroke-width:1.6}</style>\n"
        "<h1>Learning curves</h1>\n"
        "<p>Of the models in <code>models/</code>, from the logs of their training (<code>logs/</code>). Solid: formula → data, "
        "dashed: data → formula. The default model's runs are laid end to end; where two lines overlap, one is a "
        "branch that is not part of the model. Hours are by the clock, and parts of these runs shared the machine "
        "with other work: <code>models/README.md</code>.</p>\n" + "\n".join(f for f in figures if f) + "\n</html>\n")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("thin", "page"):
        sys.exit(__doc__.strip())
    (thin if sys.argv[1] == "thin" else page)(pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
