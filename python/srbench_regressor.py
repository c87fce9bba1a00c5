"""snip.Regressor as SRBench runs methods: `est`, `model`, `complexity`, `eval_kwargs`.

Copy this file into a method's folder of SRBench as regressor.py, with snip.py beside it or its folder
on PYTHONPATH. The benchmark sets max_time and random_state; the search keeps to the time by itself.
"""
import re

import snip

est = snip.Regressor(max_time=3600, random_state=0)


def model(est, X=None):
    """The selected formula for SymPy, in the names of X's columns."""
    text = est.sympy()
    columns = getattr(X, "columns", None)
    if columns is None or hasattr(est, "feature_names_in_"):
        return text
    # Fitted without names: x0, x1, ... are the columns in their order.
    return re.sub(r"\bx([0-9]+)\b", lambda m: str(columns[int(m[1])]), text)


def complexity(est):
    """Nodes of the selected formula."""
    return est.best_.size


# Units are the formula's business: nothing is scaled, and the search thins the rows itself.
eval_kwargs = {"test_params": {"max_time": 5}, "max_train_samples": 0, "scale_x": False,
               "scale_y": False}
