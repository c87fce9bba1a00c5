#!/usr/bin/env bash
# `snip evaluate` from outside: files, shapes, MPI, bad input; and all figures once more by NumPy.
# evaluate.sh PROGRAM SOURCE_ROOT
set -u
. "$(dirname "$0")/mpi_env.sh"
. "$(dirname "$0")/judge.sh"
root=$(realpath "$2")
start "$1"

settings="--preset tiny --set statistics=yes --set points=0 --set layers=1 --set hidden=16
    --batch-size 16 --warmup 5 --quiet"
for stage in S0 S5; do
    "$snip" train $settings --stage $stage --steps 30 --out $stage >/dev/null || exit 1
done

# Noise and fewer rows change the tables, never the formulas; as much noise as values is worse than
# none for any model that learned a little.
for how in "" "--noise 300" "--rows 20" "--noise 0 --rows 200"; do
    "$snip" evaluate --model S5/model.safetensors --suite global --pairs 500 $how --out "noise${how// /}" \
        --dump "noise${how// /}" --quiet >/dev/null || bad "evaluate $how fails"
done
/usr/bin/python3 - <<'PY' && good || bad "noise and rows do not what they say"
import json, numpy as np
def rows(name, side):
    return np.load(f"{name}/S5.global.{side}.npy")
def result(name):
    r = json.load(open(f"{name}/results.json"))
    return r["noise"], r["rows"], r["models"][0]["suites"]["global"]["f2y"]["ndcg10"]["value"]
for name in ("noise--noise300", "noise--rows20"):
    assert (rows(name, "symbols") == rows("noise", "symbols")).all()
    assert (rows(name, "values") != rows("noise", "values")).any(axis=1).all()
assert (rows("noise--noise0--rows200", "values") == rows("noise", "values")).all()
assert result("noise--noise300")[:2] == (3, 0) and result("noise--rows20")[:2] == (0, 20)
assert result("noise--noise300")[2] < result("noise")[2]
PY

# Two models side by side, with everything that is written.
"$snip" evaluate --model S5/model.safetensors --model S0/model.safetensors --pairs 700 --targets 6 \
    --problems 2 --library 300 --out eval --dump dump --quiet >table 2>err && good || bad "evaluate fails: $(cat err)"
grep -q 'SNIP++\*' table && grep -q 'nDCG@10' table && good || bad "no table"
[ -s eval/report.html ] && ! grep -q 'https\?://[^w]' eval/report.html && good ||
    bad "no page, or one that needs a network"
python3 - <<'PY' && good || bad "results.json has another shape"
import json
r = json.load(open("eval/results.json"))
assert r["command"].startswith("snip evaluate --model S5") and r["seed"] == 0 and r["seconds"] > 0
assert [m["name"] for m in r["models"]] == ["S5", "S0"]
families = {"unary_swap", "variable_substitution", "binary_swap", "tree_reshaping",
            "operand_reordering", "subtree_rewriting"}
def figure(f):
    assert set(f) >= {"value", "lo", "hi"}, f
    assert f["value"] is None or f["lo"] <= f["value"] <= f["hi"], f
for m in r["models"]:
    assert m["stage"] == m["name"] and not m["errors"]
    s = m["suites"]
    assert set(s) == {"global", "geometry", "edits", "subtrees", "corpora", "forms", "probes"}
    assert s["forms"]["view"] == "exact" and s["forms"]["library"]["forms"] == 300
    for condition in ("rows200", "rows200_noise5", "rows30", "rows30_noise5"):
        for measure in ("place", "percentile", "spearman"):
            for score in s["forms"]["problems"]["laws"][condition][measure].values():
                figure(score)
    assert s["global"]["pairs"] == 700
    for way in ("f2y", "y2f"):
        for key in ("r1", "r10", "ndcg10", "mrr", "median_rank"):
            figure(s["global"][way][key])
        for local in ("edits", "subtrees"):
            figure(s[local]["average"][way])
            assert set(s[local]["families"]) == families
            assert "targets" in s[local]["families"]["unary_swap"][way]
        for corpus in ("feynman", "classic", "strogatz", "pooled"):
            for view in ("paper", "consistent"):
                for part in ("global", "edits", "subtrees"):
                    figure(s["corpora"][corpus][view][part][way])
    figure(s["geometry"]["gap"])
    assert set(s["probes"]) >= {"variation", "consequences", "rewritings", "taylor"}
c = r["comparisons"][0]
assert (c["a"], c["b"]) == ("S5", "S0") and c["better"] + c["worse"] + c["same"] == len(c["settings"])
PY

# Every measure that the program lists is in the results, so none drops out of a table for a typo;
# scripts/results.py asks for no other.
"$snip" evaluate --measures >measures && python3 - "$root" <<'PY' && good || bad "the list of measures is not that of results.json"
import itertools, json, sys
sys.path.insert(0, sys.argv[1] + "/scripts")
import results
lines = [l.rstrip("\n").split("\t") for l in open("measures")][1:]
suites = json.load(open("eval/results.json"))["models"][0]["suites"]
def there(path):
    o = suites
    for key in path.split("."):
        o = o[-1 if key == "last" else int(key)] if isinstance(o, list) else o[key]
    return o is not None
run = 0
for path, form, snip, snippp, key, name in lines:
    assert form in ("share", "percent", "number", "count")
    if path.split(".")[0] in suites:
        for way in itertools.product(*(part.split("|") for part in path.split("."))):
            assert there(".".join(way)), path
            run += 1
assert run > 100
paths, keys = {l[0] for l in lines}, {l[4] for l in lines}
for title, *row in results.ROWS:
    if not row:  # the title of a group
        continue
    path, factor, digits, key = row
    assert key is None or key in keys, key
    assert path.startswith("mean:") or path.removeprefix("large:") in paths, path
paper = json.load(open("eval/results.json"))["paper"]
assert set(paper) == {l[4] for l in lines if l[2] != "-"} and paper["geometry.gap"] == [1.18, .31]
PY

# `snip edits --pool` counts the pool that is scored.
"$snip" edits --pool --targets 6 --json >pool && python3 - <<'PY' && good || bad "edits --pool is not the pool that is evaluated"
import json
pool, scored = json.load(open("pool")), json.load(open("eval/results.json"))["models"][0]["suites"]["edits"]
assert pool["used"] == scored["targets"]
for name, one in pool["families"].items():
    theirs = scored["families"][name]
    assert one["targets"] == theirs["f2y"]["targets"], name
    assert all(one[k] == theirs["variants"][k] or abs(one[k] - theirs["variants"][k]) < 1e-6 for k in ("mean", "median")), name
PY

# What rank and explain find: only where it is asked for, and no more a benchmark.
"$snip" evaluate --model S5/model.safetensors --suite explain --suite candidates --out found --quiet >table 2>err &&
    grep -q 'planted node first' table && grep -q 'truth among its edits' table &&
    grep -q 'Planted mistakes' found/report.html && python3 - <<'PY' && good || bad "explain or candidates: $(cat err)"
import json
s = json.load(open("found/results.json"))["models"][0]["suites"]
assert set(s) == {"explain", "candidates"}
for source in ("feynman", "classic", "strogatz", "all"):
    one = s["explain"][source]
    assert one["formulas"] > 0 and one["first"]["lo"] <= one["first"]["value"] <= one["first_3"]["value"] <= 1
    assert one["cure_first"]["value"] <= one["cure_first_10"]["value"]
    for kind in ("edits", "random"):
        assert 0 <= s["candidates"][source][kind]["mean_percentile"]["value"] <= 1
assert s["explain"]["generated"]["formulas"] > 100 and s["candidates"]["all"]["random"]["mean_others"]["value"] > 50
PY
refuses 2 'snip evaluate --suite explain' bench explain
refuses 2 'snip evaluate --suite candidates' bench candidates
"$snip" evaluate --model S5/model.safetensors --suite ood --targets 2 --out older --quiet >/dev/null &&
    python3 -c 'import json; assert set(json.load(open("older/results.json"))["models"][0]["suites"]) == {"corpora"}' && good ||
    bad "the older name of a suite is not taken"

# Independent figures.
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    /usr/bin/python3 "$root/tests/recompute.py" eval/results.json dump && good || bad "figures differ"
else
    echo "no NumPy here: figures not recomputed"
fi

# The view of forms, with its own figures once more; the page and the table have them.
"$snip" train $settings --set forms=yes --set constants=value --set forms_share=0.5 --stage S2 --steps 30 \
    --out forms >/dev/null || exit 1
"$snip" evaluate --model forms/model.safetensors --suite forms --pairs 20 --problems 2 --library 100 \
    --out trained --json --quiet >out 2>err && grep -q '"promise":{"tasks":[0-9]*,"left_out":2,' out && good ||
    bad "no promise is trained for a model without: $(cat err)"
"$snip" pack forms/model.safetensors --out formed.safetensors --promise 8 >/dev/null 2>err || bad "pack fails: $(cat err)"
"$snip" evaluate --model formed.safetensors --suite forms --pairs 501 --targets 6 --problems 3 --library 400 \
    --out formed --dump formed --quiet >table 2>err && good || bad "evaluate forms fails: $(cat err)"
grep -q 'by shuffled vectors' table && grep -q 'place of the truth among seven' formed/report.html && good ||
    bad "forms are missing in the table or on the page"
grep -q 'There are no results' formed/report.html && bad "the summary of forms alone is empty" || good
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    /usr/bin/python3 "$root/tests/recompute.py" formed/results.json formed && good || bad "figures of forms differ"
fi

# A corpus of one's own in place of the built-in ones; laws with their constants as inputs.
printf 'a\tg\tA*exp(-b*t)\tA=1:5 b=0.1:2 t=0:10\trange\t-\nb\tg\tA*x/(K + x)\tA=1:5 x=0.01:5 K=1:3\trange\t-\n' >own.tsv
"$snip" evaluate --model formed.safetensors --suite forms --pairs 20 --problems 3 --library 100 --corpus own.tsv \
    --quantities 100 --out own --quiet >/dev/null 2>err && python3 - <<'PY' && good || bad "a corpus of one's own: $(cat err)"
import json
own, built_in = (json.load(open(f"{d}/results.json")) for d in ("own", "formed"))
problems, others = (r["models"][0]["suites"]["forms"]["problems"] for r in (own, built_in))
assert own["corpus"] == "own.tsv" and own["quantities"] == 1
assert built_in["corpus"] is None and built_in["quantities"] == 0
assert problems["corpora"]["problems"] == 2 and others["corpora"]["problems"] > 2
assert problems["laws"]["rows200"] != others["laws"]["rows200"]
PY

# The same with another number of threads, and with the work split between ranks.
if [ -n "$no_ranks" ]; then echo "ranks are not tested: $no_ranks"; else
for n in 1 2 3; do
    ranks $n mpi$n "$snip" evaluate --model S5/model.safetensors --suite global --pairs 700 --threads 1 \
        --out mpi$n --quiet && good || bad "$n ranks: $(head -3 mpi$n.err)"
done
python3 - <<'PY' && good || bad "ranks or threads change the figures"
import json
want = json.load(open("eval/results.json"))["models"][0]["suites"]["global"]
for n in (1, 2, 3):
    got = json.load(open(f"mpi{n}/results.json"))["models"][0]["suites"]["global"]
    assert got["f2y"] == want["f2y"] and got["y2f"] == want["y2f"], n
PY
timeout 60 mpirun -n 2 "$snip" evaluate --model S5/model.safetensors --suite global --pairs 100 --dump d --out e \
    >out 2>&1
{ [ $? -ne 124 ] && grep -q 'dump needs a single process' out; } && good || bad "--dump with two ranks: $(cat out)"
fi

# Some suites: the same figures as among all.
"$snip" evaluate --model S5/model.safetensors --suite edits --suite=geometry --pairs 700 --targets 6 \
    --out some --quiet >/dev/null && python3 - <<'PY' && good || bad "two suites are not those asked for"
import json
some, all = (json.load(open(f"{d}/results.json"))["models"][0]["suites"] for d in ("some", "eval"))
for s in (*some.values(), *all.values()):
    del s["seconds"]
assert some == {k: all[k] for k in ("geometry", "edits")}
PY

# Bad input.
refuses 2 'needs --model' evaluate
refuses 1 'No such file' evaluate --model missing.safetensors --out e
[ -e e ] && bad "a wrong model leaves a folder" || good
refuses 2 'problems' evaluate --model S5/model.safetensors --problems 0
echo 'sin(x)' >fields.tsv
refuses 1 'fields.tsv: line 1 does not have 6 tab-separated fields' evaluate --model S5/model.safetensors \
    --corpus fields.tsv --out e
refuses 2 'library' evaluate --model S5/model.safetensors --library 5
refuses 2 "takes no argument 'x'" evaluate --model S5/model.safetensors x
refuses 2 'no suite\|not a\|suite' evaluate --model S5/model.safetensors --suite everything
refuses 1 'cannot make this folder' evaluate --model S5/model.safetensors --suite probes --out table/x
head -c 2000 S5/model.safetensors >cut.safetensors
refuses 1 'cut off' evaluate --model cut.safetensors --out e
"$snip" train $settings --set dims=3 --steps 6 --out narrow >/dev/null
refuses 1 'up to 3 inputs' evaluate --model narrow/model.safetensors --out e
mkdir blocked && ln -s /dev/full blocked/S5.probes.symbols.npy 2>/dev/null
# What the other suites found is still printed, so standard output is not empty here.
"$snip" evaluate --model S5/model.safetensors --suite probes --dump blocked --out e >out 2>err
code=$?
{ [ $code -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] &&
    grep -q 'suite probes: blocked/S5.probes.*cannot write' err; } && good ||
    bad "a dump that cannot be written gives $code: $(head -3 err)"

finish
