"""MASE of statsforecast's methods, refitted at each origin: python peers.py FOLDER [SERIES...] prints lines of peers.csv."""

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from statsforecast.models import MSTL, AutoARIMA, AutoETS, AutoTheta, CrostonSBA, SeasonalNaive


def methods(periods: list[int], name: str) -> dict:
    """The methods that are run on a series: those of one season only where it is short."""
    m = periods[0] if periods else 1
    chosen = {"SNaive": SeasonalNaive(m)}
    if m <= 24:
        chosen |= {"AutoETS": AutoETS(season_length=m), "AutoTheta": AutoTheta(season_length=m)}
    if m <= 12:
        chosen["AutoARIMA"] = AutoARIMA(season_length=m)
    if periods:
        chosen["MSTL"] = MSTL(season_length=periods)
    if name.startswith("interm"):
        chosen["CrostonSB"] = CrostonSBA()
    return chosen


def mase(method, y: np.ndarray, origins: list[int], steps: int, m: int) -> float:
    """The mean absolute error over all origins and steps, in units of the mean change over a season before them."""
    errors = [np.abs(method.forecast(y[:o], steps)["mean"] - y[o : o + steps]) for o in origins]
    return float(np.mean(errors) / np.mean(np.abs(y[m : origins[0]] - y[: origins[0] - m])))


def main() -> None:
    folder, *names = sys.argv[1:]
    for row in csv.DictReader((Path(__file__).parent / "series.csv").open()):
        name, periods = row["series"], [int(period) for period in row["periods"].split()]
        if names and name not in names:
            continue
        y = pd.read_csv(Path(folder) / f"{name}.csv.gz")["y"].to_numpy(float)
        origins = [int(origin) for origin in row["origins"].split()]
        for title, method in methods(periods, name).items():
            score = mase(method, y, origins, int(row["steps"]), periods[0] if periods else 1)
            print(f"{name},{title},{score:.4g},", flush=True)


if __name__ == "__main__":
    main()
