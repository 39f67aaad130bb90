"""The face of sktime, which asks for an older pandas than the other tests: ``python/ci sktime`` runs this file in an environment of its own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sktime")
import pandas as pd  # noqa: E402
from sktime.utils.estimator_checks import check_estimator  # noqa: E402

from mercer import forecasting  # noqa: E402
from mercer.sktime import SeasonForecaster  # noqa: E402


@pytest.mark.filterwarnings("ignore")
def test_all_checks_pass():
    results = check_estimator(SeasonForecaster, raise_exceptions=False, verbose=False)
    assert {name: repr(one) for name, one in results.items() if one != "PASSED"} == {}
    assert len(results) > 1000


@pytest.mark.filterwarnings("ignore")
def test_forecasts_are_those_of_the_season():
    rng = np.random.default_rng(1)
    index = pd.period_range("2015-01", periods=120, freq="M")
    X = pd.DataFrame({"promotion": (rng.uniform(size=120) < 0.3).astype(float)}, index)
    y = pd.Series(100 + 10 * np.sin(np.pi * np.arange(120) / 6) + 5 * X["promotion"] + rng.normal(size=120), index)
    theirs = SeasonForecaster(season=12).fit(y[:96], X[:96]).update(y[96:108], X[96:108])
    ours = forecasting.Season(season=12).fit(y[:108], X[:108])
    made = theirs.predict(fh=[1, 5, 12], X=X[108:])
    assert (made.to_numpy() == ours.predict(12, X[108:]).to_numpy()[[0, 4, 11]]).all() and list(made.index) == list(index[[108, 112, 119]])
    quantiles = theirs.predict_quantiles(fh=[1, 5, 12], X=X[108:], alpha=[0.05, 0.95])
    assert (quantiles.to_numpy() == ours.predict_quantiles([0.05, 0.95], 12, X[108:])[[0, 4, 11], 0]).all()
    # Rows that are seen and not learnt: forecasts are of rows further ahead.
    late = SeasonForecaster(season=12).fit(y[:96], X[:96]).update(y[96:108], X[96:108], update_params=False)
    assert list(late.predict(fh=[1], X=X[108:109]).index) == [index[108]]
