"""scikit-learn and river, where they are installed; their absence costs their faces and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "NotFittedError",
    "RegressorMixin",
    "RiverClassifier",
    "RiverForecaster",
    "RiverRegressor",
    "checked",
    "checked_weights",
    "when",
]

if TYPE_CHECKING:
    from ._without import BaseEstimator, ClassifierMixin, NotFittedError, RegressorMixin

    HAS_SKLEARN = HAS_RIVER = True

    class RiverRegressor:
        """River's methods."""

    class RiverForecaster:
        """River's methods."""

    class RiverClassifier:
        """River's methods."""

    def validate_data(*args: Any, **kwargs: Any) -> Any:
        """Scikit-learn's."""
else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import validate_data

        HAS_SKLEARN = True
    except ImportError:  # pragma: no cover - tested in a process of its own
        from ._without import BaseEstimator, ClassifierMixin, NotFittedError, RegressorMixin

        HAS_SKLEARN = False


def _without_inheritance(*bases: Any) -> dict[str, Any]:
    """What river's classes define, to be put into a class that does not derive from them.

    Scikit-learn refuses an estimator with a base class that has ``_more_tags`` and no ``__sklearn_tags__``, as river's have. So the
    learners are registered as river's, and have their methods.
    """
    left_out = {"__module__", "__dict__", "__weakref__", "__doc__", "__qualname__", "__firstlineno__", "__static_attributes__"}
    left_out |= {"__abstractmethods__", "_abc_impl", "__repr__", "__str__", "_repr_html_", "_more_tags", "__orig_bases__", "__parameters__"}
    found: dict[str, Any] = {}
    for base in bases:
        for one in reversed(base.__mro__[:-1]):
            defined = {name: value for name, value in vars(one).items() if name not in left_out}
            found.update({name: value for name, value in defined.items() if not getattr(value, "__isabstractmethod__", False)})
    return found


if not TYPE_CHECKING:
    try:
        from river.base import Estimator as _Estimator
        from river.base import MiniBatchClassifier as _MiniBatchClassifier
        from river.base import MiniBatchRegressor as _MiniBatchRegressor

        HAS_RIVER = True
        RiverRegressor = type("RiverRegressor", (), _without_inheritance(_MiniBatchRegressor))
        RiverClassifier = type("RiverClassifier", (), _without_inheritance(_MiniBatchClassifier))
        RiverForecaster = type("RiverForecaster", (), _without_inheritance(_Estimator))
        _MiniBatchRegressor.register(RiverRegressor)
        _MiniBatchClassifier.register(RiverClassifier)
    except ImportError:  # pragma: no cover - tested in a process of its own
        HAS_RIVER = False

        class RiverRegressor:
            """Nothing: river is not installed."""

        class RiverForecaster:
            """Nothing: river is not installed."""

        class RiverClassifier:
            """Nothing: river is not installed."""


def checked(estimator: Any, X: Any, y: Any = None, *, reset: bool, predicting: bool = False, multi_output: bool = False, numeric: bool = True) -> Any:
    """Inputs (and targets) as arrays, refused with scikit-learn's messages where it is installed. With ``reset`` the number and the names of
    the features are noted, without it they are compared."""
    from . import _data

    if not predicting and y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    X = _data.frame(X)
    if type(X).__module__.split(".")[0] == "pyarrow":
        X = X.to_pandas()
    if HAS_SKLEARN:
        options: dict[str, Any] = {"dtype": "float64", "order": "C", "ensure_min_samples": 1}
        if y is None:
            return validate_data(estimator, X, reset=reset, **options)
        X, y = validate_data(estimator, X, y, reset=reset, multi_output=multi_output, y_numeric=numeric, **options)
        return X, y
    import numpy as np

    rows = _data.table(X)
    if not np.isfinite(rows).all():
        raise ValueError("Input X contains NaN or infinity; drop the rows or replace missing values by numbers.")
    if reset:
        estimator.n_features_in_ = rows.shape[1]
    elif rows.shape[1] != getattr(estimator, "n_features_in_", rows.shape[1]):
        raise ValueError(f"X has {rows.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features")
    if y is None:
        return rows
    y = np.asarray(y)
    if len(y) != len(rows):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(rows), len(y)]}")
    return rows, y


def checked_weights(sample_weight: Any, rows: int) -> Any:
    """Weights as an array, or None."""
    if sample_weight is None:
        return None
    import numpy as np

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
