"""Whatever comes is learnt or refused with an exception; the interpreter lives, and what was refused has changed nothing.

Every run draws the same examples. ``MERCER_FUZZ=30 pytest tests/test_fuzz.py`` draws others, 30 times as many.
"""

from __future__ import annotations

import math
import os
import warnings

import numpy as np
import pytest

import mercer

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

MANY = int(os.environ.get("MERCER_FUZZ", "0"))
settings.register_profile("mercer", deadline=None, derandomize=not MANY, database=None, suppress_health_check=list(HealthCheck) if MANY else ())
settings.load_profile("mercer")

REFUSED = (ValueError, TypeError, OverflowError)
KINDS = [mercer.Krls, mercer.NonsAld, mercer.Fogd, mercer.Kogd, mercer.KrlsClassifier, mercer.Perceptron, mercer.NonsAldClassifier]

dtypes = st.one_of(
    hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.boolean_dtypes(), hnp.complex_number_dtypes(), hnp.unicode_string_dtypes(max_len=3),
    hnp.datetime64_dtypes(),
)  # fmt: skip
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)))
objects = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3), st.complex_numbers()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=2), inner, max_size=4), st.tuples(inner, inner)),
    max_leaves=8,
)
anything = st.one_of(arrays, objects)


@settings(max_examples=300 * max(1, MANY))
@given(kind=st.sampled_from(KINDS), X=anything, y=anything, w=st.one_of(st.none(), anything))
@example(kind=mercer.KrlsClassifier, X=np.zeros((1, 0)), y=np.array(["NaT"], dtype="datetime64[Y]"), w=None)
def test_batches(kind, X, y, w):
    model = kind()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, sample_weight=w)
            model.predict(X)
        except REFUSED:
            pass
        try:
            model.learn_many(X, y)
        except (*REFUSED, AttributeError):
            pass


@settings(max_examples=500 * max(1, MANY))
@given(kind=st.sampled_from(KINDS), x=anything, y=anything, w=st.one_of(st.floats(), st.integers()))
def test_single_examples_of_a_model_in_use(kind, x, y, w):
    model = kind()
    labels = [0, 1] if "Classifier" in kind.__name__ or kind is mercer.Perceptron else [0.5, -0.5]
    for t in range(4):
        model.learn_one({"a": t / 4, "b": 0.1}, labels[t % 2])
    before = model.to_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.predict_one(x)
        except REFUSED:
            pass
        assert model.to_bytes() == before
        try:
            model.learn_one(x, y, w)
        except REFUSED:
            assert model.to_bytes() == before or model.feature_names != ["a", "b"]
    made = model.predict_one({"a": 0.1})
    # A classifier answers with a label, and any value can be one.
    assert labels == [0, 1] or math.isfinite(made)


@settings(max_examples=200 * max(1, MANY))
@given(
    X=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8), elements=st.floats(-1e300, 1e300)),
    step=st.sampled_from([1, 2, -1, -2]),
)
def test_strides(X, step):
    view = X[::step, ::step]
    y = np.arange(len(view), dtype=float)
    try:
        made = mercer.Krls().fit(view, y).predict(view)
    except ValueError:
        return
    assert (made == mercer.Krls().fit(np.ascontiguousarray(view), y).predict(view.copy())).all()


@settings(max_examples=200 * max(1, MANY))
@given(data=st.binary(max_size=400))
def test_bytes(data):
    model = mercer.Krls().fit([[0.0], [1.0]], [0.0, 1.0])
    good = model.to_bytes()
    for one in (data, good[: len(data)] + data, bytes(a ^ b for a, b in zip(good, data.ljust(len(good), b"\0"), strict=False))):
        try:
            mercer.from_bytes(one)
        except mercer.ModelFileError:
            pass


@settings(max_examples=150 * max(1, MANY))
@given(Y=anything, U=st.one_of(st.none(), anything))
def test_forecasters_and_operators(Y, U):
    for make in (lambda: mercer.forecasting.Opf(), lambda: mercer.KoopmanOperator(kernel="gaussian:1"), lambda: mercer.Pipeline()):
        try:
            make().fit(Y, U)
        except (*REFUSED, AttributeError):
            pass
