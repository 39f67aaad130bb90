"""What is told of season mixtures beside their forecasts: tables of parts, anomalies and backtests, the effects of inputs, and scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _mercer
from ._base import whole
from ._forecaster import Forecaster, _series
from ._intake import Floats

#: A table by the names of its columns, which are the command's: ``pandas.DataFrame`` makes a frame of it.
Table = dict[str, Any]


class SeasonTables(Forecaster):
    """What :class:`Season` tells beside forecasts."""

    def explain(self, steps: int = 1, inputs: Any = None) -> Table:
        """The parts of the forecasts of the next `steps` rows, as a table of columns: ``k`` (the number of the row, from 0), ``time`` where the rows have
        times, ``column`` of several outputs, ``forecast``, ``trend``, ``season`` (the shortest), ``season_2``, …, ``effect_NAME`` of each input, and ``rest``.
        Trend, seasons, effects and rest sum to the forecast. ``pandas.DataFrame(table)`` makes a frame of it."""
        self._check_fitted()
        count = self.rows_learnt
        made, parts = self._parts_ahead(steps, self._inputs(steps, inputs))
        times = None if vars(self).get("_clock") is None else self._ahead(steps)
        return {**self._places(count, len(made), times), "forecast": made.ravel(), **self._named(parts)}

    def explain_then_fit(self, Y: Any, inputs: Any = None, *, parts: bool = True, anomaly_share: float | None = _mercer.USUAL_SHARE) -> Table:
        """Observes further rows, and tells what was known of each from the rows before it, as a table: the columns of :meth:`explain` with ``y`` and
        ``remainder`` (``y - forecast``), and the ends ``lower`` and ``upper`` of a band that holds this share of the values, with ``anomaly``: True where the
        value lies outside. Of ordinary rows one in a hundred lies outside of 0.99; in the warm-up none is judged. Without `parts`, or without a share, these
        columns are left out."""
        before = self.rows_learnt
        seen = self._observe(Y, inputs, anomaly_share, parts)
        ys = seen.rows.ravel()
        times = Y.index if vars(self).get("_clock") is not None else None
        table = {**self._places(before, len(seen.rows), times), "y": ys, "forecast": seen.made.ravel()}
        if parts:
            table |= {**self._named(seen.parts), "remainder": ys - seen.made.ravel()}
        if anomaly_share is not None:
            lower, upper = seen.bands.reshape(-1, 2).T
            table |= {"lower": lower, "upper": upper, "anomaly": (ys < lower) | (ys > upper)}
        return table

    def backtest_then_fit(self, Y: Any, inputs: Any = None, *, steps: int, origins: int = _mercer.ORIGINS, quantiles: Sequence[float] = ()) -> Table:
        """Observes further rows, and forecasts `steps` of them from origins that follow one another, of which the last `origins` count. A table with a row a
        step of each origin: ``origin`` (the number of rows that were known), ``step``, ``time`` where the rows have times, ``column`` of several outputs,
        ``y``, ``forecast``, ``forecast_low`` and ``forecast_high`` of a model with intervals, and ``forecast_P`` for each of the `quantiles`."""
        steps, origins = whole("steps", steps, 1), whole("origins", origins, 1)
        shares = [float(one) for one in quantiles]
        if not all(0 < one < 1 for one in shares):
            raise ValueError(f"quantiles are {shares!r}; give probabilities above 0 and below 1")
        before = self.rows_learnt
        rows, others, clock = self._ready(Y, inputs)
        told = self._backtest_rows(rows, others, steps, origins, shares)
        self._clock = clock
        known, step, output, ys, made = told[:, :5].T
        table: Table = {"origin": known.astype(int), "step": step.astype(int)}
        if clock is not None:
            table["time"] = Y.index[table["origin"] - before + table["step"] - 1]
        if rows.shape[1] > 1:
            table["column"] = np.array(self._outputs(), dtype=object)[output.astype(int)]
        ends = ["forecast_low", "forecast_high"][: told.shape[1] - 5 - len(shares)]
        names = [*ends, *(f"forecast_{p!r}" for p in shares)]
        return {**table, "y": ys, "forecast": made, **dict(zip(names, told[:, 5:].T, strict=True))}

    def predict_scenarios(self, futures: Mapping[str, Any], steps: int | None = None) -> dict[str, Any]:
        """:meth:`predict` by the name of a scenario, each of which is a table of the inputs of the next rows: as many steps as it has rows."""
        rows = {name: len(_series(inputs)[1]) for name, inputs in futures.items()}
        first, most = next(iter(rows.items()), ("", 0))
        for name, count in rows.items():
            if count != most:
                raise _mercer.DataError(f"the scenario {name!r} has {count} rows, and {first!r} has {most}; give scenarios of the same rows")
        return {name: self.predict(rows[name] if steps is None else steps, inputs) for name, inputs in futures.items()}

    @property
    def input_effects_(self) -> list[dict[str, Any]]:
        """The effect of each input on each output: ``column``, ``input``, ``per_unit`` (what one unit more adds), its ``standard_error``, ``of_mean`` (the
        effect in units of the output's mean), each None while the input has not changed, and ``share``, that of the forecast that is made with the inputs."""
        if not self._is_made:
            raise AttributeError("input_effects_: nothing was observed yet")
        places = [(column, name) for column in self._outputs() for name in self._input_list()]
        words = ("per_unit", "standard_error", "of_mean", "share")
        return [{"column": column, "input": name, **dict(zip(words, told, strict=True))} for (column, name), told in zip(places, self._effects(), strict=True)]

    @property
    def periods_(self) -> list[list[int]]:
        """The lengths of the seasons of each output, given or found so far."""
        if not self._is_made:
            raise AttributeError("periods_: nothing was observed yet")
        found: list[list[int]] = self._periods()
        return found

    def _outputs(self) -> list[str]:
        return vars(self).get("_names") or [f"y{place}" for place in range(self._facts()[0])]

    def _input_list(self) -> list[str]:
        return vars(self).get("_input_names") or [f"x{place}" for place in range(self._facts()[1])]

    def _places(self, before: int, count: int, times: Any) -> Table:
        """The first columns of a table of so many rows, the first of this number."""
        names = self._outputs()
        table: Table = {"k": np.repeat(np.arange(before, before + count), len(names))}
        if times is not None:
            table["time"] = times.repeat(len(names))
        if len(names) > 1:
            table["column"] = np.array(names * count, dtype=object)
        return table

    def _named(self, parts: Floats) -> dict[str, Floats]:
        """The columns of parts."""
        names = self._part_names(self._input_list())
        return dict(zip(names, parts.reshape(-1, len(names)).T, strict=True))
