"""scikit-learn and river without importing them: they become bases of our classes, or take them for theirs, when they are imported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import numpy as np

from ._without import MarksOutliers, Parameters, Root, ScoresClasses, ScoresNumbers

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "OutlierMixin",
    "RegressorMixin",
    "RiverAnomalyDetector",
    "RiverClassifier",
    "RiverDriftDetector",
    "RiverForecaster",
    "RiverRegressor",
    "check_classes",
    "checked_targets",
    "checked_weights",
    "not_fitted",
    "when",
]


class BaseEstimator(Parameters):
    """scikit-learn's class of this name, once it is imported."""


class RegressorMixin(ScoresNumbers):
    """scikit-learn's class of this name, once it is imported."""


class ClassifierMixin(ScoresClasses):
    """scikit-learn's class of this name, once it is imported."""


class OutlierMixin(MarksOutliers):
    """scikit-learn's class of this name, once it is imported."""


class RiverRegressor:
    """river's methods, once it is imported."""


class RiverClassifier:
    """river's methods, once it is imported."""


class RiverForecaster:
    """river's methods, once it is imported."""


class RiverAnomalyDetector:
    """river's methods, once it is imported."""


class RiverDriftDetector(Root):
    """river's class of this name, once it is imported."""


class _Imports:
    """A finder that acts when a module is imported for the first time."""

    def __init__(self, name: str, act: Callable[[ModuleType], None]) -> None:
        self.name, self.act = name, act

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                self.act(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def when_imported(name: str, act: Callable[[ModuleType], None]) -> None:
    """Has `act` done with a module as soon as it is imported, or now."""
    if name in sys.modules:
        act(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Imports(name, act))


def _join_sklearn(base: ModuleType) -> None:
    """Its classes take the place of ours among the bases, so that all that scikit-learn does for its own estimators it does for ours."""
    own = {
        BaseEstimator: base.BaseEstimator,
        RegressorMixin: base.RegressorMixin,
        ClassifierMixin: base.ClassifierMixin,
        OutlierMixin: base.OutlierMixin,
    }
    for ours, theirs in own.items():
        ours.__bases__ = (theirs,)
    # What it does for each class when the class is made.
    classes = list(BaseEstimator.__subclasses__())
    for one in classes:
        classes.extend(kind for kind in one.__subclasses__() if kind not in classes)
        if issubclass(one, BaseEstimator):
            super(BaseEstimator, one).__init_subclass__()


def _without_inheritance(base: Any) -> dict[str, Any]:
    """What river's classes define, to be put into a class that does not derive from them.

    Scikit-learn refuses an estimator with a base class that has ``_more_tags`` and no ``__sklearn_tags__``, as river's have. So the
    learners are registered as river's, and have their methods.
    """
    left_out = {"__module__", "__dict__", "__weakref__", "__doc__", "__qualname__", "__firstlineno__", "__static_attributes__"}
    left_out |= {"__abstractmethods__", "_abc_impl", "__repr__", "__str__", "_repr_html_", "_more_tags", "__orig_bases__", "__parameters__"}
    found: dict[str, Any] = {}
    for one in reversed(base.__mro__[:-1]):
        found.update({name: value for name, value in vars(one).items() if name not in left_out})
    return {name: value for name, value in found.items() if not getattr(value, "__isabstractmethod__", False)}


def _join_river(ours: Any, theirs: Any, methods: Any = None) -> None:
    for name, value in _without_inheritance(methods or theirs).items():
        setattr(ours, name, value)
    theirs.register(ours)


def _join_river_anomalies(base: ModuleType) -> None:
    _join_river(RiverAnomalyDetector, base.AnomalyDetector)


def _join_river_models(base: ModuleType) -> None:
    _join_river(RiverRegressor, base.MiniBatchRegressor)
    _join_river(RiverClassifier, base.MiniBatchClassifier)
    # Of older ones in river.anomaly.base.
    if hasattr(base, "AnomalyDetector"):
        _join_river_anomalies(base)
    # No estimators of scikit-learn, and river's class takes none for its own that does not derive from it.
    RiverDriftDetector.__bases__ = (base.DriftDetector,)


def _join_river_series(base: ModuleType) -> None:
    from river.base import Estimator

    _join_river(RiverForecaster, base.Forecaster, Estimator)


when_imported("sklearn.base", _join_sklearn)
when_imported("river.base", _join_river_models)
when_imported("river.anomaly.base", _join_river_anomalies)
when_imported("river.time_series.base", _join_river_series)


def not_fitted(message: str) -> Exception:
    """scikit-learn's exception where it is imported."""
    if "sklearn.exceptions" in sys.modules:
        return sys.modules["sklearn.exceptions"].NotFittedError(message)
    from ._without import NotFittedError

    return NotFittedError(message)


def checked_targets(estimator: Any, rows: Any, y: Any, *, multi_output: bool = False, numeric: bool = True) -> Any:
    """The targets of rows that are known to be sound."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if "sklearn.base" in sys.modules:
        from sklearn.utils import check_array, check_consistent_length, column_or_1d

        y = check_array(y, ensure_2d=False, dtype="numeric" if numeric else None, input_name="y", estimator=estimator)
        check_consistent_length(rows, y)
        return y if multi_output and y.ndim == 2 else column_or_1d(y, warn=True)
    y = np.asarray(y)
    if len(y) != len(rows):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(rows), len(y)]}")
    return y


def check_classes(y: Any) -> None:
    """Refuses targets that are numbers with fractions, and no classes."""
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError(f"Unknown label type: continuous. The targets are numbers such as {y[y != np.floor(y)][0]!r}; take a regressor, or give texts")


def checked_weights(sample_weight: Any, rows: int) -> Any:
    """Weights as an array, or None."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite numbers of at least 0.")
    if rows and not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


class when:
    """A method that an object has only if `condition(object)` holds, so that ``hasattr`` tells."""

    def __init__(self, condition: Any) -> None:
        self.condition = condition
        self.method: Any = None

    def __call__(self, method: Any) -> Any:
        self.method = method
        self.__doc__ = method.__doc__
        self.__name__ = method.__name__
        return self

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is not None and not self.condition(instance):
            raise AttributeError(f"this {owner.__name__!r} has no attribute {self.__name__!r}; see its documentation")
        return self.method.__get__(instance, owner)
