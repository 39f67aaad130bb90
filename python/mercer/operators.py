"""Koopman operators of dynamical systems, learnt from pairs of a state and its successor.

>>> import numpy as np
>>> from mercer.operators import KoopmanOperator
>>> states = np.array([[np.cos(0.3 * t), np.sin(0.3 * t)] for t in range(400)])
>>> model = KoopmanOperator(kernel="gaussian:1").fit(states)
>>> bool(abs(abs(model.eigenvalues_[0]) - 1) < 0.1)
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from . import _mercer
from ._base import read, whole
from ._intake import Floats, noted, resemble
from ._pairs import Stepping, states
from ._stored import Stored

__all__ = ["KoopmanOperator", "LagMode", "Mode", "OperatorSums", "Sets"]


class KoopmanOperator(_mercer.OperatorCore, Stepping, Stored):
    """Sparse stochastic gradient descent on the operator from states to their successors, on dictionaries that stay small.

    The operator minimises `½ E‖k(x⁺, ·) − U k(x, ·)‖² + ½ λ‖U‖²`; a pair is kept if leaving it out would move the operator by more than the
    budget. The Koopman operator, which acts on functions of the state, is its adjoint.

    Cost: `2m² + 4md` multiply-adds a pair for `m` points kept, `2m² + 2md` numbers of memory. Source: [K] Algorithm 1 and eqs. 22, 29–32.

    Parameters
    ----------
    kernel : str, default "median"
        The kernel on states; "median" is the Gaussian whose width is the median distance of the first 200 states.
    output_kernel : str | None, default None
        The kernel on successors; the same unless given.
    eta : float | None, default None
        Step size; a step is stable while `η(k(x,x) + λ) < 2`. None: 1.5, falling. A constant step leaves noise of its own size in eigenvalues.
    eta_power : (float, float) | None, default None
        `(a, r)`: steps `η/(t + r)^a`. None: `(0.6, 10)`, or constant steps where `eta` is given.
    lambda_ : float, default 0.0
        Regulariser.
    budget : float | None, default None
        The budget `ε`: the smaller, the larger the dictionary. None: `0.1 η²` with the step of the first round.
    budget_schedule : str, default "constant"
        "constant", or "eta-squared" for `ε η²`.
    budget_test : str, default "norm"
        What is compared with the budget: "norm" of the change, its square "squared", or "output-ald".
    dictionary_shape : str, default "paired"
        "paired" keeps both sides together, "rectangular" each on its own account.
    rank_guard : float, default 1e-6
        A point whose squared distance to the span of those kept is at most this times `k(x, x)` is never kept.
    max_dictionary : int | None, default 1000
        Most points kept.
    """

    def __init__(
        self, *, kernel: str = "median", output_kernel: str | None = None, eta: float | None = None, eta_power: tuple[float, float] | None = None,
        lambda_: float = 0.0, budget: float | None = None, budget_schedule: str = "constant", budget_test: str = "norm",
        dictionary_shape: str = "paired", rank_guard: float = 1e-6, max_dictionary: int | None = 1000,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.output_kernel = output_kernel
        self.eta = eta
        self.eta_power = eta_power
        self.lambda_ = lambda_
        self.budget = budget
        self.budget_schedule = budget_schedule
        self.budget_test = budget_test
        self.dictionary_shape = dictionary_shape
        self.rank_guard = rank_guard
        self.max_dictionary = max_dictionary

    def _spec(self) -> dict[str, Any]:
        if self.budget_schedule not in ("constant", "eta-squared"):
            raise _mercer.SettingsError(f'budget_schedule is {self.budget_schedule!r}; give "constant" or "eta-squared"')
        return {
            "kernel": str(self.kernel), "output_kernel": None if self.output_kernel is None else str(self.output_kernel), "eta": None if self.eta is None else float(self.eta), "eta_power": self.eta_power,
            "lambda": float(self.lambda_), "budget": self.budget, "budget_eta_squared": self.budget_schedule == "eta-squared",
            "test": self.budget_test, "shape": self.dictionary_shape, "rank_guard": float(self.rank_guard),
            "max_dictionary": self.max_dictionary,
        }  # fmt: skip

    def _take_description(self) -> None:
        said, kept = self._told()
        if self._take_kept(kept):
            return
        # What the command's options said.
        words = {key.replace("-", "_"): text for key, text in said}
        self.kernel, self.output_kernel = self._facts()[4:6]
        if self.output_kernel == self.kernel:
            self.output_kernel = None
        form, _, numbers = words.get("eta_schedule", "constant").partition(":")
        if form == "power":
            exponent, offset = map(float, numbers.split(","))
            self.eta_power = exponent, offset
        known = self.get_params(deep=False)
        for key, text in words.items():
            name = {"lambda": "lambda_"}.get(key, key)
            if name in known and name not in ("kernel", "output_kernel", "eta_power"):
                value = read(text, known[name])
                if isinstance(known[name], (int, float)) and not isinstance(value, (int, float)):
                    continue
                setattr(self, name, value)

    def _begin_with(self, x: Floats, y: Floats) -> None:
        self._begin(x, y)

    def learn_one(self, x: Any, x_plus: Any) -> None:
        """Learns one pair."""
        if not self._is_made and "median" in (self.kernel, self.output_kernel):
            raise _mercer.SettingsError('kernel="median" looks at the first states: begin with fit, or give a width such as kernel="gaussian:0.5"')
        self.partial_fit(states(x)[0], states(x_plus)[0])

    @property
    def eigenvalues_(self) -> npt.NDArray[np.complex128]:
        """All eigenvalues of the Koopman operator, by decreasing modulus. `O(m³)`."""
        if not self._is_made:
            raise AttributeError("eigenvalues_: nothing was learnt yet")
        made = self._eigenvalues()
        return made[:, 0] + 1j * made[:, 1]

    def eigenfunctions(self, X: Any, count: int = 10) -> npt.NDArray[np.complex128]:
        """The `count` leading eigenfunctions at states, a row for each state and a column for each function. They have unit norm."""
        _, re, im = self._eigen(self._states(X), count)
        return re + 1j * im

    def forecast(self, x: Any, steps: int = 1, observable: Callable[[Floats], Any] | None = None) -> Floats:
        """The expected values of an observable `1, …, steps` steps after the state `x`: ``(steps, numbers)``, and for rows of states
        ``(rows, steps, numbers)``. The observable maps rows of states to rows of numbers; without one it is the state itself."""
        x, single = states(x)
        rows = self._states(x)
        kept = self._points()[1]
        values = kept if observable is None else np.asarray(observable(kept), dtype=np.float64)
        values = np.ascontiguousarray(values.reshape(len(kept), -1))
        made = self._forecast(rows, values, steps).reshape(len(rows), steps, values.shape[1])
        return made[0] if single else made

    @property
    def points_(self) -> tuple[Floats, Floats]:
        """The states and the successors that are kept."""
        if not self._is_made:
            raise AttributeError("points_: nothing was learnt yet")
        kept = self._points()
        return kept[0], kept[1]

    @property
    def weights_(self) -> Floats:
        """The weights `W` of `U = Σ W_ij k(x_i⁺, ·) ⊗ k(x_j, ·)`."""
        x, y = self.points_
        return self._weights().reshape(len(y), len(x))

    @property
    def hs_norm_(self) -> float:
        """The Hilbert–Schmidt norm of the operator."""
        if not self._is_made:
            raise AttributeError("hs_norm_: nothing was learnt yet")
        return self._facts()[3]

    @property
    def dictionary_size(self) -> int:
        """States kept."""
        return len(self._points()[0]) if self._is_made else 0


class Mode(NamedTuple):
    """An eigenvalue of the Koopman operator, with what is known of its error."""

    #: The eigenvalue.
    value: complex
    #: Its standard error, by a jackknife over blocks of the data.
    spread: float
    #: How far its function is from an eigenfunction: the root of ``E|f(x⁺) − μf(x)|² / E|f(x)|²``.
    residual: float
    #: Whether it can be trusted; None where the data cannot tell.
    reliable: bool | None
    #: Why, in a few words.
    reason: str
    #: The deviation of its part of a row, as a part of the row's. That of the constant is the size of the mean.
    amplitude: float
    #: Its part of each column of the newest row, by name (``x0``, ``x1``, … without names), in the column's unit.
    shape: dict[str, complex]

    @property
    def time_scale(self) -> float:
        """Steps in which it falls by the factor e; infinite where it does not fall."""
        return falls(abs(self.value), 1)

    @property
    def period(self) -> float | None:
        """Steps in which it turns once; None where it does not turn."""
        return float(2 * np.pi / abs(np.angle(self.value))) if self.value.imag else None


def falls(size: float, steps: int) -> float:
    """The time scale of a modulus that is that of so many steps."""
    return float(np.inf) if size >= 1 else 0.0 if size == 0 else float(-steps / np.log(size))


class Sets(NamedTuple):
    """Almost invariant sets, the heaviest first."""

    #: The weight of each at rest; they need no equilibrium in the data.
    weights: Floats
    #: The part of each set (rows) that is in each other one step on.
    jumps: Floats
    #: For each state that was given its memberships, which sum to 1.
    memberships: Floats
    #: The set of each of these states.
    labels: npt.NDArray[np.intp]
    #: For each of these states the probability that the one set is reached before the other, if it was asked for.
    committor: Floats | None


class LagMode(NamedTuple):
    """An eigenvalue at a lag beside the power of that at the shortest lag."""

    #: The mode of the shortest lag, from 1; the constant is left out.
    mode: int
    lag: int
    value: complex
    #: Standard error of the modulus: that of chance, and ``bias``.
    spread: float
    #: The part of the spread that is bias, as other lags and half of the points show it.
    bias: float
    #: The power, and its standard error by chance.
    power: complex
    power_spread: float
    #: Whether both agree within two standard errors of chance; None where both are too small.
    agrees: bool | None

    @property
    def time_scale(self) -> float:
        """Steps in which it falls by the factor e."""
        return falls(abs(self.value), self.lag)


class OperatorSums(_mercer.OperatorSumsCore, Stepping, Stored):
    """The Koopman operator of exact least squares on a sparse dictionary, as ``mercer koopman`` has it: width and ridge are chosen on held-out pairs.

    Features are 1, the state, and orthonormal coordinates on points that a dictionary of a Gaussian kernel keeps. `x` may have inputs behind the state;
    there are then forecasts, and the modes are those of A in the best ``x⁺ = a + Ax + Bu``. Files are those of the command.

    Cost: `O(md + p²)` multiply-adds a pair for each of six widths, `p = 1 + d + m` features; about a second to read the operator after a change.
    Source: Williams, Kevrekidis and Rowley 2015.

    Parameters
    ----------
    max_dictionary : int, default 100
        Most points of a dictionary; 0 leaves the linear features alone.
    half_life : float | None, default None
        A pair weighs half after so many further pairs; None forgets nothing.
    delay : int, default 1
        Successive rows that a state is made of, the newest last. Forecasts are judged by the newest, and modes at lags where states share no row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import OperatorSums
    >>> states = np.array([[np.cos(0.3 * t), np.sin(0.3 * t)] for t in range(400)])
    >>> model = OperatorSums().fit(states)
    >>> bool(abs(model.forecast(states[10], 5) - states[11:16]).max() < 1e-6)
    True
    """

    def __init__(self, *, max_dictionary: int = 100, half_life: float | None = None, delay: int = 1) -> None:
        self.max_dictionary = max_dictionary
        self.half_life = half_life
        self.delay = delay

    def _begin_with(self, x: Floats, y: Floats) -> None:
        if x.shape[1] < y.shape[1]:
            raise _mercer.DataError(f"x has {x.shape[1]} numbers, fewer than a state, {y.shape[1]}")
        sizes = whole("max_dictionary", self.max_dictionary), self.half_life, whole("delay", self.delay)
        self._begin(y.shape[1], x.shape[1] - y.shape[1], *sizes)

    def fork(self) -> Self:
        """The same scale and dictionaries without a pair, to learn another part of the data, which can be merged. After 4096 pairs."""
        made = type(self)(**self.get_params())
        made._fork(self)
        resemble(made, self)
        return made

    def merge(self, other: OperatorSums) -> Self:
        """Adds what a :meth:`fork` has learnt."""
        self._check_fitted()
        self._combine(other, False)
        return self

    def retract(self, other: OperatorSums) -> Self:
        """Takes back what a :meth:`fork` has learnt that was merged before."""
        self._check_fitted()
        self._combine(other, True)
        return self

    def modes(self, count: int = 10) -> list[Mode]:
        """The leading modes, the reliable ones of a deterministic system first."""
        self._check_fitted()
        return [
            Mode(complex(re, im), spread, residual, reliable, reason, amplitude, self._by_name([complex(*part) for part in shape]))
            for re, im, spread, residual, reliable, reason, amplitude, shape in self._told(count)[0][:count]
        ]

    def _by_name(self, parts: list[complex]) -> dict[str, complex]:
        """Parts of the newest row by the names of its columns."""
        _, state, _ = self._facts()
        return dict(zip(noted(self)[:state][-len(parts) :], parts, strict=True))

    @property
    def reconstruction_(self) -> dict[str, float | None]:
        """The parts of the variance of a row and of the row behind it that the ten leading modes miss; None where x has inputs."""
        self._check_fitted()
        return dict(zip(("state_error", "step_error"), self._told(10)[2], strict=True))

    def sets(self, count: int, X: Any, committor: tuple[int, int] | None = None) -> Sets:
        """`count` almost invariant sets with the memberships of states. `committor` names two sets, from 0: the probability that the second is
        reached before the first."""
        weights, jumps, members, ahead = self._sets(whole("count", count), self._states(X), committor, 10)
        table = np.array(members).reshape(-1, count)
        told = None if ahead is None else np.clip(table @ np.array(ahead), 0.0, 1.0)
        return Sets(np.array(weights), np.array(jumps), table, table.argmax(axis=1), told)

    def lags(self, X: Any, lags: Any = (1, 2, 5, 10), count: int = 10) -> list[LagMode]:
        """The eigenvalues of pairs so many steps apart on a trajectory, with the settings of this model: time scales against the lag, and whether
        eigenvalues are powers of those at the shortest lag (the test of Chapman and Kolmogorov). Where they are not, a state misses something."""
        self._check_fitted()
        x, y = self._pairs(X, None, False)
        if self._facts()[0] != self._facts()[1]:
            raise _mercer.DataError("with inputs a state some steps on also depends on those between, so there are no lags to compare")
        steps = [whole("lags", lag) for lag in lags]
        if not steps or min(steps) < 1:
            raise _mercer.SettingsError(f"lags are {lags!r}; give numbers of steps, such as (1, 2, 5)")
        found = self._lags(x, y, steps, count)
        return [
            LagMode(mode, lag, complex(*value), spread, bias, complex(*power), error, agrees)
            for mode, lag, value, (spread, bias), power, error, agrees in found
        ]

    @property
    def eigenvalues_(self) -> npt.NDArray[np.complex128]:
        """The ten leading eigenvalues."""
        return np.array([mode.value for mode in self.modes()], dtype=np.complex128)

    @property
    def vamp2_(self) -> float | None:
        """The VAMP-2 score on held-out pairs of ten singular functions, the constant's 1 with it; None where x has inputs."""
        self._check_fitted()
        score: float | None = self._nature(10)[2]
        return score

    @property
    def hs_norm_(self) -> float:
        """The Hilbert–Schmidt norm of the operator of the modes; 0 where x has inputs."""
        self._check_fitted()
        return float(self._nature(10)[1])

    @property
    def nature_(self) -> dict[str, bool]:
        """Whether the system is deterministic, the same backward in time (reversible), seen with noise (instruments), or wanders."""
        self._check_fitted()
        return dict(zip(("deterministic", "reversible", "instruments", "wanders"), self._nature(10)[0], strict=True))

    @property
    def units_(self) -> dict[str, float]:
        """The unit in which each number of x was learnt, its deviation, by name."""
        self._check_fitted()
        return dict(zip(noted(self), self._nature(10)[3], strict=True))

    @property
    def quality_(self) -> dict[str, float]:
        """The squared error of one step on held-out pairs, as a part of the variance; that of no change, and that of the mean."""
        self._check_fitted()
        return dict(zip(("held_out", "no_change", "mean"), self._told(10)[1], strict=True))

    @property
    def later_errors_(self) -> dict[int, float]:
        """The same error so many steps ahead: 5 and 20, as far as paths are that long."""
        self._check_fitted()
        return dict(self._later(10))

    def eigenfunctions(self, X: Any, count: int = 10) -> npt.NDArray[np.complex128]:
        """The eigenfunctions of the modes at states, a row for each state and a column for each function; their mean square is 1."""
        parts: Floats = self._eigenfunctions(self._states(X), count)
        return parts[:, : 2 * count : 2] + 1j * parts[:, 1 : 2 * count : 2]

    def forecast(self, x: Any, steps: int = 1, inputs: Any = None, intervals: float | None = None) -> Any:
        """The expected states `1, …, steps` steps after `x`: ``(steps, numbers)``, and for rows of states ``(rows, steps, numbers)``. `inputs` are those of
        the steps behind the first, a row a step. With `intervals`, such as 0.9, also the ends of intervals that hold this share, in a last axis of two;
        NaN where too few stretches of the data are that long."""
        x, single = states(x)
        rows = self._states(x)
        others = np.zeros((len(rows), 0)) if inputs is None else np.ascontiguousarray(inputs, dtype=np.float64).reshape(len(rows), -1)
        made, widths = self._forecast(rows, others, steps, 0.9 if intervals is None else float(intervals))
        made = made.reshape(len(rows), steps, -1)
        ends = np.stack([made - widths, made + widths], axis=-1)
        if single:
            made, ends = made[0], ends[0]
        return made if intervals is None else (made, ends)

    @property
    def pairs_learnt(self) -> int:
        """Pairs learnt."""
        return self._facts()[2] if self._is_made else 0

    def _take_description(self) -> None:
        self.max_dictionary, self.half_life, self.delay, kept = self._settings()
        self._take_kept(kept)
