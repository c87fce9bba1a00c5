#!/usr/bin/python3
"""The training step of SNIP++ in plain PyTorch, computed the way SNIP computes it.

It is what `snip` is compared with, so it does what the reference does: formulas are padded to 200
positions and masked, every table embeds all its inputs, present or not, and nothing is shared
between tables on the same X. A batch comes from `snip bench batch --out FILE`, with the weights to
start from and the loss that C computes.

    snip bench batch --preset tiny --stage S5 --batch-size 8 --out batch.safetensors
    bench/torch/step.py batch.safetensors --check
    bench/torch/step.py batch.safetensors --threads 2 --repeat 2
"""
import argparse
import json
import math
import os
import sys
import time


def choose_blas_kernels():
    """Debian's OpenBLAS takes processors newer than itself for the oldest it knows, and is then
    four times slower than it could be. Tell it what the processor can do, before it is loaded."""
    try:
        with open("/proc/cpuinfo") as f:
            flags = next((line for line in f if line.startswith("flags")), "").split()
    except OSError:
        flags = []
    for flag, kernels in (("avx512bw", "SkylakeX"), ("avx2", "Haswell")):
        if flag in flags:
            os.environ.setdefault("OPENBLAS_CORETYPE", kernels)


choose_blas_kernels()

import numpy
import torch
from torch import nn
from torch.nn import functional

DTYPES = {"F32": numpy.float32, "I32": numpy.int32, "I64": numpy.int64}


def read_safetensors(path):
    """Arrays by name, and the metadata."""
    with open(path, "rb") as f:
        length = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(length))
        data = f.read()
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = numpy.frombuffer(data[begin:end], dtype=DTYPES[entry["dtype"]])
        arrays[name] = torch.from_numpy(flat.reshape(entry["shape"]).copy())
    return arrays, metadata


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q_lin, self.k_lin = nn.Linear(d, d), nn.Linear(d, d)
        self.v_lin, self.out_lin = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, padded):
        """x (n, length, d); padded (n, length) marks the positions nobody may look at."""
        n, length, d = x.shape

        def split(y):
            return y.view(n, length, self.heads, d // self.heads).transpose(1, 2)

        q = split(self.q_lin(x)) / math.sqrt(d // self.heads)
        scores = q @ split(self.k_lin(x)).transpose(2, 3)
        scores.masked_fill_(padded[:, None, None, :], -math.inf)
        context = scores.softmax(-1) @ split(self.v_lin(x))
        return self.out_lin(context.transpose(1, 2).reshape(n, length, d))


class FeedForward(nn.Module):
    def __init__(self, d, ff):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(d, ff), nn.Linear(ff, d)

    def forward(self, x):
        return self.lin2(functional.relu(self.lin1(x)))


class Bottleneck(nn.Module):
    def __init__(self, d, latent):
        super().__init__()
        self.fc1 = nn.Linear(d, latent)

    def forward(self, x):
        return self.fc1(x)


class Encoder(nn.Module):
    """Either encoder: from embedded positions to hidden states, and from those to rows."""

    def __init__(self, c, words=None, positions=True):
        super().__init__()
        d, layers = c["d"], c["layers"]
        self.pre_norm = c["norm"] == "pre"
        self.pool_pads = c["pooling"] == "pads"
        if words:
            self.embeddings = nn.Embedding(words, d)
        if positions:
            self.position_embeddings = nn.Embedding(c["positions"], d)

        def norm():
            return nn.LayerNorm(d, eps=1e-12)

        self.layer_norm_emb = norm()
        self.attentions = nn.ModuleList(Attention(d, c["heads"]) for _ in range(layers))
        self.layer_norm1 = nn.ModuleList(norm() for _ in range(layers))
        self.ffns = nn.ModuleList(FeedForward(d, c["ff"]) for _ in range(layers))
        self.layer_norm2 = nn.ModuleList(norm() for _ in range(layers))
        if self.pre_norm:
            self.layer_norm_last = norm()
        self.glob_attn_module = nn.Sequential(nn.Linear(d, 1))
        self.bottleneck_module = Bottleneck(d, c["latent"])
        self.z_projection = nn.Linear(c["latent"], d)  # SNIP has it and never uses it

    def hidden(self, x, padded):
        """x (n, length, d), summed embeddings."""
        if hasattr(self, "position_embeddings"):
            x = x + self.position_embeddings.weight[: x.shape[1]]
        x = self.layer_norm_emb(x)
        there = (~padded)[:, :, None].to(x.dtype)
        x = x * there
        parts = zip(self.attentions, self.layer_norm1, self.ffns, self.layer_norm2)
        for attention, norm1, ffn, norm2 in parts:
            if self.pre_norm:
                x = x + attention(norm1(x), padded)
                x = x + ffn(norm2(x))
            else:
                x = norm1(x + attention(x, padded))
                x = norm2(x + ffn(x))
            x = x * there
        if self.pre_norm:
            x = self.layer_norm_last(x) * there
        return x

    def pool(self, x, left_out=None):
        """Rows from hidden states. left_out (n, length): positions outside of the softmax."""
        scores = self.glob_attn_module(x)[:, :, 0]
        if left_out is not None:
            scores = scores.masked_fill(left_out, -math.inf)
        pooled = (scores.softmax(1)[:, None, :] @ x)[:, 0]
        return self.bottleneck_module(pooled)

    def rows(self, x, padded):
        """Complete sequences: SNIP's pads share the softmax, masked ones do not."""
        return self.pool(x, None if self.pool_pads else padded)


class PointEmbedder(nn.Module):
    def __init__(self, c, words):
        super().__init__()
        width = 3 * (c["dims"] + 1) * c["embed"]
        self.embeddings = nn.Embedding(words, c["embed"])
        self.hidden_layers = nn.ModuleList([nn.Linear(width, width)])
        self.fc = nn.Linear(width, c["d"])

    def forward(self, ids):
        """ids (n, points, 3 (dims + 1)), absent inputs included."""
        x = self.embeddings(ids).flatten(2)
        return self.fc(functional.relu(self.hidden_layers[0](x)))


class Snip(nn.Module):
    def __init__(self, c, float_words, equation_words):
        super().__init__()
        self.levels = c["levels"]
        self.embedder = PointEmbedder(c, float_words)
        self.encoder_y = Encoder(c, positions=c["point_positions"] == "yes")
        self.encoder_f = Encoder(c, words=equation_words)
        self.theta = nn.Parameter(torch.full((c["channels"],), math.atanh(0.5)))
        self.cosine = c["similarity"] == "cosine"
        if self.cosine:
            self.logit_scale_global = nn.Parameter(torch.full((1,), math.log(1 / 0.07)))
            self.logit_scale_local = nn.Parameter(torch.full((1,), math.log(1 / 0.07)))

    def tree_positions(self, ways):
        """ways (n, length, levels, 2): which child each relation above a token is, one-hot."""
        level = torch.arange(self.levels, dtype=self.theta.dtype)
        decay = torch.tanh(self.theta)[:, None] ** level
        return (ways[:, :, None] * decay[:, :, None]).flatten(2)

    def formulas(self, b):
        """Hidden states (n, 200, d)."""
        x = self.encoder_f.embeddings(b["token"])
        if b["ways"] is not None:
            x = x + self.tree_positions(b["ways"])
        return self.encoder_f.hidden(x, b["padded"])

    def tables(self, b):
        """A row per table."""
        ids = torch.cat([b["x"][b["y_sample"]], b["y"]], 2)
        padded = torch.zeros(ids.shape[:2], dtype=torch.bool)
        x = self.encoder_y.hidden(self.embedder(ids), padded)
        return self.encoder_y.rows(x, padded)


def prepare(arrays, stage, levels):
    """The batch as tensors that index: int64, masks, and the paths of tokens as one-hot levels."""
    b = {name[6:]: t.long() for name, t in arrays.items() if name.startswith("batch.")}
    place = torch.arange(b["token"].shape[1])
    b["padded"] = place[None, :] >= b["length"][:, None]
    b["outside"] = (place[None, :] < b["first"][:, None]) | (place[None, :] >= b["end"][:, None])
    b["ways"] = None
    if stage != "S0":
        level = torch.arange(levels)
        known = level < b["depth"][:, :, None]
        second = (b["slots"][:, :, None] >> level & 1).bool()
        b["ways"] = torch.stack([known & ~second, known & second], 3).float()
    return b


def contrast(s, v, partner, scale, cosine, taking_part=None):
    """Both directions between symbols s and values v; partner[i] is the row of v of symbol i."""
    if cosine:
        s, v = functional.normalize(s, dim=1), functional.normalize(v, dim=1)
    scores = scale * (s @ v.T)
    forth = scores if taking_part is None else scores.masked_fill(~taking_part, -math.inf)
    own = torch.arange(len(s))
    back = scores[:, partner].T
    return 0.5 * (functional.cross_entropy(forth, partner) + functional.cross_entropy(back, own))


def loss_of(model, b, stage, training):
    """The stage's objective: the total and its terms."""
    hidden = model.formulas(b)
    encoder = model.encoder_f
    tables = model.tables(b)
    views, variants = {}, {}

    def view(name, rows, owners):
        order = owners.argsort()
        views[name], variants[name] = rows[order], owners[order]

    def complete(name, which):
        if which.any():
            view(name, encoder.rows(hidden[which], b["padded"][which]), b["variant"][which])

    parent, wanted = b["alone"] == 0, b["whole"] == 1
    complete("gs", parent & wanted)
    complete("o", ~parent & wanted)
    part = b["part"] == 1
    if part.any():
        view("c", encoder.pool(hidden[part], b["outside"][part]), b["variant"][part])
    subtree = b["y_subtree"] == 1
    view("gv", tables[~subtree], b["y_variant"][~subtree])
    view("p", tables[subtree], b["y_variant"][subtree])

    if model.cosine:
        global_scale = model.logit_scale_global.exp()
        local_scale = model.logit_scale_local.exp()
    else:
        global_scale, local_scale = 1 / training["tau_global"], 1 / training["tau_local"]

    def term(symbols, values, scale):
        if symbols not in views:
            return torch.zeros(())
        s_of, v_of = variants[symbols], variants[values]
        taking_part = None
        if stage in ("S2", "S3") and values == "p":  # originals and the item's own perturbations
            same = b["item"][s_of][:, None] == b["item"][v_of][None, :]
            taking_part = same | (b["k"][v_of] == 0)[None, :]
        partner = torch.searchsorted(v_of, s_of)
        return contrast(views[symbols], views[values], partner, scale, model.cosine, taking_part)

    terms = {"global": term("gs", "gv", global_scale), "context": term("c", "p", local_scale),
             "standalone": term("o", "p", local_scale)}
    total = terms["global"] + training["lambda"] * (terms["context"] + terms["standalone"])
    return total, terms


class Step:
    """A model with its optimiser on one batch. run() makes a step."""

    def __init__(self, path):
        arrays, metadata = read_safetensors(path)
        self.metadata, self.stage = metadata, metadata["stage"]
        self.config = json.loads(metadata["config"])
        self.training = json.loads(metadata["training"])
        weights = {name: t for name, t in arrays.items() if not name.startswith("batch.")}
        self.model = Snip(self.config, len(weights["embedder.embeddings.weight"]),
                          len(weights["encoder_f.embeddings.weight"]))
        self.model.load_state_dict(weights)
        self.batch = prepare(arrays, self.stage, self.config["levels"])
        self.parameters = [p for p in self.model.parameters()]
        self.moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.parameters]
        self.updates = 0

    def run(self, lr=1e-7):
        """Forward, backward, clip, Adam. Returns loss, its terms and the gradient's norm."""
        for p in self.parameters:
            p.grad = None
        loss, terms = loss_of(self.model, self.batch, self.stage, self.training)
        loss.backward()
        used = [i for i, p in enumerate(self.parameters) if p.grad is not None]
        with torch.no_grad():
            norm = math.sqrt(sum(float(self.parameters[i].grad.norm()) ** 2 for i in used))
            self.update(used, norm, lr)
        return float(loss), {name: float(t) for name, t in terms.items()}, norm

    def update(self, used, norm, lr):
        """Adam as SNIP writes it: eps beside the uncorrected root."""
        t = self.training
        self.updates += 1
        beta1, beta2 = t["beta1"], t["beta2"]
        shrink = min(1, t["clip"] / (norm + 1e-6)) if t["clip"] > 0 else 1
        rate = lr * math.sqrt(1 - beta2**self.updates) / (1 - beta1**self.updates)
        for i in used:
            (m, v), g = self.moments[i], self.parameters[i].grad.mul_(shrink)
            m.mul_(beta1).add_(g, alpha=1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            self.parameters[i].addcdiv_(m, v.sqrt().add_(t["eps"]), value=-rate)

    def bytes_needed(self):
        """What a step takes at most, roughly: saved activations, weights, gradients, moments."""
        c, b = self.config, self.batch
        formulas, length = b["token"].shape
        tables, points = b["y"].shape[:2]

        def each(length):
            return c["layers"] * (16 * c["d"] + 2 * c["ff"] + 2 * c["heads"] * length)

        embedded = 3 * 3 * (c["dims"] + 1) * c["embed"]
        floats = formulas * length * each(length) + tables * points * (each(points) + embedded)
        return 4 * (floats + 5 * sum(p.numel() for p in self.parameters))


def check(step, tolerance):
    """Compares with what C computed on the same batch and weights. Returns whether they agree."""
    loss, terms, norm = step.run()
    agreed = True
    for name, got in {"loss": loss, **terms, "gradient_norm": norm}.items():
        want = float(step.metadata[name])
        off = abs(got - want) / max(abs(want), 1e-6)
        agreed = agreed and off <= tolerance
        print(f"{name:<16} C {want:<12.8g} torch {got:<12.8g} relative difference {off:.1e}")
    return agreed


def main():
    parser = argparse.ArgumentParser(
        description="Runs the training step of a batch file in PyTorch.",
        epilog="example: step.py batch.safetensors --check")
    parser.add_argument("batch", help="file written by snip bench batch")
    parser.add_argument("--check", action="store_true",
                        help="compare loss and gradient norm with C's instead of measuring")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="relative (default 1e-3)")
    parser.add_argument("--threads", type=int, default=2, help="cores (default 2)")
    parser.add_argument("--repeat", type=int, default=2, help="steps after a warm-up (default 2)")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    step = Step(a.batch)
    if a.check:
        agreed = check(step, a.tolerance)
        print("agreed" if agreed else "NOT agreed")
        return 0 if agreed else 1
    step.run()
    for _ in range(a.repeat):
        start = time.perf_counter()
        step.run()
        print(f"{time.perf_counter() - start:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
