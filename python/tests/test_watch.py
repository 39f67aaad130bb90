"""Detectors of novelty and of changes, as river and scikit-learn have them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mercer
from mercer import watch


def ring(rng, rows):
    angle = rng.uniform(0, 2 * np.pi, rows)
    return np.c_[np.cos(angle), np.sin(angle)] + 0.05 * rng.normal(size=(rows, 2))


def test_new_rows_have_small_p_values():
    rng = np.random.default_rng(0)
    X = ring(rng, 2000)
    novelty = watch.Novelty().fit(X)
    assert novelty.predict([[0.0, 0.0], X[5]]).tolist() == [-1, 1]
    fresh = ring(rng, 2000)
    outliers = (novelty.predict(fresh) == -1).mean()
    assert outliers < 0.005, "one in a thousand ordinary rows is an outlier"
    np.testing.assert_allclose(novelty.decision_function(fresh), novelty.score_samples(fresh) - novelty.offset_)
    # One row after the other is the same.
    one = watch.Novelty()
    assert one.score_one({"x0": 1.0, "x1": 0.0}) == 0.0
    for x, y in X.tolist():
        one.learn_one({"x0": x, "x1": y})
    assert one.score_one({"x0": 0.0, "x1": 0.0}) > 0.999 > one.score_one({"x0": 1.0, "x1": 0.0})
    assert 1 - one.score_one(dict(zip(("x0", "x1"), fresh[0]))) == pytest.approx(np.exp(novelty.score_samples(fresh[:1]))[0])
    # A cell that is wrong is the one to blame, a gap is a value, and a pickle goes on.
    assert next(iter(one.blame_one({"x0": 9.0, "x1": 0.1}))) == "x0"
    again = pickle.loads(pickle.dumps(one))
    row = {"x0": 0.3, "x1": 0.2}
    one.learn_one({"x0": 0.1, "x1": None})
    again.learn_one({"x0": 0.1, "x1": None})
    assert again.score_one(row) == one.score_one(row)
    with pytest.raises(mercer.DataError, match="settled by the first row"):
        one.learn_one({"x0": 0.1, "other": 2.0})
    with pytest.raises(mercer.DataError, match="mercer watch"):
        one.learn_one({"x0": 0.1, "x1": "Ulm"})
    with pytest.raises(mercer.SettingsError, match="p-value"):
        watch.Novelty(threshold=2).fit(X).predict(X)


def stream(change, rows=3000, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    if change:
        X[2000:, 1] += 1.2
    return [dict(zip("abc", row)) for row in X.tolist()]


def test_changes_name_row_and_column():
    alarms = []
    for change in (True, False):
        detector = watch.Change(alarm_rate=1e-6)
        found = []
        for row in stream(change):
            detector.update(row)
            if detector.drift_detected:
                found.append(detector.alarm)
        alarms.append(found)
        assert detector.is_watching and detector.rows_learnt == 3000
    first = alarms[0][0]
    assert 2000 < first.row < 2150 and 1990 <= first.since <= 2020 and next(iter(first.columns)) == "b"
    assert alarms[1] == []
    # A single number is a column; the state goes through a pickle to the bit.
    one, told = watch.Change(alarm_rate=1e-6, burn_in=128, seed=3), []
    rng = np.random.default_rng(0)
    for t, x in enumerate(rng.normal(size=1500)):
        one.update(float(x + (t > 1000)))
        if t == 900:
            one = pickle.loads(pickle.dumps(one))
        told += [t] * one.drift_detected
    assert told and 1000 < told[0] < 1100
    with pytest.raises(mercer.SettingsError, match="alarm_rate"):
        watch.Change(alarm_rate=5).update(1.0)


def test_errors_that_rise_and_those_that_fall():
    rng = np.random.default_rng(2)
    losses = np.abs(rng.normal(size=3000))
    for factor, wanted in ((2.0, True), (0.5, False)):
        rises, told = watch.Rises(), []
        for t, loss in enumerate(losses):
            rises.update(loss * (factor if t >= 2000 else 1.0))
            told += [rises.alarm] * rises.drift_detected
        assert bool(told) == wanted
        if wanted:
            assert 2000 < told[0].row < 2060 and told[0].columns == {}


def test_river_takes_them():
    river = pytest.importorskip("river")
    from river import anomaly, base, compose, drift, metrics, preprocessing

    assert isinstance(watch.Novelty(), getattr(base, "AnomalyDetector", None) or anomaly.base.AnomalyDetector)
    for detector in (watch.Change(alarm_rate=1e-3), watch.Rises(alarm_rate=1e-3)):
        assert isinstance(detector, base.DriftDetector) and not detector.drift_detected
        fresh = detector.clone()
        assert fresh is not detector and fresh.alarm_rate == 1e-3
    # In a pipeline, as river's own; ahead of half-space trees.
    rng = np.random.default_rng(4)
    X, auc = ring(rng, 3000), {}
    truth = rng.uniform(size=3000) < 0.02
    X[truth] *= rng.uniform(0.0, 0.6, size=(int(truth.sum()), 1))
    for name, model in (("mercer", watch.Novelty()), ("trees", compose.Pipeline(preprocessing.MinMaxScaler(), anomaly.HalfSpaceTrees(seed=1)))):
        score = metrics.ROCAUC()
        for row, is_new in zip(X, truth):
            x = dict(zip("ab", row.tolist()))
            score.update(is_new, model.score_one(x))
            model.learn_one(x)
        auc[name] = score.get()
    assert auc["mercer"] > 0.85 > 0.6 > auc["trees"], auc
    retrained = drift.DriftRetrainingClassifier(mercer.KrlsClassifier(), drift_detector=watch.Rises())
    retrained.learn_one({"a": 1.0}, True)


def test_scikit_learn_takes_it():
    pytest.importorskip("sklearn")
    from sklearn.base import clone, is_outlier_detector
    from sklearn.utils.estimator_checks import check_estimator

    # Among three hundred rows of one law there is no p-value of .001.
    none = {name: "few rows" for name in ("check_outliers_fit_predict", "check_outliers_train")}
    checked = check_estimator(watch.Novelty(), on_fail=None, expected_failed_checks=none)
    failed = [one for one in checked if one["status"] not in ("passed", "skipped", "xfail")]
    assert not failed, failed
    assert is_outlier_detector(watch.Novelty()) and clone(watch.Novelty(threshold=0.01)).threshold == 0.01
    rng = np.random.default_rng(0)
    X = np.r_[ring(rng, 1500), [[0.0, 0.0]]]
    assert watch.Novelty().fit_predict(X)[-1] == -1
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        watch.Novelty().predict(X)
    with pytest.raises(ValueError, match="expecting 2 features"):
        watch.Novelty().fit(X).predict(X[:, :1])
