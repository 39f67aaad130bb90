"""What Python costs: nanoseconds a row over the library's own time, measured in the same process, beside river and scikit-learn.

``python python/benches/overhead.py`` prints a table. Every number is the least of several passes in turn, so that a busy machine harms all alike.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mercer
from mercer import _mercer

#: Rows of a batch, and rows that are learnt one by one in a pass: few, so that some passes are undisturbed on a busy machine.
ROWS, SINGLE, FEATURES = 20_000, 2000, 10
PASSES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
NAMES = [f"feature_{i}" for i in range(FEATURES)]


def data(rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, FEATURES))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=rows)


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def learn_each(model: Any, inputs: list[Any], targets: list[float]) -> None:
    learn = model.learn_one
    for x, y in zip(inputs, targets, strict=True):
        learn(x, y)


def predict_each(model: Any, inputs: list[Any]) -> None:
    predict = model.predict_one
    for x in inputs:
        predict(x)


def measure(name: str, model: Any, X: Any, y: Any) -> list[str]:
    few, few_targets = X[:SINGLE], y[:SINGLE]
    dicts = [dict(zip(NAMES, row, strict=True)) for row in few.tolist()]
    lists, targets = few.tolist(), few_targets.tolist()
    one, listed, batch = type(model)(**model.get_params()), type(model)(**model.get_params()), type(model)(**model.get_params())
    learn_each(one, dicts, targets)
    learn_each(listed, lists, targets)
    batch.fit(X, y)
    best: dict[str, float] = {}

    def take(what: str, took: float, rows: int = SINGLE) -> None:
        best[what] = min(best.get(what, np.inf), took / rows * 1e9)

    for _ in range(PASSES):
        take("learn", _mercer.rates(model._settings(), few, few_targets)[0])
        _, together, predicted = _mercer.rates(model._settings(), X, y)
        take("block", together, len(X))
        take("predict", predicted, len(X))
        take("dict", seconds(lambda: learn_each(one, dicts, targets)))
        take("list", seconds(lambda: learn_each(listed, lists, targets)))
        take("fit", seconds(lambda: batch.partial_fit(X, y)), len(X))
        take("rows", seconds(lambda: batch.predict(X)), len(X))
        take("one", seconds(lambda: predict_each(one, dicts)))
    over = {what: best[what] - best["learn"] for what in ("dict", "list")}
    return [
        name, f"{best['learn']:.0f}", f"{best['dict']:.0f} (+{over['dict']:.0f})", f"{best['list']:.0f} (+{over['list']:.0f})",
        f"{best['block']:.0f}", f"{best['fit']:.0f} ({best['block'] / best['fit']:.0%})",
        f"{best['predict']:.0f}", f"{best['rows']:.0f} ({best['predict'] / best['rows']:.0%})", f"{best['one']:.0f}",
    ]  # fmt: skip


def peers(X: Any, y: Any) -> list[list[str]]:
    dicts = [dict(zip(NAMES, row, strict=True)) for row in X[:4000].tolist()]
    found = []
    try:
        from river import linear_model

        model = linear_model.LinearRegression()
        learnt = min(seconds(lambda: learn_each(model, dicts, y[:4000].tolist())) for _ in range(3)) / 4000 * 1e9
        told = min(seconds(lambda: predict_each(model, dicts)) for _ in range(3)) / 4000 * 1e9
        found.append(["river LinearRegression (linear, SGD)", "", f"{learnt:.0f}", "", "", "", "", "", f"{told:.0f}"])
    except ImportError:
        pass
    try:
        from sklearn.kernel_approximation import RBFSampler
        from sklearn.linear_model import SGDRegressor

        features = RBFSampler(gamma=0.05, n_components=400, random_state=1).fit(X)
        sgd = SGDRegressor(max_iter=1, tol=None)
        fit = min(seconds(lambda: sgd.partial_fit(features.transform(X), y)) for _ in range(3)) / len(X) * 1e9
        rows = min(seconds(lambda: sgd.predict(features.transform(X))) for _ in range(3)) / len(X) * 1e9
        found.append(["scikit-learn RBFSampler(400) + SGDRegressor", "", "", "", "", f"{fit:.0f}", "", f"{rows:.0f}", ""])
    except ImportError:
        pass
    return found


def main() -> None:
    X, y = data(ROWS)
    models = {
        "Fogd(features=400)": mercer.Fogd(features=400, kernel="gaussian:3"),
        "PkrrTaylor(degree=2), 66": mercer.PkrrTaylor(kernel="gaussian:3", degree=2, centre=0.0),
        "Krls, 100 points": mercer.Krls(kernel="gaussian:3", max_dictionary=100),
    }
    head = ["ns a row, d = 10", "Rust learn", "learn_one(dict)", "learn_one(list)", "Rust learn_rows", "partial_fit", "Rust predict", "predict", "predict_one(dict)"]
    table = [head, *[measure(name, model, X, y) for name, model in models.items()], *peers(X, y)]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, batches of {ROWS} rows, the least of {PASSES} passes\n")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in table[1:]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
