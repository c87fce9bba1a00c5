#!/usr/bin/python3
"""python/snip.py beside what the command prints: python.py FOLDER LIBRARY, below with_model.sh.

The library decides all numbers, so they are compared bit by bit."""
import copy
import gc
import json
import math
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

try:
    import numpy as np
except ImportError:
    print("there is no NumPy here")
    sys.exit(77)

module, os.environ["SNIP_LIBRARY"] = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, module)
import snip  # noqa: E402

FOLDER, PROGRAM = os.environ["SNIP_TEST_FOLDER"], os.environ["SNIP_PROGRAM"]
MODEL = os.path.join(FOLDER, "model.safetensors")
NAMES = ["u", "v", "w"]
FORMULAS = ["2*sqrt(u) + 0.1*v", "u - v", "3*log(u) + 1", "exp(0.1*u) - 0.4*v", "floor(u)", "2.5",
            "log(v)", "u*v*w + 1.234"]

i = np.arange(40)
X = np.stack([0.1 + 0.2 * i, (i * 7 % 11) - 4.3, (i * 5 % 13) / 3.0], axis=1)
Y = 3 * np.sqrt(X[:, 0]) - 0.5 * X[:, 1] + 0.01 * (i % 3)


class Frame:
    """What this module wants of a DataFrame."""

    def __init__(self, x, columns):
        self.x, self.columns = x, columns

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.x, dtype=dtype)


def command(*arguments):
    out = subprocess.run([PROGRAM, *arguments, "--model", MODEL, "-q"], cwd=FOLDER, check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out) if "--json" in arguments else out


def write_files():
    with open(os.path.join(FOLDER, "table.csv"), "w") as f:
        f.write("u,v,w,y\n")
        for row, y in zip(X, Y):
            f.write(",".join(repr(float(n)) for n in (*row, y)) + "\n")
    with open(os.path.join(FOLDER, "formulas"), "w") as f:
        f.write("\n".join(FORMULAS) + "\n")


def same(a, b):
    """Equal numbers, where the command writes null for NaN."""
    return math.isnan(a) if b is None else a == b


class Tests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        write_files()
        cls.model = snip.Model(MODEL)

    def refuses(self, pattern, call, *arguments, code=None, pos=None, **more):
        with self.assertRaisesRegex(snip.Error, pattern) as raised:
            call(*arguments, **more)
        if code:
            self.assertEqual(raised.exception.code, code)
        if pos is not None:
            self.assertEqual(raised.exception.pos, pos)

    def same_ranking(self, got, want, first=1):
        self.assertEqual(len(got), len(want))
        for g, w in zip(got, want):
            self.assertEqual(g.equation, w["equation"])
            self.assertEqual(g.place + first, w["place"])
            self.assertEqual(g.pareto, w["pareto"])
            for key in ("similarity", "loss_train", "loss_val", "loss_cross", "r2_train", "r2_val", "complexity",
                        "model_size", "score"):
                self.assertTrue(same(getattr(g, key), w[key]), (key, g, w))

    def test_versions(self):
        self.assertEqual(snip.__version__, snip.library_version())

    def test_every_function_of_the_header_is_known(self):
        header = os.path.join(module, "..", "include", "snip.h")
        with open(header) as f:
            declared = set(re.findall(r"\bsnip_([a-z_]+)\(", f.read()))
        self.assertEqual(declared, set(snip._FUNCTIONS))

    def test_formula(self):
        f = snip.Formula("0.5*v^2 + log(t)", names=["v", "t"])
        np.testing.assert_array_equal(f([1, 2, 3], [0, 1, -1]), [np.nan, 2, np.nan])
        np.testing.assert_array_equal(f(t=1, v=np.float32([[1, 2], [3, 4]])), [[.5, 2], [4.5, 8]])
        self.assertEqual(f(2, 1), 2.0)
        self.assertIsInstance(f(2, 1), float)
        self.assertEqual(f(np.empty((0, 3)), 1).shape, (0, 3))
        self.assertEqual(snip.Formula("2.5")(), 2.5)
        x = np.arange(24.0).reshape(4, 6)
        np.testing.assert_array_equal(snip.Formula("2*x0")(x[::2, ::-3].T), 2 * x[::2, ::-3].T)
        np.testing.assert_array_equal(snip.Formula("2*x0")(x.astype(">f4")), 2 * x)
        self.assertEqual((str(f), f.sympy()), ("0.5*v^2 + log(t)", "0.5*v**2 + log(t)"))
        self.assertIn("\\log", f.latex())
        self.assertIn("log(t)", f.c())
        self.assertEqual(f.prefix(), "add,mul,0.5,pow2,v,log,t")
        self.assertEqual((f.nodes, f.inputs), (7, 2))
        self.assertEqual(repr(f), "Formula('0.5*v^2 + log(t)', names=['v', 't'])")
        self.assertEqual(snip.Formula("x0^x1").normal().prefix(), "exp,mul,x_1,log,x_0")
        self.refuses("pow|log|positive", snip.Formula("x0^x1").normal, False, code="UNSUPPORTED")
        long = " + ".join(["x0"] * 400)
        self.assertEqual(str(snip.Formula(long)), long)
        hidden = snip.Formula("np.e*e + `1` + np.pi*pi", names=["e", "1", "pi"])
        self.assertEqual(pickle.loads(pickle.dumps(hidden))(10, 7, 3), hidden(10, 7, 3))
        self.assertEqual(snip.Formula(hidden.prefix(), hidden.names)(10, 7, 3), hidden(10, 7, 3))
        with self.assertRaises(snip.Error):
            half_made = snip.Formula.__new__(snip.Formula)
            half_made.__init__("x0 +")
        self.assertEqual(repr(half_made), "<closed Formula>")
        for twin in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
            self.assertEqual((repr(twin), twin(2, 1)), (repr(f), 2.0))

    def test_bad_formulas(self):
        self.refuses("foo", snip.Formula, "x0 + foo(1)", code="SYNTAX", pos=5)
        for text in ("", "x0 +", "((", "\N{SNOWMAN}", "x0 \ud800", "x0\0+1", "x" * 10**6,
                     "(" * 10**5):
            self.refuses(".", snip.Formula, text)
        for text in (None, 3, b"x0", ["x0"]):
            self.refuses("must be text", snip.Formula, text)
        self.refuses("list of names", snip.Formula, "u", names="uvw")
        self.refuses("zero byte", snip.Formula, "u", names=["u\0"])
        self.refuses("list of names", snip.Formula, "u", names=5)
        self.refuses("must be a Model", snip.Index, "lib.db", None)
        self.refuses("must be a Model", snip.explain, None, [[1.0], [2.0], [4.0]], [1, 2, 3], "x0")
        f = snip.Formula("a + b", names=["a", "b"])
        self.refuses("needs 2 columns, there is 1", f, 1.0, code="FORMAT")
        self.refuses("no variable 'c'", f, a=1, c=2)
        self.refuses("no values for 'b'", f, a=1)
        self.refuses("not both", f, 1, b=2)
        self.refuses("shape mismatch", f, [1, 2], [1, 2, 3])
        for junk in ("text", ["a", "b"], 1j, object(), [[1], [2, 3]], np.datetime64("2020-01-01"),
                     {}):
            self.refuses("not an array of numbers", f, junk, 1)
        f.close()
        f.close()
        self.refuses("closed", f, 1, 2)
        self.refuses("closed", str, f)
        self.assertEqual(repr(f), "<closed Formula>")

    def test_models(self):
        m = self.model
        self.assertEqual((m.inputs, len(m.hash)), (5, 32))
        self.refuses("No such file", snip.Model, os.path.join(FOLDER, "none"), code="IO")
        self.refuses(".", snip.Model, os.path.join(FOLDER, "table.csv"), code="FORMAT")
        self.refuses("zero byte", snip.Model, "a\0b")
        self.refuses("no path", snip.Model, 7)
        with snip.Model(os.fsencode(MODEL)) as other:
            self.assertEqual(other.hash, m.hash)
        self.refuses("closed", other.embed_formulas, ["x0"])
        os.environ["SNIP_MODEL"] = MODEL
        self.assertEqual(snip.Model().hash, m.hash)
        del os.environ["SNIP_MODEL"]
        self.assertEqual(pickle.loads(pickle.dumps(m)).hash, m.hash)
        self.assertIs(copy.deepcopy(m), m)

    def test_embeddings_are_the_commands(self):
        names = ["sin(x0) + x1/x2", "2.5*cosh(x0)", "x0*x1 - 3"]
        with open(os.path.join(FOLDER, "plain"), "w") as f:
            f.write("\n".join(names) + "\n")
        command("embed", "--formulas", "plain", "--out", "plain.npy")
        want = np.load(os.path.join(FOLDER, "plain.npy"))
        for threads in (0, 1, 2, 3):
            got = self.model.embed_formulas(names, threads=threads)
            self.assertEqual((got.dtype, got.shape), (np.float32, (3, self.model.width)))
            self.assertEqual(got.tobytes(), want.tobytes())
        got = self.model.embed_formulas((snip.Formula(n) for n in names))
        self.assertEqual(got.tobytes(), want.tobytes())
        self.assertEqual(self.model.embed_formulas([]).shape, (0, self.model.width))
        self.assertEqual(self.model.embed_formulas("x0").shape, (1, self.model.width))

        command("embed", "--table", "table.csv", "--out", "table.npy")
        want = np.load(os.path.join(FOLDER, "table.npy"))[0]
        self.assertEqual(self.model.embed_table(X, Y).tobytes(), want.tobytes())

        with open(os.path.join(FOLDER, "one"), "w") as f:
            f.write(names[0] + "\n")
        command("embed", "--formulas", "one", "--subtrees", "--out", "parts.npy")
        want = np.load(os.path.join(FOLDER, "parts.npy"))  # the whole formula comes first
        normal, parts = self.model.embed_parts(names[0])
        self.assertEqual(len(parts), normal.nodes)
        self.assertEqual(len(want), normal.nodes + 1)
        np.testing.assert_allclose(parts, want[1:], atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(parts, axis=1), 1, atol=1e-6)

        embed = self.model.embed_formulas
        self.refuses("floor", embed, ["x0", "floor(x0)"], code="UNSUPPORTED", pos=1)
        self.refuses("x7", embed, ["x7"], code="UNSUPPORTED", pos=0)
        self.refuses("formula 1, byte 3", embed, ["x0", "x0+"], code="SYNTAX", pos=3)
        self.refuses("list of texts", embed, 5)
        self.refuses("must be text", embed, [None])

    def test_rankings_are_the_commands(self):
        for more, settings in (([], {}),
                               (["--by", "loss", "--starts", "1"], {"order": "loss", "starts": 1}),
                               (["--by", "balance"], {"order": "balance", "threads": 2}),
                               (["--by", "similarity"], {"order": "similarity"}),
                               (["--as-given"], {"refit": False}), (["--seed", "7"], {"seed": 7})):
            want = command("rank", "table.csv", "formulas", "--json", *more)
            got = self.model.rank(X, Y, FORMULAS, names=NAMES, **settings)
            self.same_ranking(got, want["candidates"])
            self.assertEqual(want["model"], self.model.hash)
        self.assertEqual(self.model.rank(X, Y, []), [])

    def test_constants_come_from_all_rows(self):
        r = np.random.default_rng(3)
        x = r.uniform(1, 5, 60)
        y = 2*x + 1 + r.normal(0, .8, 60)
        slope, intercept = np.polyfit(x, y, 1)
        best = snip.Ranker(MODEL, ["1.5*x0 + 0.5"]).fit(x[:, None], y).best_
        np.testing.assert_allclose(best.formula([0., 1.]), [intercept, intercept + slope],
                                   rtol=1e-9)
        self.assertTrue(best.loss_cross > 0)  # few rows
        line = snip.explain(self.model, x, y, "1.5*x0 + 0.5").formula
        np.testing.assert_allclose(line([0.]), [intercept], rtol=1e-9)

    def test_estimates(self):
        r = np.random.default_rng(5)
        x = r.uniform(1, 5, 60)
        y = 2*x + 1 + r.normal(0, .8, 60)
        got = snip.estimate(x, y, "m*x0 + c")
        (slope, intercept), cov = np.polyfit(x, y, 1, cov=True)
        np.testing.assert_allclose([got["m"].value, got["c"].value], [slope, intercept], rtol=1e-9)
        np.testing.assert_allclose([got["m"].error, got["c"].error], np.sqrt(np.diag(cov)),
                                   rtol=1e-6)
        self.assertAlmostEqual(got.correlations[0, 1],
                               cov[0, 1]/np.sqrt(cov[0, 0]*cov[1, 1]), places=6)
        residual = y - slope*x - intercept
        self.assertEqual((got.rows, got.freedom, got.settled), (60, 58, True))
        self.assertAlmostEqual(got.rss, np.sum(residual**2), places=9)
        self.assertAlmostEqual(got.deviation, np.sqrt(np.sum(residual**2)/58), places=9)
        self.assertAlmostEqual(got.bic - got.aic, 3*(np.log(60) - 2), places=9)
        np.testing.assert_allclose(got.formula(x), y - residual, rtol=1e-9)
        weighted = snip.estimate(x, y, "m*x0 + c", start={"m": 1, "c": 1}, sigma=np.full(60, .8))
        np.testing.assert_allclose(weighted["m"].value, slope, rtol=1e-6)
        self.assertTrue(0 < weighted.chance < 1)
        held = snip.estimate(x, y, "m*x0 + c", fixed={"c": 1.0}, bounds={"m": (0, None)})
        self.assertEqual((held["c"].value, held["c"].state), (1.0, "fixed"))
        self.assertAlmostEqual(held["m"].value, np.sum(x*(y - 1))/np.sum(x*x), places=9)
        self.assertRaises(KeyError, lambda: held["z"])
        self.refuses("no parameter 'z'", snip.estimate, x, y, "m*x0", start={"z": 1})
        for what in ("start", "fixed"):
            self.refuses(f"{what} must map names to values, not be .1.", snip.estimate, x, y,
                         "m*x0", **{what: [1]})
            self.refuses(f"{what} of m is not a number: 'one'", snip.estimate, x, y, "m*x0",
                         **{what: {"m": "one"}})
            for v in (np.nan, np.inf):
                self.refuses(f"{what} of m is {v}; it must be finite", snip.estimate, x, y, "m*x0",
                             **{what: {"m": v}})
        self.refuses("bounds must map", snip.estimate, x, y, "m*x0", bounds=3)
        self.refuses("bounds of m must be a pair", snip.estimate, x, y, "m*x0", bounds={"m": 3})
        self.refuses("low bound of m is not a number", snip.estimate, x, y, "m*x0",
                     bounds={"m": ("a", 1)})
        self.refuses("to hold it at 0, use fixed", snip.estimate, x, y, "m*x0", bounds={"m": (0, 0)})
        self.refuses("nan is above 1", snip.estimate, x, y, "m*x0", bounds={"m": (np.nan, 1)})
        self.refuses("must be text, not int", snip.estimate, x, y, "m*x0", start={1: 1})
        self.refuses("level is not a number", snip.estimate, x, y, "m*x0", level="high")
        self.refuses("sigma is not an array of numbers", snip.estimate, x, y, "m*x0", sigma="a")
        free = snip.estimate(x, y, "m*x0 + c", start={}, fixed=None, bounds={"m": (None, None)})
        self.assertEqual(free["m"].value, got["m"].value)
        self.refuses("sigma has shape", snip.estimate, x, y, "m*x0", sigma=[1.0])
        self.refuses("not both", snip.estimate, x, y, "m*x0", sigma=x, weight=x)
        self.refuses("numbers is 'no'", snip.estimate, x, y, "m*x0", numbers="no")

    def test_any_array_will_do(self):
        want = self.model.rank(X, Y, FORMULAS, names=NAMES)
        wide = np.zeros((80, 6))
        wide[::2, ::2] = X
        for x, y in ((np.asfortranarray(X), Y), (X.tolist(), Y.tolist()),
                     (wide[::2, ::2], Y[:, None]), (X.astype(object), Y.astype(">f8")),
                     (Frame(X, NAMES), Frame(Y, ["y"]))):
            names = None if isinstance(x, Frame) else NAMES
            got = self.model.rank(x, y, FORMULAS, names=names)
            self.assertEqual([r.equation for r in got], [r.equation for r in want])
            self.assertEqual([r.place for r in got], [r.place for r in want])
        got = self.model.rank(Frame(X, [0, 1, 2]), Y, ["x0 + x2"])  # numbers are no names
        self.assertIn("x2", got[0].equation)
        line = self.model.rank(X[:, 0], Y, ["2*x0"])
        self.assertEqual(line[0].equation, self.model.rank(X[:, :1], Y, ["2*x0"])[0].equation)

    def test_bad_tables(self):
        holes = X.copy()
        holes[7, 1] = np.nan
        masked = np.ma.array(X, mask=False)
        masked.mask[9, 0] = True
        for call in (self.model.embed_table, lambda x, y: self.model.rank(x, y, ["x0"]),
                     lambda x, y: snip.explain(self.model, x, y, "2*x0"),
                     snip.Ranker(MODEL, ["x0"]).fit):
            self.refuses("row 7 .* not finite", call, holes, Y, code="FORMAT", pos=7)
            self.refuses("row 9 .* not finite", call, masked, Y, code="FORMAT", pos=9)
            self.refuses("not finite", call, X, np.where(i == 3, np.inf, Y), code="FORMAT", pos=3)
            if call == self.model.embed_table:  # the others leave columns out
                self.refuses("6 inputs, the model reads 1 to 5", call, np.hstack([X, X]), Y,
                             code="UNSUPPORTED")
            self.refuses("nothing to explain", call, X, np.full(40, 3.0), code="FORMAT")
            self.refuses("2 rows", call, X[:2], Y[:2], code="FORMAT")
            self.refuses("0 rows", call, X[:0], Y[:0], code="FORMAT")
            self.refuses("y has shape", call, X, Y[:5])
            self.refuses("y has shape", call, X, np.stack([Y, Y], 1))
            self.refuses("3 dimensions", call, np.zeros((2, 2, 2)), Y)
            for junk in ("text", None, [["a"]], object(), X + 1j, {}):
                self.refuses("number|dimensions|shape|finite", call, junk, Y)
                self.refuses("number|shape", call, X, junk)
        self.refuses("there is 1 name for 3 columns", self.model.rank, X, Y, ["u"], names=["u"])
        self.refuses("2 names for 3 columns", self.model.rank, X, Y, ["u"], names=["u", "v"])
        self.refuses("order is 'best'", self.model.rank, X, Y, ["x0"], order="best")
        self.refuses("needs 4 inputs", self.model.rank, X, Y, [snip.Formula("x3")], code="FORMAT",
                     pos=0)
        for key in ("starts", "threads", "seed"):
            for value in (-1, 2**70, 1.5, "3", None):
                self.refuses(key, self.model.rank, X, Y, ["x0"], **{key: value})

    def test_ranker(self):
        ranker = snip.Ranker(self.model, FORMULAS, order="loss")
        self.refuses("not fitted", ranker.predict, X)
        self.assertIs(ranker.fit(Frame(X, NAMES), Y), ranker)
        want = command("rank", "table.csv", "formulas", "--json", "--by", "loss")["candidates"]
        self.same_ranking(ranker.ranking_, want)
        first = ranker.equations_[0]
        self.assertEqual(list(first)[:4], ["complexity", "loss", "equation", "score"])
        for row, w in zip(ranker.equations_, want):
            self.assertEqual((row["equation"], row["given"]), (w["equation"], w["given"]))
            self.assertTrue(same(row["loss"], w["loss_train"]) and same(row["r2_val"], w["r2_val"]))
        self.assertEqual(list(ranker.feature_names_in_), NAMES)
        self.assertEqual(ranker.n_features_in_, 3)
        np.testing.assert_array_equal(ranker.predict(X), ranker.best_.formula(*X.T))
        self.assertGreater(ranker.score(X, Y), 0.999)
        self.assertEqual(ranker.predict(X[:0]).shape, (0,))
        self.refuses("2 features, but Ranker is expecting 3", ranker.predict, X[:, :2])
        self.refuses("40 rows", ranker.score, X, Y[:3])
        self.assertEqual(ranker.get_params()["order"], "loss")
        self.assertIs(ranker.set_params(order="balance", starts=1), ranker)
        self.assertEqual(ranker.get_params()["starts"], 1)
        self.refuses("no parameter 'depth'", ranker.set_params, depth=3)
        self.refuses("no formulas", snip.Ranker(self.model).fit, X, Y)
        twin = copy.deepcopy(ranker)
        np.testing.assert_array_equal(twin.predict(X), ranker.predict(X))
        constant = snip.Ranker(MODEL, ["2.5"]).fit(X, Y)  # a path serves as well
        self.assertEqual(constant.predict(X).shape, (40,))
        self.assertFalse(hasattr(constant, "feature_names_in_"))

    def test_a_ranker_needs_no_scikit_learn(self):
        self.assertNotIn("sklearn", sys.modules)
        with self.assertRaises(snip.NotFittedError) as raised:
            snip.Ranker(MODEL, ["x0"]).predict(X)
        self.assertIsInstance(raised.exception, snip.Error)
        self.assertIsInstance(raised.exception, AttributeError)
        self.assertIs(type(pickle.loads(pickle.dumps(raised.exception))), snip.NotFittedError)
        with self.assertWarnsRegex(UserWarning, "column-vector"):
            snip.Ranker(MODEL, ["2*x0"]).fit(X, Y[:, None])
        self.assertNotIn("sklearn", sys.modules)

    def test_what_a_ranker_refuses(self):
        ranker = snip.Ranker(MODEL, ["2*x0"]).fit(X, Y)
        holes = np.where(np.arange(40)[:, None] == 11, np.inf, X)
        self.refuses("row 11 .* not finite: NaN or inf", ranker.predict, holes, code="FORMAT",
                     pos=11)
        for call in (ranker.predict, lambda x: ranker.fit(x, Y)):
            self.refuses("Reshape your data", call, X[:, 0])
            self.refuses(r"0 feature\(s\)", call, X[:, :0])
            self.refuses("Complex data", call, X + 0j)
            with self.assertRaisesRegex(snip.WrongType, "sparse"):
                call(type("Sparse", (), {"tocsr": None})())
            with self.assertRaisesRegex(TypeError, "string or a real number"):
                call(np.array([[{}] * 3] * 40))
        self.refuses("n_samples=1", ranker.fit, X[:1], Y[:1], code="FORMAT")
        self.refuses("formula 0 needs 4 inputs, X has n_features=3",
                     snip.Ranker(MODEL, ["x3"]).fit, X, Y, code="FORMAT", pos=0)
        before = ranker.get_params()
        self.refuses("no parameter 'depth'", ranker.set_params, starts=9, depth=3)
        self.assertEqual(ranker.get_params(), before)
        for weights in (np.ones(3), -np.ones(40), np.full(40, np.nan)):
            for call in (ranker.fit, ranker.score):
                self.refuses("sample_weight must be 40", call, X, Y, sample_weight=weights)
        self.refuses("0 rows of a weight above 0", ranker.fit, X, Y, sample_weight=np.zeros(40),
                     code="FORMAT")
        self.assertTrue(math.isnan(ranker.score(X, Y, sample_weight=np.zeros(40))))

    def test_a_ranker_leaves_out_columns(self):
        wide = np.zeros((40, 200))
        wide[:, [3, 12, 150]] = X
        few = snip.Ranker(MODEL, ["2*sqrt(x0) + 3*x1", "x0 + 2*x1 + x2", "3"], order="loss")
        few.fit(X, Y)
        names = [f"c{j}" for j in range(200)]
        texts = ["2*sqrt(x3) + 3*x12", "x3 + 2*x12 + x150", "3"]
        turned = snip.Formula("2*sqrt(c3) + 3*c12", names=["c12", "c3"])  # matched by name
        places = [f"p{j}" for j in range(13)]
        places[3], places[12] = "u", "v"
        by_place = snip.Formula("2*sqrt(u) + 3*v", names=places)
        for x, formulas in (
                (wide, texts), (wide, [by_place, *texts[1:]]),
                (Frame(wide, names), [t.replace("x", "c") for t in texts]),
                (Frame(wide, names), [turned, "c3 + 2*c12 + c150", "3"])):
            many = snip.Ranker(MODEL, formulas, order="loss").fit(x, Y)
            self.assertEqual([r.place for r in many.ranking_], [r.place for r in few.ranking_])
            for m, f in zip(many.ranking_, few.ranking_):
                self.assertEqual((m.loss_val, m.r2_train), (f.loss_val, f.r2_train))
                self.assertTrue(m.similarity == f.similarity or math.isnan(f.similarity))
                np.testing.assert_array_equal(m.formula(*wide.T), f.formula(*X.T))
            np.testing.assert_array_equal(many.predict(x), few.predict(X))
            self.assertEqual(many.n_features_in_, 200)
            self.assertIn("12", many.best_.equation)
            twin = pickle.loads(pickle.dumps(many))
            np.testing.assert_array_equal(twin.predict(x), few.predict(X))
        self.refuses("the formulas use 6 inputs, the model reads 1 to 5",
                     snip.Ranker(MODEL, ["x0 + x9", "x1*x2", "x5", "x6"]).fit, wide, Y,
                     code="UNSUPPORTED")
        self.refuses("formula 1 needs 201 inputs", snip.Ranker(MODEL, ["x0", "x200"]).fit, wide, Y)
        of_few = self.model.rank(X, Y, few.formulas)
        of_many = self.model.rank(wide, Y, texts)
        for m, f in zip(of_many, of_few):
            self.assertEqual((m.place, m.loss_val), (f.place, f.loss_val))
            self.assertTrue(m.similarity == f.similarity or math.isnan(f.similarity))
            np.testing.assert_array_equal(m.formula(*wide.T), f.formula(*X.T))
        self.assertIn("c12", self.model.rank(wide, Y, ["2*c12"], names=names)[0].equation)
        self.refuses("formula 1 needs 201 inputs", self.model.rank, wide, Y, ["x0", "x200"],
                     code="FORMAT", pos=1)
        self.refuses("the formulas use 6 inputs", self.model.rank, wide, Y,
                     ["x0 + x9", "x1*x2", "x5", "x6"], code="UNSUPPORTED")
        of_few = snip.explain(self.model, X[:, :2], Y, "2*sqrt(x0) + 3*x1", edits=5)
        of_many = snip.explain(self.model, wide, Y, texts[0], edits=5)
        self.assertEqual(of_many.similarity, of_few.similarity)
        np.testing.assert_array_equal(of_many.gains, of_few.gains)
        for m, f in zip(of_many.edits, of_few.edits, strict=True):
            self.assertEqual(m.refitted_r2_val, f.refitted_r2_val)
            np.testing.assert_array_equal(m.formula(*wide.T), f.formula(*X[:, :2].T))
        constant = snip.Ranker(MODEL, "2.5").fit(wide, Y)
        self.assertEqual(constant.predict(wide).shape, (40,))

    def test_forms(self):
        self.assertFalse(self.model.forms)
        self.refuses("not trained to read forms", self.model.embed_formulas, ["x0"], view="form",
                     code="UNSUPPORTED")
        self.refuses("not trained to read forms", self.model.embed_table, X, Y, view="form",
                     code="UNSUPPORTED")
        self.refuses("view is exact or form, not 'both'", self.model.embed_table, X, Y, view="both")
        model = snip.Model(os.path.join(FOLDER, "forms.safetensors"))
        self.assertTrue(model.forms)
        self.refuses("view is exact or form", model.embed_formulas, ["x0"], view=None)
        formulas = ["2.5*sin(x0) + 1", "-7*sin(x0)", "cos(3*x0)"]
        exact, forms = (model.embed_formulas(formulas, view=v) for v in ("exact", "form"))
        self.assertEqual((forms.shape, forms.dtype), ((3, model.width), np.float32))
        np.testing.assert_allclose(np.linalg.norm(forms, axis=1), 1, atol=1e-5)
        self.assertAlmostEqual(forms[0] @ forms[1], 1, places=5)  # constants do not count,
        self.assertLess(exact[0] @ exact[1], 1 - 1e-5)            # but in the other view they do,
        self.assertLess(forms[0] @ forms[2], 1 - 1e-6)            # and the function in both
        self.assertEqual(model.embed_formulas([], view="form").shape, (0, model.width))
        self.refuses("constant", model.embed_formulas, ["x0", "2.5"], view="form", pos=1)

        table = model.embed_table(X, Y, view="form")
        self.assertEqual((table.shape, table.dtype), ((2, model.width), np.float32))
        np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1, atol=1e-5)
        self.assertEqual(model.embed_table(X, Y).shape, (model.width,))
        self.refuses("not finite", model.embed_table, X, np.where(i == 3, np.nan, Y), view="form",
                     code="FORMAT", pos=3)
        similar = (forms @ table.T).max(axis=1)
        for unit in (1e4, -1e-3):
            other = model.embed_table(X, unit * Y, view="form")
            np.testing.assert_allclose((forms @ other.T).max(axis=1), similar, atol=1e-4)
        turned = model.embed_table(X, -Y, view="form")
        np.testing.assert_allclose(turned, table[::-1], atol=1e-5)
        self.assertLess(table[0] @ table[1], 1 - 1e-6)

    def test_libraries(self):
        path = os.path.join(FOLDER, "library.db")
        with snip.Index(path, self.model) as index:
            self.assertEqual(len(index), 500)
            for more, settings in (([], {"refit": False}), (["--refit"], {})):
                want = command("find", "table.csv", "--index", "library.db", "-k", "12", "--json",
                               *more)
                got = index.find(X, Y, k=12, names=NAMES, **settings)
                self.same_ranking(got, want["candidates"], first=0)
            self.assertEqual(index.find(X, Y, k=0), [])
            # A formula of the one input that matters is met with and without the other; listed once.
            x = np.linspace(-1, 2, 60)
            two = np.column_stack([x, np.cos(50 * x)])
            got = index.find(two, np.sin(2 * x), k=60, refit=False)
            self.assertEqual(len({(r.place, r.equation) for r in got}), len(got))
            self.assertEqual(len(got), 60)
            self.refuses("k is -1", index.find, X, Y, k=-1)
            found = []

            def search():
                found.append(index.find(X, Y, k=3, threads=1))
            threads = [threading.Thread(target=search) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(len({tuple(r.equation for r in f) for f in found}), 1)
        self.refuses("closed", index.find, X, Y)
        narrow = snip.Model(os.path.join(FOLDER, "narrow.safetensors"))
        self.refuses("model", snip.Index, path, narrow, code="FORMAT")
        self.refuses(".", snip.Index, os.path.join(FOLDER, "none.db"), self.model, code="IO")
        self.refuses(".", snip.Index, MODEL, self.model, code="FORMAT")

    def test_explanations_are_the_commands(self):
        want = command("explain", "table.csv", "2*u + 0.1*v", "--json", "--top", "6")
        got = snip.explain(self.model, X, Y, "2*u + 0.1*v", names=NAMES, edits=6)
        self.assertEqual(got.formula.sympy(), want["equation"])
        self.assertEqual(got.similarity, want["similarity"])
        self.assertEqual(len(got.gains), len(want["nodes"]))
        for gain, node in zip(got.gains, want["nodes"]):
            self.assertTrue(same(gain, node["gain"]))
        self.assertEqual(len(got.edits), 6)
        for e, w in zip(got.edits, want["edits"]):
            self.assertEqual((e.node, e.text, e.gain), (w["node"], w["edit"], w["gain"]))
            self.assertEqual(e.formula.sympy(), w["refitted_equation"])
            self.assertTrue(same(e.refitted_r2_val, w["refitted_errors"]["r2_val"]))
            self.assertTrue(same(e.r2_val, w["errors"]["r2_val"]))
        self.assertEqual(snip.explain(self.model, X, Y, "2*x0", edits=0).edits, [])
        self.refuses("finite", snip.explain, self.model, X, Y, "log(x1)", code="UNSUPPORTED")
        self.refuses("floor", snip.explain, self.model, X, Y, "floor(x0)", code="UNSUPPORTED")
        self.refuses("x3|4 inputs", snip.explain, self.model, X, Y, "x3 + 1")
        self.refuses("one formula", snip.explain, self.model, X, Y, ["x0", "x1"])

    def test_results_outlive_what_they_came_from(self):
        with snip.Model(MODEL) as m:
            best = m.rank(X, Y, FORMULAS, names=NAMES)[0]
            edit = snip.explain(m, X, Y, "2*u + 0.1*v", names=NAMES).edits[0]
        gc.collect()
        self.assertTrue(np.isfinite(best.formula(*X.T)).all())
        self.assertTrue(str(edit.formula))
        best.formula.close()
        self.refuses("closed", lambda: best.equation)

    def test_memory_comes_back(self):
        def burn(n):
            for _ in range(n):
                self.model.rank(X, Y, FORMULAS, names=NAMES, starts=1, threads=1)
                snip.explain(self.model, X, Y, "2*x0 + x1", edits=3, threads=1)
                for _ in range(200):
                    snip.Formula("sin(x0) + 2.5*x1").normal()
                try:
                    self.model.rank(X, Y, ["x4"])
                except snip.Error:
                    pass
        burn(5)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        burn(30)
        gc.collect()
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 8192)  # KiB

    def test_threads_share_a_model(self):
        want = self.model.embed_formulas(["sin(x0)", "x0*x1"], threads=1)
        results = []

        def work():
            for _ in range(10):
                results.append(self.model.embed_formulas(["sin(x0)", "x0*x1"], threads=1).tobytes())
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(set(results), {want.tobytes()})
        self.assertEqual(len(results), 40)

    def test_closing_waits_for_calls(self):
        x = np.linspace(1, 3, 400)[:, None]
        formulas = [f"{k + 1}.5*x0 + sin({k}.5*x0)" for k in range(60)]
        for _ in range(3):
            got, started = [], threading.Event()
            model = snip.Model(MODEL)

            def work():
                started.set()
                got.append(len(model.rank(x, x[:, 0] ** 2, formulas, threads=1)))

            thread = threading.Thread(target=work)
            thread.start()
            started.wait()
            while not model._calls and thread.is_alive():
                time.sleep(0.001)
            self.assertTrue(model._calls)
            model.close()
            thread.join()
            self.assertEqual(got, [60])
            self.refuses("this Model is closed", lambda: model.width)
            model.close()

    def test_a_forked_child_works_on(self):
        many = [f"sin({k}.5*x0) + x1" for k in range(64)]
        want = self.model.embed_formulas(many, threads=2)  # there are threads now
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # rather than wait for ever
            os._exit(self.model.embed_formulas(many, threads=2).tobytes() != want.tobytes())
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_variables_are_matched_by_name(self):
        turned = snip.Formula("2*v + u", names=["v", "u"])
        same_text = self.model.rank(X, Y, ["2*v + u"], names=NAMES)[0]
        by_name = self.model.rank(X, Y, [turned], names=NAMES)[0]
        self.assertEqual(by_name.equation, same_text.equation)
        self.assertEqual(snip.explain(self.model, X, Y, turned, names=NAMES).formula.sympy(),
                         snip.explain(self.model, X, Y, "2*v + u", names=NAMES).formula.sympy())
        # Without names of its own a formula goes by place, unless columns say otherwise.
        for names in (["x1", "x0", "w"], ["a", "b", "c"]):
            given = self.model.rank(X, Y, [snip.Formula("2*x0 + x1")], names=names)[0]
            read = self.model.rank(X, Y, ["2*x0 + x1"], names=names)[0]
            self.assertEqual(given.equation, read.equation)
        constant = self.model.rank(X, Y, [snip.Formula("e*t", names=["t"])], names=["e", "t", "w"],
                                   refit=False)[0].formula
        self.assertAlmostEqual(constant(5.0, 2.0), 2 * math.e)
        self.assertEqual(constant.names, ["e", "t", "w"])
        self.assertAlmostEqual(pickle.loads(pickle.dumps(constant))(5.0, 2.0), 2 * math.e)
        # A variable without a column is nothing else: no constant of its name, no column by place.
        for text, own, names in (("q + 1", ["q"], NAMES), ("2*e", ["e"], NAMES),
                                 ("2*x1", ["x1"], NAMES), ("2*x0", None, ["x1", "x2", "w"])):
            self.refuses("formula 0: there is no column called", self.model.rank, X, Y,
                         [snip.Formula(text, names=own)], names=names)
        parts, _ = self.model.embed_parts(snip.Formula("sin(b)*a", ["a", "b"]), ["b", "c", "a"])
        self.assertEqual(parts(b=0.5, c=7.0, a=2.0), 2 * math.sin(0.5))
        self.refuses("3 arguments for 2 variables", snip.Formula("a", ["a", "b"]), 1, 2, 3)
        self.refuses("two variables are called 'u'", self.model.rank, X, Y, ["u"],
                     names=["u", "u", "w"])
        self.refuses("a name is empty", snip.Formula, "x0", names=[""])
        self.refuses("one formula can be embedded", self.model.embed_parts, ["x0", "x1"])
        odd = snip.Formula("x0 + 1", names=["a`b", "b"])
        self.assertEqual(str(pickle.loads(pickle.dumps(odd))), str(odd))

        class Frame:  # as much of a DataFrame as is looked at
            def __init__(self, x, columns):
                self.x, self.columns = x, columns

            def __array__(self, dtype=None, copy=None):
                return np.asarray(self.x, dtype)

        ranker = snip.Ranker(self.model, ["u + v"]).fit(Frame(X, NAMES), Y)
        self.assertEqual(ranker.predict(Frame(X, NAMES)).shape, (len(Y),))
        self.refuses("the Ranker was fitted with", ranker.predict, Frame(X, NAMES[::-1]))

    def test_an_interrupt_is_heard_and_harmless(self):
        many = [f"sin({k}.5*x0) + x1" for k in range(300)]
        want = self.model.embed_formulas(many)
        heard = False
        for _ in range(20):  # Python ignores one that comes while it deletes an object
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            try:
                timer.start()
                end = time.monotonic() + 2
                while time.monotonic() < end:
                    self.model.embed_formulas(many)
            except KeyboardInterrupt:
                heard = True
            timer.join()
            if heard:
                break
        self.assertTrue(heard)
        self.assertEqual(self.model.embed_formulas(many).tobytes(), want.tobytes())

    def test_an_interrupt_ends_a_search(self):
        x = np.linspace(0.1, 6, 300)
        y = np.sin(x * x) / x + 0.05 * np.cos(91 * x)
        endless = snip.Regressor(max_time=300, threads=1)
        for delay in (0.5, 1.0, 2.0):  # one that comes too early or too late is Python's own
            timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
            begun = time.monotonic()
            timer.start()
            try:
                endless.fit(x[:, None], y)
            except KeyboardInterrupt:
                break
            finally:
                timer.join()
        else:
            self.fail("no interrupt was heard")
        self.assertLess(time.monotonic() - begun, 60)
        self.assertFalse(hasattr(endless, "best_"))

    def test_a_search_is_the_command(self):
        found = snip.Regressor(max_time=None, max_evals=3000, threads=1).fit(X, Y)
        got = command("fit", "table.csv", "--evals", "3000", "--threads", "1",
                      "--no-space", "--json")
        self.assertEqual(found.best_index_, got["selected"])
        self.assertEqual(len(found.front_), len(got["front"]))
        for mine, its in zip(found.front_, got["front"]):
            self.assertEqual(mine.size, its["size"])
            for key in ("loss_train", "loss_val", "r2_train", "r2_val", "bits"):
                self.assertTrue(same(getattr(mine, key), its[key]), (key, mine, its))
            for (value, error), other in zip(mine.constants, its["constants"]):
                self.assertTrue(same(value, other["value"]) and same(error, other["error"]))

    def test_a_missing_library_is_an_import_error(self):
        for library, says in (("/nonexistent/libsnip.so", "cannot open"),
                              (MODEL, "ELF|short|header")):
            env = {**os.environ, "SNIP_LIBRARY": library, "PYTHONPATH": module}
            ran = subprocess.run([sys.executable, "-B", "-c", "import snip"], env=env,
                                 stderr=subprocess.PIPE)
            self.assertNotEqual(ran.returncode, 0)
            self.assertRegex(ran.stderr.decode(), f"ImportError: .*({says})")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
