#!/usr/bin/env bash
# scripts/srbench.py on two easy problems: srbench.sh PROGRAM SOURCE_FOLDER
# Skipped (77) where python3-numpy or python3-sympy is not installed.
set -u
. "$(dirname "$0")/judge.sh"
script=$(realpath "$2")/scripts/srbench.py
/usr/bin/python3 -c 'import numpy, sympy' 2>/dev/null ||
    { echo "skipped: python3-numpy or python3-sympy is not installed"; exit 77; }
start "$1"

run() { "$script" "$snip" --only I.12.1,vdp2 --noise 0,.01 --rows 200 --extra=--no-space --out runs "$@"; }
run --time 5 >out 2>err || bad "srbench.py ends with $?: $(cat err)"
[ "$(ls runs | wc -l)" -eq 4 ] && good || bad "the files are $(ls runs)"
grep -qE '^ *feynman +0 +1 +100.0 % \(1\)' out && grep -qE '^ *strogatz +0 +1 +100.0 % \(1\)' out && good ||
    bad "the summary is $(cat out)"
/usr/bin/python3 - <<'PYTHON' && good || bad "a file's contents"
import json
r = json.load(open("runs/feynman_I_12_1_snip_23654.json"))
for key in ("dataset", "algorithm", "params", "random_state", "time_time", "symbolic_model", "true_model",
            "mse_train", "mae_train", "r2_train", "mse_test", "mae_test", "r2_test", "model_size"):
    assert r[key] is not None, key
assert r["solved"] and r["same"] and r["r2_test"] > 0.999999 and r["model_size"] == r["true_size"] == 3
noisy = json.load(open("runs/strogatz_vdp2_snip_23654_target-noise0.01.json"))
assert noisy["target_noise"] == 0.01 and noisy["same_on_front"] and noisy["mse_train"] > 0
PYTHON
# What is there is not run again, and nothing is mixed with other settings.
rm runs/strogatz_vdp2_snip_23654.json
run --time 5 >out 2>err
grep -q '^1 runs' err && [ "$(ls runs | wc -l)" -eq 4 ] && good || bad "going on: $(cat err)"
run --time 6 >out 2>err && bad "other settings are taken" || good
grep -q 'other settings' err && good || bad "other settings: $(cat err)"
run --summary --markdown >out
grep -q '^| feynman | 0.01 | 1 |' out && good || bad "no Markdown"
# The judge: right, right up to rounding, and wrong.
/usr/bin/python3 - "$script" <<'PYTHON' && good || bad "the judge"
import importlib.util, sys
spec = importlib.util.spec_from_file_location("srbench", sys.argv[1])
m = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(m)
corpora = m.problems(["feynman", "strogatz"])
assert [len(c) for c in corpora] == [116, 14]
known = {p.id: p for c in corpora for p in c}
import sympy
for name, text, solved in (("I.13.4", "0.5002*m*(u**2 + v**2 + 1.0003*w**2)", True),
                           ("I.13.4", "0.5*m*(u**2 + v**2) + 0.6*m*w**2", False),
                           ("I.10.7", "1.0001*m_0/sqrt(0.9999 - v**2/c**2)", True),
                           ("I.10.7", "c*m_0/sqrt(c**2 - v**2)", True),
                           ("I.6.2a", "0.39894*exp(-0.5*theta**2) + 3.5", True),
                           ("vdp1", "-3.333*x**3 + 3.333*x + 10.0*y", True),
                           ("I.12.1", "0.001", False)):
    got = m.judged(text, known[name], 60)
    assert got[1] == solved, (name, text, got)
PYTHON

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
