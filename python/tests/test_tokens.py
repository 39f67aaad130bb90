"""Texts, lists and dictionaries in Python: the same cell has the same tokens as in files, at every face."""

from __future__ import annotations

import csv
import json
import subprocess

import numpy as np
import pytest

import mercer

WORDS = ["good", "bad", "slow", "Größe", "cheap", "naïve", "old", "日本"]
NAMES = ["review", "tags", "counts"]


def table(rows=300):
    draw = np.random.default_rng(5)
    worth = {word: float(np.sin(7 * place)) for place, word in enumerate(WORDS)}
    made, target = [], []
    for t in range(rows):
        words, tags = draw.choice(WORDS, 5).tolist(), draw.choice(WORDS, t % 3, replace=False).tolist()
        counts = {f"k{draw.integers(20)}": 1.0 + t % 4, "k99": 0.5}
        made.append({"review": " ".join(words) + f", no {t}!", "tags": tags, "counts": counts})
        target.append(sum(worth[word] for word in words + tags))
    return made, target


def faces(rows):
    """The rows as each library has them."""
    yield "dicts", rows
    yield "sets", [{**row, "tags": set(row["tags"])} for row in rows]
    yield "tuples", [{**row, "tags": tuple(row["tags"])} for row in rows]
    yield "arrays", [{**row, "tags": np.array(row["tags"], dtype=object)} for row in rows]
    yield "texts", [{**row, "tags": json.dumps(row["tags"]), "counts": json.dumps(row["counts"])} for row in rows]
    columns = {name: [row[name] for row in rows] for name in NAMES}
    yield "columns", columns
    pandas = pytest.importorskip("pandas")
    yield "pandas", pandas.DataFrame(columns)
    polars = pytest.importorskip("polars")
    # Its structs have the names of all rows.
    yield "polars", polars.DataFrame(rows, infer_schema_length=None)
    arrow = pytest.importorskip("pyarrow")
    maps = arrow.array([list(row["counts"].items()) for row in rows], type=arrow.map_(arrow.string(), arrow.float64()))
    yield "pyarrow", arrow.table({**columns, "counts": maps})


@pytest.mark.parametrize("learner", [mercer.Coin(), mercer.Auto(budget=20_000)])
def test_every_face_has_the_same_tokens(command, tmp_path, learner):
    rows, target = table()
    with open(tmp_path / "t.ndjson", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({**row, "y": y}) + "\n" for row, y in zip(rows, target, strict=True))
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([[*NAMES, "y"], *([*(str(row[name]) for name in NAMES), y] for row, y in zip(rows, target, strict=True))])
    expected = None
    for name, X in faces(rows):
        model = mercer.Pipeline(learner).fit(X, target)
        made = model.predict(X)
        expected = made if expected is None else expected
        np.testing.assert_array_equal(made, expected, err_msg=name)
        assert [column["kind"] for column in model.columns_] == ["text", "list", "list"], name
    np.testing.assert_array_equal([model.predict_one(row) for row in rows], expected)
    model.save(tmp_path / "m.mercer")
    for door in ("t.ndjson", "t.csv"):
        out = subprocess.run([command, "predict", tmp_path / door, "--model", tmp_path / "m.mercer"], check=True, capture_output=True, text=True).stdout
        told = [json.loads(line)["prediction"] if line.startswith("{") else float(line) for line in out.splitlines() if line != "prediction"]
        np.testing.assert_array_equal(told, expected, err_msg=door)
    # Other members would be found.
    turned = [{**row, "tags": [tag + "x" for tag in row["tags"]]} for row in rows]
    assert (model.predict(turned) != expected).any()


def test_words_are_learnt():
    rows, target = table(600)
    made = mercer.Pipeline(mercer.DiagonalKalman()).predict_then_fit(rows, target)
    later, truth = made[300:], np.array(target[300:])
    assert 1 - ((later - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum() > 0.8


def test_classes_and_rows_one_by_one():
    rows, target = table()
    model = mercer.Pipeline(mercer.CoinClassifier())
    right = 0
    for row, y in zip(rows, target, strict=True):
        right += model.predict_one(row) == ("good" if y > 0 else "poor")
        model.learn_one(row, "good" if y > 0 else "poor")
    assert right > 200


@pytest.mark.parametrize(
    ("cell", "why"),
    [([1, 2], "list of numbers"), ([["a"]], "lists in lists"), ({"a": {"b": 1}}, "lists in lists"), (np.array([0.5, 1.0]), "list of numbers")],
)
def test_what_is_no_list_of_names_is_refused(cell, why):
    rows, target = table(30)
    with pytest.raises(mercer.DataError, match=why):
        mercer.Pipeline(mercer.Coin()).fit([*rows, {**rows[0], "tags": cell}], [*target, 0.0])
    model = mercer.Pipeline(mercer.Coin()).fit(rows, target)
    with pytest.raises(mercer.DataError, match="column 'tags'|column \"tags\""):
        model.predict_one({**rows[0], "tags": cell})


def test_learners_without_tokens_say_that_lists_are_left_out():
    rows, target = table(60)
    with pytest.warns(mercer.MercerWarning, match="holds lists"):
        mercer.Pipeline(mercer.Krls()).fit([{**row, "x": float(t)} for t, row in enumerate(rows)], target)


def wide(rows=400, width=5000):
    """Sparse rows, of which few columns are not 0."""
    sparse = pytest.importorskip("scipy.sparse")
    draw = np.random.default_rng(3)
    X = sparse.random_array((rows, width), density=4 / width, format="csr", random_state=draw, data_sampler=lambda size: np.ones(size))
    X = sparse.hstack([X, sparse.csr_array(draw.integers(0, 2, (rows, 6)).astype(float))], format="csr")
    return X, np.asarray(X[:, -6:] @ np.array([1.0, -2.0, 0.5, 1.5, -1.0, 0.7])).ravel()


@pytest.mark.parametrize("learner", [mercer.Coin, mercer.DiagonalKalman, lambda: mercer.Auto(budget=20_000)])
def test_sparse_rows_are_those_of_libsvm(command, tmp_path, learner):
    X, y = wide()
    made = learner().predict_then_fit(X, y)
    with open(tmp_path / "t.svm", "w", encoding="utf-8") as file:
        for row in range(X.shape[0]):
            cells = sorted(zip(X[[row]].indices.tolist(), X[[row]].data.tolist(), strict=True))
            file.write(" ".join([repr(float(y[row])), *(f"{column + 1}:{value!r}" for column, value in cells)]) + "\n")
    model = learner().fit(X, y)
    settings = ["--learner", model._name, *(["--set", "budget=20000"] if model._name == "auto" else [])]
    subprocess.run([command, "train", tmp_path / "t.svm", *settings, "--out", tmp_path / "m.mercer", "--quiet"], check=True)
    loaded = mercer.load(tmp_path / "m.mercer")
    expected = model.predict(X)
    np.testing.assert_array_equal(loaded.predict(X), expected)
    # Whatever the format, and dense.
    for other in (X.tocsc(), X.tocoo(), X.toarray()):
        np.testing.assert_array_equal(model.predict(other), expected)
    later = slice(len(y) // 2, None)
    assert np.mean((made[later] - y[later]) ** 2) < 0.3 * np.var(y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :9])
    bad = X.copy()
    bad.data[0] = np.inf
    with pytest.raises(ValueError, match="inf"):
        learner().fit(bad, y)


def test_sparse_rows_of_classes_and_of_models_of_columns():
    X, y = wide()
    model = mercer.CoinClassifier().fit(X, y > 0)
    assert (model.predict(X) == (y > 0)).mean() > 0.9
    assert model.predict_proba(X).shape == (X.shape[0], 2)
    small = X[:, -6:]
    dense = mercer.Coin().fit(small.toarray(), y)
    np.testing.assert_array_equal(dense.predict(small), dense.predict(small.toarray()))
    sparse = mercer.Coin().fit(small, y)
    np.testing.assert_allclose(sparse.predict(small), dense.predict(small), rtol=0, atol=1e-9)
    with pytest.raises(TypeError, match="toarray"):
        mercer.Krls().fit(small, y)
