#!/usr/bin/python3
"""Turns a published SNIP checkpoint (.pth) into a snip model file.

The checkpoint is a torch pickle of a dictionary with three state dictionaries, `embedder`,
`encoder_y` and `encoder_f`; whatever else it holds is ignored. Nothing in it is executed: the reader
below knows tensors and containers, and every other object becomes an empty shell.
"""
import argparse
import array
import collections
import io
import json
import math
import os
import pickle
import sys
import zipfile

EXAMPLE = """example:
  python/import_snip.py snip-10dmax.pth snip-10dmax.safetensors
  snip info snip-10dmax.safetensors
"""
FLOAT_WORDS = 10218  # words of numbers, for every input dimension
EQUATION_WORDS = 10282  # words of formulas without those of the variables
DIMS_MAX = 10


class Refused(Exception):
    """What is wrong, in one line."""


class Shell:
    """Stands for an object of a class that is not a tensor: takes everything, does nothing."""

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return self

    def __setstate__(self, state):
        pass

    def __setitem__(self, key, value):
        pass

    def append(self, value):
        pass

    def extend(self, values):
        pass


def rebuild_tensor(storage, offset, size, stride, *unused):
    return storage.as_strided(size, stride, offset)


def rebuild_parameter(tensor, *unused):
    return tensor


class CarefulUnpickler(pickle.Unpickler):
    """Finds what tensors are made of and nothing else. torch.load has a way to be given such a
    class, but version 1.13.0, which is Debian's, passes over it."""

    known = {("collections", "OrderedDict"): collections.OrderedDict,
             ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
             ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
             ("torch._utils", "_rebuild_parameter"): rebuild_parameter}

    def __init__(self, file, storage):
        super().__init__(file)
        self.storage = storage

    def find_class(self, module, name):
        if module == "torch" and name.endswith("Storage"):
            return name
        return self.known.get((module, name), Shell)

    def persistent_load(self, key):
        return self.storage(*key[1:3])


def load_zip(path):
    """torch's format since 1.6: a zip with the pickle data.pkl and a file per storage."""
    import torch

    types = {"FloatStorage": torch.float32, "DoubleStorage": torch.float64,
             "HalfStorage": torch.float16, "BFloat16Storage": torch.bfloat16,
             "LongStorage": torch.int64, "IntStorage": torch.int32, "ShortStorage": torch.int16,
             "CharStorage": torch.int8, "ByteStorage": torch.uint8, "BoolStorage": torch.bool}
    read = {}
    with zipfile.ZipFile(path) as z:
        pickles = [name for name in z.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise ValueError("it has no data.pkl")
        folder = pickles[0][: -len("data.pkl")]

        def storage(kind, key):
            if key not in read:
                data = bytearray(z.read(f"{folder}data/{key}"))
                empty = torch.empty(0, dtype=types[kind])
                read[key] = torch.frombuffer(data, dtype=types[kind]) if data else empty
            return read[key]

        return CarefulUnpickler(io.BytesIO(z.read(pickles[0])), storage).load()


def read_checkpoint(path):
    """Tensors by name, the module in front."""
    try:
        import torch
    except ImportError:
        raise Refused("needs PyTorch: apt-get install python3-torch") from None
    try:
        with open(path, "rb"):
            pass
        if zipfile.is_zipfile(path):
            data = load_zip(path)
        else:  # older; only files without foreign objects
            data = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as e:
        raise Refused(f"{path}: {e.strerror or e}") from None
    except Exception as e:  # a broken file can fail anywhere in the reader
        reason = (str(e).splitlines() or [type(e).__name__])[0][:120]
        raise Refused(f"{path}: not a torch checkpoint: {reason}") from None
    tensors = {}
    for module in ("embedder", "encoder_y", "encoder_f"):
        state = data.get(module) if isinstance(data, dict) else None
        if not isinstance(state, dict):
            raise Refused(f"{path}: has no state dictionary '{module}'")
        for key, tensor in state.items():
            if not isinstance(key, str) or not isinstance(tensor, torch.Tensor):
                raise Refused(f"{path}: '{module}' holds something else than named tensors")
            plain = key[len("module."):] if key.startswith("module.") else key
            tensors[f"{module}.{plain}"] = tensor.detach()
    return tensors


def deduce(tensors, heads, points, channels):
    """The configuration that these shapes belong to."""

    def shape(name, rank):
        if name not in tensors:
            raise Refused(f"tensor '{name}' is missing")
        if tensors[name].dim() != rank or not tensors[name].numel():
            raise Refused(f"tensor '{name}' has shape {tuple(tensors[name].shape)}")
        return tuple(tensors[name].shape)

    embed = shape("embedder.embeddings.weight", 2)[1]
    slots = shape("embedder.hidden_layers.0.weight", 2)[1]
    d = shape("embedder.fc.weight", 2)[0]
    layers = 0
    while f"encoder_f.attentions.{layers}.q_lin.weight" in tensors:
        layers += 1
    if not layers:
        raise Refused("tensor 'encoder_f.attentions.0.q_lin.weight' is missing")
    dims = slots // (3 * embed) - 1
    if slots != 3 * embed * (dims + 1) or not 1 <= dims <= DIMS_MAX:
        raise Refused(f"{slots} numbers per point do not fit embeddings of width {embed}")
    if d % heads:
        raise Refused(f"width {d} is not a multiple of {heads} heads; see --heads")
    if d % (2 * channels):
        raise Refused(f"width {d} is not a multiple of 2 * {channels} channels; see --channels")
    positions = shape("encoder_f.position_embeddings.weight", 2)[0]
    return {"dims": dims, "points": points, "d": d, "layers": layers, "heads": heads,
            "ff": shape("encoder_f.ffns.0.lin1.weight", 2)[0],
            "latent": shape("encoder_f.bottleneck_module.fc1.weight", 2)[0], "embed": embed,
            "channels": channels, "levels": d // (2 * channels), "positions": positions,
            "point_positions":
                "yes" if "encoder_y.position_embeddings.weight" in tensors else "no",
            "similarity": "dot", "pooling": "pads", "norm": "post"}


def expected_shapes(c):
    """Every tensor of SNIP's at this configuration, in the order of a snip file."""
    d, ff, latent = c["d"], c["ff"], c["latent"]
    shapes = {}

    def linear(name, inputs, outputs):
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (outputs, inputs), (outputs,)

    def norm(name):
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (d,), (d,)

    slots = 3 * (c["dims"] + 1) * c["embed"]
    shapes["embedder.embeddings.weight"] = (FLOAT_WORDS, c["embed"])
    linear("embedder.hidden_layers.0", slots, slots)
    linear("embedder.fc", slots, d)
    for e in ("encoder_y", "encoder_f"):
        if e == "encoder_f":
            shapes[f"{e}.embeddings.weight"] = (EQUATION_WORDS + c["dims"], d)
        if e == "encoder_f" or c["point_positions"] == "yes":
            shapes[f"{e}.position_embeddings.weight"] = (c["positions"], d)
        norm(f"{e}.layer_norm_emb")
        for i in range(c["layers"]):
            for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
                linear(f"{e}.attentions.{i}.{part}", d, d)
            norm(f"{e}.layer_norm1.{i}")
            linear(f"{e}.ffns.{i}.lin1", d, ff)
            linear(f"{e}.ffns.{i}.lin2", ff, d)
            norm(f"{e}.layer_norm2.{i}")
        linear(f"{e}.glob_attn_module.0", d, 1)
        linear(f"{e}.bottleneck_module.fc1", d, latent)
        linear(f"{e}.z_projection", latent, d)
    return shapes


def check(tensors, shapes):
    for name, shape in shapes.items():
        if name not in tensors:
            raise Refused(f"tensor '{name}' is missing")
        if tuple(tensors[name].shape) != shape:
            raise Refused(f"tensor '{name}' has shape {tuple(tensors[name].shape)}, not {shape}")
        if not tensors[name].is_floating_point():
            raise Refused(f"tensor '{name}' does not hold floating-point numbers")
        if not bool(tensors[name].float().isfinite().all()):
            raise Refused(f"tensor '{name}' holds a number that is not finite")
    for name in tensors:
        if name not in shapes:
            raise Refused(f"tensor '{name}' is not part of SNIP's model")


def write_safetensors(path, arrays, metadata):
    """arrays: name -> (shape, bytes of float32, little endian). The file appears as a whole."""
    header, at = {"__metadata__": metadata}, 0
    for name, (shape, data) in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(shape),
                        "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = f"{path}.tmp"
    try:
        with open(temporary, "wb") as f:
            f.write(len(text).to_bytes(8, "little") + text)
            for _, data in arrays.values():
                f.write(data)
        os.replace(temporary, path)
    except OSError as e:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise Refused(f"{path}: cannot write: {e.strerror}") from None


def convert(source, target, heads, points, channels):
    tensors = read_checkpoint(source)
    try:
        config = deduce(tensors, heads, points, channels)
        shapes = expected_shapes(config)
        check(tensors, shapes)
    except Refused as e:
        raise Refused(f"{source}: {e}") from None
    arrays = {}
    for name, shape in shapes.items():
        numbers = tensors[name].float().contiguous().numpy().astype("<f4", copy=False)
        arrays[name] = (shape, numbers.tobytes())
    theta = array.array("f", [math.atanh(0.5)] * channels)
    if sys.byteorder == "big":
        theta.byteswap()
    arrays["theta"] = ((channels,), theta.tobytes())
    write_safetensors(target, arrays, {
        "format": "snip", "config": json.dumps(config, separators=(",", ":")),
        "imported": os.path.basename(source)})
    return sum(len(data) // 4 for _, data in arrays.values())


def positive(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def main():
    parser = argparse.ArgumentParser(
        description="Turns a published SNIP checkpoint (.pth) into a snip model file.",
        epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="torch file with embedder, encoder_y and encoder_f")
    parser.add_argument("model", help="file to write")
    parser.add_argument("--heads", type=positive, default=16,
                        help="attention heads, which shapes do not tell (default 16)")
    parser.add_argument("--points", type=positive, default=200,
                        help="points of a table (default 200)")
    parser.add_argument("--channels", type=positive, default=4,
                        help="channels of the tree positions, which SNIP lacks (default 4)")
    a = parser.parse_args()
    try:
        count = convert(a.checkpoint, a.model, a.heads, a.points, a.channels)
    except Refused as e:
        print(f"import_snip: {e}", file=sys.stderr)
        return 1
    print(f"{a.model}: {count} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
