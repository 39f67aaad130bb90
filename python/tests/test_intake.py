"""One intake: faces × types × orders × libraries. What is learnt or asked does not depend on them."""

from __future__ import annotations

import datetime
from collections import OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

import mercer

pd, pl, pa = pytest.importorskip("pandas"), pytest.importorskip("polars"), pytest.importorskip("pyarrow")

ROWS = 80
UTC = datetime.timezone.utc


def table():
    """Rows of Python's own types, with gaps; and their targets."""
    draw = np.random.default_rng(11).random((ROWS, 6))
    rows, targets = [], []
    for t, (size, count, flag, when, took, gap) in enumerate(draw):
        row = {
            "size": None if gap < 0.15 else int(size * 400) / 4,
            "count": int(count * 50),
            "flag": bool(flag < 0.5),
            "shop": None if gap > 0.9 else ("Ulm", "Bonn", "Kiel")[t % 3],
            "when": datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=int(when * 600_000)),
            "took": datetime.timedelta(minutes=int(took * 3000)),
        }
        rows.append(row)
        targets.append((row["size"] or 50) / 50 + row["flag"] + (row["shop"] == "Ulm") + took)
    return rows, targets


#: Ways to write a value of a column, each as exact as the others. A gap is a gap in any column.
WRITERS = {
    "size": [float, np.float64, np.float32, Decimal, Fraction, repr, lambda one: f" {one} "],
    "count": [int, float, np.int16, np.uint64, np.float32, Decimal, str],
    "flag": [bool, np.bool_, str, lambda one: str(one).lower(), lambda one: str(one).upper()],
    "shop": [str, np.str_, lambda one: one.encode(), lambda one: f"{one} "],
    "when": [
        lambda one: one, lambda one: one.replace(tzinfo=UTC), pd.Timestamp, datetime.datetime.isoformat, str, lambda one: pd.Period(one, "min"),
        lambda one: one.replace(tzinfo=UTC).astimezone(datetime.timezone(datetime.timedelta(hours=5))),
        *(lambda one, unit=unit: np.datetime64(one, unit) for unit in ("m", "s", "ms", "us", "ns")),
    ],
    "took": [lambda one: one, pd.Timedelta, *(lambda one, unit=unit: np.timedelta64(one, "us").astype(f"m8[{unit}]") for unit in ("m", "s", "ms", "ns"))],
}  # fmt: skip
GAPS = [None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.ma.masked, ""]
#: Words for gaps; among categories they may be one, such as the country NA.
WORDS = ["NA", "?", "n/a", "null"]


def mappings(row):
    """The row as mappings of several kinds, and as rows of frames."""
    yield row
    yield OrderedDict(reversed(row.items()))
    yield MappingProxyType(row)
    yield pd.Series(row, dtype=object)
    yield namedtuple("Row", row)(**row)


def frames(columns):
    """Columns of Python's own types in each library, and in types of the library."""
    yield "mapping", columns
    yield "rows", [dict(zip(columns, values)) for values in zip(*columns.values())]
    yield "pandas", pd.DataFrame(columns)
    yield "pandas, objects", pd.DataFrame(columns, dtype=object)
    yield "pandas, its own types", pd.DataFrame(columns).convert_dtypes()
    yield "pandas, categories", pd.DataFrame(columns).astype({name: "category" for name in ("shop", "flag") if name in columns})
    yield "polars", pl.DataFrame(columns)
    yield "polars, categories", pl.DataFrame(columns).with_columns([pl.col(name).cast(pl.Categorical) for name in ("shop",) if name in columns])
    yield "pyarrow", pa.table(columns)
    yield "pyarrow, batch", pa.RecordBatch.from_pydict(columns)
    encoded = {name: pa.array(values).dictionary_encode() if name == "shop" else values for name, values in columns.items()}
    yield "pyarrow, dictionary", pa.table(encoded)


def pipeline(**options):
    return mercer.Pipeline(mercer.Krls(kernel="gaussian:2"), **options)


@pytest.fixture(scope="module")
def asked():
    """A fitted pipeline, its rows, and its predictions for them."""
    rows, targets = table()
    model = pipeline().fit(rows, targets)
    return model, rows, model.predict(rows)


def written(row, draw, writers):
    """The row with each cell in one of the ways to write it, its columns in an order of their own."""
    made = {}
    for name in draw.permutation(list(row)).tolist():
        gaps = GAPS if name == "shop" else GAPS + WORDS
        ways = writers[name] if row[name] is not None else [lambda _, gap=gap: gap for gap in gaps]
        made[name] = ways[draw.integers(len(ways))](row[name])
    return made


def differ(model, rows, expected, writers):
    """The first row that is predicted otherwise when it is written otherwise; None where there is none."""
    draw = np.random.default_rng(3)
    for row, wanted in zip(rows, expected, strict=True):
        for _ in range(6):
            for one in mappings(written(row, draw, writers)):
                if model.predict_one(one) != wanted:
                    return one
    return None


def test_a_row_is_what_its_types_say(asked):
    assert differ(*asked, WRITERS) is None


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("took", lambda one: f"{one.seconds // 3600:02}:{one.seconds // 60 % 60:02}:00"),
        ("when", lambda one: np.datetime64(one, "h")),
        ("flag", lambda one: not one),
        ("size", lambda one: -one),
        ("shop", str.lower),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_value_that_is_written_wrongly_would_be_found(asked, name, wrong):
    assert differ(*asked, {**WRITERS, name: [wrong]}) is not None


def test_libraries_and_orders_are_asked_alike(asked):
    model, rows, expected = asked
    draw = np.random.default_rng(5)
    for _ in range(4):
        order = draw.permutation(list(rows[0])).tolist()
        for library, frame in frames({name: [row[name] for row in rows] for name in order}):
            assert (model.predict(frame) == expected).all(), (library, order)
            assert (np.asarray(model.predict_many(frame)) == expected).all(), (library, order)
    # Columns by their places would be found.
    turned = [dict(zip(rows[0], reversed(row.values()))) for row in rows]
    assert (model.predict(turned) != expected).any()


def test_libraries_and_orders_learn_alike():
    rows, targets = table()
    query = rows[::-1]
    expected = pipeline().fit(rows, targets).predict(query)
    halves = pipeline().fit(rows[:40], targets[:40]).partial_fit(rows[40:], targets[40:]).predict(query)
    for library, frame in frames({name: [row[name] for row in rows] for name in rows[0]}):
        assert (pipeline().fit(frame, targets).predict(query) == expected).all(), library
    draw = np.random.default_rng(7)
    for library, frame in frames({name: [row[name] for row in rows[40:]] for name in draw.permutation(list(rows[0])).tolist()}):
        model = pipeline().fit(rows[:40], targets[:40])
        assert (model.partial_fit(frame, targets[40:]).predict(query) == halves).all(), library


def test_rows_learn_as_they_are_written():
    rows, targets = table()
    # The first row tells the kinds of columns.
    rows = sorted(rows, key=lambda row: None in row.values())
    expected, model, draw = pipeline(), pipeline(), np.random.default_rng(9)
    for place, (row, target) in enumerate(zip(rows, targets)):
        expected.learn_one(row, target)
        kinds = [[way for way in mappings(written(row, draw, WRITERS))], [row]][place == 0]
        model.learn_one(kinds[place % len(kinds)], target)
    assert model.predict(rows).tolist() == expected.predict(rows).tolist()
    assert model.counts_ == expected.counts_


def numbers():
    draw = np.random.default_rng(13)
    X = draw.integers(-40, 40, size=(60, 3)) / 8
    return X, X[:, 0] - X[:, 1] ** 2 / 5


MODELS = [mercer.Krls, mercer.Fogd, mercer.KrlsClassifier, pipeline, lambda: mercer.Pipeline(mercer.KrlsClassifier(kernel="gaussian:2"))]


@pytest.mark.parametrize("make", MODELS, ids=["Krls", "Fogd", "KrlsClassifier", "Pipeline", "Pipeline of classes"])
def test_places_have_one_name_each(make):
    X, y = numbers()
    y = y > 0 if "Class" in type(make()).__name__ else y
    learnt = {
        "array": make().fit(X, y), "lists": make().fit(X.tolist(), y), "pandas": make().fit(pd.DataFrame(X), y), "float32": make().fit(X.astype("f4"), y),
        "named after places": make().fit({f"x{place}": X[:, place] for place in range(3)}, y), "Fortran": make().fit(np.asfortranarray(X), y),
    }  # fmt: skip
    expected = learnt["array"].predict(X)
    assert len(set(expected.tolist())) > 1
    for how, model in learnt.items():
        for ask in (X, X.tolist(), pd.DataFrame(X), pd.DataFrame(X)[[2, 0, 1]], pl.DataFrame({f"x{place}": X[:, place] for place in (1, 2, 0)})):
            assert (model.predict(ask) == expected).all(), (how, type(ask))
        for row, wanted in zip(X[:9], expected):
            values = row.tolist()
            faces = [
                row, values, tuple(values), dict(enumerate(values)), {f"x{place}": values[place] for place in (2, 1, 0)},
                {str(place): values[place] for place in (1, 0, 2)}, pd.Series(values), row.astype("f4"),
            ]  # fmt: skip
            assert [model.predict_one(face) for face in faces] == [wanted] * len(faces), how
    rows = make()
    for row, target in zip(X, y):
        rows.learn_one(row, target)
    others = make()
    for place, (row, target) in enumerate(zip(X, y)):
        others.learn_one([row.tolist(), dict(enumerate(row)), pd.Series(row), {f"x{place}": row[place] for place in (2, 0, 1)}][place % 4], target)
    assert (rows.predict(X) == others.predict(X)).all()


@pytest.mark.parametrize("make", MODELS, ids=["Krls", "Fogd", "KrlsClassifier", "Pipeline", "Pipeline of classes"])
def test_names_are_matched_or_refused(make):
    X, y = numbers()
    y = y > 0 if "Class" in type(make()).__name__ else y
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = make().fit(frame, y)
    expected = model.predict(frame)
    for order in (["w", "u", "v"], ["v", "w", "u"]):
        for ask in (frame[order], pl.from_pandas(frame[order]), pa.Table.from_pandas(frame[order]), frame[order].to_dict("records"), frame[order].to_dict("list")):
            assert (model.predict(ask) == expected).all()
        assert model.predict_one(frame[order].iloc[3]) == model.predict_one(dict(frame.iloc[3])) == expected[3]
    for ask in (frame.rename(columns=str.upper), frame.set_axis([0, 1, 2], axis=1)):
        with pytest.raises(ValueError):
            model.predict(ask)
    with pytest.raises(ValueError):
        model.predict(pd.concat([frame, frame["u"]], axis=1))
    with pytest.warns(mercer.MercerWarning, match="no names"):
        assert (model.predict(X) == expected).all()


def test_operators_and_moments_go_by_name():
    states = [np.array([1.0, 0.0])]
    turn = 0.97 * np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    for _ in range(80):
        states.append(turn @ states[-1])
    frame = pd.DataFrame(states, columns=["u", "v"])
    turned = frame[["v", "u"]]
    for make in (mercer.operators.OperatorSums, mercer.operators.KoopmanOperator, lambda: mercer.moments.OperatorMoments(basis="linear")):
        model = make().fit(frame)
        if hasattr(model, "predict"):
            expected = model.predict(frame)
            for alone in (frame.iloc[3], turned.iloc[3], dict(turned.iloc[3])):
                assert (model.predict(alone) == expected[3]).all() and (model.forecast(alone, 2)[0] == expected[3]).all()
            assert (model.predict(turned) == expected).all() and (model.predict(pl.from_pandas(turned)) == expected).all()
            assert (make().fit(frame[:-1], turned[1:]).predict(frame) == expected).all()
        with pytest.raises(ValueError):
            model.partial_fit(frame.rename(columns={"u": "z"}))
    sums = mercer.moments.RidgeMoments().fit(frame, frame["u"] - frame["v"])
    assert (sums.predict(turned) == sums.predict(frame)).all()


def test_series_go_by_name_and_time():
    day = pd.date_range("2023-01-01", periods=130)
    draw = np.random.default_rng(17)
    inputs = pd.DataFrame(draw.normal(size=(130, 2)), index=day, columns=["p", "q"])
    series = 10 + 3 * np.sin(np.arange(130) * np.pi / 6) + 2 * inputs.p - inputs.q
    model = mercer.forecasting.Season().fit(series[:120], inputs[:120])
    expected = model.predict(2, inputs[120:122])
    assert (model.predict(2, inputs[120:122][["q", "p"]]) == expected).all()
    for wrong in (None, inputs[20:22], inputs[120:122].rename(columns={"p": "z"})):
        with pytest.raises(mercer.DataError):
            model.predict(2, wrong)
    outputs = pd.DataFrame({"u": series, "v": 100.0})
    both = mercer.forecasting.Season().fit(outputs[:120])
    assert abs(both.partial_fit(outputs[120:][["v", "u"]]).predict(1)["v"].iloc[0] - 100) < 1
    # Dates as objects and as texts are times, too.
    for index in ([one.date() for one in day], [f"{one:%Y-%m-%d}" for one in day]):
        made = mercer.forecasting.Season().fit(pd.Series(series.to_numpy(), index=index)).predict(1)
        assert made.index[0] == day[-1] + day.freq
