"""The face of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import CLASSES, CLASSIFIERS, REGRESSORS

import mercer

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
#: This check compares a stream with another order of its rows, each repeated. Least squares on a dictionary that keeps every new point
#: does not depend on the order; everything else that learns row by row does.
ORDER_DOES_NOT_MATTER = {
    "Krls", "KrlsClassifier", "AldKrls", "AldKrlsClassifier", "KernelAwv", "KernelAwvClassifier", "KernelKrr", "KernelKrrClassifier",
    "SwKrls", "SwKrlsClassifier", "FbKrls", "FbKrlsClassifier", "Restart", "RestartClassifier",
}  # fmt: skip


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(kind):
    expected = {} if kind.__name__ in ORDER_DOES_NOT_MATTER else {WEIGHTS: "the order of rows matters to an online learner"}
    results = check_estimator(kind(), on_fail=None, expected_failed_checks=expected)
    failed = [(one["check_name"], repr(one["exception"])[:300]) for one in results if one["status"] == "failed"]
    assert not failed
    assert len(results) > 45


def test_weight_multiplies_the_loss_of_least_squares(data):
    X, y, _ = data
    X, y = X[:60], y[:60]
    weights = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = mercer.KernelKrr().fit(X, y, sample_weight=weights).predict(X)
    repeated = mercer.KernelKrr().fit(X.repeat(weights, axis=0), y.repeat(weights)).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


def test_model_selection(data):
    X, y, c = data
    scores = cross_val_score(make_pipeline(StandardScaler(), mercer.Krls()), X, y, cv=4)
    assert scores.shape == (4,) and scores.min() > 0.8
    search = GridSearchCV(mercer.Krls(), {"lambda_": [0.01, 1.0], "kernel": ["gaussian:1", "gaussian:3"]}, cv=3, n_jobs=2).fit(X, y)
    assert set(search.best_params_) == {"lambda_", "kernel"} and search.best_score_ > 0.8
    scores = cross_val_score(make_pipeline(StandardScaler(), mercer.KrlsClassifier()), X, c, cv=4, scoring="roc_auc")
    assert scores.min() > 0.9
    search = GridSearchCV(mercer.KrlsClassifier(), {"lambda_": [0.01, 1.0]}, cv=3, scoring="neg_log_loss").fit(X, c)
    assert search.best_score_ > -0.6


def test_parameters(data):
    X, y, _ = data
    model = mercer.NonsAld(alpha=2e-3, kernel="gaussian:0.5")
    assert repr(model) == "NonsAld(alpha=0.002, kernel='gaussian:0.5')"
    assert model.get_params()["alpha"] == 2e-3 and clone(model).alpha == 2e-3
    model.set_params(alpha="25/T")
    model.fit(X, y)
    assert model.settings["alpha"] == str(25 / 600) and model.settings["kernel"] == "gaussian:0.5"
    with pytest.raises(ValueError, match="alpha"):
        mercer.NonsAld(alpha=-1.0).fit(X, y)
    with pytest.raises(mercer.SettingsError, match="gaussian:SIGMA"):
        mercer.Krls(kernel="gausian:1").fit(X, y)


def test_several_targets(data):
    X, y, _ = data
    Y = np.column_stack([y, -y, 2 * y])
    model = mercer.Krls().fit(X, Y)
    assert model.predict(X).shape == (600, 3)
    np.testing.assert_allclose(model.predict(X)[:, 0], mercer.Krls().fit(X, y).predict(X), rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError):
        mercer.Experts().fit(X, Y)


def test_deviations_and_intervals(data):
    X, y, _ = data
    model = mercer.Krls(intervals=0.9).fit(X, y)
    made, deviation = model.predict(X, return_std=True)
    assert made.shape == deviation.shape == (600,) and (deviation > 0).all()
    ends = model.predict_interval(X)
    assert ends.shape == (600, 2) and ((ends[:, 0] < made) & (made < ends[:, 1])).all()
    assert 0.85 < model.coverage_ < 0.97
    local = mercer.Krls(intervals=0.9, local_intervals=True).fit(X, y).predict_interval(np.vstack([X[:1], X[:1] + 100]))
    assert np.diff(local)[1] > np.diff(local)[0]
    with pytest.raises(ValueError, match="variance"):
        mercer.Fogd(intervals=0.9, local_intervals=True).fit(X, y)


@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
def test_partial_fit_goes_on(kind, data):
    X, y, _ = data
    model = kind().partial_fit(X[:100], y[:100])
    assert model.rows_learnt == 100
    model.partial_fit(X[100:150], y[100:150])
    assert model.rows_learnt == 150 and np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_labels_of_any_type(kind, data):
    X, _, c = data
    labels = np.where(c, "yes", "no")
    model = kind().fit(X[:100], labels[:100])
    assert set(model.predict(X)) <= {"yes", "no"} and list(model.classes_) == ["no", "yes"]
    first = kind().partial_fit(X[:50], labels[:50], classes=["no", "yes"])
    first.partial_fit(X[50:100], labels[50:100])
    assert (first.predict(X) == model.predict(X)).mean() > 0.9
