"""Streams of numbers under watch: new rows, changes of columns, and errors that have risen, at a rate of false alarms that is stated.

They are river's anomaly and drift detectors and scikit-learn's outlier detectors. A row is a dictionary, a list or an array; a gap (None, NaN) is a
value like others. Tables with dates and categories are for ``mercer watch``, the command.

>>> import math
>>> from mercer import watch
>>> novelty = watch.Novelty()
>>> for t in range(2000):
...     novelty.learn_one({"sin": math.sin(0.7 * t + 0.1 * (t % 17)), "cos": math.cos(0.7 * t + 0.1 * (t % 17))})
>>> novelty.score_one({"sin": 0.0, "cos": 0.0}) > 0.999
True
>>> rises = watch.Rises(alarm_rate=1 / 10_000)
>>> for t in range(2000):
...     rises.update((t * 37 % 101) / 101 + (t >= 1500))
...     if rises.drift_detected:
...         print(rises.alarm.since >= 1490, rises.alarm.row < 1550)
True True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from . import _intake, _mercer
from ._base import whole
from ._compat import BaseEstimator, OutlierMixin, RiverAnomalyDetector, RiverDriftDetector
from ._intake import Floats
from ._stored import Pickled
from ._without import Parameters

__all__ = ["Alarm", "Change", "Novelty", "Rises"]


class Alarm(NamedTuple):
    """A change, and what it is of."""

    #: The row in which it was told, from 1.
    row: int
    #: The first row that speaks for it.
    since: int
    #: The shares of the columns, the largest first; nothing for one column, and for errors.
    columns: dict[Any, float]


class _Numbers(Pickled):
    """What takes rows of numbers, whose columns the first row or batch settles."""

    _keys: list[Any]
    if TYPE_CHECKING:

        def _state(self) -> bytes: ...
        def _set_state(self, state: bytes) -> None: ...

    def _inside(self) -> tuple[Any, ...]:
        return (self._state(),)

    def _set_inside(self, *inside: Any) -> None:
        self._set_state(*inside)

    def _take_over(self, other: Any) -> None:
        self._set_state(other._state())

    def _row(self, x: Any) -> list[float]:
        """A row in the order of the columns; a column that it lacks is a gap."""
        cells = _intake.row({"x": x} if isinstance(x, (int, float, np.number)) else x)
        if "_keys" not in vars(self):
            self._keys = list(cells)
            self._start(len(cells))
        strange = [name for name in cells if name not in self._keys]
        if strange:
            raise _mercer.DataError(f"the row has {strange[0]!r}, and the columns are {', '.join(map(repr, self._keys))}; they are settled by the first row")
        return [_number(name, cells.get(name)) for name in self._keys]

    def _start(self, columns: int) -> None:
        raise NotImplementedError

    def _anew(self) -> None:
        vars(self).pop("_keys", None)

    def _shares(self, shares: list[float]) -> dict[Any, float]:
        order = sorted(range(len(shares)), key=lambda place: -shares[place])
        return {self._keys[place]: shares[place] for place in order}


def _number(name: Any, value: Any) -> float:
    if value is None:
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _mercer.DataError(f"{name!r} is {value!r}, and no number; leave the column out, or use the command mercer watch, which takes tables of any columns") from None


def _rows_to(alarm_rate: Any) -> float:
    """Rows to a false alarm."""
    if isinstance(alarm_rate, bool) or not isinstance(alarm_rate, (int, float, np.number)) or not 0 < alarm_rate <= 1:
        raise _mercer.SettingsError(f"alarm_rate is {alarm_rate!r}; give a share of the rows such as 1 / 10_000")
    return 1 / float(alarm_rate)


class Novelty(_mercer.NoveltyCore, _Numbers, OutlierMixin, BaseEstimator, RiverAnomalyDetector):
    """How new a row is by the last 1024 rows, as a p-value.

    It is a river anomaly detector (``learn_one``, ``score_one``) and a scikit-learn outlier detector (``fit``, ``partial_fit``, ``predict``,
    ``score_samples``, ``decision_function``) in one object. Under drift p-values stay valid, because the window moves with the stream; what is frequent
    is not new, so rows of which more than one in fifty is bad are judged by clean ones: ``fit`` with these, then predict.

    Parameters
    ----------
    threshold : float, default 0.001
        A row whose p-value is at most this is an outlier to ``predict``: so many ordinary rows are.
    seed : int, default 0
        Seed of what is drawn.
    """

    n_features_in_: int

    def __init__(self, *, threshold: float = 0.001, seed: int = 0) -> None:
        self.threshold = threshold
        self.seed = seed

    def _start(self, columns: int) -> None:
        self._begin(columns, whole("seed", self.seed))

    def learn_one(self, x: Any) -> None:
        """Learns a row."""
        self._learn(self._row(x))

    def score_one(self, x: Any) -> float:
        """How new a row is: 1 less its p-value, so near 1 for a new one; 0 while there are too few rows."""
        if "_keys" not in vars(self):
            return 0.0
        scored = self._score(self._row(x))
        return 0.0 if scored is None else 1.0 - scored[0]

    def blame_one(self, x: Any) -> dict[Any, float]:
        """The shares of the columns in how new a row is, the largest first."""
        scored = self._score(self._row(x)) if "_keys" in vars(self) else None
        return {} if scored is None else self._shares(scored[1])

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forgets everything, then learns the rows in their order."""
        with self._renewed(True) as model:
            model._anew()
            model.partial_fit(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learns further rows in their order."""
        self._take_rows(self._table(X, begins=not self._is_made), True)
        return self

    def _table(self, X: Any, begins: bool = False) -> Floats:
        """Rows of numbers in the order of the columns."""
        if begins:
            rows = _intake.finite(X)
            names = _intake.note(self, _intake.frame(X), rows.shape[1])
            self._keys = names or [f"x{place}" for place in range(rows.shape[1])]
            self._start(rows.shape[1])
            return rows
        if "n_features_in_" not in vars(self):
            self.n_features_in_ = len(self._keys)
        return _intake.aligned(self, X, [str(name) for name in self._keys])

    def score_samples(self, X: Any) -> Floats:
        """The logarithm of the p-value of each row; 0 while there are too few rows."""
        self._check_fitted()
        p = self._take_rows(self._table(X), False)
        made: Floats = np.where(np.isnan(p), 0.0, np.log(np.maximum(p, 1e-300)))
        return made

    @property
    def offset_(self) -> float:
        """The logarithm of the threshold."""
        if not (isinstance(self.threshold, (int, float, np.number)) and 0 < self.threshold < 1):
            raise _mercer.SettingsError(f"threshold is {self.threshold!r}; give a p-value such as 0.001")
        return float(np.log(self.threshold))

    def decision_function(self, X: Any) -> Floats:
        """``score_samples`` less ``offset_``: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """-1 for an outlier, 1 for others."""
        return np.where(self.decision_function(X) < 0, -1, 1)


class _Detector(_Numbers):
    """What tells changes one by one."""

    _alarm: Alarm | None = None
    if TYPE_CHECKING:

        def _learn(self, row: Any) -> Any: ...
        def _told(self) -> tuple[int, bool, float, list[str]]: ...

    @property
    def drift_detected(self) -> bool:
        """Whether the last row gave an alarm."""
        return self._alarm is not None

    @property
    def alarm(self) -> Alarm | None:
        """The alarm that the last row gave, if it gave one."""
        return self._alarm

    @property
    def taken_out(self) -> list[str]:
        """The serial dependence that the first rows showed and that is taken out, in words."""
        return self._told()[3] if self._is_made else []

    @property
    def is_watching(self) -> bool:
        """Whether changes can be told: before, the first rows settle what is usual."""
        return self._is_made and self._told()[1]

    @property
    def rows_learnt(self) -> int:
        """Rows so far."""
        return self._told()[0] if self._is_made else 0


class Change(_mercer.ChangeCore, _Detector, Parameters, RiverDriftDetector):
    """Whether the law of the columns of a stream has changed, since when, and of which: a river drift detector.

    The mean number of rows to a false alarm is at least ``1 / alarm_rate`` while rows are exchangeable, whatever their law. Serial dependence and
    seasons that the first rows show are taken out before.

    Parameters
    ----------
    alarm_rate : float, default 1 / 10_000
        How often a false alarm may come, as a share of the rows.
    burn_in : int, default 512
        Rows that settle what is usual, 64 or more.
    independent : bool, default False
        Whether rows are known to be independent, so that no serial dependence is taken out.
    seed : int, default 0
        Seed of the pairs of columns that are watched, where there are more than 256.
    """

    def __init__(self, *, alarm_rate: float = 1 / 10_000, burn_in: int = 512, independent: bool = False, seed: int = 0) -> None:
        self.alarm_rate = alarm_rate
        self.burn_in = burn_in
        self.independent = independent
        self.seed = seed

    def _start(self, columns: int) -> None:
        burn_in, seed = whole("burn_in", self.burn_in), whole("seed", self.seed)
        self._begin(columns, _rows_to(self.alarm_rate), burn_in, bool(self.independent), seed)

    def update(self, x: Any) -> None:
        """Takes a number, or a row; ``drift_detected`` then tells whether it gave an alarm, and ``alarm`` which."""
        told = self._learn(self._row(x))
        self._alarm = None if told is None else Alarm(told[0], told[1], self._shares(told[2]) if len(self._keys) > 1 else {})


class Rises(_mercer.RisesCore, _Detector, Parameters, RiverDriftDetector):
    """Whether losses, such as the sizes of errors, have become larger: a river drift detector with the promise of :class:`Change`. Losses that fall, as
    those of a learner do, give no alarm.

    Parameters
    ----------
    alarm_rate : float, default 1 / 10_000
        How often a false alarm may come, as a share of the rows.
    independent : bool, default False
        Whether losses are known to be independent, so that no serial dependence is taken out.
    """

    def __init__(self, *, alarm_rate: float = 1 / 10_000, independent: bool = False) -> None:
        self.alarm_rate = alarm_rate
        self.independent = independent

    def update(self, x: Any) -> None:
        """Takes a loss; ``drift_detected`` then tells whether it gave an alarm, and ``alarm`` which."""
        if isinstance(x, Mapping) or np.ndim(x):
            raise _mercer.DataError(f"the loss is {x!r}; give one number")
        if not self._is_made:
            self._begin(_rows_to(self.alarm_rate), bool(self.independent))
        told = self._learn(_number("loss", x))
        self._alarm = None if told is None else Alarm(told[0], told[1], {})
