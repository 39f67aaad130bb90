"""What is no row, no table, no target or no setting is refused in words that tell what to give; what was learnt stays."""

from __future__ import annotations

import datetime
import threading
import time
import warnings

import numpy as np
import pytest

import mercer

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")


@pytest.fixture(scope="module")
def frame():
    X = np.random.default_rng(0).normal(size=(300, 3))
    return pd.DataFrame(X, columns=["a", "b", "c"]), np.sin(2 * X[:, 0]) + X[:, 1] ** 2


def pipeline(**options):
    return mercer.Pipeline(mercer.Krls(kernel="gaussian:2"), **options)


def test_a_row_is_told_and_counted_as_a_batch_is(frame):
    X, y = frame
    model, other = pipeline().fit(X, y), pipeline().fit(X, y)
    odd = [{"a": "high", "b": 1.0, "c": 1.0}, {"a": None, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 1.0}]
    with warnings.catch_warnings(record=True) as by_row:
        warnings.simplefilter("always")
        made = [model.predict_one(row) for row in odd for _ in range(2)]
    with warnings.catch_warnings(record=True) as by_batch:
        warnings.simplefilter("always")
        assert [other.predict([row])[0] for row in odd for _ in range(2)] == made
    assert model.counts_ == other.counts_ == {"gaps": 4, "misfits": 2, "hashed": 0, "otherwise": 0}
    said = [[str(one.message).removeprefix("row 0, ") for one in told] for told in (by_row, by_batch)]
    assert said[0] == said[1] and len(said[0]) == 2
    assert "does not fit" in said[0][0] and "no column 'c'" in said[0][1].replace('"', "'")
    for row, words in (({"A": 1.0}, "none of"), ({}, "no column"), ({"a": [0.5], "b": 1.0}, "list of numbers"), ({"a": np.inf}, "infinite"), ({"a": 1j}, "complex")):
        with pytest.raises(mercer.DataError, match=words):
            model.predict_one(row)
    plain = mercer.Krls().fit(X, y)
    for ask in (lambda: plain.predict_one({"A": 1.0}), lambda: plain.learn_one({"A": 1.0}, 1.0)):
        with pytest.raises(mercer.DataError, match="none of"):
            ask()
    # Explanations ask for rows that nobody has given.
    counts = model.counts_
    assert set(model.explain_one({"a": 1.0, "b": 1.0, "c": 1.0})) == {"a", "b", "c"} and model.counts_ == counts


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X: X.set_axis(["a", "a", "c"], axis=1), "both|two"),
        (lambda X: pl.from_pandas(X).lazy(), "collect"),
        (lambda X: (row for row in X.to_dict("records")), "list"),
        (lambda X: pd.Series(X.to_dict("records")), "tolist"),
        (lambda X: np.zeros(300, dtype=[("a", float), ("b", "U3")]), "DataFrame"),
        (lambda X: X[[]], "0 feature"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: "rows.csv", "mercer.read"),
        (lambda X: pd.DataFrame({"a": [None] * 300}), "no column is left|NaN"),
        (lambda X: [*X.to_dict("records")[:299], [1.0, 2.0, 3.0]], "names"),
    ],
    ids=["a name twice", "lazy", "generator", "series", "structured", "no column", "no row", "text", "gaps alone", "a list among dictionaries"],
)
def test_what_is_no_table_is_refused_in_words(frame, make, words):
    X, y = frame
    for model in (pipeline(), mercer.Krls()):
        with pytest.raises((TypeError, ValueError), match=words):
            model.fit(make(X), y[: len(X[:0])] if "sample" in words else y)
        assert model.rows_learnt == 0


def test_sparse_and_masked(frame):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = frame
    for model in (pipeline(), mercer.Krls()):
        with pytest.raises(TypeError, match="toarray"):
            model.fit(sparse.csr_matrix(X), y)
    values = X.to_numpy().copy()
    masked = np.ma.array(values, mask=False)
    masked[::3, 0] = np.ma.masked
    values[::3, 0] = np.nan
    ours, theirs = pipeline().fit(masked, y), pipeline().fit(values, y)
    assert ours.counts_ == theirs.counts_ and ours.counts_["gaps"] == 100
    assert (ours.predict(masked) == theirs.predict(values)).all()
    with pytest.raises(ValueError, match="NaN: row 0, feature 'x0'"):
        mercer.Krls().fit(masked, y)


ODD = {
    "text": "ab", "bytes": b"ab", "frame": pd.DataFrame({"a": [1.0]}), "None": None, "number": 7, "array of none": np.array(1.0), "set": {1.0, 2.0, 3.0},
    "generator": iter([1.0, 2.0, 3.0]), "list of none": [], "structure": np.zeros(1, dtype=[("a", float)])[0],
}  # fmt: skip


@pytest.mark.parametrize("row", ODD.values(), ids=ODD)
def test_what_is_no_row_is_refused(row, frame):
    for model in (pipeline().fit(*frame), mercer.Krls().fit(*frame)):
        for ask in (lambda: model.learn_one(row, 1.0), lambda: model.predict_one(row)):
            with pytest.raises(mercer.DataError, match="no row|no input|rows of 0 values"):
                ask()
        assert model.rows_learnt == 300


def test_labels(frame):
    X, _ = frame
    labels = ["a", "b"] * 150
    for make in (mercer.KrlsClassifier, lambda: mercer.Pipeline(mercer.KrlsClassifier())):
        for missing in (float("nan"), None, pd.NA):
            for given in ([*labels[:3], missing, *labels[4:]], pd.Series([*labels[:3], missing, *labels[4:]], dtype=object)):
                with pytest.raises(mercer.DataError, match="row 3: .* is no class"):
                    make().fit(X, given)
        model = make().fit(X, labels)
        with pytest.raises(mercer.DataError, match="partial_fit"):
            model.learn_one({"a": 1.0, "b": 1.0, "c": 1.0}, "new")
        joined = make().partial_fit(X, labels)
        joined.learn_one({"a": 9.0, "b": 9.0, "c": 9.0}, "new")
        assert joined.classes_.tolist() == ["a", "b", "new"]
        three = make().fit(X, ["a", "b", "c"] * 100)
        three.learn_one({"a": 9.0, "b": 9.0, "c": 9.0}, "new")
        assert three.classes_.tolist() == ["a", "b", "c", "new"]
        days = [datetime.date(2024, 1, 1 + t % 2) for t in range(300)]
        dated = make().fit(X, days)
        assert mercer.from_bytes(dated.to_bytes()).classes_.tolist() == dated.classes_.tolist() == sorted(set(days))


def test_settings(frame):
    X, y = frame
    kinds = {"learner": "krls", "kinds": ["a"], "scale": "minmax", "outliers": None}
    for name, value in kinds.items():
        model = mercer.Pipeline(mercer.Krls())
        with pytest.raises((mercer.SettingsError, AttributeError), match=name):
            model.set_params(**{name: value}).fit(X, y)
    for make in (lambda: mercer.Krls(intervals="0.9"), lambda: mercer.Pipeline(mercer.Krls(intervals="0.9"))):
        with pytest.raises(mercer.SettingsError, match="intervals"):
            make().fit(X, y)
    for options in ({"threads": -1}, {"trials": 0}, {"time_limit": -1}, {"seed": "x"}):
        with pytest.raises(mercer.SettingsError):
            mercer.tune(mercer.Krls(), X, y, **options)
    with pytest.raises(mercer.SettingsError, match="nothing here to tune"):
        mercer.tune(mercer.forecasting.Season(), X, y)
    one = pipeline(gaps="NA").fit([{"s": "NAB"[t % 3], "v": t} for t in range(300)], [float(t % 3 == 1) for t in range(300)])
    assert one.counts_["gaps"] == 0


def test_a_pipeline_is_tuned(frame):
    X, y = frame
    table = X.assign(shop=["Ulm", "Bonn", "Kiel"] * 100)
    found = mercer.tune(pipeline(), table, y + (table.shop == "Ulm"), trials=8, threads=1)
    assert isinstance(found.best, mercer.Pipeline) and found.best.learner.lambda_ != 0.1
    assert found.best.fit(table, y).rows_learnt == 300 and found.score < np.var(y)
    made, deviation = pipeline().fit(X, y).predict(X, return_std=True)
    assert made.shape == deviation.shape == (300,) and (deviation > 0).all()


def test_series():
    day = pd.date_range("2023-01-01", periods=120)
    values = 10 + 3 * np.sin(np.arange(120) * np.pi / 6)
    season = mercer.forecasting.Season
    wrong = {
        "set_index": pl.DataFrame({"date": day.to_list(), "v": values}),
        "MultiIndex": pd.DataFrame({"v": values}, index=pd.MultiIndex.from_product([["a", "b"], day[:60]])),
        "row 7: .*NaT": pd.Series(values, index=[*day[:7], pd.NaT, *day[8:]]),
        "row 7: missing|row 7: .*NaT": pd.Series(values, index=[*(one.date() for one in day[:7]), None, *(one.date() for one in day[8:])]),
        "row 119: 'total' is no time": pd.Series(values, index=[*day[:-1].strftime("%Y-%m-%d"), "total"]),
        "two columns": pd.DataFrame(np.stack([values, values], 1), columns=["a", "a"]),
        "no value to begin": np.full(50, np.nan),
        "no value": np.zeros(0),
        "do not rise": pd.Series(values, index=day[::-1]),
    }
    for words, series in wrong.items():
        with pytest.raises(mercer.DataError, match=words):
            season().fit(series)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = season(intervals=0.9).fit(pd.Series(values, index=pd.DatetimeIndex(day.to_numpy())))
    with pytest.warns(mercer.MercerWarning, match="not taken for times"):
        season().fit(pd.Series(values, index=day.strftime("%d.%m.%Y")))
    with pytest.raises(mercer.SettingsError, match="steps"):
        model.predict(-1)
    rows = season()
    rows.learn_one(1.0, {"p": 1.0})
    for inputs in ({"p": 1.0, "q": 1.0}, {"q": 1.0}, {}, None):
        with pytest.raises(mercer.DataError, match="the input"):
            rows.learn_one(1.0, inputs)
    for shares in ([0.0], [1.0], [1.2], [-3.0], [float("nan")]):
        with pytest.raises(ValueError, match="above 0 and below 1"):
            model.predict_quantiles(shares, 2)
    assert model.predict_quantiles([], 2).shape == (2, 1, 0) and model.predict_quantiles([0.5], 2).shape == (2, 1, 1)
    weeks = pd.period_range("2023-01-01", periods=60, freq="W")
    told = mercer.Pipeline(mercer.Krls()).fit([{"t": one} for one in weeks], np.arange(60.0)).columns_
    assert told[0]["kind"] == "time"


def test_files_and_models_are_there_until_others_are(frame, tmp_path):
    X, y = frame
    for model in (mercer.Krls().fit(X, y), pipeline().fit(X, y)):
        path = tmp_path / "m.mercer"
        model.save(path)
        whole = path.read_bytes()
        with pytest.raises(Exception):
            type(model)().save(path)
        assert path.read_bytes() == whole and [one.name for one in tmp_path.iterdir()] == ["m.mercer"]
        row, failed, ends = X.iloc[0], [], threading.Event()

        def ask():
            while not ends.is_set():
                try:
                    model.predict(X[:2]), model.predict_one(row), mercer.load(path)
                except Exception as error:  # noqa: BLE001
                    failed.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        for _ in range(12):
            model.fit(X, y)
            model.save(path)
        ends.set()
        thread.join()
        assert not failed, failed[:3]
        # A fit that fails leaves what was learnt.
        before = model.predict(X)
        with pytest.raises(ValueError):
            model.fit(X, [*y[:-1], np.nan])
        assert (model.predict(X) == before).all()


def test_growth_is_linear_in_the_features():
    def seconds(keys):
        model, begun = pipeline(), time.process_time()
        for key in range(keys):
            model.learn_one({f"w{key}": 1.0}, 1.0)
        return time.process_time() - begun

    # Square growth would be 16 times as long.
    assert min(seconds(2000) for _ in range(2)) < 10 * max(seconds(500) for _ in range(2))
