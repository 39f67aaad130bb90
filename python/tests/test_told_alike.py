"""Messy rows in Python and in a file: what is told of columns and cells is the same, and so are the counts."""

from __future__ import annotations

import json
import re
import subprocess
import warnings

import pytest

import mercer

NAMES = ["order_id", "when", "shop", "price", "code", "humidity", "note", "amount"]


def row(t):
    """Signs, codes with zeros, days by the month, gaps, cells that do not fit, long texts, names of rows, shops that come late."""
    shop = t % 3 if t < 300 else t % 90
    humidity = "-" if t % 20 == 3 else "broken" if t in (330, 390) else str(t * 7 % 50)
    texts = [
        str(1000 + t),
        f"{t % 12 + 1}/{t % 28 + 1}/2021",
        f"s{shop}",
        f"${t * 13 % 40}.50",
        f"{t % 5:03}",
        humidity,
        f"the {t}th order was left at the back door of the house",
        str(t * 13 % 40 + shop),
    ]
    return dict(zip(NAMES, texts, strict=True))


def table(begin, end):
    return [row(t) for t in range(begin, end)]


def csv(rows):
    return "\n".join([",".join(NAMES), *(",".join(one.values()) for one in rows)]) + "\n"


def heard(act):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in caught if issubclass(one.category, mercer.MercerWarning)]


def of_python(line):
    """A line of the command in the words of Python."""
    return re.sub(r"--as '([^']*)=(\w+)'", r'kinds={"\1": "\2"}', line)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alike")
    (folder / "d.csv").write_text(csv(table(0, 300)), encoding="utf-8")
    (folder / "rest.csv").write_text(csv(table(300, 500)), encoding="utf-8")
    (folder / "odd.ndjson").write_text("".join(json.dumps(one) + "\n" for one in with_lists(table(300, 340))), encoding="utf-8")
    return folder


def with_lists(rows):
    """The same rows, each fifth with a list for its shop."""
    return [{**one, "shop": ["s1", "s2"]} if t % 5 == 2 else one for t, one in enumerate(rows)]


def run(command, *arguments):
    done = subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True)
    return [line.removeprefix("mercer: ") for line in done.stderr.splitlines() if line.startswith("mercer: ")]


def fitted():
    rows = table(0, 300)
    features = [{name: value for name, value in one.items() if name != "amount"} for one in rows]
    model = mercer.Pipeline(mercer.Krls(), scale="standard")
    return model, heard(lambda: model.fit(features, [float(one["amount"]) for one in rows]))


def test_columns_are_told_in_the_same_words(command, folder):
    said = run(command, "train", folder / "d.csv", "--target", "amount", "--learner", "krls", "--scale", "standard", "--out", folder / "m.mercer")
    by_command = {of_python(line) for line in said if line.startswith('column "') and "cells" not in line.split(":")[1][:12]}
    _, by_python = fitted()
    columns = {line for line in by_python if line.startswith('column "')}
    assert any("left out, for it names rows" in line for line in columns)
    # Whatever is in doubt or left out; plain categories and times are told by the command alone.
    assert columns <= by_command, columns - by_command


def test_odd_cells_are_told_and_counted_alike(command, folder):
    model, _ = fitted()
    model.save(folder / "p.mercer")
    before = model.counts_
    rest = [{name: value for name, value in one.items() if name != "amount"} for one in table(300, 500)]
    said = heard(lambda: model.predict(rest))
    by_command = run(command, "predict", folder / "rest.csv", "--model", folder / "p.mercer")
    words = {line.split(", ", 1)[1] for line in by_command if "column " in line and ", line " in line}
    ours = [re.sub(r"^row \d+, ", "", line) for line in said]
    for line in ours:
        assert any(line == told.split(", ", 1)[-1] or line in told for told in words), (line, words)
    assert any("broken" in line for line in ours)
    counts = {name: model.counts_[name] - before[name] for name in before}
    for fact, told in (("misfits", "did not fit and counted as missing"), ("hashed", "of categories without a number of their own")):
        count = sum(int(number) for line in by_command for number in re.findall(rf"(\d+) cells? {told}", line))
        assert counts[fact] == count > 1, (fact, counts, by_command)


def test_a_list_among_categories_does_not_fit(command, folder):
    model, _ = fitted()
    before = model.counts_
    rows = [{name: value for name, value in one.items() if name != "amount"} for one in with_lists(table(300, 340))]
    said = heard(lambda: model.predict(rows))
    assert any('column "shop"' in line and "does not fit its column" in line for line in said), said
    model.save(folder / "l.mercer")
    by_command = run(command, "predict", folder / "odd.ndjson", "--model", folder / "l.mercer")
    [count] = [int(number) for line in by_command for number in re.findall(r'column "shop": (\d+) cells did not fit', line)]
    assert count == 8 and model.counts_["misfits"] - before["misfits"] >= count


def test_a_file_with_models_of_groups_is_refused_with_the_way_on(command, folder):
    run(command, "train", folder / "d.csv", "--target", "amount", "--learner", "krls", "--group", "shop", "--out", folder / "g.mercer")
    with pytest.raises(Exception, match=r"each group.*mercer predict"):
        mercer.load(folder / "g.mercer")
