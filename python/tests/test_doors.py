"""Doors × values: a model of the command answers rows of Python's types as it answers the file, and a model of Python the files."""

from __future__ import annotations

import csv
import datetime
import json
import subprocess

import numpy as np
import pytest

import mercer

NAMES = ["flag", "when", "day", "clock", "took", "shop", "count", "size", "y"]


def table(rows=60):
    """A row of every kind of value, as Python's own types."""
    draw = np.random.default_rng(7).random((rows, 6))
    start = datetime.datetime(2023, 11, 14, 22, 13, tzinfo=datetime.timezone.utc)
    made = []
    for t, (flag, when, clock, took, count, size) in enumerate(draw):
        minutes = int(clock * 1440)
        row = {
            "flag": bool(flag < 0.5),
            "when": start + datetime.timedelta(minutes=int(when * 500_000)),
            "day": datetime.date(2022, 1, 8) + datetime.timedelta(days=int(400 * when)),
            "clock": datetime.time(minutes // 60, minutes % 60),
            "took": datetime.timedelta(minutes=int(took * 3000)),
            "shop": ("Ulm", "Bonn", "São Paulo")[t % 3],
            "count": int(count * 50),
            "size": None if t % 7 == 3 else round(size * 1e4) / 16,
        }
        row["y"] = 2.0 * row["flag"] + abs(minutes / 720 - 1) + row["took"].total_seconds() / 90_000 + (row["size"] or 300.0) / 600
        made.append(row)
    return made


def texts(row):
    """The row as pandas writes it."""
    took = row["took"]
    hours, rest = divmod(took.seconds, 3600)
    size = "" if row["size"] is None else repr(row["size"])
    when = row["when"].strftime("%Y-%m-%d %H:%M:%S")
    cells = [str(row["flag"]), when, row["day"].isoformat(), row["clock"].isoformat()]
    return [*cells, f"{took.days} days {hours:02}:{rest // 60:02}:00", row["shop"], str(row["count"]), size, repr(row["y"])]


def lines(row):
    """The row as a JSON object with a type for truth values and numbers."""
    return {**dict(zip(NAMES, texts(row), strict=True)), **{name: row[name] for name in ("flag", "count", "size", "y")}}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NAMES, *map(texts, table())])
    (folder / "t.ndjson").write_text("".join(json.dumps(lines(row)) + "\n" for row in table()), encoding="utf-8")
    return folder


def run(command, *arguments):
    return subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def told(command, model, path):
    """The predictions of the command for the rows of a file."""
    out = run(command, "predict", path, "--model", model).splitlines()
    return [json.loads(line)["prediction"] if line.startswith("{") else float(line) for line in out if line != "prediction"]


def faces():
    """The rows without their targets, as each library has them."""
    features = [{name: row[name] for name in NAMES[:-1]} for row in table()]
    yield "dicts", features
    yield "texts", [dict(zip(NAMES[:-1], texts(row), strict=False)) for row in table()]
    yield "reversed", [dict(reversed(row.items())) for row in features]
    columns = {name: [row[name] for row in features] for name in NAMES[:-1]}
    yield "columns", columns
    for library, make in (("pandas", lambda lib: lib.DataFrame(columns)), ("polars", lambda lib: lib.DataFrame(columns)),
                          ("pyarrow", lambda lib: lib.table(columns))):  # fmt: skip
        try:
            yield library, make(__import__(library))
        except ImportError:
            pass


@pytest.mark.parametrize("door", ["t.csv", "t.ndjson"])
def test_a_model_of_the_command_answers_rows_of_python(command, files, door):
    saved = files / "m.mercer"
    run(command, "train", files / door, "--target", "y", "--learner", "krls", "--scale", "standard", "--quiet", "--out", saved)
    expected = told(command, saved, files / door)
    model = mercer.load(saved)
    for name, rows in faces():
        np.testing.assert_allclose(model.predict(rows), expected, rtol=0, atol=1e-9, err_msg=name)
    ours = [model.predict_one({name: row[name] for name in NAMES[:-1]}) for row in table()]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)
    # Other truth values would be found.
    turned = [{name: not row[name] if name == "flag" else row[name] for name in NAMES[:-1]} for row in table()]
    assert (np.abs(model.predict(turned) - expected) > 1e-3).all()


def test_a_model_of_python_answers_files(command, files):
    target = [row["y"] for row in table()]
    for name, rows in faces():
        model = mercer.Pipeline(mercer.Krls(kernel="gaussian:2")).fit(rows, target)
        model.save(files / "p.mercer")
        expected = model.predict(rows)
        for door in ("t.csv", "t.ndjson"):
            np.testing.assert_allclose(told(command, files / "p.mercer", files / door), expected, rtol=0, atol=1e-9, err_msg=f"{name}, {door}")
