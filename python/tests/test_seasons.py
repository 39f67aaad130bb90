"""Tables of season mixtures, effects, scenarios and totals: those of the command on the same rows, and sound by themselves."""

from __future__ import annotations

import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import forecasting

ROWS = 180


def shop():
    """Two outputs that a promotion moves, with gaps and three odd values."""
    rng = np.random.default_rng(3)
    t = np.arange(ROWS + 5)
    promotion = (rng.uniform(size=len(t)) < 0.2).astype(float)
    price = 5 + rng.uniform(size=len(t)).round(2)
    sold = 60 + 0.1 * t + 8 * np.sin(2 * np.pi * t / 7) + 15 * promotion - 4 * price + rng.normal(size=len(t))
    seen = 20 + 3 * np.cos(2 * np.pi * t / 7) + 2 * promotion + 0.5 * rng.normal(size=len(t))
    frame = pd.DataFrame({"sold": sold, "seen": seen, "promotion": promotion, "price": price}).round(3)
    frame.loc[[50, 51, 90], "sold"] = np.nan
    frame.loc[[70, 130], "sold"] += [60, -45]
    frame.loc[150, "seen"] = 90
    return frame


OUTPUTS, INPUTS = ["sold", "seen"], ["promotion", "price"]


def run(command, folder, line):
    done = subprocess.run([command, "forecast", *line.split()], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if "--json" in line else done.stdout


def same(table, theirs, columns=None):
    """The columns of a table are those of the command's."""
    table = pd.DataFrame(table)
    for name in theirs.columns if columns is None else columns:
        ours = table[name]
        if ours.dtype.kind in "fi":
            np.testing.assert_allclose(ours.to_numpy(dtype=float), theirs[name].to_numpy(dtype=float), rtol=1e-12, atol=1e-12, err_msg=name)
        else:
            assert [str(one) for one in ours] == [str(one) for one in theirs[name]], name


@pytest.fixture(scope="module")
def shown(command, tmp_path_factory):
    """What the command makes of the shop, in a folder."""
    folder, frame = tmp_path_factory.mktemp("shop"), shop()
    frame[:ROWS].to_csv(folder / "shop.csv", index=False)
    frame[ROWS:][INPUTS].to_csv(folder / "plan.csv", index=False)
    (frame[ROWS:][INPUTS] + [1.0, -2.0]).to_csv(folder / "bold.csv", index=False)
    line = "shop.csv --target sold,seen --known promotion,price --season 7 --intervals 0.8 --quantiles 0.1,0.5 --steps 5 --backtest 4 --json"
    told = run(
        command, folder, f"{line} --future plan.csv --future bold.csv --parts parts.csv --anomalies odd.csv --anomaly-share 0.98 --backtest-rows back.csv"
    )
    return folder, told


def learnt(**words):
    frame = shop()
    return forecasting.Season(season=7, intervals=0.8, **words), frame[:ROWS], frame[ROWS:]


def test_parts_and_anomalies_are_the_commands(shown):
    folder, told = shown
    model, past, coming = learnt()
    table = model.explain_then_fit(past[OUTPUTS], past[INPUTS], anomaly_share=0.98)
    ahead = model.explain(5, coming[INPUTS])
    theirs = pd.read_csv(folder / "parts.csv")
    first = theirs[theirs["scenario"].isna()]
    same(table, first, first.columns.drop("scenario"))
    plan = theirs[theirs["scenario"] == "plan"]
    same(ahead, plan, plan.columns.drop(["scenario", "y", "remainder"]))
    odd = pd.DataFrame(table)
    assert odd["anomaly"].sum() == told["anomalies"]["count"] >= 3
    assert (~odd["lower"].isna() & ~odd["y"].isna()).sum() == told["anomalies"]["judged"]
    same(odd[odd["anomaly"]], pd.read_csv(folder / "odd.csv"))
    # One after the other is the same, and so is one row.
    again, _, _ = learnt()
    halves = [again.explain_then_fit(past[a:b][OUTPUTS], past[a:b][INPUTS], anomaly_share=0.98) for a, b in [(0, 99), (99, 100), (100, ROWS)]]
    same(pd.concat([pd.DataFrame(half) for half in halves]), odd, odd.columns)


def test_a_backtest_is_the_commands(shown):
    folder, _ = shown
    model, past, _ = learnt()
    table = model.backtest_then_fit(past[OUTPUTS], past[INPUTS], steps=5, origins=4, quantiles=[0.1, 0.5])
    theirs = pd.read_csv(folder / "back.csv")
    assert len(theirs) == 4 * 5 * 2 and set(theirs.columns) - set(table) == {"scale"}
    same(table, theirs, theirs.columns.drop("scale"))
    # An origin knows no row behind it: forecasts are those of a model that has learnt so far.
    origin = int(table["origin"][0])
    other, past, _ = learnt()
    other.fit(past[:origin][OUTPUTS], past[:origin][INPUTS])
    made = other.predict(5, past[origin : origin + 5][INPUTS])
    assert (table["forecast"][:10].reshape(5, 2) == made).all()
    assert (np.diff(np.unique(table["origin"])) == 5).all()


def test_effects_and_scenarios_are_the_commands(shown):
    folder, told = shown
    model, past, coming = learnt()
    model.fit(past[OUTPUTS], past[INPUTS])
    for ours, theirs in zip(model.input_effects_, told["input_effects"], strict=True):
        assert [*ours] == [*theirs] and (ours["column"], ours["input"]) == (theirs["column"], theirs["input"])
        words = ("per_unit", "standard_error", "of_mean", "share")
        assert [ours[name] for name in words] == pytest.approx([theirs[name] for name in words], rel=1e-12)
    assert abs(model.input_effects_[0]["per_unit"] - 15) < 1 and model.periods_ == told["periods"]
    futures = {"plan": coming[INPUTS], "bold": coming[INPUTS] + [1.0, -2.0]}
    made = model.predict_scenarios(futures)
    for name, rows in made.items():
        np.testing.assert_allclose(rows, told["scenarios"][name]["forecast"], rtol=1e-12)
    # A promotion more, and a price that is two less.
    assert (made["bold"] - made["plan"])[:, 0] == pytest.approx(15 + 8, abs=2)
    with pytest.raises(mercer.DataError, match="'bold' has 4 rows, and 'plan' has 5"):
        model.predict_scenarios({**futures, "bold": futures["bold"][:4]})


def test_parts_sum_to_forecasts_that_no_table_changes():
    model, past, coming = learnt()
    table = model.explain_then_fit(past[OUTPUTS], past[INPUTS], parts=True, anomaly_share=None)
    assert not {"lower", "upper", "anomaly"} & table.keys()
    parts = [table[name] for name in ("trend", "season", "effect_promotion", "effect_price", "rest")]
    np.testing.assert_allclose(sum(parts), table["forecast"], atol=1e-9)
    plain, _, _ = learnt()
    assert (plain.predict_then_fit(past[OUTPUTS], past[INPUTS]).ravel() == table["forecast"]).all()
    assert (plain.predict(5, coming[INPUTS]) == model.predict(5, coming[INPUTS])).all()
    told, _, _ = learnt()
    told.backtest_then_fit(past[OUTPUTS], past[INPUTS], steps=3)
    assert (told.predict(5, coming[INPUTS]) == model.predict(5, coming[INPUTS])).all()
    names = model.explain_then_fit(past[:1][OUTPUTS], past[:1][INPUTS], parts=False)
    assert [*names] == ["k", "column", "y", "forecast", "lower", "upper", "anomaly"] and names["k"].tolist() == [ROWS, ROWS]


def test_tables_have_the_times_of_the_rows():
    t = np.arange(60)
    sales = pd.Series(100 + t + 10 * np.sin(np.pi * t / 6), pd.date_range("2020-01-01", periods=60, freq="MS"), name="sales")
    model = forecasting.Season(season=12)
    table = pd.DataFrame(model.explain_then_fit(sales))
    assert (table["time"] == sales.index).all() and "column" not in table
    assert (pd.DataFrame(model.explain(3))["time"] == pd.date_range("2025-01-01", periods=3, freq="MS")).all()
    back = pd.DataFrame(forecasting.Season(season=12).backtest_then_fit(sales, steps=6, origins=2))
    assert (back["y"].to_numpy() == sales[back["time"]].to_numpy()).all() and len(back) == 12


def test_what_tables_refuse():
    model = forecasting.Season(season=7)
    for act in (lambda: model.input_effects_, lambda: model.periods_):
        with pytest.raises(AttributeError):
            act()
    with pytest.raises(mercer.SettingsError, match="0.5 to below 1"):
        model.explain_then_fit(np.arange(30.0), anomaly_share=1.0)
    with pytest.raises(mercer.SettingsError, match="steps is 0"):
        model.backtest_then_fit(np.arange(30.0), steps=0)
    with pytest.raises(mercer.SettingsError, match="at most 2000 steps"):
        model.backtest_then_fit(np.arange(30.0), steps=2001)
    with pytest.raises(mercer.SettingsError, match="light is 'yes'"):
        forecasting.Season(light="yes").fit(np.arange(30.0))
    assert len(forecasting.Season(season=7).backtest_then_fit(np.arange(30.0), steps=20)["y"]) == 0


def groups():
    """Four series of a season, of which one has a gap."""
    rng = np.random.default_rng(5)
    t = np.arange(90)
    columns = {f"g{i}": (30 + 3 * i + 5 * np.sin(2 * np.pi * (t + i) / 7) + (1 + 0.2 * i) * rng.normal(size=90)).round(3) for i in range(4)}
    frame = pd.DataFrame(columns)
    frame.loc[40, "g1"] = np.nan
    return frame


@pytest.mark.parametrize("how", ["bottom-up", "mint"])
def test_totals_are_the_commands(command, tmp_path, how):
    frame = groups()
    long = frame.reset_index().melt("index", var_name="group", value_name="y").sort_values(["index", "group"])
    long["day"] = pd.date_range("2024-01-01", periods=90)[long["index"]].strftime("%Y-%m-%d")
    long[["day", "group", "y"]].to_csv(tmp_path / "long.csv", index=False)
    told = run(command, tmp_path, f"long.csv --group group --target y --season 7 --steps 6 --total {how} --json")
    frame.index = pd.date_range("2024-01-01", periods=90)
    model = forecasting.Totals(how=how, season=7)
    made = model.fit(frame[:50]).partial_fit(frame[50:]).predict(6)
    assert [*made.columns] == ["g0", "g1", "g2", "g3", "total"] and made.index[0] == pd.Timestamp("2024-03-31")
    np.testing.assert_allclose(made.drop(columns="total").sum(axis=1), made["total"])
    theirs = {**{name: group["forecast"] for name, group in told["groups"].items()}, "total": told["total"]["forecast"]}
    for name in ("g0", "g1", "g2", "g3", "total"):
        np.testing.assert_allclose(made[name], np.ravel(theirs[name]), rtol=1e-12, err_msg=name)
    again = pickle.loads(pickle.dumps(model)).predict(6)
    assert (again == made).all(axis=None)
    rows = forecasting.Totals(how=how, season=7).fit(frame.to_numpy()).predict(6)
    assert rows.shape == (6, 5) and (rows == made.to_numpy()).all()


def test_a_series_that_begins_late_adds_nothing_before():
    frame = groups()
    frame.loc[:24, "g3"] = np.nan
    late = forecasting.Totals(how="bottom-up", season=7).fit(frame.to_numpy())
    own = forecasting.Season(season=7, light=True).fit(frame["g3"][25:].to_numpy())
    assert (late.predict(3)[:, 3] == own.predict(3)).all()
    sums = frame.sum(axis=1).to_numpy(copy=True)
    sums[40] = np.nan
    total = forecasting.Season(season=7, light=True).fit(sums)
    assert (late._total.predict(3) == total.predict(3)).all()


def test_what_totals_refuse():
    with pytest.raises(mercer.SettingsError, match="bottom-up, mint"):
        forecasting.Totals(how="top-down").fit(groups())
    with pytest.raises(mercer.DataError, match="'total', too"):
        forecasting.Totals().fit(groups().rename(columns={"g0": "total"}))
    with pytest.raises(mercer.NotLearntError):
        forecasting.Totals().predict()
    frame = groups()
    frame["g2"] = np.nan
    with pytest.raises(mercer.DataError, match="series 'g2' had no value yet"):
        forecasting.Totals(season=7).fit(frame).predict()
