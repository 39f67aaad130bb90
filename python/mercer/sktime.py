"""Forecasters of sktime, which has to be installed: ``pip install sktime``.

``SeasonForecaster().fit(y, X).predict(fh=[1, 2, 3])`` is :class:`mercer.forecasting.Season` with sktime's horizons, quantiles and updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sktime.forecasting.base import BaseForecaster

from . import forecasting
from ._intake import Floats

__all__ = ["SeasonForecaster"]


class SeasonForecaster(BaseForecaster):  # type: ignore[misc]
    """:class:`mercer.forecasting.Season` as a forecaster of sktime: it learns a series row by row, and ``update`` learns further rows at their cost alone.

    Parameters
    ----------
    season : int | Sequence[int] | str | None, default "auto"
        The lengths of the seasons in rows, up to three; None: no season; "auto": those that the data show.
    horizons : int, default 12
        Steps ahead for which forecasts are weighed and quantiles learnt; those further ahead use the last.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.sktime import SeasonForecaster
    >>> y = pd.Series(10 + np.sin(np.pi * np.arange(120) / 6))
    >>> made = SeasonForecaster(season=12).fit(y).predict(fh=[1, 6, 12])
    >>> bool(abs(made - 10 - np.sin(np.pi * made.index / 6)).max() < 0.1)
    True
    """

    _tags: ClassVar[dict[str, Any]] = {
        "authors": ["mercer"],
        "y_inner_mtype": "pd.DataFrame",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": True,
        "capability:exogenous": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:missing_values": True,
        "capability:non_contiguous_X": False,
        "capability:categorical_in_X": False,
        "capability:update": True,
        "requires-fh-in-fit": False,
    }

    def __init__(self, season: int | Sequence[int] | str | None = "auto", horizons: int = 12) -> None:
        self.season = season
        self.horizons = horizons
        super().__init__()

    def _fit(self, y: Any, X: Any, fh: Any) -> Self:
        self._model = forecasting.Season(season=self.season, horizons=self.horizons)
        self._names, self._behind = y.columns, 0
        return self._update(y, X)

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> Self:
        if update_params and not self._behind:
            self._model.partial_fit(y.to_numpy(dtype=float), None if X is None else X.to_numpy(dtype=float))
        else:
            # The model goes on from where it is; forecasts are of rows further ahead.
            self._behind += len(y)
        return self

    def _steps(self, fh: Any, X: Any) -> tuple[Any, int, Floats | None]:
        """The steps asked for, their largest, and the inputs of all rows up to it."""
        steps = np.asarray(fh.to_relative(self.cutoff), dtype=int) + self._behind
        most = int(steps.max())
        if X is None:
            return steps - 1, most, None
        inputs = X.to_numpy(dtype=float)[-most:]
        # Rows before those that are told are like the first of them, rows behind like the last.
        inputs = np.pad(inputs, ((self._behind, 0), (0, 0)), mode="edge")[:most]
        return steps - 1, most, np.pad(inputs, ((0, most - len(inputs)), (0, 0)), mode="edge")

    def _index(self, fh: Any) -> Any:
        return fh.to_absolute_index(self.cutoff)

    def _predict(self, fh: Any, X: Any) -> Any:
        places, most, inputs = self._steps(fh, X)
        made = np.asarray(self._model.predict(most, inputs)).reshape(most, -1)
        return pd.DataFrame(made[places], index=self._index(fh), columns=self._names)

    def _predict_quantiles(self, fh: Any, X: Any, alpha: list[float]) -> Any:
        places, most, inputs = self._steps(fh, X)
        made = self._model.predict_quantiles(alpha, most, inputs)[places]
        columns = pd.MultiIndex.from_product([self._get_varnames(), alpha])
        return pd.DataFrame(made.reshape(len(places), -1), index=self._index(fh), columns=columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings for sktime's checks."""
        return [{}, {"season": 4, "horizons": 3}, {"season": None}]
