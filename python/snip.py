"""snip - formulas and the numbers they produce, for Python.

A thin layer over the library libsnip (include/snip.h); it needs NumPy and nothing else.

    >>> import numpy as np, snip
    >>> f = snip.Formula("0.5*v^2 + sin(t)", names=["v", "t"])
    >>> f(np.array([1.0, 2.0]), 0.0)
    array([0.5, 2. ])
    >>> f.sympy()
    '0.5*v**2 + sin(t)'

A model puts formulas and tables into one space; with it candidates are ranked, libraries searched
and formulas explained:

    >>> model = snip.Model()                       # the default model, or Model("file.safetensors")
    >>> best = model.rank(X, y, ["2*x0 + x1", "sin(x0)"])[0]
    >>> best.equation, best.similarity, best.r2_val
    >>> snip.Ranker(model, ["2*x0 + x1", "sin(x0)"]).fit(X, y).predict(X)
    >>> snip.Index("library.db", model).find(X, y, k=5)
    >>> snip.explain(model, X, y, "2*x0 + x1").edits[0].text

Where there is no candidate yet, formulas are searched for, from the table alone:

    >>> found = snip.Regressor(max_time=10).fit(X, y)
    >>> found.best_.equation, found.predict(X_new)

X is anything that NumPy turns into a matrix, a row per observation; columns of a DataFrame lend
their names to the formulas' variables. What goes wrong is a snip.Error. scikit-learn is not
needed; where it is, Ranker and Regressor are two of its regressors.

The library is looked for in $SNIP_LIBRARY, beside this file's source tree or installation, then
where the system keeps its libraries. Calls release the interpreter's lock. Several threads may use
one Model or Formula at once; an Index serves one after the other. A forked child uses one
core whatever it is told, since GNU's OpenMP cannot start its threads again there; results are the
same.
"""
import ctypes
import ctypes.util
import dataclasses
import glob
import math
import operator
import os
import re
import signal
import sys
import threading
import warnings

import numpy as np

__version__ = "0.1.0"
__all__ = ["Error", "Explanation", "Edit", "Fitted", "Formula", "Index", "Model", "NotFittedError",
           "Ranked", "Ranker", "Regressor", "WrongType", "estimate", "explain", "library_version"]

ORDERS = ("balance", "loss", "similarity")  # as snip_order has them
_CODES = ("OK", "NOMEM", "IO", "SYNTAX", "FORMAT", "UNSUPPORTED")
_INFIX, _PREFIX, _SYMPY, _LATEX, _C = range(5)


class Error(ValueError):
    """What the library or this module cannot do, in one line.

    `code` is the library's (IO, SYNTAX, FORMAT, UNSUPPORTED, NOMEM) or None for arguments that
    never got so far; `pos` is the byte of a formula, the row of a table or the place in a list
    where the trouble is, if there is such a place.
    """

    def __init__(self, message, code=None, pos=0):
        super().__init__(message)
        self.code = code
        self.pos = pos

    def __reduce__(self):
        return type(self), (str(self), self.code, self.pos)


class WrongType(Error, TypeError):
    """Values that are no numbers, or a container that is no array."""


class NotFittedError(Error, AttributeError):
    """A Ranker or a Regressor was asked for values before fit. Where scikit-learn is loaded it is one of its
    NotFittedErrors, too."""

    def __reduce__(self):
        return NotFittedError, (str(self), self.code, self.pos)


class _Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("pos", ctypes.c_size_t), ("msg", ctypes.c_char * 240)]


class _Table(ctypes.Structure):
    _fields_ = [("inputs", ctypes.c_size_t), ("rows", ctypes.c_size_t),
                ("names", ctypes.POINTER(ctypes.c_char_p)),
                ("x", ctypes.POINTER(ctypes.c_void_p)), ("y", ctypes.c_void_p),
                ("seed", ctypes.c_uint64)]


class _Options(ctypes.Structure):
    _fields_ = [("keep_constants", ctypes.c_int), ("starts", ctypes.c_int),
                ("order", ctypes.c_int), ("threads", ctypes.c_int), ("weight", ctypes.c_void_p)]


class _Ranked(ctypes.Structure):
    _fields_ = [("formula", ctypes.c_void_p), ("place", ctypes.c_size_t),
                ("similarity", ctypes.c_double), ("no_similarity", ctypes.c_char_p),
                ("loss_train", ctypes.c_double),
                ("loss_val", ctypes.c_double), ("loss_cross", ctypes.c_double),
                ("r2_train", ctypes.c_double), ("r2_val", ctypes.c_double), ("complexity", ctypes.c_size_t),
                ("model_size", ctypes.c_size_t), ("pareto", ctypes.c_int),
                ("score", ctypes.c_double), ("promise", ctypes.c_double)]


class _Edit(ctypes.Structure):
    _fields_ = [("node", ctypes.c_size_t), ("text", ctypes.c_char_p), ("formula", ctypes.c_void_p),
                ("gain", ctypes.c_double), ("r2_train", ctypes.c_double),
                ("r2_val", ctypes.c_double), ("refitted_r2_train", ctypes.c_double),
                ("refitted_r2_val", ctypes.c_double)]


class _Progress(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_double), ("spent", ctypes.c_double),
                ("evaluations", ctypes.c_uint64), ("stage", ctypes.c_char_p),
                ("formula", ctypes.c_char_p), ("size", ctypes.c_size_t),
                ("loss_train", ctypes.c_double), ("loss_val", ctypes.c_double),
                ("r2_train", ctypes.c_double), ("r2_val", ctypes.c_double),
                ("changed", ctypes.c_int)]


_ON_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Progress))


class _FitOptions(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_double), ("evaluations", ctypes.c_uint64),
                ("threads", ctypes.c_int), ("max_size", ctypes.c_size_t),
                ("memory", ctypes.c_size_t), ("per_size", ctypes.c_size_t),
                ("operators", ctypes.c_char_p), ("guesses", ctypes.c_void_p),
                ("guess_count", ctypes.c_size_t), ("model", ctypes.c_void_p),
                ("progress", _ON_PROGRESS), ("context", ctypes.c_void_p),
                ("weight", ctypes.c_void_p)]


class _Fitted(ctypes.Structure):
    _fields_ = [("formula", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("constants", ctypes.c_size_t), ("constant", ctypes.POINTER(ctypes.c_double)),
                ("error", ctypes.POINTER(ctypes.c_double)), ("loss_train", ctypes.c_double),
                ("loss_val", ctypes.c_double), ("r2_train", ctypes.c_double),
                ("r2_val", ctypes.c_double), ("bits", ctypes.c_double),
                ("similarity", ctypes.c_double), ("stage", ctypes.c_char_p)]


class _About(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_double), ("evaluations", ctypes.c_uint64),
                ("rows_train", ctypes.c_size_t), ("rows_val", ctypes.c_size_t),
                ("outliers", ctypes.c_size_t), ("cancelled", ctypes.c_int),
                ("note", ctypes.c_char_p)]


class _Parameter(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("start", ctypes.c_double), ("low", ctypes.c_double),
                ("high", ctypes.c_double), ("fixed", ctypes.c_int)]


class _EstimateOptions(ctypes.Structure):
    _fields_ = [("param", ctypes.POINTER(_Parameter)), ("params", ctypes.c_size_t),
                ("weight", ctypes.c_void_p), ("sigma", ctypes.c_void_p),
                ("numbers", ctypes.c_int), ("starts", ctypes.c_int), ("level", ctypes.c_double)]


class _Estimated(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double), ("error", ctypes.c_double),
                ("low", ctypes.c_double), ("high", ctypes.c_double), ("state", ctypes.c_char_p)]


class _Quality(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_size_t), ("freedom", ctypes.c_size_t), ("rss", ctypes.c_double),
                ("deviation", ctypes.c_double), ("chance", ctypes.c_double),
                ("r2", ctypes.c_double), ("aic", ctypes.c_double), ("bic", ctypes.c_double),
                ("settled", ctypes.c_int), ("note", ctypes.c_char_p)]


_P, _SIZE, _INT, _DOUBLE = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_double
_TO = ctypes.POINTER
_ST = _TO(_Status)
# Every function of snip.h: what it returns, what it takes.
_FUNCTIONS = {
    "version": (ctypes.c_char_p, []),
    "expr_parse": (_INT, [_TO(_P), ctypes.c_char_p, _TO(ctypes.c_char_p), _SIZE, _ST]),
    "expr_bind": (_INT, [_TO(_P), _P, _TO(ctypes.c_char_p), _SIZE, _ST]),
    "expr_normal": (_INT, [_TO(_P), _P, _INT, _ST]),
    "expr_eval": (_INT, [_P, _TO(_P), _SIZE, _SIZE, _P, _TO(_SIZE), _ST]),
    "expr_print": (_SIZE, [_P, _INT, ctypes.c_char_p, _SIZE]),
    "expr_nodes": (_SIZE, [_P]),
    "expr_inputs": (_SIZE, [_P]),
    "expr_free": (None, [_P]),
    "model_open": (_INT, [_TO(_P), ctypes.c_char_p, _ST]),
    "model_close": (None, [_P]),
    "model_width": (_SIZE, [_P]),
    "model_inputs": (_SIZE, [_P]),
    "model_hash": (ctypes.c_char_p, [_P]),
    "embed_formulas": (_INT, [_P, _TO(_P), _SIZE, _INT, _P, _ST]),
    "embed_forms": (_INT, [_P, _TO(_P), _SIZE, _INT, _P, _ST]),
    "embed_table_form": (_INT, [_P, _TO(_Table), _INT, _P, _ST]),
    "model_forms": (_INT, [_P]),
    "embed_parts": (_INT, [_P, _P, _INT, _P, _ST]),
    "embed_table": (_INT, [_P, _TO(_Table), _INT, _P, _ST]),
    "rank": (_INT, [_TO(_P), _P, _TO(_Table), _TO(_P), _SIZE, _TO(_Options), _ST]),
    "ranking_count": (_SIZE, [_P]),
    "ranking_at": (_TO(_Ranked), [_P, _SIZE]),
    "ranking_free": (None, [_P]),
    "fit": (_INT, [_TO(_P), _TO(_Table), _TO(_FitOptions), _ST]),
    "front_count": (_SIZE, [_P]),
    "front_selected": (_SIZE, [_P]),
    "front_at": (_TO(_Fitted), [_P, _SIZE]),
    "front_of": (_TO(_About), [_P]),
    "front_free": (None, [_P]),
    "index_open": (_INT, [_TO(_P), ctypes.c_char_p, _P, _ST]),
    "index_count": (ctypes.c_uint64, [_P]),
    "index_close": (None, [_P]),
    "find": (_INT, [_TO(_P), _P, _P, _TO(_Table), _SIZE, _TO(_Options), _ST]),
    "explain": (_INT, [_TO(_P), _P, _TO(_Table), _P, _SIZE, _TO(_Options), _ST]),
    "explanation_formula": (_P, [_P]),
    "explanation_similarity": (_DOUBLE, [_P]),
    "explanation_gain": (_DOUBLE, [_P, _SIZE]),
    "explanation_count": (_SIZE, [_P]),
    "explanation_at": (_TO(_Edit), [_P, _SIZE]),
    "explanation_free": (None, [_P]),
    "estimate_law": (_INT, [_TO(_P), _TO(_Table), ctypes.c_char_p, _TO(_EstimateOptions), _ST]),
    "estimate_count": (_SIZE, [_P]),
    "estimate_at": (_TO(_Estimated), [_P, _SIZE]),
    "estimate_correlation": (_DOUBLE, [_P, _SIZE, _SIZE]),
    "estimate_quality": (_TO(_Quality), [_P]),
    "estimate_formula": (_P, [_P]),
    "estimate_free": (None, [_P]),
}


def _library_places():
    """Paths and names to try, best first."""
    asked = os.environ.get("SNIP_LIBRARY")
    if asked:
        return [asked]
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.join(here, "..", "..", "..")  # of share/snip/python
    places = glob.glob(os.path.join(here, "..", "build", "libsnip.so*"))
    for folder in ("lib", os.path.join("lib", "*"), "lib64"):
        places += glob.glob(os.path.join(prefix, folder, "libsnip.so*"))
    # libsnip.so.0 is the name that programs ask for; folders of the build end in .p.
    places = [os.path.realpath(p) for p in sorted(places, key=len) if os.path.isfile(p)]
    found = ctypes.util.find_library("snip")
    return places + ([found] if found else [])


def _load():
    places = _library_places()
    problems = []
    for place in places:
        try:
            lib = ctypes.CDLL(place)
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(lib, "snip_" + name)
                function.restype = result
                function.argtypes = arguments
        except (OSError, AttributeError) as e:
            problems.append(str(e))
            continue
        version = lib.snip_version().decode()
        if version.split(".")[:2] == __version__.split(".")[:2]:
            return lib
        problems.append(f"{place} is version {version}, this module is for {__version__}")
    raise ImportError("; ".join(problems) or
                      "libsnip is not installed; name it in $SNIP_LIBRARY", name="snip")


_lib = _load()


def library_version():
    """The version of the library in use."""
    return _lib.snip_version().decode()


def _ask(name, *arguments):
    """Calls a function of the library. What is _Owned, alone or in a list, is passed by its handle
    and cannot be released by another thread meanwhile."""
    held = []
    try:
        passed = []
        for a in arguments:
            if isinstance(a, list):
                passed.append((ctypes.c_void_p * (len(a) + 1))(*[f._hold(held) for f in a]))
            else:
                passed.append(a._hold(held) if isinstance(a, _Owned) else a)
        return getattr(_lib, "snip_" + name)(*passed)
    finally:
        for a in held:
            a._let_go()


def _call(name, *arguments):
    """Calls a function that reports by a status; its failure becomes an Error."""
    st = _Status()
    code = _ask(name, *arguments, ctypes.byref(st))
    if code:
        raise Error(st.msg.decode("utf-8", "replace"), _CODES[code], st.pos)


def _many(n, word):
    """A number and what it counts: 1 row, 2 rows."""
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _bytes(text, what):
    """Text as the library takes it: UTF-8, ended by a zero."""
    if not isinstance(text, str):
        raise Error(f"{what} must be text, not {type(text).__name__}")
    try:
        data = text.encode()
    except UnicodeEncodeError as e:
        raise Error(f"{what} is not valid text: {e.reason}") from e
    if b"\0" in data:
        raise Error(f"{what} holds a zero byte")
    return data


def _names(names):
    """Names of variables as (list of str, array for the library); None stays None."""
    if names is None:
        return None, None
    if isinstance(names, (str, bytes)):
        raise Error("names must be a list of names, not one text")
    try:
        names = [str(n) for n in names]
    except TypeError as e:
        raise Error("names must be a list of names") from e
    if "" in names:
        raise Error("a name is empty")
    twice = [n for i, n in enumerate(names) if n in names[:i]]
    if twice:
        raise Error(f"two variables are called '{twice[0]}'")
    return names, (ctypes.c_char_p * (len(names) + 1))(*[_bytes(n, "a name") for n in names])


def _path(path):
    """A file's path, made absolute, as text and as bytes."""
    try:
        text = os.path.abspath(os.fsdecode(path))
        data = os.fsencode(text)
    except (TypeError, ValueError) as e:
        raise Error(f"{path!r} is no path: {e}") from e
    if b"\0" in data:
        raise Error("a path cannot hold a zero byte")
    return text, data


class _Owned:
    """Something of the library's that is released once: when closed, or when nobody has it. While
    calls use it, in other threads, closing it only makes sure that the last of them releases it."""

    _free = None  # name of the function that does

    def __init__(self):
        self._pointer = ctypes.c_void_p()  # filled by the library itself, so nothing is ever lost
        self._guard = threading.RLock()  # a signal's handler may close it, too
        self._calls = 0
        self._closed = False

    def _hold(self, held):
        """The handle, for a call; joins the list of those to _let_go after it."""
        with self._guard:
            if self._closed or not self._pointer:
                raise Error(f"this {type(self).__name__.strip('_')} is closed")
            self._calls += 1
        held.append(self)
        return self._pointer.value

    def _let_go(self):
        with self._guard:
            self._calls -= 1
            last = self._closed and self._calls == 0
        if last:
            self._release()

    def _release(self):
        pointer, self._pointer = self._pointer, ctypes.c_void_p()
        if pointer:
            getattr(_lib, "snip_" + self._free)(pointer.value)

    def close(self):
        """Releases the memory, at once or after the calls that use it; the object is of no use
        afterwards."""
        if not hasattr(self, "_guard"):  # never made
            return
        with self._guard:
            idle = not self._closed and self._calls == 0
            self._closed = True
        if idle:
            self._release()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):
        self.close()


class Formula(_Owned):
    """A formula: infix (sympy and numpy spellings), prefix or LaTeX text, read once.

        >>> f = snip.Formula("a*exp(-t/3)", names=["a", "t"])
        >>> f(2.0, [0.0, 3.0])                    # one argument a variable, broadcast as NumPy does
        array([2.        , 0.73575888])
        >>> f(t=[0.0, 3.0], a=2.0)                # or by name
        array([2.        , 0.73575888])
        >>> f.latex(), f.c()

    Without names variables are x0, x1, ... Outside its domain a function is NaN.
    """

    _free = "expr_free"

    def __init__(self, text, names=None):
        super().__init__()
        self._owner = None
        self.names, array = _names(names)
        _call("expr_parse", ctypes.byref(self._pointer), _bytes(text, "a formula"), array,
              len(self.names or ()))

    @classmethod
    def _of(cls, pointer, names, owner=None):
        """A formula that lives in `owner`, or one of its own, yet to be filled."""
        f = cls.__new__(cls)
        _Owned.__init__(f)
        f._owner = owner
        f._pointer.value = pointer
        f.names = names
        return f

    def _release(self):
        if self._owner is None:
            super()._release()
        else:  # the owner releases it
            self._pointer = ctypes.c_void_p()
            self._owner = None

    def __reduce__(self):
        return Formula, (self._text(_INFIX), self.names)

    def _text(self, form):
        size = 256
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = _ask("expr_print", self, form, buffer, size)
            if length == 0:
                raise Error("out of memory", "NOMEM")
            if length < size:
                return buffer.value.decode("utf-8", "replace")
            size = length + 1

    def __str__(self):
        return self._text(_INFIX)

    def __repr__(self):
        if self._closed or not self._pointer:
            return "<closed Formula>"
        return f"Formula({str(self)!r}{'' if self.names is None else f', names={self.names!r}'})"

    def sympy(self):
        """The formula as text for sympy.sympify."""
        return self._text(_SYMPY)

    def latex(self):
        """The formula as LaTeX."""
        return self._text(_LATEX)

    def c(self):
        """The formula as an expression in C, for <math.h>."""
        return self._text(_C)

    def prefix(self):
        """The formula's nodes in prefix order, commas between them."""
        return self._text(_PREFIX)

    @property
    def nodes(self):
        """Operators, variables and constants, each counted once."""
        return _ask("expr_nodes", self)

    @property
    def inputs(self):
        """One more than the largest variable's place: the arguments that a call needs."""
        return _ask("expr_inputs", self)

    def normal(self, assume_positive=True):
        """The formula with the model's operators only; snip.Error where there is no exact way."""
        f = Formula._of(None, self.names)
        _call("expr_normal", ctypes.byref(f._pointer), self, bool(assume_positive))
        return f

    def _bound(self, names):
        """The formula for columns of these names: each variable is the column of its name."""
        names, array = _names(names)
        f = Formula._of(None, names)
        _call("expr_bind", ctypes.byref(f._pointer), self, array, len(names))
        return f

    def __call__(self, *columns, **by_name):
        """Values: an argument for each variable, arrays or numbers, broadcast together."""
        if by_name:
            if columns:
                raise Error("give the variables in order or by name, not both")
            names = self.names or [f"x{i}" for i in range(self.inputs)]
            unknown = [n for n in by_name if n not in names]
            if unknown:
                raise Error(f"the formula has no variable '{unknown[0]}'")
            names = names[:self.inputs]
            missing = [n for n in names if n not in by_name]
            if missing:
                raise Error(f"no values for '{missing[0]}'")
            columns = [by_name[n] for n in names]
        elif self.names is not None and len(columns) > len(self.names):
            raise Error(f"{_many(len(columns), 'argument')} for "
                        f"{_many(len(self.names), 'variable')}")
        arrays = [_floats(c, "an argument") for c in columns]
        try:
            shape = np.broadcast_shapes(*[a.shape for a in arrays])
        except ValueError as e:
            raise Error(str(e)) from e
        arrays = [np.ascontiguousarray(np.broadcast_to(a, shape)) for a in arrays]
        y = np.empty(shape)
        x = (ctypes.c_void_p * (len(arrays) + 1))(*[a.ctypes.data for a in arrays])
        _call("expr_eval", self, x, len(arrays), y.size, y.ctypes.data, None)
        return y if shape else y.item()


def _floats(values, what):
    """Anything as an array of doubles."""
    if hasattr(values, "tocsr"):
        raise WrongType(f"{what} is sparse; only dense arrays are read, such as .toarray() makes")
    try:
        if isinstance(values, np.ma.MaskedArray):  # what is masked is missing
            values = values.astype(np.float64).filled(np.nan)
        array = np.asarray(values)
        if array.dtype.kind == "c":  # the words that scikit-learn's checks look for
            raise TypeError("Complex data not supported")
        if array.dtype.kind not in "biufO":
            raise TypeError(f"it holds {array.dtype}")
        return np.require(array, np.float64, "A")
    except (TypeError, ValueError, OverflowError) as e:
        kind = WrongType if isinstance(e, TypeError) else Error
        raise kind(f"{what} is not an array of numbers: {e}") from e


def _matrix(X):
    """X as columns that lie in memory one after the other."""
    x = _floats(X, "X")
    if x.ndim == 1:
        x = x[:, None]
    if x.ndim != 2:
        raise Error(f"X has {x.ndim} dimensions; rows and columns are needed")
    return np.asfortranarray(x)


def _columns_of(X):
    """The names of a DataFrame's columns; None where there are none, or numbers in their place."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(c, str) for c in columns):
        return None
    return list(columns)


class _Data:
    """A table as the library takes it, with all that it points to."""

    def __init__(self, X, y, names=None, seed=0):
        self.x = _matrix(X)
        self.y = np.ascontiguousarray(_floats(y, "y"))
        rows, inputs = self.x.shape
        if self.y.shape not in ((rows,), (rows, 1)):
            raise Error(f"y has shape {self.y.shape}, X has {_many(rows, 'row')}")
        self.names, array = _names(_columns_of(X) if names is None else names)
        if self.names is not None and len(self.names) != inputs:
            raise Error(f"there {'is' if len(self.names) == 1 else 'are'} "
                        f"{_many(len(self.names), 'name')} for {_many(inputs, 'column')}")
        step = rows * self.x.itemsize
        x = (ctypes.c_void_p * (inputs + 1))(*[self.x.ctypes.data + j * step
                                               for j in range(inputs)])
        self.c = _Table(inputs, rows, array, x, self.y.ctypes.data,
                        _count(seed, "seed", 2**64))
        self.keep = (array, x)


def _weights(weight, rows, what):
    """Weights of rows as the library takes them, or None: finite, 0 or more, not all 0."""
    if weight is None:
        return None
    w = _floats(weight, what)
    w = np.ascontiguousarray(np.full(rows, w) if w.ndim == 0 else w)
    if w.shape != (rows,) or not (np.isfinite(w) & (w >= 0)).all():
        raise Error(f"{what} must be {_many(rows, 'number')}, finite and 0 or more")
    return w


def _options(refit, order, starts, threads, weight=None):
    """weight, if given, must live as long as the options."""
    if order not in ORDERS:
        raise Error(f"order is {order!r}; it can be {', '.join(ORDERS)}")
    options = _Options(not refit, _count(starts, "starts"), ORDERS.index(order),
                       _cores(threads), None if weight is None else weight.ctypes.data)
    options.keep = weight
    return options


def _count(value, what, limit=2**31):
    """A whole number, 0 or more."""
    try:
        number = operator.index(value)
    except TypeError as e:
        raise Error(f"{what} is not a whole number: {value!r}") from e
    if not 0 <= number < limit:
        raise Error(f"{what} is {number}; it must be 0 or more and below {limit}")
    return number


_forked = []  # not empty in a forked child
os.register_at_fork(after_in_child=lambda: _forked.append(True))


def _cores(threads):
    """The library's argument `threads`. After a fork a team of OpenMP's would wait for ever."""
    number = _count(threads, "threads")
    return 1 if _forked else number


def _in_place(formula, names):
    """Whether a formula's variables are the columns of these names in their order. Without names of
    its own they are x0, x1, ...: that is said of columns which have such names elsewhere, too."""
    if formula.names is not None:
        used = formula.inputs
        return list(formula.names[:used]) == list(names[:used])
    numbers = [re.fullmatch("[xX]_?([0-9]+)", n) for n in names]
    return all(n is None or int(n[1]) == k for k, n in enumerate(numbers))


def _listed(formulas):
    """One formula, or any collection of them, as a list."""
    try:
        return [formulas] if isinstance(formulas, (str, Formula)) else list(formulas)
    except TypeError as e:
        raise Error("formulas must be a list of texts or Formulas") from e


def _formulas(formulas, names):
    """A list of formulas, of which texts are read with these names. The variables of Formulas are
    matched by name, not by place."""
    out = []
    for i, f in enumerate(_listed(formulas)):
        try:
            if not isinstance(f, Formula):
                out.append(Formula(f, names))
            elif names is None or _in_place(f, names):
                out.append(f)
            else:
                out.append(f._bound(names))
        except Error as e:
            at = f", byte {e.pos}" if e.code == "SYNTAX" else ""
            raise Error(f"formula {i}{at}: {e}", e.code, e.pos) from None
    return out


@dataclasses.dataclass(frozen=True)
class Ranked:
    """A formula of a ranking. Losses are mean square errors, r2 shares of the target's variance: on
    the rows fitted (train) and on those held out (val), with constants of the former alone; NaN
    where there is none."""

    formula: Formula     # constants refitted to all rows, in the table's own inputs and units
    place: int           # of the candidate in the list given; of Index.find: its id
    similarity: float    # cosine with the table, -1 .. 1; NaN if it has none
    loss_train: float
    loss_val: float
    r2_train: float
    r2_val: float
    complexity: int      # nodes
    model_size: int      # nodes as SRBench counts them
    pareto: bool         # nothing simpler is better on the rows held out
    score: float         # on the front: fall of log(loss) per node
    no_similarity: str = None  # why there is no similarity
    loss_cross: float = float("nan")  # cross-validated, of tables with fewer than 100 rows
    promise: float = float("nan")  # before any fit; NaN if the model's file has no weights for it

    @property
    def equation(self):
        """The formula in sympy's spelling."""
        return self.formula.sympy()


class _Ranking(_Owned):
    _free = "ranking_free"

    def list(self, names):
        out = []
        for i in range(_ask("ranking_count", self)):
            r = _ask("ranking_at", self, i).contents
            out.append(Ranked(Formula._of(r.formula, names, self), r.place, r.similarity,
                              r.loss_train, r.loss_val, r.r2_train, r.r2_val, r.complexity,
                              r.model_size, bool(r.pareto), r.score,
                              r.no_similarity.decode("utf-8", "replace")
                              if r.no_similarity else None, r.loss_cross, r.promise))
        return out


def _model_places():
    """Where the default model may be."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, "..", "default.safetensors")]  # of share/snip/python
    try:  # beside the library, which may be in lib or in lib/x86_64-linux-gnu
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            library = next((line.split(None, 5)[5].strip() for line in maps
                            if "/libsnip.so" in line), None)
    except OSError:
        library = None
    if library:
        folder = os.path.dirname(library)
        places += [os.path.join(folder, *up, "share", "snip", "default.safetensors")
                   for up in ([".."], ["..", ".."])]
    places.append(os.path.join(here, "..", "models", "default.safetensors"))
    return places


def _model(model):
    if not isinstance(model, Model):
        raise Error(f"model must be a Model, not {type(model).__name__}")
    return model


def _one(formula, names, what):
    formulas = _formulas(formula, names)
    if len(formulas) != 1:
        raise Error(f"one formula can be {what} at a time")
    return formulas[0]


def _other(names, place):
    """A name that is not among these: it is longer than they are."""
    return "_" * max(map(len, names), default=1) + str(place)


def _uses(formula, names):
    """The places of the variables that a formula uses: without their names it cannot be bound."""
    places = []
    for j in range(formula.inputs):
        try:
            formula._bound(names[:j] + [_other(names, j)] + names[j + 1:]).close()
        except Error:
            places.append(j)
    return places


def _narrowed(model, data, formulas):
    """Of a table with more columns than the model reads, those that the formulas use, the same
    formulas of those columns alone, and what makes a formula of them one of all columns. Else what
    was given."""
    inputs = data.x.shape[1]
    if inputs <= model.inputs:
        return data, formulas, lambda f: f
    own = []  # names for the variables of each, its own or x0, x1, ...
    used = set()
    for i, f in enumerate(formulas):
        if f.inputs > inputs:
            raise Error(f"formula {i} needs {f.inputs} inputs, the table has {inputs}",
                        "FORMAT", i)
        names = list(f.names or [f"x{j}" for j in range(f.inputs)])[:f.inputs]
        used.update(_uses(f, names))
        own.append(names)
    used = sorted(used) or [0]
    if len(used) > model.inputs:
        raise Error(f"the formulas use {len(used)} inputs, the model reads 1 to {model.inputs}",
                    "UNSUPPORTED")
    all_names = data.names or [f"x{j}" for j in range(inputs)]
    few = _Data(data.x[:, used], data.y, [all_names[j] for j in used], data.c.seed)
    return few, [f._bound([names[j] if j < len(names) else _other(names, j) for j in used])
                 for f, names in zip(formulas, own)], lambda f: f._bound(all_names)


def _view(view):
    if view not in ("exact", "form"):
        raise Error(f"view is exact or form, not {view!r}")
    return view


class Model(_Owned):
    """A trained model: formulas and tables as vectors of length 1, whose inner product is the
    similarity.

        >>> with snip.Model("default.safetensors") as model:
        ...     z = model.embed_formulas(["sin(x0)", "x0 + x1"])    # (2, model.width) float32
        ...     t = model.embed_table(X, y)                         # (model.width,)
        ...     similarity = z @ t

    Formulas are functions of inputs of mean 0 and deviation 1 there; rank does all the scaling by
    itself. Without a path: $SNIP_MODEL, else the installed default model, else that of the source
    tree.
    """

    _free = "model_close"

    def __init__(self, path=None):
        super().__init__()
        if path is None:
            path = (os.environ.get("SNIP_MODEL") or
                    next(filter(os.path.isfile, _model_places()), None))
            if path is None:
                raise Error("no model found; name one or set $SNIP_MODEL", "IO")
        self.path, encoded = _path(path)
        _call("model_open", ctypes.byref(self._pointer), encoded)

    def __reduce__(self):
        return Model, (self.path,)

    def __deepcopy__(self, memo):
        return self  # it is only read, and scikit-learn's clone copies all parameters

    def __repr__(self):
        return f"Model({self.path!r})"

    @property
    def width(self):
        """Numbers in a vector."""
        return _ask("model_width", self)

    @property
    def inputs(self):
        """The most inputs that a table may have."""
        return _ask("model_inputs", self)

    @property
    def hash(self):
        """What tells the model from others."""
        return _ask("model_hash", self).decode()

    @property
    def forms(self):
        """Whether the model reads forms: formulas whose constants may have any value."""
        return bool(_ask("model_forms", self))

    def embed_formulas(self, formulas, names=None, threads=0, view="exact"):
        """Vectors of formulas, (n, width). With view="form" those of their forms: constants do not
        count. A formula that is a constant has no form."""
        formulas = _formulas(formulas, names)
        out = np.zeros((len(formulas), self.width), np.float32)
        _call({"exact": "embed_formulas", "form": "embed_forms"}[_view(view)], self, formulas,
              len(formulas), _cores(threads), out.ctypes.data)
        return out

    def embed_parts(self, formula, names=None, threads=0):
        """Vectors of all parts of one formula, seen in context: (formula in normal form, (nodes,
        width) array), a row for the subtree at each node in prefix order."""
        normal = _one(formula, names, "embedded in parts").normal()
        out = np.zeros((normal.nodes, self.width), np.float32)
        _call("embed_parts", self, normal, _cores(threads), out.ctypes.data)
        return normal, out

    def embed_table(self, X, y, seed=0, threads=0, view="exact"):
        """The vector of a table, (width,). With view="form" two, (2, width): of the table and of
        the same with -y. A form's similarity with the table is the larger of the two products:

            >>> forms = model.embed_formulas(formulas, view="form")
            >>> (forms @ model.embed_table(X, y, view="form").T).max(axis=1)
        """
        data = _Data(X, y, seed=seed)
        out = np.zeros(self.width if _view(view) == "exact" else (2, self.width), np.float32)
        _call({"exact": "embed_table", "form": "embed_table_form"}[view], self,
              ctypes.byref(data.c), _cores(threads), out.ctypes.data)
        return out

    def rank(self, X, y, formulas, names=None, refit=True, order="balance", starts=4, seed=0,
             threads=0, weight=None):
        """Orders formulas for a table: a list of Ranked, best first.

            >>> for r in model.rank(X, y, ["2*x0 + x1", "sin(x0)"]):
            ...     print(f"{r.similarity:.3f} {r.r2_val:.5f} {r.equation}")

        names are those of X's columns. With refit, constants are fitted. From 12 rows on a
        quarter of the rows, chosen by seed, is held out and judges constants of the others; those
        of the formulas returned come from all rows. order is balance (loss and size), loss (held
        out) or similarity. weight has a number per row, 0 or more, of which only the ratios count:
        losses and fits are weighted, rows of weight 0 left out. If X has more columns than the
        model reads, those that the formulas use are taken.
        """
        data = _Data(X, y, names, seed)
        options = _options(refit, order, starts, threads, _weights(weight, data.y.size, "weight"))
        return self._rank(data, _formulas(formulas, data.names), options)

    def _rank(self, data, formulas, options):
        """Ranks Formulas whose variables are the table's columns by place."""
        few, formulas, widened = _narrowed(self, data, formulas)
        ranking = _Ranking()
        _call("rank", ctypes.byref(ranking._pointer), self, ctypes.byref(few.c),
              formulas, len(formulas), ctypes.byref(options))
        return [dataclasses.replace(r, formula=widened(r.formula))
                for r in ranking.list(few.names)]


class Index(_Owned):
    """A library of formulas, made by `snip index build` with the same model.

        >>> index = snip.Index("library.db", model)
        >>> len(index)
        >>> index.find(X, y, k=5)[0].equation
    """

    _free = "index_close"

    def __init__(self, path, model):
        super().__init__()
        self.path, encoded = _path(path)
        self.model = _model(model)
        self._lock = threading.Lock()  # the library lets one thread search at a time
        _call("index_open", ctypes.byref(self._pointer), encoded, model)

    def __reduce__(self):
        return Index, (self.path, self.model)

    def __len__(self):
        return _ask("index_count", self)

    def __repr__(self):
        return f"Index({self.path!r}, {self.model!r})"

    def find(self, X, y, k=20, names=None, refit=True, order=None, starts=4, seed=0, threads=0):
        """The k formulas nearest to the table, a list of Ranked, in its own inputs and units. The
        usual order is balance with refit, similarity without."""
        data = _Data(X, y, names, seed)
        options = _options(refit, order or ("balance" if refit else "similarity"), starts, threads)
        ranking = _Ranking()
        with self._lock:
            _call("find", ctypes.byref(ranking._pointer), self.model, self,
                  ctypes.byref(data.c), _count(k, "k", 2**63), ctypes.byref(options))
        return ranking.list(data.names)


@dataclasses.dataclass(frozen=True)
class Edit:
    """A single edit of a formula, and what it gains."""

    node: int            # in prefix order, of the explained formula
    text: str            # one line that says what it does
    formula: Formula     # edited and refitted to all rows
    gain: float          # rise of the cosine with the table, before the refit
    r2_train: float
    r2_val: float
    refitted_r2_train: float
    refitted_r2_val: float


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Which part of a formula a table disagrees with."""

    formula: Formula     # refitted, unless told not to
    similarity: float    # its cosine with the table
    gains: np.ndarray    # of the best edit at each node, in prefix order; NaN: nothing to edit
    edits: list          # the best ones, an Edit each


class _Explained(_Owned):
    _free = "explanation_free"


def explain(model, X, y, formula, names=None, edits=10, refit=True, starts=4, seed=0, threads=0):
    """Which part of a formula is wrong? The gain in similarity that single edits would bring. If X
    has more columns than the model reads, those that the formula uses are taken.

        >>> x = snip.explain(model, X, y, "2*x0 + x1")
        >>> for word, gain in zip(x.formula.prefix().split(","), x.gains):
        ...     print(f"{word:10} {gain:+.4f}")
        >>> x.edits[0].text, x.edits[0].refitted_r2_val
    """
    data = _Data(X, y, names, seed)
    options = _options(refit, ORDERS[0], starts, threads)
    one = _one(formula, data.names, "explained")
    data, (one,), widened = _narrowed(_model(model), data, [one])
    found = _Explained()
    _call("explain", ctypes.byref(found._pointer), model, ctypes.byref(data.c),
          one, _count(edits, "edits"), ctypes.byref(options))
    f = widened(Formula._of(_ask("explanation_formula", found), data.names, found))
    gains = np.array([_ask("explanation_gain", found, i) for i in range(f.nodes)])
    best = []
    for i in range(_ask("explanation_count", found)):
        e = _ask("explanation_at", found, i).contents
        best.append(Edit(e.node, e.text.decode("utf-8", "replace"),
                         widened(Formula._of(e.formula, data.names, found)), e.gain, e.r2_train,
                         e.r2_val, e.refitted_r2_train, e.refitted_r2_val))
    return Explanation(f, _ask("explanation_similarity", found), gains, best)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """An estimated parameter of a law; NaN stands for what cannot be known."""

    name: str
    value: float
    error: float         # standard error
    low: float           # interval of the level asked for
    high: float
    state: str           # free, fixed, at lower bound, at upper bound, undetermined


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A law fitted to all rows of a table."""

    formula: Formula     # with the estimates, in the table's inputs
    parameters: list     # a Parameter each: names in the order of the formula, then numbers
    correlations: np.ndarray
    rows: int
    freedom: int         # degrees of freedom
    rss: float           # sum of weight * residual^2; with sigma chi-square
    deviation: float     # of the residuals
    chance: float        # with sigma: that chi-square is above rss
    r2: float
    aic: float
    bic: float
    settled: bool        # whether it is a minimum, as far as can be told
    note: str            # what the data do not determine, or None

    def __getitem__(self, name):
        """The parameter of a name."""
        for p in self.parameters:
            if p.name == name:
                return p
        raise KeyError(name)


class _Estimates(_Owned):
    _free = "estimate_free"


NUMBERS = ("decimal", "fixed", "all")


def _mapping(values, what):
    """What is known of parameters, by name; None: nothing."""
    try:
        return dict({} if values is None else values)
    except (TypeError, ValueError) as e:
        raise WrongType(f"{what} must map names to values, not be {values!r}") from e


def _real(value, what):
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as e:
        raise WrongType(f"{what} is not a number: {value!r}") from e


def _bounds(pair, name):
    """A pair (low, high) as the library takes it: both 0 where neither is known."""
    try:
        low, high = pair
    except (TypeError, ValueError) as e:
        raise WrongType(f"bounds of {name} must be a pair (low, high), not {pair!r}") from e
    if low is None and high is None:
        return 0, 0
    low = -math.inf if low is None else _real(low, f"low bound of {name}")
    high = math.inf if high is None else _real(high, f"high bound of {name}")
    if not low <= high:
        raise Error(f"bounds of {name}: {low} is above {high}")
    if low == high == 0:  # what the library takes for no bounds
        raise Error(f"bounds of {name}: to hold it at 0, use fixed")
    return low, high


def estimate(X, y, formula, names=None, start=None, fixed=None, bounds=None, weight=None,
             sigma=None, numbers="decimal", starts=0, level=0.95, seed=0):
    """Fits a law to all rows, as `snip fit-constants` does: names in the formula that are no
    columns are parameters.

        >>> r = snip.estimate(x, y, "A*(1 - exp(-b*x0))", start={"A": 500, "b": 1e-4})
        >>> r["A"].value, r["A"].error, r.deviation, r.freedom

    start and fixed map names to finite values, bounds to pairs (None: no bound). weight or sigma
    has a number per row. Of the numbers in the formula those written with a point are fitted
    (decimal), none (fixed) or all.
    """
    data = _Data(X, y, names, seed)
    start, fixed, bounds = (_mapping(v, what) for v, what in
                            ((start, "start"), (fixed, "fixed"), (bounds, "bounds")))
    known = list(dict.fromkeys([*start, *fixed, *bounds]))
    params = (_Parameter * (len(known) + 1))()
    for to, name in zip(params, known):
        to.name = _bytes(name, "the name of a parameter")
        to.start = math.nan  # unknown
        for what, given in (("start", start), ("fixed", fixed)):
            if name in given:
                to.start = _real(given[name], f"{what} of {name}")
                if not math.isfinite(to.start):
                    raise Error(f"{what} of {name} is {to.start}; it must be finite")
        to.fixed = name in fixed
        to.low, to.high = _bounds(bounds[name], name) if name in bounds else (0, 0)
    per_row = {}
    for key, value in (("weight", weight), ("sigma", sigma)):
        if value is not None:
            per_row[key] = np.ascontiguousarray(_floats(value, key))
            if per_row[key].shape != (len(data.y),):
                raise Error(f"{key} has shape {per_row[key].shape}, "
                            f"X has {_many(len(data.y), 'row')}")
    if numbers not in NUMBERS:
        raise Error(f"numbers is {numbers!r}; it can be {', '.join(NUMBERS)}")
    options = _EstimateOptions(params, len(known),
                               *(per_row[k].ctypes.data if k in per_row else None
                                 for k in ("weight", "sigma")),
                               NUMBERS.index(numbers), _count(starts, "starts"),
                               _real(level, "level"))
    found = _Estimates()
    _call("estimate_law", ctypes.byref(found._pointer), ctypes.byref(data.c),
          _bytes(str(formula), "the formula"), ctypes.byref(options))
    n = _ask("estimate_count", found)
    each = [_ask("estimate_at", found, i).contents for i in range(n)]
    q = _ask("estimate_quality", found).contents
    pointer = _ask("estimate_formula", found)
    law = Formula._of(pointer, data.names, found)
    return Estimate(
        law, [Parameter(p.name.decode(), p.value, p.error, p.low, p.high, p.state.decode())
              for p in each],
        np.array([[_ask("estimate_correlation", found, i, j) for j in range(n)]
                  for i in range(n)]).reshape(n, n),
        q.rows, q.freedom, q.rss, q.deviation, q.chance, q.r2, q.aic, q.bic, bool(q.settled),
        q.note.decode() if q.note else None)


def _of_sklearn(name, otherwise):
    """A class of sklearn.exceptions if that is loaded; else nobody can be waiting for it."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, otherwise)


def _not_fitted(message):
    theirs = _of_sklearn("NotFittedError", None)
    if theirs is None:
        return NotFittedError(message)
    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})(message)


class _Estimator:
    """What scikit-learn asks of a regressor, without scikit-learn. A class lists its parameters,
    and its fit sets best_, a Ranked or Fitted."""

    _estimator_type = "regressor"
    _parameters = ()
    _rows_min = 4

    def get_params(self, deep=True):
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameters}

    def set_params(self, **parameters):
        """Sets parameters by name; returns the object itself."""
        for name in parameters:
            if name not in self._parameters:
                raise Error(f"a {type(self).__name__} has no parameter '{name}'")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __repr__(self):
        given = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({given})"

    def _more_tags(self):  # of scikit-learn before 1.6
        return {"requires_y": True, "poor_score": True}

    def __sklearn_tags__(self):  # from 1.6 on, which calls this and is there
        from sklearn.utils import RegressorTags, Tags, TargetTags
        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True),
                    regressor_tags=RegressorTags(poor_score=True))

    def _rows(self, X):
        """X as a matrix of finite numbers; its shape must tell a row from a column."""
        x = _floats(X, "X")
        if x.ndim == 1:
            raise Error("X has one dimension, rows and columns are needed. Reshape your data: "
                        "X.reshape(-1, 1) is one column, X.reshape(1, -1) one row")
        x = _matrix(x)
        if x.shape[1] == 0:
            raise Error(f"X has 0 feature(s) (shape={x.shape}) while a minimum of 1 is required.",
                        "UNSUPPORTED")
        _finite(x)
        return x

    def _table(self, X, y):
        """X and y for fit."""
        x = self._rows(X)
        rows = x.shape[0]
        if rows < self._rows_min:
            raise Error(f"the table has {_many(rows, 'row')} (n_samples={rows}); at least "
                        f"{self._rows_min} are needed", "FORMAT")
        if y is None:
            raise Error(f"y is not an array of numbers: {type(self).__name__} requires y to be "
                        "passed, but the target y is None")
        y = _floats(y, "y")
        if y.shape not in ((rows,), (rows, 1)):
            raise Error(f"y has shape {y.shape}, X has {_many(rows, 'row')}")
        if y.ndim == 2:
            warnings.warn("A column-vector y was passed when a 1d array was expected; y.ravel() "
                          "makes one", _of_sklearn("DataConversionWarning", UserWarning),
                          stacklevel=3)
        _finite(y)
        return x, y.ravel()

    def _remember(self, X, x):
        """Notes the columns that predict will be given again."""
        self.n_features_in_ = x.shape[1]
        columns = _columns_of(X)
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_fitted(self):
        if not hasattr(self, "best_"):
            raise _not_fitted(f"this {type(self).__name__} is not fitted; call fit first")

    def predict(self, X):
        """The best formula's values, one a row; NaN where it has none."""
        self._check_fitted()
        return self._values(X, self.best_.formula)

    def _values(self, X, formula):
        """A formula's values on the columns that fit has seen."""
        x = self._rows(X)
        if x.shape[1] != self.n_features_in_:
            raise Error(f"X has {x.shape[1]} features, but {type(self).__name__} is expecting "
                        f"{self.n_features_in_} features as input")
        columns, known = _columns_of(X), getattr(self, "feature_names_in_", None)
        if columns is not None and known is not None and columns != list(known):
            raise Error(f"X has the columns {columns}, the {type(self).__name__} was fitted with "
                        f"{list(known)}")
        return np.asarray(formula(*x.T), dtype=np.float64)

    def score(self, X, y, sample_weight=None):
        """R2, the share of y's variance that predict explains; rows count by their weights."""
        y = _floats(y, "y").ravel()
        p = self.predict(X)
        if p.shape != y.shape:
            raise Error(f"y has {_many(y.size, 'value')}, X has {_many(p.size, 'row')}")
        w = np.ones(y.shape) if sample_weight is None else \
            _weights(sample_weight, y.size, "sample_weight")
        if not w.any():
            return float("nan")
        left = np.sum(w * (y - p) ** 2)
        all_ = np.sum(w * (y - np.average(y, weights=w)) ** 2)
        return float(1 - left / all_) if all_ > 0 else float("nan")


def _finite(values):
    """Refuses NaN and infinity as the library does."""
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise Error(f"row {row} holds a value that is not finite: NaN or inf", "FORMAT", row)


class Ranker(_Estimator):
    """The best of some formulas, as scikit-learn's regressors are used.

        >>> ranker = snip.Ranker(formulas=["2*x0 + x1", "x0*sqrt(x1)"])
        >>> ranker.fit(X, y).predict(X_new)
        >>> ranker.best_.equation, ranker.score(X_new, y_new)
        >>> pandas.DataFrame(ranker.equations_)

    model is a Model, the path of one, or None for the default one. After fit: ranking_ (a list of
    Ranked), best_ (its first), equations_ (a list of dictionaries), n_features_in_, and
    feature_names_in_ if X has names.

    X may have more columns than the model reads if the formulas use no more than that. The others
    are left out before the table is embedded, and best_ is still a formula of all columns.

    It passes scikit-learn's check_estimator (of 1.2.1) and works with clone, pipelines,
    cross-validation and grid search. What it does not do:

    - sample_weight weighs losses and fits, but the model knows no weights: of a similarity only
      rows of weight 0 are left out.
    - y is one target; a column is taken with a warning. Missing values and sparse matrices are
      refused. X has two dimensions here, even if one is 1.
    - The score is as good as the formulas given, so the tag poor_score is set.
    - A DataFrame's columns must have the names and the order that fit has seen; the message is not
      scikit-learn's. There is no nested parameter such as model__path.
    """

    _parameters = ("model", "formulas", "refit", "order", "starts", "seed", "threads")

    def __init__(self, model=None, formulas=(), refit=True, order="balance", starts=4, seed=0,
                 threads=0):
        self.model = model
        self.formulas = formulas
        self.refit = refit
        self.order = order
        self.starts = starts
        self.seed = seed
        self.threads = threads

    def fit(self, X, y, sample_weight=None):
        """Ranks the formulas for the table; returns the ranker itself. Rows count by their weights,
        of which only the ratios matter; those of weight 0 are left out."""
        x, y = self._table(X, y)
        options = _options(self.refit, self.order, self.starts, self.threads,
                           _weights(sample_weight, len(y), "sample_weight"))
        model = self.model if isinstance(self.model, Model) else Model(self.model)
        given = _listed(self.formulas)
        if not given:
            raise Error("there are no formulas to rank")
        columns = _names(_columns_of(X))[0]
        ranking = self._ranking(model, x, y, columns, _formulas(given, columns), options)
        self.ranking_ = ranking
        self.best_ = ranking[0]
        self.equations_ = [
            {"complexity": r.complexity, "loss": r.loss_train, "equation": r.equation,
             "score": r.score, "similarity": r.similarity, "r2_train": r.r2_train,
             "r2_val": r.r2_val, "loss_val": r.loss_val, "loss_cross": r.loss_cross, "model_size": r.model_size,
             "pareto": r.pareto, "given": str(given[r.place])} for r in ranking]
        self._remember(X, x)
        return self

    def _ranking(self, model, x, y, columns, formulas, options):
        """Ranks formulas of all columns."""
        for i, f in enumerate(formulas):
            if f.inputs > x.shape[1]:
                raise Error(f"formula {i} needs {f.inputs} inputs, X has n_features={x.shape[1]}",
                            "FORMAT", i)
        return model._rank(_Data(x, y, columns, self.seed), formulas, options)


@dataclasses.dataclass(frozen=True)
class Fitted:
    """A formula that a search has found. Its constants come from all rows, and are clean numbers
    where the data allow. Losses are mean square errors of exactly this formula, r2 shares of the
    target's variance: on the rows fitted while searching (train) and on the others (val)."""

    formula: Formula
    size: int            # nodes
    constants: tuple     # (value, standard error) of the numbers that were fitted and are not clean
    loss_train: float
    loss_val: float
    r2_train: float
    r2_val: float
    bits: float          # description length of the formula, and of the residuals by it
    similarity: float    # cosine with the table, -1 .. 1; NaN without a model
    stage: str           # of the search that found it

    @property
    def equation(self):
        """The formula in sympy's spelling."""
        return self.formula.sympy()


class _Front(_Owned):
    _free = "front_free"

    def list(self, names):
        out = []
        for i in range(_ask("front_count", self)):
            f = _ask("front_at", self, i).contents
            constants = tuple((f.constant[k], f.error[k]) for k in range(f.constants))
            out.append(Fitted(Formula._of(f.formula, names, self), f.size, constants, f.loss_train,
                              f.loss_val, f.r2_train, f.r2_val, f.bits, f.similarity,
                              f.stage.decode()))
        return out


def _seed(random_state):
    """A seed from what scikit-learn takes for one. None is 0: two fits agree."""
    if random_state is None:
        return 0
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    return _count(random_state, "random_state", 2**64)


class _Interrupts:
    """Ctrl-C while the library calls back: it joins a list. Raised in the callback itself it would
    be lost, since ctypes prints what is raised there and goes on. Python hears signals in the main
    thread only."""

    def __init__(self, heard):
        self.heard = heard
        self.before = None

    def __enter__(self):
        if threading.current_thread() is threading.main_thread() and \
                signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self.before = signal.signal(signal.SIGINT,
                                        lambda *_: self.heard.append(KeyboardInterrupt()))

    def __exit__(self, *unused):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


class Regressor(_Estimator):
    """A formula for a table, searched for: `snip fit` as scikit-learn's regressors are used.

        >>> found = snip.Regressor(max_time=10).fit(X, y)
        >>> found.predict(X_new), found.sympy(), found.latex()
        >>> pandas.DataFrame(found.equations_)       # the front, simplest formula first
        >>> found.predict(X_new, index=2)            # by another formula of it

    max_time is in seconds. With max_evals instead (and max_time=None) the answer depends on table,
    parameters and random_state alone, not on the machine. random_state is a number or a
    numpy.random.RandomState; None is 0. operators is a text such as "+,-,*,/,sqrt" or a list of
    such names; guesses are formulas to begin with; model is a Model or the path of one, for
    similarities; memory is in bytes; threads=0 are all cores; verbose shows the best formula on
    standard error whenever it changes. Ctrl-C ends the search and raises KeyboardInterrupt.

    After fit: front_ (a list of Fitted), best_ (the one selected, by description length) and its
    place best_index_, equations_ (a list of dictionaries), seconds_, evaluations_, note_ (a sentence
    or None), n_features_in_, and feature_names_in_ if X has names.

    It passes scikit-learn's check_estimator (of 1.2.1) and works with clone, pipelines,
    cross-validation and grid search. With sample_weight all fits, errors and the choice are by weighted
    squares, rows of weight 0 are left out; only the ratios count. What it does not do: y is one target; missing values and sparse matrices are refused; a table has 8 rows
    or more and at most 64 columns.
    """

    _parameters = ("max_time", "max_evals", "random_state", "max_size", "operators", "guesses",
                   "per_size", "model", "memory", "threads", "verbose")
    _rows_min = 8

    def __init__(self, max_time=60, max_evals=None, random_state=None, max_size=30, operators=None,
                 guesses=(), per_size=1, model=None, memory=0, threads=0, verbose=False):
        self.max_time = max_time
        self.max_evals = max_evals
        self.random_state = random_state
        self.max_size = max_size
        self.operators = operators
        self.guesses = guesses
        self.per_size = per_size
        self.model = model
        self.memory = memory
        self.threads = threads
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Searches for formulas; returns the regressor itself."""
        x, y = self._table(X, y)
        weight = _weights(sample_weight, y.size, "sample_weight")
        columns = _names(_columns_of(X))[0]
        names = columns or [f"x{j}" for j in range(x.shape[1])]
        data = _Data(x, y, names, _seed(self.random_state))
        front = self._search(data, _formulas(self.guesses, names), weight)
        about = _ask("front_of", front).contents
        self.front_ = front.list(names)
        self.best_index_ = _ask("front_selected", front)
        self.best_ = self.front_[self.best_index_]
        self.seconds_, self.evaluations_ = about.seconds, about.evaluations
        self.note_ = about.note.decode() if about.note else None
        self.equations_ = [
            {"complexity": f.size, "loss": f.loss_train, "equation": f.equation,
             "selected": i == self.best_index_, "r2_train": f.r2_train, "r2_val": f.r2_val,
             "loss_val": f.loss_val, "constants": len(f.constants), "bits": f.bits,
             "similarity": f.similarity, "stage": f.stage} for i, f in enumerate(self.front_)]
        self._remember(X, x)
        return self

    def _options(self, guesses, model, progress, weight):
        """The library's options; guesses is the address of an array of handles, or None."""
        time = 0.0 if self.max_time is None else self.max_time
        if isinstance(time, bool) or not isinstance(time, (int, float, np.number)) or \
                not 0 <= time < 1e7:
            raise Error(f"max_time is {self.max_time!r}; it must be a number of seconds")
        if self.max_time is not None and time == 0:
            raise Error("max_time is 0; no formula is found in no time")
        evals = 0 if self.max_evals is None else _count(self.max_evals, "max_evals", 2**64)
        size = _count(self.max_size, "max_size", 101)
        operators = self.operators
        if operators is not None and not isinstance(operators, str):
            operators = ",".join(_listed(operators))
        return _FitOptions(time, evals, _cores(self.threads), size,
                           _count(self.memory, "memory", 2**63), _count(self.per_size, "per_size"),
                           None if operators is None else _bytes(operators, "operators"),
                           guesses, 0, model, progress, None,
                           None if weight is None else weight.ctypes.data)

    def _search(self, data, guesses, weight):
        model = self.model
        if model is not None and not isinstance(model, Model):
            model = Model(model)
        stopped, shown = [], [None]

        @_ON_PROGRESS
        def progress(_, now):
            try:
                formula = now.contents.formula
                if self.verbose and formula != shown[0]:
                    shown[0] = formula
                    print(f"{now.contents.seconds:.1f} s, {now.contents.stage.decode()}, "
                          f"R2 {now.contents.r2_val:.6g}: {formula.decode('utf-8', 'replace')}",
                          file=sys.stderr)
            except BaseException as e:
                stopped.append(e)
            return bool(stopped)

        held = []
        try:
            array = (ctypes.c_void_p * (len(guesses) + 1))(*[g._hold(held) for g in guesses])
            handle = model._hold(held) if model is not None else None
            front = _Front()
            options = self._options(ctypes.cast(array, ctypes.c_void_p) if guesses else None,
                                    handle, progress, weight)
            options.guess_count = len(guesses)
            with _Interrupts(stopped):
                _call("fit", ctypes.byref(front._pointer), ctypes.byref(data.c),
                      ctypes.byref(options))
        finally:
            for one in held:
                one._let_go()
        if stopped:
            raise stopped[0]
        return front

    def _at(self, index):
        self._check_fitted()
        if index is None:
            return self.best_
        try:
            return self.front_[operator.index(index)]
        except (TypeError, IndexError) as e:
            raise Error(f"index is {index!r}; the front has "
                        f"{_many(len(self.front_), 'formula')}") from e

    def predict(self, X, index=None):
        """Values of the selected formula, or of the front's formula `index`; NaN where it has
        none."""
        return self._values(X, self._at(index).formula)

    def sympy(self, index=None):
        """The selected formula, or the front's formula `index`, as text for sympy.sympify."""
        return self._at(index).formula.sympy()

    def latex(self, index=None):
        """The same as LaTeX."""
        return self._at(index).formula.latex()
