"""Forecasters of series: predict every row from the rows before it, then learn from it. No kernel is needed.

A NaN in an output is a missing value: nothing is learnt from it, and its prediction stands in for it afterwards.

>>> import numpy as np, mercer.forecasting
>>> series = np.sin(0.3 * np.arange(400))
>>> model = mercer.forecasting.Experts().fit(series)
>>> float(abs(model.predict(3)[0] - np.sin(0.3 * 400))) < 1e-3
True
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from . import _mercer
from ._compat import BaseEstimator, RiverForecaster
from ._data import Floats, frame, numbers, table
from ._base import whole
from ._notes import tell
from ._stored import Stored

__all__ = ["Discounted", "Experts", "Forecaster", "Kalman", "Opf", "Slip", "SlipWindow", "Spectral"]


def _rows(Y: Any) -> Floats:
    """Rows of a series; a vector is a series of one output."""
    Y = frame(Y)
    if not hasattr(Y, "columns") and not hasattr(Y, "column_names"):
        array = numbers(Y)
        if array.ndim == 1:
            return array.reshape(-1, 1)
    return table(Y)


class Forecaster(_mercer.ForecastCore, Stored, BaseEstimator, RiverForecaster):
    """What all forecasters share. Rows are in order of time; a series of one output may be a vector."""

    _method: ClassVar[str] = ""
    intervals: float | None = None

    def _words(self) -> dict[str, Any]:
        if type(self) is Forecaster:
            raise _mercer.SettingsError("this method has no class here: the forecaster goes on where it is, and cannot begin anew")
        return {}

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The model of a file's bytes, as an object of the class of its method."""
        kind, method = _mercer.model_kind(data)
        if cls is Forecaster and kind == "prediction":
            kinds = {one._method: one for one in (globals()[name] for name in __all__)}
            # The grid of the command is of the method that it is a grid of, or of this name.
            cls = kinds.get(method, Forecaster)
        elif kind == "prediction" and method != cls._method:
            raise _mercer.ModelFileError(f"the model holds a forecaster {method!r}, and {cls.__name__} is {cls._method!r}; use mercer.load")
        model = cls()
        model._set_bytes(data)
        model._take_description()
        return model

    def _take_description(self) -> None:
        _, parameters, intervals, kept = self._told()
        read = self._take_kept(kept)
        if "input_names" in read:
            self._input_names = read["input_names"]
        if read:
            return
        # What the command says of its parameters, where it is what they are here.
        known = self.get_params(deep=False)
        said = {key: json.loads(text) for key, text in parameters}
        names = {"lambda": "lambda_", "gamma": "gamma_matrix" if isinstance(said.get("gamma"), list) else "gamma"}
        for key, value in said.items():
            name = names.get(key, key)
            if name in known and value != "auto" and key != "intervals":
                setattr(self, name, value)
        if "intervals" in known:
            self.intervals = intervals

    def _more_kept(self) -> dict[str, Any]:
        names = vars(self).get("_input_names")
        return {} if names is None else {"input_names": names}

    def _spec(self) -> dict[str, Any]:
        usual = {
            "method": self._method, "betas": [2.5], "t_init": 60, "lambda": None, "gamma": None, "gamma_matrix": None, "gamma_input": None,
            "alpha": 1.0, "rank": 10, "horizon": 1000, "feed_through": False, "intervals": self.intervals, "system": None,
        }  # fmt: skip
        words = {**usual, **self._words()}
        for name in ("t_init", "rank", "horizon"):
            words[name] = whole(name, words[name])
        for name in ("lambda", "gamma", "gamma_input", "alpha", "intervals"):
            if not isinstance(words[name], (int, float, type(None))):
                raise _mercer.SettingsError(f"{name} is {words[name]!r}; give a number")
        return words

    def _more_tags(self) -> set[str]:
        return set()

    def fit(self, Y: Any, inputs: Any = None) -> Self:
        """Forgets everything, then observes the rows of `Y` (and of the `inputs` that act on them)."""
        self._reset()
        self.predict_then_fit(Y, inputs)
        return self

    def partial_fit(self, Y: Any, inputs: Any = None) -> Self:
        """Observes further rows."""
        self.predict_then_fit(Y, inputs)
        return self

    def predict_then_fit(self, Y: Any, inputs: Any = None) -> Floats:
        """Observes further rows, and returns the prediction that was made for each from the rows before it."""
        return self._observe(Y, inputs)[0]

    def predict_interval_then_fit(self, Y: Any, inputs: Any = None) -> tuple[Floats, Floats]:
        """Observes further rows: their predictions, and the ends of their intervals in a last axis of two. Needs ``intervals=0.9``, say."""
        made, radii = self._observe(Y, inputs)
        return made, np.stack([made - radii, made + radii], axis=-1)

    def _observe(self, Y: Any, inputs: Any) -> tuple[Floats, Floats]:
        flat = np.ndim(Y) == 1
        rows = _rows(Y)
        others = np.zeros((len(rows), 0)) if inputs is None else _rows(inputs)
        if not self._is_made:
            self._begin(rows.shape[1], others.shape[1])
        made, radii = self._observe_rows(rows, others)
        return (made[:, 0], radii[:, 0]) if flat else (made, radii)

    def predict(self, steps: int = 1, inputs: Any = None) -> Floats:
        """Predictions of the next `steps` rows: a vector for one output, else ``(steps, outputs)``. `inputs` are those of these rows."""
        self._check_fitted()
        outputs, width, *_ = self._facts()
        others = np.zeros((steps, width)) if inputs is None else _rows(inputs)
        if others.shape != (steps, width):
            raise ValueError(f"inputs of shape {others.shape}, and {steps} steps of {width} inputs are needed")
        made = self._forecast_rows(steps, others)
        return made[:, 0] if outputs == 1 else made

    def forecast(self, horizon: int, xs: Any = None) -> list[Any]:
        """river's face: a list of predictions of the next rows; `xs` are dictionaries (or lists) of their inputs."""
        if not self._is_made:
            return [0.0] * horizon
        inputs = None if xs is None else np.array([self._read(x) for x in xs], dtype=np.float64).reshape(len(xs), -1)
        made: list[Any] = self.predict(horizon, inputs).tolist()
        return made

    def learn_one(self, y: Any, x: Any = None) -> None:
        """river's face: observes one row, with the inputs `x` that act on it (a dictionary, or a list of numbers)."""
        row = np.array([[y]] if np.ndim(y) == 0 else [y], dtype=np.float64)
        others = np.zeros((1, 0)) if x is None else np.array([self._read(x)], dtype=np.float64).reshape(1, -1)
        if not self._is_made:
            self._begin(row.shape[1], others.shape[1])
        self._observe_rows(row, others)

    def _read(self, x: Any) -> list[float]:
        if not hasattr(x, "keys"):
            return [float(value) for value in x]
        names = vars(self).get("_input_names")
        if names is None:
            # Rows come in the order of time, which a date would only say again.
            dates = [name for name, value in x.items() if isinstance(value, (datetime.date, datetime.time))]
            if dates:
                tell([f"the inputs {dates!r} are dates, and are left out: rows are in order of time"])
            names = self._input_names = sorted(name for name in x.keys() if name not in dates)
        try:
            return [float(x.get(name, 0.0)) for name in names]
        except (TypeError, ValueError):
            name = next(name for name in names if not isinstance(x.get(name, 0.0), (int, float)))
            raise _mercer.DataError(f"input {name!r} is {x[name]!r}, which is no number") from None

    def predict_interval(self) -> Floats:
        """The ends of the interval around the prediction of the next row, ``(outputs, 2)``."""
        made, radii = np.array(self._predict_next([])), np.array(self._next_radii())
        return np.stack([made - radii, made + radii], axis=-1)

    @property
    def mse_(self) -> float:
        """The mean squared error of the predictions after the warm-up."""
        if not self._is_made:
            raise AttributeError("mse_: nothing was observed yet")
        return self._facts()[5]

    @property
    def coverage_(self) -> list[float]:
        """The share of the values that lay in their intervals, one number an output."""
        if not self._is_made:
            raise AttributeError("coverage_: nothing was observed yet")
        return self._facts()[6]

    @property
    def rows_learnt(self) -> int:
        """Rows observed so far."""
        return self._facts()[2] if self._is_made else 0


class Opf(Forecaster):
    """Online prediction with forgetting: ridge regression on the last outputs, where coefficients fall like `γ` to the power of the lag.

    Cost: `O(p²)` a row with `p = β ln t` lags of every column. Source: [Q] Algorithm 1.

    Parameters
    ----------
    gamma : float, default 1.0
        The factor `γ`, above 0 and at most 1; 1 is the method of Tsiamis and Pappas.
    gamma_matrix : sequence of rows, default None
        A matrix of such factors instead, for several outputs.
    beta : float, default 2.5
        Rows looked back, per natural logarithm of the time.
    t_init : int, default 60
        Rows of the warm-up, in which the last value is the prediction.
    lambda_ : float | None, default None
        Regulariser. None divides every column by a scale of its own and takes 0.01 there.
    gamma_input : float | None, default None
        The factor of the inputs; that of the outputs unless given.
    feed_through : bool, default False
        Whether the input of a row acts on the outputs of the same row.
    intervals : float | None, default None
        The share of values that intervals are to hold, such as 0.9.
    """

    _method = "opf"

    def __init__(
        self, *, gamma: float = 1.0, gamma_matrix: Any = None, beta: float = 2.5, t_init: int = 60, lambda_: float | None = None,
        gamma_input: float | None = None, feed_through: bool = False, intervals: float | None = None,
    ) -> None:  # fmt: skip
        self.gamma = gamma
        self.gamma_matrix = gamma_matrix
        self.beta = beta
        self.t_init = t_init
        self.lambda_ = lambda_
        self.gamma_input = gamma_input
        self.feed_through = feed_through
        self.intervals = intervals

    def _words(self) -> dict[str, Any]:
        matrix = None if self.gamma_matrix is None else np.asarray(self.gamma_matrix, dtype=float).tolist()
        return {
            "gamma": self.gamma, "gamma_matrix": matrix, "betas": [self.beta], "t_init": self.t_init, "lambda": self.lambda_,
            "gamma_input": self.gamma_input, "feed_through": self.feed_through,
        }  # fmt: skip


class Experts(Forecaster):
    """A grid of :class:`Opf` with ten `γ` (and every `β` given), weighed by how well each did. Nothing need be known of the series.

    Cost: that of ten forecasters. Source: [Q] §5; weights by ML-Poly (Gaillard, Stoltz and van Erven 2014).

    Parameters
    ----------
    beta : float or sequence of float, default 2.5
        Rows looked back, per natural logarithm of the time; several make a grid.
    t_init, lambda_, gamma_input, feed_through, intervals
        As in :class:`Opf`.
    """

    _method = "experts"

    def __init__(
        self, *, beta: float | Sequence[float] = 2.5, t_init: int = 60, lambda_: float | None = None,
        gamma_input: float | None = None, feed_through: bool = False, intervals: float | None = None,
    ) -> None:  # fmt: skip
        self.beta = beta
        self.t_init = t_init
        self.lambda_ = lambda_
        self.gamma_input = gamma_input
        self.feed_through = feed_through
        self.intervals = intervals

    def _words(self) -> dict[str, Any]:
        betas = list(self.beta) if isinstance(self.beta, Sequence) else [self.beta]
        return {
            "betas": betas, "t_init": self.t_init, "lambda": self.lambda_, "gamma_input": self.gamma_input, "feed_through": self.feed_through,
        }  # fmt: skip


class Discounted(Forecaster):
    """Ridge regression on the last outputs in which past rows count `α` times less a row.

    Parameters
    ----------
    alpha : float, default 1.0
        The discount, above 0 and at most 1.
    beta, t_init, lambda_, gamma_input, feed_through, intervals
        As in :class:`Opf`.
    """

    _method = "discounted"

    def __init__(
        self, *, alpha: float = 1.0, beta: float = 2.5, t_init: int = 60, lambda_: float | None = None,
        gamma_input: float | None = None, feed_through: bool = False, intervals: float | None = None,
    ) -> None:  # fmt: skip
        self.alpha = alpha
        self.beta = beta
        self.t_init = t_init
        self.lambda_ = lambda_
        self.gamma_input = gamma_input
        self.feed_through = feed_through
        self.intervals = intervals

    def _words(self) -> dict[str, Any]:
        return {
            "alpha": self.alpha, "betas": [self.beta], "t_init": self.t_init, "lambda": self.lambda_, "gamma_input": self.gamma_input,
            "feed_through": self.feed_through,
        }  # fmt: skip


class _Spectral(Forecaster):
    def __init__(
        self, *, rank: int = 10, horizon: int = 1000, t_init: int = 60, lambda_: float | None = None, feed_through: bool = False,
        intervals: float | None = None,
    ) -> None:  # fmt: skip
        self.rank = rank
        self.horizon = horizon
        self.t_init = t_init
        self.lambda_ = lambda_
        self.feed_through = feed_through
        self.intervals = intervals

    def _words(self) -> dict[str, Any]:
        return {"rank": self.rank, "horizon": self.horizon, "t_init": self.t_init, "lambda": self.lambda_, "feed_through": self.feed_through}


class Slip(_Spectral):
    """Ridge regression on `rank` spectral filters of the last `horizon` rows.

    Parameters
    ----------
    rank : int, default 10
        Number of spectral filters.
    horizon : int, default 1000
        Rows over which they run.
    t_init, lambda_, feed_through, intervals
        As in :class:`Opf`.
    """

    _method = "slip"


class Spectral(_Spectral):
    """Ridge regression on `rank` spectral filters of `horizon` rows beside the last values (Hazan, Singh and Zhang 2017).

    Parameters
    ----------
    rank, horizon, t_init, lambda_, feed_through, intervals
        As in :class:`Slip`.
    """

    _method = "spectral"


class SlipWindow(Forecaster):
    """:class:`Slip` over as many rows as :class:`Opf` would look back.

    Parameters
    ----------
    rank : int, default 10
        Number of spectral filters.
    beta, t_init, lambda_, feed_through, intervals
        As in :class:`Opf`.
    """

    _method = "slip-window"

    def __init__(
        self, *, rank: int = 10, beta: float = 2.5, t_init: int = 60, lambda_: float | None = None, feed_through: bool = False,
        intervals: float | None = None,
    ) -> None:  # fmt: skip
        self.rank = rank
        self.beta = beta
        self.t_init = t_init
        self.lambda_ = lambda_
        self.feed_through = feed_through
        self.intervals = intervals

    def _words(self) -> dict[str, Any]:
        return {"rank": self.rank, "betas": [self.beta], "t_init": self.t_init, "lambda": self.lambda_, "feed_through": self.feed_through}


class Kalman(Forecaster):
    """The steady-state Kalman predictor of a known system ``x⁺ = A x + B u + w``, ``y = C x + D u + v``, ``w ~ (0, Q)``, ``v ~ (0, R)``.

    Parameters
    ----------
    A, C, Q, R : matrices
        Without them nothing can be predicted.
    B, D : matrices, default None
        How inputs act on the state, and on the outputs at once.
    intervals : float | None, default None
        The share of values that intervals are to hold, such as 0.9.
    """

    _method = "kalman"

    def __init__(self, *, A: Any = None, C: Any = None, Q: Any = None, R: Any = None, B: Any = None, D: Any = None, intervals: float | None = None) -> None:
        self.A = A
        self.C = C
        self.Q = Q
        self.R = R
        self.B = B
        self.D = D
        self.intervals = intervals

    def _words(self) -> dict[str, Any]:
        if any(one is None for one in (self.A, self.C, self.Q, self.R)):
            raise _mercer.SettingsError("Kalman needs the matrices A, C, Q and R of its system")
        flat = [
            [] if one is None else np.asarray(one, dtype=np.float64).ravel().tolist()
            for one in (self.A, self.B, self.C, self.D, self.Q, self.R)
        ]
        return {"system": flat, "t_init": 0}
