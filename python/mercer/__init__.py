"""Online learning with kernels, at the speed of Rust.

Every learner is a river model, a scikit-learn estimator and a numpy function in one object:

>>> import mercer
>>> model = mercer.Krls(kernel="gaussian:0.5")
>>> model.learn_one({"x": 0.3}, 1.0)
>>> round(model.predict_one({"x": 0.3}), 3)
0.909

``mercer.load`` reads what ``save`` and the ``mercer`` command have written. See https://docs.rs/mercer for the library behind it.
"""

from ._mercer import DataError, DivergedError, MercerError, MercerWarning, ModelFileError, NotLearntError, SettingsError, __version__
from ._learners import *  # noqa: F403
from ._learners import __all__ as _learners_all
from . import forecasting, kernels, moments, operators, watch
from ._explanation import Effects, Explanation
from ._evaluation import Comparison, Evaluation, compare, evaluate
from ._files import from_bytes, load, read, save
from ._tuning import Trial, Tuning, tune
from .moments import RidgeMoments
from .operators import KoopmanOperator
from .pipeline import Pipeline

__all__ = [
    *_learners_all,
    "Comparison",
    "DataError",
    "DivergedError",
    "Effects",
    "Evaluation",
    "Explanation",
    "KoopmanOperator",
    "MercerError",
    "MercerWarning",
    "ModelFileError",
    "NotLearntError",
    "Pipeline",
    "RidgeMoments",
    "SettingsError",
    "Trial",
    "Tuning",
    "__version__",
    "compare",
    "evaluate",
    "forecasting",
    "from_bytes",
    "kernels",
    "load",
    "moments",
    "operators",
    "read",
    "save",
    "tune",
    "watch",
]
