"""The face of river."""

from __future__ import annotations

import collections
import datetime
import types
import warnings
from collections.abc import Mapping

import numpy as np
import pytest
from conftest import CLASSES

import mercer

river = pytest.importorskip("river")
from river import checks, compose, datasets, evaluate, metrics, preprocessing, stream  # noqa: E402


@pytest.mark.parametrize("model", [*(kind() for kind in CLASSES), *(mercer.Pipeline(kind()) for kind in CLASSES)], ids=repr)
def test_checks(model):
    assert not model._unit_test_skips()
    done = 0
    for check in checks.yield_checks(model.clone()):
        check(model.clone())
        done += 1
    assert done >= 25


def test_examples_of_river_run_unchanged():
    model = preprocessing.StandardScaler() | mercer.Krls()
    mae = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    assert mae.get() < 1.5
    model = compose.Pipeline(preprocessing.StandardScaler(), mercer.KrlsClassifier())
    accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert accuracy.get() > 0.85
    model = (compose.Select("https", "long_url") | preprocessing.StandardScaler()) | mercer.FogdClassifier()
    assert evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.LogLoss()).get() < 1.0
    model = preprocessing.StandardScaler() | mercer.KrlsClassifier()
    assert evaluate.progressive_val_score(datasets.ImageSegments().take(600), model, metrics.Accuracy()).get() > 0.6


def test_arrays_as_streams(data):
    X, y, _ = data
    model = mercer.Krls()
    for x, target in stream.iter_array(X, y):
        model.learn_one(x, target)
    np.testing.assert_allclose(model.predict(X), mercer.Krls().fit(X, y).predict(X), rtol=1e-8, atol=1e-10)


def test_features_come_and_go():
    model = mercer.Krls(kernel="gaussian:1")
    model.learn_one({"a": 0.1}, 1.0)
    model.learn_one({"c": 0.3, "b": 0.2}, -1.0)
    assert model.feature_names == ["a", "b", "c"]
    assert model.predict_one({"a": 0.1, "unknown": 5.0}) == model.predict_one({"a": 0.1})
    other = mercer.Krls(kernel="gaussian:1")
    for x, y in (({"a": 0.1, "b": 0.0, "c": 0.0}, 1.0), ({"a": 0.0, "b": 0.2, "c": 0.3}, -1.0)):
        other.learn_one(x, y)
    assert model.predict_one({"a": 1.0, "b": 1.0}) == other.predict_one({"a": 1.0, "b": 1.0})


def test_weights_lists_and_targets():
    model = mercer.Krls(kernel="gaussian:1")
    model.learn_one([0.1, 0.2], 1.0, w=0.0)
    assert model.predict_one([0.1, 0.2]) == 0.0
    model.learn_one((0.1, 0.2), 1.0, w=2.0)
    assert model.predict_one(np.array([0.1, 0.2])) > 0.9
    several = mercer.Krls(kernel="gaussian:1")
    several.learn_one({"x": 0.1}, {"u": 1.0, "v": -1.0})
    made = several.predict_one({"x": 0.1})
    # What comes by name goes by name.
    assert list(made) == ["u", "v"] and made["u"] == -made["v"]
    several.learn_one({"x": 0.1}, {"v": -1.0, "u": 1.0})
    assert several.predict_one({"x": 0.1})["u"] > made["u"] > 0.4
    with pytest.raises(mercer.DataError, match="'w'"):
        several.learn_one({"x": 0.1}, {"u": 1.0, "w": 1.0})


def test_a_refused_example_changes_nothing():
    model = mercer.Krls(kernel="gaussian:1")
    model.learn_one({"x": 0.1}, 1.0)
    before = model.to_bytes()
    for x, y in (({"x": float("nan")}, 1.0), ({"x": 0.1}, float("inf")), ({"x": "text"}, 1.0), ({"x": None}, 1.0), ({"z": "text"}, 1.0), (3, 1.0)):
        with pytest.raises(ValueError):
            model.learn_one(x, y)
        assert model.to_bytes() == before and model.feature_names == ["x"]
    with pytest.raises(ValueError):
        model.learn_one({"x": 0.1}, 1.0, w=-1.0)
    assert model.to_bytes() == before


def test_forecasters():
    from mercer import forecasting

    for kind in (forecasting.Opf, forecasting.Experts, forecasting.Discounted, forecasting.Slip, forecasting.SlipWindow, forecasting.Spectral):
        for check in checks.yield_checks(kind()):
            check(kind())


class Own(Mapping):
    """A mapping that is no dictionary."""

    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


def spellings(row):
    """A row in the types that have names for their values."""
    yield from (row, Own(row), types.MappingProxyType(row), collections.OrderedDict(row), collections.ChainMap(row))
    pd = pytest.importorskip("pandas")
    yield pd.Series(row)
    yield pd.Series(row)[::-1]
    yield next(pd.DataFrame([row]).itertuples(index=False)) if all(str(key).isidentifier() for key in row) else row


@pytest.mark.parametrize("model", [mercer.Krls(kernel="gaussian:1"), mercer.Pipeline(mercer.Krls(kernel="gaussian:1"))], ids=repr)
@pytest.mark.parametrize("names", [("b", "a"), (7, 3)], ids=["texts", "numbers"])
def test_rows_are_read_by_name_whatever_their_type(model, names):
    rows = [{names[0]: t % 7 / 7, names[1]: t % 5 / 5} for t in range(60)]
    usual = model.clone()
    for row in rows:
        usual.learn_one(row, row[names[0]])
    expected = usual.predict_one(rows[3])
    for place, spelling in enumerate(spellings(rows[3])):
        assert usual.predict_one(spelling) == expected, type(spelling)
        other = model.clone()
        for row in rows:
            other.learn_one(list(spellings(row))[place], row[names[0]])
        assert other.predict_one(rows[3]) == expected, type(spelling)


def test_errors_name_the_feature():
    model = mercer.Krls()
    for fresh in (True, False):
        for value, said in (("text", "'text' is no number"), (None, "None is no number"), (float("nan"), "nan"), (float("inf"), "inf")):
            with pytest.raises(mercer.DataError, match="feature 'b'") as caught:
                model.learn_one({"a": 1.0, "b": value}, 1.0)
            assert said in str(caught.value).lower() or said in str(caught.value)
            if not fresh:
                with pytest.raises(mercer.DataError, match="feature 'b'"):
                    model.predict_one({"a": 1.0, "b": value})
        model.learn_one({"a": 1.0, "b": 2.0}, 1.0)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_first_row_that_is_refused_settles_nothing(kind):
    model = kind()
    for x, y in (({"x": float("nan")}, 1), ({"x": "text"}, 1), ({"x": 1.0}, None)):
        with pytest.raises(ValueError):
            model.learn_one(x, y)
        with pytest.raises(ValueError):
            model.learn_one({"x": 0.0}, 1, w=-1.0)
        assert model.feature_names == [] and model.rows_learnt == 0 and not model._is_made
    # Another stream altogether.
    for t in range(30):
        model.learn_one({"a": t % 7 / 7, "b": t % 5 / 5}, t % 2)
    assert model.feature_names == ["a", "b"]


LATE = [(mercer.PkrrTaylor(centre=0.5), 1), (mercer.Pipeline(mercer.PkrrTaylor()), 1)]


@pytest.mark.parametrize(("model", "settled"), LATE, ids=lambda one: repr(one))
def test_features_that_come_too_late_are_left_out_with_a_warning(model, settled):
    twin = model.clone()
    for t in range(settled + 60):
        row = {"a": t % 7 / 7, "b": t % 5 / 5}
        twin.learn_one(row, t % 2)
        if t < settled:
            model.learn_one(row, t % 2)
        elif t == settled:
            with pytest.warns(mercer.MercerWarning, match='"late" came after the first rows'):
                model.learn_one({**row, "late": 3.0}, t % 2)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model.learn_one({**row, "late": 3.0}, t % 2)
    assert model.predict_one({"a": 0.1, "b": 0.2, "late": 9.0}) == twin.predict_one({"a": 0.1, "b": 0.2})


@pytest.mark.parametrize("model", [mercer.Auto(budget=5000), mercer.AutoClassifier(budget=5000)], ids=repr)
def test_auto_takes_features_as_if_they_had_been_there(model):
    twin = model.clone()
    for t in range(1300):
        row = {"a": t % 7 / 7, "b": t % 5 / 5, "late": 0.0 if t < 1100 else t % 3 / 3}
        twin.learn_one(row, t % 2)
        model.learn_one({"a": row["a"], "b": row["b"], **({"late": row["late"]} if t >= 1100 else {})}, t % 2)
    assert model.feature_names == ["a", "b", "late"]
    asked = {"a": 0.1, "b": 0.2, "late": 0.9}
    assert model.predict_one(asked) == twin.predict_one(asked)
    assert mercer.from_bytes(model.to_bytes()).predict_one(asked) == twin.predict_one(asked)


def flights(count):
    """Rows with new keys and categories in their midst, gaps, dates, truth values; and what they are worth."""
    rng = np.random.default_rng(4)
    begun = datetime.datetime(2013, 1, 1)
    for t in range(count):
        row = {"origin": "ABC"[t % 3], "distance": float(rng.uniform(100, 3000)), "when": begun + datetime.timedelta(minutes=17 * t), "late": t % 2 == 0}
        if t > count // 3:
            row["origin"] = "ABCDEF"[t % 6]
        if t > count // 2:
            row["wind"] = float(rng.uniform(0, 30)) if t % 5 else None
        if t % 7 == 0:
            del row["distance"]
        yield row, row.get("distance", 1000) / 100 + 10 * (row["origin"] == "B") + 5 * row["late"]


@pytest.mark.parametrize("learner", [mercer.Krls(), mercer.Auto(), mercer.Fogd(), mercer.Krls(intervals=0.9)], ids=repr)
def test_pipelines_learn_from_the_first_dictionary(learner):
    model, mae, mean = mercer.Pipeline(learner), metrics.MAE(), metrics.MAE()
    running = river.stats.Mean()
    for t, (x, y) in enumerate(flights(1500)):
        guess = model.predict_one(x)
        assert isinstance(guess, float)
        if t >= 500:
            mae.update(y, guess)
            mean.update(y, running.get())
        running.update(y)
        model.learn_one(x, y)
    assert isinstance(model, river.base.Regressor) and not isinstance(model, river.base.Classifier)
    assert mae.get() < 0.7 * mean.get()
    kinds = {column["name"]: column["kind"] for column in model.columns_}
    assert kinds["origin"] == kinds["late"] == "category" and kinds["distance"] == "number" and kinds["when"] == "time"
    if learner.intervals:
        low, high = model.predict_interval_one(x)
        assert low < model.predict_one(x) < high and 0.8 < model.coverage_ < 0.97
    pd = pytest.importorskip("pandas")
    rows = [x for x, _ in flights(40)]
    many = model.predict_many(pd.DataFrame(rows, index=range(5, 45)))
    assert list(many.index) == list(range(5, 45))
    np.testing.assert_allclose(many, [model.predict_one(x) for x in rows])


@pytest.mark.parametrize("learner", [mercer.KrlsClassifier(), mercer.AutoClassifier()], ids=repr)
def test_pipelines_of_classes_learn_from_the_first_dictionary(learner):
    model, accuracy = mercer.Pipeline(learner), metrics.Accuracy()
    assert model.predict_one({"a": 1}) is None and model.predict_proba_one({"a": 1}) == {}
    for t, (x, y) in enumerate(flights(1000)):
        level = "low" if y < 15 else "high" if y > 25 else 7
        if t >= 300:
            accuracy.update(level, model.predict_one(x))
        probable = model.predict_proba_one(x)
        assert not probable or abs(sum(probable.values()) - 1) < 1e-9
        model.learn_one(x, level)
    assert isinstance(model, river.base.Classifier) and set(probable) == {"low", "high", 7}
    assert accuracy.get() > 0.6


def test_pipelines_take_and_give_several_targets_by_name():
    model = mercer.Pipeline(mercer.Krls())
    for x, y in flights(300):
        model.learn_one(x, {"v": 2 * y, "u": y})
    made = model.predict_one(x)
    assert set(made) == {"u", "v"} and abs(made["v"] - 2 * made["u"]) < 1e-6 * abs(made["v"])
    again = mercer.from_bytes(model.to_bytes())
    assert again.predict_one(x) == made
    with pytest.raises(mercer.DataError, match="had the names"):
        model.learn_one(x, {"u": 1.0, "w": 1.0})


def test_pipelines_in_rivers_own_loops():
    model = mercer.Pipeline(mercer.Krls())
    assert evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()).get() < 1.5
    chosen = compose.Discard("ordinal_date") | mercer.Pipeline(mercer.Krls())
    assert evaluate.progressive_val_score(datasets.TrumpApproval(), chosen, metrics.MAE()).get() < 2.5
    gap = mercer.Pipeline(mercer.Auto())
    assert evaluate.progressive_val_score(datasets.ChickWeights(), gap, metrics.MAE()).get() < 40
    classes = mercer.Pipeline(mercer.KrlsClassifier())
    assert evaluate.progressive_val_score(datasets.Phishing(), classes, metrics.ROCAUC()).get() > 0.9


def test_a_learner_that_is_worse_than_a_constant_is_told():
    """`Pipeline(Krls(max_dictionary=100))` on such a stream is worse than the mean."""
    rng = np.random.default_rng(0)
    rows = [({name: float(value) for name, value in zip("abcdefghij", rng.normal(size=10))}, float(rng.normal())) for _ in range(1100)]
    for model in (mercer.Pipeline(mercer.Krls(max_dictionary=100)), mercer.Krls(kernel="gaussian:2", max_dictionary=100)):
        with pytest.warns(mercer.MercerWarning, match="the error is not below that of predicting") as caught:
            for x, y in rows:
                model.learn_one(x, y)
        assert sum("is not below" in str(one.message) for one in caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = mercer.Pipeline(mercer.Krls(max_dictionary=100))
        for x, _ in rows:
            model.learn_one(x, x["a"])


def test_series_with_dates_among_their_inputs():
    """As river's own series have them."""
    from mercer import forecasting

    model = forecasting.Opf()
    with pytest.warns(mercer.MercerWarning, match="are dates, and are left out"):
        for x, y in datasets.AirlinePassengers():
            model.learn_one(y, x)
    assert np.isfinite(model.forecast(3)).all()
    with pytest.raises(mercer.DataError, match="input 'a'"):
        forecasting.Opf().learn_one(1.0, {"a": "text"})
