"""Remarks of the library, as warnings."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

import mercer


def rows(count, d=3):
    return np.random.default_rng(2).normal(size=(count, d))


def heard(act):
    """The messages of the warnings of an act, which all point at this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert all(one.category is mercer.MercerWarning and one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def test_targets_beyond_the_bound_are_told_once():
    X, y = rows(400), 50 * rows(400)[:, 0]
    model = mercer.NonsAld()
    [said] = heard(lambda: model.fit(X, y))
    assert "nons-ald keeps predictions within ±" in said and "(radius)" in said and str(y[np.abs(y) > 1][0]) in said
    assert heard(lambda: model.partial_fit(X, y)) == []
    assert heard(lambda: mercer.NonsAld(radius=1000.0, label_bound=1000.0).fit(X, y)) == []
    assert heard(lambda: mercer.Krls().fit(X, y)) == []
    assert len(heard(lambda: mercer.NonsAld().learn_many(X, y))) == 1
    # Singly, and never after the first 256 rows.
    one = mercer.NonsAld()
    assert heard(lambda: one.learn_one({"a": 1.0}, 0.5)) == []
    assert len(heard(lambda: one.learn_one({"a": 1.0}, 5.0))) == 1
    assert heard(lambda: one.learn_one({"a": 1.0}, 5.0)) == []
    late = mercer.NonsAld().partial_fit(X[:300], np.zeros(300))
    assert heard(lambda: late.partial_fit(X, y)) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(mercer.MercerWarning):
            mercer.NonsAld().learn_one([1.0], 5.0)


def test_a_warning_may_use_the_model(monkeypatch):
    model = mercer.NonsAld()
    made = []
    monkeypatch.setattr(warnings, "showwarning", lambda *told, **more: made.append(model.predict_one([1.0])))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lambda *told, **more: made.append(model.predict_one([1.0])))
        model.learn_one([1.0], 5.0)
    assert len(made) == 1


def test_a_dictionary_that_takes_most_rows_in_is_told():
    X = rows(700, 8)
    for kind, target in ((mercer.Krls, X[:, 0]), (mercer.KrlsClassifier, X[:, 0] > 0)):
        [said] = heard(lambda: kind(kernel="gaussian:0.05", max_dictionary=None).fit(X, target))
        assert "the dictionary holds 700 of 700 rows" in said and "max_dictionary=N" in said
    assert heard(lambda: mercer.Krls(kernel="gaussian:0.05", max_dictionary=100).fit(X, X[:, 0])) == []


def test_an_evaluation_that_a_constant_would_have_won_is_told():
    X, y = rows(300), np.random.default_rng(9).normal(size=300)
    [said] = heard(lambda: mercer.evaluate(mercer.Krls(kernel="gaussian:0.1"), X, y))
    assert "the error is not below that of predicting" in said
    assert heard(lambda: mercer.evaluate(mercer.Krls(), X, X[:, 0])) == []
    labels = np.where(np.random.default_rng(9).uniform(size=300) < 0.2, "rare", "often")
    [said] = heard(lambda: mercer.evaluate(mercer.KrlsClassifier(kernel="gaussian:0.1"), X, labels))
    assert "most frequent class, 0.8" in said or "most frequent class, 0.7" in said
    assert heard(lambda: mercer.evaluate(mercer.KrlsClassifier(), X, X[:, 0] > 0)) == []


def test_cells_that_do_not_fit_are_told_once():
    table = [{"city": "ab"[t % 2], "size": float(t % 30)} for t in range(300)]
    model = mercer.Pipeline(mercer.Krls()).fit(table, [one["size"] for one in table])
    [said] = heard(lambda: model.predict([{"city": "a"}]))
    assert "no column 'size'" in said.replace('"', "'")
    [said] = heard(lambda: model.predict([{"city": "a", "size": 1.0}, {"city": "a", "size": "large"}]))
    assert said.startswith("row 1, column") and "does not fit its column" in said
    assert heard(lambda: model.predict([{"city": "a", "size": "large"}, {"city": "a"}])) == []
    said = heard(lambda: model.predict([{"city": str(t), "size": 1.0} for t in range(40)]))
    assert len(said) == 1 and "hashes it" in said[0]
    assert heard(lambda: model.predict(table)) == []


def test_columns_in_doubt_are_told():
    words = [f"{'a long remark about the flat ' * 3}{t}" for t in range(300)]
    table = {"zip": [f"{1000 + t % 7 * 1013}" for t in range(300)], "text": words, "size": [float(t % 30) for t in range(300)]}
    said = heard(lambda: mercer.Pipeline(mercer.Krls()).fit(table, table["size"]))
    assert len(said) == 1 and said[0] == 'column "text": left out, for it is text; kinds={"text": "category"} takes it'
    assert heard(lambda: mercer.Pipeline(mercer.Krls(), kinds={"text": "text"}).fit(table, table["size"])) == []


def test_the_order_of_days_that_is_asked_for_can_be_told():
    table = {"day": [f"{1 + t % 12}/{1 + t % 7}/2024" for t in range(300)], "size": [float(t % 30) for t in range(300)]}
    [said] = heard(lambda: mercer.Pipeline(mercer.Krls()).fit(table, table["size"]))
    assert 'kinds={"day": "dmy"} or kinds={"day": "mdy"}' in said
    model = mercer.Pipeline(mercer.Krls(), kinds={"day": "dmy"})
    assert heard(lambda: model.fit(table, table["size"])) == []
    assert model.columns_[0]["kind"] == "time"
    model = mercer.Pipeline(mercer.Krls(), kinds={"day": "dmy"})
    model.learn_one({"day": "13/2/2024", "size": 1.0}, 1.0)
    assert model.columns_[0]["kind"] == "time"


def test_nothing_is_said_of_good_data(data):
    X, y, c = data
    code = """
import warnings; warnings.simplefilter("error")
import numpy as np, mercer
X = np.random.default_rng(1).normal(size=(400, 2))
for name in mercer.__all__:
    kind = getattr(mercer, name)
    if hasattr(kind, "_keys"):
        kind().fit(X, X[:, 0] > 0 if hasattr(kind, "_many") else np.tanh(X[:, 0]))
mercer.Pipeline().fit(X, X[:, 0]).predict(X)
mercer.RidgeMoments().fit(X, X[:, 0]).predict(X)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
