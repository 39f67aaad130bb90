"""Pictures with matplotlib, which has to be installed: ``pip install matplotlib``.

Every function draws into the axes that it is given, or into new ones, and returns them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._evaluation import Evaluation

__all__ = ["calibration", "dictionary", "eigenfunction", "forecast", "intervals", "learning_curve", "residuals", "spectrum"]


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def learning_curve(*evaluations: Evaluation, labels: list[str] | None = None, window: int | None = None, axes: Any = None) -> Any:
    """The mean loss of the rows so far, or of the last `window` rows, against the rows learnt; a line for each evaluation."""
    axes = _axes(axes)
    for place, one in enumerate(evaluations):
        axes.plot(np.arange(1, len(one.losses) + 1), one.curve(window), label=labels[place] if labels else None)
    axes.set_xlabel("rows learnt")
    axes.set_ylabel("mean loss" if window is None else f"mean loss of the last {window} rows")
    axes.set_yscale("log" if all((one.losses > 0).any() for one in evaluations) else "linear")
    if labels:
        axes.legend()
    return axes


def residuals(evaluation: Evaluation, *, axes: Any = None) -> Any:
    """What the targets were above their predictions, row by row."""
    axes = _axes(axes)
    gaps = np.asarray(evaluation.targets, dtype=float) - np.asarray(evaluation.predictions, dtype=float).reshape(np.shape(evaluation.targets))
    axes.plot(np.arange(1, len(gaps) + 1), gaps, ".", markersize=3)
    axes.axhline(0.0, color="0.7", linewidth=1)
    axes.set_xlabel("rows learnt")
    axes.set_ylabel("target − prediction")
    return axes


def calibration(model: Any, X: Any, y: Any, *, bins: int = 10, axes: Any = None) -> Any:
    """How often rows are of a class that is predicted with such a probability; a line for each class, or for the second of two."""
    axes = _axes(axes)
    classes, made, labels = model.classes_.tolist(), model.predict_proba(X), np.asarray(y).tolist()
    shown = list(enumerate(classes))[1:] if len(classes) == 2 else list(enumerate(classes))
    edges = np.linspace(0, 1, bins + 1)
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for column, label in shown:
        place = np.clip(np.digitize(made[:, column], edges) - 1, 0, bins - 1)
        counts = np.bincount(place, minlength=bins)
        right = np.bincount(place, weights=[float(one == label) for one in labels], minlength=bins)
        told = np.bincount(place, weights=made[:, column], minlength=bins)
        axes.plot(told[counts > 0] / counts[counts > 0], right[counts > 0] / counts[counts > 0], "o-", label=str(label))
    axes.set_xlabel("probability")
    axes.set_ylabel("share of rows")
    axes.legend()
    return axes


def forecast(model: Any, series: Any, steps: int, *, axes: Any = None) -> Any:
    """The end of a series and the forecast of a forecaster that has learnt it, `steps` rows ahead."""
    axes = _axes(axes)
    past, ahead = np.asarray(series, dtype=float), np.asarray(model.predict(steps))
    shown = past[-max(4 * steps, 50) :]
    axes.plot(np.arange(len(past) - len(shown), len(past)), shown, label="series")
    axes.plot(np.arange(len(past), len(past) + steps), ahead, "--", label="forecast")
    axes.set_xlabel("row")
    return axes


def intervals(model: Any, X: Any, y: Any = None, *, axes: Any = None) -> Any:
    """Predictions of rows in their order with their intervals, and the targets if they are given. The model has ``intervals=0.9``, say."""
    axes = _axes(axes)
    made, ends = model.predict(X), model.predict_interval(X)
    rows = np.arange(len(made))
    axes.fill_between(rows, ends[:, 0], ends[:, 1], alpha=0.3, label="interval")
    axes.plot(rows, made, label="prediction")
    if y is not None:
        axes.plot(rows, np.asarray(y), ".", markersize=3, label="target")
    axes.set_xlabel("row")
    axes.legend()
    return axes


def dictionary(model: Any, *, axes: Any = None) -> Any:
    """The states that a :class:`mercer.KoopmanOperator` keeps, in their first two coordinates."""
    axes = _axes(axes)
    points, _ = model.points_
    axes.plot(points[:, 0], points[:, 1] if points.shape[1] > 1 else np.zeros(len(points)), "o", markersize=4)
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    axes.set_title(f"{len(points)} states kept")
    return axes


def spectrum(model: Any, *, axes: Any = None) -> Any:
    """The eigenvalues of a Koopman operator in the complex plane, with the unit circle."""
    axes = _axes(axes)
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), color="0.7", linewidth=1)
    values = model.eigenvalues_
    axes.plot(values.real, values.imag, "o", markersize=4)
    axes.set_aspect("equal")
    axes.set_xlabel("real part")
    axes.set_ylabel("imaginary part")
    return axes


def eigenfunction(model: Any, which: int = 0, *, bounds: tuple[float, float, float, float] | None = None, grid: int = 60, axes: Any = None) -> Any:
    """The real part of an eigenfunction over a plane of two-dimensional states; `bounds` are ``(left, right, bottom, top)``."""
    axes = _axes(axes)
    points, _ = model.points_
    if points.shape[1] != 2:
        raise ValueError(f"the states have {points.shape[1]} coordinates, and the picture shows two")
    low, high = points.min(axis=0), points.max(axis=0)
    left, right, bottom, top = bounds or (low[0], high[0], low[1], high[1])
    x, y = np.meshgrid(np.linspace(left, right, grid), np.linspace(bottom, top, grid))
    values = model.eigenfunctions(np.column_stack([x.ravel(), y.ravel()]), which + 1)[:, which].real.reshape(grid, grid)
    picture = axes.pcolormesh(x, y, values, shading="auto", cmap="coolwarm")
    axes.figure.colorbar(picture, ax=axes)
    axes.set_title(f"eigenvalue {model.eigenvalues_[which]:.3f}")
    return axes
