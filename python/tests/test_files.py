"""The same numbers from Python, the command and Rust; and each reads what another has saved."""

from __future__ import annotations

import copy
import csv
import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import CLASSES, CLASSIFIERS, REGRESSORS, ROOT

import mercer

GOLDEN = ROOT / "crates" / "mercer" / "tests" / "golden"


def rows(count, d=2):
    return np.random.default_rng(3).normal(size=(count, d)).round(6)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of numbers in a file, and its rows."""
    path = tmp_path_factory.mktemp("data") / "table.csv"
    X = rows(300)
    y = (np.sin(2 * X[:, 0]) + X[:, 1]).round(6)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "y"])
        writer.writerows([*map(float, x), float(t)] for x, t in zip(X, y))
    return path, X, y


def run(command, *arguments):
    return subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", ["krls", "nons-ald", "fogd", "kogd", "pros-n-kons", "qklms", "pkrr-taylor", "klms"])
def test_training_is_that_of_the_command_to_the_bit(command, table, tmp_path, name):
    path, X, y = table
    saved = tmp_path / "model.mercer"
    options = ["--set", "epsilon=0.1"] if name == "qklms" else ["--set", "centre=0"] if name == "pkrr-taylor" else []
    run(command, "train", path, "--learner", name, "--kernel", "gaussian:0.7", "--scale", "none", "--model", saved, *options)
    theirs = mercer.load(saved)
    keys = {"epsilon": 0.1} if name == "qklms" else {"centre": 0.0} if name == "pkrr-taylor" else {}
    ours = type(theirs)(kernel="gaussian:0.7", **keys)
    for x, target in zip(X, y):
        ours.learn_one({"a": x[0], "b": x[1]}, target)
    assert theirs.feature_names == ours.feature_names == ["a", "b"]
    assert theirs.settings == ours.settings
    query = rows(50) + 0.1
    assert (theirs.predict(query) == ours.predict(query)).all()
    assert (ours.predict(query) == [ours.predict_one({"b": b, "a": a}) for a, b in query]).all()
    # The command predicts with what Python has saved.
    ours.save(tmp_path / "ours.mercer")
    out = run(command, "predict", "--model", tmp_path / "ours.mercer", path)
    made = [float(line.split(",")[-1]) for line in out.splitlines() if line and not line[0].isalpha()]
    assert len(made) == 300 and (np.array(made) == ours.predict(X)).all()


def test_every_golden_file_is_read():
    if not GOLDEN.exists():
        pytest.skip("the golden files are not there")
    read = 0
    for path in sorted(GOLDEN.glob("*.mercer")):
        try:
            model = mercer.load(path)
        except mercer.ModelFileError as error:
            assert "scaled columns" in str(error) or "has no class" in str(error), f"{path.name}: {error}"
            continue
        read += 1
        assert model.to_bytes()
        again = mercer.from_bytes(model.to_bytes())
        assert type(again) is type(model)
    assert read > 45


def golden_rows(count):
    """The rows of `crates/mercer/tests/model/subjects.rs`."""
    state, made = 7, []

    def uniform():
        nonlocal state
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (state >> 40) / 2**23 - 1.0

    for _ in range(count):
        x, e = [uniform(), uniform()], uniform()
        made.append((x, x[0] * x[1] / 2.0 + 0.1 * e))
    return made


def test_golden_predictions_are_those_of_rust():
    path = GOLDEN / "predictions.json"
    if not path.exists():
        pytest.skip("the golden files are not there")
    compared = 0
    for name, expected in json.loads(path.read_text()).items():
        try:
            model = mercer.load(GOLDEN / f"{name}.mercer")
        except mercer.ModelFileError as error:
            # Learners of signs have no class for numbers.
            assert "has no class" in str(error) or "scaled columns" in str(error)
            continue
        if type(model) not in REGRESSORS or model._sizes[1] != 1:
            continue
        made = []
        for x, y in golden_rows(30)[24:]:
            made.append(model.predict_one(x))
            model.learn_one(x, y)
        np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-12, err_msg=name)
        compared += 1
    assert compared > 35


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_copies_go_on_as_the_model_would(kind, data):
    X, y, c = data
    target = c if kind in CLASSIFIERS else y
    model = kind().fit(X[:80], target[:80])
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), mercer.from_bytes(model.to_bytes())]
    model.partial_fit(X[80:100], target[80:100])
    for one in copies:
        assert type(one) is kind and one.rows_learnt == 80
        if one is copies[2] and kind in CLASSIFIERS:
            # Labels become texts in a file.
            one.partial_fit(X[80:100], [str(label) for label in target[80:100]])
            assert one.predict(X).tolist() == [str(label) for label in model.predict(X)]
            continue
        one.partial_fit(X[80:100], target[80:100])
        assert (one.predict(X) == model.predict(X)).all()


def test_joblib(tmp_path, data):
    joblib = pytest.importorskip("joblib")
    X, y, _ = data
    model = mercer.Krls().fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    assert (joblib.load(tmp_path / "model.joblib").predict(X) == model.predict(X)).all()
    made = joblib.Parallel(n_jobs=2)(joblib.delayed(model.predict)(X) for _ in range(3))
    assert all((one == made[0]).all() for one in made)


def test_bytes_that_are_no_model():
    for data in (b"", b"junk", b"\x89MERCER\n", mercer.Krls().fit(rows(5), rows(5)[:, 0]).to_bytes()[:-3]):
        with pytest.raises(mercer.ModelFileError):
            mercer.from_bytes(data)
    with pytest.raises(mercer.ModelFileError, match="regression"):
        mercer.KrlsClassifier.from_bytes(mercer.Krls().fit(rows(5), rows(5)[:, 0]).to_bytes())
    with pytest.raises(mercer.ModelFileError, match="'krls'"):
        mercer.Fogd.from_bytes(mercer.Krls().fit(rows(5), rows(5)[:, 0]).to_bytes())
    with pytest.raises(mercer.NotLearntError):
        mercer.Krls().to_bytes()


def test_forecaster_goes_on_in_the_command(command, tmp_path):
    from mercer import forecasting

    series = np.sin(0.3 * np.arange(300)).round(6)
    model = forecasting.Experts().fit(series[:200])
    model.save(tmp_path / "series.mercer")
    path = tmp_path / "rest.csv"
    path.write_text("\n".join(map(repr, series[200:].tolist())) + "\n")
    out = json.loads(run(command, "forecast", path, "--model", tmp_path / "series.mercer", "--steps", 3, "--json"))
    assert np.ravel(out["forecast"]).tolist() == model.partial_fit(series[200:]).forecast(3)


def test_operator_is_that_of_the_command(command, tmp_path):
    states = np.column_stack([np.cos(0.3 * np.arange(200)), np.sin(0.3 * np.arange(200))]).round(6)
    path = tmp_path / "states.csv"
    path.write_text("\n".join(",".join(map(repr, row)) for row in states.tolist()) + "\n")
    saved = tmp_path / "operator.mercer"
    run(command, "koopman", path, "--trajectory", "--kernel", "gaussian:1", "--save", saved)
    theirs, ours = mercer.load(saved), mercer.KoopmanOperator(kernel="gaussian:1").fit(states)
    assert (theirs.eigenvalues_ == ours.eigenvalues_).all() and (theirs.weights_ == ours.weights_).all()


def test_pipelines_go_both_ways(command, tmp_path):
    rng = np.random.default_rng(5)
    names = ["city", "size", "y"]
    city = rng.choice(["Ulm", "Bonn", "Kiel"], size=300)
    size = rng.uniform(40, 120, size=300).round(3)
    y = (size * 2000 + (city == "Ulm") * 5e4).round(2)
    path = tmp_path / "flats.csv"
    path.write_text(",".join(names) + "\n" + "\n".join(f"{a},{b!r},{t!r}" for a, b, t in zip(city.tolist(), size.tolist(), y.tolist())) + "\n")
    saved = tmp_path / "flats.mercer"
    run(command, "train", path, "--learner", "krls", "--kernel", "gaussian:1", "--scale", "standard", "--model", saved)
    theirs = mercer.load(saved)
    records = [{"city": a, "size": b} for a, b in zip(city.tolist(), size.tolist())]
    ours = mercer.Pipeline(mercer.Krls(kernel="gaussian:1"))
    ours.partial_fit(records, y)
    assert ours.columns_ == [column for column in theirs.columns_ if column[0] != "y"]
    for model in (ours, theirs):
        model.save(tmp_path / "again.mercer")
        out = run(command, "predict", "--model", tmp_path / "again.mercer", path)
        made = [float(line.split(",")[-1]) for line in out.splitlines() if line and not line[0].isalpha()]
        assert (np.array(made) == model.predict(records)).all()
