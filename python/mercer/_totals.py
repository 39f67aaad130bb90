"""Forecasts of series and of their total that add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from . import _mercer
from ._compat import BaseEstimator
from ._forecaster import _placed, _series
from ._forecasters import Season
from ._intake import Floats

#: The name of the total.
TOTAL = "total"


class Totals(BaseEstimator):
    """Several series, each forecast by a :class:`Season` of its own, and their total, so that the forecasts add up.

    A column that begins late adds nothing before. A missing value is a gap of the total, too. A forecast that was not negative may become so.

    Parameters
    ----------
    how : str, default "mint"
        "bottom-up": the total is the sum of the forecasts. "mint": it is forecast by itself, and the difference is shared out by how errors of one step went
        together, so that all have the least errors (MinT of Wickramasuriya, Athanasopoulos and Hyndman 2019, with the covariance of the last 400 errors, shrunk).
    season : int | Sequence[int] | str | None, default "auto"
        As that of :class:`Season`.
    horizons : int, default 12
        As that of :class:`Season`.
    light : bool, default True
        Fewer experts, as the command has them in groups.
    """

    def __init__(self, *, how: str = "mint", season: int | Sequence[int] | str | None = "auto", horizons: int = 12, light: bool = True) -> None:
        self.how = how
        self.season = season
        self.horizons = horizons
        self.light = light

    def fit(self, Y: Any) -> Self:
        """Forgets everything, then observes the rows of `Y`, a column a series."""
        vars(self).pop("_parts", None)
        return self.partial_fit(Y)

    def partial_fit(self, Y: Any) -> Self:
        """Observes further rows."""
        if self.how not in _mercer.TOTAL_METHODS:
            raise _mercer.SettingsError(f"how is {self.how!r}; give one of {', '.join(_mercer.TOTAL_METHODS)}")
        names, rows = _series(Y)
        known = vars(self).get("_parts")
        if known is None:
            if names is not None and TOTAL in names:
                raise _mercer.DataError(f"a column has the name {TOTAL!r}, too; rename it, or leave it out")
            self._names, self._errors = names, np.zeros((0, rows.shape[1] + 1))
            self._parts = [self._made() for _ in range(rows.shape[1])]
            self._total = self._made()
        rows = _placed("series", self._names, names, rows, known is None)
        if rows.shape[1] != len(self._parts):
            raise _mercer.DataError(f"the rows have {rows.shape[1]} series, and {len(self._parts)} were learnt; give the same")
        index = getattr(Y, "index", None)
        index = None if callable(index) else index
        errors = np.full((len(rows), len(self._parts) + 1), np.nan)
        begun = np.zeros(rows.shape, dtype=bool)
        for place, part in enumerate(self._parts):
            there = np.flatnonzero(np.isfinite(rows[:, place]))
            first = 0 if part._is_made else int(there[0]) if len(there) else len(rows)
            begun[first:, place] = True
            if first < len(rows):
                errors[first:, place + 1] = _errors(part, rows[first:, place], None if index is None else index[first:])
        total = np.where(begun, rows, 0.0).sum(axis=1)
        errors[:, 0] = _errors(self._total, total, index)
        self._errors = np.concatenate([self._errors, errors])[-_mercer.TOTAL_ERRORS :]
        return self

    def predict(self, steps: int = 1) -> Any:
        """Forecasts of the next `steps` rows: ``(steps, series + 1)``, the total last, which is the sum of the others. After rows of pandas with times in regular
        steps as their index, a frame with the times of the next rows, whose last column is ``total``."""
        if not hasattr(self, "_parts"):
            raise _mercer.NotLearntError("nothing was observed yet; call fit first")
        names = self._names or [f"y{place}" for place in range(len(self._parts))]
        silent = [name for name, part in zip(names, self._parts, strict=True) if not part._is_made]
        if silent:
            raise _mercer.DataError(f"series {silent[0]!r} had no value yet; leave it out until it has one")
        ahead = self._total.predict(steps)
        parts = np.column_stack([np.asarray(part.predict(steps)) for part in self._parts])
        total, parts = _mercer.add_up(self.how, np.asarray(ahead), parts, self._errors)
        made: Floats = np.column_stack([parts, total])
        if not hasattr(ahead, "index"):
            return made
        import pandas as pd

        return pd.DataFrame(made, ahead.index, [*names, TOTAL])

    def _made(self) -> Any:
        return Season(season=self.season, horizons=self.horizons, light=self.light)


def _errors(model: Any, values: Floats, index: Any) -> Floats:
    """The errors of one step of further rows; not numbers in the warm-up."""
    rows: Any = values
    if index is not None:
        import pandas as pd

        rows = pd.Series(values, index)
    seen = model._observe(rows, None)
    errors: Floats = (seen.rows - seen.made)[:, 0]
    errors[: seen.unscored] = np.nan
    return errors
