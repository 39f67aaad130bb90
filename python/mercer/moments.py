"""Ridge regressions that are sums over rows: shards are summed up apart, merged, and taken back.

>>> import numpy as np
>>> from mercer.moments import RidgeMoments
>>> X = np.random.default_rng(0).normal(size=(300, 2))
>>> y = X @ [1.0, -2.0] + 3.0
>>> parts = [RidgeMoments(lambda_=1e-6).fit(X[i::3], y[i::3]) for i in range(3)]
>>> whole = RidgeMoments(lambda_=1e-6).merge(parts[0]).merge(parts[1]).merge(parts[2])
>>> np.round(whole.predict([[1.0, 1.0]]), 6)
array([2.])
>>> whole.retract(parts[1]).rows_learnt
200
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from . import _intake, _mercer
from ._base import kernel_text, read, written
from ._compat import BaseEstimator, RegressorMixin, checked_targets, checked_weights
from ._intake import Floats
from ._pairs import Paired
from ._stored import Stored

__all__ = ["OperatorMoments", "RidgeMoments", "RidgePath"]

#: The keys of each learner: attribute and key.
_KEYS = {
    "ridge": ("lambda_", "intercept"),
    "pkrr-taylor": ("lambda_", "degree", "centre"),
    "pkawv-taylor": ("lambda_", "degree", "centre"),
    "pkrr-fourier": ("lambda_", "features"),
    "pkrr-frozen": ("lambda_",),
}
_DEFAULTS: dict[str, Any] = {"lambda_": 1.0, "intercept": True, "degree": 2, "centre": None, "features": 100}


def _kernel(spec: str, dimension: int) -> str:
    if spec == "auto":
        return f"gaussian:{max(2 * dimension, 1) ** 0.5!r}"
    if spec == "median":
        raise _mercer.SettingsError("a median width would differ from shard to shard; give one, such as kernel='gaussian:0.5'")
    return spec


class RidgePath(NamedTuple):
    """What each ridge of a grid comes to. Rows are ridges, columns targets."""

    #: `λ`
    lambdas: Floats
    #: `d(λ) = Σ Λ_i/(Λ_i + λ)`
    effective_dimension: Floats
    #: `Σ ω(y − wᵀz)²`
    residuals: Floats
    #: `R²`
    r2: Floats
    #: Generalised cross-validation, an estimate of the mean squared error on new rows.
    gcv: Floats
    #: The ridge of the least generalised cross-validation.
    best: float


class RidgeMoments(_mercer.MomentsCore, RegressorMixin, Stored, BaseEstimator):
    """Ridge regression on fixed features, from sums that add up over shards: `G = Σ ωzzᵀ`, `b = Σ ωyz`, `w = (G + λI)⁻¹ b`.

    Any number of machines each sum up a part of the rows; merged in any order, the result is that of one pass to rounding. A shard that turns
    out wrong is taken back. The order of rows does not matter. Files are those of ``mercer fit`` and ``mercer merge``.

    Cost: `½r² + mr` multiply-adds a row for `r` features and `m` targets, `½r²` numbers of memory, `r³` for the first prediction after a change
    (and about `10r³` to choose the ridge). Source: docs/scale.md; Golub, Heath and Wahba 1979 for the choice of the ridge.

    Parameters
    ----------
    learner : str, default "ridge"
        The features: "ridge" (the inputs, and 1), "pkrr-taylor" (Taylor features of a Gaussian kernel, `r = C(d + M, M)`), "pkawv-taylor" (the
        same, predicting as Azoury, Vovk and Warmuth do), "pkrr-fourier" (`D` random frequencies, `r = 2D`), "pkrr-frozen" (given points of any
        kernel).
    kernel : str, default "auto"
        The kernel, not for "ridge"; "auto" is the Gaussian whose width is the usual distance of standardised inputs, `√(2d)`. All shards need
        the same.
    lambda_ : float | None, default 1.0
        `λ`, the ridge; positive. None: that of the least generalised cross-validation, as the command has it by default.
    intercept : bool, default True
        Whether 1 is among the features of "ridge". Its coefficient is shrunk as all others are.
    degree : int, default 2
        `M`, of Taylor features.
    centre : Sequence[float] | None, default None
        Where Taylor features are expanded, one number a feature; None is 0.
    features : int, default 100
        `D`, the random frequencies.
    points : array of shape (points, features) | None, default None
        The points of "pkrr-frozen". Those in the span of others are left out.
    seed : int, default 0
        Seed of the random frequencies.

    Examples
    --------
    >>> import mercer, numpy as np
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> model = mercer.RidgeMoments("pkrr-taylor", kernel="gaussian:1", degree=6, lambda_=None).fit(X, np.sin(3 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(1.5)) < 1e-2)
    True
    """

    _begun_by = "'fit', 'partial_fit' or 'merge'"

    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    def __init__(
        self, learner: str = "ridge", *, kernel: str = "auto", lambda_: float | None = 1.0, intercept: bool = True, degree: int = 2,
        centre: Sequence[float] | None = None, features: int = 100, points: Any = None, seed: int = 0,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.kernel = kernel
        self.lambda_ = lambda_
        self.intercept = intercept
        self.degree = degree
        self.centre = centre
        self.features = features
        self.points = points
        self.seed = seed

    def _pairs(self) -> list[str]:
        keys = _KEYS.get(self.learner, ())
        pairs = []
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            plain = value is default or (type(value) is type(default) and value == default)
            # What the learner has no key for is left to the library to refuse, unless nobody asked for it.
            if plain and name not in keys:
                continue
            if value is None:
                text = "auto" if name == "lambda_" else "none"
            else:
                text = str(int(value)) if name == "intercept" else written(value)
            pairs.append(f"{'lambda' if name == 'lambda_' else name}={text}")
        return pairs

    def _begin_with(self, X: Floats, outputs: int, targets: list[str]) -> None:
        kernel = None if self.learner == "ridge" else _kernel(kernel_text(self.kernel), X.shape[1])
        points = None if self.points is None else _intake.table(self.points)
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        self._begin(self.learner, kernel, self._pairs(), int(self.seed), X.shape[1], outputs, points, names, targets)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forgets everything, then sums up the rows."""
        with self._renewed(True) as model:
            model._learn(X, y, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sums up further rows: all, or none where one is refused."""
        with self._renewed(not self._is_made) as model:
            model._learn(X, y, sample_weight)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        fresh, named = not self._is_made, _intake.names_of(y)
        if named is None:
            name = getattr(y, "name", None)
            named = [name] if isinstance(name, str) else []
        if fresh:
            X, table = _intake.finite(X), _intake.frame(X)
            _intake.note(self, table, X.shape[1])
        else:
            X = self._states(X)
        y = checked_targets(self, X, _intake.outputs(self, y, fresh), multi_output=True)
        weights = checked_weights(sample_weight, X.shape[0])
        ys, outputs = _intake.targets(y)
        if fresh:
            self._begin_with(X, outputs, named)
        self._learn_rows(X, ys, weights)

    def merge(self, other: RidgeMoments) -> Self:
        """Adds what another has seen, of the same features. `O(r²)`. A model that has seen nothing takes everything over."""
        if not self._is_made and other._is_made:
            _intake.resemble(self, other)
        self._combine(other, False)
        return self

    def retract(self, other: RidgeMoments) -> Self:
        """Takes back the shards of another, which were merged before (or are those this one was read from). `O(r²)`. The digits lost are those of
        the difference."""
        self._check_fitted()
        self._combine(other, True)
        return self

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predictions for rows. With `return_std` also the standard deviation of a target there."""
        self._check_fitted()
        made, beside = self._predict_rows(self._states(X), return_std)
        flat = made.shape[1] == 1
        made = made[:, 0] if flat else made
        if beside is None:
            return made
        return made, beside[:, 0] if flat else beside

    def map_features(self, X: Any) -> Floats:
        """The features of rows, `z(x)`: what is summed up."""
        self._check_fitted()
        return self._features(self._states(X))

    def held_out(self, shard: RidgeMoments, lambda_: float | None = None) -> float | Floats:
        """The mean squared error on `shard`, which was merged before, of the fit to everything else; one number a target. `r³`."""
        self._check_fitted()
        errors = self._held_out(shard, lambda_)
        return errors[0] if len(errors) == 1 else np.array(errors)

    def path(self, lambdas: Sequence[float] | None = None) -> RidgePath:
        """The fits of all ridges at once, by one eigen-decomposition (`10r³`): of a grid, four a decade, or of those given."""
        self._check_fitted()
        rows, best = self._path(None if lambdas is None else [float(one) for one in lambdas])
        ridges, dimensions, residuals, r2, gcv = (np.array(column) for column in zip(*rows, strict=True))
        return RidgePath(ridges, dimensions, residuals, r2, gcv, best)

    @property
    def coef_(self) -> Floats:
        """The coefficients of the features, `(r,)`, or `(targets, r)` for several targets; with an intercept the last is that of the 1."""
        self._check_fitted()
        made = self._coefficients()[0]
        return made[0] if made.shape[0] == 1 else made

    @property
    def best_lambda_(self) -> float:
        """The ridge of the fit: the one given, or the one chosen."""
        self._check_fitted()
        return self._coefficients()[1]

    @property
    def gram_(self) -> Floats:
        """`Σ ωzzᵀ`"""
        self._check_fitted()
        return self._sums()[0]

    @property
    def cross_(self) -> Floats:
        """`Σ ωyz`, a row for each target."""
        self._check_fitted()
        return self._sums()[1]

    @property
    def rows_learnt(self) -> int:
        """Rows summed up."""
        return self._facts()[3] if self._is_made else 0

    @property
    def shards_(self) -> list[int]:
        """The rows of each shard: what can be retracted."""
        self._check_fitted()
        return self._facts()[5]

    @property
    def settings(self) -> dict[str, str]:
        """What the parameters came to: the kernel and every key with its value. Of a model that has begun to learn."""
        if not self._is_made:
            raise AttributeError("settings: nothing was learnt yet, and they may depend on the data")
        _, kernel, parameters, seed, _ = self._description()
        return {"kernel": kernel, **dict(parameters), "seed": str(seed)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _take_description(self) -> None:
        learner, kernel, parameters, seed, names = self._description()
        kept = self._take_kept(self._kept())
        self.n_features_in_ = self._facts()[0]
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        if kept:
            return
        self.learner, self.seed = learner, seed
        self.kernel = "auto" if kernel == "none" else kernel
        for key, text in parameters:
            name = "lambda_" if key == "lambda" else key
            if name == "centre":
                self.centre = None if text == "none" else [float(one) for one in text.split(",")]
            elif name in _DEFAULTS:
                setattr(self, name, None if text == "auto" else bool(int(text)) if name == "intercept" else read(text, _DEFAULTS[name]))


#: The features of :class:`OperatorMoments`, with the learner that has them.
_BASES = {"linear": "ridge", "taylor": "pkrr-taylor", "fourier": "pkrr-fourier", "points": "pkrr-frozen"}


class OperatorMoments(_mercer.OperatorMomentsCore, Paired):
    """Koopman operators on fixed features, from sums that add up over shards: `G = Σ φφᵀ`, `A = Σ φφ⁺ᵀ`, `M = (G + λI)⁻¹ A`, `φ⁺ ≈ Mᵀφ`.

    On the coordinates of given points it is Nyström-EDMD. Pairs of a state and its successor may be summed up anywhere, merged in any order, and taken
    back. Pickles hold the sums; the command has no file for them.

    Cost: `1½r²` multiply-adds a pair for `r` features, `1½r²` numbers of memory, `r³` for an operator. Source: Williams, Kevrekidis and Rowley 2015; on
    points Meanti et al. 2023.

    Parameters
    ----------
    basis : str, default "points"
        The features: "points" (the coordinates of given points under any kernel), "fourier" (random frequencies of a Gaussian kernel), "taylor" (of a
        Gaussian kernel), "linear" (the state, and 1).
    kernel : str, default "auto"
        The kernel, not for "linear"; "auto" is the Gaussian whose width is the usual distance of standardised states, `√(2d)`.
    lambda_ : float, default 1e-6
        `λ`, the ridge; positive.
    points : array of shape (points, numbers of a state) | None, default None
        The points of the basis "points".
    degree : int, default 2
        The degree of Taylor features.
    features : int, default 100
        The number of random frequencies.
    seed : int, default 0
        Seed of the random frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.moments import OperatorMoments
    >>> states = np.array([[np.cos(0.3 * t), np.sin(0.3 * t)] for t in range(200)])
    >>> parts = [OperatorMoments("linear").fit(states[:100]), OperatorMoments("linear").fit(states[99:])]
    >>> bool(abs(np.angle(parts[0].merge(parts[1]).eigenvalues_).max() - 0.3) < 1e-6)
    True
    """

    _begun_by = "'fit', 'partial_fit' or 'merge'"

    def __init__(
        self, basis: str = "points", *, kernel: str = "auto", lambda_: float = 1e-6, points: Any = None, degree: int = 2, features: int = 100,
        seed: int = 0,
    ) -> None:  # fmt: skip
        self.basis = basis
        self.kernel = kernel
        self.lambda_ = lambda_
        self.points = points
        self.degree = degree
        self.features = features
        self.seed = seed

    def _begin_with(self, x: Floats, y: Floats) -> None:
        if self.basis not in _BASES:
            raise _mercer.SettingsError(f"basis is {self.basis!r}; give one of {', '.join(_BASES)}")
        pairs = {"taylor": [f"degree={self.degree}"], "fourier": [f"features={self.features}"]}.get(self.basis, [])
        kernel = None if self.basis == "linear" else _kernel(kernel_text(self.kernel), x.shape[1])
        points = None if self.basis != "points" or self.points is None else _intake.table(self.points)
        if self.basis == "points" and points is None:
            raise _mercer.SettingsError("the basis needs its points before the first pair; give points=, or take another basis")
        self._begin(_BASES[self.basis], kernel, pairs, int(self.seed), x.shape[1], points)

    def merge(self, other: OperatorMoments) -> Self:
        """Adds the pairs of another, of the same features. `O(r²)`. One that has seen nothing takes everything over."""
        if not self._is_made and other._is_made:
            _intake.resemble(self, other)
        self._combine(other, False)
        return self

    def retract(self, other: OperatorMoments) -> Self:
        """Takes back the pairs of another, which were merged before. `O(r²)`. The digits lost are those of the difference."""
        self._check_fitted()
        self._combine(other, True)
        return self

    def map_features(self, X: Any) -> Floats:
        """The features of states, `φ(x)`."""
        return self._features(self._states(X))

    @property
    def operator_(self) -> Floats:
        """`M`: the function `φᵀv` has the expected value `φᵀMv` one step later."""
        self._check_fitted()
        return self._operator(float(self.lambda_))[0]

    @property
    def mean_squared_error_(self) -> float:
        """The mean of `‖φ⁺ − Mᵀφ‖²` over all pairs."""
        self._check_fitted()
        return self._operator(float(self.lambda_))[1] / self.pairs_learnt

    @property
    def eigenvalues_(self) -> npt.NDArray[np.complex128]:
        """All eigenvalues of the operator, by decreasing modulus. `O(r³)`."""
        self._check_fitted()
        made = self._eigenvalues(float(self.lambda_))
        return made[:, 0] + 1j * made[:, 1]

    def eigenfunctions(self, X: Any, count: int = 10) -> npt.NDArray[np.complex128]:
        """The `count` leading eigenfunctions at states, a row for each state and a column for each function; their coefficients have length 1."""
        values, vectors = np.linalg.eig(self.operator_)
        order = np.argsort(-np.abs(values), kind="stable")[:count]
        return self.map_features(X).astype(np.complex128) @ vectors[:, order].astype(np.complex128)

    @property
    def pairs_learnt(self) -> float:
        """Pairs summed up."""
        return self._facts()[2] if self._is_made else 0.0

    def _inside(self) -> tuple[Any, ...]:
        return (self._sums_bytes(),)

    def _set_inside(self, *inside: Any) -> None:
        self._set_sums(*inside)
