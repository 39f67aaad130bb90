"""The face of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import CLASSES, CLASSIFIERS, REGRESSORS

import mercer
from mercer.moments import OperatorMoments
from mercer.operators import OperatorSums

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

#: These checks ask for a good score on sums of columns.
TRAINS = ("check_regressors_train", "check_classifiers_train")
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
#: This check compares a stream with another order of its rows, each repeated. Least squares on a dictionary that keeps every new point
#: does not depend on the order; everything else that learns row by row does.
ORDER_DOES_NOT_MATTER = {
    "Krls", "KrlsClassifier", "AldKrls", "AldKrlsClassifier", "KernelAwv", "KernelAwvClassifier", "KernelKrr", "KernelKrrClassifier",
    "SwKrls", "SwKrlsClassifier", "FbKrls", "FbKrlsClassifier", "Restart", "RestartClassifier",
}  # fmt: skip


@pytest.mark.parametrize("model", [*(kind() for kind in CLASSES), mercer.Pipeline(), *(mercer.Pipeline(kind()) for kind in CLASSES)], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(model):
    expected = {} if type(model).__name__ in ORDER_DOES_NOT_MATTER else dict.fromkeys(WEIGHTS, "the order of rows matters to an online learner")
    learner = model.learner if isinstance(model, mercer.Pipeline) else model
    if isinstance(learner, (mercer.Pairs, mercer.PairsClassifier)):
        expected = {**expected, **dict.fromkeys(TRAINS, "products of two columns do not make the sums of this check")}
    results = check_estimator(clone(model), on_fail=None, expected_failed_checks=expected)
    failed = [(one["check_name"], repr(one["exception"])[:300]) for one in results if one["status"] == "failed"]
    assert not failed
    assert len(results) > 45


@pytest.mark.parametrize("model", [OperatorSums(), mercer.KoopmanOperator()], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_operators_pass_the_checks(model):
    """They take any successors; those of ``OperatorMoments`` are states like their own."""
    results = check_estimator(model, on_fail=None)
    assert [(one["check_name"], repr(one["exception"])[:300]) for one in results if one["status"] == "failed"] == []
    assert len(results) > 38


def test_operators_take_frames_and_refuse_others():
    pd = pytest.importorskip("pandas")
    states = pd.DataFrame({"x": np.cos(0.3 * np.arange(200)), "v": np.sin(0.3 * np.arange(200))})
    for model in (OperatorSums(), mercer.KoopmanOperator(kernel="gaussian:1"), OperatorMoments("linear")):
        model.fit(states)
        assert model.n_features_in_ == 2 and model.feature_names_in_.tolist() == ["x", "v"]
        before = model.eigenvalues_
        with pytest.raises(ValueError, match="NaN"):
            model.fit([[0.0, 1.0], [np.nan, 1.0], [0.0, 1.0]])
        with pytest.raises(ValueError, match="features"):
            model.partial_fit(np.zeros((5, 3)))
        assert (model.eigenvalues_ == before).all()
        if hasattr(model, "to_bytes"):
            again = mercer.from_bytes(model.to_bytes())
            assert again.feature_names_in_.tolist() == ["x", "v"] and again.n_features_in_ == 2
            assert (again.forecast(states.iloc[:3], 4) == model.forecast(states.iloc[:3], 4)).all()


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
    model.set_params(alpha=0.04)
    model.fit(X, y)
    assert model.settings["alpha"] == "0.04" and model.settings["kernel"] == "gaussian:0.5"
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


def test_a_pipeline_is_what_its_learner_is():
    from sklearn.base import is_classifier, is_regressor

    model = mercer.Pipeline(mercer.Krls())
    assert is_regressor(model) and not is_classifier(model) and not hasattr(model, "predict_proba")
    model.set_params(learner=mercer.KrlsClassifier())
    assert is_classifier(model) and hasattr(model, "predict_proba")
    assert repr(clone(model)) == repr(model) == "Pipeline(KrlsClassifier())"
    assert clone(model).set_params(learner__lambda_=0.3).learner.lambda_ == 0.3


def test_pipelines_in_model_selection():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"city": rng.choice(["Ulm", "Bonn"], 400), "size": rng.uniform(40, 120, 400)})
    price = frame["size"] + 50 * (frame["city"] == "Ulm")
    assert cross_val_score(mercer.Pipeline(mercer.Krls()), frame, price, cv=3).min() > 0.9
    search = GridSearchCV(mercer.Pipeline(mercer.Krls()), {"learner__lambda_": [0.01, 1.0]}, cv=3).fit(frame, price)
    assert search.best_score_ > 0.9
    weights = np.where(frame["city"] == "Ulm", 1.0, 0.0)
    for model, target in ((mercer.Pipeline(mercer.Krls()), price), (mercer.Pipeline(mercer.KrlsClassifier()), price > 100)):
        model.fit(frame, target)
        ulm = frame["city"] == "Ulm"
        assert model.score(frame, target, sample_weight=weights) == pytest.approx(model.score(frame[ulm], target[ulm]))


def test_nothing_learnt_is_told_as_scikit_learn_does():
    from sklearn.exceptions import NotFittedError

    X = np.zeros((2, 2))
    calls = [kind().predict for kind in CLASSES] + [mercer.Pipeline().predict, mercer.Pipeline(mercer.KrlsClassifier()).predict_proba]
    calls += [mercer.Krls(intervals=0.9).predict_interval, mercer.KrlsClassifier().decision_function, mercer.RidgeMoments().predict]
    for call in calls:
        with pytest.raises(NotFittedError):
            call(X)


@pytest.mark.parametrize("kind", [mercer.Krls, mercer.Auto, mercer.KrlsClassifier, mercer.Pipeline], ids=lambda kind: kind.__name__)
def test_a_fit_that_fails_leaves_all_as_it_was(kind, data):
    X, y, c = data
    target = c if kind is mercer.KrlsClassifier else y
    model, bad = kind().fit(X[:, :2], target), X.copy()
    if kind is mercer.Pipeline:
        bad = bad.astype(object)
        bad[500, 1] = 1 + 2j
    else:
        bad[500, 1] = np.nan
    before = model.predict(X[:, :2])
    # Too many features, a NaN, a wrong number of targets, a weight below 0.
    for rows, targets, weights in ((bad, target, None), (X, target[:-1], None), (X, target, -np.ones(600)), (X, None, None)):
        with pytest.raises((ValueError, TypeError)):
            model.fit(rows, targets, weights)
        assert model.n_features_in_ == 2 and model.rows_learnt == 600 and (model.predict(X[:, :2]) == before).all()
        fresh = kind()
        with pytest.raises((ValueError, TypeError)):
            fresh.fit(rows, targets, weights)
        assert not hasattr(fresh, "n_features_in_") and fresh.rows_learnt == 0
    model.set_params(**({"scale": "none?"} if kind is mercer.Pipeline else {"seed": -1}))
    with pytest.raises(mercer.SettingsError if kind is not mercer.Pipeline else ValueError):
        model.fit(X, target)
    assert model.n_features_in_ == 2 and (model.predict(X[:, :2]) == before).all()


def test_settings_of_a_wrong_kind_are_named(data):
    X, y, _ = data
    for value in (-1, 1.5, "x", 2**70):
        with pytest.raises(mercer.SettingsError, match="seed is"):
            mercer.Krls(seed=value).fit(X, y)
        with pytest.raises(mercer.SettingsError, match="seed is"):
            mercer.Fogd(seed=value).learn_one({"a": 1.0}, 1.0)
    for name in ("trials", "seed"):
        with pytest.raises(mercer.SettingsError, match=f"{name} is -1"):
            mercer.tune(mercer.Krls(), X, y, **{name: -1})


def test_a_model_that_gained_a_feature_predicts_arrays(data):
    X, y, _ = data
    pd = pytest.importorskip("pandas")
    for rows in (X, pd.DataFrame(X, columns=list("abc"))):
        model = mercer.Krls().fit(rows, y)
        model.learn_one({**dict(zip(model.feature_names, X[0].tolist())), "new": 2.0}, 1.0)
        assert model.predict(rows).shape == (600,) and len(model.feature_names) == 4
        np.testing.assert_allclose(model.predict(rows)[1], model.predict_one(dict(zip(model.feature_names, X[1].tolist()))), rtol=1e-12)
        again = mercer.from_bytes(model.to_bytes())
        assert (again.predict(rows) == model.predict(rows)).all()
        model.partial_fit(rows, y)


def test_frames_of_what_is_no_number_name_the_feature():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="'b'|could not convert"):
        mercer.Krls().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), [1.0, 2.0])
    with pytest.raises(ValueError, match="'b'|NaN"):
        mercer.Krls().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.nan]}), [1.0, 2.0])


def test_one_row_is_predicted_as_among_many(data):
    X, y, _ = data
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc")).assign(i=range(600), city=["Ulm", "Bonn"] * 300, when=pd.date_range("2024-01-01", periods=600))
    table = mercer.Pipeline(mercer.Krls(max_dictionary=50))
    for model, rows in ((mercer.Krls(max_dictionary=50), X), (clone(table), X), (clone(table), frame), (clone(table), frame.to_dict("records"))):
        one = model.fit(rows, y).predict(rows[7:8])
        np.testing.assert_allclose(one, model.predict(rows)[7], rtol=1e-12)


def test_classes_have_weights(data):
    X, _, c = data
    rare = (X[:, 0] > 1.3) & c
    labels = np.where(rare, "rare", "often")
    weights = {"often": 0.5, "rare": 4.0}
    by_hand = mercer.KrlsClassifier().fit(X, labels, sample_weight=np.where(rare, 4.0, 0.5))
    assert (mercer.KrlsClassifier().fit(X, labels, class_weight=weights).decision_function(X) == by_hand.decision_function(X)).all()
    halved = mercer.KrlsClassifier().fit(X, labels, np.full(600, 0.5), class_weight={"often": 1.0, "rare": 8.0})
    assert (halved.decision_function(X) == by_hand.decision_function(X)).all()
    for model in (mercer.KrlsClassifier(), mercer.Pipeline(mercer.KrlsClassifier())):
        plain = clone(model).fit(X, labels)
        assert (model.fit(X, labels, class_weight="balanced").predict(X) == "rare").sum() > (plain.predict(X) == "rare").sum()
    for told in ("balanced", 3):
        with pytest.raises(ValueError, match="class_weight is"):
            mercer.KrlsClassifier().partial_fit(X, labels, class_weight=told)
    by_hand.partial_fit(X, labels, sample_weight=np.where(rare, 4.0, 0.5))
    assert (halved.partial_fit(X, labels, class_weight=weights).decision_function(X) == by_hand.decision_function(X)).all()


@pytest.mark.parametrize("kind", [mercer.Krls, mercer.KrlsClassifier], ids=lambda kind: kind.__name__)
def test_a_warm_start_goes_on(kind, data):
    X, y, c = data
    target = c if kind is mercer.KrlsClassifier else y
    for model, plain in ((kind(warm_start=True), kind()), (mercer.Pipeline(kind(warm_start=True)), mercer.Pipeline(kind()))):
        model.fit(X[:300], target[:300]).fit(X[300:], target[300:], epochs=2)
        plain.fit(X[:300], target[:300]).partial_fit(X[300:], target[300:]).partial_fit(X[300:], target[300:])
        assert model.rows_learnt == plain.rows_learnt == 900 and (model.predict(X) == plain.predict(X)).all()


def test_the_seed_by_its_other_name(data):
    X, y, _ = data
    told = mercer.Fogd(seed=7).fit(X, y).predict(X)
    assert (mercer.Fogd(random_state=7).fit(X, y).predict(X) == told).all()
    assert (mercer.Fogd(seed=7, random_state=8).fit(X, y).predict(X) != told).any()
    drawn = [mercer.Fogd(random_state=np.random.RandomState(3)).fit(X, y).predict(X) for _ in range(2)]
    assert (drawn[0] == drawn[1]).all()
    with pytest.raises(mercer.SettingsError, match="random_state is"):
        mercer.Fogd(random_state="x").fit(X, y)
