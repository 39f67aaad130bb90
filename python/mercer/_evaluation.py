"""Prequential evaluation: every row is predicted before it is learnt."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._base import KernelClassifier
from ._data import Floats
from ._notes import tell

#: Fewest rows of which anything can be said.
_FEWEST = 20
_MENDING = 'try another width (kernel="gaussian:SIGMA"), standardised inputs, mercer.Pipeline, or mercer.Auto'


@dataclass(frozen=True)
class Evaluation:
    """What came of one pass over the data."""

    #: The prediction for each row, made before it was learnt.
    predictions: Any
    #: The targets.
    targets: Any
    #: The loss of each row: the squared error, or 1 for a wrong class.
    losses: Floats
    #: Names and values of the scores.
    scores: dict[str, float]
    #: Seconds of the pass.
    seconds: float = field(compare=False)

    def __getattr__(self, name: str) -> float:
        scores = self.__dict__.get("scores", {})
        if name in scores:
            return float(scores[name])
        raise AttributeError(f"{name!r}; there are {', '.join(scores)}")

    def curve(self, window: int | None = None) -> Floats:
        """The mean loss of the rows so far, or of the last `window` rows, after each row."""
        sums = np.cumsum(self.losses)
        counts = np.arange(1, len(sums) + 1, dtype=float)
        if window is not None:
            sums[window:] = sums[window:] - np.cumsum(self.losses)[:-window]
            counts = np.minimum(counts, window)
        made: Floats = sums / counts
        return made

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={value:.4g}" for name, value in self.scores.items())
        return f"Evaluation({scores}, rows={len(self.losses)}, seconds={self.seconds:.3g})"


def evaluate(model: Any, X: Any, y: Any, *, skip: int = 0, sample_weight: Any = None) -> Evaluation:
    """Predicts each row, then learns it; the model goes on from where it is.

    Rows before `skip` are learnt and do not count. For numbers the scores are ``mse``, ``rmse``, ``mae`` and ``r2`` (against the mean of the
    targets that count); for classes ``accuracy`` and ``error_rate``.

    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(1).uniform(size=(400, 2))
    >>> mercer.evaluate(mercer.Krls(kernel="gaussian:0.5"), X, np.sin(3 * X[:, 0]), skip=100).mse < 0.01
    True
    """
    start = time.perf_counter()
    made = model.predict_then_fit(X, y) if sample_weight is None else model.predict_then_fit(X, y, sample_weight)
    seconds = time.perf_counter() - start
    weights = np.ones(len(made)) if sample_weight is None else np.array(sample_weight, dtype=float)
    weights[:skip] = 0.0
    targets = np.asarray(y)
    if isinstance(model, KernelClassifier) or made.dtype == object:
        losses = np.array([label != guess for label, guess in zip(targets.tolist(), made.tolist(), strict=True)], dtype=float)
        wrong = float(np.average(losses, weights=weights))
        most = max(weights[targets == label].sum() for label in set(targets.tolist())) / weights.sum()
        if (weights > 0).sum() >= _FEWEST and 1 - wrong <= most:
            tell([f"the accuracy is not above that of always predicting the most frequent class, {most:.6g}; {_MENDING}"])
        return Evaluation(made, targets, losses, {"accuracy": 1 - wrong, "error_rate": wrong}, seconds)
    targets = targets.astype(float).reshape(made.shape)
    errors = (made - targets).reshape(len(made), -1)
    losses = (errors**2).mean(axis=1)
    mse, mae = float(np.average(losses, weights=weights)), float(np.average(np.abs(errors).mean(axis=1), weights=weights))
    flat = targets.reshape(len(made), -1)
    spread = float(np.average(((flat - np.average(flat, axis=0, weights=weights)) ** 2).mean(axis=1), weights=weights))
    tell(_hopeless(mse, flat, weights))
    scores = {"mse": mse, "rmse": mse**0.5, "mae": mae, "r2": 1 - mse / spread if spread > 0 else float("nan")}
    return Evaluation(made, targets, losses, scores, seconds)


def _hopeless(mse: float, targets: Floats, weights: Floats) -> list[str]:
    """What is to be said where a constant would have done as well."""
    if (weights > 0).sum() < _FEWEST:
        return []
    counts = np.arange(1, len(targets))[:, None]
    means = np.vstack([np.zeros((1, targets.shape[1])), np.cumsum(targets, axis=0)[:-1] / counts])
    mean = float(np.average(((targets - means) ** 2).mean(axis=1), weights=weights))
    zero = float(np.average((targets**2).mean(axis=1), weights=weights))
    least, what = (zero, "0 everywhere") if zero <= mean else (mean, "the mean of the targets so far")
    if mse < least or least == 0:
        return []
    return [f"the error is not below that of predicting {what}, whose mean squared error is {least:.6g}; {_MENDING}"]
