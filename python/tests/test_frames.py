"""Frames and arrays of every kind."""

from __future__ import annotations

import numpy as np
import pytest

import mercer


def test_layouts_and_types_give_the_same_numbers(data):
    X, y, _ = data
    X, y = X.astype(np.float32).astype(float), y.astype(np.float32).astype(float)
    expected = mercer.Krls().fit(X, y).predict(X)
    wide = np.zeros((600, 6))
    wide[:, ::2] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    for other in (np.asfortranarray(X), wide[:, ::2], X.astype(np.float32), X.astype(object), X.tolist(), read_only, X[::-1][::-1]):
        assert (mercer.Krls().fit(other, y).predict(other) == expected).all()
    assert (mercer.Krls().fit(X, y[:, None].ravel()).predict(X) == expected).all()


def test_pandas(data):
    pd = pytest.importorskip("pandas")
    X, y, _ = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = mercer.Krls().fit(frame, pd.Series(y))
    assert model.feature_names == ["a", "b", "c"] and list(model.feature_names_in_) == ["a", "b", "c"]
    assert (model.predict(frame) == mercer.Krls().fit(X, y).predict(X)).all()
    assert model.predict_one({"c": X[3, 2], "a": X[3, 0], "b": X[3, 1]}) == model.predict(frame)[3]
    many = model.predict_many(frame[["c", "b", "a"]].iloc[5:9])
    assert list(many.index) == [5, 6, 7, 8] and (many == model.predict(frame)[5:9]).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_polars_and_arrow(data):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X, y, c = data
    expected = mercer.Krls().fit(X, y).predict(X)
    frame = pl.DataFrame({name: X[:, place] for place, name in enumerate("abc")})
    table = pa.table({name: X[:, place] for place, name in enumerate("abc")})
    for one in (frame, table):
        model = mercer.Krls().fit(one, y)
        assert model.feature_names == ["a", "b", "c"]
        assert (model.predict(one) == expected).all() and (model.predict_many(one) == expected).all()
    classes = mercer.KrlsClassifier()
    classes.learn_many(frame, c)
    assert classes.predict_many(frame).shape == (600,)


def test_pipeline_of_mixed_columns():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    n = 800
    frame = pd.DataFrame(
        {
            "day": pd.date_range("2024-01-01", periods=n, freq="h"),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "size": np.where(rng.uniform(size=n) < 0.1, np.nan, rng.uniform(40, 120, n)),
            "new": rng.uniform(size=n) < 0.5,
        }
    )
    price = 1e5 * (frame["city"] == "Ulm") + 2e3 * frame["size"].fillna(80) + 2e4 * frame["new"]
    model = mercer.Pipeline(mercer.Krls())
    made = mercer.evaluate(model, frame, price, skip=200)
    assert made.r2 > 0.8
    kinds = {column["name"]: column["kind"] for column in model.columns_}
    assert kinds["city"] == "category" and kinds["size"] == "number" and kinds["day"] == "time"
    other = mercer.Pipeline.from_bytes(model.to_bytes())
    assert (other.predict(frame) == model.predict(frame)).all()
    assert (model.predict(frame[["new", "size", "city", "day"]]) == model.predict(frame)).all()
    classes = mercer.Pipeline(mercer.KrlsClassifier()).fit(frame.drop(columns="new"), frame["city"])
    assert classes.score(frame, frame["city"]) > 0.95
    probabilities = classes.predict_proba(frame)
    assert probabilities.shape == (n, 3) and np.allclose(probabilities.sum(axis=1), 1)
    pl = pytest.importorskip("polars")
    same = mercer.Pipeline(mercer.Krls())
    same.partial_fit(pl.from_pandas(frame.drop(columns="day")), price)
    assert same.rows_learnt == n


def test_pipelines_of_rows_with_texts():
    rows = [["Ulm" if t % 3 else "Bonn", 40.0 + t % 7, None if t % 9 == 4 else t, "a"] for t in range(300)]
    price = [1e3 * (row[0] == "Ulm") + row[1] for row in rows]
    table = [dict(zip(["x0", "x1", "x2", "x3"], row)) for row in rows]
    wanted = mercer.Pipeline(mercer.Krls()).fit(table, price).predict(table)
    for X in (rows, tuple(map(tuple, rows)), np.array(rows, dtype=object)):
        model = mercer.Pipeline(mercer.Krls()).fit(X, price)
        assert [column["kind"] for column in model.columns_] == ["category", "number", "number", "constant"] and model.n_features_in_ == 4
        assert (model.predict(X) == wanted).all() and (model.predict(X[:1]) == wanted[:1]).all()
    with pytest.raises(ValueError, match="features"):
        model.predict(np.array(rows, dtype=object)[:, :3])
    with pytest.raises(mercer.DataError, match="complex"):
        mercer.Pipeline(mercer.Krls()).fit([{"a": 1 + 2j, "b": t} for t in range(30)], price[:30])
