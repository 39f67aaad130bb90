"""Effects of columns on predictions: they add up, and are those of the command and of SHAP."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import mercer


def whole(told):
    return told.base + sum(told.values())


def test_effects_add_up_to_the_prediction(data):
    X, y, c = data
    row = X[3].tolist()
    for model, sampled in ((mercer.Krls(), False), (mercer.Fogd(), False), (mercer.Auto(), True)):
        model.fit(X, y)
        told = model.explain_one(row, permutations=40)
        assert list(told) == ["x0", "x1", "x2"] and (told.standard_errors is not None) == sampled
        assert whole(told) == pytest.approx(model.predict_one(row), abs=1e-9) and told.prediction == pytest.approx(whole(told))
        # The base is the mean prediction of rows that were met, and no value of a row that never was.
        assert sampled or abs(told.base - y.mean()) < 0.2
    # The target does not hang on the third column.
    assert max(abs(mercer.Krls().fit(X, y).explain_one(one.tolist())["x2"]) for one in X[:20]) < 0.2
    classes = mercer.KrlsClassifier().fit(X, c)
    told = classes.explain_one(row)
    assert told.label is True or told.label == np.True_
    assert whole(told) == pytest.approx(classes.decision_function(X[3:4])[0] / 2, abs=1e-9)
    many = mercer.KrlsClassifier().fit(X, np.digitize(y, [0.0, 0.8]))
    told = many.explain_one(row)
    assert told.label == many.predict_one(row)
    assert whole(told) == pytest.approx(many.decision_function(X[3:4])[0, int(told.label)], abs=1e-9)
    two = mercer.Krls().fit(X, np.stack([y, X[:, 0]], axis=1))
    for place, made in enumerate(two.predict(X[3:4])[0]):
        told = two.explain_one(row, output=place)
        assert whole(told) == pytest.approx(made, abs=1e-9) and told.prediction == pytest.approx(made, abs=1e-9)
        beside = two.explain(X[3:4])
        assert list(told.values()) == pytest.approx(beside.values[0, :, place].tolist(), abs=1e-12)
    for output, part in [(None, "say with output"), (2, "predicts no 2"), ("z", "no 'z'")]:
        with pytest.raises(mercer.DataError, match=part):
            two.explain_one(row, output=output)
    with pytest.raises(mercer.DataError, match="leave it out"):
        classes.explain_one(row, output=0)
    with pytest.raises(ValueError, match="not fitted"):
        mercer.Krls().explain_one(row)


def test_batches_tell_the_same_as_rows(data):
    X, y, _ = data
    model = mercer.Krls().fit(X, y)
    told = model.explain(X[:50])
    assert told.values.shape == (50, 3) and list(told.feature_names) == ["x0", "x1", "x2"]
    np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), model.predict(X[:50]), atol=1e-9)
    one = model.explain_one(X[7].tolist())
    np.testing.assert_allclose(told.values[7], list(one.values()), atol=1e-12)
    np.testing.assert_array_equal(told.data, X[:50])
    # Of several targets each has its effects.
    both = mercer.Krls().fit(X, np.c_[y, -y])
    told = both.explain(X[:5])
    assert told.values.shape == (5, 3, 2)
    np.testing.assert_allclose(told.values[..., 0], -told.values[..., 1], atol=1e-9)


def test_a_background_is_that_of_shap(data):
    shap = pytest.importorskip("shap")
    X, y, _ = data
    model = mercer.Krls().fit(X, y)
    told = model.explain(X[:4], background=X[100:130])
    assert isinstance(told, shap.Explanation)
    exact = shap.explainers.Exact(model.predict, shap.maskers.Independent(X[100:130], max_samples=30))(X[:4])
    np.testing.assert_allclose(told.values, exact.values, atol=1e-8)
    np.testing.assert_allclose(told.base_values, exact.base_values, atol=1e-8)
    # Columns that are drawn independently are another definition.
    assert np.abs(model.explain(X[:4]).values - exact.values).max() > 1e-4


def test_a_table_is_explained_by_column(data, tmp_path):
    X, _, c = data
    table = [{"a": a, "city": "Ulm" if flag else "Bonn", "b": b} for a, b, flag in zip(X[:, 0].tolist(), X[:, 1].tolist(), c)]
    pipeline = mercer.Pipeline(mercer.Krls()).fit(table, 3.0 * c + X[:, 0])
    counts = pipeline.counts_
    told = pipeline.explain_one(table[0])
    assert set(told) == {"a", "b", "city"} and pipeline.counts_ == counts
    assert whole(told) == pytest.approx(pipeline.predict_one(table[0]), abs=1e-9)
    assert abs(told["b"]) < 0.3 < abs(told["city"])
    many = pipeline.explain(table[:6])
    assert many.values.shape == (6, 3) and many.data[0].tolist() == [table[0][name] for name in many.feature_names]
    np.testing.assert_allclose(many.base_values + many.values.sum(axis=1), pipeline.predict(table[:6]), atol=1e-9)


def test_the_command_tells_the_same(data, command, tmp_path):
    X, y, _ = data
    rows = "\n".join(",".join(map(repr, [*row, target])) for row, target in zip(X.tolist(), y.tolist()))
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + rows + "\n")
    frame = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    model = mercer.Krls().fit(frame, y)
    model.save(tmp_path / "m.mercer")
    said = subprocess.run([command, "explain", "t.csv", "--model", "m.mercer", "-n", "5", "--target", "y", "--json"], cwd=tmp_path, capture_output=True, check=True)
    told = json.loads(said.stdout)
    mine = model.explain(frame)
    for place, row in enumerate(told["rows"]):
        np.testing.assert_allclose(mine.values[place], [row["effects"][name] for name in mine.feature_names], atol=1e-12)
    assert told["base"] == pytest.approx(float(np.ravel(mine.base_values)[0]), abs=1e-12)


def comments(rows):
    words, places = ("lovely", "awful", "plain"), ("the shop", "a train, late", "we saw it", "today")
    table = [{"text": f"{places[t % 4]} was {words[t % 3]}", "tags": [("new", "old")[t % 2]], "price": float(t * 7 % 11)} for t in range(rows)]
    return table, np.array([(3.0, -3.0, 0.0)[t % 3] + t * 7 % 11 / 4 for t in range(rows)])


@pytest.mark.parametrize(("learner", "exact"), [("Coin", True), ("DiagonalKalman", True), ("Auto", False)])
def test_words_are_explained_as_by_the_command(command, tmp_path, learner, exact):
    table, y = comments(300)
    pipeline = mercer.Pipeline(getattr(mercer, learner)()).fit(table, y)
    told = pipeline.explain_one(table[7])
    assert set(told) == {"text", "tags", "price"} and (told.standard_errors is None) == exact
    assert whole(told) == pytest.approx(pipeline.predict_one(table[7]), abs=1e-9)
    many = pipeline.explain(table[5:9])
    np.testing.assert_allclose(many.base_values + many.values.sum(axis=1), pipeline.predict(table[5:9]), atol=1e-9)
    np.testing.assert_allclose(many.values[2], [told[name] for name in many.feature_names], atol=1e-12)
    # The command compares with the rows that the file of the model has.
    pipeline.save(tmp_path / "m.mercer")
    (tmp_path / "t.ndjson").write_text(json.dumps(table[7]) + "\n")
    said = subprocess.run([command, "explain", "t.ndjson", "--model", "m.mercer", "--json"], cwd=tmp_path, capture_output=True, check=True)
    report = json.loads(said.stdout)
    effects = report["rows"][0]["effects"]
    assert max(abs(told[name] - effects[name]) for name in effects) <= 1e-12 and report["base"] == pytest.approx(told.base, abs=1e-12)
    # A background of two rows is another.
    beside = pipeline.explain(table[7:8], background=table[:2])
    assert np.abs(beside.values - many.values[2:3]).max() > 1e-6


def test_without_shap_the_attributes_are_there(data):
    X, y, _ = data
    code = (
        "import sys, importlib.abc\n"
        "class No(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None): return None\n"
        "import importlib.util; importlib.util.find_spec = lambda name: None\n"
        "import numpy as np, mercer\n"
        "X = np.random.default_rng(0).normal(size=(50, 2)); told = mercer.Krls().fit(X, X[:, 0]).explain(X[:3])\n"
        "assert type(told) is mercer.Explanation and told.shape == (3, 2) and len(told) == 3, told\n"
        "assert 'shap' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
