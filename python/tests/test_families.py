"""Forecasters, operators, evaluation and tuning."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mercer
from mercer import forecasting

T = np.arange(400)
SERIES = np.column_stack([np.sin(0.3 * T), np.cos(0.3 * T)])
KINDS = [getattr(forecasting, name) for name in forecasting.__all__ if name not in ("Forecaster", "Kalman", "Season", "Totals")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_forecasters(kind):
    model = kind(intervals=0.9).fit(SERIES)
    truth = np.column_stack([np.sin(0.3 * (400 + np.arange(3))), np.cos(0.3 * (400 + np.arange(3)))])
    np.testing.assert_allclose(model.predict(3), truth, atol=1e-2)
    assert model.rows_learnt == 400 and len(model.coverage_) == 2
    for one in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), mercer.from_bytes(model.to_bytes())):
        assert (one.predict(3) == model.predict(3)).all()
    flat = kind()
    predictions = flat.predict_then_fit(SERIES[:, 0])
    assert predictions.shape == (400,) and flat.predict(2).shape == (2,)
    assert abs(predictions[300:] - SERIES[300:, 0]).max() < 1e-2
    one_by_one = kind()
    for y in SERIES[:, 0]:
        one_by_one.learn_one(y)
    assert (one_by_one.predict(2) == flat.predict(2)).all()


def test_seasons_with_known_inputs():
    rng = np.random.default_rng(1)
    t, promotion = np.arange(420), (rng.uniform(size=420) < 0.2).astype(float)
    sales = 50 + 5 * np.sin(2 * np.pi * t / 7) + 20 * promotion + rng.normal(size=420)
    rows = np.column_stack([sales, 0.5 * sales])
    rows[100:120, 1] = np.nan
    for season in (7, [7], "auto"):
        model = forecasting.Season(season=season, horizons=7, intervals=0.8).fit(rows[:413], promotion[:413])
        made = model.predict(7, promotion[413:])
        assert made.shape == (7, 2) and abs(made - rows[413:]).mean() < 2.0
        ends, quantiles = model.predict_interval(7, promotion[413:]), model.predict_quantiles([0.1, 0.5, 0.9], 7, promotion[413:])
        assert ends.shape == (7, 2, 2) and (ends == quantiles[:, :, [0, 2]]).all() and (np.diff(quantiles) >= 0).all()
        again = mercer.from_bytes(model.to_bytes())
        assert type(again) is forecasting.Season and (again.predict_interval(7, promotion[413:]) == ends).all()
    made, ends = forecasting.Season(season=7, intervals=0.8).predict_interval_then_fit(sales, promotion)
    held = (ends[100:, 0] <= sales[100:]) & (sales[100:] <= ends[100:, 1])
    assert made.shape == (420,) and 0.7 < held.mean() < 0.9
    with pytest.raises(mercer.DataError, match="Season"):
        forecasting.Opf(intervals=0.9).fit(sales).predict_interval(3)
    with pytest.raises(mercer.SettingsError, match="season is 1"):
        forecasting.Season(season=1).fit(sales)


def test_forecasters_with_inputs_and_gaps():
    rng = np.random.default_rng(0)
    u = rng.normal(size=(500, 1))
    y = np.zeros(500)
    for t in range(1, 500):
        y[t] = 0.7 * y[t - 1] + u[t - 1, 0]
    y[100:105] = np.nan
    model = forecasting.Opf(gamma=0.8)
    made = model.predict_then_fit(y, u)
    assert np.isfinite(made).all() and np.nanmean((made[300:] - y[300:]) ** 2) < 1e-3
    with pytest.raises(ValueError, match="outputs"):
        model.partial_fit(np.zeros((3, 2)), u[:3])
    kalman = forecasting.Kalman(A=[[0.7]], C=[[1.0]], Q=[[1.0]], R=[[1e-3]]).fit(np.nan_to_num(y))
    assert kalman.mse_ < 1.5
    with pytest.raises(mercer.SettingsError):
        forecasting.Opf(gamma=2.0).fit(y)


def test_koopman():
    model = mercer.KoopmanOperator(kernel="gaussian:1", eta=0.3).fit(SERIES)
    values = model.eigenvalues_
    assert values.dtype == complex and (np.diff(abs(values)) <= 1e-12).all()
    np.testing.assert_allclose(model.forecast(SERIES[10], 3), SERIES[11:14], atol=0.05)
    np.testing.assert_allclose(model.predict(SERIES[:5]), SERIES[1:6], atol=0.05)
    energy = model.forecast(SERIES[10], 2, observable=lambda x: x[:, :1] ** 2)
    np.testing.assert_allclose(energy[:, 0], SERIES[11:13, 0] ** 2, atol=0.1)
    functions = model.eigenfunctions(SERIES, 2)
    # Along the trajectory an eigenfunction is multiplied by its eigenvalue.
    ratio = functions[1:, 0] / functions[:-1, 0]
    np.testing.assert_allclose(np.median(ratio.real), values[0].real, atol=0.05)
    np.testing.assert_allclose(abs(np.median(ratio.imag)), abs(values[0].imag), atol=0.05)
    for one in (pickle.loads(pickle.dumps(model)), mercer.from_bytes(model.to_bytes())):
        assert (one.eigenvalues_ == values).all()
    x, y = model.points_
    assert model.weights_.shape == (len(y), len(x))
    pairs = mercer.KoopmanOperator(kernel="gaussian:1", eta=0.3).fit(SERIES[:-1], SERIES[1:])
    assert (pairs.eigenvalues_ == values).all()
    with pytest.raises(ValueError, match="median"):
        mercer.KoopmanOperator().learn_one(SERIES[0], SERIES[1])
    with pytest.raises(mercer.SettingsError):
        mercer.KoopmanOperator(eta=3.0).fit(SERIES)


def test_evaluate_and_tune(data):
    X, y, c = data
    made = mercer.evaluate(mercer.Krls(), X, y, skip=100)
    assert made.r2 > 0.7 and made.mse == made.scores["mse"] and made.curve(50).shape == (600,)
    by_hand, model = [], mercer.Krls()
    for x, target in zip(X, y):
        by_hand.append(model.predict_one(list(x)))
        model.learn_one(list(x), target)
    np.testing.assert_allclose(made.predictions, by_hand, rtol=1e-8, atol=1e-10)
    usual = mercer.evaluate(mercer.KrlsClassifier(), X, c, skip=100)
    assert usual.accuracy > 0.8
    found = mercer.tune(mercer.Krls(), X, y, trials=12)
    assert found.score < mercer.evaluate(mercer.Krls(), X, y).mse
    assert mercer.evaluate(found.best, X, y).mse == pytest.approx(found.score, rel=1e-6)
    assert found.trials[0].params["kernel"].startswith("gaussian:")
    assert mercer.tune(mercer.Krls(), X, y, trials=12, threads=1).best.get_params() == found.best.get_params()
    kept = mercer.tune(mercer.Krls(lambda_=0.5), X, y, trials=4)
    assert kept.best.lambda_ == 0.5
    classes = mercer.tune(mercer.KrlsClassifier(), X, np.where(c, "b", "a"), trials=4)
    assert classes.score < 0.4


def test_mixtures_and_members(data):
    X, y, _ = data
    members = [mercer.Krls(lambda_=0.01, kernel="gaussian:1"), mercer.NonsAld()]
    model = mercer.Experts(members=members).fit(X, y)
    assert model.settings["members"] == "krls lambda=0.01 kernel=gaussian:1; nons-ald"
    assert mercer.Experts(members="krls lambda=0.01 kernel=gaussian:1; nons-ald").fit(X, y).predict(X).tolist() == model.predict(X).tolist()
    restart = mercer.Restart(learner=mercer.Krls(lambda_=0.5)).fit(X, y)
    assert np.isfinite(restart.predict(X)).all()
    several = mercer.MknlmsCs(kernels=["gaussian:1", "gaussian:3"]).fit(X, y)
    assert np.isfinite(several.predict(X)).all()


def test_evaluations_refuse_what_leaves_nothing_to_count(data):
    X, y, _ = data
    for skip in (-1, 600, 601):
        with pytest.raises(ValueError, match="skip is"):
            mercer.evaluate(mercer.Krls(), X, y, skip=skip)
        with pytest.raises(ValueError, match="skip is"):
            mercer.tune(mercer.Krls(), X, y, skip=skip, trials=2)


def test_models_of_other_libraries_are_evaluated(data):
    river, sklearn = pytest.importorskip("river"), pytest.importorskip("sklearn")
    from river import linear_model, preprocessing
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    X, y, c = data
    made = mercer.evaluate(preprocessing.StandardScaler() | linear_model.LinearRegression(), X, y, skip=100)
    assert made.predictions.shape == (600,) and made.scores.keys() == {"mse", "rmse", "mae", "r2"}
    by_hand, model = [], preprocessing.StandardScaler() | linear_model.LinearRegression()
    for x, target in zip(X.tolist(), y.tolist()):
        row = dict(enumerate(x))
        by_hand.append(model.predict_one(row))
        model.learn_one(row, target)
    assert made.predictions.tolist() == by_hand
    assert mercer.evaluate(linear_model.LogisticRegression(), X, c, skip=100).accuracy > 0.5
    assert mercer.evaluate(SGDRegressor(random_state=0), X, y, skip=100).mse < 10
    labels = np.where(c, "yes", "no")
    assert mercer.evaluate(SGDClassifier(loss="log_loss", random_state=0), X, labels, skip=100).accuracy > 0.5
    assert np.isfinite(mercer.evaluate(SGDRegressor(random_state=0), X, y, sample_weight=np.ones(600)).mse)
    with pytest.raises(TypeError, match="does not learn row by row"):
        mercer.evaluate(object(), X, y)


def test_comparisons(data):
    river = pytest.importorskip("river")
    from river import linear_model

    pd = pytest.importorskip("pandas")
    X, y, c = data
    made = mercer.compare({"linear": linear_model.LinearRegression(), "ours": mercer.Krls(), "other": mercer.Kogd()}, X, y, skip=100)
    assert list(made.evaluations)[0] == "ours" and made.evaluations["ours"].mse == mercer.evaluate(mercer.Krls(), X, y, skip=100).mse
    frame = made.to_frame()
    assert list(frame.index) == list(made.evaluations) and frame.columns.tolist() == ["mse", "rmse", "mae", "r2", "seconds"]
    assert repr(made).startswith("ours    mse=")
    classes = mercer.compare([mercer.KrlsClassifier(), mercer.Perceptron()], X, c)
    assert set(classes.evaluations) == {"KrlsClassifier()", "Perceptron()"}
    rows = classes.evaluations["Perceptron()"].to_frame()
    assert isinstance(rows, pd.DataFrame) and rows.columns.tolist() == ["target", "prediction", "loss"] and len(rows) == 600


def test_several_epochs(data):
    X, y, c = data
    by_hand = mercer.Klms(kernel="gaussian:1").fit(X, y).partial_fit(X, y)
    model = mercer.Klms(kernel="gaussian:1").fit(X, y, epochs=2)
    assert (model.predict(X) == by_hand.predict(X)).all() and model.rows_learnt == 1200
    assert mercer.Kogd().fit(X, y, epochs=5).score(X, y) > mercer.Kogd().fit(X, y).score(X, y)
    assert mercer.KrlsClassifier().fit(X, c, epochs=2).rows_learnt == 1200
    assert mercer.Pipeline(mercer.Krls()).fit(X, y, epochs=2).rows_learnt == 1200
    with pytest.raises(mercer.SettingsError, match="epochs is 0"):
        mercer.Krls().fit(X, y, epochs=0)


def test_kernels_as_objects(data):
    from mercer.kernels import Gaussian, Laplace, Linear, Matern32, Matern52, Polynomial

    X, y, _ = data
    kernels = [Gaussian(0.5), Laplace(2.0), Matern32(1.0), Matern52(1.5), Polynomial(2, 0.5), Linear(), 0.4 * Gaussian(0.5) + 2 * (Laplace(1e16) + Linear())]
    for kernel in kernels:
        model = mercer.Krls(kernel=kernel).fit(X, y)
        assert (model.predict(X) == mercer.Krls(kernel=str(kernel)).fit(X, y).predict(X)).all()
        again = mercer.from_bytes(model.to_bytes())
        assert again.kernel == kernel and type(again.kernel) is type(kernel) and (again.predict(X) == model.predict(X)).all()
        assert pickle.loads(pickle.dumps(model)).kernel == copy.deepcopy(kernel) == kernel
    assert (mercer.Krls(kernel="rbf").fit(X, y).predict(X) == mercer.Krls().fit(X, y).predict(X)).all()
    assert (mercer.Pipeline(mercer.Krls(kernel=Gaussian(2.0))).fit(X, y).predict(X) == mercer.Pipeline(mercer.Krls(kernel="gaussian:2")).fit(X, y).predict(X)).all()
    assert mercer.Experts(members=[mercer.Krls(kernel=Gaussian(1.0))]).fit(X, y).settings["members"] == "krls kernel=gaussian:1.0"
    assert mercer.KoopmanOperator(kernel=Gaussian(1.0)).fit(SERIES).predict(SERIES[:2]).shape == (2, 2)
    with pytest.raises(mercer.SettingsError, match="sigma|width"):
        mercer.Krls(kernel=Gaussian(-1.0)).fit(X, y)


def test_the_import_takes_no_other_package_along():
    """Nor does use."""
    told = "print(sorted({'river', 'sklearn', 'pandas', 'polars', 'pyarrow', 'scipy', 'matplotlib'} & set(sys.modules)))"
    use = "model = mercer.Pipeline(mercer.Krls()).fit([[0.0], [1.0]], [0.0, 1.0]); mercer.from_bytes(model.to_bytes()).predict([[0.5]])"
    for code in (f"import sys, mercer; {told}", f"import sys, mercer; {use}; {told}"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


def test_files_are_read_as_the_command_reads_them(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("zip;size;city;day;odd\n01067;1.234,5;Ulm;2024-05-31;1\n10115;NA;;2024-06-01;2\n80331;7;unknown;2024-06-02;x\n20095;8;Kiel;2024-06-03;3\n")
    with pytest.warns(mercer.MercerWarning, match="column \"odd\" has 3 numbers and, in row 2, the text \"x\""):
        table = mercer.read(path, thousands=".", gaps=["unknown"])
    assert table == {
        "zip": ["01067", "10115", "80331", "20095"], "size": [1234.5, None, 7, 8], "city": ["Ulm", None, None, "Kiel"],
        "day": ["2024-05-31", "2024-06-01", "2024-06-02", "2024-06-03"], "odd": ["1", "2", "x", "3"],
    }  # fmt: skip
    table.pop("odd")
    assert mercer.Pipeline(mercer.Krls()).fit(table, [1.0, 2.0, 3.0, 4.0]).rows_learnt == 4
    with pytest.raises(mercer.SettingsError, match="decimal"):
        mercer.read(path, decimal="x")
    with pytest.raises(mercer.DataError, match="none.csv"):
        mercer.read(tmp_path / "none.csv")


def test_forecasts_have_the_times_of_their_rows():
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2024-01-01", periods=400, freq="D", tz="Europe/Berlin")
    frame = pd.DataFrame(SERIES, days, ["sin", "cos"])
    plain = forecasting.Opf().fit(SERIES).predict(3)
    for index in (days, pd.period_range("2024-01", periods=400, freq="M")):
        model = forecasting.Opf().fit(frame.set_axis(index))
        made = model.predict(3)
        assert (made.to_numpy() == plain).all() and list(made.columns) == ["sin", "cos"] and (made.index == index[-1] + index.freq * np.arange(1, 4)).all()
        for again in (mercer.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model))):
            assert again.predict(3).equals(made) and again.predict(3).index.equals(made.index)
    series = forecasting.Opf().fit(frame["sin"][:300]).partial_fit(frame["sin"][300:]).predict(2)
    assert series.name == "sin" and series.index[0] == days[-1] + days.freq
    with pytest.warns(mercer.MercerWarning, match="rows before ended at"):
        forecasting.Opf().fit(frame["sin"][:300]).partial_fit(frame["sin"][310:])
    with pytest.warns(mercer.MercerWarning, match="no regular step"):
        assert isinstance(forecasting.Opf().fit(frame["sin"].drop(days[7])).predict(2), np.ndarray)
    with pytest.raises(mercer.DataError, match="do not rise"):
        forecasting.Opf().fit(frame["sin"][::-1])


def test_predictions_are_sums_over_points(data):
    from conftest import CLASSES

    X, y, c = data
    told = []
    for kind in CLASSES:
        model = kind(**({"kernel": "gaussian:1.5"} if hasattr(kind(), "kernel") else {})).fit(X, c if hasattr(kind, "_many") else 0.2 * y)
        if not hasattr(model, "coef_"):
            continue
        told.append(kind)
        assert model.points_.shape == (model.dictionary_size, 3) and model.coef_.shape[-1] == model.dictionary_size
        distances = ((X[:9, None, :] - model.points_[None]) ** 2).sum(axis=2)
        made = np.exp(-distances / (2 * 1.5**2)) @ np.atleast_2d(model.coef_).T
        wanted = model._predict_rows(X[:9])[0]
        if hasattr(kind, "_many") and {"clip", "radius"} & model.settings.keys():
            # Some keep their scores in bounds, as they do numbers beyond those of targets.
            continue
        # Two classes have the scores of a difference.
        wanted = wanted[:, 1:] - wanted[:, :1] if made.shape[1] == 1 and wanted.shape[1] == 2 else wanted
        factor = (wanted * made).sum() / (made * made).sum() if hasattr(kind, "_many") else 1.0
        np.testing.assert_allclose(wanted, factor * made, rtol=1e-6, atol=1e-8, err_msg=kind.__name__)
    assert mercer.Krls in told and mercer.Perceptron in told and mercer.Qklms in told and len(told) > 30
    with pytest.raises(AttributeError, match="no sum of kernels"):
        mercer.Fogd().fit(X, y).points_
    with pytest.raises(AttributeError, match="nothing was learnt"):
        mercer.Krls().coef_


def test_what_modes_are():
    rng = np.random.default_rng(3)
    c, s = 0.95 * np.cos(0.3), 0.95 * np.sin(0.3)
    rows = [np.zeros(2)]
    for _ in range(3000):
        rows.append(np.array([[c, -s], [s, c]]) @ rows[-1] + 0.1 * rng.normal(size=2))
    frame = pytest.importorskip("pandas").DataFrame(np.array(rows) * [1.0, 100.0], columns=["level", "flow"])
    model = mercer.operators.OperatorSums(max_dictionary=0).fit(frame)
    turning = max(model.modes(), key=lambda mode: mode.value.imag)
    assert set(turning.shape) == {"level", "flow"}
    assert abs(abs(turning.shape["flow"] / turning.shape["level"]) / 100 - 1) < 0.1 and turning.amplitude > 0.5
    assert model.reconstruction_["state_error"] < 1e-6 < model.reconstruction_["step_error"] < 0.2
    # Columns are found by name, not by place.
    turned = frame[["flow", "level"]]
    np.testing.assert_array_equal(model.eigenfunctions(turned, 3), model.eigenfunctions(frame, 3))
    np.testing.assert_array_equal(model.predict(turned[:5]), model.predict(frame[:5]))
    other = mercer.KoopmanOperator(kernel="gaussian:1").fit(frame / [1.0, 100.0])
    np.testing.assert_array_equal(other.eigenfunctions(turned / [100.0, 1.0], 3), other.eigenfunctions(frame / [1.0, 100.0], 3))
    first = [lag for lag in model.lags(turned, (1, 4), 2) if lag.mode == 1]
    assert [lag.lag for lag in first] == [1, 4] and all(lag.agrees for lag in first)
    assert abs(first[1].time_scale * np.log(0.95) + 1) < 0.2
    with pytest.raises(mercer.SettingsError, match="lags"):
        model.lags(frame, [])


def test_sets_of_a_chain():
    rng = np.random.default_rng(4)
    jumps = np.array([[0.9, 0.08, 0.02], [0.1, 0.7, 0.2], [0.02, 0.18, 0.8]])
    path = [0]
    for u in rng.random(6000):
        path.append(int(np.searchsorted(jumps[path[-1]].cumsum()[:2], u, side="right")))
    model = mercer.operators.OperatorSums().fit(np.array(path, dtype=float).reshape(-1, 1))
    states = [[0.0], [1.0], [2.0]]
    sets = model.sets(3, states)
    assert sets.weights.sum() == pytest.approx(1) and sorted(sets.labels) == [0, 1, 2] and sets.committor is None
    order = sets.labels
    np.testing.assert_allclose(sets.jumps[np.ix_(order, order)], jumps, atol=0.05)
    ahead = model.sets(3, states, committor=(int(order[0]), int(order[2]))).committor
    np.testing.assert_allclose(ahead, [0, 2 / 3, 1], atol=0.1)
    with pytest.raises(mercer.MercerError, match="9 sets"):
        model.sets(9, states)


def test_operators_of_sums():
    model = mercer.operators.OperatorSums().fit(SERIES)
    np.testing.assert_allclose(model.forecast(SERIES[10], 5), SERIES[11:16], atol=1e-6)
    np.testing.assert_allclose(model.predict(SERIES[:5]), SERIES[1:6], atol=1e-6)
    turning = max(model.modes(), key=lambda mode: mode.value.imag)
    assert abs(np.angle(model.eigenvalues_)).max() > 0.29 and abs(turning.value) < 1.01 and turning.spread >= 0
    assert model.quality_["held_out"] < 1e-6 < model.quality_["no_change"]
    assert turning.period == pytest.approx(2 * np.pi / abs(np.angle(turning.value))) and turning.time_scale > 100
    assert model.nature_["deterministic"] and not model.nature_["wanders"] and 1 < model.vamp2_ <= 10 and model.hs_norm_ > 1
    np.testing.assert_allclose(list(model.units_.values()), SERIES[:-1].std(axis=0), rtol=0.01)
    made, ends = model.forecast(SERIES[:3], 2, intervals=0.9)
    assert made.shape == (3, 2, 2) and ends.shape == (3, 2, 2, 2) and (ends[..., 0] <= made).all()
    functions = model.eigenfunctions(SERIES, 3)
    assert functions.shape == (400, 3) and functions.dtype == complex
    for one in (pickle.loads(pickle.dumps(model)), mercer.from_bytes(model.to_bytes())):
        assert type(one) is mercer.operators.OperatorSums and (one.eigenvalues_ == model.eigenvalues_).all()
        assert (one.partial_fit(SERIES).forecast(SERIES[0], 3) == mercer.from_bytes(model.to_bytes()).partial_fit(SERIES).forecast(SERIES[0], 3)).all()
    rng = np.random.default_rng(0)
    inputs, states = rng.normal(size=(600, 1)), np.zeros((601, 1))
    for t in range(600):
        states[t + 1] = 0.8 * states[t] + inputs[t]
    driven = mercer.operators.OperatorSums(max_dictionary=0).fit(np.hstack([states[:-1], inputs]), states[1:])
    np.testing.assert_allclose(driven.forecast([1.0, 0.5], 2, inputs=[[2.0]]), [[1.3], [3.04]], atol=1e-4)
    assert driven.vamp2_ is None
    long = np.column_stack([np.sin(0.3 * np.arange(5000)), np.cos(0.3 * np.arange(5000))])
    whole = mercer.operators.OperatorSums(max_dictionary=10).fit(long[:4200])
    part = whole.fork().partial_fit(long[4199:])
    assert whole.merge(part).pairs_learnt == 4999 and whole.retract(part).pairs_learnt == 4199
    with pytest.raises(mercer.ModelFileError, match="mercer.load"):
        mercer.KoopmanOperator.from_bytes(model.to_bytes())
    with pytest.raises(mercer.ModelFileError, match="mercer.load"):
        mercer.operators.OperatorSums.from_bytes(mercer.KoopmanOperator(kernel="gaussian:1").fit(SERIES).to_bytes())
