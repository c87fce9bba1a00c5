#!/usr/bin/env bash
# A checkpoint of SNIP's layout becomes a model file: import_snip.sh PROGRAM SOURCE_ROOT
# Without python3-torch there is nothing to make one with, and the test is skipped (77).
set -u
snip=$(realpath "$1")
import=$(realpath "$2")/python/import_snip.py
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import torch, numpy' 2>/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || { echo "python3-torch is not installed: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$python" - <<'PY' || exit 1
import datetime
import torch

D, FF, LAYERS, LATENT, EMBED, DIMS, POSITIONS = 32, 48, 2, 24, 4, 3, 256
torch.manual_seed(1)

def linear(state, name, i, o):
    state[name + ".weight"], state[name + ".bias"] = torch.randn(o, i), torch.randn(o)

def norm(state, name):
    state[name + ".weight"], state[name + ".bias"] = torch.ones(D), torch.zeros(D)

def encoder(words):
    s = {"position_embeddings.weight": torch.randn(POSITIONS, D)}
    if words:
        s["embeddings.weight"] = torch.randn(words, D)
    norm(s, "layer_norm_emb")
    for i in range(LAYERS):
        for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
            linear(s, f"attentions.{i}.{part}", D, D)
        norm(s, f"layer_norm1.{i}")
        linear(s, f"ffns.{i}.lin1", D, FF)
        linear(s, f"ffns.{i}.lin2", FF, D)
        norm(s, f"layer_norm2.{i}")
    linear(s, "glob_attn_module.0", D, 1)
    linear(s, "bottleneck_module.fc1", D, LATENT)
    linear(s, "z_projection", LATENT, D)
    return s

embedder = {"embeddings.weight": torch.randn(10218, EMBED)}
slots = 3 * (DIMS + 1) * EMBED
linear(embedder, "hidden_layers.0", slots, slots)
linear(embedder, "fc", slots, D)
embedder["fc.bias"] = torch.nn.Parameter(embedder["fc.bias"])  # both kinds occur
data = {"embedder": embedder, "encoder_y": encoder(0), "encoder_f": encoder(10285),
        "epoch": 7, "params": {"when": datetime.timedelta(1)}, "optimizer": [1, "x"]}
numbers = sum(t.numel() for m in ("embedder", "encoder_y", "encoder_f") for t in data[m].values())
open("numbers", "w").write(str(numbers + 4))
open("value", "w").write(repr(float(data["encoder_f"]["ffns.1.lin2.weight"][5, 7])))

def prefixed(d):
    return {m: {"module." + k: t for k, t in s.items()} if isinstance(s, dict) and m != "params"
            else s for m, s in d.items()}

torch.save(data, "plain.pth")
torch.save(prefixed(data), "module.pth")
torch.save({m: data[m] for m in ("embedder", "encoder_y", "encoder_f")}, "legacy.pth",
           _use_new_zipfile_serialization=False)
torch.save({"embedder": embedder}, "missing.pth")
broken = dict(data, encoder_f=dict(data["encoder_f"]))
broken["encoder_f"]["attentions.1.k_lin.weight"] = torch.randn(D, D + 1)
torch.save(broken, "shape.pth")
broken["encoder_f"]["attentions.1.k_lin.weight"] = torch.full((D, D), float("nan"))
torch.save(broken, "nan.pth")

class Evil:
    def __reduce__(self):
        return open, ("touched", "w")

torch.save(dict(data, extra=Evil()), "evil.pth")
open("noise.pth", "wb").write(bytes(range(256)) * 20)
torch.save(torch.ones(3), "tensor.pth")
PY

failed=0
bad() { echo "FAILED: $*"; failed=1; }

for name in plain module legacy evil; do
    "$python" "$import" $name.pth $name.safetensors --heads 4 --points 50 >out 2>err ||
        bad "$name.pth is refused: $(cat err)"
    "$snip" info $name.safetensors --json >info.json || bad "snip info refuses $name.safetensors"
    "$python" - $name <<'PY' || bad "$name: not what was put in"
import json
import struct
import sys

info = json.load(open("info.json"))
want = {"dims": 3, "points": 50, "d": 32, "layers": 2, "heads": 4, "ff": 48, "latent": 24, "embed": 4,
        "channels": 4, "levels": 4, "positions": 256, "point_positions": "yes",
        "similarity": "dot", "pooling": "pads", "norm": "post"}
assert want.items() <= info["config"].items(), info["config"]
assert info["config"]["values"] == "tokens" and info["config"]["statistics"] == "no"
assert info["parameters"] == int(open("numbers").read()), info["parameters"]
data = open(sys.argv[1] + ".safetensors", "rb").read()
length = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + length])

def number(name, index):
    return struct.unpack_from("<f", data, 8 + length + header[name]["data_offsets"][0] + 4 * index)[0]

assert number("encoder_f.ffns.1.lin2.weight", 5 * 48 + 7) == float(open("value").read())
assert abs(number("theta", 3) - 0.5493061) < 1e-6
PY
done
[ -e touched ] && bad "an import ran code of the checkpoint"

refuses() {
    local pattern=$1; shift
    "$python" "$import" "$@" >out 2>err && bad "$* is accepted"
    [ "$(wc -l <err)" -eq 1 ] || bad "$* says $(wc -l <err) lines: $(head -c 300 err)"
    grep -q -- "$pattern" err || bad "$* says '$(cat err)', expected '$pattern'"
    [ ! -e result ] || bad "$* leaves a file"
}
refuses "No such file" nothing.pth result
refuses "not a torch checkpoint" noise.pth result
refuses "no state dictionary 'embedder'" tensor.pth result
refuses "no state dictionary 'encoder_y'" missing.pth result
refuses "k_lin.weight' has shape (32, 33), not (32, 32)" shape.pth result --heads 4
refuses "not finite" nan.pth result --heads 4
refuses "not a multiple of 5 heads" plain.pth result --heads 5
refuses "cannot write" plain.pth no/such/folder/result --heads 4
[ $failed -eq 0 ] && echo "import_snip: all good"
exit $failed
