"""A model saved is the same model everywhere: parameters, names, labels, and what comes after."""

from __future__ import annotations

import pickle
import subprocess

import numpy as np
import pytest
from conftest import CLASSES, CLASSIFIERS, REGRESSORS

import mercer
from mercer import forecasting

pd = pytest.importorskip("pandas")
sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402

NAMES = ["size", "age", "rooms"]
ORDER = ["rooms", "size", "age"]
#: Labels of False and True, of every type that streams have.
LABELS = {
    "bool": [False, True],
    "int": [0, 1],
    "negative": [-1, 1],
    "large": [2**53 + 2, 2**60],
    "float": [2.0, 3.0],
    "str": ["no", "yes"],
    "numbers as text": ["0", "1"],
    # Those that scikit-learn takes for no classes.
    "fraction": [0.5, 1.5],
    "mixed": ["none", 3],
}
#: How a model begins.
BEGINNINGS = ("fit", "partial_fit", "learn_one", "learn_many")


def same(one, other):
    """Whether two parameters are the same."""
    if hasattr(one, "get_params"):
        return type(one) is type(other) and all(same(a, b) for a, b in zip(one.get_params().items(), other.get_params().items(), strict=True))
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return type(one) is type(other) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and (one == other or one != one)


def params_kept(model, again):
    assert type(again) is type(model)
    assert same(model.get_params(), again.get_params()), (model.get_params(), again.get_params())


def typed(labels):
    """The labels with their types."""
    return [(type(one), one) for one in (labels.tolist() if hasattr(labels, "tolist") else labels)]


def begin(model, how, frame, targets):
    if how == "learn_one":
        for row, target in zip(frame.to_dict("records"), targets, strict=True):
            model.learn_one(row, target)
    else:
        getattr(model, how)(frame, pd.Series(targets) if how == "learn_many" else np.array(targets))
    return model


@pytest.mark.parametrize("how", BEGINNINGS)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_model_of_a_file_is_the_model(kind, how, tmp_path):
    place = CLASSES.index(kind) + BEGINNINGS.index(how)
    X = pd.DataFrame(np.random.default_rng(place).normal(size=(90, 3)), columns=NAMES)
    rows, query = X[:60], X[60:]
    classes = kind in CLASSIFIERS
    labels = list(LABELS.values())[place % 7]
    truth = (X["size"] + X["age"] * X["rooms"] > 0).tolist()
    targets = [labels[one] for one in truth] if classes else np.tanh(X["size"] + X["age"] * X["rooms"]).tolist()
    given = {}
    if "kernel" in kind().get_params():
        given = {"kernel": ["auto", "gaussian:1.5", "gaussian:1" if how == "learn_one" else "median"][place % 3], "seed": place}
    model = kind(**given)
    if not classes:
        model.set_params(intervals=0.8)
    begin(model, how, rows, targets[:60])
    model.save(tmp_path / "model.mercer")
    for again in (mercer.load(tmp_path / "model.mercer"), kind.load(tmp_path / "model.mercer")):
        params_kept(model, again)
        assert again.feature_names == model.feature_names and again.rows_learnt == 60
        assert hasattr(again, "feature_names_in_") == hasattr(model, "feature_names_in_")
        assert getattr(again, "n_features_in_", None) == getattr(model, "n_features_in_", None)
        # Columns are found by their names, in whatever order.
        for asked in (query, query[ORDER]):
            made = model.predict(query)
            assert typed(again.predict(asked)) == typed(made)
            assert typed(again.predict_many(asked)) == typed(model.predict_many(query))
        for row in query[ORDER][:5].to_dict("records"):
            assert typed([again.predict_one(row)]) == typed([model.predict_one(row)])
        if classes:
            assert typed(again.classes_) == typed(model.classes_) and again.classes_.dtype == model.classes_.dtype
            right = [np.mean([a == b for a, b in zip(one.predict(asked), targets[60:])]) for one, asked in ((again, query[ORDER]), (model, query))]
            assert right[0] == right[1]
        else:
            assert (again.predict_interval(query[ORDER]) == model.predict_interval(query)).all()
            assert again.coverage_ == model.coverage_
        params_kept(clone(model), clone(again))
        # It learns on as the model would, and begins anew as the model would.
        more = [begin(one, "partial_fit", query[ORDER] if one is again else query, targets[60:]) for one in (mercer.from_bytes(model.to_bytes()), again)]
        assert typed(more[0].predict(X)) == typed(more[1].predict(X))
        more = [begin(one, "learn_one", query[ORDER], targets[60:]) for one in more]
        assert typed(more[0].predict(X)) == typed(more[1].predict(X))
        fitted = [begin(one, "fit", X, targets) for one in (clone(model), again)]
        assert typed(fitted[0].predict(X)) == typed(fitted[1].predict(X))
        assert fitted[0].settings == fitted[1].settings


@pytest.mark.parametrize("how", ["learn_one", "learn_many"])
def test_a_reordered_frame_is_found_by_name_after_load(how):
    """Read by position it has an R² below 0."""
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(400, 3)), columns=NAMES)
    y = X["size"] - 3 * X["rooms"]
    model = mercer.Krls(kernel="gaussian:3")
    begin(model, how, X, y.tolist())
    assert mercer.from_bytes(model.to_bytes()).score(X[ORDER], y) == model.score(X, y) > 0.99


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_keep_their_types_in_files(labels):
    rows = [{"a": t % 7 / 7, "b": t % 5 / 5} for t in range(120)]
    model, table = mercer.KrlsClassifier(), mercer.Pipeline(mercer.KrlsClassifier())
    for row in rows:
        for one in (model, table):
            one.learn_one(row, labels[row["a"] > 0.5])
    for one in (model, table):
        again = mercer.from_bytes(one.to_bytes())
        made = [again.predict_one(row) for row in rows]
        assert typed(made) == typed([one.predict_one(row) for row in rows])
        assert np.mean([guess == labels[row["a"] > 0.5] for guess, row in zip(made, rows, strict=True)]) > 0.9
        # What was a class is no third one.
        again.learn_one(rows[0], labels[0])
        assert typed(again.predict_proba_one(rows[0])) == typed(one.predict_proba_one(rows[0]))


def test_labels_of_numpy_are_those_of_python():
    X = np.random.default_rng(0).normal(size=(80, 2))
    for dtype in ("int8", "uint16", "int64", "float32", "bool", "U3"):
        labels = (X[:, 0] > 0).astype(int).astype(dtype)
        model = mercer.KrlsClassifier().fit(X, labels)
        again = mercer.from_bytes(model.to_bytes())
        assert again.classes_.dtype == model.classes_.dtype == labels.dtype
        assert again.predict(X).dtype == labels.dtype and again.score(X, labels) == model.score(X, labels) > 0.9
        again.partial_fit(X, labels)


def test_missing_labels_are_refused():
    nan = float("nan")
    for missing in (None, nan, np.float64("nan"), pd.NA, pd.NaT):
        for model in (mercer.KrlsClassifier(), mercer.Pipeline(mercer.KrlsClassifier())):
            with pytest.raises(ValueError, match="is no class"):
                model.learn_one({"a": 1.0}, missing)
            assert model.rows_learnt == 0
            model.learn_one({"a": 1.0}, "x")
            with pytest.raises(ValueError, match="is no class"):
                model.learn_one({"a": 1.0}, missing)
            assert model.rows_learnt == 1 and model.classes_.tolist() == ["x"]
    with pytest.raises(ValueError):
        mercer.KrlsClassifier().fit(np.zeros((3, 1)), [0.0, nan, 1.0])
    with pytest.raises(ValueError):
        mercer.KrlsClassifier().learn_many(pd.DataFrame({"a": [0.0, 1.0]}), pd.Series(["x", None]))


def test_labels_that_no_file_tells_apart():
    for labels in ((1, "1"), (True, "true"), ("0.5", 0.5)):
        model = mercer.KrlsClassifier()
        model.learn_one({"a": 0.0}, labels[0])
        with pytest.raises(mercer.DataError, match="is not of the type of the class"):
            model.learn_one({"a": 1.0}, labels[1])


#: Pipelines whose parts all differ from the defaults.
def pipelines():
    return [
        mercer.Pipeline(),
        mercer.Pipeline(mercer.Krls(lambda_=0.2, intervals=0.8, local_intervals=True, seed=3), scale="robust", kinds={"floor": "category"}),
        mercer.Pipeline(mercer.Fogd(features=50, kernel="gaussian:2", intervals=0.7), scale="range"),
        mercer.Pipeline(mercer.Auto(budget=5000)),
        mercer.Pipeline(mercer.Experts(members=[mercer.Krls(lambda_=0.5), mercer.NonsAld()])),
        mercer.Pipeline(mercer.KrlsClassifier(calibrated=True, lambda_=0.02)),
        mercer.Pipeline(mercer.Perceptron(kernel="gaussian:2"), scale="none"),
    ]


def flats(count):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({
        "city": rng.choice(["Ulm", "Bonn", "Kiel"], count), "size": rng.uniform(40, 120, count), "floor": rng.integers(0, 5, count),
    })  # fmt: skip
    return frame, (frame["size"] + 30 * (frame["city"] == "Ulm") + frame["floor"]).to_numpy()


@pytest.mark.parametrize("model", pipelines(), ids=repr)
@pytest.mark.parametrize("how", ["fit", "learn_one"])
def test_pipelines_keep_what_they_are_made_of(model, how):
    frame, y = flats(400)
    classes = isinstance(model.learner, mercer.KrlsClassifier | mercer.Perceptron)
    targets = (y > 90).astype(int).tolist() if classes else y.tolist()
    model = clone(model)
    begin(model, how, frame[:300], targets[:300])
    again = mercer.from_bytes(model.to_bytes())
    params_kept(model, again)
    turned = frame[["floor", "size", "city"]]
    assert typed(again.predict(turned)) == typed(model.predict(frame))
    if not classes and model.learner is not None and model.learner.intervals:
        assert (again.predict_interval(turned) == model.predict_interval(frame)).all() and again.coverage_ == model.coverage_
    if classes:
        assert (again.decision_function(turned) == model.decision_function(frame)).all()
        assert hasattr(again, "predict_proba") == hasattr(model, "predict_proba")
    row = turned.to_dict("records")[0]
    assert typed([again.predict_one(row)]) == typed([model.predict_one(row)])
    params_kept(clone(model), clone(again))
    fitted = [one.fit(frame, np.array(targets)) for one in (clone(model), again)]
    assert typed(fitted[0].predict(frame)) == typed(fitted[1].predict(frame))


SERIES = np.column_stack([np.sin(0.3 * np.arange(150)), np.cos(0.3 * np.arange(150))])
FORECASTERS = {
    "Opf": {"gamma": 0.9, "beta": 2.0, "t_init": 40, "intervals": 0.8, "lambda_": 0.3},
    "Discounted": {"alpha": 0.7, "t_init": 30, "intervals": 0.9},
    "Slip": {"rank": 5, "horizon": 200, "lambda_": 0.1},
    "SlipWindow": {"rank": 4, "t_init": 30},
    "Season": {"season": [21], "horizons": 5, "light": True},
    "Spectral": {"rank": 6, "horizon": 300, "intervals": 0.6},
    "Experts": {"t_init": 30, "intervals": 0.9},
    "Kalman": {"A": [[0.7]], "C": [[1.0]], "Q": [[1.0]], "R": [[1e-3]]},
}


@pytest.mark.parametrize("name", [name for name in forecasting.__all__ if name not in ("Forecaster", "Totals")])
def test_forecasters_keep_their_kind_and_settings(name):
    kind = getattr(forecasting, name)
    series = SERIES[:, :1] if name == "Kalman" else SERIES
    model = kind(**FORECASTERS[name]).fit(series[:100])
    for again in (mercer.from_bytes(model.to_bytes()), kind.from_bytes(model.to_bytes())):
        params_kept(model, again)
        assert (again.predict(3) == model.predict(3)).all()
        params_kept(clone(model), clone(again))
        if "intervals" in FORECASTERS[name]:
            assert (again.predict_interval() == model.predict_interval()).all() and again.coverage_ == model.coverage_
        assert (again.fit(series).predict(3) == clone(model).fit(series).predict(3)).all()
    others = [one for one in forecasting.__all__ if one not in (name, "Forecaster", "Totals")]
    for other in others:
        with pytest.raises(mercer.ModelFileError, match="use mercer.load"):
            getattr(forecasting, other).from_bytes(model.to_bytes())


def test_operators_and_moments_keep_their_settings():
    model = mercer.KoopmanOperator(kernel="gaussian:1", eta=0.4, max_dictionary=50).fit(SERIES)
    again = mercer.from_bytes(model.to_bytes())
    params_kept(model, again)
    assert (again.fit(SERIES[:80]).eigenvalues_ == clone(model).fit(SERIES[:80]).eigenvalues_).all()
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 2)), columns=["a", "b"])
    model = mercer.RidgeMoments().fit(X, X["a"])
    again = mercer.from_bytes(model.to_bytes())
    params_kept(model, again)
    assert (again.predict(X) == model.predict(X)).all()


def test_files_of_the_command_keep_what_stands_for_no_value(command, tmp_path):
    """`--gap` is kept by the command, read here, and there when the command reads the file again."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.integers(40, 120, 300), "city": rng.choice(["Ulm", "Bonn"], 300)})
    frame["price"] = frame["size"] + 50 * (frame["city"] == "Ulm")
    # Written as -999.0, which is the same number.
    frame["size"] = frame["size"].astype(float)
    frame.loc[frame.index % 9 == 4, "size"] = -999
    frame.loc[frame.index % 11 == 5, "city"] = "unknown"
    path, saved, again = tmp_path / "flats.csv", tmp_path / "model.mercer", tmp_path / "again.mercer"
    frame.to_csv(path, index=False)
    options = ["--learner", "krls", "--kernel", "gaussian:2", "--scale", "standard", "--gap", "-999", "--gap", "unknown"]
    subprocess.run([command, "train", path, *options, "--model", saved], check=True, capture_output=True)

    def told(place):
        run = subprocess.run([command, "predict", "--model", place, path], check=True, capture_output=True, text=True)
        return [float(line.split(",")[0]) for line in run.stdout.splitlines() if line and not line[0].isalpha()]

    model = mercer.load(saved)
    assert model.gaps == ["-999", "unknown"]
    assert model.learner.kernel == "gaussian:2" and model.scale == "standard"
    whole = told(saved)
    rows = frame[["city", "size"]]
    np.testing.assert_allclose(model.predict(rows), whole, rtol=1e-12)
    ours = mercer.Pipeline(mercer.Krls(kernel="gaussian:2"), gaps=["-999", "unknown"]).fit(frame[["size", "city"]], frame["price"])
    np.testing.assert_allclose([ours.predict_one(row) for row in rows.to_dict("records")], whole, rtol=1e-12)
    texts = rows.astype({"size": str}).to_dict("records")
    assert [ours.predict_one(row) for row in texts if row["size"] == "-999.0"] == [
        ours.predict_one({"city": row["city"]}) for row in texts if row["size"] == "-999.0"
    ]
    for one in (model, ours, pickle.loads(pickle.dumps(ours))):
        one.save(again)
        assert told(again) == whole and mercer.load(again).gaps == list(one.gaps)
    # A model of numbers only hands it on.
    numbers, plain = tmp_path / "numbers.csv", tmp_path / "plain.mercer"
    pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]}).to_csv(numbers, index=False)
    subprocess.run([command, "train", numbers, "--learner", "krls", "--kernel", "gaussian:2", "--gap", "-999", "--model", plain], check=True, capture_output=True)
    model = mercer.load(plain)
    assert model.kernel == "gaussian:2"
    kept = dict(mercer.from_bytes(model.to_bytes())._kept())
    assert kept["gaps"] == '["-999"]'


def test_what_a_file_cannot_hold_is_refused():
    model = mercer.KrlsClassifier()
    model.learn_one({"a": 1.0}, (1, "x"))
    assert mercer.from_bytes(model.to_bytes()).predict_one({"a": 1.0}) == (1, "x")
    for label in (b"x", frozenset({3})):
        model = mercer.KrlsClassifier()
        model.learn_one({"a": 1.0}, label)
        with pytest.raises(mercer.ModelFileError, match="pickle the model"):
            model.to_bytes()
    for regressor in (mercer.Krls().fit([[0.0], [1.0]], [0.0, 1.0]), mercer.Pipeline(mercer.Krls()).fit([[0.0], [1.0]], [0.0, 1.0])):
        for kind in (mercer.Fogd, mercer.KrlsClassifier, forecasting.Opf, mercer.KoopmanOperator, mercer.RidgeMoments):
            with pytest.raises(mercer.ModelFileError):
                kind.from_bytes(regressor.to_bytes())
