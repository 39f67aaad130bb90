"""One class a method of forecasting, made when the package is imported; the stubs beside it are written with the wheel."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ._forecaster import Forecaster
from ._made import Blueprint, Key
from ._seasons import SeasonTables

_KEYS = {
    one.name: one
    for one in (
        Key("gamma", "float", 1.0, "The factor `γ`, above 0 and at most 1; 1 is the method of Tsiamis and Pappas."),
        Key("gamma_matrix", "Any", None, "A matrix of such factors instead, for several outputs."),
        Key("alpha", "float", 1.0, "The discount, above 0 and at most 1."),
        Key("rank", "int", 10, "Number of spectral filters."),
        Key("horizon", "int", 1000, "Rows over which they run."),
        Key("beta", "float | Sequence[float]", 2.5, "Rows looked back, per natural logarithm of the time; several are a grid of Experts."),
        Key("t_init", "int", 60, "Rows of the warm-up, in which the last value is the prediction."),
        Key("lambda_", "float | None", None, "Regulariser. None divides every column by a scale of its own and takes 0.01 there."),
        Key("gamma_input", "float | None", None, "The factor of the inputs; that of the outputs unless given."),
        Key("feed_through", "bool", False, "Whether the input of a row acts on the outputs of the same row."),
        Key("A", "Any", None, "The matrix of the states. Nothing can be predicted without A, C, Q and R."),
        Key("C", "Any", None, "The matrix from states to outputs."),
        Key("Q", "Any", None, "The covariance of the noise of the states."),
        Key("R", "Any", None, "The covariance of the noise of the outputs."),
        Key("B", "Any", None, "How inputs act on the states."),
        Key("D", "Any", None, "How inputs act on the outputs at once."),
        Key(
            "season",
            "int | Sequence[int] | str | None",
            "auto",
            'The lengths of the seasons in rows, up to three, such as 7 or ``[24, 168]``; None: no season; "auto": those that the data show.',
        ),
        Key("horizons", "int", 12, "Steps ahead for which forecasts are weighed and intervals learnt; those further ahead use the last."),
        Key("light", "bool | None", None, "Fewer experts: larger errors, less time and memory; None: beyond eight outputs."),
        Key("intervals", "float | None", None, "The share of values that intervals are to hold, such as 0.9."),
    )
}
_LAGS = ["beta", "t_init", "lambda_", "gamma_input", "feed_through", "intervals"]
_FILTERS = ["t_init", "lambda_", "feed_through", "intervals"]


class _Method(NamedTuple):
    """A method: its name, its parameters, and what it is."""

    name: str
    keys: list[str]
    about: str
    base: type[Forecaster] = Forecaster


_METHODS = {
    "Discounted": _Method(
        "discounted", ["alpha", *_LAGS], "Ridge regression on the last outputs in which past rows count `α` times less a row."
    ),
    "Experts": _Method(
        "experts",
        _LAGS,
        "A grid of :class:`Opf` with ten `γ` (and every `β` given), weighed by how well each did. Nothing need be known of the series.\n\n"
        "Cost: that of ten forecasters. Source: [Q] §5; weights by ML-Poly (Gaillard, Stoltz and van Erven 2014).",
    ),
    "Kalman": _Method(
        "kalman",
        ["A", "C", "Q", "R", "B", "D", "intervals"],
        "The steady-state Kalman predictor of a known system ``x⁺ = A x + B u + w``, ``y = C x + D u + v``, ``w ~ (0, Q)``, ``v ~ (0, R)``.",
    ),
    "Opf": _Method(
        "opf",
        ["gamma", "gamma_matrix", *_LAGS],
        "Online prediction with forgetting: ridge regression on the last outputs, where coefficients fall like `γ` to the power of the lag.\n\n"
        "Cost: `O(p²)` a row with `p = β ln t` lags of every column. Source: [Q] Algorithm 1.",
    ),
    "Season": _Method(
        "season",
        ["season", "horizons", "light", "intervals"],
        "Ordinary series with trend, seasons and gaps: filters, regressions on lags and simple forecasts, weighed for each step ahead by what they were "
        "worth. `inputs` are known beforehand, such as promotions or holidays, and act on the outputs of their own row. Forecasts of several steps have "
        "intervals and quantiles, and are told by their parts; rows beyond their band are flagged.",
        SeasonTables,
    ),
    "Slip": _Method("slip", ["rank", "horizon", *_FILTERS], "Ridge regression on `rank` spectral filters of the last `horizon` rows."),
    "SlipWindow": _Method("slip-window", ["rank", "beta", *_FILTERS], ":class:`Slip` over as many rows as :class:`Opf` would look back."),
    "Spectral": _Method(
        "spectral",
        ["rank", "horizon", *_FILTERS],
        "Ridge regression on `rank` spectral filters of `horizon` rows beside the last values (Hazan, Singh and Zhang 2017).",
    ),
}


def _about(method: _Method) -> tuple[list[str], list[str]]:
    return method.about.split("\n\n"), []


_made = {
    name: Blueprint(name, [_KEYS[key] for key in method.keys], partial(_about, method), {"_method": method.name}).made(method.base, __name__)
    for name, method in _METHODS.items()
}
globals().update(_made)
__all__ = [*_made]
