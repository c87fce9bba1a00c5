#!/usr/bin/python3
"""snip.Ranker under scikit-learn's own checks: estimator.py FOLDER LIBRARY, below with_model.sh.

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
        results = checked(ranker())
        skipped = {n: r for n, r in results.items() if isinstance(r, unittest.SkipTest)}
        failed = {n: r for n, r in results.items() if isinstance(r, str)}
        passed = [n for n, r in results.items() if r is None]
        print(f"scikit-learn {sklearn.__version__}: {len(passed)} of {len(results)} checks passed, "
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
        with self.assertRaisesRegex(TypeError, "sample_weight"):
            one.fit(self.X, self.y, sample_weight=np.ones(60))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
