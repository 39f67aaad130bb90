"""The face of river."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import CLASSES

import mercer

river = pytest.importorskip("river")
from river import checks, compose, datasets, evaluate, metrics, preprocessing, stream  # noqa: E402

#: These refuse features that appear late, with a message; `_unit_test_skips` tells river so.
FIXED = {"Auto", "AutoClassifier", "PkawvTaylor", "PkawvTaylorClassifier", "PkrrTaylor", "PkrrTaylorClassifier"}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_checks(kind):
    skipped = kind()._unit_test_skips()
    assert bool(skipped) == (kind.__name__ in FIXED)
    done = 0
    for check in checks.yield_checks(kind()):
        if check.__name__ not in skipped:
            check(kind().clone())
            done += 1
    assert done >= 25


def test_examples_of_river_run_unchanged():
    model = preprocessing.StandardScaler() | mercer.Krls()
    mae = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    assert mae.get() < 1.5
    model = compose.Pipeline(preprocessing.StandardScaler(), mercer.KrlsClassifier())
    accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert accuracy.get() > 0.85
    model = (compose.Select("https", "long_url") | preprocessing.StandardScaler()) | mercer.FogdClassifier()
    assert evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.LogLoss()).get() < 1.0
    model = preprocessing.StandardScaler() | mercer.KrlsClassifier()
    assert evaluate.progressive_val_score(datasets.ImageSegments().take(600), model, metrics.Accuracy()).get() > 0.6


def test_arrays_as_streams(data):
    X, y, _ = data
    model = mercer.Krls()
    for x, target in stream.iter_array(X, y):
        model.learn_one(x, target)
    np.testing.assert_allclose(model.predict(X), mercer.Krls().fit(X, y).predict(X), rtol=1e-8, atol=1e-10)


def test_features_come_and_go():
    model = mercer.Krls(kernel="gaussian:1")
    model.learn_one({"a": 0.1}, 1.0)
    model.learn_one({"c": 0.3, "b": 0.2}, -1.0)
    assert model.feature_names == ["a", "b", "c"]
    assert model.predict_one({"a": 0.1, "unknown": 5.0}) == model.predict_one({"a": 0.1})
    other = mercer.Krls(kernel="gaussian:1")
    for x, y in (({"a": 0.1, "b": 0.0, "c": 0.0}, 1.0), ({"a": 0.0, "b": 0.2, "c": 0.3}, -1.0)):
        other.learn_one(x, y)
    assert model.predict_one({"a": 1.0, "b": 1.0}) == other.predict_one({"a": 1.0, "b": 1.0})


def test_weights_lists_and_targets():
    model = mercer.Krls(kernel="gaussian:1")
    model.learn_one([0.1, 0.2], 1.0, w=0.0)
    assert model.predict_one([0.1, 0.2]) == 0.0
    model.learn_one((0.1, 0.2), 1.0, w=2.0)
    assert model.predict_one(np.array([0.1, 0.2])) > 0.9
    several = mercer.Krls(kernel="gaussian:1")
    several.learn_one({"x": 0.1}, {"u": 1.0, "v": -1.0})
    made = several.predict_one({"x": 0.1})
    assert len(made) == 2 and made[0] == -made[1]


def test_a_refused_example_changes_nothing():
    model = mercer.Krls(kernel="gaussian:1")
    model.learn_one({"x": 0.1}, 1.0)
    before = model.to_bytes()
    for x, y in (({"x": float("nan")}, 1.0), ({"x": 0.1}, float("inf")), ({"x": "text"}, 1.0), ({"x": None}, 1.0), ({"z": "text"}, 1.0), (3, 1.0)):
        with pytest.raises(ValueError):
            model.learn_one(x, y)
        assert model.to_bytes() == before and model.feature_names == ["x"]
    with pytest.raises(ValueError):
        model.learn_one({"x": 0.1}, 1.0, w=-1.0)
    assert model.to_bytes() == before


def test_forecasters():
    from mercer import forecasting

    for kind in (forecasting.Opf, forecasting.Experts, forecasting.Discounted, forecasting.Slip, forecasting.SlipWindow, forecasting.Spectral):
        for check in checks.yield_checks(kind()):
            check(kind())
