"""What all forecasters share."""

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


def _rows(Y: Any) -> Floats:
    """Rows of a series; a vector is a series of one output."""
    Y = frame(Y)
    if not hasattr(Y, "columns") and not hasattr(Y, "column_names"):
        array = numbers(Y)
        if array.ndim == 1:
            return array.reshape(-1, 1)
    return table(Y)


#: What a file keeps beside the parameters.
_KEPT = ("_input_names", "_clock")


class Forecaster(_mercer.ForecastCore, Stored, BaseEstimator, RiverForecaster):
    """What all forecasters share. Rows are in order of time; a series of one output may be a vector."""

    _method: ClassVar[str] = ""
    intervals: float | None = None

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The model of a file's bytes, as an object of the class of its method."""
        kind, method = _mercer.model_kind(data)
        if cls is Forecaster and kind == "prediction":
            # The grid of the command is of the method that it is a grid of, or of this name.
            cls = next((kind for kind in Forecaster.__subclasses__() if kind._method == method), Forecaster)  # type: ignore[assignment]
        elif kind == "prediction" and method != cls._method:
            raise _mercer.ModelFileError(f"the model holds a forecaster {method!r}, and {cls.__name__} is {cls._method!r}; use mercer.load")
        model = cls()
        model._set_bytes(data)
        model._take_description()
        return model

    def _take_description(self) -> None:
        _, parameters, intervals, kept = self._told()
        read = self._take_kept(kept)
        vars(self).update({name: read[name] for name in _KEPT if name in read})
        if read:
            return
        # What the command says of its parameters, where it is what they are here.
        known = self.get_params(deep=False)
        said = {key: json.loads(text) for key, text in parameters}
        names = {"lambda": "lambda_", "gamma": "gamma_matrix" if isinstance(said.get("gamma"), list) else "gamma"}
        for key, value in said.items():
            name = names.get(key, key)
            if name in known and value not in ("auto", "found") and key != "intervals":
                setattr(self, name, value)
        if "intervals" in known:
            self.intervals = intervals

    def _more_kept(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in _KEPT if name in vars(self)}

    def _spec(self) -> dict[str, Any]:
        if type(self) is Forecaster:
            raise _mercer.SettingsError("this method has no class here: the forecaster goes on where it is, and cannot begin anew")
        given = self.get_params(deep=False)
        usual = {"beta": 2.5, "t_init": 60, "alpha": 1.0, "rank": 10, "horizon": 1000, "feed_through": False, "season": "auto", "horizons": 12}
        words = {**dict.fromkeys(("gamma", "gamma_input", "intervals", "lambda_", "gamma_matrix", "system")), **usual, **given}
        for name in ("t_init", "rank", "horizon", "horizons"):
            words[name] = whole(name, words[name])
        for name in ("lambda_", "gamma", "gamma_input", "alpha", "intervals"):
            if not isinstance(words[name], (int, float, type(None))):
                raise _mercer.SettingsError(f"{name} is {words[name]!r}; give a number")
        if "A" in given:
            if any(given[name] is None for name in "ACQR"):
                raise _mercer.SettingsError("Kalman needs the matrices A, C, Q and R of its system")
            words["system"] = [[] if given[name] is None else np.asarray(given[name], dtype=np.float64).ravel().tolist() for name in "ABCDQR"]
            words["t_init"] = 0
        if words["gamma_matrix"] is not None:
            words["gamma_matrix"] = np.asarray(words["gamma_matrix"], dtype=float).tolist()
        season = words["season"]
        if season == "auto":
            words["season"] = None
        else:
            words["season"] = [whole("season", one, 2) for one in (season if isinstance(season, Sequence) else [] if season is None else [season])]
        betas = words["beta"] if isinstance(words["beta"], Sequence) else [words["beta"]]
        return {**words, "method": self._method, "betas": list(betas), "lambda": words["lambda_"]}

    def _more_tags(self) -> set[str]:
        return set()

    def fit(self, Y: Any, inputs: Any = None) -> Self:
        """Forgets everything, then observes the rows of `Y` (and of the `inputs` that act on them)."""
        self._reset()
        vars(self).pop("_clock", None)
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
        return self._observe(Y, inputs)

    def _observe(self, Y: Any, inputs: Any) -> tuple[Floats, Floats]:
        flat = np.ndim(Y) == 1
        rows = _rows(Y)
        others = np.zeros((len(rows), 0)) if inputs is None else _rows(inputs)
        if not self._is_made:
            self._begin(rows.shape[1], others.shape[1])
        clock = self._times(Y)
        made, ends = self._observe_rows(rows, others)
        self._clock = clock
        ends = ends.reshape(*made.shape, 2)
        return (made[:, 0], ends[:, 0]) if flat else (made, ends)

    def predict(self, steps: int = 1, inputs: Any = None) -> Any:
        """Predictions of the next `steps` rows: a vector for one output, else ``(steps, outputs)``. `inputs` are those of these rows. After rows of pandas
        with times in regular steps as their index, a series or a frame with the times of the next rows."""
        self._check_fitted()
        made = self._forecast_rows(steps, self._inputs(steps, inputs))
        made = made[:, 0] if made.shape[1] == 1 else made
        clock = vars(self).get("_clock")
        if clock is None:
            return made
        import pandas as pd

        last, step, names, framed = clock
        span = pd.period_range if isinstance(last, pd.Period) else pd.date_range
        index = span(last, periods=steps + 1, freq=step)[1:]
        return pd.DataFrame(made, index, names) if framed else pd.Series(made, index, name=names[0])

    def _inputs(self, steps: int, inputs: Any) -> Floats:
        """The inputs of the next rows."""
        width = self._facts()[1]
        others = np.zeros((steps, width)) if inputs is None else _rows(inputs)
        if others.shape != (steps, width):
            raise ValueError(f"inputs of shape {others.shape}, and {steps} steps of {width} inputs are needed")
        return others

    def predict_quantiles(self, shares: Sequence[float], steps: int = 1, inputs: Any = None) -> Floats:
        """The values that the next `steps` rows are below with these probabilities, ``(steps, outputs, shares)``; for :class:`Season`."""
        self._check_fitted()
        made: Floats = self._quantiles(steps, self._inputs(steps, inputs), [float(one) for one in shares])
        return made.reshape(steps, -1, len(shares))

    def _times(self, Y: Any) -> tuple[Any, Any, list[Any], bool] | None:
        """The time of the last row, the step of times, and the names of outputs, of rows of pandas with times in regular steps as their index."""
        index: Any = getattr(Y, "index", None)
        if type(index).__name__ not in ("DatetimeIndex", "PeriodIndex") or not len(Y):
            return None
        import pandas as pd

        if not index.is_monotonic_increasing or not index.is_unique:
            raise _mercer.DataError("the times of the rows do not rise; sort them (sort_index), and drop those that come twice")
        known = vars(self).get("_clock")
        step = index.freq or (pd.tseries.frequencies.to_offset(pd.infer_freq(index)) if len(index) > 2 else None) or (known and known[1])
        if step is None:
            tell(["the times of the rows have no regular step: they are rows one after the other; use resample or asfreq, which fills gaps with NaN"])
            return None
        if known is not None and index[0] != known[0] + step:
            tell([f"the rows before ended at {known[0]} and these begin at {index[0]}: they are rows one after the other; fill gaps with NaN"])
        return index[-1], step, list(Y.columns) if hasattr(Y, "columns") else [Y.name], hasattr(Y, "columns")

    def forecast(self, horizon: int, xs: Any = None) -> list[Any]:
        """river's face: a list of predictions of the next rows; `xs` are dictionaries (or lists) of their inputs."""
        if not self._is_made:
            return [0.0] * horizon
        inputs = None if xs is None else np.array([self._read(x) for x in xs], dtype=np.float64).reshape(len(xs), -1)
        made: list[Any] = np.asarray(self.predict(horizon, inputs)).tolist()
        return made

    def learn_one(self, y: Any, x: Any = None) -> None:
        """river's face: observes one row, with the inputs `x` that act on it (a dictionary, or a list of numbers)."""
        row = np.array([[y]] if np.ndim(y) == 0 else [y], dtype=np.float64)
        others = np.zeros((1, 0)) if x is None else np.array([self._read(x)], dtype=np.float64).reshape(1, -1)
        if not self._is_made:
            self._begin(row.shape[1], others.shape[1])
        self._observe_rows(row, others)
        vars(self).pop("_clock", None)

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

    def predict_interval(self, steps: int | None = None, inputs: Any = None) -> Floats:
        """The ends of the interval around the prediction of the next row, ``(outputs, 2)``; of the next `steps` rows, ``(steps, outputs, 2)``, for
        :class:`Season`."""
        self._check_fitted()
        count = steps or 1
        made: Floats = self._quantiles(count, self._inputs(count, inputs), []).reshape(count, -1, 2)
        return made[0] if steps is None else made

    @property
    def mse_(self) -> float:
        """The mean squared error of the predictions after the warm-up."""
        if not self._is_made:
            raise AttributeError("mse_: nothing was observed yet")
        return self._facts()[5]

    @property
    def coverage_(self) -> list[float]:
        """The share of the values that lay in their intervals, one number an output; those of :class:`Season` are not counted."""
        held: list[float] = self._facts()[6] if self._is_made else []
        if not held:
            raise AttributeError("coverage_: nothing was observed yet, or no intervals are counted")
        return held

    @property
    def rows_learnt(self) -> int:
        """Rows observed so far."""
        return self._facts()[2] if self._is_made else 0
