#!/usr/bin/python3
"""snip.Ranker and snip.Regressor under scikit-learn's own checks: estimator.py FOLDER LIBRARY, below with_model.sh.

Skipped (77) where python3-sklearn is not installed: the module does not need it."""
import os
import pickle
import sys
import traceback
import unittest
import warnings

module, os.environ["SNIP_LIBRARY"] = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, module)
try:
    import numpy as np
    import sklearn
    from sklearn.base import clone, is_regressor
    from sklearn.exceptions import DataConversionWarning, NotFittedError
    from sklearn.metrics import r2_score
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import estimator_checks
    from sklearn.utils.validation import check_is_fitted
except ImportError as e:
    print(f"skipped: python3-sklearn is not installed ({e})")
    sys.exit(77)
import snip  # noqa: E402

MODEL = os.path.join(os.environ["SNIP_TEST_FOLDER"], "model.safetensors")  # reads 5 inputs
FORMULAS = ["2*x0 + 1", "0.5*x0^2 + 1", "3*sin(x0)"]


def ranker(**settings):
    return snip.Ranker(**{"model": MODEL, "formulas": FORMULAS, "starts": 1, "threads": 1,
                          **settings})


def regressor(**settings):
    """Limited by evaluations: the answer is the same on every machine."""
    return snip.Regressor(**{"max_time": None, "max_evals": 5000, "max_size": 12, "threads": 1,
                             **settings})


def checked(estimator):
    """Runs the checks one by one: {name: None if it passed, else why not}."""
    results = {}
    for one, check in estimator_checks.check_estimator(estimator, generate_only=True):
        name = check.func.__name__ + (str(check.keywords) if check.keywords else "")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(one)
            results[name] = None
        except unittest.SkipTest as e:
            results[name] = e
        except Exception:
            results[name] = traceback.format_exc()
    return results


class Scored(snip.Ranker):
    """Promises a good score, as a Ranker can where somebody knows the formula."""

    def _more_tags(self):
        return {**super()._more_tags(), "poor_score": False}


class Tests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        random = np.random.RandomState(1)
        cls.X = random.uniform(1, 3, (60, 12))  # more columns than the model reads
        cls.y = 2 * cls.X[:, 7] + 3 * cls.X[:, 10]

    def test_check_estimator(self):
        self.all_checks_pass(ranker())

    def test_check_estimator_of_the_regressor(self):
        self.all_checks_pass(regressor())
        estimator_checks.check_n_features_in_after_fitting("Regressor", regressor())

    def all_checks_pass(self, estimator):
        results = checked(estimator)
        skipped = {n: r for n, r in results.items() if isinstance(r, unittest.SkipTest)}
        failed = {n: r for n, r in results.items() if isinstance(r, str)}
        passed = [n for n, r in results.items() if r is None]
        print(f"{type(estimator).__name__}, scikit-learn {sklearn.__version__}: {len(passed)} of {len(results)} checks passed, "
              f"{len(skipped)} skipped, {len(failed)} failed")
        for name, why in skipped.items():
            print(f"skipped: {name}: {why}")
        self.assertFalse(failed, "\n".join(f"{n}: {why}" for n, why in failed.items()))
        # Only what wants pandas may be skipped, and only where there is none.
        for why in skipped.values():
            self.assertIn("pandas is not installed", str(why))
        self.assertGreaterEqual(len(passed), 38)

    def test_checks_that_are_not_in_the_list(self):
        estimator_checks.check_n_features_in_after_fitting("Ranker", ranker())
        # One column of ten matters there, x4; who knows that has a good score.
        known = Scored(MODEL, ["2*x0 + 1", "x4 + 1"], order="loss", threads=1)
        estimator_checks.check_regressors_train("Scored", known)
        with self.assertRaises(AssertionError):
            estimator_checks.check_regressors_train("Scored", Scored(MODEL, ["2*x0"], threads=1))

    def test_exceptions_are_theirs_and_ours(self):
        with self.assertRaises(NotFittedError) as raised:
            ranker().predict(self.X)
        self.assertIsInstance(raised.exception, snip.NotFittedError)
        self.assertIsInstance(raised.exception, snip.Error)
        twin = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((type(twin), str(twin)), (snip.NotFittedError, str(raised.exception)))
        with self.assertRaises(NotFittedError):
            check_is_fitted(ranker())
        with self.assertWarns(DataConversionWarning):
            check_is_fitted(ranker().fit(self.X, self.y[:, None]))

    def test_it_is_used_as_others_are(self):
        one = ranker(formulas=["x0 + x7", "5*x7 + 2*x10"], order="loss")
        self.assertTrue(is_regressor(one))
        twin = clone(one)
        self.assertEqual(twin.get_params(), one.get_params())
        self.assertIsNot(twin, one)
        scores = cross_val_score(one, self.X, self.y, cv=3)
        np.testing.assert_allclose(scores, 1, atol=1e-9)
        grid = GridSearchCV(one, {"formulas": [["x0"], ["5*x7 + 2*x10"], ["sin(x10)"]]}, cv=3)
        grid.fit(self.X, self.y)
        self.assertEqual(grid.best_params_, {"formulas": ["5*x7 + 2*x10"]})
        pipe = make_pipeline(StandardScaler(), ranker(formulas=["1 + 2*x7 + 4*x10"], order="loss"))
        self.assertGreater(pipe.fit(self.X, self.y).score(self.X, self.y), 0.999)
        again = pickle.loads(pickle.dumps(pipe))
        np.testing.assert_array_equal(again.predict(self.X), pipe.predict(self.X))

    def test_weights(self):
        one = ranker(formulas=["2*x7 + 3*x10"], refit=False).fit(self.X, self.y)
        wrong = np.where(np.arange(60) < 20, self.y + 5, self.y)
        for weights in (None, np.arange(60), (np.arange(60) >= 20).astype(float)):
            self.assertAlmostEqual(one.score(self.X, wrong, sample_weight=weights),
                                   r2_score(wrong, one.predict(self.X), sample_weight=weights))

    def test_weighted_fits(self):
        # Two thirds of the rows belong to another law; weights tell them apart.
        other = np.arange(60) % 3 > 0
        y = np.where(other, 5 * self.X[:, 10] - 1, self.y)
        formulas = ["4*x10 - 3", "1.0*x7 + 1.0*x10"]
        both = ranker(formulas=formulas, order="loss").fit(self.X, y)
        self.assertLess(both.score(self.X, y), 0.999)
        for weight, law in ((~other, "x7"), (other, "x10")):
            one = ranker(formulas=formulas, order="loss").fit(self.X, y, sample_weight=weight)
            self.assertGreater(one.score(self.X, y, sample_weight=weight), 1 - 1e-12)
            self.assertIn(law, one.best_.equation)
            self.assertGreater(one.best_.r2_val, 1 - 1e-12)
        # A line by weighted least squares, from its normal equations; only ratios count.
        w = np.random.RandomState(4).uniform(0, 3, 60)
        noisy = y + np.random.RandomState(5).normal(size=60)
        A = np.c_[np.ones(60), self.X[:, 10]]
        want = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * noisy))
        for scale in (1, 1e-200, 1e200):
            one = ranker(formulas=["1.0 + 1.0*x10"]).fit(self.X, noisy, sample_weight=scale * w)
            np.testing.assert_allclose(one.predict(self.X), A @ want, rtol=1e-9)
        # A whole weight is a row given so many times.
        times = np.random.RandomState(6).randint(0, 4, 60)
        one = ranker(formulas=["1.0*exp(0.3*x10) + 1.0"]).fit(self.X, noisy, sample_weight=times)
        twin = ranker(formulas=["1.0*exp(0.3*x10) + 1.0"]).fit(np.repeat(self.X, times, axis=0),
                                                               np.repeat(noisy, times))
        np.testing.assert_allclose(one.predict(self.X), twin.predict(self.X), rtol=1e-6)
        for bad, why in ((-w, "0 or more"), (w[:59], "60 numbers"), (w * np.nan, "finite"),
                         (np.arange(60) < 3, "3 rows of a weight above 0"), (0 * w, "has 0 rows")):
            with self.assertRaisesRegex(snip.Error, why):
                ranker().fit(self.X, noisy, sample_weight=bad)

    def test_a_search_is_used_as_others_are(self):
        X, y = self.X[:, 5:11], 2 * self.X[:, 7] * self.X[:, 10]
        one = regressor(random_state=3)
        self.assertTrue(is_regressor(one))
        self.assertEqual(clone(one).get_params(), one.get_params())
        np.testing.assert_allclose(cross_val_score(one, X, y, cv=3), 1, atol=1e-9)
        grid = GridSearchCV(one, {"operators": ["+,-", "+,-,*"]}, cv=3).fit(X, y)
        self.assertEqual(grid.best_params_, {"operators": "+,-,*"})
        pipe = make_pipeline(StandardScaler(), one).fit(X, self.y)
        self.assertGreater(pipe.score(X, self.y), 0.999)
        again = pickle.loads(pickle.dumps(pipe))
        np.testing.assert_array_equal(again.predict(X), pipe.predict(X))
        alike = regressor().fit(X, y, sample_weight=np.ones(60))
        self.assertEqual(alike.sympy(), regressor().fit(X, y).sympy())
        wrong = y.copy()
        wrong[::3] += 100  # rows that are of no weight are as good as not there
        weight = np.where(np.arange(60) % 3, 1.0, 0.0)
        self.assertGreater(regressor().fit(X, wrong, sample_weight=weight).score(
            X, wrong, sample_weight=weight), 1 - 1e-9)
        with self.assertRaisesRegex(ValueError, "sample_weight must be 60"):
            one.fit(X, y, sample_weight=-np.ones(60))
        with self.assertRaises(NotFittedError):
            regressor().sympy()

    def test_a_front_of_formulas(self):
        X, y = self.X[:, 5:11], 2 * self.X[:, 7] * self.X[:, 10]
        one = regressor(random_state=3).fit(X, y)
        self.assertEqual(one.sympy(), "2*x2*x5")
        self.assertEqual(one.front_[one.best_index_], one.best_)
        self.assertEqual([e["selected"] for e in one.equations_].index(True), one.best_index_)
        np.testing.assert_allclose(one.predict(X, index=0), one.front_[0].formula(*X.T))
        self.assertIn("x", one.latex())
        with self.assertRaisesRegex(snip.Error, "index is 99"):
            one.predict(X, index=99)
        # The seed decides, whatever kind of seed it is.
        z = np.sin(2 * X[:, 0]) / X[:, 1] + 0.1 * np.random.RandomState(2).normal(size=60)
        twins = [regressor(random_state=np.random.RandomState(5)).fit(X, z) for _ in range(2)]
        self.assertEqual(twins[0].equations_[0]["equation"], twins[1].equations_[0]["equation"])
        self.assertEqual([e["loss"] for e in twins[0].equations_],
                         [e["loss"] for e in twins[1].equations_])

    def test_what_srbench_asks_for(self):
        import srbench_regressor as method
        self.assertEqual(set(method.eval_kwargs["test_params"]) - set(method.est.get_params()), set())
        est = clone(method.est).set_params(max_time=None, max_evals=2000, random_state=7)
        X, y = self.X[:, :3], 2 * self.X[:, 0] * self.X[:, 2]

        class Frame:  # as much of a DataFrame as is looked at
            columns = ["x1", "b", "x0"]

        est.fit(X, y)
        self.assertEqual(method.model(est, Frame), "2*x1*x0")  # x0 is x1 there, and x2 is x0
        self.assertEqual(method.model(est), "2*x0*x2")
        self.assertEqual(method.complexity(est), est.best_.size)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
