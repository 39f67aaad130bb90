"""What scikit-learn's classes do, for those who do not have it; and their types, which it does not tell."""

from __future__ import annotations

import inspect
from typing import Any, Self


class Root:
    """Something to stand on: bases are exchanged above ``object`` only."""


class Parameters(Root):
    """What scikit-learn's ``BaseEstimator`` does."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters with their values; with `deep` also those of learners among them, as ``learner__lambda_``."""
        told = inspect.signature(type(self)).parameters.values()
        params = {one.name: getattr(self, one.name) for one in told if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
        for name, value in list(params.items()):
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params.update({f"{name}__{inner}": one for inner, one in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets parameters; they count from the next ``fit`` on."""
        known = self.get_params(deep=False)
        for name, value in params.items():
            own, _, inner = name.partition("__")
            if own not in known or (inner and not hasattr(known[own], "set_params")):
                raise ValueError(f"Invalid parameter {own!r} for estimator {self!r}. Valid parameters are: {list(known)!r}.")
            if inner:
                getattr(self, own).set_params(**{inner: value})
            else:
                setattr(self, own, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Only scikit-learn asks for its tags."""
        raise NotImplementedError("scikit-learn is not installed")

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in inspect.signature(type(self)).parameters.items()
            if getattr(self, name) != parameter.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


class _Predicts(Root):
    def predict(self, X: Any) -> Any:
        """Predictions for rows."""
        raise NotImplementedError


class ScoresNumbers(_Predicts):
    """``score`` for learners of numbers."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R²."""
        import numpy as np

        y, predicted = np.asarray(y, dtype=float), self.predict(X)
        centred = y - np.average(y, axis=0, weights=sample_weight)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        return float(1 - (weights * (y - predicted).T ** 2).sum() / (weights * centred.T**2).sum())


class ScoresClasses(_Predicts):
    """``score`` for learners of classes."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        import numpy as np

        right = np.asarray(y) == self.predict(X)
        return float(np.average(right, weights=sample_weight))


class MarksOutliers(_Predicts):
    """``fit_predict`` for detectors of outliers."""

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """-1 for an outlier among the rows that are learnt, 1 for others."""
        return self.fit(X).predict(X)  # type: ignore[attr-defined]


class NotFittedError(ValueError, AttributeError):
    """Something is asked of a model that has learnt nothing yet."""
