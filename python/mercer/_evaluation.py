"""Prequential evaluation: every row is predicted before it is learnt."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._intake import Floats
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


    def to_frame(self) -> Any:
        """A row for each row of data: target, prediction and loss, as a pandas ``DataFrame``."""
        import pandas as pd

        several = np.ndim(self.targets) > 1
        columns = {"target": list(self.targets) if several else self.targets, "prediction": list(self.predictions) if several else self.predictions}
        return pd.DataFrame({**columns, "loss": self.losses})


@dataclass(frozen=True)
class Comparison:
    """What came of one pass for each of several models, the best first."""

    #: The passes by the names of their models.
    evaluations: dict[str, Evaluation]

    def to_frame(self) -> Any:
        """A row for each model: its scores and seconds, as a pandas ``DataFrame``."""
        import pandas as pd

        rows = {name: {**one.scores, "seconds": one.seconds} for name, one in self.evaluations.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    def __repr__(self) -> str:
        wide = max(map(len, self.evaluations), default=0)
        lines = [f"{name:{wide}}  {str(one)[11:-1]}" for name, one in self.evaluations.items()]
        return "\n".join(lines)


def compare(models: Mapping[str, Any] | Sequence[Any], X: Any, y: Any, *, skip: int = 0, sample_weight: Any = None) -> Comparison:
    """Has each model predict and learn the same rows, as :func:`evaluate` does: models of this library, of river and of scikit-learn, by names or
    called as they print.

    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(1).uniform(size=(400, 2))
    >>> list(mercer.compare([mercer.Kogd(), mercer.Krls()], X, np.sin(3 * X[:, 0]), skip=100).evaluations)
    ['Krls()', 'Kogd()']
    """
    named = dict(models) if isinstance(models, Mapping) else {str(one): one for one in models}
    made = {name: evaluate(one, X, y, skip=skip, sample_weight=sample_weight) for name, one in named.items()}

    def loss(name: str) -> float:
        return made[name].scores.get("mse", made[name].scores.get("error_rate", 0.0))

    return Comparison({name: made[name] for name in sorted(made, key=loss)})


def evaluate(model: Any, X: Any, y: Any, *, skip: int = 0, sample_weight: Any = None) -> Evaluation:
    """Predicts each row, then learns it; the model goes on from where it is.

    Rows before `skip` are learnt and do not count. For numbers the scores are ``mse``, ``rmse``, ``mae`` and ``r2`` (against the mean of the
    targets that count); for classes ``accuracy`` and ``error_rate``.

    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(1).uniform(size=(400, 2))
    >>> mercer.evaluate(mercer.Krls(kernel="gaussian:0.5"), X, np.sin(3 * X[:, 0]), skip=100).mse < 0.01
    True
    """
    targets = np.asarray(y)
    if not 0 <= skip < len(targets):
        raise ValueError(f"skip is {skip!r}, and there are {len(targets)} rows; some must be left to count")
    start = time.perf_counter()
    made = _predict_then_fit(model, X, y, sample_weight)
    seconds = time.perf_counter() - start
    weights = np.ones(len(made)) if sample_weight is None else np.array(sample_weight, dtype=float)
    weights[:skip] = 0.0
    if made.dtype == object:
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


def _predict_then_fit(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Predictions of rows before they are learnt, of our models or of others: by `predict_then_fit`, by river's methods or by scikit-learn's."""
    if hasattr(model, "predict_then_fit"):
        return model.predict_then_fit(X, y) if sample_weight is None else model.predict_then_fit(X, y, sample_weight)
    river = hasattr(model, "learn_one") and hasattr(model, "predict_one")
    if not river and not (hasattr(model, "partial_fit") and hasattr(model, "predict")):
        raise TypeError(f"{type(model).__name__} does not learn row by row: it has neither learn_one and predict_one nor partial_fit and predict")
    classes = _is_classifier(model, river)
    labels = np.asarray(y)
    rows = _rows(X)
    made: list[Any] = []
    for place, (row, label) in enumerate(zip(rows, labels.tolist(), strict=True)):
        weight = None if sample_weight is None else float(sample_weight[place])
        if river:
            guess = model.predict_one(row)
            model.learn_one(row, label, **({} if weight is None else {"w": weight}))
        else:
            values = [list(row.values())]
            guess = model.predict(values)[0] if place else (None if classes else 0.0)
            more: dict[str, Any] = {} if weight is None else {"sample_weight": [weight]}
            if classes and not place:
                more["classes"] = np.unique(labels)
            model.partial_fit(values, [label], **more)
        made.append(guess if classes or guess is not None else 0.0)
    if not classes and all(isinstance(one, (int, float, np.number)) and not isinstance(one, bool) for one in made):
        return np.array(made, dtype=float)
    kept = np.empty(len(made), dtype=object)
    kept[:] = made
    return kept


def _is_classifier(model: Any, river: bool) -> bool:
    """Whether a model of another library learns classes."""
    module = type(model).__module__.split(".")[0]
    if module == "river":
        from river import base

        # What others wrap, or end with, decides.
        while hasattr(model, "steps") or isinstance(model, base.Wrapper):
            model = list(model.steps.values())[-1] if hasattr(model, "steps") else model._wrapped_model
        return isinstance(model, base.Classifier)
    if module == "sklearn" or hasattr(model, "__sklearn_tags__"):
        from sklearn.base import is_classifier

        return bool(is_classifier(model))
    return hasattr(model, "predict_proba_one" if river else "predict_proba") or hasattr(model, "classes_")


def _rows(X: Any) -> Iterator[dict[Any, Any]]:
    """Rows as dictionaries."""
    if isinstance(X, Sequence) and X and isinstance(X[0], Mapping):
        yield from X
    elif hasattr(X, "to_dict") and hasattr(X, "iloc"):
        yield from X.to_dict("records")
    elif hasattr(X, "iter_rows"):
        yield from X.iter_rows(named=True)
    else:
        yield from (dict(enumerate(row)) for row in np.asarray(X).tolist())


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
