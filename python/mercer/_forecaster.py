"""What all forecasters share."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from . import _intake, _mercer
from ._base import whole
from ._compat import BaseEstimator, RiverForecaster
from ._intake import Floats
from ._notes import tell
from ._stored import Stored

#: What a file keeps beside the parameters.
_KEPT = ("_names", "_input_names", "_clock")


def _is_time(value: Any) -> bool:
    return hasattr(value, "isoformat") or getattr(getattr(value, "dtype", None), "kind", "") in ("M", "m") or hasattr(value, "total_seconds")


def _series(Y: Any) -> tuple[list[str] | None, Floats]:
    """The names of the columns of a series, None where they have none, and its rows; a vector is a series of one column."""
    Y = _intake.frame(Y)
    if getattr(getattr(Y, "index", None), "nlevels", 1) > 1:
        raise _mercer.DataError("the rows have several series in a MultiIndex: a model is of one series; give each its own, with one column a series or by groupby")
    names = _intake.names_of(Y)
    if names is None:
        rows = _intake.numbers(Y)
        rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
        if rows.ndim != 2:
            raise ValueError(f"a series has rows, or is a vector of numbers; this has {rows.ndim} dimensions")
        name = getattr(Y, "name", None)
        return None if name is None or rows.shape[1] != 1 else [str(name)], rows
    _intake.check_names(names)
    for name, column in zip(names, _intake.columns(Y).values, strict=True):
        found = next((value for value in column if value is not None), None)
        if _is_time(found):
            raise _mercer.DataError(f"column {name!r} holds times such as {found!s}, which are no output: drop it, or make it the index: set_index({name!r})")
    return names, _intake.table(Y)


def _read_times(index: Any) -> Any:
    """The times of an index of dates or of texts; None where it has names or numbers of rows."""
    import pandas as pd

    present = [one for one in index if not pd.isna(one)]
    times, texts = all(map(_is_time, present)), all(isinstance(one, str) for one in present)
    if not present or not (times or texts):
        return None
    read = pd.to_datetime(index, format=None if times else "ISO8601", errors="coerce")
    if read.notna().sum() * 2 > len(read):
        return read
    tell([f"the rows have names such as {present[0]!r}, which are not taken for times; where they are, read them with pandas.to_datetime"])
    return None


def _placed(what: str, known: list[str] | None, names: list[str] | None, rows: Floats, begins: bool) -> Floats:
    """The columns of a series in the order of those that are `known`: by name, or refused. Without names they have their places."""
    if begins or names is None or known is None or names == known:
        if not begins and known is not None and names is None and rows.shape[1] == len(known) > 1:
            tell([f"the {what} have no names; they are taken in the order {', '.join(known)}"])
        return rows
    if sorted(names) != sorted(known):
        raise _mercer.DataError(f"the {what} are {', '.join(names)}, and the model knows {', '.join(known)}; give them the same names")
    return np.ascontiguousarray(rows[:, [names.index(name) for name in known]])


def _kinds(base: type[Forecaster]) -> Iterator[type[Forecaster]]:
    """All classes of forecasters."""
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


class Observed(NamedTuple):
    """Rows observed, and what was known of each from the rows before it."""

    rows: Floats
    made: Floats
    #: The two ends of intervals side by side, and those of the bands that hold usual values.
    ends: Floats
    bands: Floats
    parts: Floats
    #: Rows whose errors do not count, the first ones.
    unscored: int


class Forecaster(_mercer.ForecastCore, Stored, BaseEstimator, RiverForecaster):
    """What all forecasters share. Rows are in order of time; a series of one output may be a vector."""

    _method: ClassVar[str] = ""
    intervals: float | None = None

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """The model of a file's bytes, as an object of the class of its method."""
        kind, method = _mercer.model_kind(bytes(data))
        if cls is Forecaster and kind == "prediction":
            # The grid of the command is of the method that it is a grid of, or of this name.
            cls = next((kind for kind in _kinds(Forecaster) if kind._method == method), Forecaster)  # type: ignore[assignment]
        elif kind == "prediction" and method != cls._method:
            raise _mercer.ModelFileError(f"the model holds a forecaster {method!r}, and {cls.__name__} is {cls._method!r}; use mercer.load")
        model = cls()
        model._set_bytes(bytes(data))
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
        if "light" in known:
            self.light = said.get("detail") == "light" or None
        if "intervals" in known:
            self.intervals = intervals

    def _more_kept(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in _KEPT if name in vars(self)}

    def _spec(self) -> dict[str, Any]:
        if type(self) is Forecaster:
            raise _mercer.SettingsError("this method has no class here: the forecaster goes on where it is, and cannot begin anew")
        given = self.get_params(deep=False)
        usual = {"beta": 2.5, "t_init": 60, "alpha": 1.0, "rank": 10, "horizon": 1000, "feed_through": False, "season": "auto", "horizons": 12, "light": None}
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
            if isinstance(season, str):
                raise _mercer.SettingsError(f'season is {season!r}; give "auto", None, or lengths in rows such as 12 or [24, 168]')
            words["season"] = [whole("season", one, 2) for one in (season if isinstance(season, Sequence) else [] if season is None else [season])]
        if words["light"] is not None and not isinstance(words["light"], (bool, np.bool_)):
            raise _mercer.SettingsError(f"light is {words['light']!r}; give True, False or None")
        betas = words["beta"] if isinstance(words["beta"], Sequence) else [words["beta"]]
        return {**words, "method": self._method, "betas": list(betas), "lambda": words["lambda_"]}

    def _more_tags(self) -> set[str]:
        return set()

    def fit(self, Y: Any, inputs: Any = None) -> Self:
        """Forgets everything, then observes the rows of `Y` (and of the `inputs` that act on them)."""
        with self._renewed(True) as model:
            for name in _KEPT:
                vars(model).pop(name, None)
            model._observe(Y, inputs)
        return self

    def partial_fit(self, Y: Any, inputs: Any = None) -> Self:
        """Observes further rows."""
        self.predict_then_fit(Y, inputs)
        return self

    def predict_then_fit(self, Y: Any, inputs: Any = None) -> Floats:
        """Observes further rows, and returns the prediction that was made for each from the rows before it."""
        return self.predict_interval_then_fit(Y, inputs)[0]

    def predict_interval_then_fit(self, Y: Any, inputs: Any = None) -> tuple[Floats, Floats]:
        """Observes further rows: their predictions, and the ends of their intervals in a last axis of two. Needs ``intervals=0.9``, say."""
        seen = self._observe(Y, inputs)
        ends = seen.ends.reshape(*seen.made.shape, 2)
        return (seen.made[:, 0], ends[:, 0]) if np.ndim(Y) == 1 else (seen.made, ends)

    def _observe(self, Y: Any, inputs: Any, usual: float | None = None, parts: bool = False) -> Observed:
        rows, others, clock = self._ready(Y, inputs)
        seen = Observed(rows, *self._observe_rows(rows, others, usual, parts))
        self._clock = clock
        return seen

    def _ready(self, Y: Any, inputs: Any) -> tuple[Floats, Floats, Any]:
        """Further rows, their inputs, and the clock behind them; the first rows make the forecaster."""
        begins = not self._is_made
        names, rows = _series(Y)
        rows = _placed("outputs", vars(self).get("_names"), names, rows, begins)
        if begins and not np.isfinite(rows).any():
            raise _mercer.DataError("the rows have no value to begin with; give some that have one")
        input_names, others = (None, np.zeros((len(rows), 0))) if inputs is None else _series(inputs)
        if inputs is None and not begins:
            self._refuse_missing(len(rows))
        others = _placed("inputs", vars(self).get("_input_names"), input_names, others, begins)
        clock = self._times(Y)
        index: Any = getattr(inputs, "index", None)
        if clock is not None and type(index).__name__ == type(Y.index).__name__ and not index.equals(Y.index):
            raise _mercer.DataError(f"the inputs begin at {index[0]} and end at {index[-1]}, and the rows at {Y.index[0]} and {Y.index[-1]}; give those of the same times")
        if begins:
            self._begin(rows.shape[1], others.shape[1])
            self._names, self._input_names = names, input_names
        return rows, others, clock

    def _refuse_missing(self, count: int) -> None:
        """Refuses rows without inputs where the model has some."""
        width = self._facts()[1]
        if width:
            names = vars(self).get("_input_names") or [f"x{place}" for place in range(width)]
            raise _mercer.DataError(f"the inputs {', '.join(names)} are missing; give their {count} row{'s' if count > 1 else ''}")

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

        _, _, names, framed = clock
        index = self._ahead(steps)
        return pd.DataFrame(made, index, names) if framed else pd.Series(made, index, name=names[0])

    def _ahead(self, steps: int) -> Any:
        """The times of the next rows."""
        import pandas as pd

        last, step, _, _ = vars(self)["_clock"]
        span = pd.period_range if isinstance(last, pd.Period) else pd.date_range
        return span(last, periods=steps + 1, freq=step)[1:]

    def _inputs(self, steps: int, inputs: Any) -> Floats:
        """The inputs of the next rows."""
        steps, width = whole("steps", steps), self._facts()[1]
        if inputs is None:
            self._refuse_missing(steps)
            return np.zeros((steps, 0))
        names, others = _series(inputs)
        if others.shape != (steps, width):
            raise ValueError(f"inputs of shape {others.shape}, and {steps} steps of {width} inputs are needed")
        index: Any = getattr(inputs, "index", None)
        ahead = self._ahead(steps) if vars(self).get("_clock") is not None else None
        if ahead is not None and type(index) is type(ahead) and list(index) != list(ahead):
            raise _mercer.DataError(f"the inputs are those of {index[0]} to {index[-1]}, and the next rows are those of {ahead[0]} to {ahead[-1]}; give theirs")
        return _placed("inputs", vars(self).get("_input_names"), names, others, False)

    def predict_quantiles(self, shares: Sequence[float], steps: int = 1, inputs: Any = None) -> Floats:
        """The values that the next `steps` rows are below with these probabilities, ``(steps, outputs, shares)``; for :class:`Season`."""
        self._check_fitted()
        shares = [float(one) for one in shares]
        if not all(0 < one < 1 for one in shares):
            raise ValueError(f"shares are {shares!r}; give probabilities above 0 and below 1")
        if not shares:
            return np.zeros((steps, self._facts()[0], 0))
        made: Floats = self._quantiles(steps, self._inputs(steps, inputs), shares)
        return made.reshape(steps, -1, len(shares))

    def _times(self, Y: Any) -> tuple[Any, Any, list[Any], bool] | None:
        """The time of the last row, the step of times, and the names of outputs, of rows of pandas with times in regular steps as their index."""
        index: Any = getattr(Y, "index", None)
        if index is None or callable(index) or not len(Y):
            return None
        import pandas as pd

        if not isinstance(index, pd.DatetimeIndex | pd.PeriodIndex):
            given = index
            index = _read_times(index)
            if index is None:
                return None
            odd = index.isna() & ~given.isna()
            if odd.any():
                raise _mercer.DataError(f"row {int(np.argmax(odd))}: {given[odd][0]!r} is no time, and the others are; drop the row, or give its time")
        if index.hasnans:
            raise _mercer.DataError(f"row {int(np.argmax(index.isna()))}: its time is missing (NaT); drop the row, or give its time")
        if not index.is_monotonic_increasing or not index.is_unique:
            raise _mercer.DataError("the times of the rows do not rise; sort them (sort_index), and drop those that come twice")
        known = vars(self).get("_clock")
        with warnings.catch_warnings():
            # pandas warns of its own names of steps.
            warnings.simplefilter("ignore")
            found = pd.infer_freq(index) if index.freq is None and len(index) > 2 else None
            step = index.freq or (pd.tseries.frequencies.to_offset(found) if found else None) or (known and known[1])
        if step is None:
            tell(["the times of the rows have no regular step: they are rows one after the other; use resample or asfreq, which fills gaps with NaN"])
            return None
        if known is not None and index[0] != known[0] + step:
            tell([f"the rows before ended at {known[0]} and these begin at {index[0]}: they are rows one after the other; fill gaps with NaN"])
        framed = hasattr(Y, "columns")
        own = vars(self).get("_names") or []
        names = sorted(Y.columns, key=lambda name: own.index(str(name)) if str(name) in own else len(own)) if framed else [Y.name]
        return index[-1], step, names, framed

    def forecast(self, horizon: int, xs: Any = None) -> list[Any]:
        """river's face: a list of predictions of the next rows; `xs` are dictionaries (or lists) of their inputs."""
        if not self._is_made:
            return [0.0] * horizon
        inputs = None if xs is None else np.concatenate([self._read(x) for x in xs])
        made: list[Any] = np.asarray(self.predict(horizon, inputs)).tolist()
        return made

    def learn_one(self, y: Any, x: Any = None) -> None:
        """river's face: observes one row, with the inputs `x` that act on it (a dictionary, or a list of numbers)."""
        row = np.array([[y]] if np.ndim(y) == 0 else [y], dtype=np.float64)
        if x is None and self._is_made:
            self._refuse_missing(1)
        others = np.zeros((1, 0)) if x is None else self._read(x)
        if not self._is_made:
            self._begin(row.shape[1], others.shape[1])
        self._observe_rows(row, others)
        vars(self).pop("_clock", None)

    def _read(self, x: Any) -> Floats:
        """The inputs of one row, by the names of the first."""
        if isinstance(x, (list, tuple, np.ndarray)):
            return _intake.numbers(x).reshape(1, -1)
        cells = {str(name): value for name, value in _intake.row(x).items()}
        names = vars(self).get("_input_names")
        if names is None:
            # Rows come in the order of time, which a date would only say again.
            dates = [name for name, value in cells.items() if _is_time(value)]
            if dates:
                tell([f"the inputs {dates!r} are dates, and are left out: rows are in order of time"])
            names = self._input_names = sorted(name for name in cells if name not in dates)
        further = [name for name in cells if name not in names and not _is_time(cells[name])]
        if further:
            raise _mercer.DataError(f"the row has the inputs {', '.join(further)}, and the model knows {', '.join(names)}; give the same")
        missing = [name for name in names if cells.get(name) is None]
        if missing:
            raise _mercer.DataError(f"the row lacks the inputs {', '.join(missing)}; give them a number")
        for name in names:
            if not isinstance(cells[name], (int, float, np.number)) and not hasattr(cells[name], "__float__"):
                raise _mercer.DataError(f"input {name!r} is {cells[name]!r}, which is no number")
        return np.array([[float(cells[name]) for name in names]])

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
