"""Forecasters of series: predict every row from the rows before it, then learn from it. No kernel is needed.

A NaN in an output is a missing value: nothing is learnt from it, and its prediction stands in for it afterwards.

>>> import numpy as np, mercer.forecasting
>>> series = np.sin(0.3 * np.arange(400))
>>> model = mercer.forecasting.Experts().fit(series)
>>> float(abs(model.predict(3)[0] - np.sin(0.3 * 400))) < 1e-3
True
"""

from ._forecaster import Forecaster
from ._forecasters import *  # noqa: F403
from ._forecasters import __all__ as _made

from ._totals import Totals

__all__ = ["Forecaster", *_made, "Totals"]
