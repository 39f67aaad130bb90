"""The same numbers from Python, the command and Rust; and each reads what another has saved."""

from __future__ import annotations

import copy
import csv
import datetime
import json
import pickle
import re
import subprocess
import warnings

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
    named = {"b": query[:, 1], "a": query[:, 0]}
    assert (theirs.predict(named) == ours.predict(named)).all()
    with pytest.raises(mercer.DataError, match="without names"):
        ours.predict(query)
    assert (ours.predict(named) == [ours.predict_one({"b": b, "a": a}) for a, b in query]).all()
    # The command predicts with what Python has saved.
    ours.save(tmp_path / "ours.mercer")
    out = run(command, "predict", "--model", tmp_path / "ours.mercer", path)
    made = [float(line.split(",")[-1]) for line in out.splitlines() if line and not line[0].isalpha()]
    assert len(made) == 300 and (np.array(made) == ours.predict({"a": X[:, 0], "b": X[:, 1]})).all()


# What files of learners that only the command has are refused with.
REFUSED = ["has no class", "sums of complete rows of numbers are needed", "a model for each group"]


def test_every_golden_file_is_read():
    if not GOLDEN.exists():
        pytest.skip("the golden files are not there")
    read = 0
    for path in sorted(GOLDEN.glob("*.mercer")):
        try:
            model = mercer.load(path)
        except (mercer.ModelFileError, mercer.DataError) as error:
            assert any(words in str(error) for words in REFUSED), f"{path.name}: {error}"
            continue
        read += 1
        assert model.to_bytes()
        again = mercer.from_bytes(model.to_bytes())
        assert type(again) is type(model)
    assert read > 45


def golden_rows(count):
    """The rows of `crates/mercer/tests/all/subjects.rs`."""
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
        except (mercer.ModelFileError, mercer.DataError) as error:
            # Learners of signs have no class for numbers.
            assert any(words in str(error) for words in REFUSED), f"{name}: {error}"
            continue
        if type(model) not in REGRESSORS or model._sizes[1] != 1:
            continue
        made = []
        for x, y in golden_rows(30)[24:]:
            x = x[: model._sizes[0]]
            made.append(model.predict_one(x))
            model.learn_one(x, y)
        # Kernel coefficients predict what is asked for, coordinates what is learnt: the same but for rounding.
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
    for data in (b"", b"junk", b"\x89Mercer\n", mercer.Krls().fit(rows(5), rows(5)[:, 0]).to_bytes()[:-3]):
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
    run(command, "koopman", path, "--trajectory", "--method", "sogd", "--set", "kernel=gaussian:1", "--out", saved)
    theirs, ours = mercer.load(saved), mercer.KoopmanOperator(kernel="gaussian:1").fit(states)
    assert (theirs.eigenvalues_ == ours.eigenvalues_).all() and (theirs.weights_ == ours.weights_).all()
    again = mercer.KoopmanOperator(**theirs.get_params()).fit(states)
    assert theirs.eta_power == (0.6, 10.0) and (again.eigenvalues_ == ours.eigenvalues_).all()


def test_errors_of_forecasts_are_those_of_the_command(command, tmp_path):
    draw, rows = np.random.default_rng(7), [0.0]
    for _ in range(800):
        rows.append(round(0.9 * rows[-1] + draw.normal(), 6))
    path, saved = tmp_path / "x.csv", tmp_path / "x.mercer"
    path.write_text("\n".join(map(repr, rows)) + "\n")
    told = json.loads(run(command, "koopman", path, "--delay", 1, "--lags", "1,4", "--out", saved, "--json"))
    held_out = told["held_out"]
    X = np.array(rows)[:, None]
    # The service tells the same, which a test of the command sees to.
    for model in (mercer.load(saved), mercer.operators.OperatorSums().fit(X)):
        assert model.quality_ == {"held_out": held_out["error"], "no_change": held_out["no_change"], "mean": held_out["mean"]}
        assert model.later_errors_ == {later["step"]: later["error"] for later in held_out["later"]}
        assert list(model.later_errors_) == [5, 20]
        # Of an autoregression 1 − 0.81ᵏ: copies of one error would not do.
        assert held_out["error"] + 0.2 < model.later_errors_[5] < model.later_errors_[20]
        for ours, theirs in zip(model.lags(X, (1, 4)), told["lags"], strict=True):
            assert [ours.mode, ours.lag, ours.value, ours.spread, ours.bias, ours.agrees] == [
                theirs["mode"], theirs["lag"], complex(theirs["re"], theirs["im"]), theirs["spread"], theirs["bias"], theirs["agrees"]
            ]  # fmt: skip


@pytest.fixture(scope="module")
def flats(tmp_path_factory):
    """A table with a category, gaps, dates and a truth value in a file, and its records; prices, and three classes of them."""
    rng = np.random.default_rng(5)
    n = 900
    city = rng.choice(["Ulm", "Bonn", "Kiel"], size=n).tolist()
    size = [None if t % 11 == 3 else value for t, value in enumerate(rng.uniform(40, 120, size=n).round(3).tolist())]
    begun = datetime.datetime(2021, 1, 1)
    sold = [begun + datetime.timedelta(hours=7 * t) for t in range(n)]
    lift = (rng.uniform(size=n) < 0.5).tolist()
    price = [round(2000 * (s or 80) + 5e4 * (c == "Ulm") + 1e4 * b + 3 * t, 2) for t, (c, s, b) in enumerate(zip(city, size, lift))]
    level = ["low" if y < 180e3 else "high" if y > 240e3 else "middle" for y in price]
    path = tmp_path_factory.mktemp("flats")
    for name, target in (("price", price), ("level", level)):
        with open(path / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["city", "size", "sold", "lift", "y"])
            for c, s, when, b, y in zip(city, size, sold, lift, target):
                writer.writerow([c, "" if s is None else repr(s), when.isoformat(), str(b).lower(), y])
    records = [dict(zip(("city", "size", "sold", "lift"), row)) for row in zip(city, size, sold, lift)]
    return path, records, np.array(price), np.array(level)


@pytest.mark.parametrize(
    "options",
    [
        {"learner": "krls", "kernel": "gaussian:1"},
        {"learner": "krls", "kernel": "median", "scale": "robust"},
        {"learner": "nons-ald", "kernel": "gaussian:2", "scale": "range"},
        {"learner": "fogd", "kernel": "median"},
        {"learner": "auto"},
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_pipelines_are_those_of_the_command_to_the_bit(command, flats, tmp_path, options):
    path, records, price, _ = flats
    saved = tmp_path / "theirs.mercer"
    scale = options.get("scale", "standard")
    kernel = ["--kernel", options["kernel"]] if "kernel" in options else []
    run(command, "train", path / "price.csv", "--learner", options["learner"], *kernel, "--scale", scale, "--intervals", 0.9, "--model", saved)
    theirs = mercer.load(saved)
    kind = {"krls": mercer.Krls, "nons-ald": mercer.NonsAld, "fogd": mercer.Fogd, "auto": mercer.Auto}[options["learner"]]
    settings = {"kernel": options["kernel"]} if "kernel" in options else {}
    model = mercer.Pipeline(kind(intervals=0.9, **settings), scale=scale)
    # At once, or in batches of which the first has the rows that settle the columns.
    whole, parts = copy.deepcopy(model).fit(records, price), copy.deepcopy(model)
    for first, last in ((0, 256), (256, 300), (300, 301), (301, 900)):
        parts.partial_fit(records[first:last], price[first:last])
    facts = [[(one["name"], one["kind"], one["use"], one["treatment"]) for one in model.columns_] for model in (whole, theirs)]
    assert facts[0] == [one for one in facts[1] if one[0] != "y"]
    made, ends = theirs.predict(records), theirs.predict_interval(records)
    for ours in (whole, parts):
        assert (ours.predict(records) == made).all() and (ours.predict_interval(records) == ends).all()
        assert ours.coverage_ == theirs.coverage_
        ours.save(tmp_path / "ours.mercer")
        assert scores(command, tmp_path / "ours.mercer") == scores(command, saved)
        out = run(command, "predict", "--model", tmp_path / "ours.mercer", path / "price.csv")
        told = [float(line.split(",")[0]) for line in out.splitlines() if line and not line[0].isalpha()]
        # The command may predict by kernel coefficients, which are the same to rounding.
        np.testing.assert_allclose(told, made, rtol=1e-12)
    # And it goes on as the command would.
    run(command, "predict", "--learn", "--model", saved, path / "price.csv")
    whole.partial_fit(records, price)
    assert (whole.predict(records) == mercer.load(saved).predict(records)).all()


def test_means_of_categories_are_those_of_the_command_to_the_bit(command, tmp_path):
    draw = np.random.default_rng(21).random((400, 2))
    rows = [{"street": f"street {int(80 * street)}", "size": round(size, 3)} for street, size in draw]
    y = [round(row["size"] + len(row["street"]) + draw[place, 0], 3) for place, row in enumerate(rows)]
    lines = [f"{row['street']},{row['size']},{{}}" for row in rows]
    for name, kind, target in (("krls", mercer.Krls, y), ("perceptron", mercer.Perceptron, ["high" if one > 10 else "low" for one in y])):
        written = "\n".join(["street,size,y", *(line.format(one) for line, one in zip(lines, target))])
        (tmp_path / "t.csv").write_text(written + "\n", encoding="utf-8")
        saved = tmp_path / "theirs.mercer"
        run(command, "train", tmp_path / "t.csv", "--learner", name, "--kernel", "median", "--scale", "standard", "--model", saved)
        ours = mercer.Pipeline(kind(kernel="median")).fit(rows, target)
        assert "mean of the target" in ours.columns_[0]["treatment"]
        assert (ours.predict(rows) == mercer.load(saved).predict(rows)).all()


@pytest.mark.parametrize("name", ["krls", "auto", "fogd", "perceptron"])
def test_pipelines_of_classes_are_those_of_the_command_to_the_bit(command, flats, tmp_path, name):
    path, records, _, level = flats
    saved = tmp_path / "theirs.mercer"
    two = name == "perceptron"
    labels = np.where(level == "high", "high", "low") if two else level
    with open(path / "level.csv", newline="") as file, open(tmp_path / "rows.csv", "w", newline="") as out:
        head, *rows = csv.reader(file)
        csv.writer(out).writerows([head, *([*row[:-1], label] for row, label in zip(rows, labels))])
    kernel = [] if name == "auto" else ["--kernel", "gaussian:2"]
    run(command, "train", tmp_path / "rows.csv", "--learner", name, *kernel, "--scale", "standard", "--model", saved)
    theirs = mercer.load(saved)
    kind = {"krls": mercer.KrlsClassifier, "auto": mercer.AutoClassifier, "fogd": mercer.FogdClassifier, "perceptron": mercer.Perceptron}[name]
    # partial_fit, as the command, does not know the classes beforehand.
    ours = mercer.Pipeline(kind(**({} if name == "auto" else {"kernel": "gaussian:2"}))).partial_fit(records, labels)
    assert (ours.predict(records) == theirs.predict(records)).all()
    assert (ours.decision_function(records) == theirs.decision_function(records)).all()
    assert two or (ours.predict_proba(records) == theirs.predict_proba(records)).all()
    ours.save(tmp_path / "ours.mercer")
    assert scores(command, tmp_path / "ours.mercer") == scores(command, saved)
    out = run(command, "predict", "--model", tmp_path / "ours.mercer", tmp_path / "rows.csv")
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ours.predict(records).tolist()


def scores(command, path):
    """How good a model has been, as the command tells."""
    facts = json.loads(run(command, "inspect", path, "--json"))
    names = ("learnt", "scored_from_row", "mse", "mae", "accuracy", "balanced_accuracy", "log_loss", "calibration_error")
    return {name: facts.get(name) for name in names}


def test_cells_mean_what_they_mean_to_the_command():
    when = datetime.datetime(2024, 5, 31, 12, 30)
    spoken = [
        [when, np.datetime64(when), "2024-05-31T12:30", "31.05.2024 12:30", when.replace(tzinfo=datetime.timezone.utc)],
        [None, float("nan"), "", " ", "NA", "?", "null"],
        [True, "true", np.True_],
        [datetime.date(2024, 5, 31), "2024-05-31", datetime.datetime(2024, 5, 31)],
        [datetime.time(8, 29), "08:29:00"],
        [7, 7.0, np.float32(7), np.int64(7)],
    ]
    for same in spoken:
        value = same[0]
        filler = {float: 1.0, int: 1.0}.get(type(value), value)
        made = []
        for other in same:
            column = [filler if t % 2 else other for t in range(40)]
            rows = [{"a": float(t % 5), "b": cell} for t, cell in enumerate(column)]
            model = mercer.Pipeline(mercer.Krls(kernel="gaussian:1")).fit(rows, [one["a"] for one in rows])
            made.append((model.columns_, model.predict(rows).tolist()))
        assert all(one == made[0] for one in made), same


def messy(t):
    """A row of texts: signs, codes, days by the month, gaps, odd cells, long texts, names of rows."""
    humidity = "-" if t % 20 == 3 else "broken" if t == 30 else str(t * 7 % 50)
    note = f"the {t}th order was left at the back door of the house"
    cells = [1000 + t, f"{t % 12 + 1}/{t % 28 + 1}/2021", f"s{t % 3}", f"${t * 13 % 40}.50", f"{t % 5:03}", humidity, note, t * 13 % 40]
    names = ["order_id", "when", "shop", "price", "code", "humidity", "note", "amount"]
    return dict(zip(names, map(str, cells)))


def test_columns_are_those_of_the_command(command, tmp_path):
    """A messy table of texts is the same in a frame, in JSON and as CSV, where a code is a number of which it is told."""
    pd = pytest.importorskip("pandas")
    rows = [messy(t) for t in range(200)]
    (tmp_path / "d.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pd.DataFrame(rows).to_csv(tmp_path / "d.csv", index=False)
    ours = mercer.Pipeline()
    with pytest.warns(mercer.MercerWarning):
        ours.fit(pd.DataFrame(rows).drop(columns="amount"), [float(row["amount"]) for row in rows])

    def facts(columns):
        words = {column["name"]: [column["kind"], column["use"], column["why"]] for column in columns}
        for said in words.values():
            said[2] = re.sub(r'kinds={"(\w+)": "(\w+)"}', r"--as '\1=\2'", said[2])
        words.pop("amount", None)
        return words

    inspected = [json.loads(run(command, "inspect", tmp_path / name, "--target", "amount", "--json")) for name in ("d.ndjson", "d.csv")]
    in_json, in_csv = (facts(one["columns"]) for one in inspected)
    in_python = facts(ours.columns_)
    # Krls takes no tokens: a text is left out, which is told.
    assert "left out, for it is text" in in_python.pop("note")[2]
    assert {name: fact for name, fact in in_json.items() if name != "note"} == in_python
    assert in_csv["code"][0] == "number" and "code=category" in in_csv["code"][2]
    assert {**in_csv, "code": in_json["code"]} == in_json


def test_a_file_appears_whole_or_stays_as_it_is(tmp_path):
    path = tmp_path / "m.mercer"
    model = mercer.Krls(kernel="gaussian:1").fit([[0.0], [1.0]], [0.0, 1.0])
    model.save(path)
    path.chmod(0o640)
    good = path.read_bytes()
    for save in (mercer.Krls().save, lambda place: mercer.save(mercer.Krls(), place)):
        with pytest.raises(Exception, match=r"learnt|fitted"):
            save(path)
        assert path.read_bytes() == good
    mercer.save(model, path)
    assert path.read_bytes() == good and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "nowhere" / "m.mercer")
    with pytest.raises(OSError, match="not a file"):
        model.save(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["m.mercer"]


def test_rows_that_sum_up_others_are_left_out_and_told(tmp_path):
    rows = [f"{shop},{month},{10 * month}" for month in range(1, 13) for shop in ("Ulm", "Bonn")]
    (tmp_path / "t.csv").write_text("shop,month,sales\n" + "\n".join([*rows, "Total,,1560"]) + "\n")
    with pytest.warns(mercer.MercerWarning, match="keep_totals=True"):
        left = mercer.read(tmp_path / "t.csv")
    assert len(left["sales"]) == 24
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = mercer.read(tmp_path / "t.csv", keep_totals=True)
    assert len(kept["sales"]) == 25 and kept["shop"][-1] == "Total"
